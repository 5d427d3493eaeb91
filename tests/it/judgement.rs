//! Judging one SLO: a table of every combination that a person may ask about, and an oracle that is
//! written another way and must agree on any series.

use chaos_gameday::model::judgement::{Judge, Moment, Trip};
use chaos_gameday::model::sample::{Reading, SloState};
use chaos_gameday::model::slo::{Reaction, Slo};
use chaos_gameday::model::units::Span;
use proptest::prelude::*;

fn slo(every_ms: u64, patience_ms: u64, blind_ms: u64) -> Slo {
    Slo {
        name: "errors".to_owned(),
        reads: "script".to_owned(),
        objective: "< 1".parse().expect("a valid objective"),
        patience: Span::from_millis(patience_ms),
        blind_patience: Span::from_millis(blind_ms),
        on_breach: Reaction::Rollback,
        on_no_data: Reaction::Rollback,
        every: Span::from_millis(every_ms),
    }
}

/// `g` good, `b` bad, `=` exactly at the threshold, `n` no data, `d` source down, `x` no number.
fn reading(letter: char) -> Reading {
    match letter {
        'g' => Reading::Value(0.0),
        'b' => Reading::Value(2.0),
        '=' => Reading::Value(1.0),
        'n' => Reading::NoData { why: String::new() },
        'd' => Reading::SourceDown { why: String::new() },
        _ => Reading::Value(f64::NAN),
    }
}

/// The trips of a series that is answered at once, by the index of the reading.
fn trips(slo: &Slo, script: &str) -> Vec<(usize, Trip)> {
    let mut judge = Judge::default();
    let every = slo.every.as_millis();
    let judged = script.chars().enumerate().map(|(index, letter)| {
        let verdict = judge.observe(slo, index as u64 * every, &reading(letter));
        (index, verdict.trip)
    });
    judged
        .filter_map(|(index, trip)| Some((index, trip?)))
        .collect()
}

#[test]
fn every_case_of_patience_is_judged_as_the_table_says() {
    use Trip::{Blind, Breach};
    // every, for, noDataFor in milliseconds; one letter a reading.
    type Row<'a> = (&'a str, [u64; 3], &'a str, &'a [(usize, Trip)]);
    let table: &[Row<'_>] = &[
        ("no patience", [1000, 0, 9000], "gbbb", &[(1, Breach)]),
        (
            "patience in whole ticks",
            [1000, 3000, 9000],
            "gbbbbb",
            &[(4, Breach)],
        ),
        (
            "patience between two ticks",
            [1000, 2500, 9000],
            "gbbbb",
            &[(4, Breach)],
        ),
        (
            "patience shorter than a tick",
            [1000, 400, 9000],
            "gbbb",
            &[(2, Breach)],
        ),
        (
            "a good reading starts over",
            [1000, 3000, 9000],
            "bbbgbbbb",
            &[(7, Breach)],
        ),
        ("flapping never lasts", [1000, 1000, 9000], "bgbgbgbg", &[]),
        (
            "flapping with no patience",
            [1000, 0, 9000],
            "bgbg",
            &[(0, Breach), (2, Breach)],
        ),
        (
            "at the threshold is bad for <",
            [1000, 1000, 9000],
            "g==",
            &[(2, Breach)],
        ),
        (
            "a short gap is bridged",
            [1000, 4000, 3000],
            "bbnnb",
            &[(4, Breach)],
        ),
        (
            "patience lost in a gap trips with the next bad value",
            [1000, 3000, 9000],
            "bbnnnb",
            &[(5, Breach)],
        ),
        (
            "a short gap and a good value",
            [1000, 3000, 9000],
            "bbnngbbb",
            &[],
        ),
        (
            "every other reading is blind",
            [1000, 4000, 1000],
            "bnbnbnb",
            &[(4, Breach)],
        ),
        (
            "a gap that lost its patience restarts the breach",
            [1000, 4000, 2000],
            "bbnnnbbbbb",
            &[(4, Blind), (9, Breach)],
        ),
        (
            "a restarted breach trips again",
            [1000, 1000, 1000],
            "bbnnbb",
            &[(1, Breach), (3, Blind), (5, Breach)],
        ),
        (
            "no data and source down are one blindness",
            [1000, 0, 3000],
            "gndnd",
            &[(4, Blind)],
        ),
        (
            "any value ends blindness",
            [1000, 9000, 2000],
            "nnbnngnn",
            &[],
        ),
        (
            "no patience for blindness",
            [1000, 0, 0],
            "gng",
            &[(1, Blind)],
        ),
        (
            "each blindness trips once",
            [1000, 0, 1000],
            "nnnngnn",
            &[(1, Blind), (6, Blind)],
        ),
        (
            "no number is no data",
            [1000, 0, 1000],
            "gxx",
            &[(2, Blind)],
        ),
        (
            "blind patience between two ticks",
            [1000, 0, 1500],
            "nnn",
            &[(2, Blind)],
        ),
        (
            "long ticks",
            [60_000, 30_000, 30_000],
            "gbbgnn",
            &[(2, Breach), (5, Blind)],
        ),
    ];
    for (case, [every, patience, blind], script, expected) in table {
        let seen = trips(&slo(*every, *patience, *blind), script);
        assert_eq!(&seen, expected, "{case}: {script}");
    }
}

#[test]
fn a_late_answer_is_about_the_tick_that_it_was_due_at() {
    // Bad at 0 s and at 1 s; the second answer took 9 s. Nobody saw it bad for longer than a second.
    let slo = slo(1_000, 2_000, 60_000);
    let mut judge = Judge::default();
    let mut judged = |about_ms, known_ms| {
        let moment = Moment { about_ms, known_ms };
        judge.judge(&slo, moment, &reading('b'))
    };
    let streaks = [(0, 5), (1_000, 10_000), (11_000, 11_003)]
        .map(|(about_ms, known_ms)| judged(about_ms, known_ms))
        .map(|verdict| (verdict.began_ms, verdict.streak_ms, verdict.trip));
    assert_eq!(
        streaks,
        [
            (Some(0), 0, None),
            (Some(0), 1_000, None),
            (Some(0), 11_000, Some(Trip::Breach))
        ]
    );
}

#[test]
fn jitter_of_the_answers_moves_no_trip() {
    // Answers take between 0 and 90 ms: by arrival the third second would look like 2.91 s.
    let slo = slo(1_000, 3_000, 60_000);
    let mut judge = Judge::default();
    let tripped = [90, 3, 50, 0, 7].iter().zip(0..).position(|(took, tick)| {
        let moment = Moment {
            about_ms: tick * 1_000,
            known_ms: tick * 1_000 + took,
        };
        judge.judge(&slo, moment, &reading('b')).trip.is_some()
    });
    assert_eq!(tripped, Some(3));
}

#[test]
fn a_hang_joins_the_blindness_before_it_and_is_told_once() {
    // No data at 10 s and 11 s; the reading of 12 s hangs; 3 s of patience end at 13 s.
    let slo = slo(1_000, 0, 3_000);
    let mut judge = Judge::default();
    let at = |about_ms, known_ms| Moment { about_ms, known_ms };
    judge.observe(&slo, 10_000, &reading('n'));
    judge.observe(&slo, 11_000, &reading('n'));
    let waited = [12_999, 13_000, 14_000]
        .map(|now| judge.wait(&slo, at(12_000, now)))
        .map(|verdict| verdict.map(|it| (it.state, it.streak_ms, it.trip)));
    let told = (SloState::SourceDown, 3_000, Some(Trip::Blind));
    assert_eq!(waited, [None, Some(told), None]);
    let came = judge.judge(&slo, at(12_000, 15_000), &reading('d'));
    assert_eq!((came.streak_ms, came.trip), (5_000, None));
}

#[test]
fn a_hang_that_ends_in_a_value_in_time_was_no_blindness() {
    let slo = slo(1_000, 2_000, 5_000);
    let mut judge = Judge::default();
    judge.observe(&slo, 0, &reading('b'));
    for now in [2_000, 3_000, 4_000] {
        let moment = Moment {
            about_ms: 1_000,
            known_ms: now,
        };
        assert_eq!(judge.wait(&slo, moment), None);
    }
    let verdict = judge.observe(&slo, 5_000, &reading('b'));
    assert_eq!(
        (verdict.began_ms, verdict.trip),
        (Some(0), Some(Trip::Breach))
    );
}

/// One reading of the oracle: when it was due, when it came in, what it said.
#[derive(Debug, Clone, Copy)]
struct Seen {
    due_ms: u64,
    came_ms: u64,
    letter: char,
}

/// The same judgement with no memory: every question is answered by looking back over all readings.
fn oracle(slo: &Slo, seen: &[Seen]) -> Vec<Option<Trip>> {
    let is_blind = |at: usize| matches!(seen[at].letter, 'n' | 'd' | 'x');
    let is_bad = |at: usize| matches!(seen[at].letter, 'b' | '=');
    let gap_start = |at: usize| (0..=at).rev().take_while(|i| is_blind(*i)).last();
    let blind_lost = |at: usize| {
        gap_start(at).is_some_and(|from| {
            seen[at].came_ms - seen[from].due_ms >= slo.blind_patience.as_millis()
        })
    };
    let breach_start = |at: usize| {
        let back = (0..=at).rev();
        back.take_while(|i| is_bad(*i) || (is_blind(*i) && !blind_lost(*i)))
            .filter(|i| is_bad(*i))
            .last()
    };
    let bad_lost = |at: usize| {
        is_bad(at)
            && breach_start(at)
                .is_some_and(|from| seen[at].due_ms - seen[from].due_ms >= slo.patience.as_millis())
    };
    let first = |at: usize, from: Option<usize>, lost: &dyn Fn(usize) -> bool| {
        lost(at) && !(from.unwrap_or(at)..at).any(lost)
    };
    (0..seen.len())
        .map(|at| match seen[at].letter {
            'g' => None,
            _ if is_blind(at) => first(at, gap_start(at), &blind_lost).then_some(Trip::Blind),
            _ => first(at, breach_start(at), &bad_lost).then_some(Trip::Breach),
        })
        .collect()
}

fn series() -> impl Strategy<Value = Vec<Seen>> {
    let letters = prop::sample::select(vec!['g', 'b', 'b', 'b', '=', 'n', 'n', 'd', 'x']);
    // Most answers come at once, some are late, some take many ticks.
    let took = prop_oneof![4 => Just(0_u64), 2 => 1..900_u64, 1 => 900..6_000_u64];
    prop::collection::vec((letters, took), 0..60).prop_map(|drawn| {
        let mut due_ms = 0;
        let mut seen = Vec::new();
        for (letter, took) in drawn {
            let came_ms = due_ms + took;
            seen.push(Seen {
                due_ms,
                came_ms,
                letter,
            });
            due_ms += 1_000 * (took.saturating_sub(1) / 1_000 + 1);
        }
        seen
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn the_judge_agrees_with_the_oracle_on_any_series(
        seen in series(),
        patience_ms in prop::sample::select(vec![0, 400, 1_000, 2_500, 4_000, 9_000]),
        blind_ms in prop::sample::select(vec![0, 400, 1_000, 2_500, 4_000, 9_000]),
    ) {
        let slo = slo(1_000, patience_ms, blind_ms);
        let mut judge = Judge::default();
        let judged: Vec<_> = seen
            .iter()
            .map(|it| {
                let moment = Moment { about_ms: it.due_ms, known_ms: it.came_ms };
                judge.judge(&slo, moment, &reading(it.letter)).trip
            })
            .collect();
        prop_assert_eq!(judged, oracle(&slo, &seen));
    }
}
