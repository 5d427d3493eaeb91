//! One reading of one SLO and the state that it is judged to be in.

use serde::{Deserialize, Serialize};

/// What came back when a metric was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Reading {
    /// A finite number in base units: a ratio, seconds, or a bare number.
    Value(f64),
    /// The source answered and has nothing to say.
    NoData {
        /// Why, in the source's words.
        why: String,
    },
    /// The source did not answer, or answered with an error.
    SourceDown {
        /// Why, in the source's words.
        why: String,
    },
}

impl Reading {
    /// The number, if there is one.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(*value),
            Self::NoData { .. } | Self::SourceDown { .. } => None,
        }
    }

    /// A number from outside: only a finite one is a value.
    pub fn from_number(number: f64) -> Self {
        if number.is_finite() {
            Self::Value(number)
        } else {
            Self::NoData {
                why: format!("the reading is {number}"),
            }
        }
    }
}

/// The four states of an SLO. Blind is not healthy, so the two blind ones are states of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SloState {
    /// The value satisfies the objective.
    Ok,
    /// The value does not satisfy the objective.
    Breaching,
    /// The source has nothing to say.
    NoData,
    /// The source cannot be read.
    SourceDown,
}

impl SloState {
    /// The state in words, as shown everywhere.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Breaching => "breaching",
            Self::NoData => "no-data",
            Self::SourceDown => "source-down",
        }
    }
}
