//! The state of a scripted world, its script, and what a test may look at.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

use super::driver::SimulatedDriver;
use crate::faults::FaultDriver;
use crate::model::problem::Problem;
use crate::model::request::Continuity;

/// What the engine asks a driver for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// `prepare`
    Prepare,
    /// `inject`
    Inject,
    /// `confirm`
    Confirm,
    /// `revert`
    Revert,
    /// `verify_gone`
    VerifyGone,
}

impl Operation {
    /// The word for it in `SimulatedWorld::calls`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Inject => "inject",
            Self::Confirm => "confirm",
            Self::Revert => "revert",
            Self::VerifyGone => "verify-gone",
        }
    }
}

/// How the world takes a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Behaviour {
    /// Does it and says so; `confirm` and `verify_gone` tell the truth.
    #[default]
    Works,
    /// Does nothing and answers with this problem.
    Fails(Problem),
    /// Does nothing for this long (tokio time), then the call gives up as `Unreachable`.
    Hangs(Duration),
    /// Does it for the first half of the parts (rounded down) and acknowledges all of them.
    HalfInjects,
    /// Does it for the first half of the parts (rounded down) and answers with this problem.
    FailsHalfway(Problem),
    /// Acknowledges and does nothing; `confirm` and `verify_gone` say what one hopes to hear.
    Lies,
    /// Does it, but the answer is lost: `Unreachable`.
    LosesAnswer,
    /// Answers `Unreachable` at once and does it this much later (tokio time): a write in flight.
    LandsLate(Duration),
    /// Does it for the first half of the parts (rounded down), answers `Unreachable`, and does it for
    /// all of them this much later.
    LandsInParts(Duration),
    /// Does it, and takes its time: what was sent lands even if nobody waits for it any more.
    Slow(Pace),
}

/// How long a slow call takes, in tokio time. A question takes the first and the last of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Until the write is sent.
    pub asks: Duration,
    /// From then until it lands.
    pub lands: Duration,
    /// From then until its answer is there.
    pub answers: Duration,
}

/// A write that is being sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The scripted fault.
    pub fault: String,
    /// In or out.
    pub direction: Direction,
}

type Chooser = Box<dyn FnMut(Operation, &str) -> Behaviour + Send>;
type Observer = Box<dyn FnMut(&Sent) + Send>;

/// A world that does what its script says. Clones share one state, so a test keeps one and changes
/// it while the engine runs.
#[derive(Debug, Clone, Default)]
pub struct SimulatedWorld {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    parts: BTreeMap<String, usize>,
    in_place: BTreeSet<(String, usize)>,
    session: usize,
    /// The session in which each fault was last prepared: the undo itself carries none.
    prepared_in: BTreeMap<String, usize>,
    first: BTreeMap<Operation, VecDeque<Behaviour>>,
    always: BTreeMap<Operation, Behaviour>,
    late: Vec<LateWrite>,
    foreign_changes: Vec<String>,
    calls: Vec<String>,
    chooser: Option<Chooser>,
    observer: Option<Observer>,
    history: Vec<(Instant, Vec<String>)>,
}

impl fmt::Debug for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("State");
        shown.field("in_place", &self.in_place);
        shown.field("session", &self.session);
        shown.field("late", &self.late).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct LateWrite {
    due: Instant,
    fault: String,
    parts: usize,
    direction: Direction,
}

/// Whether a write puts parts in or takes them out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// In.
    In,
    /// Out.
    Out,
}

impl SimulatedWorld {
    /// An obedient world in which every fault has one part.
    pub fn new() -> Self {
        Self::default()
    }

    /// The driver of this world.
    pub fn driver(&self) -> Arc<dyn FaultDriver> {
        Arc::new(SimulatedDriver::new(self.clone()))
    }

    /// Makes a fault one of so many parts, so that k of n can be in place.
    pub fn give_parts(&self, fault: &str, count: usize) {
        self.state().parts.insert(fault.to_owned(), count);
    }

    /// The next `times` calls of an operation behave like this; several scripts queue up.
    pub fn first(&self, times: usize, operation: Operation, behaviour: Behaviour) {
        let mut state = self.state();
        let queue = state.first.entry(operation).or_default();
        queue.extend(std::iter::repeat_n(behaviour, times));
    }

    /// Calls of an operation that no `first` is left for behave like this, until told otherwise.
    pub fn always(&self, operation: Operation, behaviour: Behaviour) {
        self.state().always.insert(operation, behaviour);
    }

    /// Every call that no script is left for is taken as this says.
    pub fn decides(&self, chooser: impl FnMut(Operation, &str) -> Behaviour + Send + 'static) {
        self.state().chooser = Some(Box::new(chooser));
    }

    /// Is told each write at the moment that it is sent; may not ask the world anything.
    pub fn observes(&self, observer: impl FnMut(&Sent) + Send + 'static) {
        self.state().observer = Some(Box::new(observer));
    }

    /// Every `prepare` is answered with this problem.
    pub fn refuses_prepare(&self, problem: Problem) {
        self.always(Operation::Prepare, Behaviour::Fails(problem));
    }

    /// Somebody else takes out all that is in place.
    pub fn remove_fault(&self) {
        let mut state = self.state();
        state.in_place.clear();
        state.remember(Instant::now());
    }

    /// The world restarts: another session, and what was in place is gone.
    pub fn restart(&self) {
        let mut state = self.state();
        state.session += 1;
        state.in_place.clear();
        state.late.clear();
        state.remember(Instant::now());
    }

    /// Somebody else changes something of theirs; `verify_gone` names it.
    pub fn change_foreign(&self, what: &str) {
        self.state().foreign_changes.push(what.to_owned());
    }

    /// The parts that are in place: the fault's name, or `name 2/3` for a fault of several parts.
    pub fn in_place(&self) -> Vec<String> {
        self.state().labels()
    }

    /// What was in place after each change, and from when on (tokio time).
    pub fn history(&self) -> Vec<(Instant, Vec<String>)> {
        self.state().history.clone()
    }

    /// Every call since the world was made, in order: `inject slow stream`.
    pub fn calls(&self) -> Vec<String> {
        self.state().calls.clone()
    }

    /// What identifies the present instance; `restart` changes it.
    pub fn session(&self) -> String {
        format!("session-{}", self.state().session)
    }

    /// Notes a call and says how it is to be taken.
    pub(super) fn called(&self, operation: Operation, fault: &str) -> Behaviour {
        let mut state = self.state();
        state.calls.push(format!("{} {fault}", operation.word()));
        let scripted = state
            .first
            .get_mut(&operation)
            .and_then(VecDeque::pop_front);
        if let Some(behaviour) = scripted.or_else(|| state.always.get(&operation).cloned()) {
            return behaviour;
        }
        let chooser = state.chooser.as_mut();
        chooser.map_or(Behaviour::Works, |choose| choose(operation, fault))
    }

    pub(super) fn remember_session(&self, fault: &str) {
        let mut state = self.state();
        let session = state.session;
        state.prepared_in.insert(fault.to_owned(), session);
    }

    pub(super) fn continuity(&self, fault: &str) -> Continuity {
        let state = self.state();
        match state.prepared_in.get(fault) {
            Some(session) if *session == state.session => Continuity::Same,
            Some(_) => Continuity::Restarted,
            None => Continuity::Unknown,
        }
    }

    pub(super) fn part_count(&self, fault: &str) -> usize {
        self.state().count(fault)
    }

    /// Sends a write that lands after so long.
    pub(super) fn send(&self, fault: &str, parts: usize, direction: Direction, lands: Duration) {
        let mut state = self.state();
        let sent = Sent {
            fault: fault.to_owned(),
            direction,
        };
        if let Some(observe) = state.observer.as_mut() {
            observe(&sent);
        }
        state.late.push(LateWrite {
            due: Instant::now() + lands,
            fault: sent.fault,
            parts,
            direction,
        });
        state.land_late_writes();
    }

    /// The parts of one fault that are in place.
    pub(super) fn in_place_of(&self, fault: &str) -> Vec<String> {
        let state = self.state();
        let ours = state.in_place.iter().filter(|(name, _)| name == fault);
        ours.map(|(_, part)| state.label(fault, *part)).collect()
    }

    pub(super) fn foreign_changes(&self) -> Vec<String> {
        self.state().foreign_changes.clone()
    }

    /// The state as it is now: writes that were in flight and are due have landed.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self
            .state
            .lock()
            .expect("nothing panics while it holds the lock");
        state.land_late_writes();
        state
    }
}

impl State {
    fn count(&self, fault: &str) -> usize {
        self.parts.get(fault).copied().unwrap_or(1)
    }

    fn label(&self, fault: &str, part: usize) -> String {
        match self.count(fault) {
            1 => fault.to_owned(),
            count => format!("{fault} {}/{count}", part + 1),
        }
    }

    fn write(&mut self, fault: &str, parts: usize, direction: Direction) {
        for part in 0..parts {
            let key = (fault.to_owned(), part);
            match direction {
                Direction::In => self.in_place.insert(key),
                Direction::Out => self.in_place.remove(&key),
            };
        }
    }

    fn labels(&self) -> Vec<String> {
        let parts = self.in_place.iter();
        parts
            .map(|(fault, part)| self.label(fault, *part))
            .collect()
    }

    fn remember(&mut self, at: Instant) {
        let labels = self.labels();
        if self.history.last().map(|(_, before)| before) != Some(&labels) {
            self.history.push((at, labels));
        }
    }

    fn land_late_writes(&mut self) {
        let now = Instant::now();
        let (mut due, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.late)
            .into_iter()
            .partition(|write: &LateWrite| write.due <= now);
        self.late = waiting;
        due.sort_by_key(|write| write.due);
        for write in due {
            self.write(&write.fault, write.parts, write.direction);
            self.remember(write.due);
        }
    }
}
