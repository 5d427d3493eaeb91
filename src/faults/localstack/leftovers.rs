//! Rules with this tool's tag, whoever's run they are of: found by reading, removed exactly as they are
//! listed.

use reqwest::Method;
use serde_json::Value;

use super::api::{self, ChaosApi, FAULTS};
use super::sameness::Meaning;
use super::survey;
use super::wire::Http;
use crate::clients::Clients;
use crate::faults::ANSWER_WITHIN;
use crate::model::problem::{Problem, ProblemKind};

/// A rule that stands twice may need a DELETE for each.
const DELETE_ROUNDS: usize = 3;

/// The rules of one run on one LocalStack.
#[derive(Debug, Clone, PartialEq)]
pub struct Tagged {
    /// The run, as its tag names it: from outside, perhaps no id at all.
    pub run: String,
    /// The rules, as they are listed.
    pub rules: Vec<Value>,
}

fn api<'a>(endpoint: &str, wire: &'a Http) -> ChaosApi<'a> {
    ChaosApi::new(wire, endpoint, ANSWER_WITHIN.as_duration())
}

/// What stands there with a tag of this tool, by run. Reads only.
///
/// # Errors
/// It gives no answer, or not that of a LocalStack. One without a Chaos API has nothing in place.
pub async fn tagged(endpoint: &str, clients: &Clients) -> Result<Vec<Tagged>, Problem> {
    api::check_endpoint(endpoint)?;
    let wire = Http(clients.clone());
    let rules = match survey::rules(&api(endpoint, &wire)).await {
        Err(problem) if problem.kind == ProblemKind::Absent => Vec::new(),
        other => other?,
    };
    Ok(by_run(rules))
}

fn by_run(rules: Vec<Value>) -> Vec<Tagged> {
    let mut found: Vec<Tagged> = Vec::new();
    for rule in rules {
        let run = Meaning::read(&rule).and_then(|rule| rule.owner().map(str::to_owned));
        let Some(run) = run else { continue };
        match found.iter_mut().find(|tagged| tagged.run == run) {
            Some(tagged) => tagged.rules.push(rule),
            None => found.push(Tagged {
                run,
                rules: vec![rule],
            }),
        }
    }
    found
}

/// Removes these rules and no others: only a DELETE of what is still listed exactly so, never a POST.
/// Returns what of the run stands there afterwards.
///
/// # Errors
/// It gives no answer, so that nobody knows what is left.
pub async fn remove_tagged(
    endpoint: &str,
    clients: &Clients,
    wanted: &Tagged,
) -> Result<Vec<Value>, Problem> {
    let wire = Http(clients.clone());
    let api = api(endpoint, &wire);
    for _ in 0..DELETE_ROUNDS {
        let mut still: Vec<Value> = Vec::new();
        for rule in listed(&api, &wanted.run).await? {
            // The list of a request may hold nothing twice.
            if wanted.rules.contains(&rule) && !still.contains(&rule) {
                still.push(rule);
            }
        }
        if still.is_empty() {
            break;
        }
        let call = api.send(Method::DELETE, FAULTS, Some(Value::Array(still)));
        // Whether it helped says the list.
        let _ = call.await;
    }
    listed(&api, &wanted.run).await
}

async fn listed(api: &ChaosApi<'_>, run: &str) -> Result<Vec<Value>, Problem> {
    let found = by_run(survey::rules(api).await?);
    let found = found.into_iter().find(|tagged| tagged.run == run);
    Ok(found.map_or_else(Vec::new, |tagged| tagged.rules))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_are_told_apart_by_the_run_of_their_tag() {
        let rule = |description: &str| json!({"service": "sqs", "description": description});
        let listed = vec![
            rule("chaos:r-1"),
            rule("somebody's"),
            json!({"service": "s3"}),
            rule("chaos:r-2"),
            rule("chaos:r-1"),
        ];
        let found = by_run(listed);
        let counts: Vec<_> = found
            .iter()
            .map(|tagged| (tagged.run.as_str(), tagged.rules.len()))
            .collect();
        assert_eq!(counts, [("r-1", 2), ("r-2", 1)]);
    }
}
