//! What is sent and read goes only to hosts that the policy lets be asked: faults go by the rule
//! `environment`, a Prometheus elsewhere is only read, and a denied host is left alone altogether.

use super::facts::quoted;
use super::places::endpoints;
use super::{Facts, Found};
use crate::metrics::Metric;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let mut found = not_for_traffic(facts);
    found.extend(denied(facts));
    found
}

fn not_for_traffic(facts: &Facts<'_>) -> Vec<Found> {
    let Some(environment) = facts.environment() else {
        return Vec::new();
    };
    let hosts = &environment.traffic_hosts;
    let strange = traffic_and_pages(facts).into_iter();
    let strange = strange.filter(|(_, url)| !hosts.iter().any(|host| host.matches(url)));
    let name = facts.environment_name();
    let found = strange.map(|(place, url)| {
        let line = format!("environments: {{{name}: {{traffic: {{hosts: […]}}}}}}");
        Found::deny(
            place,
            format!(
                "`{url}` may not be asked in environment `{name}`, only {} may",
                quoted(hosts)
            ),
            format!(
                "ask a service of that environment; {}",
                facts.unless_policy_says(&line)
            ),
        )
    });
    found.collect()
}

fn denied(facts: &Facts<'_>) -> Vec<Found> {
    let hosts = &facts.policy.denied_hosts;
    let asked = everything_asked(facts)
        .into_iter()
        .filter_map(|(place, url)| {
            let host = hosts.iter().find(|host| host.matches(&url))?;
            Some(Found::deny(
                place,
                format!(
                    "`{url}` is denied in every environment by policy `{}` (`{host}`)",
                    facts.policy.name
                ),
                "name another host; that one is left alone, whatever asks",
            ))
        });
    asked.collect()
}

fn traffic_and_pages<'a>(facts: &Facts<'a>) -> Vec<(String, &'a str)> {
    let specs = &facts.plan.experiment.metrics;
    let traffic = specs.traffic.iter();
    let mut all: Vec<(String, &str)> = traffic
        .map(|spec| ("metrics.traffic.url".to_owned(), spec.url.as_str()))
        .collect();
    let pages = specs.scrape.iter().flat_map(|spec| &spec.targets);
    all.extend(pages.enumerate().map(|(index, target)| {
        let place = format!("metrics.scrape.targets[{index}].url");
        (place, target.url.as_str())
    }));
    all
}

fn everything_asked(facts: &Facts<'_>) -> Vec<(String, String)> {
    let experiment = &facts.plan.experiment;
    let mut all = endpoints(facts.plan);
    all.extend(traffic_and_pages(facts));
    if let Some(spec) = &experiment.metrics.prometheus {
        all.push(("metrics.prometheus.url".to_owned(), &spec.url));
    }
    if let Some(cluster) = &facts.plan.cluster {
        all.push(("on.kubernetes".to_owned(), &cluster.api_server));
    }
    for (index, gauged) in experiment.slos.iter().enumerate() {
        match &gauged.metric {
            Metric::Command(command) => {
                let urls = command.argv.iter().filter(|word| word.contains("://"));
                all.extend(urls.map(|url| (format!("slos[{index}].command"), url.as_str())));
            }
            Metric::Traffic(_)
            | Metric::Prometheus(_)
            | Metric::Scrape(_)
            | Metric::Simulated(_) => {}
        }
    }
    let owned = all.into_iter();
    owned.map(|(place, url)| (place, url.to_owned())).collect()
}
