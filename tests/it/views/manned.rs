//! Frames with a person at the keyboard: keys, questions, notes, marks and pauses.

use chaos_gameday::model::approval::Person;
use chaos_gameday::model::brief::{Brief, StepBrief};
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::phase::Trigger;
use chaos_gameday::model::remark::Pause;
use chaos_gameday::model::state::RunState;
use chaos_gameday::view::{Canvas, Colour, Glyphs, Key, Panel, Wish, frame};
use proptest::prelude::*;

use super::canvas;
use crate::support::events::{Story, Weather, usual_brief};

/// A panel after these keys, pressed one by one; `\u{1b}` is Escape.
fn panel(keys: &str) -> Panel {
    let mut panel = Panel::live();
    for (place, letter) in keys.chars().enumerate() {
        let key = match letter {
            '\u{1b}' => Key::Escape,
            letter => Key::Letter(letter),
        };
        panel.press(&[key], 1_000 * place as u64);
    }
    panel
}

/// The frame at three widths, one after the other.
fn frames(records: &[Record], panel: &Panel) -> String {
    let state = RunState::of(records);
    let drawn = [60, 80, 200].map(|width| {
        let lines = frame(&state, state.elapsed_ms + 300, canvas(width), panel);
        for line in &lines {
            assert!(console::measure_text_width(line) <= width, "{line}");
        }
        format!("{}\n{}", "=".repeat(width), lines.join("\n"))
    });
    drawn.join("\n")
}

/// In the middle of a breach, marked, with a pause wished for.
fn attended() -> Vec<Record> {
    Story::attended().first_ms(17_900)
}

/// Two steps, of which the second waits for a word.
fn waiting() -> Vec<Record> {
    let step = usual_brief().steps.remove(0);
    let second = StepBrief {
        name: "kinesis refuses reads".to_owned(),
        ..step.clone()
    };
    let mut story = Story::begun_with(Brief {
        steps: vec![step, second],
        ..usual_brief()
    });
    story.baseline_holds().inject(0).watch(2, Weather::Calm);
    story.tell(Event::PauseChosen {
        pause: Pause::BeforeNextStep,
    });
    story.watch(2, Weather::Calm).undo(0, Trigger::HoldOver);
    story.enter(Trigger::PauseAsked, Some(1));
    story.tell(Event::Asked {
        question: "go on with the next step?".to_owned(),
    });
    story.watch(2, Weather::Calm);
    story.records()
}

#[test]
fn frame_before_the_fault_names_the_keys() {
    insta::assert_snapshot!(frames(&Story::held().first_ms(5_500), &panel("")));
}

#[test]
fn frame_in_the_middle_of_a_breach_with_a_mark_and_a_pause_to_come() {
    insta::assert_snapshot!(frames(&attended(), &panel("")));
}

#[test]
fn frame_of_a_run_that_waits_for_a_word() {
    insta::assert_snapshot!(frames(&waiting(), &panel("")));
}

#[test]
fn frame_with_the_list_of_the_keys() {
    insta::assert_snapshot!(frames(&attended(), &panel("?")));
}

#[test]
fn frame_with_the_question_whether_to_abort() {
    insta::assert_snapshot!(frames(&attended(), &panel("a")));
}

#[test]
fn frame_with_the_question_how_to_go_on() {
    insta::assert_snapshot!(frames(&attended(), &panel("q")));
}

#[test]
fn frame_with_a_note_that_is_longer_than_the_line() {
    let note = format!("n{} and the pager 漢字", "checkout is down ".repeat(6));
    insta::assert_snapshot!(frames(&attended(), &panel(&note)));
}

#[test]
fn frame_with_a_source_that_is_down_and_late_readings() {
    let mut story = Story::begun();
    story.baseline_holds().inject(0).watch(3, Weather::Calm);
    story.tell(Event::TicksMissed {
        slo: "latency-p99".to_owned(),
        missed: 3,
    });
    story.watch(4, Weather::Night);
    insta::assert_snapshot!(frames(&story.records(), &panel("")));
}

#[test]
fn frame_of_a_run_that_settled() {
    insta::assert_snapshot!(frames(&Story::attended().records(), &panel("")));
}

#[test]
fn colours_and_ascii_change_no_word() {
    let state = RunState::of(&attended());
    for keys in ["", "?", "a", "q", "nab"] {
        let panel = panel(keys);
        let plain = frame(&state, 18_000, canvas(80), &panel);
        let coloured = Canvas {
            colour: Colour::On,
            ..canvas(80)
        };
        let coloured = frame(&state, 18_000, coloured, &panel);
        let bare = |line: &String| console::strip_ansi_codes(line).into_owned();
        assert_ne!(coloured, plain, "{keys:?}");
        assert_eq!(coloured.iter().map(bare).collect::<Vec<_>>(), plain);
        let ascii = Canvas {
            glyphs: Glyphs::Ascii,
            ..canvas(80)
        };
        let ascii = frame(&state, 18_000, ascii, &panel);
        assert!(ascii.iter().all(|line| line.is_ascii()), "{ascii:#?}");
    }
}

#[test]
fn what_is_open_is_the_last_line_however_low_the_terminal_is() {
    let mut brief = usual_brief();
    brief.slos = vec![brief.slos.remove(0); 40];
    let mut story = Story::begun_with(brief);
    story.baseline_holds().inject(0);
    let state = RunState::of(&story.records());
    for (keys, last) in [("", "? keys"), ("a", "proven gone "), ("nab", "note: ab")] {
        for height in [2, 4, 7, 10, 24, 50] {
            let canvas = Canvas {
                height,
                ..canvas(80)
            };
            let lines = frame(&state, state.elapsed_ms, canvas, &panel(keys));
            assert!(lines.len() < height, "{height}: {lines:#?}");
            assert!(lines[lines.len() - 1].ends_with(last), "{lines:#?}");
        }
    }
}

#[test]
fn what_is_typed_cannot_steer_the_terminal() {
    let mut panel = panel("n");
    let keys = ['\u{202e}', '\u{200b}', '\u{feff}'].map(Key::Letter);
    assert_eq!(panel.press(&keys, 60_000), []);
    let mut story = Story::attended();
    let by = Person {
        user: "ada".to_owned(),
        host: "workbench".to_owned(),
    };
    story.tell(Event::Marked {
        label: "\u{1b}[2J\u{202e}".to_owned(),
        by,
    });
    let drawn = frames(&story.records(), &panel);
    assert!(!drawn.contains(['\u{202e}', '\u{1b}']), "{drawn}");
    let [Wish::Note(kept)] = &panel.press(&[Key::Enter], 120_000)[..] else {
        panic!("a note");
    };
    assert_eq!(kept.chars().count(), 3, "the journal has what was typed");
}

proptest! {
    #[test]
    fn a_note_never_makes_a_line_wider_than_the_canvas(text in "\\PC{0,60}", width in 0_usize..100) {
        let mut panel = panel("n");
        let keys: Vec<Key> = text.chars().map(Key::Letter).collect();
        panel.press(&keys, 60_000);
        let state = RunState::of(&attended());
        for line in frame(&state, 18_000, canvas(width), &panel) {
            prop_assert!(console::measure_text_width(&line) <= width, "{line:?}");
        }
    }
}
