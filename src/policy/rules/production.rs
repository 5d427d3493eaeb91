//! Nothing that smells of production is touched, unless the policy names it and a person allows it.

use url::Url;

use super::places::{endpoints, namespaces};
use super::{Facts, Found};
use crate::metrics::{Access, Metric, MetricSpecs};
use crate::model::approval::Exception;
use crate::model::cluster::Cluster;
use crate::model::secret::SecretText;
use crate::plan::document::Experiment;
use crate::policy::document::Production;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let production = &facts.policy.production;
    let smelling = sniffed(facts).into_iter().filter_map(|sniffed| {
        let mark = mark(&sniffed, production)?;
        let Sniffed { place, shown, .. } = &sniffed;
        if is_named(&sniffed, production) {
            let found = Found::require(
                place,
                format!(
                    "`{shown}` smells of production (`{mark}`), and policy `{}` names it",
                    facts.policy.name
                ),
                "if production is not meant, name something else",
            );
            return Some(found.unless_allowed(Exception::Production));
        }
        let line = format!("production: {{named: [\"{}\"]}}", sniffed.texts[0]);
        Some(Found::deny(
            place,
            format!("`{shown}` smells of production (`{mark}`)"),
            format!(
                "if it is not production, rename it; {}",
                facts.unless_policy_says(&line)
            ),
        ))
    });
    smelling.collect()
}

/// Something that may be production's.
struct Sniffed {
    place: String,
    /// As a finding shows it; words are looked for in it.
    shown: String,
    /// What patterns may fit as a whole; at least one.
    texts: Vec<String>,
}

impl Sniffed {
    fn text(place: impl Into<String>, text: &str) -> Self {
        Self {
            place: place.into(),
            shown: text.to_owned(),
            texts: vec![text.to_owned()],
        }
    }

    /// An address: a pattern may mean its host or all of it.
    fn url(place: impl Into<String>, url: &str) -> Self {
        let host = Url::parse(url).ok();
        let host = host.as_ref().and_then(Url::host_str).map(str::to_owned);
        Self {
            texts: host.into_iter().chain([url.to_owned()]).collect(),
            ..Self::text(place, url)
        }
    }

    /// A label: a pattern may mean `key=value`, the value or the key. `None`: its value says that it
    /// is not what its key asks.
    fn label(place: impl Into<String>, key: &str, value: &str) -> Option<Self> {
        let no = ["false", "no", "0"];
        if no.iter().any(|no| value.eq_ignore_ascii_case(no)) {
            return None;
        }
        let whole = format!("{key}={value}");
        Some(Self {
            texts: vec![whole.clone(), value.to_owned(), key.to_owned()],
            ..Self::text(place, &whole)
        })
    }
}

fn sniffed(facts: &Facts<'_>) -> Vec<Sniffed> {
    let experiment = &facts.plan.experiment;
    let mut all = vec![
        Sniffed::text("environment", &experiment.environment),
        Sniffed::text("metadata.name", experiment.name.as_str()),
    ];
    let labels = experiment.labels.iter();
    all.extend(
        labels.filter_map(|(key, value)| {
            Sniffed::label(format!("metadata.labels.{key}"), key, value)
        }),
    );
    let endpoints = endpoints(facts.plan).into_iter();
    all.extend(endpoints.map(|(place, url)| Sniffed::url(place, url)));
    let named = experiment.on.kubernetes.as_ref();
    let context = named.and_then(|world| world.context.as_deref());
    all.extend(context.map(|context| Sniffed::text("on.kubernetes.context", context)));
    let namespaces = namespaces(facts.plan).into_iter();
    all.extend(namespaces.map(|(place, namespace)| Sniffed::text(place, namespace)));
    if let Some(cluster) = &facts.plan.cluster {
        all.extend(of_cluster(cluster, context));
    }
    all.extend(sources(&experiment.metrics));
    all.extend(commands(experiment));
    all
}

/// What the cluster says that the document does not.
fn of_cluster(cluster: &Cluster, named: Option<&str>) -> Vec<Sniffed> {
    let context = cluster.context.as_deref();
    let context = context.filter(|context| Some(*context) != named);
    let context = context.map(|context| Sniffed::text("on.kubernetes.context", context));
    let server = Sniffed::url("on.kubernetes", &cluster.api_server);
    let labels = cluster.namespace_labels.iter();
    let labels =
        labels.filter_map(|(key, value)| Sniffed::label("on.kubernetes.namespace", key, value));
    context.into_iter().chain([server]).chain(labels).collect()
}

fn commands(experiment: &Experiment) -> Vec<Sniffed> {
    let slos = experiment.slos.iter().enumerate();
    let commands = slos.filter_map(|(index, gauged)| match &gauged.metric {
        Metric::Command(command) => Some(Sniffed::text(
            format!("slos[{index}].command"),
            &command.argv.join(" "),
        )),
        Metric::Traffic(_) | Metric::Prometheus(_) | Metric::Scrape(_) | Metric::Simulated(_) => {
            None
        }
    });
    commands.collect()
}

/// Addresses and headers of the sources, as they are written. What a query asks for is no address:
/// `live` is a good name for a metric.
fn sources(specs: &MetricSpecs) -> Vec<Sniffed> {
    let mut all = Vec::new();
    if let Some(spec) = &specs.traffic {
        all.push(Sniffed::url("metrics.traffic.url", &spec.url));
        for (key, value) in &spec.headers {
            all.push(Sniffed::text(
                format!("metrics.traffic.headers.{key}"),
                value,
            ));
        }
    }
    if let Some(spec) = &specs.prometheus {
        all.push(Sniffed::url("metrics.prometheus.url", &spec.url));
        all.extend(headers("metrics.prometheus", &spec.access));
    }
    if let Some(spec) = &specs.scrape {
        for (index, target) in spec.targets.iter().enumerate() {
            let place = format!("metrics.scrape.targets[{index}]");
            all.push(Sniffed::url(format!("{place}.url"), &target.url));
            for (key, value) in &target.labels {
                all.extend(Sniffed::label(format!("{place}.labels.{key}"), key, value));
            }
        }
        all.extend(headers("metrics.scrape", &spec.access));
    }
    all
}

fn headers(above: &str, access: &Access) -> Vec<Sniffed> {
    let place = |(key, text): (&String, &SecretText)| {
        Sniffed::text(format!("{above}.headers.{key}"), text.as_written())
    };
    access.headers.iter().map(place).collect()
}

/// The word or the pattern that marks a name as production's.
pub(in crate::policy) fn production_mark(name: &str, production: &Production) -> Option<String> {
    mark(&Sniffed::text("", name), production)
}

/// The word or the pattern that marks it as production's.
fn mark(sniffed: &Sniffed, production: &Production) -> Option<String> {
    let word = smell(&sniffed.shown, &production.words).cloned();
    word.or_else(|| {
        let mut patterns = production.patterns.iter();
        let fits = patterns.find(|one| sniffed.texts.iter().any(|text| one.matches(text)))?;
        Some(fits.to_string())
    })
}

fn is_named(sniffed: &Sniffed, production: &Production) -> bool {
    let mut texts = sniffed.texts.iter();
    texts.any(|text| production.named.iter().any(|named| named.matches(text)))
}

/// The first production word that stands in the text as a word of its own.
fn smell<'a>(text: &str, words: &'a [String]) -> Option<&'a String> {
    let lower = text.to_lowercase();
    let parts: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    words.iter().find(|word| {
        let word = word.to_lowercase();
        let ends = |part: &str| part.trim_end_matches(|c: char| c.is_ascii_digit()) == word;
        parts.iter().any(|part| *part == word || ends(part))
    })
}

#[cfg(test)]
mod tests {
    use super::smell;

    #[test]
    fn production_is_a_word_of_its_own() {
        let words = ["prod", "Production", "live", "p1"].map(str::to_owned);
        for (text, smells) in [
            ("prod", true),
            ("eu-prod-1", true),
            ("prod2", true),
            ("PRODUCTION", true),
            ("cluster-p1", true),
            ("https://api.live.example.com", true),
            ("product-catalogue", false),
            ("delivery", false),
            ("reproduce", false),
            ("staging", false),
        ] {
            assert_eq!(smell(text, &words).is_some(), smells, "{text}");
        }
    }
}
