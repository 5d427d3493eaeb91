//! Wrong policies: one row for each thing that can be wrong, and texts that nobody wrote by hand.

use chaos_gameday::policy::RequiredPresence;
use proptest::prelude::*;

use super::{FULL, SMALL, load};

/// Where the lines of a row go.
enum Row {
    /// Keys of the document.
    Top(&'static str),
    /// Keys of the environment.
    Environment(&'static str),
    /// Instead of the proof.
    Proof(&'static str),
    /// Instead of the whole.
    Whole(&'static str),
}

use Row::{Environment, Proof, Top, Whole};

const PROOF: &str = "proof: {localstack: {hosts: [loopback]}}";

impl Row {
    fn text(&self) -> String {
        match self {
            Top(lines) => format!("{SMALL}{lines}\n"),
            Environment(lines) => format!("{SMALL}    {lines}\n"),
            Proof(lines) => SMALL.replace(PROOF, lines),
            Whole(text) => (*text).to_owned(),
        }
    }

    fn shown(&self) -> &'static str {
        match self {
            Top(lines) | Environment(lines) | Proof(lines) | Whole(lines) => lines,
        }
    }
}

const ROWS: &[Row] = &[
    Whole(""),
    Whole("kind: Experiment\napiVersion: chaos/v1"),
    Whole("apiVersion: chaos/v2\nkind: Polizy"),
    Whole("apiVersion: chaos/v1\nkind: Policy"),
    Whole("apiVersion: chaos/v1\nkind: Policy\nmetadata: {name: built-in}\nenvironments: {}"),
    Whole("apiVersion: chaos/v1\nkind: Policy\nmetadata: {name: Our Policy}\nenvironments: [a]"),
    Top("enviroments: {}"),
    Top("deniedHosts: \"${HOST}\""),
    Top("deniedHosts: [\"a.${secret:B}.c\"]"),
    Top("deniedHosts: *.example.com"),
    Top("deniedHosts: [\"https://db.example.com/x\", \"10.0.0.5:http\", 5, \"\"]"),
    Top("deniedHosts: db.example.com"),
    Top("protectedNamespaces: [*]"),
    Top("protectedNamespaces: [\"[a\"]"),
    Top("production: {words: [pre-prod, prod1, 5], pattern: [x]}"),
    Top("production: []"),
    Top("variables: [AWS_REGION]"),
    Top("variables: {}"),
    Top("variables: {fromEnvironment: AWS_REGION}"),
    Top("secrets: {token: {hosts: [a]}, TOKEN: {hosts: []}, OTHER: {}}"),
    Top("defaults: {proof: {}, approval: {modus: signed}}"),
    Top("defaults:"),
    Proof("limits: {hold: 1m}"),
    Proof("proof: {}"),
    Proof("proof:"),
    Proof("proof: {kubernetes: {}}"),
    Proof("proof: {kubernetes: {contexts: [], clusterUid: [x]}}"),
    Proof("proof: {kubernetes: {namespaceLabels: {}, contexts: [a]}}"),
    Proof("proof: {kubernetes: {namespaceLabels: {stage: true}}}"),
    Proof("proof: {localstack: {host: loopback}}"),
    Proof("proof: {localstack: {hosts: []}}"),
    Environment("traffic: {}"),
    Environment("approval: {mode: sign, count: 0, expiresAfter: 90d}"),
    Environment("approval: {mode: signed}"),
    Environment("approval: {mode: signed, signers: nowhere}"),
    Environment("approval: {mode: signed, signers: wrong/allowed_signers}"),
    Environment("approval: {mode: confirm, signers: readme/allowed_signers, requireTouch: true}"),
    Environment("approval: {requireTouch: true}"),
    Environment("approval: {mode: none, requireVerify: true, signers: allowed_signers}"),
    Environment(
        "approval: {mode: signed, signers: allowed_signers, requireVerify: true, requireTouch: false}",
    ),
    Environment("approval: {requester: denied, distinctFromRequester: true}"),
    Environment("approval: {requester: maybe, singleUse: yes}"),
    Environment("approval: {approvers: [alice, \"[\"]}"),
    Environment("limits: {hold: 2d, latency: 30, baseline: soon, trafficRate: lots}"),
    Environment("gates: {atLeast: 0}"),
    Environment("gates: {atLeast: 1.5}"),
    Environment("blastRadius: {ceiling: 0%, notOlderThan: 1m}"),
    Environment("blastRadius: {ceiling: 25%, ladder: [10%, 50%]}"),
    Environment("blastRadius: {ladder: [25%, 10%, 10%]}"),
    Environment("blastRadius: {ladder: 10%}"),
    Environment("sameDose: 3"),
    Environment("sameDose: {}"),
    Environment("windows: [{from: \"9:00\", to: \"24:00\", timeZone: Berlin}]"),
    Environment("windows: [{from: 0900, to: \"16:60\", timeZone: UTC}]"),
    Environment("windows: [{from: \"09:00\", to: \"09:00\", timeZone: UTC}]"),
    Environment(
        "windows: [{days: [monday, fri], from: \"09:00\", to: \"16:00\", timeZone: Europa/Berlin}]",
    ),
    Environment("windows: [{days: [], start: \"09:00\"}]"),
    Environment("freezes: [{from: 2027-01-06, to: 2026-12-20, timeZone: UTC}]"),
    Environment("freezes: [{from: 20261220, to: 2026-02-30, timeZone: UTC, reason: \"\"}]"),
    Environment("freezes: [{}]"),
    Environment("unattended: true"),
];

#[test]
fn every_error_is_told_at_its_place_with_the_next_move() {
    let mut all = String::new();
    for row in ROWS {
        let error = load(&row.text()).expect_err(row.shown());
        all.push_str(&format!("{}\n", row.shown()));
        for problem in error.problems() {
            all.push_str(&format!(
                "  {}:{} {}: {}\n    {}\n",
                problem.line,
                problem.column,
                problem.path,
                problem.message,
                problem.help.as_deref().unwrap_or("NO NEXT MOVE")
            ));
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_signed_environment_takes_its_keys_from_wherever_they_are_named() {
    let defaults = "defaults: {approval: {signers: allowed_signers, requireTouch: true}}";
    let signed = Row::Environment("approval: {mode: signed}").text();
    let policy = load(&format!("{signed}{defaults}\n")).expect("keys from the defaults");
    let rules = &policy.environments["staging"].approval;
    assert!(rules.signers.is_some());
    // Where a typed name would do, a signature counts all the same, whatever its key can tell.
    for mode in ["confirm", "none"] {
        let other = Row::Environment("approval: {mode: MODE}")
            .text()
            .replace("MODE", mode);
        let policy = load(&format!("{other}{defaults}\n")).expect("keys for those who sign");
        let rules = &policy.environments["staging"].approval;
        assert!(rules.signers.is_some(), "{mode}");
        assert_eq!(rules.presence, RequiredPresence::None, "{mode}");
    }
}

/// A good policy with a few letters of it changed, doubled or lost.
fn mutated() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "",
        " ",
        "\n",
        ":",
        "- ",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "&a ",
        "*a",
        "<<: ",
        "${",
        "#",
        "ü",
        "0",
        "-1",
        "null",
        "true",
        "%",
        "@",
        ",",
        "*",
        "[::1]",
        "99:99",
        "2026-99-99",
        "\u{85}",
    ]);
    let changes = prop::collection::vec((any::<prop::sample::Index>(), 0..8_usize, pieces), 1..6);
    changes.prop_map(|changes| {
        let mut letters: Vec<char> = FULL.chars().collect();
        for (place, lost, piece) in changes {
            let start = place.index(letters.len() + 1);
            let end = (start + lost).min(letters.len());
            letters.splice(start..end, piece.chars());
        }
        letters.into_iter().collect()
    })
}

fn never_panics(text: &str) {
    if let Err(error) = load(text) {
        assert!(!error.problems().is_empty(), "refused without a reason");
        for problem in error.problems() {
            let place = problem.offset..problem.offset + problem.length;
            let body = text.strip_prefix('\u{feff}').unwrap_or(text);
            assert!(body.get(place).is_some(), "{problem:?} points outside");
            assert!(problem.help.is_some(), "{problem:?} says nothing to do");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_mutated_policy_loads_or_says_why_not(text in mutated()) {
        never_panics(&text);
    }

    #[test]
    fn any_bytes_load_or_say_why_not(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        never_panics(&text);
        never_panics(&format!("{SMALL}{text}"));
    }
}
