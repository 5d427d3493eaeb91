//! What is wrong with a LocalStack fault before anything is sent: the server answers a bad rule with
//! a 400 that names no field, or takes it and never matches. Patterns: LocalStack's OpenAPI 2026.4.0.

use super::matching::{Matcher, Relation};
use super::names;
use crate::faults::LocalStackFault;
use crate::model::localstack::FaultRule;
use crate::model::problem::{Problem, ProblemKind};

/// One thing wrong, and its place in the fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintFinding {
    /// Where, from the fault down: `faults[0].error.code`, `latency`; empty: the fault as a whole.
    pub path: String,
    /// What is wrong and what to write instead.
    pub problem: Problem,
}

impl LintFinding {
    pub(super) fn new(path: String, message: String, hint: String) -> Self {
        Self {
            path,
            problem: Problem::new(ProblemKind::Invalid, message).hint(hint),
        }
    }
}

/// Everything that is wrong with a fault, in document order; pure, and empty for a fault that may be
/// sent.
pub fn lint(fault: &LocalStackFault) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    if fault.faults.is_empty() && fault.latency.is_none() {
        findings.push(finding(
            "",
            "the fault breaks nothing: it has neither rules nor a latency",
            "add `faults: [{service: kinesis}]` or `latency: 800ms`",
        ));
    }
    for (index, rule) in fault.faults.iter().enumerate() {
        lint_rule(&format!("faults[{index}]"), rule, &mut findings);
        findings.extend(quarrel(&fault.faults[..index], index, rule));
    }
    if fault
        .latency
        .is_some_and(|latency| latency.as_millis() == 0)
    {
        findings.push(finding(
            "latency",
            "a latency of 0 breaks nothing",
            "write how much slower every call becomes: `800ms`",
        ));
    }
    findings
}

fn finding(path: &str, message: &str, hint: &str) -> LintFinding {
    LintFinding::new(path.to_owned(), message.to_owned(), hint.to_owned())
}

fn lint_rule(path: &str, rule: &FaultRule, findings: &mut Vec<LintFinding>) {
    let at = |field: &str| format!("{path}.{field}");
    if let Some(region) = &rule.region {
        findings.extend(names::region(&at("region"), region));
    }
    if let Some(service) = &rule.service {
        findings.extend(names::service(&at("service"), service));
    }
    if let Some(operation) = &rule.operation {
        findings.extend(names::operation(&at("operation"), operation));
    }
    findings.extend(probability(&at("probability"), rule.probability));
    if !(400..=599).contains(&rule.error.status_code) {
        findings.push(finding(
            &at("error.statusCode"),
            &format!(
                "status {} cannot be injected: it must be from 400 to 599",
                rule.error.status_code
            ),
            "503 is what an outage looks like, 400 with a throttling code what throttling does",
        ));
    }
    findings.extend(names::error_code(&at("error.code"), &rule.error.code));
}

fn probability(path: &str, probability: f64) -> Option<LintFinding> {
    let hint =
        "write the share of the requests that fail, above 0 and up to 1: `0.5` is every second one";
    if probability == 0.0 {
        return Some(finding(path, "a probability of 0 breaks nothing", hint));
    }
    if (0.0..=1.0).contains(&probability) {
        return None;
    }
    let hint = match probability > 1.0 && probability <= 100.0 {
        true => format!("for {probability}% write `{}`", probability / 100.0),
        false => hint.to_owned(),
    };
    Some(finding(
        path,
        &format!("a probability of {probability} is not between 0 and 1"),
        &hint,
    ))
}

/// What an earlier rule of the same fault does to this one; the first such rule is named.
fn quarrel(earlier: &[FaultRule], index: usize, rule: &FaultRule) -> Option<LintFinding> {
    let matcher = Matcher::from(rule);
    earlier.iter().enumerate().find_map(|(other, before)| {
        let what = match Matcher::from(before).relation_to(&matcher) {
            Relation::Apart => return None,
            Relation::Same if before == rule => format!("is the same rule as faults[{other}]"),
            Relation::Same | Relation::Shadows => {
                format!("is never reached: faults[{other}] catches {matcher} before it")
            }
            Relation::Overlaps => format!("overlaps with faults[{other}]: some calls match both"),
        };
        Some(finding(
            &format!("faults[{index}]"),
            &format!("this rule {what}"),
            "the first match wins, and what follows a lost dice roll is not documented: let no two rules of a step match the same call",
        ))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::units::Span;

    fn fault(rules: Value, latency_ms: Option<u64>) -> LocalStackFault {
        LocalStackFault {
            endpoint: "http://127.0.0.1:4566".to_owned(),
            faults: serde_json::from_value(rules).expect("the test's rules parse"),
            latency: latency_ms.map(Span::from_millis),
        }
    }

    /// Paths and hints; a hint is what a person types next, so it is compared in full.
    fn found(fault: &LocalStackFault) -> Vec<(String, String, String)> {
        let findings = lint(fault).into_iter();
        findings
            .map(|LintFinding { path, problem }| {
                (path, problem.message, problem.hint.unwrap_or_default())
            })
            .collect()
    }

    #[test]
    fn sound_faults_pass() {
        for (rules, latency) in [
            (json!([{}]), None),
            (json!([]), Some(800)),
            (
                json!([
                    {"region": "us-east-1", "service": "kinesis", "operation": "PutRecord",
                     "probability": 0.5, "error": {"statusCode": 400, "code": "ThrottlingException"}},
                    {"region": "us-gov-west-1", "service": "kinesis", "operation": "PutRecord"},
                    {"service": "cognito-idp"},
                    {"service": "dynamodb", "operation": "PutItem"},
                ]),
                Some(1),
            ),
        ] {
            assert_eq!(lint(&fault(rules.clone(), latency)), vec![], "{rules}");
        }
    }

    #[test]
    fn each_mistake_is_named_at_its_place_with_the_next_move() {
        for (rule, path, message, hint) in [
            (
                json!({"region": "us-*"}),
                "region",
                "wildcard",
                "leave it out: `on.localstack.region`",
            ),
            (
                json!({"region": ""}),
                "region",
                "is empty",
                "leave it out: `on.localstack.region`",
            ),
            (
                json!({"region": "US-East-1"}),
                "region",
                "capital",
                "`us-east-1`",
            ),
            (
                json!({"region": "us-east-1a"}),
                "region",
                "zone",
                "`us-east-1`",
            ),
            (json!({"region": "us east"}), "region", "' '", "as AWS does"),
            (
                json!({"service": "sfn"}),
                "service",
                "`sfn`",
                "`stepfunctions`",
            ),
            (
                json!({"service": "states"}),
                "service",
                "`states`",
                "`stepfunctions`",
            ),
            (
                json!({"service": "Monitoring"}),
                "service",
                "`Monitoring`",
                "`cloudwatch`",
            ),
            (json!({"service": "email"}), "service", "`email`", "`ses`"),
            (
                json!({"service": "Kinesis"}),
                "service",
                "capital",
                "`kinesis`",
            ),
            (
                json!({"service": "*"}),
                "service",
                "wildcard",
                "leave the service out",
            ),
            (
                json!({"operation": "ListObjectsV2"}),
                "operation",
                "digits",
                "without `operation`",
            ),
            (
                json!({"operation": "put_record"}),
                "operation",
                "spelling",
                "`PutRecord`",
            ),
            (
                json!({"operation": "put-record"}),
                "operation",
                "spelling",
                "`PutRecord`",
            ),
            (
                json!({"operation": "putRecord"}),
                "operation",
                "spelling",
                "`PutRecord`",
            ),
            (
                json!({"operation": "Put*"}),
                "operation",
                "wildcard",
                "leave the operation out",
            ),
            (
                json!({"operation": "kinesis:PutRecord"}),
                "operation",
                "in one",
                "`service: kinesis` and `operation: PutRecord`",
            ),
            (json!({"operation": "_"}), "operation", "'_'", "as AWS does"),
            (
                json!({"operation": "Put\u{1b}"}),
                "operation",
                "u{1b}",
                "as AWS does",
            ),
            (json!({"probability": 0}), "probability", "of 0", "`0.5`"),
            (
                json!({"probability": 50}),
                "probability",
                "of 50",
                "for 50% write `0.5`",
            ),
            (
                json!({"probability": -0.1}),
                "probability",
                "of -0.1",
                "`0.5`",
            ),
            (
                json!({"error": {"statusCode": 200}}),
                "error.statusCode",
                "200",
                "503",
            ),
            (
                json!({"error": {"statusCode": 600}}),
                "error.statusCode",
                "600",
                "503",
            ),
            (
                json!({"error": {"code": "AWS.SimpleQueueService.NonExistentQueue"}}),
                "error.code",
                "dots",
                "another code",
            ),
            (
                json!({"error": {"code": "Slow-Down"}}),
                "error.code",
                "'-'",
                "as AWS does",
            ),
        ] {
            let found = found(&fault(json!([rule]), None));
            assert_eq!(found.len(), 1, "{rule}: {found:?}");
            assert_eq!(found[0].0, format!("faults[0].{path}"), "{rule}");
            assert!(found[0].1.contains(message), "{rule}: {}", found[0].1);
            assert!(found[0].2.contains(hint), "{rule}: {}", found[0].2);
        }
    }

    #[test]
    fn a_probability_that_is_no_number_is_refused() {
        let mut fault = fault(json!([{}]), None);
        fault.faults[0].probability = f64::NAN;
        assert_eq!(lint(&fault)[0].path, "faults[0].probability");
    }

    #[test]
    fn faults_that_break_nothing_are_refused() {
        assert_eq!(found(&fault(json!([]), None))[0].0, "");
        assert_eq!(found(&fault(json!([{}]), Some(0)))[0].0, "latency");
    }

    #[test]
    fn rules_of_one_step_may_not_meet() {
        let narrow = json!({"service": "sqs", "operation": "SendMessage"});
        let same_calls = json!({"service": "sqs", "operation": "SendMessage", "probability": 0.5});
        let broad = json!({"service": "sqs"});
        for (first, second, message) in [
            (&narrow, &narrow, "is the same rule as faults[0]"),
            (
                &narrow,
                &same_calls,
                "is never reached: faults[0] catches sqs:SendMessage",
            ),
            (
                &broad,
                &narrow,
                "is never reached: faults[0] catches sqs:SendMessage",
            ),
            (&narrow, &broad, "overlaps with faults[0]"),
        ] {
            let found = found(&fault(json!([first, second]), None));
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].0, "faults[1]");
            assert!(found[0].1.contains(message), "{}", found[0].1);
        }
    }
}
