//! Which policy applies, and `chaos policy`.

use std::path::Path;

use super::Desk;
use crate::cli::{PolicyArgs, PolicyCommand, PolicyCommandArgs};
use crate::error::Failure;
use crate::exit::Exit;
use crate::plan::read_source;
use crate::policy::{self, Policy};

/// The policy that applies to a document in this folder.
pub(super) fn applying(_desk: &Desk, args: &PolicyArgs, _near: &Path) -> Result<Policy, Failure> {
    match &args.policy {
        None => Ok(policy::built_in()),
        Some(file) => {
            let source = read_source(file)?;
            let beside = |path: &str| read_source(&file.with_file_name(path)).map(|it| it.text);
            Ok(policy::load_policy(&source, &beside)?)
        }
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
