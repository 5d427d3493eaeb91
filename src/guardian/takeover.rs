//! Going on with a run where its process stopped: fold its journal, undo what is in place, prove it
//! gone, write the end.

use std::path::Path;
use std::time::Duration;

use crate::clients::Clients;
use crate::faults;
use crate::journal::{self, Journal, JournalEnd, Recorded, Writing};
use crate::model::event::{Event, Record};
use crate::model::problem::Problem;
use crate::model::request::Absence;
use crate::model::state::RunState;
use crate::model::takeover::Takeover;
use crate::model::undo::Undo;
use crate::run::{Clock, Rescue, Settlement, Sink, rescue};

/// Is told each record that a takeover adds, and the state after it.
pub type Audience = Box<dyn FnMut(&Record, &RunState) + Send>;

/// What a takeover needs.
pub struct TakingOver<'a> {
    /// The run's journal.
    pub journal: &'a Path,
    /// To reach the platforms with.
    pub clients: &'a Clients,
    /// How long an undo may take before it is stuck.
    pub undo_within: Duration,
    /// Who takes over, and why.
    pub takeover: Takeover,
    /// Who is told.
    pub audience: Audience,
}

/// What a journal says about its run, without taking it over.
#[derive(Debug, Clone, PartialEq)]
pub struct Leftover {
    /// The fold of the journal.
    pub state: RunState,
    /// Whether its end stands there.
    pub end: JournalEnd,
}

impl Leftover {
    /// Reads it.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn read(journal: &Path) -> Result<Self, Problem> {
        Ok(Self::of(&journal::read(journal)?))
    }

    fn of(recorded: &Recorded) -> Self {
        Self {
            state: RunState::of(&recorded.records),
            end: recorded.end.clone(),
        }
    }

    /// The run has ended, and nothing of it is in place by its own record.
    pub fn is_settled(&self) -> bool {
        self.state.outcome.is_some() && self.state.in_place().next().is_none()
    }
}

/// Ends the run, unless it has ended with nothing in place: then `None`. The lock is asked for so that
/// nobody can do this without holding it.
///
/// Where the journal cannot be written the fault is undone all the same, and the settlement carries the
/// failure.
///
/// # Errors
/// The journal cannot be read, so nobody knows what to undo.
pub async fn take_over(
    _lock: &Writing,
    over: TakingOver<'_>,
) -> Result<Option<Settlement>, Problem> {
    let left = Leftover::read(over.journal)?;
    if left.is_settled() {
        return Ok(None);
    }
    Ok(Some(go_on(left.state, over, &[]).await))
}

/// Ends the run also where it has ended, after what was seen of the faults of these steps went into its
/// record: that they are there once more, or that their world is no more.
///
/// # Errors
/// As `take_over`.
pub async fn take_over_seen(
    _lock: &Writing,
    over: TakingOver<'_>,
    seen: &[(usize, Absence)],
) -> Result<Settlement, Problem> {
    let left = Leftover::read(over.journal)?;
    Ok(go_on(left.state, over, seen).await)
}

async fn go_on(mut state: RunState, over: TakingOver<'_>, seen: &[(usize, Absence)]) -> Settlement {
    let journal = Journal::resume(over.journal).map(|(journal, _)| journal);
    let clock = match state.latest {
        Some(latest) => Clock::going_on(latest, state.elapsed_ms),
        None => Clock::start(),
    };
    let mut sink = Told {
        journal,
        state: state.clone(),
        audience: over.audience,
    };
    for (step, absence) in seen {
        let elapsed_ms = clock.elapsed_ms();
        let record = Record {
            seq: state.seq + 1,
            time: clock.at(elapsed_ms),
            elapsed_ms,
            event: Event::GoneChecked {
                step: *step,
                absence: absence.clone(),
            },
        };
        state.apply(&record);
        if sink.record(&record).is_err() {
            // Its number goes to the next one that is written, whose failure the settlement carries.
            state.seq -= 1;
        }
    }
    let clients = over.clients;
    let driver_of = |_: usize, undo: &Undo| faults::driver_for_undo(undo, clients);
    rescue(Rescue {
        sink: Box::new(sink),
        state,
        clock,
        drivers: &driver_of,
        undo_within: over.undo_within,
        takeover: over.takeover,
    })
    .await
}

/// The journal first, then whoever listens.
struct Told {
    journal: Result<Journal, Problem>,
    state: RunState,
    audience: Audience,
}

impl Sink for Told {
    fn record(&mut self, record: &Record) -> Result<(), Problem> {
        let written = match &mut self.journal {
            Ok(journal) => journal.append(record, record.event.durability()),
            Err(problem) => Err(problem.clone()),
        };
        self.state.apply(record);
        (self.audience)(record, &self.state);
        written
    }
}
