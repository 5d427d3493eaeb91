//! Words and numbers that people type, keys of a terminal, and what is shown of anything.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use chaos_gameday::metrics::StatusClass;
use chaos_gameday::model::ids::{Digest, Name, PlanId, RunId};
use chaos_gameday::model::pattern::Pattern;
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::secret::{SecretText, Secrets};
use chaos_gameday::model::units::{Objective, Percent, Span, Unit};
use chaos_gameday::report::ReportFormat;
use chaos_gameday::view::{Decoder, Key, Speed, escape_unprintable, sanitise, scrub};

use crate::documents::check_shown;
use crate::harness::Target;
use crate::input::Corpus;

const WORDS: &[&str] = &[
    "ms",
    "s",
    "m",
    "h",
    "d",
    "%",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "1",
    "9",
    "0",
    ".",
    "-",
    "e",
    "r-",
    "p-",
    "sha256:",
    "5xx",
    "503",
    "max",
    "x",
    "text",
    "json",
    "{a,b}",
    "[a-z]",
    "[!a]",
    "*",
    "**",
    "?",
    "${secret:A}",
    "${secret:",
    "inf",
    "nan",
];

fn corpus(seeds: &[&[u8]]) -> Corpus {
    Corpus {
        seeds: seeds.iter().map(|seed| seed.to_vec()).collect(),
        words: WORDS,
        largest: 256 << 10,
        between: b"",
    }
}

#[test]
fn words_are_read_and_shown_as_they_were_meant() {
    let seeds: [&[u8]; 16] = [
        b"1m30s",
        b"366d",
        b"1h0m5ms",
        b"12.5%",
        b"< 1%",
        b"<= 800ms",
        b"!= -2.5",
        b"> 1.5h",
        b"redis-latency",
        b"r-20261130-165251-886c",
        b"p-e3b0c44298",
        b"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        b"5xx",
        b"staging-{eu,us}-*",
        b"[!a-c]?*",
        b"Bearer ${secret:TOKEN}",
    ];
    Target {
        name: "words",
        corpus: corpus(&seeds),
        cases: 150,
        holds: &|input| {
            let Ok(text) = std::str::from_utf8(input) else {
                return;
            };
            comes_back::<Span>(text);
            comes_back::<Percent>(text);
            comes_back::<Objective>(text);
            comes_back::<Name>(text);
            comes_back::<RunId>(text);
            comes_back::<PlanId>(text);
            comes_back::<Digest>(text);
            comes_back::<Speed>(text);
            comes_back::<ReportFormat>(text);
            if let Ok(class) = text.parse::<StatusClass>() {
                assert_eq!(String::from(class).parse(), Ok(class));
            }
            if let Some(pattern) = comes_back::<Pattern>(text) {
                let _either = pattern.matches(text) | pattern.matches("staging-eu-1");
            }
            if let Ok(objective) = text.parse::<Objective>() {
                let _either = objective.holds(objective.threshold());
            }
            if let Ok(number) = text.parse() {
                for unit in [Unit::Number, Unit::Percent, Unit::Duration] {
                    assert!(!unit.show(number).is_empty());
                }
            }
            let secret = SecretText::new(text);
            assert_eq!(secret.as_written(), text);
            if secret.filled(&Secrets::default()).is_ok() {
                assert_eq!(secret.names(), [""; 0]);
            }
            let _began = text.parse::<RunId>().map(|run| run.began());
        },
    }
    .run();
}

/// What a text means, shown, means the same.
fn comes_back<T>(text: &str) -> Option<T>
where
    T: FromStr<Err = Problem> + Display + PartialEq + Debug,
{
    match text.parse::<T>() {
        Ok(meant) => {
            let shown = meant.to_string();
            assert_eq!(
                shown.parse().as_ref(),
                Ok(&meant),
                "{text:?} is shown as {shown:?}"
            );
            Some(meant)
        }
        Err(problem) => {
            assert!(problem.hint.is_some(), "{problem}");
            None
        }
    }
}

#[test]
fn bytes_of_a_terminal_are_keys_however_they_are_cut() {
    let seeds: [&[u8]; 4] = [
        "aé漢🦀".as_bytes(),
        b"\x1b[A\x1bOA\x1b[1;5C\x1b[<0;1;1M\x1b[Z",
        b"\x1b]11;rgb:0/0/0\x07\x1bP1$r0m\x1b\\q",
        b"\x80a\xe6\xbcb\xc0\xafc\r\n\x7f\x15\x17\x04",
    ];
    Target {
        name: "keys",
        corpus: corpus(&seeds),
        cases: 150,
        holds: &|input| {
            let whole = Decoder::default().feed(input);
            let mut decoder = Decoder::default();
            let keys: Vec<Key> = input
                .chunks(3)
                .flat_map(|part| decoder.feed(part))
                .collect();
            assert_eq!(keys, whole);
            assert!(whole.len() <= input.len(), "a key has a byte");
            for key in whole {
                if let Key::Letter(letter) = key {
                    assert!(!letter.is_control(), "{letter:?}");
                }
            }
            let waited = decoder.is_waiting();
            assert_eq!(decoder.idle().is_some(), waited);
            assert!(!decoder.is_waiting());
        },
    }
    .run();
}

#[test]
fn nothing_that_is_shown_steers_a_terminal() {
    let seeds: [&[u8]; 3] = [
        b"\x1b[31mred\x1b[0m \x1b]0;title\x07",
        "a\u{202e}b\u{200b}\u{9b}2J".as_bytes(),
        b"{\"a\": \"\\u001b\"}",
    ];
    Target {
        name: "shown",
        corpus: corpus(&seeds),
        cases: 150,
        holds: &|input| {
            let text = String::from_utf8_lossy(input);
            let line = sanitise(&text);
            check_shown(&line);
            assert!(!line.contains('\n'), "one line");
            // Colours stay in what is our own.
            check_shown(&console::strip_ansi_codes(&scrub(&text)));
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) {
                let escaped = escape_unprintable(&value.to_string());
                check_shown(&escaped);
                assert_eq!(serde_json::from_str(&escaped).ok(), Some(value));
            }
        },
    }
    .run();
}
