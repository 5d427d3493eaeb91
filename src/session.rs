//! Joins a run to its journal and its views: the journal first, then the views.
//!
//! Views live on a thread of their own, so that a slow terminal never holds the engine up.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::faults::FaultDriver;
use crate::journal::Journal;
use crate::model::decision::Cause;
use crate::model::event::Record;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::state::RunState;
use crate::run::{Clock, Input, Operator, Runner, Settlement, Sink, Timing, operator, rescue};
use crate::view::View;

/// Between two redraws while nothing happens.
const TICK: Duration = Duration::from_millis(100);

/// How long the last words may wait for a reader that does not read.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The journal and the views of one run.
struct Session {
    journal: Journal,
    views: Sender<Record>,
    /// What is known so far, for whoever has to undo when the engine died and the journal is gone.
    known: Arc<Mutex<RunState>>,
}

impl Sink for Session {
    fn record(&mut self, record: &Record) -> Result<(), Problem> {
        let written = self.journal.append(record, record.event.durability());
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .apply(record);
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

/// A run that ended.
#[derive(Debug)]
pub struct Executed {
    /// How.
    pub settlement: Settlement,
    /// Whether what was to be shown could be.
    pub screen: Screen,
}

/// Whether anybody reads what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// All of it was taken.
    Read,
    /// A reader stopped reading; whoever writes more waits for ever.
    Stalled,
}

/// Executes a run to its end, with signals turned into wishes to end it. A panic of the engine ends
/// in the same undo as everything else.
///
/// # Errors
/// Signals cannot be listened to; nothing has happened then.
pub async fn execute(
    runner: Runner,
    drivers: Vec<Arc<dyn FaultDriver>>,
    timing: Timing,
    stage: Stage,
) -> Result<Executed, Problem> {
    let (own, inputs) = operator();
    let listening = listen_to_signals(&own)?;
    let known = Arc::new(Mutex::new(RunState::default()));
    let (views, records) = channel();
    let shown = show_on_a_thread(stage.view, stage.clock, records)?;
    let session = Box::new(Session {
        journal: stage.journal,
        views,
        known: Arc::clone(&known),
    });
    let run = tokio::spawn(runner.execute(session, own, inputs));
    let settlement = match run.await {
        Ok(settlement) => settlement,
        Err(died) => {
            let state = known.lock().unwrap_or_else(PoisonError::into_inner).clone();
            undo_for_the_dead(state, &drivers, timing, &died.to_string()).await
        }
    };
    // The thread ends by itself once the session is gone, unless nobody reads what it writes.
    let screen = match tokio::time::timeout(LAST_WORDS, shown).await {
        Ok(_) => Screen::Read,
        Err(_) => Screen::Stalled,
    };
    for task in listening {
        task.abort();
    }
    Ok(Executed { settlement, screen })
}

async fn undo_for_the_dead(
    state: RunState,
    drivers: &[Arc<dyn FaultDriver>],
    timing: Timing,
    why: &str,
) -> Settlement {
    let remaining = rescue(&state, drivers, timing).await;
    let cause = if remaining.is_empty() {
        Cause::Bug {
            why: why.to_owned(),
        }
    } else {
        Cause::UndoUnproven { remaining }
    };
    Settlement {
        outcome: cause.outcome(),
        cause,
        evidence: None,
        state,
    }
}

/// Starts the thread of the views; what comes back resolves when it has shown the last of it.
fn show_on_a_thread(
    view: Box<dyn View>,
    clock: Clock,
    records: Receiver<Record>,
) -> Result<oneshot::Receiver<()>, Problem> {
    let (done, shown) = oneshot::channel();
    std::thread::Builder::new()
        .name("view".to_owned())
        .spawn(move || {
            show(view, clock, &records);
            // Whoever no longer waits for it has left already.
            let _ = done.send(());
        })
        .map_err(|why| {
            Problem::new(
                ProblemKind::Unexpected,
                format!("no thread for the view: {why}"),
            )
        })?;
    Ok(shown)
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
    while let Some(Input::Warning(_)) = inputs.recv().await {}
    for task in listening {
        task.abort();
    }
    Ok(())
}

/// Every signal that would kill the process becomes a wish to end the run, and the one that would
/// freeze it with its fault in becomes a word of warning. A file at its size limit is an error of the
/// write, not the death of the writer.
fn listen_to_signals(operator: &Operator) -> Result<Vec<JoinHandle<()>>, Problem> {
    let kind = |number: i32| SignalKind::from_raw(number);
    let wishes = [
        (SignalKind::interrupt(), "SIGINT"),
        (SignalKind::terminate(), "SIGTERM"),
        (SignalKind::hangup(), "SIGHUP"),
        (SignalKind::quit(), "SIGQUIT"),
        (SignalKind::alarm(), "SIGALRM"),
        (SignalKind::user_defined1(), "SIGUSR1"),
        (SignalKind::user_defined2(), "SIGUSR2"),
        (kind(signal_hook::consts::SIGXCPU), "SIGXCPU"),
    ];
    let mut tasks = Vec::new();
    for (kind, name) in wishes {
        tasks.push(listen(operator, kind, Input::Signal(name))?);
    }
    let freeze = Input::Warning("Ctrl-Z would freeze the run with its fault in; Ctrl-C ends it");
    tasks.push(listen(
        operator,
        kind(signal_hook::consts::SIGTSTP),
        freeze,
    )?);
    let limit = Input::Warning("a file reached its size limit");
    tasks.push(listen(operator, kind(signal_hook::consts::SIGXFSZ), limit)?);
    Ok(tasks)
}

fn listen(operator: &Operator, kind: SignalKind, input: Input) -> Result<JoinHandle<()>, Problem> {
    let mut arrivals = signal(kind).map_err(|why| {
        Problem::new(
            ProblemKind::Unexpected,
            format!(
                "signal {} cannot be listened to: {why}",
                kind.as_raw_value()
            ),
        )
    })?;
    let operator = operator.clone();
    Ok(tokio::spawn(async move {
        while arrivals.recv().await.is_some() {
            if operator.send(input.clone()).is_err() {
                return;
            }
        }
    }))
}
