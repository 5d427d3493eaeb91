//! Which policy applies, and `chaos policy`.

use std::path::Path;

use super::Desk;
use crate::cli::{PolicyArgs, PolicyCommand, PolicyCommandArgs};
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::problem::{Problem, ProblemKind};
use crate::policy::{self, Policy};

/// The policy that applies to a document in this folder.
pub(super) fn applying(_desk: &Desk, args: &PolicyArgs, _near: &Path) -> Result<Policy, Failure> {
    match &args.policy {
        None => Ok(policy::built_in()),
        Some(file) => Err(Failure::Problem(Problem::new(
            ProblemKind::Invalid,
            format!("{} cannot be read yet", file.display()),
        ))),
    }
}

pub(super) fn policy(desk: &Desk, args: &PolicyCommandArgs) -> Result<Exit, Failure> {
    match &args.command {
        PolicyCommand::Check { file, .. } => {
            let args = PolicyArgs {
                policy: file.clone(),
            };
            applying(desk, &args, Path::new("."))?;
            Ok(Exit::Done)
        }
    }
}
