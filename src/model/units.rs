//! Durations, percentages and objectives as people write them in a document.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::problem::{Problem, ProblemKind};

/// A length of time in whole milliseconds, written `90s`, `1m30s`, `800ms`, `2h`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Span {
    milliseconds: u64,
}

const SPAN_UNITS: &[(&str, u64)] = &[
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

/// Long enough for any game day.
const LONGEST_SPAN: u64 = 366 * 86_400_000;

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self { milliseconds: 0 };

    /// So many milliseconds.
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self { milliseconds }
    }

    /// So many seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self {
            milliseconds: seconds * 1_000,
        }
    }

    /// A measured length in whole milliseconds; one that 64 bits cannot hold is the longest.
    pub fn of(length: Duration) -> Self {
        Self::from_millis(u64::try_from(length.as_millis()).unwrap_or(u64::MAX))
    }

    /// Length in milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.milliseconds
    }

    /// The same length for the standard library.
    pub const fn as_duration(self) -> Duration {
        Duration::from_millis(self.milliseconds)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.milliseconds == 0 {
            return formatter.pad("0s");
        }
        let mut rest = self.milliseconds;
        let mut text = String::new();
        for (unit, size) in SPAN_UNITS {
            if rest >= *size {
                text.push_str(&format!("{}{unit}", rest / size));
                rest %= size;
            }
        }
        formatter.pad(&text)
    }
}

impl FromStr for Span {
    type Err = Problem;

    /// As a person may write it in a document: a year at most.
    fn from_str(text: &str) -> Result<Self, Problem> {
        let span = Self::read(text)?;
        if span.milliseconds <= LONGEST_SPAN {
            return Ok(span);
        }
        Err(too_long(text, "longer than a year"))
    }
}

fn too_long(text: &str, why: &str) -> Problem {
    Problem::new(ProblemKind::Invalid, format!("`{text}` is {why}"))
        .hint("a game day ends; write a shorter duration")
}

impl Span {
    /// A span of any length: what was measured, or stands in a query, may be as long as it likes.
    fn read(text: &str) -> Result<Self, Problem> {
        let wrong = || {
            Problem::new(ProblemKind::Invalid, format!("`{text}` is no duration")).hint(
                "write whole numbers with d, h, m, s or ms, largest first: `90s`, `1m30s`, `800ms`",
            )
        };
        if text.is_empty() {
            return Err(wrong());
        }
        let mut rest = text;
        let mut total: u64 = 0;
        let mut largest_allowed = 0;
        while !rest.is_empty() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, tail) = rest.split_at(digits);
            let letters = tail.len()
                - tail
                    .trim_start_matches(|c: char| c.is_ascii_lowercase())
                    .len();
            let (unit, tail) = tail.split_at(letters);
            let place = SPAN_UNITS
                .iter()
                .position(|(name, _)| *name == unit)
                .filter(|place| *place >= largest_allowed)
                .ok_or_else(wrong)?;
            let number: u64 = number.parse().map_err(|_| wrong())?;
            total = number
                .checked_mul(SPAN_UNITS[place].1)
                .and_then(|part| total.checked_add(part))
                .ok_or_else(|| too_long(text, "longer than any time that can be counted"))?;
            largest_allowed = place + 1;
            rest = tail;
        }
        Ok(Self::from_millis(total))
    }
}

impl TryFrom<String> for Span {
    type Error = Problem;

    /// As it was recorded: whatever was written comes back.
    fn try_from(text: String) -> Result<Self, Problem> {
        Self::read(&text)
    }
}

impl From<Span> for String {
    fn from(span: Span) -> String {
        span.to_string()
    }
}

impl schemars::JsonSchema for Span {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A duration in whole units, largest first: 90s, 1m30s, 800ms.",
            "type": "string",
            "pattern": "^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$",
            "minLength": 2
        })
    }
}

/// A share from 0 % to 100 %, written `10%`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Percent(f64);

impl Percent {
    /// The whole.
    pub const ALL: Self = Self(100.0);

    /// The share that a number from 0 to 1 is, to a millionth; what lies outside is cut off.
    pub fn of_ratio(ratio: f64) -> Self {
        Self((ratio.clamp(0.0, 1.0) * 1e8).round() / 1e6)
    }

    /// The share as a number from 0 to 1.
    pub fn as_ratio(self) -> f64 {
        self.0 / 100.0
    }

    /// How many of so many things the share is, rounded up: at least one of any, never one too many for
    /// what a float cannot say exactly.
    pub fn part_of(self, count: usize) -> usize {
        // Millionths of a percent; the constructors let in nothing below zero.
        let millionths = (self.0 * 1e6).round() as u128;
        let part = (count as u128 * millionths).div_ceil(100_000_000);
        usize::try_from(part).unwrap_or(count)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&format!("{}%", self.0))
    }
}

impl FromStr for Percent {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        text.strip_suffix('%')
            .and_then(|number| plain_number(number.trim_end()))
            .filter(|number| (0.0..=100.0).contains(number))
            .map(Self)
            .ok_or_else(|| {
                Problem::new(ProblemKind::Invalid, format!("`{text}` is no percentage"))
                    .hint("write a number from 0 to 100 and a percent sign: `10%`")
            })
    }
}

impl TryFrom<String> for Percent {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<Percent> for String {
    fn from(percent: Percent) -> String {
        percent.to_string()
    }
}

impl schemars::JsonSchema for Percent {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Percent".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A share from 0% to 100%.",
            "type": "string",
            "pattern": "^[0-9]+(\\.[0-9]+)? *%$"
        })
    }
}

/// How a value is compared with the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparator {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

/// Longer signs first, so that `<=` is not read as `<`.
const COMPARATORS: &[(&str, Comparator)] = &[
    ("<=", Comparator::LessOrEqual),
    (">=", Comparator::GreaterOrEqual),
    ("==", Comparator::Equal),
    ("!=", Comparator::NotEqual),
    ("<", Comparator::Less),
    (">", Comparator::Greater),
];

/// What a value counts. Values are kept in base units: a ratio for percentages, seconds for durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unit {
    /// A bare number.
    Number,
    /// A ratio (0.01), shown as a percentage (1 %).
    Percent,
    /// Seconds (0.8), shown as a duration (800 ms).
    Duration,
}

impl Unit {
    /// A value in base units as a person reads it: `0.42%`, `812ms`, `17`.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Number => short_number(value),
            Self::Percent => format!("{}%", short_number(value * 100.0)),
            Self::Duration if value.abs() < 1.0 => format!("{}ms", short_number(value * 1_000.0)),
            Self::Duration => format!("{}s", short_number(value)),
        }
    }
}

/// Three significant places where they matter, no trailing zeros.
fn short_number(value: f64) -> String {
    let places = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.places$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What a value has to satisfy: comparator, number, unit, written `< 1%`, `<= 800ms`, `>= 3`, `== 0`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Objective {
    comparator: Comparator,
    threshold: f64,
    unit: Unit,
}

impl Objective {
    /// Whether a value in base units satisfies the objective. `NaN` never does.
    pub fn holds(&self, value: f64) -> bool {
        if value.is_nan() {
            return false;
        }
        match self.comparator {
            Comparator::Less => value < self.threshold,
            Comparator::LessOrEqual => value <= self.threshold,
            Comparator::Greater => value > self.threshold,
            Comparator::GreaterOrEqual => value >= self.threshold,
            Comparator::Equal => value == self.threshold,
            Comparator::NotEqual => value != self.threshold,
        }
    }

    /// Whether `left` is further on the wrong side than `right`: how a worst value is picked.
    pub fn is_worse(&self, left: f64, right: f64) -> bool {
        match self.comparator {
            Comparator::Less | Comparator::LessOrEqual => left > right,
            Comparator::Greater | Comparator::GreaterOrEqual => left < right,
            Comparator::Equal => (left - self.threshold).abs() > (right - self.threshold).abs(),
            Comparator::NotEqual => (left - self.threshold).abs() < (right - self.threshold).abs(),
        }
    }

    /// The threshold in base units (a ratio, seconds, or a bare number).
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// What its values count.
    pub fn unit(&self) -> Unit {
        self.unit
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = COMPARATORS
            .iter()
            .find(|(_, comparator)| *comparator == self.comparator)
            .map_or("?", |(sign, _)| sign);
        let number = match self.unit {
            Unit::Number => format!("{}", self.threshold),
            Unit::Percent => format!("{}%", enlarged(self.threshold, 2)),
            Unit::Duration if self.threshold < 1.0 => format!("{}ms", enlarged(self.threshold, 3)),
            Unit::Duration => format!("{}s", self.threshold),
        };
        formatter.pad(&format!("{sign} {number}"))
    }
}

/// A finite number with its decimal point moved to the right: what [`shifted`] reads back exactly.
/// Multiplying would make 0.7000000000000001 of it, or a number that is larger than any.
fn enlarged(value: f64, places: usize) -> String {
    let text = value.to_string();
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => ("-", text),
        None => ("", text.as_str()),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = format!("{fraction:0<places$}");
    let (moved, fraction) = fraction.split_at(places);
    let whole = format!("{whole}{moved}");
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

impl FromStr for Objective {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let wrong = |why: &str| {
            Problem::new(
                ProblemKind::Invalid,
                format!("`{text}` is no objective: {why}"),
            )
            .hint("write a comparator, a number and a unit: `< 1%`, `<= 800ms`, `>= 3`, `== 0`")
        };
        let trimmed = text.trim();
        let (sign, comparator) = COMPARATORS
            .iter()
            .find(|(sign, _)| trimmed.starts_with(sign))
            .ok_or_else(|| wrong("it starts with none of < <= > >= == !="))?;
        let quantity = trimmed[sign.len()..].trim();
        let split = quantity
            .find(|c: char| c == '%' || c.is_ascii_alphabetic())
            .unwrap_or(quantity.len());
        let (number, unit) = quantity.split_at(split);
        let digits = number.trim();
        let number =
            plain_number(digits).ok_or_else(|| wrong("there is no number after the comparator"))?;
        let (threshold, unit) = match unit.trim() {
            "" => (number, Unit::Number),
            "%" => (shifted(digits, 2).unwrap_or(number / 100.0), Unit::Percent),
            "ms" => (
                shifted(digits, 3).unwrap_or(number / 1_000.0),
                Unit::Duration,
            ),
            "s" => (number, Unit::Duration),
            "m" => (number * 60.0, Unit::Duration),
            "h" => (number * 3_600.0, Unit::Duration),
            other => return Err(wrong(&format!("`{other}` is no unit"))),
        };
        if !threshold.is_finite() {
            return Err(wrong("the number is larger than any that can be compared"));
        }
        Ok(Self {
            comparator: *comparator,
            threshold,
            unit,
        })
    }
}

/// A decimal number with no exponent, no `inf`, no `nan`: what a person writes by hand.
fn plain_number(text: &str) -> Option<f64> {
    let body = text.strip_prefix('-').unwrap_or(text);
    let plain = !body.is_empty()
        && body.chars().all(|c| c.is_ascii_digit() || c == '.')
        && body.starts_with(|c: char| c.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// A decimal number with its point moved to the left, exactly: dividing what was rounded already
/// makes 0.6999… of 0.7 %, and seven errors in a thousand would miss `<= 0.7%`.
fn shifted(digits: &str, places: u32) -> Option<f64> {
    format!("{digits}e-{places}").parse().ok()
}

impl TryFrom<String> for Objective {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<Objective> for String {
    fn from(objective: Objective) -> String {
        objective.to_string()
    }
}

impl schemars::JsonSchema for Objective {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Objective".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Comparator, number and unit: < 1%, <= 800ms, >= 3, == 0.",
            "type": "string",
            "pattern": "^ *(<=|>=|==|!=|<|>) *-?[0-9]+(\\.[0-9]*)? *(%|ms|s|m|h)? *$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_rounded_up_and_never_one_too_many() {
        for (share, count, part) in [
            ("25%", 10, 3),
            ("1%", 3, 1),
            ("50%", 5, 3),
            ("10%", 10, 1),
            ("7%", 100, 7),
            ("0.1%", 50_000, 50),
            ("33.3%", 1_000, 333),
            ("100%", 7, 7),
            ("100%", 0, 0),
        ] {
            let share: Percent = share.parse().unwrap();
            assert_eq!(share.part_of(count), part, "{share} of {count}");
        }
    }

    #[test]
    fn spans_read_and_show() {
        for (text, milliseconds) in [
            ("0s", 0),
            ("90s", 90_000),
            ("1m30s", 90_000),
            ("800ms", 800),
            ("1h0m5ms", 3_600_005),
            ("2d", 172_800_000),
        ] {
            assert_eq!(
                text.parse::<Span>().map(Span::as_millis),
                Ok(milliseconds),
                "{text}"
            );
        }
        assert_eq!(Span::from_millis(90_000).to_string(), "1m30s");
        assert_eq!(Span::from_millis(1_005).to_string(), "1s5ms");
    }

    #[test]
    fn spans_refuse_what_is_ambiguous() {
        for bad in [
            "",
            "5",
            "s",
            "1.5s",
            "-1s",
            "1 s",
            "30s1m",
            "1s1s",
            "1D",
            "99999999999999999999s",
            "9000d",
        ] {
            assert!(bad.parse::<Span>().is_err(), "{bad}");
        }
    }

    #[test]
    fn percentages_stay_between_nothing_and_all() {
        assert_eq!("12.5%".parse::<Percent>().map(Percent::as_ratio), Ok(0.125));
        for bad in ["10", "101%", "-1%", "%", "1e1%", "nan%"] {
            assert!(bad.parse::<Percent>().is_err(), "{bad}");
        }
    }

    #[test]
    fn objectives_are_kept_in_base_units_and_shown_as_written() {
        for (text, threshold, shown) in [
            ("< 1%", 0.01, "< 1%"),
            ("<=800ms", 0.8, "<= 800ms"),
            (">= 3", 3.0, ">= 3"),
            ("== 0", 0.0, "== 0"),
            ("!= -2.5", -2.5, "!= -2.5"),
            ("< 1.5s", 1.5, "< 1.5s"),
            ("<2m", 120.0, "< 120s"),
        ] {
            let objective: Objective = text.parse().unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(objective.threshold(), threshold, "{text}");
            assert_eq!(objective.to_string(), shown, "{text}");
        }
        for bad in ["1%", "<", "< x", "< 1 parsec", "=< 1", "< 1e3", "< inf"] {
            assert!(bad.parse::<Objective>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_reading_that_equals_the_threshold_is_judged_by_the_comparator_alone() {
        for tenths in 1..10_000_u32 {
            let percent = format!("{}.{}%", tenths / 10, tenths % 10);
            let millis = format!("{}.{}ms", tenths / 10, tenths % 10);
            for (text, reading) in [
                (percent, f64::from(tenths) / 1_000.0),
                (millis, f64::from(tenths) / 10_000.0),
            ] {
                let holds = |comparator: &str| {
                    let objective = format!("{comparator} {text}").parse::<Objective>();
                    objective.map(|objective| objective.holds(reading))
                };
                assert_eq!(
                    ["<", "<=", ">", ">=", "==", "!="].map(holds),
                    [false, true, false, true, true, false].map(Ok),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn nan_never_holds() {
        for text in ["< 1", "> 1", "== 1", "!= 1"] {
            let objective: Objective = text.parse().unwrap_or_else(|why| panic!("{text}: {why}"));
            assert!(!objective.holds(f64::NAN), "{text}");
        }
    }

    #[test]
    fn values_read_like_the_objective() {
        assert_eq!(Unit::Percent.show(0.0042), "0.42%");
        assert_eq!(Unit::Percent.show(1.0), "100%");
        assert_eq!(Unit::Duration.show(0.8124), "812ms");
        assert_eq!(Unit::Duration.show(2.5), "2.5s");
        assert_eq!(Unit::Number.show(17.0), "17");
    }
}
