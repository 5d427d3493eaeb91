//! The rehearsal as a person reads it in a plan.

use chaos_gameday::model::rehearsal::{Freshness, Now, Past, Rehearsal};
use chaos_gameday::model::sample::{Reading, SloState};
use chaos_gameday::model::slo::Slo;
use chaos_gameday::plan::StoredPlan;
use chaos_gameday::policy::{self, Finding};
use chaos_gameday::view::{
    ColorChoice, Devices, Environment, Loudness, Printer, Setup, Size, plan as view,
};

use super::{gate, late, now, plan, quiet, read, span, value};
use crate::support::screen::captured;

fn named(name: &str, objective: &str, rehearsal: Rehearsal) -> (Slo, Rehearsal) {
    let slo = Slo {
        name: name.to_owned(),
        objective: objective.parse().expect("an objective"),
        reads: "prometheus sum(errors)".to_owned(),
        ..gate("30s")
    };
    let rehearsal = Rehearsal {
        slo: name.to_owned(),
        ..rehearsal
    };
    (slo, rehearsal)
}

/// One SLO of each kind.
fn every_kind() -> Vec<(Slo, Rehearsal)> {
    let mut spiky = vec![Some(0.002); 60];
    spiky[20..24].fill(Some(0.031));
    spiky[50] = Some(0.012);
    spiky[51] = None;
    let noisy = Past {
        trips: 2,
        tripped: span("17m30s"),
        breaching: span("20m"),
        blind: span("5m12s"),
        range: Some((0.0, 0.031)),
        history: spiky,
        ..quiet()
    };
    let still = Past {
        range: Some((0.0, 0.0)),
        ..quiet()
    };
    let never = Past {
        blind: span("6h"),
        range: None,
        history: vec![None; 60],
        ..quiet()
    };
    let blind = |why: &str| {
        let why = why.to_owned();
        read(Reading::NoData { why }, SloState::NoData)
    };
    vec![
        named(
            "error-rate",
            "< 1%",
            Rehearsal {
                past: Some(noisy),
                freshness: Some(late()),
                ..now(value(0.0042))
            },
        ),
        named(
            "checkout-latency-of-the-slowest-hundredth",
            "<= 800ms",
            Rehearsal {
                past: Some(Past {
                    range: Some((0.07, 0.412)),
                    ..quiet()
                }),
                freshness: Some(Freshness {
                    newest: Some(span("2m")),
                    ..late()
                }),
                ..now(read(Reading::Value(0.9), SloState::Breaching))
            },
        ),
        named(
            "dead-letters",
            "== 0",
            Rehearsal {
                past: Some(still),
                warnings: vec!["some of the storage did not answer".to_owned()],
                ..now(value(0.0))
            },
        ),
        named(
            "orders",
            "> 3",
            Rehearsal {
                past: Some(never),
                ..now(blind("the answer is an empty vector"))
            },
        ),
        named(
            "queue",
            "< 100",
            now(Now::Flawed {
                why: "the query answers with 2 series where one is needed; they differ in `pod`"
                    .to_owned(),
                way_out: "aggregate them".to_owned(),
            }),
        ),
        named(
            "traffic",
            "< 5%",
            now(Now::NotYet {
                why: "its requests are sent only while a run lasts".to_owned(),
            }),
        ),
    ]
}

fn show(printer: &Printer, stored: &StoredPlan, findings: &[Finding]) {
    let policy = policy::built_in();
    let sheet = view::Sheet {
        stored,
        policy: &policy,
        findings,
        standing: None,
    };
    view::show(printer, &sheet);
}

/// The section on SLOs of a plan with these, on a terminal of this kind.
async fn shown(slos: Vec<(Slo, Rehearsal)>, setup: Setup) -> String {
    let (printer, seen) = captured(setup);
    let stored = StoredPlan::lock(plan(slos).await).expect("a plan");
    show(&printer, &stored, &[]);
    let text = seen.stdout();
    let from = text.find("SLOs\n").expect("a heading");
    let to = text.find("\nPolicy").expect("another heading");
    text[from..to].to_owned()
}

fn terminal(width: u16) -> Setup {
    Setup {
        devices: Devices::TERMINAL,
        loudness: Loudness::Normal,
        size: Size::Fixed(width, 24),
        choice: ColorChoice::Never,
        ..Setup::PIPE
    }
}

#[tokio::test]
async fn the_table_fits_the_page() {
    for width in [60, 80, 200] {
        let shown = shown(every_kind(), terminal(width)).await;
        let widest = shown.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width.into()), "{width}: {shown}");
        insta::assert_snapshot!(format!("at_{width}_columns"), shown);
    }
}

#[tokio::test]
async fn a_terminal_without_unicode_gets_marks_that_it_has() {
    let ascii = Setup {
        environment: Environment {
            ascii_locale: true,
            ..Environment::default()
        },
        ..terminal(80)
    };
    let (printer, seen) = captured(ascii);
    let stored = StoredPlan::lock(plan(every_kind()).await).expect("a plan");
    let policy = policy::built_in();
    let facts = policy::Facts::about(&stored.plan, &policy);
    let findings = policy::evaluate(&facts);
    assert!(!findings.is_empty());
    show(&printer, &stored, &findings);
    let page = seen.stdout();
    assert!(page.is_ascii(), "{page}");
}

#[tokio::test]
async fn colour_says_nothing_that_words_do_not_say() {
    let coloured = Setup {
        choice: ColorChoice::Always,
        ..terminal(80)
    };
    let coloured = shown_stripped(coloured).await;
    assert_eq!(coloured, shown(every_kind(), terminal(80)).await);
}

async fn shown_stripped(setup: Setup) -> String {
    let (printer, seen) = captured(setup);
    let stored = StoredPlan::lock(plan(every_kind()).await).expect("a plan");
    show(&printer, &stored, &[]);
    let coloured = seen.stdout();
    let text = console::strip_ansi_codes(&coloured).into_owned();
    assert_ne!(coloured, text, "there is colour");
    let from = text.find("SLOs\n").expect("a heading");
    let to = text.find("\nPolicy").expect("another heading");
    text[from..to].to_owned()
}

#[tokio::test]
async fn a_plan_that_nobody_looked_for_says_nothing_of_it() {
    let unseen = |rehearsal: Rehearsal| named("errors", "< 1", rehearsal);
    let waits = now(Now::NotYet { why: String::new() });
    let waiting = shown(vec![unseen(waits)], terminal(80)).await;
    assert!(
        waiting.ends_with("none of them can be read before the run\n"),
        "{waiting}"
    );
    let (slo, _) = unseen(now(value(0.0)));
    let other = Rehearsal {
        slo: "another".to_owned(),
        ..now(value(0.0))
    };
    let silent = shown(vec![(slo, other)], terminal(80)).await;
    assert_eq!(silent.lines().count(), 3, "{silent}");
}

#[tokio::test]
async fn where_nobody_asked_for_the_past_only_now_is_told() {
    let shown = shown(vec![named("errors", "< 1", now(value(0.25)))], terminal(80)).await;
    let table = shown.split_once("\n\n").expect("a table").1;
    assert_eq!(
        table,
        "  as read when it was planned, at 2026-01-01 00:00:00 UTC:
  SLO     OBJECTIVE  VALUE
  errors  < 1        0.25 ok
"
    );
}

#[tokio::test]
async fn a_past_that_was_looked_at_less_often_than_a_run_looks_says_so() {
    let of = async |step: &str| {
        let past = Past {
            step: span(step),
            ..quiet()
        };
        let rehearsal = Rehearsal {
            past: Some(past),
            ..now(value(0.25))
        };
        shown(vec![named("errors", "< 1", rehearsal)], terminal(100)).await
    };
    assert!(of("7s").await.contains("  looked at every 7s only\n"));
    assert!(!of("1s").await.contains("looked at"));
}
