//! No secret leaves this machine unencrypted, and none goes to a server that the policy does not
//! name for it.

use super::{Facts, Found};
use crate::clients::is_loopback;
use crate::metrics::Access;

/// A server that is asked.
struct Asked<'a> {
    place: String,
    url: &'a str,
    access: &'a Access,
}

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for asked in asked(facts) {
        if asked.access.has_credentials() && is_open(asked.url) {
            found.push(Found::deny(
                &asked.place,
                format!(
                    "`{}` would get the credentials without encryption",
                    asked.url
                ),
                "write `https://`, or reach the server through a tunnel that ends on this machine",
            ));
        }
        found.extend(astray(facts, &asked));
    }
    found
}

fn asked<'a>(facts: &Facts<'a>) -> Vec<Asked<'a>> {
    let specs = &facts.plan.experiment.metrics;
    let mut asked = Vec::new();
    if let Some(spec) = &specs.prometheus {
        asked.push(Asked {
            place: "metrics.prometheus.url".to_owned(),
            url: &spec.url,
            access: &spec.access,
        });
    }
    if let Some(spec) = &specs.scrape {
        for (index, target) in spec.targets.iter().enumerate() {
            asked.push(Asked {
                place: format!("metrics.scrape.targets[{index}].url"),
                url: &target.url,
                access: &spec.access,
            });
        }
    }
    asked
}

/// Secrets that would go to a server that the policy does not name for them.
fn astray(facts: &Facts<'_>, asked: &Asked<'_>) -> Vec<Found> {
    let bound = |name: &&str| {
        let hosts = facts.policy.secret_hosts.get(*name);
        hosts.is_some_and(|hosts| !hosts.iter().any(|host| host.matches(asked.url)))
    };
    let names = asked.access.secrets().into_iter().filter(bound);
    let deny = |name: &str| {
        let hosts = facts.policy.secret_hosts.get(name);
        let hosts: Vec<String> = hosts
            .iter()
            .flat_map(|hosts| hosts.iter())
            .map(|host| format!("`{host}`"))
            .collect();
        Found::deny(
            &asked.place,
            format!("the secret `{name}` may not go to `{}`", asked.url),
            format!(
                "policy `{}` sends it to {} only; ask that server, or add the host under `secrets.{name}.hosts` of the policy",
                facts.policy.name,
                hosts.join(", ")
            ),
        )
    };
    names.map(deny).collect()
}

/// Whether others can read what is sent there.
fn is_open(url: &str) -> bool {
    let encrypted = url
        .get(..6)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    !encrypted && !is_loopback(url)
}
