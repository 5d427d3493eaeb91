//! The fault rules of the sandbox's Chaos API: what a valid rule is, when two are the same, and
//! which one decides about a call.
//!
//! Shapes after LocalStack's public OpenAPI description (2026.4.0). Where it is silent: a matching
//! rule decides even when its dice say "pass" (no later rule is asked), a PATCH may add a rule that
//! is there already, and a list holds at most `MOST_RULES`.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value};

use crate::model::localstack::{DEFAULT_ERROR_CODE, DEFAULT_STATUS_CODE};

/// Bounds the memory and the comparisons that a client can ask for.
pub(super) const MOST_RULES: usize = 1_000;
const LONGEST_DESCRIPTION: usize = 8_192;

/// The body breaks the contract; the API names no field, so neither does this.
#[derive(Debug, PartialEq)]
pub(super) struct InvalidBody;

/// An AWS call as rules see it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) service: String,
    /// Absent where the protocol hides it from us; a rule that names one doesn't match then.
    pub(super) operation: Option<String>,
    pub(super) region: String,
}

/// What a faulted call gets instead of being executed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    pub(super) status: u16,
    pub(super) code: String,
}

#[derive(Debug, Clone, PartialEq)]
struct ErrorFields {
    status: Option<u16>,
    code: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
struct Fields {
    region: Option<String>,
    service: Option<String>,
    operation: Option<String>,
    probability: Option<f64>,
    description: Option<String>,
    error: Option<ErrorFields>,
}

/// One rule: as it was sent, which is how it is shown, and as it is understood.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    sent: Value,
    fields: Fields,
}

impl Rule {
    fn parse(sent: &Value) -> Result<Self, InvalidBody> {
        const KEYS: &[&str] = &[
            "region",
            "service",
            "operation",
            "probability",
            "description",
            "error",
        ];
        let object = object(sent, KEYS)?;
        let probability = match object.get("probability") {
            None => None,
            Some(value) => Some(probability(value)?),
        };
        let error = match object.get("error") {
            None => None,
            Some(value) => Some(error_fields(value)?),
        };
        let fields = Fields {
            region: word(object, "region", "-")?,
            service: word(object, "service", "-_")?,
            operation: operation(object)?,
            probability,
            description: description(object)?,
            error,
        };
        let sent = sent.clone();
        Ok(Self { sent, fields })
    }

    /// The same rule with the documented defaults written out.
    fn filled(&self) -> Fields {
        let failure = self.failure();
        Fields {
            probability: Some(self.probability()),
            error: Some(ErrorFields {
                status: Some(failure.status),
                code: Some(failure.code),
            }),
            ..self.fields.clone()
        }
    }

    fn probability(&self) -> f64 {
        self.fields.probability.unwrap_or(1.0)
    }

    fn failure(&self) -> Failure {
        let error = self.fields.error.as_ref();
        Failure {
            status: error
                .and_then(|error| error.status)
                .unwrap_or(DEFAULT_STATUS_CODE),
            code: error
                .and_then(|error| error.code.clone())
                .unwrap_or_else(|| DEFAULT_ERROR_CODE.to_owned()),
        }
    }

    fn matches(&self, call: &Call) -> bool {
        let admits =
            |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|wanted| wanted == is);
        admits(&self.fields.region, &call.region)
            && admits(&self.fields.service, &call.service)
            && (self.fields.operation.is_none() || self.fields.operation == call.operation)
    }
}

/// Reads the body of POST, PATCH and DELETE.
pub(super) fn parse_rules(body: &[u8]) -> Result<Vec<Rule>, InvalidBody> {
    let sent: Vec<Value> = serde_json::from_slice(body).map_err(|_| InvalidBody)?;
    if sent.len() > MOST_RULES {
        return Err(InvalidBody);
    }
    let rules: Vec<Rule> = sent.iter().map(Rule::parse).collect::<Result<_, _>>()?;
    // `uniqueItems` is about what was sent: a rule and its twin with defaults written out may stand
    // in one list.
    let repeated = |(place, rule): (usize, &Rule)| {
        rules[..place]
            .iter()
            .any(|earlier| earlier.fields == rule.fields)
    };
    if rules.iter().enumerate().any(repeated) {
        return Err(InvalidBody);
    }
    Ok(rules)
}

/// Reads the body of POST on effects: the latency in milliseconds.
pub(super) fn parse_latency(body: &[u8]) -> Result<u64, InvalidBody> {
    let sent: Value = serde_json::from_slice(body).map_err(|_| InvalidBody)?;
    object(&sent, &["latency"])?
        .get("latency")
        .and_then(Value::as_u64)
        .ok_or(InvalidBody)
}

/// The rules in force, the latency, and the dice.
pub(super) struct RuleBook {
    rules: Vec<Rule>,
    latency_ms: u64,
    dice: ChaCha8Rng,
}

impl RuleBook {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            rules: Vec::new(),
            latency_ms: 0,
            dice: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// The rules as they were sent, in their order.
    pub(super) fn listed(&self) -> Value {
        self.rules.iter().map(|rule| rule.sent.clone()).collect()
    }

    /// Fails never; it has the shape of the other changes.
    pub(super) fn replace(&mut self, rules: Vec<Rule>) -> Result<(), InvalidBody> {
        self.rules = rules;
        Ok(())
    }

    pub(super) fn append(&mut self, rules: Vec<Rule>) -> Result<(), InvalidBody> {
        if self.rules.len() + rules.len() > MOST_RULES {
            return Err(InvalidBody);
        }
        self.rules.extend(rules);
        Ok(())
    }

    /// Takes out every rule that is the same as one of these; an absent one is no error.
    pub(super) fn remove(&mut self, rules: Vec<Rule>) -> Result<(), InvalidBody> {
        let unwanted: Vec<Fields> = rules.iter().map(Rule::filled).collect();
        self.rules.retain(|rule| !unwanted.contains(&rule.filled()));
        Ok(())
    }

    pub(super) fn latency_ms(&self) -> u64 {
        self.latency_ms
    }

    pub(super) fn set_latency_ms(&mut self, latency_ms: u64) {
        self.latency_ms = latency_ms;
    }

    /// Asks the first rule that matches, rolling its dice once for this HTTP request.
    pub(super) fn failure_for(&mut self, call: &Call) -> Option<Failure> {
        let rule = self.rules.iter().find(|rule| rule.matches(call))?;
        self.dice
            .random_bool(rule.probability())
            .then(|| rule.failure())
    }
}

fn object<'a>(value: &'a Value, known: &[&str]) -> Result<&'a Map<String, Value>, InvalidBody> {
    value
        .as_object()
        .filter(|object| object.keys().all(|key| known.contains(&key.as_str())))
        .ok_or(InvalidBody)
}

/// Letters, digits and these punctuation marks, at least one of them.
fn word(
    object: &Map<String, Value>,
    key: &str,
    punctuation: &str,
) -> Result<Option<String>, InvalidBody> {
    let Some(value) = object.get(key) else {
        return Ok(None);
    };
    let admitted = |letter: char| letter.is_ascii_alphanumeric() || punctuation.contains(letter);
    value
        .as_str()
        .filter(|text| !text.is_empty() && text.chars().all(admitted))
        .map(|text| Some(text.to_owned()))
        .ok_or(InvalidBody)
}

fn operation(object: &Map<String, Value>) -> Result<Option<String>, InvalidBody> {
    let name = word(object, "operation", "")?;
    let has_digit = |name: &String| name.contains(|letter: char| letter.is_ascii_digit());
    if name.as_ref().is_some_and(has_digit) {
        return Err(InvalidBody);
    }
    Ok(name)
}

fn description(object: &Map<String, Value>) -> Result<Option<String>, InvalidBody> {
    match object.get("description") {
        None => Ok(None),
        Some(Value::String(text)) if text.chars().count() <= LONGEST_DESCRIPTION => {
            Ok(Some(text.clone()))
        }
        Some(_) => Err(InvalidBody),
    }
}

fn probability(value: &Value) -> Result<f64, InvalidBody> {
    value
        .as_f64()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or(InvalidBody)
}

fn error_fields(value: &Value) -> Result<ErrorFields, InvalidBody> {
    let object = object(value, &["statusCode", "code"])?;
    let status = match object.get("statusCode") {
        None => None,
        // `as_u64` refuses `503.0`.
        Some(status) => Some(
            status
                .as_u64()
                .and_then(|status| u16::try_from(status).ok())
                .filter(|status| (400..=599).contains(status))
                .ok_or(InvalidBody)?,
        ),
    };
    let code = word(object, "code", "")?;
    Ok(ErrorFields { status, code })
}
