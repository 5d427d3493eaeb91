//! Nothing that smells of production is touched.

use super::{Facts, Found};
use crate::metrics::{Access, Metric, MetricSpecs};
use crate::model::secret::SecretText;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let experiment = &facts.plan.experiment;
    let mut places = vec![
        ("environment".to_owned(), experiment.environment.clone()),
        ("metadata.name".to_owned(), experiment.name.to_string()),
    ];
    if let Some(world) = &experiment.on.localstack {
        places.push(("on.localstack.endpoint".to_owned(), world.endpoint.clone()));
    }
    places.extend(sources(&experiment.metrics));
    for (index, gauged) in experiment.slos.iter().enumerate() {
        match &gauged.metric {
            Metric::Command(command) => {
                places.push((format!("slos[{index}].command"), command.argv.join(" ")));
            }
            Metric::Traffic(_)
            | Metric::Prometheus(_)
            | Metric::Scrape(_)
            | Metric::Simulated(_) => {}
        }
    }
    for (key, value) in &experiment.labels {
        places.push((format!("metadata.labels.{key}"), format!("{key} {value}")));
    }
    places
        .into_iter()
        .filter_map(|(place, text)| {
            let word = smell(&text, &facts.policy.production.words)?;
            Some(Found::deny(
                place,
                format!("`{text}` smells of production (`{word}`)"),
                "if it is not production, rename it; production needs a policy that names it",
            ))
        })
        .collect()
}

/// Addresses and headers of the sources, as they are written. What a query asks for is no address:
/// `live` is a good name for a metric.
fn sources(specs: &MetricSpecs) -> Vec<(String, String)> {
    let mut places = Vec::new();
    if let Some(spec) = &specs.traffic {
        places.push(("metrics.traffic.url".to_owned(), spec.url.clone()));
        for (key, value) in &spec.headers {
            places.push((format!("metrics.traffic.headers.{key}"), value.clone()));
        }
    }
    if let Some(spec) = &specs.prometheus {
        places.push(("metrics.prometheus.url".to_owned(), spec.url.clone()));
        places.extend(headers("metrics.prometheus", &spec.access));
    }
    if let Some(spec) = &specs.scrape {
        for (index, target) in spec.targets.iter().enumerate() {
            let place = format!("metrics.scrape.targets[{index}]");
            places.push((format!("{place}.url"), target.url.clone()));
            for (key, value) in &target.labels {
                places.push((format!("{place}.labels.{key}"), format!("{key} {value}")));
            }
        }
        places.extend(headers("metrics.scrape", &spec.access));
    }
    places
}

fn headers(above: &str, access: &Access) -> Vec<(String, String)> {
    let place = |(key, text): (&String, &SecretText)| {
        let place = format!("{above}.headers.{key}");
        (place, text.as_written().to_owned())
    };
    access.headers.iter().map(place).collect()
}

/// The first production word that stands in the text as a word of its own.
fn smell<'a>(text: &str, words: &'a [String]) -> Option<&'a String> {
    let lower = text.to_lowercase();
    let parts: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    words.iter().find(|word| {
        parts
            .iter()
            .any(|part| part.trim_end_matches(|c: char| c.is_ascii_digit()) == word.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::smell;

    #[test]
    fn production_is_a_word_of_its_own() {
        let words = ["prod", "production", "live"].map(str::to_owned);
        for (text, smells) in [
            ("prod", true),
            ("eu-prod-1", true),
            ("prod2", true),
            ("PRODUCTION", true),
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
