//! After an undo: the SLOs are given their time to come back, and it is measured.

use tokio::time::Instant;

use super::engine::{Engine, Wish};
use super::watch::Health;
use crate::model::decision::Cause;
use crate::model::event::Event;
use crate::model::phase::Trigger;
use crate::model::units::Span;

/// How a recovery went.
enum Recovery {
    Back,
    Late(Cause),
    CutShort,
}

impl Engine {
    /// The recovery after the last step.
    pub(super) async fn recover(&mut self) {
        match self.await_health().await {
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
        match self.await_health().await {
            Recovery::Back | Recovery::CutShort => {}
            Recovery::Late(cause) => self.end(cause),
        }
    }

    /// Waits until every gate holds by readings asked for after the fault was seen gone. Only a
    /// person or a signal cuts the waiting short.
    async fn await_health(&mut self) -> Recovery {
        let gone_ms = self.gone_ms();
        let within = self.runner.plan.plan().experiment.recovery_within;
        let left_ms = gone_ms
            .saturating_add(within.as_millis())
            .saturating_sub(self.recorder.elapsed_ms());
        let deadline = Instant::now() + Span::from_millis(left_ms).as_duration();
        loop {
            match self.watch.health(gone_ms + 1) {
                Health::AllOk => {
                    self.back(gone_ms);
                    return Recovery::Back;
                }
                Health::Not { breaching, blind } if Instant::now() >= deadline => {
                    return Recovery::Late(late(breaching, blind));
                }
                Health::Not { .. } if self.wish == Wish::Leave => return Recovery::CutShort,
                Health::Not { .. } => self.wait_for_input(deadline).await,
            }
        }
    }

    /// Records the recovery, once for each fault.
    fn back(&mut self, gone_ms: u64) {
        let seen_before = self.recorder.state().recovered_at_ms;
        if seen_before.is_none_or(|back_ms| back_ms <= gone_ms) {
            let after_ms = self.recorder.elapsed_ms() - gone_ms;
            self.record(Event::Recovered { after_ms });
        }
    }

    /// When the latest fault was seen gone.
    fn gone_ms(&self) -> u64 {
        let steps = self.recorder.state().steps.iter();
        let gone = steps.filter_map(|step| step.gone_at_ms).max();
        gone.unwrap_or_else(|| self.recorder.elapsed_ms())
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
