//! What `chaos abort` and `chaos recover` found and did, run by run and place by place.

use serde::Serialize;
use serde_json::Value;

use super::wording::{clean, counted};
use crate::model::attendance::Attendance;
use crate::model::decision::Cause;
use crate::model::ids::RunId;
use crate::model::outcome::Outcome;
use crate::model::state::RunState;

/// All of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cleaning {
    /// The runs that were looked at.
    pub runs: Vec<RunEnd>,
    /// Rules of runs that are over, or unknown here.
    pub leftovers: Vec<Leftover>,
    /// Places that gave no answer, one sentence each.
    pub unreachable: Vec<String>,
    /// Those of them that were to be looked at by name: something may be in place there.
    pub unseen: Vec<String>,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunEnd {
    /// Its id.
    pub run: RunId,
    /// What was done.
    pub did: Deed,
    /// Who is at work on it; `None`: nobody.
    pub attendance: Option<Attendance>,
    /// How it ended; `None`: it has not.
    pub outcome: Option<Outcome>,
    /// The exit code that goes with it.
    pub exit_code: Option<u8>,
    /// Why, one sentence.
    pub cause: Option<String>,
    /// What is, or may be, still in place.
    pub in_place: Vec<String>,
    /// Why it could not be looked at.
    pub trouble: Option<String>,
}

/// What was done to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// Nothing: it had ended.
    HadEnded,
    /// Nothing: it died before its first word.
    NeverBegan,
    /// Nothing: somebody is at work on it.
    LeftAlone,
    /// It was waited for.
    Waited,
    /// It was ended.
    TookOver,
    /// Nothing: it cannot be read.
    Unreadable,
}

/// The rules of one run in one place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Leftover {
    /// Where.
    pub endpoint: String,
    /// The run, as the tag names it.
    pub run: String,
    /// What is known of it.
    pub whose: Whose,
    /// The rules that were found.
    pub found: Vec<Value>,
    /// The rules that stand there now.
    pub left: Vec<Value>,
}

/// What is known of the run that a rule is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Whose {
    /// Its journal is not here.
    Unknown,
    /// It is over.
    Over,
    /// Somebody is at work on it.
    Live,
}

impl RunEnd {
    /// What the fold of a run says.
    pub fn of(run: RunId, did: Deed, state: &RunState) -> Self {
        let cause = state.cause.as_ref();
        Self {
            run,
            did,
            attendance: None,
            outcome: state.outcome,
            exit_code: state
                .outcome
                .map(|outcome| cause.map_or(outcome.code(), Cause::exit_code)),
            cause: state.outcome.and(cause.map(Cause::sentence)),
            in_place: in_place(state),
            trouble: None,
        }
    }

    /// Something of it is, or may be, in place, and nobody is at work on it.
    pub fn is_stuck(&self) -> bool {
        self.attendance.is_none() && !self.in_place.is_empty()
    }

    /// One line for a person.
    pub fn line(&self) -> String {
        let run = &self.run;
        if let Some(trouble) = &self.trouble {
            return clean(&format!("{run}  unreadable: {trouble}"));
        }
        if let Some(attendance) = &self.attendance {
            let words = attendance.sentence();
            return clean(&format!("{run}  left alone: {words}"));
        }
        let ended = match (self.outcome, self.exit_code, &self.cause) {
            (Some(outcome), Some(code), Some(cause)) => {
                format!("{outcome} (exit {code}): {cause}")
            }
            (Some(outcome), _, _) => outcome.to_string(),
            (None, _, _) => "no end".to_owned(),
        };
        clean(&match self.did {
            Deed::NeverBegan => format!(
                "{run}  nothing stands in its journal: it never began, or its journal was lost"
            ),
            Deed::HadEnded => format!("{run}  had ended before: {ended}"),
            Deed::LeftAlone | Deed::Waited | Deed::TookOver | Deed::Unreadable => {
                format!("{run}  {ended}")
            }
        })
    }
}

/// What is, or may be, in place of a run, one line each.
pub fn in_place(state: &RunState) -> Vec<String> {
    let steps = state.in_place();
    let words = steps.map(|(index, step)| match &step.undo {
        Some(undo) => undo.summary(),
        None => format!("something of step {}, whose undo is not known", index + 1),
    });
    words.collect()
}

impl Leftover {
    /// It stands there, and nobody is at work on it.
    pub fn is_left(&self) -> bool {
        self.whose != Whose::Live && !self.left.is_empty()
    }

    /// One line for a person.
    pub fn line(&self) -> String {
        let Self {
            endpoint,
            run,
            whose,
            found,
            left,
        } = self;
        let rules = counted(found.len() as u64, "rule");
        let fate = match (whose, left.len()) {
            (Whose::Live, _) => "left alone, somebody is at work on that run".to_owned(),
            (Whose::Over | Whose::Unknown, 0) => "taken out, none left".to_owned(),
            (Whose::Over | Whose::Unknown, count) => format!("{count} still there"),
        };
        let known = match whose {
            Whose::Unknown => ", which is not known here",
            Whose::Over | Whose::Live => "",
        };
        clean(&format!("{endpoint}  {rules} of {run}{known}: {fate}"))
    }
}

impl Cleaning {
    /// Something is, or may be, in place, and nobody is at work on it.
    pub fn leaves_something(&self) -> bool {
        self.runs.iter().any(RunEnd::is_stuck)
            || self.leftovers.iter().any(Leftover::is_left)
            || !self.unseen.is_empty()
    }
}
