//! Turns a fault and a survey of the world into what a plan shows and a run needs.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::api::{ChaosApi, EFFECTS, FAULTS};
use super::conflicts;
use super::matching::Matcher;
use super::survey::Survey;
use crate::faults::{LocalStackFault, Owner, Prepared};
use crate::model::localstack::{FaultRule, percentage};
use crate::model::problem::Problem;
use crate::model::request::Request;
use crate::model::target::Target;
use crate::model::undo::{LatencyUndo, LocalStackUndo, Undo};

/// Refuses what stands in the way, then writes everything down.
pub(super) fn prepare(
    fault: &LocalStackFault,
    owner: &Owner,
    api: &ChaosApi<'_>,
    survey: Survey,
) -> Result<Prepared, Problem> {
    conflicts::refuse(fault, owner, &survey)?;
    let warnings = warnings(fault, owner, &survey);
    let blast_radius = blast_radius(fault, &survey);
    let latency = match fault.latency {
        Some(latency) => Some(LatencyUndo {
            set_ms: latency.as_millis(),
            former_ms: survey.latency_ms?,
        }),
        None => None,
    };
    let rules = fault.faults.iter().map(|rule| rule.to_wire(owner.tag()));
    let undo = LocalStackUndo {
        endpoint: api.endpoint().to_owned(),
        session: survey.world.session.clone(),
        rules: rules.collect(),
        foreign: survey.rules,
        latency,
    };
    Ok(Prepared {
        world: survey.world,
        targets: targets(fault),
        blast_radius,
        summaries: summaries(fault),
        requests: requests(api, &undo, Way::In),
        undo_requests: requests(api, &undo, Way::Out),
        undo: Undo::LocalStack(undo),
        warnings,
    })
}

enum Way {
    In,
    Out,
}

/// The rules first and the latency after them, both in and out.
fn requests(api: &ChaosApi<'_>, undo: &LocalStackUndo, way: Way) -> Vec<Request> {
    let mut requests = Vec::new();
    if !undo.rules.is_empty() {
        let method = match way {
            Way::In => Method::PATCH,
            Way::Out => Method::DELETE,
        };
        let body = Value::Array(undo.rules.clone());
        requests.push(api.request(&method, FAULTS, Some(body)));
    }
    if let Some(latency) = undo.latency {
        let milliseconds = match way {
            Way::In => latency.set_ms,
            Way::Out => latency.former_ms,
        };
        let body = json!({"latency": milliseconds});
        requests.push(api.request(&Method::POST, EFFECTS, Some(body)));
    }
    requests
}

fn targets(fault: &LocalStackFault) -> Vec<Target> {
    let of_rule = |rule: &FaultRule| Target::AwsCalls {
        region: rule.region.clone(),
        service: rule.service.clone(),
        operation: rule.operation.clone(),
    };
    let latency = fault.latency.map(|_| Target::EveryAwsCall);
    fault.faults.iter().map(of_rule).chain(latency).collect()
}

/// `1 of 38 services`, where the LocalStack lists its services and every one that is named is among
/// them; else nothing.
fn services(fault: &LocalStackFault, survey: &Survey) -> Option<String> {
    let all = survey.services.len();
    if all == 0 {
        return None;
    }
    if fault.latency.is_some() {
        return Some(format!("{all} of {all} services"));
    }
    let named = fault.faults.iter().map(|rule| rule.service.as_deref());
    match named.collect::<Option<BTreeSet<&str>>>() {
        None => Some(format!("{all} of {all} services")),
        Some(named) => {
            let is_listed =
                |service: &&str| survey.services.iter().any(|(name, _)| name == service);
            let listed = named.iter().all(is_listed);
            listed.then(|| format!("{} of {all} services", named.len()))
        }
    }
}

/// Which requests are named by the targets; here stands how many of them.
fn blast_radius(fault: &LocalStackFault, survey: &Survey) -> String {
    let shares = || fault.faults.iter().map(|rule| rule.probability);
    let lowest = shares().fold(f64::INFINITY, f64::min);
    let highest = shares().fold(0.0, f64::max);
    let requests = match fault.latency {
        Some(_) => "every request".to_owned(),
        None if lowest < highest => format!(
            "{} to {} of the requests",
            percentage(lowest),
            percentage(highest)
        ),
        None => format!("{} of the requests", percentage(highest)),
    };
    let parts: Vec<String> = services(fault, survey)
        .into_iter()
        .chain([requests])
        .collect();
    parts.join(", ")
}

/// One line for each rule, and one for the latency.
pub(in crate::faults) fn summaries(fault: &LocalStackFault) -> Vec<String> {
    let latency = fault
        .latency
        .map(|latency| format!("every call to every service takes {latency} longer"));
    let rules = fault.faults.iter().map(ToString::to_string);
    rules.chain(latency).collect()
}

fn warnings(fault: &LocalStackFault, owner: &Owner, survey: &Survey) -> Vec<String> {
    let mut warnings = Vec::new();
    if survey.world.session.is_none() {
        warnings.push(
            "this LocalStack tells no `session_id`: a restart under the run cannot be noticed"
                .to_owned(),
        );
    }
    for (index, rule) in fault.faults.iter().enumerate() {
        warnings.extend(breadth(index, rule));
        warnings.extend(unknown_service(index, rule, survey));
        warnings.extend(unusual_region(index, rule));
        warnings.extend(hidden_by_retries(index, rule));
    }
    if !fault.faults.is_empty() {
        warnings.push(
            "LocalStack's own calls from service to service (SNS to SQS, Lambda to DynamoDB) meet these rules too"
                .to_owned(),
        );
    }
    warnings.extend(conflicts::warnings(fault, owner, survey));
    warnings
}

fn breadth(index: usize, rule: &FaultRule) -> Option<String> {
    let open: Vec<&str> = [
        ("region", &rule.region),
        ("service", &rule.service),
        ("operation", &rule.operation),
    ]
    .into_iter()
    .filter_map(|(name, value)| value.is_none().then_some(name))
    .collect();
    (!open.is_empty()).then(|| {
        format!(
            "faults[{index}] names no {}: it hits {}",
            open.join(", no "),
            Matcher::from(rule)
        )
    })
}

fn unknown_service(index: usize, rule: &FaultRule, survey: &Survey) -> Option<String> {
    let service = rule.service.as_deref()?;
    if survey.services.is_empty() {
        return None;
    }
    let mut services = survey.services.iter();
    if let Some((_, state)) = services.find(|(name, _)| name == service) {
        let bad = matches!(state.as_str(), "error" | "disabled");
        return bad.then(|| {
            format!("faults[{index}]: LocalStack says that `{service}` is in state `{state}`")
        });
    }
    let nearest = survey
        .services
        .iter()
        .map(|(name, _)| (strsim::jaro_winkler(name, service), name))
        .filter(|(likeness, _)| *likeness > 0.85)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| format!("; did you mean `{name}`?"));
    Some(format!(
        "faults[{index}]: this LocalStack lists no service `{service}`, so the rule may never match{}",
        nearest.unwrap_or_default()
    ))
}

const AREAS: &[&str] = &["af", "ap", "ca", "cn", "eu", "il", "me", "mx", "sa", "us"];
const DIRECTIONS: &[&str] = &[
    "central",
    "east",
    "north",
    "northeast",
    "northwest",
    "south",
    "southeast",
    "southwest",
    "west",
];

/// A misspelt region matches no call, and the run looks as if the service stood the fault.
fn unusual_region(index: usize, rule: &FaultRule) -> Option<String> {
    let region = rule.region.as_deref()?;
    let parts: Vec<&str> = region.split('-').collect();
    let usual = match parts.as_slice() {
        [area, .., direction, number] => {
            AREAS.contains(area)
                && DIRECTIONS.contains(direction)
                && number.len() == 1
                && number.chars().all(|digit| digit.is_ascii_digit())
        }
        _ => false,
    };
    (!usual).then(|| {
        format!("faults[{index}]: `{region}` looks like no AWS region, so the rule may never match")
    })
}

/// The probability is drawn for each HTTP attempt, and SDKs make three by default.
fn hidden_by_retries(index: usize, rule: &FaultRule) -> Option<String> {
    (rule.probability < 1.0).then(|| {
        let seen = (rule.probability.powi(3) * 1e4).round() / 1e4;
        format!(
            "faults[{index}]: {} of attempts fail, but to a caller whose SDK makes 3 attempts only about {} of calls do",
            percentage(rule.probability),
            percentage(seen)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_that_can_hardly_be_one_is_warned_about() {
        for (region, warned) in [
            ("us-east-1", false),
            ("ap-southeast-2", false),
            ("us-gov-west-1", false),
            ("us-iso-east-1", false),
            ("us-esat-1", true),
            ("useast1", true),
            ("xx-east-1", true),
            ("eu-west-11", true),
        ] {
            let rule: FaultRule =
                serde_json::from_value(serde_json::json!({"region": region})).expect("a rule");
            assert_eq!(unusual_region(0, &rule).is_some(), warned, "{region}");
        }
    }
}
