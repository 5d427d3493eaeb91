//! A panic is a bug of ours: it is told in a sentence, never as a trace, and ends in exit code 70.

use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::sync::{Mutex, PoisonError};

use crate::error::Failure;
use crate::exit::Exit;

/// What the latest panic of any thread said, and where.
static LATEST: Mutex<Option<String>> = Mutex::new(None);

/// Does the work; a panic in it comes back as a failure. One in a task of a run is the run's to
/// handle: here it is only kept from the screen.
pub(super) fn caught(work: impl FnOnce() -> Result<Exit, Failure>) -> Result<Exit, Failure> {
    set_hook(Box::new(remember));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let said = LATEST.lock().unwrap_or_else(PoisonError::into_inner).take();
        Err(Failure::Bug(
            said.unwrap_or_else(|| "it panicked".to_owned()),
        ))
    })
}

fn remember(panic: &PanicHookInfo<'_>) {
    let said = panic.payload_as_str().unwrap_or("it panicked");
    let place = panic.location().map(|place| format!(" ({place})"));
    let text = format!("{said}{}", place.unwrap_or_default());
    *LATEST.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_bug_with_its_place() {
        let failure = caught(|| panic!("no such thing")).err();
        let Some(Failure::Bug(why)) = failure else {
            panic!("{failure:?}");
        };
        assert!(
            why.starts_with("no such thing (src/commands/bug.rs:"),
            "{why}"
        );
    }
}
