//! A thousand SLOs at one reading a second each: what is drawn, how often, and in which order.

use chaos_gameday::model::state::RunState;
use chaos_gameday::view::{Canvas, Devices, LiveView, Loudness, Panel, View, frame};

use super::{canvas, setup};
use crate::support::events::{Story, Weather, slo, usual_brief};
use crate::support::screen::captured;

/// A thousand shards.
fn thousand() -> Story {
    let mut brief = usual_brief();
    let shard = |number| slo(&format!("shard-{number}"), "< 1%", 30);
    brief.slos = (0..1_000).map(shard).collect();
    Story::begun_with(brief)
}

#[test]
fn a_frame_is_built_ten_times_a_second_however_many_readings_come() {
    let mut story = thousand();
    story.baseline_holds().inject(0).watch(5, Weather::Calm);
    let records = story.records();
    assert!(records.len() > 15_000, "{}", records.len());
    let (printer, seen) = captured(setup(Devices::TERMINAL, Loudness::Normal));
    let mut view = LiveView::new(printer);
    view.panel(&Panel::live());
    let mut state = RunState::default();
    let mut ticked_ms = 0;
    for record in &records {
        state.apply(record);
        view.show(record, &state);
        if record.elapsed_ms >= ticked_ms + 100 {
            ticked_ms = record.elapsed_ms;
            view.tick(ticked_ms, &state);
        }
    }
    let took_s = state.elapsed_ms / 1_000;
    let drawn = seen.stderr();
    let frames = drawn.matches("the worst 18 of 1000 SLOs").count() as u64;
    assert!(
        (5 * took_s..=30 * took_s).contains(&frames),
        "{frames} frames in {took_s} s"
    );
}

#[test]
fn the_worst_twenty_are_shown_where_they_fit_and_fewer_where_they_do_not() {
    let mut story = thousand();
    story.baseline_holds().inject(0).watch(1, Weather::Storm);
    let state = RunState::of(&story.records());
    for (height, shown) in [(100, 20), (40, 20), (24, 18), (12, 6), (8, 2), (7, 1)] {
        let canvas = Canvas {
            height,
            ..canvas(80)
        };
        let lines = frame(&state, state.elapsed_ms, canvas, &Panel::live());
        let shards = lines.iter().filter(|line| line.contains("shard-"));
        assert_eq!(shards.count(), shown, "{height}: {lines:#?}");
        let rest = format!("the worst {shown} of 1000 SLOs; {} more", 1_000 - shown);
        assert!(lines.iter().any(|line| line.contains(&rest)), "{lines:#?}");
    }
}
