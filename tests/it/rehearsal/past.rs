//! Values of the past, judged as a run judges its readings.

use chaos_gameday::model::judgement::{Judge, Trip};
use chaos_gameday::model::rehearsal::{MOST_PARTS, Past};
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::slo::Slo;
use chaos_gameday::model::units::Span;
use proptest::prelude::*;

use super::{gate, span};

/// `b` bad (2), `w` worse (5), `g` good (0), `n` none, `i` infinite; one value a second, the first at
/// the beginning.
fn values(script: &str) -> Vec<(u64, Option<f64>)> {
    let value = |letter| match letter {
        'b' => Some(2.0),
        'w' => Some(5.0),
        'g' => Some(0.0),
        'i' => Some(f64::INFINITY),
        _ => None,
    };
    let at_ms = |second: usize| second as u64 * 1_000;
    let letters = script.chars().enumerate();
    letters
        .map(|(second, letter)| (at_ms(second), value(letter)))
        .collect()
}

fn past(slo: &Slo, over: u64, script: &str) -> Past {
    Past::of(slo, Span::from_secs(over), span("1s"), values(script))
}

#[test]
fn trips_and_times_are_those_that_a_run_would_have_seen() {
    // Patience, script, trips, tripped, breaching, blind; the last value is of the very end.
    let rows: &[(&str, &str, u64, &str, &str, &str)] = &[
        ("0s", "ggggg", 0, "0s", "0s", "0s"),
        ("0s", "gbbgg", 1, "2s", "2s", "0s"),
        ("2s", "gbbgg", 0, "0s", "2s", "0s"),
        ("2s", "gbbbg", 1, "1s", "3s", "0s"),
        ("2s", "bbbbbgbbbbg", 2, "5s", "9s", "0s"),
        ("2s", "gbbbgbbgbgg", 1, "1s", "6s", "0s"),
        // A short gap neither ends nor restarts a breach, and is blind all the same.
        ("3s", "gbbnbbgg", 1, "2s", "4s", "1s"),
        // What is not finite is no value.
        ("0s", "giigg", 0, "0s", "0s", "2s"),
        ("0s", "nnnnn", 0, "0s", "0s", "4s"),
        // It trips with the last value, which stands for no time.
        ("0s", "ggggb", 1, "0s", "0s", "0s"),
        ("2s", "ggbbb", 1, "0s", "2s", "0s"),
    ];
    for (patience, script, trips, tripped, breaching, blind) in rows {
        let over = script.len() as u64 - 1;
        let past = past(&gate(patience), over, script);
        assert_eq!(
            (past.trips, past.tripped, past.breaching, past.blind),
            (*trips, span(tripped), span(breaching), span(blind)),
            "{patience} {script}"
        );
    }
}

#[test]
fn blindness_trips_by_its_own_patience_once_there_was_a_value() {
    // Patience for blindness, script, trips.
    let rows: &[(&str, &str, u64)] = &[
        ("2s", "ggggg", 0),
        ("2s", "gnngg", 0),
        ("2s", "gnnng", 1),
        ("2s", "gnnngnnnnn", 2),
        // Older than the data, and never any data.
        ("2s", "nnnnng", 0),
        ("2s", "nnnnn", 0),
        ("0s", "ninbn", 1),
        // Up to now.
        ("2s", "gggnnn", 1),
    ];
    for (patience, script, trips) in rows {
        let slo = Slo {
            blind_patience: span(patience),
            ..gate("30s")
        };
        let past = past(&slo, script.len() as u64 - 1, script);
        assert_eq!(past.blind_trips, *trips, "{patience} {script}");
    }
}

#[test]
fn a_past_is_kept_whole() {
    assert_eq!(
        past(&gate("2s"), 6, "gbwwnng"),
        Past {
            over: span("6s"),
            step: span("1s"),
            trips: 1,
            tripped: span("1s"),
            breaching: span("3s"),
            blind: span("2s"),
            blind_trips: 0,
            ambiguous: None,
            range: Some((0.0, 5.0)),
            history: vec![
                Some(0.0),
                Some(2.0),
                Some(5.0),
                Some(5.0),
                None,
                // The value of the very end belongs to the last part.
                Some(0.0)
            ],
        }
    );
}

#[test]
fn the_history_shows_the_worst_of_each_part_by_the_objective() {
    let script = "g".repeat(119) + "b" + &"n".repeat(120) + "w" + &"g".repeat(3_360);
    let high_is_bad = past(&gate("0s"), 3_600, &script);
    assert_eq!(high_is_bad.history.len(), 60);
    assert_eq!(
        high_is_bad.history[..6],
        [Some(0.0), Some(2.0), None, None, Some(5.0), Some(0.0)]
    );
    let low_is_bad = Slo {
        objective: "> 1".parse().expect("an objective"),
        ..gate("0s")
    };
    let low_is_bad = past(&low_is_bad, 3_600, &script);
    assert_eq!(
        low_is_bad.history[..6],
        [Some(0.0), Some(0.0), None, None, Some(0.0), Some(0.0)]
    );
}

#[test]
fn only_what_had_two_values_has_moved() {
    for (script, moved) in [
        ("ggggg", false),
        ("ggbgg", true),
        ("nngnn", false),
        ("nnnnn", false),
    ] {
        assert_eq!(past(&gate("0s"), 4, script).moved(), moved, "{script}");
    }
}

#[test]
fn no_past_at_all_and_a_past_of_one_step_are_pasts_too() {
    let none = past(&gate("0s"), 0, "b");
    assert_eq!(
        (none.trips, none.breaching, none.history),
        (1, Span::ZERO, vec![Some(2.0)])
    );
    let no_values = Past::of(&gate("0s"), span("5s"), span("1s"), []);
    assert_eq!((no_values.trips, no_values.range), (0, None));
    let no_step = Past::of(&gate("0s"), span("5s"), Span::ZERO, [(0, Some(2.0))]);
    assert_eq!((no_step.trips, no_step.breaching), (1, Span::ZERO));
}

#[test]
fn a_value_after_a_hole_in_the_list_stands_for_a_step_and_no_longer() {
    let values = [(0, Some(2.0)), (4_000, Some(2.0)), (90_000, Some(2.0))];
    let past = Past::of(&gate("0s"), span("10s"), span("1s"), values);
    assert_eq!((past.breaching, past.trips), (span("2s"), 1));
}

/// How often the judge of a run says that a breach trips.
fn trips_in_a_run(slo: &Slo, values: &[(u64, Option<f64>)]) -> u64 {
    let mut judge = Judge::default();
    let mut trips = 0;
    for (at_ms, value) in values {
        let reading = match value.filter(|value| value.is_finite()) {
            Some(value) => Reading::Value(value),
            None => Reading::NoData { why: String::new() },
        };
        trips += u64::from(judge.observe(slo, *at_ms, &reading).trip == Some(Trip::Breach));
    }
    trips
}

proptest! {
    #[test]
    fn times_add_up_whatever_the_past_was(
        script in "[bwgni]{1,200}",
        step_ms in 1..5_000_u64,
        cut_ms in 0..5_000_u64,
        patience_s in 0..20_u64,
        blind_s in 0..20_u64,
    ) {
        let slo = Slo {
            blind_patience: Span::from_secs(blind_s),
            ..gate(&Span::from_secs(patience_s).to_string())
        };
        let values: Vec<_> = values(&script)
            .into_iter()
            .map(|(at_ms, value)| (at_ms / 1_000 * step_ms, value))
            .collect();
        let over_ms = (values.len() as u64 * step_ms).saturating_sub(cut_ms);
        let (over, step) = (Span::from_millis(over_ms), Span::from_millis(step_ms));
        let past = Past::of(&slo, over, step, values.clone());
        let milliseconds = |span: Span| span.as_millis();
        prop_assert!(milliseconds(past.breaching) + milliseconds(past.blind) <= over_ms);
        prop_assert!(past.tripped <= past.breaching);
        prop_assert_eq!(milliseconds(past.seen()), over_ms - milliseconds(past.blind));
        prop_assert_eq!(past.trips, trips_in_a_run(&slo, &values));
        // Before each trip it was breaching for as long as its patience, blind gaps included.
        let known = milliseconds(past.breaching) + milliseconds(past.blind);
        let cut = step_ms * (values.len() as u64) - over_ms;
        prop_assert!(known + cut >= past.trips * milliseconds(slo.patience));
        prop_assert!((1..=MOST_PARTS as usize).contains(&past.history.len()));
        let finite = values.iter().filter_map(|(_, value)| value.filter(|value| value.is_finite()));
        let (lowest, highest) = finite.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        prop_assert_eq!(past.range, (lowest <= highest).then_some((lowest, highest)));
        // The worst value of all is the worst of its part.
        let worst = past.history.iter().flatten().copied().fold(None, |so_far: Option<f64>, value| {
            Some(so_far.map_or(value, |so_far| so_far.max(value)))
        });
        prop_assert_eq!(worst, past.range.map(|(_, highest)| highest));
    }
}
