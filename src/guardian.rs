//! The detached process that undoes the faults of a run whose own process died, and what it shares with
//! `chaos abort` and `chaos recover`: going on with a run where it stopped.
//!
//! One process at a time writes a run's journal and undoes what it has in place: whoever holds the run's
//! own lock.

mod ending;
mod stopping;
mod takeover;
mod vigil;

pub use ending::{Attempt, Ending, World};
pub use stopping::end_process;
pub use takeover::{Audience, Leftover, TakingOver, take_over, take_over_seen};
pub use vigil::{HUNG_AFTER, PERIOD, RunProcess, Sign, Verdict, Vigil};
