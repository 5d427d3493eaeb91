//! Frames of the live view and the last words of a run.

use chaos_gameday::model::brief::Brief;
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::phase::{Phase, Trigger};
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::sample::{Reading, SloState};
use chaos_gameday::model::state::RunState;
use chaos_gameday::view::{Canvas, Colour, Glyphs, Panel, closing, frame};
use proptest::prelude::*;

use super::canvas;
use crate::support::events::{Story, Weather, slo, usual_brief};

/// The frame at three widths, one after the other.
fn frames(records: &[Record], later_ms: u64) -> String {
    let state = RunState::of(records);
    let drawn = [60, 80, 200].map(|width| {
        let lines = frame(
            &state,
            state.elapsed_ms + later_ms,
            canvas(width),
            &Panel::default(),
        );
        format!("{}\n{}", "=".repeat(width), lines.join("\n"))
    });
    drawn.join("\n")
}

#[test]
fn frame_of_a_baseline() {
    insta::assert_snapshot!(frames(&Story::held().first_ms(5_500), 400));
}

#[test]
fn frame_in_the_middle_of_a_breach() {
    insta::assert_snapshot!(frames(&Story::deviated().first_ms(16_500), 300));
}

#[test]
fn frame_while_undoing_after_a_failed_attempt() {
    insta::assert_snapshot!(frames(&Story::stuck().first_ms(42_600), 700));
}

/// The second line of the frame so much later.
fn progress(story: &Story, later_ms: u64) -> String {
    let state = RunState::of(&story.records());
    frame(
        &state,
        state.elapsed_ms + later_ms,
        canvas(80),
        &Panel::default(),
    )
    .swap_remove(1)
}

#[test]
fn an_undo_that_is_tried_again_lasts_since_its_first_attempt() {
    let mut story = Story::begun();
    story.baseline_holds().inject(0).watch(3, Weather::Calm);
    story.enter(Trigger::Abort, Some(0)).after(2_000);
    let problem = Problem::new(ProblemKind::Unreachable, "no answer");
    story.tell(Event::UndoFailed {
        step: 0,
        attempt: 1,
        problem,
    });
    story.after(2_000).enter(Trigger::UndoSent, Some(0));
    assert_eq!(
        progress(&story, 500),
        "verifying gone · undoing for 4.5s · 1 failed attempt"
    );
    story.after(1_000).enter(Trigger::NotGone, Some(0));
    assert_eq!(progress(&story, 500), "undoing for 5.5s · 1 failed attempt");
}

#[test]
fn a_patience_that_is_over_is_told_as_there_is_room() {
    let brief = Brief {
        slos: vec![slo("errors", "< 1%", 1)],
        ..usual_brief()
    };
    let mut story = Story::begun_with(brief);
    story.baseline_holds().inject(0).watch(1, Weather::Calm);
    story.watch(4, Weather::Storm);
    let state = RunState::of(&story.records());
    let gauge =
        |width| frame(&state, state.elapsed_ms, canvas(width), &Panel::default()).swap_remove(2);
    assert!(
        gauge(80).contains(" < 1% breaching for 1s, patience 1s over "),
        "{}",
        gauge(80)
    );
    assert!(
        gauge(50).contains(" < 1% breaching for 1s, over "),
        "{}",
        gauge(50)
    );
}

#[test]
fn frame_of_a_stuck_run() {
    insta::assert_snapshot!(frames(&Story::stuck().records(), 0));
}

#[test]
fn frame_of_a_run_that_sees_nothing() {
    let mut story = Story::begun();
    story.baseline_holds().inject(0).watch(4, Weather::Fog);
    insta::assert_snapshot!(frames(&story.records(), 0));
}

#[test]
fn frame_before_the_first_event() {
    assert_eq!(
        frame(&RunState::default(), 0, canvas(80), &Panel::default()),
        ["waiting for the run to begin"]
    );
}

#[test]
fn frame_without_unicode_has_the_same_words() {
    let state = RunState::of(&Story::deviated().first_ms(16_500));
    let plain = Canvas {
        glyphs: Glyphs::Ascii,
        ..canvas(80)
    };
    let lines = frame(&state, 16_800, plain, &Panel::default());
    assert!(lines.iter().all(|line| line.is_ascii()), "{lines:#?}");
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn frame_with_colours_says_the_same_as_without() {
    let state = RunState::of(&Story::deviated().first_ms(16_500));
    let coloured = Canvas {
        colour: Colour::On,
        ..canvas(80)
    };
    let bare: Vec<String> = frame(&state, 16_800, coloured, &Panel::default())
        .iter()
        .map(|line| console::strip_ansi_codes(line).into_owned())
        .collect();
    assert!(
        frame(&state, 16_800, coloured, &Panel::default())
            .join("")
            .contains('\u{1b}')
    );
    assert_eq!(bare, frame(&state, 16_800, canvas(80), &Panel::default()));
}

#[test]
fn of_a_thousand_slos_the_worst_twenty_are_shown_and_the_rest_is_counted() {
    let mut brief = usual_brief();
    brief.slos = (0..1_000)
        .map(|number| slo(&format!("shard-{number}"), "< 1%", 30))
        .collect();
    brief.slos[700] = slo("shard-700", "> 90%", 30);
    let mut story = Story::begun_with(brief);
    story.baseline_holds().inject(0);
    let state = RunState::of(&story.records());
    let lines = frame(&state, state.elapsed_ms, canvas(80), &Panel::default());
    assert_eq!(lines.len(), 2 + 20 + 1 + 1);
    assert_eq!(
        lines[22],
        "  the worst 20 of 1000 SLOs; 980 more, 980 of them ok"
    );
    let mut state = state;
    state.slos[700].state = Some(SloState::Breaching);
    let lines = frame(&state, state.elapsed_ms, canvas(80), &Panel::default());
    assert!(lines[2].starts_with("! shard-700 "), "{}", lines[2]);
}

#[test]
fn a_low_terminal_shows_fewer_slos_rather_than_losing_the_last_lines() {
    let mut brief = usual_brief();
    brief.slos = (0..30)
        .map(|number| slo(&format!("shard-{number}"), "< 1%", 30))
        .collect();
    let mut story = Story::begun_with(brief);
    story.baseline_holds().inject(0);
    let state = RunState::of(&story.records());
    let low = Canvas {
        height: 12,
        ..canvas(80)
    };
    let lines = frame(&state, state.elapsed_ms, low, &Panel::default());
    assert!(lines.len() < 12, "{lines:#?}");
    assert!(lines[lines.len() - 1].starts_with("in place: 1 rule"));
}

#[test]
fn closings_of_every_outcome() {
    let stories = [
        Story::held(),
        Story::deviated(),
        Story::refused(),
        Story::aborted(),
        Story::inconclusive(),
        Story::stuck(),
        Story::rescued(),
        Story::recovered(),
    ];
    let closings = stories.map(|story| {
        let state = RunState::of(&story.records());
        let mut lines = closing::summary(&state, canvas(80));
        lines.extend(closing::by_hand(&state, canvas(80)));
        lines.join("\n")
    });
    insta::assert_snapshot!(closings.join("\n"));
}

#[test]
fn the_last_words_say_how_long_the_alert_took() {
    let state = RunState::of(&Story::attended().records());
    let summary = closing::summary(&state, canvas(80));
    let marked = "  marked: alert fired T+00:16, 6.2s after the fault".to_owned();
    assert!(summary.contains(&marked), "{summary:#?}");
}

#[test]
fn a_run_without_an_end_says_so_and_how_to_undo_it() {
    let state = RunState::of(&Story::held().until(Phase::Observing));
    let summary = closing::summary(&state, canvas(80));
    let run = "r-20260314-093000-k7x2";
    let no_end = format!("no end; `chaos show {run}` tells who is at work on it");
    assert_eq!(summary[1], no_end);
    let by_hand = closing::by_hand(&state, canvas(80));
    assert_eq!(by_hand.len(), 5);
    assert_eq!(by_hand[2], format!("    chaos recover {run}"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_line_is_wider_than_the_canvas(
        name in "\\PC{0,40}",
        width in 0_usize..130,
        height in 0_usize..30,
        events in 0_usize..200,
        later_ms in prop_oneof![0_u64..100_000, Just(u64::MAX)],
        value in any::<f64>(),
        glyphs in prop_oneof![Just(Glyphs::Unicode), Just(Glyphs::Ascii)],
        colour in prop_oneof![Just(Colour::On), Just(Colour::Off)],
    ) {
        let mut brief = usual_brief();
        brief.slos[1].name = name.clone();
        brief.steps[0].name = name;
        let mut story = Story::begun_with(brief);
        story.baseline_holds().inject(0).watch(40, Weather::Storm);
        let records = story.records();
        let mut state = RunState::of(&records[..events.min(records.len())]);
        for record in &mut state.slos {
            record.reading = Some(Reading::Value(value));
            record.history.push_back((state.elapsed_ms, value));
        }
        let canvas = Canvas { width, height, glyphs, colour };
        let mut lines = frame(&state, later_ms, canvas, &Panel::default());
        lines.extend(closing::summary(&state, canvas));
        for line in lines {
            prop_assert!(console::measure_text_width(&line) <= width, "{line:?}");
        }
    }
}
