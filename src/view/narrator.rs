//! Decides which events get a line of their own: every event does, except that a reading only does
//! when it changes its SLO's state, or when every detail is asked for.

use std::collections::HashMap;

use crate::model::event::{Event, Record};
use crate::model::sample::SloState;
use crate::model::state::RunState;

use super::setup::Loudness;
use super::words::{Telling, Weight, tell};

/// Remembers the states that were told.
#[derive(Debug, Default)]
pub struct Narrator {
    states: HashMap<String, SloState>,
}

impl Narrator {
    /// The line that this event deserves; `state` already contains it.
    pub fn tell(
        &mut self,
        record: &Record,
        state: &RunState,
        loudness: Loudness,
    ) -> Option<Telling> {
        let mut telling = tell(&record.event, state);
        if let Event::Sampled { slo, state, .. } = &record.event
            && self.states.insert(slo.clone(), *state) != Some(*state)
        {
            telling.weight = Weight::Normal;
        }
        let least = match loudness {
            Loudness::Quiet => Weight::Vital,
            Loudness::Normal => Weight::Normal,
            Loudness::Verbose => Weight::Detail,
        };
        (telling.weight >= least).then_some(telling)
    }
}
