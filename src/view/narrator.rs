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
        let least = match loudness {
            Loudness::Quiet => Weight::Vital,
            Loudness::Normal => Weight::Normal,
            Loudness::Verbose => Weight::Detail,
        };
        if let Event::Sampled {
            slo, state: now, ..
        } = &record.event
        {
            let weight = if self.changes(slo, *now) {
                Weight::Normal
            } else {
                Weight::Detail
            };
            // No words are made for the thousand readings a second that nobody will see.
            return (weight >= least).then(|| Telling {
                weight,
                ..tell(&record.event, state)
            });
        }
        let telling = tell(&record.event, state);
        (telling.weight >= least).then_some(telling)
    }

    fn changes(&mut self, slo: &str, now: SloState) -> bool {
        match self.states.get_mut(slo) {
            Some(before) => std::mem::replace(before, now) != now,
            None => self.states.insert(slo.to_owned(), now).is_none(),
        }
    }
}
