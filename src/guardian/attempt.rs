//! Ending one run that may have ended already, may never have begun, or on which somebody else is at
//! work: what `chaos abort` and `chaos recover` do with each.

use std::time::Duration;

use super::takeover::{Audience, Leftover, TakingOver, take_over, take_over_seen};
use crate::clients::Clients;
use crate::journal::{RunEntry, WantedWriting, Writing};
use crate::model::attendance::{Attendance, Writer};
use crate::model::problem::Problem;
use crate::model::request::{Absence, Continuity};
use crate::model::state::RunState;
use crate::model::takeover::{Rescuer, Takeover};
use crate::model::undo::Undo;
use crate::run::Settlement;

/// What it takes to end a run in the place of its engine.
pub struct Ending<'a> {
    /// The run.
    pub run: &'a RunEntry,
    /// To reach the platforms with.
    pub clients: &'a Clients,
    /// How long an undo may take before it is stuck.
    pub undo_within: Duration,
    /// Who ends it.
    pub by: Rescuer,
    /// Whoever holds its lock meanwhile.
    pub writer: Writer,
    /// What was found; `None`: what the journal shows.
    pub why: Option<String>,
}

/// What came of it.
#[derive(Debug)]
pub enum Attempt {
    /// It died before its first word, so nothing was injected, or its journal was lost.
    NeverBegan,
    /// It had ended, with nothing in place.
    HadEnded(Box<RunState>),
    /// Somebody is at work on it.
    Held(Attendance),
    /// It is ended now, or stuck.
    Ended(Box<Settlement>),
}

impl Ending<'_> {
    /// Takes out what was seen in place, at this base URL, of a run that is over; what it recorded itself
    /// says how.
    ///
    /// # Errors
    /// As `attempt`.
    pub async fn undo_again(
        self,
        endpoint: &str,
        seen: Vec<String>,
        audience: Audience,
    ) -> Result<Attempt, Problem> {
        let folder = self.run.folder();
        let lock = match Writing::take(folder.path(), &self.writer)? {
            WantedWriting::Taken(lock) => lock,
            WantedWriting::Held(_) => return Ok(Attempt::Held(self.run.attendance()?)),
        };
        let state = Leftover::read(&self.run.journal)?.state;
        let steps = state.steps.iter().enumerate().filter(|(_, step)| {
            let there = step.undo.as_ref().and_then(Undo::endpoint);
            there == Some(endpoint)
        });
        let absence = Absence {
            remaining: seen,
            foreign_changes: Vec::new(),
            continuity: Continuity::Unknown,
        };
        let seen: Vec<(usize, Absence)> = steps.map(|(step, _)| (step, absence.clone())).collect();
        if seen.is_empty() {
            return Ok(Attempt::HadEnded(Box::new(state)));
        }
        let over = self.taking_over("its fault was in place after its end".to_owned(), audience);
        Ok(match take_over_seen(&lock, over, &seen).await? {
            Some(settlement) => Attempt::Ended(Box::new(settlement)),
            None => Attempt::HadEnded(Box::new(state)),
        })
    }

    /// Ends it unless somebody else does. Idempotent.
    ///
    /// # Errors
    /// The journal or the lock cannot be read.
    pub async fn attempt(self, audience: Audience) -> Result<Attempt, Problem> {
        if self.run.never_began() {
            return Ok(Attempt::NeverBegan);
        }
        let folder = self.run.folder();
        let lock = match Writing::take(folder.path(), &self.writer)? {
            WantedWriting::Taken(lock) => lock,
            WantedWriting::Held(None) => return Ok(Attempt::Held(Attendance::Unknown)),
            WantedWriting::Held(Some(writer)) => {
                return Ok(Attempt::Held(Attendance::Writer(writer)));
            }
        };
        // Only now: whoever had the lock may have ended it.
        let left = Leftover::read(&self.run.journal)?;
        if left.is_settled() {
            return Ok(Attempt::HadEnded(Box::new(left.state)));
        }
        let why = self.why.clone();
        let why = why.unwrap_or_else(|| found(&left.state).to_owned());
        let over = self.taking_over(why, audience);
        Ok(match take_over(&lock, over).await? {
            Some(settlement) => Attempt::Ended(Box::new(settlement)),
            None => Attempt::HadEnded(Box::new(left.state)),
        })
    }
}

impl<'a> Ending<'a> {
    fn taking_over(self, why: String, audience: Audience) -> TakingOver<'a> {
        TakingOver {
            journal: &self.run.journal,
            clients: self.clients,
            undo_within: self.undo_within,
            takeover: Takeover {
                by: self.by,
                person: self.writer.person,
                why,
            },
            audience,
        }
    }
}

/// Why a run on which nobody is at work is ended.
fn found(state: &RunState) -> &'static str {
    match state.ends.is_empty() {
        true => "its process died",
        false => "it was stuck",
    }
}
