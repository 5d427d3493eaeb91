//! Playing a run back, and the live view on a terminal.

use std::time::Duration;

use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::state::RunState;
use chaos_gameday::view::{
    Devices, Environment, LineView, LiveView, Loudness, Player, Setup, Shape, Speed, View, view,
};

use super::{lines_of, setup, shown_through};
use crate::support::events::Story;
use crate::support::screen::captured;

#[tokio::test(start_paused = true)]
async fn a_player_keeps_the_recorded_times() {
    for (speed, seconds) in [("1", 22.0), ("10", 2.2), ("0.5", 44.0), ("max", 0.0)] {
        let records = Story::refused().records();
        let length_s = records.last().map_or(0, |last| last.elapsed_ms) as f64 / 1_000.0;
        let factor = seconds / 22.0;
        let (printer, seen) = captured(Setup::PIPE);
        let speed: Speed = speed.parse().expect("a valid speed");
        let began = tokio::time::Instant::now();
        let state = Player::new(records.clone(), speed)
            .play(&mut LineView::new(printer))
            .await;
        let took = began.elapsed().as_secs_f64();
        assert!((took - length_s * factor).abs() < 0.05, "{speed}: {took} s");
        assert_eq!(state, RunState::of(&records));
        assert_eq!(seen.stderr(), lines_of(&records, Loudness::Normal));
    }
}

/// Counts what it is told.
#[derive(Default)]
struct Counting {
    ticks: Vec<u64>,
    finished: u32,
}

impl View for Counting {
    fn show(&mut self, _: &Record, _: &RunState) {}

    fn tick(&mut self, elapsed_ms: u64, _: &RunState) {
        self.ticks.push(elapsed_ms);
    }

    fn finish(&mut self, _: &RunState) {
        self.finished += 1;
    }
}

#[tokio::test(start_paused = true)]
async fn a_player_ticks_through_silence_and_never_past_the_next_event() {
    let mut story = Story::begun();
    story.after(950).tell(Event::Noted {
        text: "still here".to_owned(),
        by: None,
    });
    let mut view = Counting::default();
    let player = Player::new(story.records(), Speed::default());
    player.play(&mut view).await;
    assert_eq!(view.finished, 1);
    assert_eq!(view.ticks, [100, 200, 300, 400, 500, 600, 700, 800, 900]);
}

#[tokio::test(start_paused = true)]
async fn a_player_survives_a_time_that_no_clock_reaches() {
    let mut records = Story::begun().records();
    records[1].elapsed_ms = u64::MAX;
    let player = Player::new(records, Speed::Times(0.01));
    let mut view = Counting::default();
    let played = tokio::time::timeout(Duration::from_secs(60), player.play(&mut view)).await;
    assert!(played.is_err(), "it goes on waiting, without a panic");
}

#[test]
fn speeds_are_factors_or_max() {
    for (text, speed) in [
        ("0.5", Speed::Times(0.5)),
        ("10", Speed::Times(10.0)),
        ("10x", Speed::Times(10.0)),
        ("max", Speed::Max),
    ] {
        assert_eq!(text.parse(), Ok(speed), "{text}");
    }
    for bad in ["", "0", "-1", "fast", "nan", "inf", "1e9", "x"] {
        assert!(bad.parse::<Speed>().is_err(), "{bad}");
    }
}

#[test]
fn the_live_view_scrolls_events_and_gives_the_cursor_back() {
    let (printer, seen) = captured(setup(Devices::TERMINAL, Loudness::Normal));
    let records = Story::deviated().records();
    shown_through(&records, &mut *view(Shape::Fitting, &printer));
    let drawn = seen.stderr();
    assert_eq!(drawn.matches("\u{1b}[?25l").count(), 1);
    assert_eq!(drawn.matches("\u{1b}[?25h").count(), 1);
    assert!(!drawn.contains("\u{1b}[?1049h"), "no alternate screen");
    let bare = console::strip_ansi_codes(&drawn).into_owned();
    assert!(
        bare.contains("T+00:19.1 tripped: error-rate missed < 1% for 5s"),
        "{bare}"
    );
    assert!(bare.contains(" 0s of 10s"), "the block is drawn: {bare}");
    let after = bare.rsplit("in place:").next().unwrap_or_default();
    assert!(after.contains("deviated · exit 1"), "{after}");
    assert_eq!(seen.stdout(), "");
}

#[test]
fn a_dropped_live_view_gives_the_cursor_back() {
    let (printer, seen) = captured(setup(Devices::TERMINAL, Loudness::Normal));
    let mut view = LiveView::new(printer);
    view.tick(0, &RunState::default());
    assert!(seen.stderr().contains("\u{1b}[?25l"));
    drop(view);
    assert!(seen.stderr().ends_with("\u{1b}[?25h"));
}

#[test]
fn a_live_view_without_a_terminal_draws_nothing() {
    let (printer, seen) = captured(Setup::PIPE);
    let mut view = LiveView::new(printer);
    view.tick(0, &RunState::default());
    drop(view);
    assert_eq!(seen.stderr(), "");
}

#[test]
fn in_ci_or_on_a_dumb_terminal_there_are_plain_lines() {
    for environment in [
        Environment {
            ci: true,
            ..Environment::default()
        },
        Environment {
            term_dumb: true,
            ..Environment::default()
        },
    ] {
        let (printer, seen) = captured(Setup {
            environment,
            ..setup(Devices::TERMINAL, Loudness::Normal)
        });
        shown_through(
            &Story::held().records(),
            &mut *view(Shape::Fitting, &printer),
        );
        let escapes = seen.stderr().matches("\u{1b}[?25").count();
        assert_eq!(escapes, 0, "{environment:?}");
    }
}
