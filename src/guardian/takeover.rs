//! Going on with a run where its process stopped: fold its journal, undo what is in place, prove it
//! gone, write the end.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use crate::clients::Clients;
use crate::faults;
use crate::journal::{self, Journal, JournalEnd, Recorded, Writing};
use crate::model::event::{Event, Record};
use crate::model::outcome::Outcome;
use crate::model::problem::Problem;
use crate::model::request::Absence;
use crate::model::state::RunState;
use crate::model::takeover::Takeover;
use crate::model::undo::Undo;
use crate::run::{Clock, Drivers, Rescue, Settlement, Sink, rescue};

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

    /// The same of one that has been read.
    pub fn of(recorded: &Recorded) -> Self {
        Self {
            state: RunState::of(&recorded.records),
            end: recorded.end.clone(),
        }
    }

    /// The run has ended, and nothing of it is in place by its own record. A stuck run has not: its
    /// record may have lost what shows why.
    pub fn is_settled(&self) -> bool {
        let has_ended = match self.state.outcome {
            None | Some(Outcome::Stuck) => false,
            Some(
                Outcome::Held
                | Outcome::Deviated
                | Outcome::Refused
                | Outcome::Aborted
                | Outcome::Inconclusive,
            ) => true,
        };
        has_ended && self.state.in_place().next().is_none()
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
    let recorded = journal::read(over.journal)?;
    Ok(end(&recorded, over).await)
}

/// Ends the run also where it has ended, after what was seen of the faults of these steps, in place once
/// more, went into its record.
///
/// Where the journal cannot be written the fault is undone all the same, as `take_over` does it.
///
/// # Errors
/// The journal cannot be read.
pub async fn take_over_seen(
    _lock: &Writing,
    mut over: TakingOver<'_>,
    seen: &[(usize, Absence)],
) -> Result<Option<Settlement>, Problem> {
    let (mut journal, mut recorded) = match Journal::resume(over.journal) {
        Ok((journal, recorded)) => (Some(journal), recorded),
        Err(_) => (None, journal::read(over.journal)?),
    };
    let mut state = RunState::of(&recorded.records);
    let clock = Clock::going_on(Clock::wall(), &state);
    for (step, absence) in seen {
        let elapsed_ms = clock.elapsed_ms();
        let mut record = Record {
            seq: state.seq + 1,
            time: clock.at(elapsed_ms),
            elapsed_ms,
            event: Event::GoneChecked {
                step: *step,
                absence: absence.clone(),
            },
        };
        journal = journal.and_then(|mut journal| {
            let written = journal.append(&record, record.event.durability());
            written.ok().map(|()| journal)
        });
        if journal.is_none() {
            // Known here alone, so the number is for the next that is written.
            record.seq = state.seq;
        }
        state.apply(&record);
        (over.audience)(&record, &state);
        recorded.records.push(record);
    }
    // Whoever goes on opens it anew.
    drop(journal);
    Ok(end(&recorded, over).await)
}

async fn end(recorded: &Recorded, over: TakingOver<'_>) -> Option<Settlement> {
    let clients = over.clients;
    let own_sandbox = recorded.records.iter().find_map(own_sandbox);
    let driver_of = |_: usize, undo: &Undo| match is_at(undo, own_sandbox) {
        true => faults::driver_for_ended_world(undo, clients),
        false => faults::driver_for_undo(undo, clients),
    };
    let settlement = go_on(
        recorded,
        || Journal::reopen(over.journal),
        GoingOn {
            now: Clock::wall(),
            drivers: &driver_of,
            undo_within: over.undo_within,
            takeover: over.takeover,
            audience: over.audience,
        },
    );
    settlement.await
}

/// What going on with a run needs besides its journal, wherever that lies and whatever drives its faults.
pub struct GoingOn<'a> {
    /// UTC.
    pub now: Timestamp,
    /// The driver of each step's undo.
    pub drivers: Drivers<'a>,
    /// How long an undo may take before it is stuck.
    pub undo_within: Duration,
    /// Who takes over, and why.
    pub takeover: Takeover,
    /// Who is told.
    pub audience: Audience,
}

/// What `take_over` does, in any world: a simulation goes through the very same.
pub async fn go_on(
    recorded: &Recorded,
    journal: impl FnOnce() -> Result<Journal, Problem>,
    on: GoingOn<'_>,
) -> Option<Settlement> {
    let left = Leftover::of(recorded);
    if left.is_settled() {
        return None;
    }
    let state = left.state;
    let sink = Told {
        journal: journal(),
        state: state.clone(),
        audience: on.audience,
    };
    let settlement = rescue(Rescue {
        sink: Box::new(sink),
        clock: Clock::going_on(on.now, &state),
        state,
        drivers: on.drivers,
        undo_within: on.undo_within,
        takeover: on.takeover,
    });
    Some(settlement.await)
}

/// The sandbox that the run's own process carried, by the record that says so.
fn own_sandbox(record: &Record) -> Option<&str> {
    if let Event::RunStarted { brief, .. } = &record.event {
        return brief.own_sandbox.as_deref();
    }
    None
}

/// Whether a fault is in the sandbox that the run's own process carried: that process has let go of the
/// run's lock.
fn is_at(undo: &Undo, own_sandbox: Option<&str>) -> bool {
    match undo {
        Undo::LocalStack(undo) => Some(undo.endpoint.as_str()) == own_sandbox,
        Undo::ChaosMesh(_) | Undo::Simulated(_) => false,
    }
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

    fn last(&self) -> Option<u64> {
        self.journal.as_ref().ok().and_then(Journal::last_seq)
    }
}
