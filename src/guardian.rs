//! The detached process that undoes the faults of a run whose own process died, and what it shares with
//! `chaos abort` and `chaos recover`: going on with a run where it stopped.
//!
//! One process at a time writes a run's journal and undoes what it has in place: whoever holds the run's
//! own lock. The run's side is `post`; the process itself begins in `detached`.

mod attempt;
mod charge;
mod detached;
mod ears;
mod ending;
mod fence;
mod log;
mod post;
mod sentry;
mod stopping;
mod takeover;
mod vigil;
mod words;

pub use attempt::{Attempt, Ending};
pub use charge::Charge;
pub use detached::{is_called, stand_guard};
pub use post::{OpenLog, Post};
pub use stopping::end_process;
pub use takeover::{Audience, GoingOn, Leftover, TakingOver, go_on, take_over, take_over_seen};
pub use vigil::{HUNG_AFTER, PERIOD, RunProcess, Sign, Verdict, Vigil};
