//! A scripted world for tests and simulations of the engine: it does what its script says, when it
//! says so, and remembers every call.
//!
//! ```
//! use chaos_gameday::faults::simulated::{Behaviour, Operation, SimulatedWorld};
//! use chaos_gameday::model::problem::{Problem, ProblemKind};
//!
//! let world = SimulatedWorld::new();
//! world.give_parts("slow stream", 3);
//! let deaf = Problem::new(ProblemKind::Unreachable, "nobody answers");
//! world.first(2, Operation::Revert, Behaviour::Fails(deaf)); // the third attempt works
//! world.always(Operation::Inject, Behaviour::HalfInjects);
//! let driver = world.driver(); // hand this to the engine
//! assert_eq!(world.calls(), Vec::<String>::new());
//! # drop(driver);
//! ```

mod driver;
mod world;

pub use world::{Behaviour, Direction, Operation, Pace, Sent, SimulatedWorld};

use crate::model::problem::{Problem, ProblemKind};
use crate::model::units::Span;

/// How late a scripted write may land.
pub(super) const WRITE_LIMIT: Span = Span::from_secs(10);

/// A scripted fault outside a simulation.
pub(super) fn no_world(name: &str) -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        format!("the scripted fault `{name}` exists only in a simulation"),
    )
}
