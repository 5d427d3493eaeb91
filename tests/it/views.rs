//! What a person sees: frames, lines, JSON, the closing summary, the player and the printer.

use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::state::RunState;

use crate::support::events::Story;

#[test]
fn every_story_ends_as_its_name_says() {
    let ends = [
        (Story::held(), Outcome::Held, Phase::Settled),
        (Story::deviated(), Outcome::Deviated, Phase::Settled),
        (Story::refused(), Outcome::Refused, Phase::Settled),
        (Story::aborted(), Outcome::Aborted, Phase::Settled),
        (Story::inconclusive(), Outcome::Inconclusive, Phase::Settled),
        (Story::stuck(), Outcome::Stuck, Phase::Stuck),
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
