//! What a run tells its guardian.

use futures_util::future::BoxFuture;

use crate::model::problem::Problem;
use crate::model::takeover::Standing;

/// The run's end of its guardian.
///
/// # Guarantees
/// * Once `start` has returned `Ok`, somebody undoes what is in place if this process dies.
/// * `tell` waits for nobody; a guardian that does not listen is replaced, and the run is told so by an
///   `Input::Guardian`.
/// * Dropping it without `dismiss` leaves the guardian on its watch: it ends the run if nobody else does.
pub trait Guard: Send {
    /// Posts the guardian, and says which process it is; `None`: it is none of its own.
    ///
    /// # Errors
    /// There is none to be had; nothing may be injected then.
    fn start(&mut self) -> BoxFuture<'_, Result<Option<u32>, Problem>>;

    /// Says where the run stands now. Said at every change, and again and again in between: whoever
    /// stays silent with a fault in is taken for dead.
    ///
    /// # Errors
    /// There is no guardian at this moment.
    fn tell(&mut self, standing: Standing) -> Result<(), Problem>;

    /// Sends the guardian home, since the run has ended and its journal says so; returns when it has
    /// gone, or will not.
    fn dismiss(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// No guardian: for worlds that end with the process.
#[derive(Debug, Clone, Copy)]
pub struct Unguarded;

impl Guard for Unguarded {
    fn start(&mut self) -> BoxFuture<'_, Result<Option<u32>, Problem>> {
        Box::pin(async { Ok(None) })
    }

    fn tell(&mut self, _: Standing) -> Result<(), Problem> {
        Ok(())
    }

    fn dismiss(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
}
