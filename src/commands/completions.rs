//! `chaos completions`: the script that lets a shell ask this binary.

use std::path::Path;

use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};

use super::Desk;
use crate::cli::{CompletionsArgs, Shell};
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::problem::{Problem, ProblemKind};

/// The variable by which a shell's script asks for completions.
pub(crate) const VARIABLE: &str = "COMPLETE";

pub(super) fn completions(desk: &Desk, args: &CompletionsArgs) -> Result<Exit, Failure> {
    desk.printer.data(script(args.shell)?.trim_end());
    Ok(Exit::Done)
}

/// The script for a shell; it calls `chaos` from PATH, so it outlives updates.
fn script(shell: Shell) -> Result<String, Failure> {
    let completer: &dyn EnvCompleter = match shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
        Shell::Powershell => &Powershell,
        Shell::Elvish => &Elvish,
    };
    let mut script = Vec::new();
    let name = Path::new("chaos").display().to_string();
    completer
        .write_registration(VARIABLE, &name, &name, &name, &mut script)
        .map_err(|why| Problem::new(ProblemKind::Unexpected, format!("no script: {why}")))?;
    String::from_utf8(script)
        .map_err(|why| Failure::Bug(format!("the completion script is no text: {why}")))
}
