//! Nothing that smells of production is touched.

use super::{Facts, Found};
use crate::metrics::Metric;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let experiment = &facts.plan.experiment;
    let mut places = vec![
        ("environment".to_owned(), experiment.environment.clone()),
        ("metadata.name".to_owned(), experiment.name.to_string()),
    ];
    if let Some(world) = &experiment.on.localstack {
        places.push(("on.localstack.endpoint".to_owned(), world.endpoint.clone()));
    }
    if let Some(spec) = &experiment.metrics.traffic {
        places.push(("metrics.traffic.url".to_owned(), spec.url.clone()));
    }
    let headers = experiment
        .metrics
        .traffic
        .iter()
        .flat_map(|spec| &spec.headers);
    for (key, value) in headers {
        places.push((format!("metrics.traffic.headers.{key}"), value.clone()));
    }
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
            let word = smell(&text, &facts.policy.production_words)?;
            Some(Found::deny(
                place,
                format!("`{text}` smells of production (`{word}`)"),
                "if it is not production, rename it; production needs a policy that names it",
            ))
        })
        .collect()
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
