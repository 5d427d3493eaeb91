//! Parse, dispatch, exit.

use std::process::ExitCode;

use chaos_gameday::cli::Cli;
use chaos_gameday::commands;
use chaos_gameday::guardian;
use clap::{CommandFactory as _, Parser as _};

fn main() -> ExitCode {
    // Before anything of the command line is made: it waits in as little memory as can be.
    if guardian::is_called() {
        return ExitCode::from(guardian::stand_guard());
    }
    clap_complete::CompleteEnv::with_factory(Cli::command).complete();
    ExitCode::from(commands::dispatch(Cli::parse()))
}
