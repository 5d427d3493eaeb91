//! What an SLO's source says before any fault is in: now, and over the last hours.

use serde::{Deserialize, Serialize};

use super::sample::{Reading, SloState};
use super::units::Span;

/// The rehearsal of one SLO.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rehearsal {
    /// The SLO's name.
    pub slo: String,
    /// What it reads now.
    pub now: Now,
    /// What it would have done; `None`: its source keeps no past, or was not asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub past: Option<Past>,
    /// How late its data is; `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freshness: Option<Freshness>,
    /// What its source warned of while it answered; one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What an SLO reads before the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Now {
    /// It was read.
    Read {
        /// What came back.
        reading: Reading,
        /// The state that it would be judged to be in.
        state: SloState,
    },
    /// Its source can be read only while a run lasts.
    NotYet {
        /// Why.
        why: String,
    },
    /// As it stands it can never be judged, however long one waits.
    Flawed {
        /// Why.
        why: String,
        /// What to change.
        way_out: String,
    },
}

/// What an SLO would have done over the past with no fault in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Past {
    /// How far back it was looked.
    pub over: Span,
    /// Time between two of the values that were looked at.
    pub step: Span,
    /// How often it would have tripped by a breach.
    pub trips: u64,
    /// How long it was past its patience, all trips together.
    pub tripped: Span,
    /// How long its objective was missed, patience or not.
    pub breaching: Span,
    /// How long it had no value.
    pub blind: Span,
    /// The lowest and the highest value; `None`: there was none.
    pub range: Option<(f64, f64)>,
    /// The past in at most 60 equal parts, oldest first: the worst value of each, `None` where there
    /// was none.
    pub history: Vec<Option<f64>>,
}

impl Past {
    /// Whether it had more than one value: an SLO that never moves cannot fail.
    pub fn moved(&self) -> bool {
        self.range.is_some_and(|(lowest, highest)| lowest < highest)
    }
}

/// How late the data behind an SLO is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Freshness {
    /// Age of the newest sample behind it.
    pub newest: Option<Span>,
    /// Time between two samples behind it.
    pub interval: Option<Span>,
    /// The longest range that its query looks back over (`[30s]`).
    pub window: Option<Span>,
}
