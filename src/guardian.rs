//! The detached process that undoes the faults of a run whose own process died, and what it shares with
//! `chaos abort` and `chaos recover`: going on with a run where it stopped.
//!
//! One process at a time writes a run's journal and undoes what it has in place: whoever holds the run's
//! own lock.

mod takeover;
mod vigil;

pub use takeover::{Audience, GoingOn, Leftover, TakingOver, go_on, take_over};
pub use vigil::{HUNG_AFTER, PERIOD, RunProcess, Sign, Verdict, Vigil};
