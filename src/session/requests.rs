//! Looks again and again whether another process wants the run to end.

use std::path::PathBuf;
use std::time::Duration;

use crate::journal::{AbortRequest, Asked};
use crate::run::{Input, Operator};

/// Between two looks.
const EVERY: Duration = Duration::from_millis(200);

/// Hands the first wish on. A file that is none is told once, and looked at again: nobody may keep
/// others from ending a run by leaving rubbish in its folder.
pub(super) async fn await_request(path: PathBuf, operator: Operator) {
    let mut told = Told::Nothing;
    loop {
        tokio::time::sleep(EVERY).await;
        let looked = path.clone();
        // Not on a thread that drives the run: a disk may hang.
        let asked = tokio::task::spawn_blocking(move || Asked::look(&looked)).await;
        let input = match (asked, told) {
            (Ok(Asked::Abort(AbortRequest { by, .. })), _) => Input::Abort {
                by: format!("{by} (chaos abort)"),
            },
            (Ok(Asked::Unreadable(_)), Told::Nothing) => {
                told = Told::Rubbish;
                Input::Warning("somebody left an abort.json that cannot be read")
            }
            (Ok(Asked::Unreadable(_)), Told::Rubbish) | (Ok(Asked::Nothing) | Err(_), _) => {
                continue;
            }
        };
        let ends = matches!(input, Input::Abort { .. });
        if operator.send(input).is_err() || ends {
            return;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Rubbish,
}
