//! Texts that nobody wrote by hand: large ones, broken ones, random ones.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use chaos_gameday::plan::{Variables, load_experiment};
use proptest::prelude::*;

use super::{SMALL, fixtures, messages, rendered, source};

/// Loads on a thread of its own, so that a loader that hangs fails the test instead of hanging it.
fn ends_quickly(text: String) {
    let (done, ended) = mpsc::channel();
    let start: String = text.chars().take(20).collect();
    thread::spawn(move || done.send(messages(&source(&text), &Variables::default())));
    let told = ended
        .recv_timeout(Duration::from_secs(20))
        .unwrap_or_else(|why| panic!("{start}: {why}"));
    assert!(!told.is_empty(), "{start} loads");
}

#[test]
fn a_large_file_of_anything_ends_quickly() {
    for part in [
        "[", "{", "- ", "? ", "a: ", "[a, ", "&a ", "!a ", "a: b\n", "\n", "#", "'", "\"", "x",
        "- - \n", "ü: ${", "|\n", "%",
    ] {
        ends_quickly(part.repeat((1 << 18) / part.len()));
    }
    let many_keys: String = (0..9_000)
        .map(|key| format!("k{key}: {{a: [b]}}\n"))
        .collect();
    ends_quickly(format!("{SMALL}{many_keys}"));
    let long = "x".repeat(500_000);
    ends_quickly(
        SMALL
            .replace("It holds.", &format!("&long \"{long}\""))
            .replace("sandbox", &format!("[{}]", "*long, ".repeat(4_000))),
    );
}

/// A good document with a few bytes of it changed, doubled or lost.
fn mutated() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "", " ", "\n", ":", ": ", "- ", "{", "}", "[", "]", "\"", "'", "&a ", "*a", "<<: ", "!x ",
        "${", "${A:-b}", "$${", "#", "|", ">", "\t", "ü", "\u{85}", "0", "-1", "null", "---\n",
        "%", "@", ",", "?", "\r\n", "\u{2028}",
    ]);
    let texts: Vec<String> = fixtures("good")
        .into_iter()
        .map(|(_, source)| source.text)
        .collect();
    let changes = prop::collection::vec((any::<prop::sample::Index>(), 0..6_usize, pieces), 1..6);
    (prop::sample::select(texts), changes).prop_map(|(text, changes)| {
        let mut letters: Vec<char> = text.chars().collect();
        for (place, lost, piece) in changes {
            let start = place.index(letters.len() + 1);
            let end = (start + lost).min(letters.len());
            letters.splice(start..end, piece.chars());
        }
        letters.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_mutated_document_loads_or_says_why_not(text in mutated()) {
        never_panics(&text);
    }

    #[test]
    fn any_text_loads_or_says_why_not(text in any::<String>()) {
        never_panics(&text);
    }

    #[test]
    fn any_text_of_yaml_signs_loads_or_says_why_not(text in "[-:?,{}&*!|>'\"%@`# \\[\\]\nabü<$]{0,80}") {
        never_panics(&text);
    }
}

fn never_panics(text: &str) {
    let source = source(text);
    if let Err(error) = load_experiment(&source, &Variables::default()) {
        assert!(!error.problems().is_empty(), "refused without a reason");
        let shown = rendered(&error);
        assert!(!shown.contains("Failed to read contents"), "{shown}");
        for problem in error.problems() {
            let place = problem.offset..problem.offset + problem.length;
            let body = text.strip_prefix('\u{feff}').unwrap_or(text);
            assert!(body.get(place).is_some(), "{problem:?} points outside");
        }
    }
}
