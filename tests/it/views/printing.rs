//! The printer, questions and tables.

use std::io::ErrorKind;

use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::view::prompt::{self, Answer};
use chaos_gameday::view::{ColorChoice, Devices, Environment, Loudness, Setup, Size, list};

use super::setup;
use crate::support::screen::{captured, failing};

#[test]
fn a_terminal_gets_lines_broken_at_blanks_and_a_pipe_gets_them_whole() {
    let told = |devices| {
        let (printer, seen) = captured(Setup {
            size: Size::Fixed(40, 24),
            choice: ColorChoice::Never,
            ..setup(devices, Loudness::Normal)
        });
        let hint = "look at the other end with `curl http://127.0.0.1:4566/_localstack/health`, then again";
        let problem = Problem::new(
            ProblemKind::Absent,
            "the platform answers, but without what is needed here",
        );
        printer.error(&problem.hint(hint));
        printer.warn("there is little room for so many words");
        seen.stderr()
    };
    assert_eq!(
        told(Devices::TERMINAL),
        "\
error: the platform answers, but without
       what is needed here
  hint: look at the other end with `curl http://127.0.0.1:4566/_localstack/health`,
        then again
warning: there is little room for so
         many words
"
    );
    assert_eq!(told(Devices::NONE).lines().count(), 3);
}

#[test]
fn a_closed_pipe_is_remembered_and_no_failure() {
    let printer = failing(Setup::PIPE, ErrorKind::BrokenPipe);
    assert!(!printer.is_closed());
    printer.data("never read");
    assert!(printer.is_closed());
    assert_eq!(printer.outcome(), Ok(()));
}

#[test]
fn a_full_disk_is_a_failure_of_the_data_and_not_of_the_talk() {
    let printer = failing(Setup::PIPE, ErrorKind::StorageFull);
    printer.talk("lost, and that is all");
    assert_eq!(printer.outcome(), Ok(()));
    printer.data("lost evidence");
    let kind = printer.outcome().map_err(|problem| problem.kind);
    assert_eq!(kind, Err(ProblemKind::Evidence));
}

#[test]
fn data_goes_to_stdout_unchanged_and_talk_to_stderr() {
    let (printer, seen) = captured(Setup::PIPE);
    printer.data("a\u{7f}b");
    printer.talk("said");
    printer.detail("not asked for");
    printer.warn("careful");
    printer.error(&Problem::new(ProblemKind::Absent, "no `x` in y").hint("look in z"));
    assert_eq!(seen.stdout(), "a\u{7f}b\n");
    assert_eq!(
        seen.stderr(),
        "said\nwarning: careful\nerror: no `x` in y\n  hint: look in z\n"
    );
}

#[test]
fn a_quiet_printer_still_reports_errors() {
    let (printer, seen) = captured(setup(Devices::NONE, Loudness::Quiet));
    printer.talk("chatter");
    printer.success("done");
    printer.error(&Problem::new(ProblemKind::Absent, "gone"));
    assert_eq!(seen.stderr(), "error: gone\n");
}

#[test]
fn without_a_person_nothing_is_asked() {
    let in_ci = Setup {
        environment: Environment {
            ci: true,
            ..Environment::default()
        },
        ..setup(Devices::TERMINAL, Loudness::Normal)
    };
    for setup in [Setup::PIPE, in_ci] {
        let (printer, seen) = captured(setup);
        let refused = Some(ProblemKind::Refused);
        let typed = prompt::ask_typed_name(&printer, "redis", "Approve?");
        assert_eq!(typed.map_err(|problem| problem.kind).err(), refused);
        assert_eq!(
            prompt::confirm(&printer, "Go on?", Answer::Yes),
            Ok(Answer::No)
        );
        let line = prompt::input_with_default(&printer, "Name", "x");
        assert_eq!(line.map_err(|problem| problem.kind).err(), refused);
        let chosen = prompt::select(&printer, "Which", &["a".to_owned()]);
        assert_eq!(chosen.map_err(|problem| problem.kind).err(), refused);
        assert_eq!(seen.stderr(), "");
    }
}

#[test]
fn only_the_very_name_counts_as_a_typed_yes() {
    for (typed, answer) in [
        ("redis-down", Answer::Yes),
        (" redis-down ", Answer::Yes),
        ("redis", Answer::No),
        ("Redis-down", Answer::No),
        ("yes", Answer::No),
        ("", Answer::No),
    ] {
        assert_eq!(prompt::typed_name("redis-down", typed), answer, "{typed:?}");
    }
    assert_eq!(prompt::typed_name("", ""), Answer::No);
}

#[test]
fn lists_fit_a_terminal_and_stay_whole_in_a_pipe() {
    let rows = vec![
        vec![
            "r-20260314-093000-k7x2".to_owned(),
            "deviated".to_owned(),
            "With every PutRecord refused, checkout errors stay under 1 %.".to_owned(),
        ],
        vec![
            "r-1".to_owned(),
            "held\u{1b}[2J".to_owned(),
            "short".to_owned(),
        ],
    ];
    let headings = ["run", "outcome", "hypothesis"];
    let (pipe, _) = captured(Setup::PIPE);
    let (terminal, _) = captured(Setup {
        size: Size::Fixed(60, 24),
        ..setup(Devices::TERMINAL, Loudness::Normal)
    });
    let whole = list(&pipe, &headings, &rows);
    assert_eq!(whole.lines().count(), 3);
    assert!(!whole.contains('\u{1b}'));
    let fitted = list(&terminal, &headings, &rows);
    assert!(
        fitted
            .lines()
            .all(|line| console::measure_text_width(line) <= 60)
    );
    let bare = console::strip_ansi_codes(&fitted).into_owned();
    insta::assert_snapshot!(format!("{whole}\n{}\n{bare}", "=".repeat(60)));
}
