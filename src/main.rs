//! Parse, dispatch, exit.

use std::process::ExitCode;

use chaos_gameday::cli::Cli;
use chaos_gameday::commands;
use clap::{CommandFactory as _, Parser as _};

fn main() -> ExitCode {
    clap_complete::CompleteEnv::with_factory(Cli::command).complete();
    ExitCode::from(commands::dispatch(Cli::parse()))
}
