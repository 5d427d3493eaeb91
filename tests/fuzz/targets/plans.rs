//! Plans in their files: read back, compared and shown.

use chaos_gameday::plan::{Plan, StoredPlan, differences};
use chaos_gameday::policy::{Facts, built_in, evaluate};
use chaos_gameday::view::plan::{Sheet, explain, show};
use serde_json::Value;

use crate::corpus;
use crate::documents::{check_shown, printer};
use crate::harness::Target;
use crate::input::Corpus;

#[test]
fn a_plan_is_what_was_locked_or_void() {
    let seed = corpus::file("tests/fixtures/fuzz/plan/two-steps.json");
    let sound = String::from_utf8(seed.clone()).expect("a text");
    let sound = StoredPlan::from_text(&sound).expect("a plan");
    Target {
        name: "plan",
        corpus: Corpus {
            seeds: vec![seed],
            words: &[
                "\"digest\":",
                "\"plan\":",
                "sha256:",
                "366d",
                "< 1%",
                "p-",
                "2026-01-01T00:00:00Z",
            ],
            largest: 1 << 20,
            between: b"",
        },
        cases: 40,
        holds: &|input| {
            let Ok(text) = std::str::from_utf8(input) else {
                return;
            };
            let _either = StoredPlan::is_meant_by(text) | StoredPlan::is_yaml_of_one(text);
            match StoredPlan::from_text(text) {
                Ok(stored) => assert_eq!(stored.to_text().as_deref(), Ok(text)),
                Err(problem) => assert!(problem.hint.is_some(), "{problem}"),
            }
            // Somebody may lock what no planner would make.
            let value: Value = serde_json::from_str(text).unwrap_or_default();
            let Ok(plan) = serde_json::from_value::<Plan>(value["plan"].clone()) else {
                return;
            };
            let stored = StoredPlan::lock(plan).expect("JSON");
            let text = stored.to_text().expect("JSON");
            if let Ok(again) = StoredPlan::from_text(&text) {
                assert_eq!(again, stored);
            }
            look_at(&stored, &sound);
        },
    }
    .run();
}

fn look_at(stored: &StoredPlan, sound: &StoredPlan) {
    let policy = built_in();
    let findings = evaluate(&Facts::about(&stored.plan, &policy));
    let (printer, written) = printer();
    let sheet = Sheet {
        stored,
        policy: &policy,
        findings: &findings,
        standing: None,
    };
    show(&printer, &sheet);
    explain(&printer, stored, &findings, None);
    check_shown(&written.text());
    for difference in differences(&sound.plan, &stored.plan) {
        assert!(difference.sides().iter().any(|side| !side.is_empty()));
    }
    let _yaml = stored.to_yaml().expect("a text");
}
