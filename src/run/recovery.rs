//! After an undo: the SLOs are given their time to come back, and it is measured.

use tokio::time::Instant;

use super::engine::Engine;
use super::watch::Health;
use crate::model::decision::Cause;
use crate::model::event::Event;
use crate::model::phase::Trigger;

/// How a recovery went.
enum Recovery {
    Back,
    Late(Cause),
    CutShort,
}

impl Engine {
    /// The recovery after the last step.
    pub(super) async fn recover(&mut self) {
        let decided = self.ending.is_some();
        match self.await_health(decided).await {
            Recovery::Back => self.enter(Trigger::Recovered),
            Recovery::Late(cause) => {
                self.end(cause);
                self.enter(Trigger::RecoveryOver);
            }
            Recovery::CutShort => self.enter(Trigger::Abort),
        }
    }

    /// The recovery between two steps: the next fault must not go in on top of the last one's pain.
    pub(super) async fn await_health_between(&mut self) {
        match self.await_health(self.ending.is_some()).await {
            Recovery::Back | Recovery::CutShort => {}
            Recovery::Late(cause) => self.end(cause),
        }
    }

    /// Waits until every gate holds by readings taken after the fault was seen gone. `decided`: an
    /// end was decided already, so only a new wish of a person cuts the waiting short.
    async fn await_health(&mut self, decided: bool) -> Recovery {
        let within = self.runner.plan.plan().experiment.recovery_within;
        let began = Instant::now();
        let deadline = began + within.as_duration();
        let gone_ms = self.recorder.elapsed_ms();
        let ending = self.ending.take();
        let recovery = loop {
            match self.watch.health(gone_ms + 1) {
                Health::AllOk => {
                    let after_ms = self.recorder.elapsed_ms() - gone_ms;
                    self.record(Event::Recovered { after_ms });
                    break Recovery::Back;
                }
                Health::Not { breaching, blind } if Instant::now() >= deadline => {
                    break Recovery::Late(late(breaching, blind));
                }
                Health::Not { .. } => {}
            }
            self.wait_for_input(deadline).await;
            if self.ending.is_some() {
                break Recovery::CutShort;
            }
        };
        if decided {
            self.ending = ending;
        }
        recovery
    }
}

fn late(breaching: Vec<(String, String)>, blind: Vec<(String, String)>) -> Cause {
    let names = |found: Vec<(String, String)>| found.into_iter().map(|(name, _)| name).collect();
    if breaching.is_empty() {
        Cause::RecoveryUnseen { slos: names(blind) }
    } else {
        Cause::RecoveryLate {
            slos: names(breaching),
        }
    }
}
