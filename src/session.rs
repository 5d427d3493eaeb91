//! Joins a run to its journal, its views and the person at the keyboard: the journal first, then the
//! views.
//!
//! Views live on a thread of their own, so that a slow terminal never holds the engine up; so does the
//! reading of keys.

mod alarm;
mod beating;
mod keyboard;
mod requests;
mod showing;
mod signals;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;

use crate::faults::FaultDriver;
use crate::journal::{Journal, RunFolder};
use crate::model::approval::Person;
use crate::model::event::Record;
use crate::model::lock::LockNews;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::state::RunState;
use crate::model::takeover::{Rescuer, Takeover};
use crate::model::undo::Undo;
use crate::run::{
    self, Clock, Guard, Input, Operator, Rescue, Runner, Settlement, Sink, Timing, last_words,
    operator, rescue,
};
use crate::view::View;

use keyboard::Reading;
use showing::{Board, Showing};

pub use alarm::Alarm;
pub use keyboard::Keyboard;
pub use signals::Signals;

/// How long the last words may wait for a reader that does not read.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The journal and the views of one run.
struct Session {
    /// `Err`: it cannot be gone on with.
    journal: Result<Journal, Problem>,
    views: Showing,
}

/// Makes the run's end of its guardian, which sends its news into the run's queue.
pub type Posting = Box<dyn FnOnce(Operator) -> Box<dyn Guard> + Send>;

impl Sink for Session {
    fn record(&mut self, record: &Record) -> Result<(), Problem> {
        let written = match &mut self.journal {
            Ok(journal) => journal.append(record, record.event.durability()),
            Err(problem) => Err(problem.clone()),
        };
        self.views.record(record);
        written
    }

    fn last(&self) -> Option<u64> {
        self.journal.as_ref().ok().and_then(Journal::last_seq)
    }
}

/// What a run needs besides its plan.
pub struct Stage {
    /// Where the evidence goes.
    pub journal: Journal,
    /// What a person sees.
    pub view: Box<dyn View>,
    /// Who may press keys meanwhile; `None`: nobody, and the terminal's mode is left alone.
    pub keyboard: Option<Keyboard>,
    /// The run's clock.
    pub clock: Clock,
    /// What becomes of the lock that the run holds; `None`: it holds none that can be lost.
    pub lock: Option<UnboundedReceiver<LockNews>>,
    /// What listened to signals until now; `None`: nobody did.
    pub alarm: Option<Alarm>,
    /// Who posts the guardian; `None`: nobody, for worlds that end with the process.
    pub guardian: Option<Posting>,
    /// Whose process this is.
    pub person: Person,
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
    /// The view died, and its last words with it.
    Died,
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
    let mut listening = listen_to_signals(&own)?;
    // One that came just before.
    if let Some(name) = stage.alarm.and_then(|alarm| alarm.rang()) {
        // The receiver is right here.
        let _ = own.send(Input::Signal(name));
    }
    listening.extend(stage.lock.map(|news| hand_on(&own, news)));
    // What is known so far, also for whoever has to undo when the engine died and the journal is gone.
    let board = Arc::new(Board::default());
    let (views, shown) = showing::on_a_thread(stage.view, stage.clock, &board, &own)?;
    let begin = |keyboard| Reading::begin(keyboard, &own, &views, &board, stage.clock);
    let reading = stage.keyboard.map(begin).transpose()?;
    let journal = stage.journal.path().to_owned();
    let request = RunFolder::of(&journal).abort_request();
    let session = Box::new(Session {
        journal: Ok(stage.journal),
        views: views.clone(),
    });
    let runner = match stage.guardian {
        Some(post) => runner.guarded(post(own.clone())),
        None => runner,
    };
    listening.push(beside(
        "the run's pulse",
        &own,
        beating::beat(own.clone(), Clock::asleep),
    ));
    listening.push(beside(
        "the ear for `chaos abort`",
        &own,
        requests::await_request(request, own.clone()),
    ));
    let run = tokio::spawn(runner.execute(session, own, inputs));
    let settlement = match run.await {
        Ok(settlement) => settlement,
        Err(died) => {
            let dead = Dead {
                state: board.known().state.clone(),
                journal,
                views: views.clone(),
                person: stage.person,
                why: format!("its engine panicked: {}", last_words(died)),
            };
            dead.undo(&drivers, timing).await
        }
    };
    drop(views);
    // Before the last words: what is typed from now on is for the shell.
    drop(reading);
    // The thread ends by itself once the session is gone, unless nobody reads what it writes.
    let screen = match tokio::time::timeout(LAST_WORDS, shown).await {
        Ok(Ok(())) => Screen::Read,
        Ok(Err(_)) => Screen::Died,
        Err(_) => Screen::Stalled,
    };
    for task in listening {
        task.abort();
    }
    Ok(Executed { settlement, screen })
}

/// A run whose engine panicked; its journal and its views are still there.
struct Dead {
    state: RunState,
    journal: PathBuf,
    views: Showing,
    person: Person,
    why: String,
}

impl Dead {
    /// What the engine would have done. The guardian keeps its hands off as long as this process holds
    /// the run's own lock.
    async fn undo(self, drivers: &[Arc<dyn FaultDriver>], timing: Timing) -> Settlement {
        let mut state = self.state;
        let journal = Journal::resume(&self.journal).map(|(journal, recorded)| {
            // What could not be written has no number there.
            state.seq = recorded.records.last().map_or(0, |record| record.seq);
            journal
        });
        let clock = Clock::going_on(Clock::wall(), &state);
        let driver_of = |step: usize, undo: &Undo| {
            drivers.get(step).cloned().ok_or_else(|| {
                let message = format!("there is no driver for {}", undo.summary());
                Problem::new(ProblemKind::Unexpected, message)
            })
        };
        let views = self.views;
        rescue(Rescue {
            sink: Box::new(Session { journal, views }),
            state,
            clock,
            drivers: &driver_of,
            undo_within: timing.undo_within,
            takeover: Takeover {
                by: Rescuer::Session,
                person: self.person,
                why: self.why,
            },
        })
        .await
    }
}

/// What becomes of the lock is one more thing that reaches the run from outside.
fn hand_on(operator: &Operator, mut news: UnboundedReceiver<LockNews>) -> JoinHandle<()> {
    let told = operator.clone();
    beside("the ear for the run lock", operator, async move {
        while let Some(heard) = news.recv().await {
            if told.send(Input::Lock(heard)).is_err() {
                return;
            }
        }
        // It is kept until it is given back, after the run.
        let why = "whoever renews it is gone, so another run may begin".to_owned();
        let _ = told.send(Input::Lock(LockNews::Lost { why }));
    })
}

/// A task beside the run, of whose death the run hears.
fn beside(
    what: &'static str,
    operator: &Operator,
    work: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<()> {
    tokio::spawn(run::beside(what, operator.clone(), work))
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
    stay_awake_in_the_background()?;
    let limit = Input::Warning("a file reached its size limit");
    tasks.push(listen(operator, kind(signal_hook::consts::SIGXFSZ), limit)?);
    Ok(tasks)
}

/// A job in the background that reads from its terminal, or writes to it against `stty tostop`, would
/// be stopped, with its fault in. With a handler that does nothing the call is begun again and again,
/// which takes a whole processor; so where views are drawn and keys are read, on this thread and those
/// that it starts, the two signals are blocked: a write then goes through, and a read is an error.
fn stay_awake_in_the_background() -> Result<(), Problem> {
    for number in [signal_hook::consts::SIGTTIN, signal_hook::consts::SIGTTOU] {
        let nobody_looks = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(number, nobody_looks).map_err(|why| deaf(number, &why))?;
    }
    let both = SigSet::from_iter([Signal::SIGTTIN, Signal::SIGTTOU]);
    let blocked = both.thread_block();
    blocked.map_err(|why| deaf(signal_hook::consts::SIGTTOU, &why.into()))
}

fn deaf(number: i32, why: &std::io::Error) -> Problem {
    Problem::new(
        ProblemKind::Unexpected,
        format!("signal {number} cannot be listened to: {why}"),
    )
}

fn listen(operator: &Operator, kind: SignalKind, input: Input) -> Result<JoinHandle<()>, Problem> {
    let mut arrivals = signal(kind).map_err(|why| deaf(kind.as_raw_value(), &why))?;
    let told = operator.clone();
    Ok(beside("the ear for signals", operator, async move {
        while arrivals.recv().await.is_some() {
            if told.send(input.clone()).is_err() {
                return;
            }
        }
    }))
}
