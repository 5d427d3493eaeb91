//! What the policy says about a rehearsal: one row a case.

use chaos_gameday::metrics::Metric;
use chaos_gameday::model::rehearsal::{Freshness, Now, Past, Rehearsal, Starved};
use chaos_gameday::model::sample::{Reading, SloState};
use chaos_gameday::model::slo::{Reaction, Slo};
use chaos_gameday::plan::Plan;
use chaos_gameday::policy::{self, Facts};

use super::{gate, late, now, plan, quiet, read, span, value};

/// `severity place: message` of every finding of the rule.
fn findings(plan: &Plan) -> Vec<String> {
    let policy = policy::built_in();
    let facts = Facts::about(plan, &policy);
    policy::evaluate(&facts)
        .into_iter()
        .filter(|found| found.rule == "rehearsal")
        .map(|found| {
            format!(
                "{} {}: {}",
                found.severity.word(),
                found.place,
                found.message
            )
        })
        .collect()
}

async fn of(slo: Slo, rehearsal: Rehearsal) -> Vec<String> {
    findings(&plan(vec![(slo, rehearsal)]).await)
}

fn recorded() -> Slo {
    Slo {
        on_breach: Reaction::Record,
        on_no_data: Reaction::Record,
        ..gate("2s")
    }
}

fn no_data() -> Now {
    let why = "the answer is empty".to_owned();
    read(Reading::NoData { why }, SloState::NoData)
}

fn flawed() -> Now {
    Now::Flawed {
        why: "the query answers with 2 series".to_owned(),
        way_out: "aggregate them".to_owned(),
    }
}

#[tokio::test]
async fn what_is_read_now() {
    let why = "connection refused".to_owned();
    let down = read(Reading::SourceDown { why }, SloState::SourceDown);
    let breaching = read(Reading::Value(2.0), SloState::Breaching);
    let not_yet = Now::NotYet { why: String::new() };
    // Its breaches are only recorded; blindness, which is all that it will ever have, ends the run.
    let recorded_unless_blind = Slo {
        on_no_data: Reaction::Rollback,
        ..recorded()
    };
    let rows: [(Slo, Now, &[&str]); 10] = [
        (
            recorded_unless_blind,
            flawed(),
            &["deny slos[0].query: `errors` can never be judged: the query answers with 2 series"],
        ),
        (gate("2s"), value(0.5), &[]),
        (gate("2s"), not_yet, &[]),
        (
            gate("2s"),
            flawed(),
            &["deny slos[0].query: `errors` can never be judged: the query answers with 2 series"],
        ),
        (
            recorded(),
            flawed(),
            &["warn slos[0].query: `errors` can never be judged: the query answers with 2 series"],
        ),
        (
            gate("2s"),
            no_data(),
            &["warn slos[0].query: `errors` has no data now (the answer is empty)"],
        ),
        (
            recorded(),
            no_data(),
            &["warn slos[0].query: `errors` has no data now (the answer is empty)"],
        ),
        (
            gate("2s"),
            down,
            &["warn slos[0].query: the source of `errors` is down now: connection refused"],
        ),
        (
            gate("2s"),
            breaching.clone(),
            &[
                "warn slos[0].objective: `errors` is breaching now: 2 against < 1, so the baseline will not hold",
            ],
        ),
        (recorded(), breaching, &[]),
    ];
    for (slo, read_now, expected) in rows {
        let case = format!("{:?} {read_now:?}", slo.on_breach);
        assert_eq!(of(slo, now(read_now)).await, expected, "{case}");
    }
}

#[tokio::test]
async fn one_server_that_is_down_is_told_once() {
    let down = |name: &str, why: &str| {
        let why = why.to_owned();
        let slo = Slo {
            name: name.to_owned(),
            ..gate("2s")
        };
        let rehearsal = Rehearsal {
            slo: name.to_owned(),
            ..now(read(Reading::SourceDown { why }, SloState::SourceDown))
        };
        (slo, rehearsal)
    };
    let slos = vec![
        down("a", "connection refused"),
        down("b", "no answer"),
        down("c", "connection refused"),
    ];
    assert_eq!(
        findings(&plan(slos).await),
        [
            "warn slos[0].query: the source of `a` and `c` is down now: connection refused",
            "warn slos[1].query: the source of `b` is down now: no answer",
        ]
    );
}

#[tokio::test]
async fn one_reason_is_one_denial_however_many_slos_it_is_that_of() {
    let refused = |name: &str, slo: Slo| {
        let slo = Slo {
            name: name.to_owned(),
            ..slo
        };
        let rehearsal = Rehearsal {
            slo: name.to_owned(),
            ..now(flawed())
        };
        (slo, rehearsal)
    };
    let gates = ["a", "b", "c", "d", "e"].map(|name| refused(name, gate("2s")));
    let recorded = refused("f", recorded());
    let slos = gates.into_iter().chain([recorded]).collect();
    assert_eq!(
        findings(&plan(slos).await),
        [
            "deny slos[0].query: `a`, `b`, `c` and 2 more can never be judged: the query answers with 2 series",
            "warn slos[5].query: `f` can never be judged: the query answers with 2 series",
        ]
    );
}

#[tokio::test]
async fn what_it_would_have_done() {
    let tripping = Past {
        trips: 3,
        tripped: span("4m12s"),
        breaching: span("5m"),
        ..quiet()
    };
    let once = Past {
        trips: 1,
        tripped: span("1s"),
        ..tripping.clone()
    };
    let still = Past {
        range: Some((0.25, 0.25)),
        ..quiet()
    };
    let young = Past {
        blind: span("5h50m"),
        ..still.clone()
    };
    let never = Past {
        blind: span("6h"),
        range: None,
        ..quiet()
    };
    let gaps = Past {
        blind: span("40m"),
        blind_trips: 2,
        ..quiet()
    };
    let doubled = Past {
        ambiguous: Some("2 series that differ in `pod`".to_owned()),
        ..gaps.clone()
    };
    let rows: [(Slo, Now, Past, &[&str]); 12] = [
        (
            gate("2s"),
            value(0.5),
            gaps.clone(),
            &[
                "warn slos[0].query: `errors` had no data for 30s or longer twice in the last 6h with no fault in, which would have ended a run",
            ],
        ),
        (recorded(), value(0.5), gaps.clone(), &[]),
        // One cause, one finding.
        (
            gate("2s"),
            no_data(),
            gaps,
            &["warn slos[0].query: `errors` has no data now (the answer is empty)"],
        ),
        (
            gate("2s"),
            value(0.5),
            doubled,
            &[
                "warn slos[0].query: `errors` was not one number all the time in the last 6h, but at times 2 series that differ in `pod`: a run is blind then",
            ],
        ),
        (gate("2s"), value(0.5), quiet(), &[]),
        (
            gate("2s"),
            value(0.5),
            tripping.clone(),
            &[
                "warn slos[0].for: `errors` would have tripped 3 times (4m12s) in the last 6h with no fault in",
            ],
        ),
        (
            gate("2s"),
            value(0.5),
            once,
            &[
                "warn slos[0].for: `errors` would have tripped once (1s) in the last 6h with no fault in",
            ],
        ),
        (recorded(), value(0.5), tripping, &[]),
        (
            gate("2s"),
            value(0.25),
            still.clone(),
            &[
                "warn slos[0].query: `errors` has not moved in 6h, always 0.25: an experiment against it cannot fail unless the fault moves it",
            ],
        ),
        (
            recorded(),
            value(0.25),
            still,
            &[
                "warn slos[0].query: `errors` has not moved in 6h, always 0.25: it has nothing to record",
            ],
        ),
        (
            gate("2s"),
            value(0.25),
            young,
            &[
                "warn slos[0].query: `errors` has not moved in the 10m of the last 6h in which it had a value, always 0.25: an experiment against it cannot fail unless the fault moves it",
            ],
        ),
        (
            gate("2s"),
            no_data(),
            never,
            &[
                "warn slos[0].query: `errors` has no data now (the answer is empty), nor had it any in the last 6h",
            ],
        ),
    ];
    for (slo, read_now, past, expected) in rows {
        let rehearsal = Rehearsal {
            past: Some(past.clone()),
            ..now(read_now)
        };
        assert_eq!(of(slo, rehearsal).await, expected, "{past:?}");
    }
}

#[tokio::test]
async fn how_late_it_is() {
    let fresh = |interval: &str, window: &str| Freshness {
        newest: None,
        interval: Some(span(interval)),
        window: Some(span(window)),
        starved: None,
    };
    let unknown = Freshness {
        newest: None,
        interval: None,
        window: Some(span("30s")),
        starved: None,
    };
    // The step holds for 10 s.
    let starved = Freshness {
        interval: Some(span("4s")),
        starved: Some(Starved {
            window: span("3s"),
            interval: span("4s"),
        }),
        ..fresh("1s", "3s")
    };
    let rows: [(Slo, Freshness, &[&str]); 9] = [
        (
            gate("0s"),
            starved,
            &[
                "deny slos[0].query: `errors` looks back 3s, and a new sample comes every 4s: it never sees the two that a rate needs",
            ],
        ),
        (gate("2s"), fresh("1s", "5s"), &[]),
        (gate("2s"), unknown, &[]),
        (
            gate("15s"),
            late(),
            &[
                "warn slos[0].query: a breach of `errors` can be seen up to 45s late, the hold is 10s",
            ],
        ),
        (recorded(), late(), &[]),
        (
            gate("4s"),
            fresh("1s", "5s"),
            &[
                "warn slos[0].for: a breach of `errors` can be seen up to 6s late and has a patience of 4s, no step holds longer than 10s: it may end none in time",
            ],
        ),
        // A patience as long as the hold is told by another rule.
        (gate("10s"), fresh("1s", "5s"), &[]),
        (
            gate("2s"),
            fresh("5s", "0s"),
            &[
                "warn slos[0].for: `errors` gets a new sample every 5s, and its patience is 2s: a single bad one trips it",
            ],
        ),
        (gate("0s"), fresh("5s", "0s"), &[]),
    ];
    for (slo, freshness, expected) in rows {
        let case = format!("{} {freshness:?}", slo.patience);
        let rehearsal = Rehearsal {
            freshness: Some(freshness),
            ..now(value(0.5))
        };
        assert_eq!(of(slo, rehearsal).await, expected, "{case}");
    }
}

#[tokio::test]
async fn what_runs_of_ours_broke_is_not_put_down_to_the_slo() {
    let tripping = Past {
        trips: 3,
        tripped: span("25s"),
        ..quiet()
    };
    let rehearsal = Rehearsal {
        past: Some(tripping),
        ..now(value(0.5))
    };
    let mut plan = plan(vec![(gate("2s"), rehearsal)]).await;
    let ids = ["r-20261130-165251-886cx", "r-20261130-160000-000aa"];
    plan.runs_in_past = ids.map(|id| id.parse().expect("an id")).to_vec();
    let policy = policy::built_in();
    let facts = Facts::about(&plan, &policy);
    let found = policy::evaluate(&facts).into_iter();
    let found: Vec<_> = found.filter(|one| one.rule == "rehearsal").collect();
    let told: Vec<_> = found.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "`errors` would have tripped 3 times (25s) in the last 6h, in which run r-20261130-165251-886cx and one more had faults in"
        ]
    );
}

#[tokio::test]
async fn the_way_to_data_fits_what_is_read() {
    let way_out = async |metric: Metric| {
        let mut plan = plan(vec![(gate("2s"), now(no_data()))]).await;
        plan.experiment.slos[0].metric = metric;
        let policy = policy::built_in();
        let facts = Facts::about(&plan, &policy);
        let found = policy::evaluate(&facts).into_iter();
        let mut found = found.filter(|found| found.rule == "rehearsal");
        found.next().expect("a finding").way_out
    };
    let query = |text: &str| Metric::Prometheus(text.to_owned());
    assert!(
        way_out(query("sum(errors)"))
            .await
            .contains("`or vector(0)`")
    );
    for metric in [
        query("sum(errors) or vector(0)"),
        Metric::Simulated("errors".to_owned()),
    ] {
        assert!(!way_out(metric).await.contains("`or vector(0)`"));
    }
}
