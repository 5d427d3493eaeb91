//! Joins a run to its journal and its views: the journal first, then the views.
//!
//! Views live on a thread of their own, so that a slow terminal never holds the engine up.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use crate::faults::FaultDriver;
use crate::journal::{self, Journal};
use crate::model::decision::Cause;
use crate::model::event::Record;
use crate::model::outcome::Outcome;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::state::RunState;
use crate::run::{Clock, Input, Operator, Runner, Settlement, Sink, Timing, operator, rescue};
use crate::view::View;

/// Between two redraws while nothing happens.
const TICK: Duration = Duration::from_millis(100);

/// The journal and the views of one run.
struct Session {
    journal: Journal,
    views: Sender<Record>,
}

impl Sink for Session {
    fn record(&mut self, record: &Record) -> Result<(), Problem> {
        let written = self.journal.append(record, record.event.durability());
        // A view that is gone loses its view; the evidence doesn't depend on it.
        let _ = self.views.send(record.clone());
        written
    }
}

/// What a run needs besides its plan.
pub struct Stage {
    /// Where the evidence goes.
    pub journal: Journal,
    /// What a person sees.
    pub view: Box<dyn View>,
    /// The run's clock.
    pub clock: Clock,
}

/// Executes a run to its end, with signals turned into wishes to end it. A panic of the engine ends
/// in the same undo as everything else.
///
/// # Errors
/// Signals cannot be listened to (nothing has happened then), or the evidence of a run whose engine
/// died cannot be read.
pub async fn execute(
    runner: Runner,
    drivers: Vec<std::sync::Arc<dyn FaultDriver>>,
    timing: Timing,
    stage: Stage,
) -> Result<Settlement, Problem> {
    let (own, inputs) = operator();
    let listening = listen_to_signals(&own)?;
    let path = stage.journal.path().to_owned();
    let (views, records) = channel();
    let shown = show_on_a_thread(stage.view, stage.clock, records)?;
    let session = Box::new(Session {
        journal: stage.journal,
        views,
    });
    let run = tokio::spawn(runner.execute(session, own, inputs));
    let settlement = match run.await {
        Ok(settlement) => Ok(settlement),
        Err(died) => undo_for_the_dead(&path, &drivers, timing, &died.to_string()).await,
    };
    for task in listening {
        task.abort();
    }
    // The thread ends by itself once the session is gone; a view that panicked has nothing to add.
    let _ = shown.join();
    settlement
}

async fn undo_for_the_dead(
    journal: &std::path::Path,
    drivers: &[std::sync::Arc<dyn FaultDriver>],
    timing: Timing,
    why: &str,
) -> Result<Settlement, Problem> {
    let state = RunState::of(&journal::read(journal)?.records);
    let remaining = rescue(&state, drivers, timing).await;
    let cause = if remaining.is_empty() {
        Cause::Bug {
            why: why.to_owned(),
        }
    } else {
        Cause::UndoUnproven { remaining }
    };
    Ok(Settlement {
        outcome: if matches!(cause, Cause::Bug { .. }) {
            Outcome::Inconclusive
        } else {
            Outcome::Stuck
        },
        cause,
        evidence: None,
        state,
    })
}

fn show_on_a_thread(
    view: Box<dyn View>,
    clock: Clock,
    records: Receiver<Record>,
) -> Result<JoinHandle<()>, Problem> {
    std::thread::Builder::new()
        .name("view".to_owned())
        .spawn(move || show(view, clock, &records))
        .map_err(|why| {
            Problem::new(
                ProblemKind::Unexpected,
                format!("no thread for the view: {why}"),
            )
        })
}

fn show(mut view: Box<dyn View>, clock: Clock, records: &Receiver<Record>) {
    let mut state = RunState::default();
    loop {
        match records.recv_timeout(TICK) {
            Ok(record) => {
                state.apply(&record);
                view.show(&record, &state);
            }
            Err(RecvTimeoutError::Timeout) => view.tick(clock.elapsed_ms(), &state),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    view.finish(&state);
}

/// Waits for the first signal that would kill the process.
///
/// # Errors
/// Signals cannot be listened to.
pub async fn until_told_to_stop() -> Result<(), Problem> {
    let (operator, mut inputs) = operator();
    let listening = listen_to_signals(&operator)?;
    inputs.recv().await;
    for task in listening {
        task.abort();
    }
    Ok(())
}

/// Every signal that would kill the process becomes a wish to end the run.
fn listen_to_signals(operator: &Operator) -> Result<Vec<tokio::task::JoinHandle<()>>, Problem> {
    let signals = [
        (SignalKind::interrupt(), "SIGINT"),
        (SignalKind::terminate(), "SIGTERM"),
        (SignalKind::hangup(), "SIGHUP"),
        (SignalKind::quit(), "SIGQUIT"),
    ];
    let mut tasks = Vec::new();
    for (kind, name) in signals {
        let mut arrivals = signal(kind).map_err(|why| {
            Problem::new(
                ProblemKind::Unexpected,
                format!("{name} cannot be listened to: {why}"),
            )
        })?;
        let operator = operator.clone();
        tasks.push(tokio::spawn(async move {
            while arrivals.recv().await.is_some() {
                if operator.send(Input::Signal(name)).is_err() {
                    return;
                }
            }
        }));
    }
    Ok(tasks)
}
