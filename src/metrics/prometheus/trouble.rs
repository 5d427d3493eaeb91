//! Why a query has no answer that an SLO can be judged by, told apart by what heals it.

use crate::model::sample::Reading;

/// What keeps a query from being answered with one number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::metrics) enum Trouble {
    /// The server answers, but never with one number: several series, a text, a range. No waiting
    /// heals that.
    Unjudgeable {
        /// What comes back.
        why: String,
        /// What to change.
        way_out: String,
    },
    /// The server will not answer this, however long one waits: a query that does not parse, no
    /// credentials, another place.
    Refused {
        /// What it said.
        why: String,
        /// What to change.
        way_out: String,
    },
    /// There was no answer now; the next request may have one.
    Passing {
        /// What happened.
        why: String,
        /// What to look at, where that is known.
        way_out: Option<String>,
    },
}

impl Trouble {
    /// One that may pass by itself.
    pub(super) fn passing(why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Passing { why, way_out: None }
    }

    /// The same with every text rewritten.
    pub(super) fn map(self, rewrite: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Unjudgeable { why, way_out } => Self::Unjudgeable {
                why: rewrite(&why),
                way_out: rewrite(&way_out),
            },
            Self::Refused { why, way_out } => Self::Refused {
                why: rewrite(&why),
                way_out: rewrite(&way_out),
            },
            Self::Passing { why, way_out } => Self::Passing {
                why: rewrite(&why),
                way_out: way_out.map(|way_out| rewrite(&way_out)),
            },
        }
    }

    /// The reading that it is while a run lasts: a server that answers has no data, any other is
    /// down. The way out stands behind the reason.
    pub(super) fn reading(self) -> Reading {
        let judgeable = !matches!(self, Self::Unjudgeable { .. });
        let why = self.in_one_line();
        match judgeable {
            true => Reading::SourceDown { why },
            false => Reading::NoData { why },
        }
    }

    /// Reason and way out.
    pub(in crate::metrics) fn in_one_line(self) -> String {
        match self {
            Self::Passing { why, way_out: None } => why,
            Self::Unjudgeable { why, way_out }
            | Self::Refused { why, way_out }
            | Self::Passing {
                why,
                way_out: Some(way_out),
            } => format!("{why}; {way_out}"),
        }
    }
}
