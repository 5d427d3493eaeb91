//! The engine: baseline, steps, undo, proof, recovery.
//!
//! It knows no terminal and no file: events leave through a `Sink`, a person's wishes arrive as
//! `Input`s, time comes from tokio's clock (which tests pause). Only an `AdmittedPlan` gets in.

mod beside;
mod clock;
mod dispatcher;
mod engine;
mod gauges;
mod guard;
mod guarding;
mod input;
mod panicking;
mod recorder;
mod recovery;
mod rescue;
mod step;
mod undoing;
mod watch;

pub use beside::beside;
pub use clock::Clock;
pub use engine::{Kit, Runner, Settlement, Timing};
pub use gauges::Gauge;
pub use guard::{Guard, Unguarded};
pub use input::{Input, Operator, ReadingTimes, operator};
pub use panicking::{last_words, said};
pub use recorder::Sink;
pub use rescue::{Drivers, Rescue, rescue};
