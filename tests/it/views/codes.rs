//! Where escape codes may go: flag by environment by device, for each view, as one table.

use chaos_gameday::view::{ColorChoice, Devices, Environment, Loudness, Setup, Shape, view};

use super::{setup, shown_through};
use crate::support::events::Story;
use crate::support::screen::captured;

/// What a view may send to the device of stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codes {
    /// Plain text.
    None,
    /// Colours, and nothing that moves the cursor.
    Colours,
    /// Colours in a block that is redrawn.
    Redrawn,
    /// A block that is redrawn without colours.
    Moves,
}

use Codes::{Colours, Moves, Redrawn};
use ColorChoice::{Always, Auto, Never};

/// The variables that are set, and what comes of them with `--color` auto, always, never: on a terminal
/// first, then in a pipe.
const TABLE: &[(&[&str], [Codes; 3], [Codes; 3])] = &[
    (
        &[],
        [Redrawn, Redrawn, Moves],
        [Codes::None, Colours, Codes::None],
    ),
    (
        &["NO_COLOR"],
        [Moves, Redrawn, Moves],
        [Codes::None, Colours, Codes::None],
    ),
    (
        &["CLICOLOR_FORCE"],
        [Redrawn, Redrawn, Moves],
        [Colours, Colours, Codes::None],
    ),
    (
        &["NO_COLOR", "CLICOLOR_FORCE"],
        [Moves, Redrawn, Moves],
        [Codes::None, Colours, Codes::None],
    ),
    (
        &["TERM=dumb"],
        [Codes::None, Colours, Codes::None],
        [Codes::None, Colours, Codes::None],
    ),
    (
        &["TERM=dumb", "CLICOLOR_FORCE"],
        [Colours, Colours, Codes::None],
        [Colours, Colours, Codes::None],
    ),
    (
        &["CI"],
        [Colours, Colours, Codes::None],
        [Codes::None, Colours, Codes::None],
    ),
];

fn environment(set: &[&str]) -> Environment {
    Environment {
        no_color: set.contains(&"NO_COLOR"),
        clicolor_force: set.contains(&"CLICOLOR_FORCE"),
        term_dumb: set.contains(&"TERM=dumb"),
        ci: set.contains(&"CI"),
        ascii_locale: false,
    }
}

/// What a run sends to stdout and stderr.
fn sent(shape: Shape, setup: Setup) -> (String, String) {
    let (printer, seen) = captured(setup);
    let records = Story::deviated().records();
    shown_through(&records, &mut *view(shape, &printer));
    (seen.stdout(), seen.stderr())
}

fn codes(shown: &str) -> Codes {
    let of = |last: fn(char) -> bool| {
        shown.split("\u{1b}[").skip(1).any(|rest| {
            let end = rest.find(|letter: char| letter.is_ascii_alphabetic());
            end.is_some_and(|end| rest[end..].starts_with(last))
        })
    };
    match (of(|letter| letter == 'm'), of(|letter| letter != 'm')) {
        (false, false) => Codes::None,
        (true, false) => Colours,
        (true, true) => Redrawn,
        (false, true) => Moves,
    }
}

/// Every row of the table with every flag and device.
fn cases() -> impl Iterator<Item = (Setup, Codes)> {
    let flags = [Auto, Always, Never];
    TABLE.iter().flat_map(move |(set, terminal, pipe)| {
        let devices = [(Devices::TERMINAL, terminal), (Devices::NONE, pipe)];
        devices.into_iter().flat_map(move |(devices, expected)| {
            flags.into_iter().zip(expected).map(move |(choice, codes)| {
                let setup = Setup {
                    choice,
                    environment: environment(set),
                    ..setup(devices, Loudness::Normal)
                };
                (setup, *codes)
            })
        })
    })
}

/// The same without what moves the cursor.
fn unmoved(codes: Codes) -> Codes {
    match codes {
        Codes::None | Moves => Codes::None,
        Colours | Redrawn => Colours,
    }
}

#[test]
fn escape_codes_go_where_the_flag_the_environment_and_the_device_let_them() {
    for (setup, expected) in cases() {
        for loudness in [Loudness::Normal, Loudness::Verbose] {
            let setup = Setup { loudness, ..setup };
            let (stdout, stderr) = sent(Shape::Fitting, setup);
            assert_eq!(
                (codes(&stderr), stdout.as_str()),
                (expected, ""),
                "{setup:?}"
            );
            let (_, stderr) = sent(Shape::Lines, setup);
            assert_eq!(codes(&stderr), unmoved(expected), "lines: {setup:?}");
        }
    }
}

#[test]
fn a_quiet_view_moves_no_cursor() {
    for (setup, expected) in cases() {
        let loudness = Loudness::Quiet;
        let (_, stderr) = sent(Shape::Fitting, Setup { loudness, ..setup });
        assert_eq!(codes(&stderr), unmoved(expected), "{setup:?}");
    }
}

#[test]
fn json_has_no_colours_whatever_is_forced() {
    let plain = sent(Shape::Json, Setup::PIPE);
    for (setup, _) in cases() {
        for loudness in [Loudness::Quiet, Loudness::Normal, Loudness::Verbose] {
            let setup = Setup { loudness, ..setup };
            assert_eq!(sent(Shape::Json, setup), plain, "{setup:?}");
        }
    }
}

#[test]
fn colours_change_no_word_of_a_line() {
    let coloured = Setup {
        choice: Always,
        ..Setup::PIPE
    };
    for loudness in [Loudness::Quiet, Loudness::Normal, Loudness::Verbose] {
        let (_, plain) = sent(
            Shape::Fitting,
            Setup {
                loudness,
                ..Setup::PIPE
            },
        );
        let (_, painted) = sent(
            Shape::Fitting,
            Setup {
                loudness,
                ..coloured
            },
        );
        assert_ne!(painted, plain);
        assert_eq!(console::strip_ansi_codes(&painted), plain);
    }
}
