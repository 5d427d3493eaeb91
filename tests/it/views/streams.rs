//! Plain lines and JSON lines, also of words that somebody hostile chose.

use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::state::RunState;
use chaos_gameday::view::{LineView, Loudness, Panel, Setup, Shape, View, frame, view};

use super::{canvas, lines_of, shown_through};
use crate::support::events::{Story, Weather, usual_brief};
use crate::support::screen::captured;

#[test]
fn lines_of_a_deviated_run() {
    insta::assert_snapshot!(lines_of(&Story::deviated().records(), Loudness::Normal));
}

#[test]
fn lines_of_a_deviated_run_when_quiet() {
    insta::assert_snapshot!(lines_of(&Story::deviated().records(), Loudness::Quiet));
}

#[test]
fn lines_of_a_stuck_run_when_quiet_still_say_how_to_undo_it() {
    insta::assert_snapshot!(lines_of(&Story::stuck().records(), Loudness::Quiet));
}

#[test]
fn lines_with_every_detail_have_one_for_each_event() {
    let records = Story::refused().records();
    let lines = lines_of(&records, Loudness::Verbose);
    let told = lines.lines().filter(|line| line.starts_with("T+")).count();
    let statuses = lines
        .lines()
        .filter(|line| line.contains(" of 10s · error-rate "))
        .count();
    assert_eq!(told - statuses, records.len());
}

#[test]
fn a_status_line_comes_at_most_every_ten_seconds_also_when_nothing_happens() {
    let (printer, seen) = captured(Setup::PIPE);
    let mut view = LineView::new(printer);
    let state = RunState::of(&Story::stuck().until(Phase::Undoing));
    let began = state.elapsed_ms;
    for second in 0..25 {
        view.tick(began + second * 1_000, &state);
    }
    let clocks: Vec<String> = seen
        .stderr()
        .lines()
        .map(|line| line[..10].to_owned())
        .collect();
    assert_eq!(clocks, ["T+00:40.3 ", "T+00:50.3 ", "T+01:00.3 "]);
}

#[test]
fn json_lines_are_the_events_and_nothing_else_is_said() {
    let records = Story::deviated().records();
    let (printer, seen) = captured(Setup::PIPE);
    shown_through(&records, &mut *view(Shape::Json, &printer));
    let read: Vec<Record> = seen
        .stdout()
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is an event"))
        .collect();
    assert_eq!(read, records);
    assert_eq!(seen.stderr(), "");
}

#[test]
fn json_of_a_stuck_run_keeps_the_commands_off_stdout() {
    let records = Story::stuck().records();
    let (printer, seen) = captured(Setup::PIPE);
    shown_through(&records, &mut *view(Shape::Json, &printer));
    assert_eq!(seen.stdout().lines().count(), records.len());
    assert!(
        seen.stderr().contains("curl -X DELETE"),
        "{}",
        seen.stderr()
    );
}

const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}live\r\n\u{7f}";

fn hostile_records() -> Vec<Record> {
    let mut brief = usual_brief();
    brief.slos[0].name = HOSTILE.to_owned();
    brief.steps[0].name = HOSTILE.to_owned();
    let mut story = Story::begun_with(brief);
    story.baseline_holds().inject(0).watch(9, Weather::Storm);
    story.tell(Event::Warned {
        message: HOSTILE.to_owned(),
    });
    story.tell(Event::UndoFailed {
        step: 0,
        attempt: 1,
        problem: Problem::new(ProblemKind::Unreachable, HOSTILE),
    });
    story.records()
}

#[test]
fn hostile_names_never_steer_a_terminal() {
    let steers = |text: &str| {
        text.chars()
            .any(|c| (c.is_control() && c != '\n') || c == '\u{202e}')
    };
    let records = hostile_records();
    let lines = lines_of(&records, Loudness::Verbose);
    assert!(!steers(&lines), "{lines:?}");

    let (printer, seen) = captured(Setup::PIPE);
    shown_through(&records, &mut *view(Shape::Json, &printer));
    assert!(!steers(&seen.stdout()), "{:?}", seen.stdout());
    let last = seen.stdout().lines().last().map(str::to_owned);
    let last: Record = serde_json::from_str(&last.expect("there are lines")).expect("an event");
    assert_eq!(Some(&last), records.last());

    let state = RunState::of(&records);
    let drawn = frame(&state, state.elapsed_ms, canvas(80), &Panel::default());
    assert!(!steers(&drawn.join("\n")), "{drawn:?}");
}
