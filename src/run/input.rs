//! Everything that reaches a run from outside, in one queue.

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::model::approval::Person;
use crate::model::lock::LockNews;
use crate::model::problem::Problem;
use crate::model::request::Proof;
use crate::model::sample::Reading;
use crate::model::takeover::GuardianNews;

/// Something from outside that the engine has to take in.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A gauge was read.
    Sampled {
        /// Which of the plan's SLOs.
        gauge: usize,
        /// What came back.
        reading: Reading,
        /// When it was due, asked for and answered.
        times: ReadingTimes,
        /// Readings that were due meanwhile and were left out.
        missed: u64,
    },
    /// A reading of a gauge is still under way.
    Waiting {
        /// Which of the plan's SLOs.
        gauge: usize,
        /// When it was due and asked for, and now.
        times: ReadingTimes,
    },
    /// The world was asked whether the fault is still in.
    FaultSeen(Result<Proof, Problem>),
    /// A signal arrived.
    Signal(&'static str),
    /// A person wants the run to end.
    Abort {
        /// Who.
        by: String,
    },
    /// A person wants to be asked before the next step.
    Pause,
    /// A person says go, or takes the wish to be asked back.
    Go,
    /// Something that a reader should know and that ends nothing.
    Warning(&'static str),
    /// Something became of the lock that the run holds.
    Lock(LockNews),
    /// Something became of the guardian.
    Guardian(GuardianNews),
    /// Something that a run cannot do without panicked.
    Died {
        /// What: `the look at the fault`.
        what: &'static str,
        /// What it said.
        why: String,
    },
    /// This process stood still for so many milliseconds while the machine went on.
    StoodStill {
        /// Milliseconds.
        ms: u64,
    },
    /// It is time to tell the guardian that the engine still takes inputs.
    Beat,
    /// The machine slept for so many milliseconds.
    Slept {
        /// Milliseconds.
        ms: u64,
    },
    /// A person writes something down.
    Note {
        /// The words.
        text: String,
        /// Who.
        by: Person,
    },
    /// A person marks this very moment.
    Mark {
        /// What happened.
        label: String,
        /// Who saw it.
        by: Person,
    },
}

/// The times of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadingTimes {
    /// The tick that it was due at.
    pub due: Instant,
    /// When it was asked for.
    pub asked: Instant,
    /// When its answer was there, or, while there is none, now.
    pub answered: Instant,
}

/// The end of the queue that signals and persons hold.
pub type Operator = mpsc::UnboundedSender<Input>;

/// A queue for one run.
///
/// Unbounded, since no sender may ever wait for a busy engine; what goes in is bounded by the gauges'
/// cadence and by human fingers.
pub fn operator() -> (Operator, mpsc::UnboundedReceiver<Input>) {
    mpsc::unbounded_channel()
}
