//! What a person sees: frames, lines, JSON, the closing summary, the player and the printer.

mod codes;
mod frames;
mod manned;
mod many;
mod playing;
mod printing;
mod streams;
mod terminals;

use chaos_gameday::model::event::Record;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::state::RunState;
use chaos_gameday::view::{Canvas, Colour, Devices, Glyphs, LineView, Loudness, Setup, View};

use crate::support::events::Story;
use crate::support::screen::captured;

fn canvas(width: usize) -> Canvas {
    Canvas {
        width,
        height: 40,
        glyphs: Glyphs::Unicode,
        colour: Colour::Off,
    }
}

fn setup(devices: Devices, loudness: Loudness) -> Setup {
    Setup {
        devices,
        loudness,
        ..Setup::PIPE
    }
}

fn shown_through(records: &[Record], view: &mut dyn View) {
    let mut state = RunState::default();
    for record in records {
        state.apply(record);
        view.show(record, &state);
    }
    view.finish(&state);
}

fn lines_of(records: &[Record], loudness: Loudness) -> String {
    let (printer, seen) = captured(setup(Devices::NONE, loudness));
    shown_through(records, &mut LineView::new(printer));
    assert_eq!(seen.stdout(), "", "lines are talk");
    seen.stderr()
}

#[test]
fn every_story_ends_as_its_name_says() {
    let ends = [
        (Story::held(), Outcome::Held, Phase::Settled),
        (Story::deviated(), Outcome::Deviated, Phase::Settled),
        (Story::refused(), Outcome::Refused, Phase::Settled),
        (Story::aborted(), Outcome::Aborted, Phase::Settled),
        (Story::inconclusive(), Outcome::Inconclusive, Phase::Settled),
        (Story::stuck(), Outcome::Stuck, Phase::Stuck),
        (Story::rescued(), Outcome::Inconclusive, Phase::Settled),
        (Story::recovered(), Outcome::Inconclusive, Phase::Settled),
    ];
    for (story, outcome, phase) in ends {
        let state = RunState::of(&story.records());
        assert_eq!(
            (state.outcome, state.phase),
            (Some(outcome), Some(phase)),
            "{outcome:?}"
        );
    }
}
