//! Schedules of everything that can go wrong, run in a scripted world under paused time: the real
//! engine, the real guardian's judgement, the real rescue and the real journal, on a disk that fails,
//! in processes that are killed and stopped anywhere. What must be true of each is in `oracle`.
//!
//! `cargo test --test simulate` runs the known seeds and some more; `-- --seed N` shows one of them,
//! `-- --count N` and `-- --seconds N` run many on all processors.
#![expect(
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    clippy::disallowed_methods,
    reason = "a test of its own, which tells its figures, by the wall clock too, and judges only what it names"
)]

mod dice;
mod director;
mod disk;
mod drive;
mod engine;
mod guardian;
mod life;
mod localstack;
mod oracle;
mod plans;
mod rescuer;
mod schedule;
mod sim;
mod tally;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    tally::main()
}
