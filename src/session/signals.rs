//! Signals for a command that must not be ended on the spot, since it undoes what a run has in place.

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;

use super::listen_to_signals;
use crate::model::problem::Problem;
use crate::run::{Input, operator};

/// While it lives no signal but SIGKILL and SIGSTOP ends or freezes the process.
#[derive(Debug)]
pub struct Signals {
    inputs: UnboundedReceiver<Input>,
    listening: Vec<JoinHandle<()>>,
}

impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    /// Signals cannot be listened to.
    pub fn hear() -> Result<Self, Problem> {
        let (operator, inputs) = operator();
        let listening = listen_to_signals(&operator)?;
        Ok(Self { inputs, listening })
    }

    /// The name of the next one that wants the process to end.
    pub async fn next(&mut self) -> &'static str {
        loop {
            match self.inputs.recv().await {
                Some(Input::Signal(name)) => return name,
                Some(_) => {}
                None => return std::future::pending().await,
            }
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for task in &self.listening {
            task.abort();
        }
    }
}
