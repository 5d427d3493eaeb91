//! When two rules are the same one: JSON values are compared, the order of keys is free, absent
//! optional fields equal their documented defaults, `1` equals `1.0`.

use serde_json::{Map, Value};

use super::matching::Matcher;
use crate::model::localstack::{DEFAULT_ERROR_CODE, DEFAULT_STATUS_CODE, OWNER_PREFIX};

/// A listed rule, read for what it means.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Meaning {
    pub(super) matcher: Matcher,
    probability: f64,
    status: f64,
    code: String,
    /// Has no effect on the server; ours says whose the rule is.
    pub(super) description: Option<String>,
    /// What the contract does not know, kept so that such a rule equals only its like.
    rest: Map<String, Value>,
}

impl Meaning {
    /// Reads a rule; `None` for what is not even an object.
    pub(super) fn read(rule: &Value) -> Option<Self> {
        let mut rest = rule.as_object()?.clone();
        let mut error = match rest.remove("error") {
            Some(Value::Object(error)) => error,
            None | Some(Value::Null) => Map::new(),
            Some(other) => {
                rest.insert("error".to_owned(), other);
                Map::new()
            }
        };
        let meaning = Self {
            matcher: Matcher {
                region: take_text(&mut rest, "region"),
                service: take_text(&mut rest, "service"),
                operation: take_text(&mut rest, "operation"),
            },
            probability: take_number(&mut rest, "probability").unwrap_or(1.0),
            status: take_number(&mut error, "statusCode")
                .unwrap_or_else(|| f64::from(DEFAULT_STATUS_CODE)),
            code: take_text(&mut error, "code").unwrap_or_else(|| DEFAULT_ERROR_CODE.to_owned()),
            description: take_text(&mut rest, "description").filter(|text| !text.is_empty()),
            rest: Map::new(),
        };
        if !error.is_empty() {
            rest.insert("error".to_owned(), Value::Object(error));
        }
        Some(Self { rest, ..meaning })
    }

    /// The same calls get the same error as often, whatever the description says.
    pub(super) fn has_effect_of(&self, other: &Self) -> bool {
        self.is_within(other) && self.rest == other.rest
    }

    /// The other says all that this one says, and perhaps something that the contract does not know:
    /// it may be this rule, shown with more, but what it does is not known.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        let rest_within = |(key, value)| other.rest.get(key) == Some(value);
        self.matcher == other.matcher
            && close(self.probability, other.probability)
            && close(self.status, other.status)
            && self.code == other.code
            && self.rest.iter().all(rest_within)
    }

    /// The run whose tag the rule carries, when it is one of this tool's.
    pub(super) fn owner(&self) -> Option<&str> {
        self.description.as_deref()?.strip_prefix(OWNER_PREFIX)
    }
}

/// Takes a text out; one of another type stays where it is. `null` is how some servers write "absent".
fn take_text(from: &mut Map<String, Value>, key: &str) -> Option<String> {
    let value = from.remove(key)?;
    let text = value.as_str().map(ToOwned::to_owned);
    if text.is_none() && !value.is_null() {
        from.insert(key.to_owned(), value);
    }
    text
}

fn take_number(from: &mut Map<String, Value>, key: &str) -> Option<f64> {
    let value = from.remove(key)?;
    let number = value.as_f64();
    if number.is_none() && !value.is_null() {
        from.insert(key.to_owned(), value);
    }
    number
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn meaning(rule: &Value) -> Meaning {
        Meaning::read(rule).expect("the test's rule is an object")
    }

    #[test]
    fn defaults_nulls_and_number_forms_make_no_difference() {
        let full = json!({
            "service": "sqs", "probability": 1.0, "description": "chaos:r-1",
            "error": {"statusCode": 503, "code": "ServiceUnavailable"},
        });
        for other in [
            json!({"service": "sqs", "description": "chaos:r-1"}),
            json!({"description": "chaos:r-1", "service": "sqs", "probability": 1}),
            json!({"service": "sqs", "description": "chaos:r-1", "error": {}}),
            json!({"service": "sqs", "description": "chaos:r-1", "error": null, "region": null}),
            json!({"service": "sqs", "description": "chaos:r-1", "error": {"statusCode": 503.0}}),
        ] {
            assert!(meaning(&full).has_effect_of(&meaning(&other)), "{other}");
        }
    }

    #[test]
    fn every_field_makes_a_difference() {
        let rule = json!({"service": "sqs", "description": "chaos:r-1"});
        for other in [
            json!({"service": "sns", "description": "chaos:r-1"}),
            json!({"description": "chaos:r-1"}),
            json!({"service": "sqs", "description": "chaos:r-1", "region": "eu-west-1"}),
            json!({"service": "sqs", "description": "chaos:r-1", "operation": "SendMessage"}),
            json!({"service": "sqs", "description": "chaos:r-1", "probability": 0.5}),
            json!({"service": "sqs", "description": "chaos:r-1", "probability": "1"}),
            json!({"service": "sqs", "description": "chaos:r-1", "error": {"statusCode": 500}}),
            json!({"service": "sqs", "description": "chaos:r-1", "error": {"code": "X"}}),
            json!({"service": "sqs", "description": "chaos:r-1", "error": {"message": "X"}}),
            json!({"service": "sqs", "description": "chaos:r-1", "error": "X"}),
            json!({"service": "sqs", "description": "chaos:r-1", "regoin": "x"}),
            json!({"service": 1, "description": "chaos:r-1"}),
        ] {
            assert!(!meaning(&rule).has_effect_of(&meaning(&other)), "{other}");
        }
    }

    #[test]
    fn a_rule_is_within_one_that_says_more_and_never_the_other_way_round() {
        let less = meaning(&json!({"service": "sqs"}));
        let more = meaning(&json!({"service": "sqs", "hits": 0, "error": {"message": "X"}}));
        assert_eq!(
            (less.is_within(&more), more.is_within(&less)),
            (true, false)
        );
        let other = meaning(&json!({"service": "sns", "hits": 0}));
        assert!(!less.is_within(&other));
    }

    #[test]
    fn the_description_changes_nothing_but_the_owner() {
        let ours = meaning(&json!({"service": "sqs", "description": "chaos:r-1"}));
        let theirs = meaning(&json!({"service": "sqs", "description": "load test"}));
        assert!(ours.has_effect_of(&theirs));
        assert_eq!((ours.owner(), theirs.owner()), (Some("r-1"), None));
        assert_eq!(Meaning::read(&json!("sqs")), None);
    }
}
