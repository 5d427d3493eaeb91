//! Tasks that run beside the engine: its eyes, its ears, its pulse. One that dies must not leave a run
//! blind, deaf or without a pulse while its fault is in, so its death is an input like any other.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

use super::input::{Input, Operator};
use super::panicking::said;

/// The work of a task beside the engine; a panic in it is told to the run, which ends with its undo.
/// `what` is what died, as a person would say it.
pub async fn beside(what: &'static str, operator: Operator, work: impl Future<Output = ()>) {
    if let Err(panic) = AssertUnwindSafe(work).catch_unwind().await {
        let why = said(&*panic);
        // A run that is over needs nobody beside it.
        let _ = operator.send(Input::Died { what, why });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::operator;

    #[tokio::test]
    async fn a_death_is_told_and_an_end_is_not() {
        let (own, mut inputs) = operator();
        beside("what ends", own.clone(), async {}).await;
        beside("what dies", own.clone(), async { panic!("number {}", 7) }).await;
        drop(own);
        let died = Input::Died {
            what: "what dies",
            why: "number 7".to_owned(),
        };
        assert_eq!(inputs.recv().await, Some(died));
        assert_eq!(inputs.recv().await, None);
    }
}
