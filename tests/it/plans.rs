//! Stored plans: locked by their digest, and compared with the world line by line.

use chaos_gameday::model::units::Span;
use chaos_gameday::plan::{StoredPlan, canonical, differences};
use chaos_gameday::policy;
use proptest::prelude::*;

use crate::support::engine::Scene;

fn stored() -> StoredPlan {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let plan = runtime.block_on(Scene::healthy().plan(policy::built_in().identity()));
    StoredPlan::lock(plan).expect("a plan")
}

#[test]
fn a_plan_comes_back_from_its_file_as_it_was() {
    let stored = stored();
    let text = stored.to_text().expect("a text");
    assert_eq!(StoredPlan::from_text(&text), Ok(stored));
}

#[test]
fn the_same_plan_has_the_same_digest_and_another_time_another_one() {
    let one = stored();
    assert_eq!(one.digest, stored().digest);
    let mut later = one.plan.clone();
    later.created = "2026-01-01T00:00:01Z".parse().expect("a time");
    assert_ne!(StoredPlan::lock(later).expect("a plan").digest, one.digest);
}

#[test]
fn the_canonical_form_has_sorted_keys_and_no_white_space_between_them() {
    let text = canonical(&stored().plan).expect("a text");
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let keys: Vec<&String> = value.as_object().expect("an object").keys().collect();
    assert!(keys.is_sorted(), "{keys:?}");
    assert!(!text.contains("\": "), "{text}");
}

proptest! {
    #[test]
    fn one_flipped_bit_anywhere_in_a_stored_plan_voids_it(place in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let text = stored().to_text().expect("a text");
        let mut bytes = text.clone().into_bytes();
        let place = place.index(bytes.len());
        bytes[place] ^= 1 << bit;
        let read = String::from_utf8(bytes).map(|text| StoredPlan::from_text(&text));
        prop_assert!(!matches!(read, Ok(Ok(_))), "byte {place}, bit {bit}");
    }
}

#[test]
fn a_newer_plan_is_refused_with_a_hint() {
    let text = stored()
        .to_text()
        .expect("a text")
        .replace("\"format\": 1", "\"format\": 2");
    let problem = StoredPlan::from_text(&text).expect_err("a newer format");
    assert!(problem.message.contains("format 2"), "{problem}");
    assert!(problem.hint.is_some_and(|hint| hint.contains("update")));
}

#[test]
fn drift_is_told_line_by_line_and_what_does_not_matter_is_not_drift() {
    let planned = stored().plan;
    let mut found = planned.clone();
    found.created = "2026-02-02T00:00:00Z".parse().expect("a time");
    assert_eq!(differences(&planned, &found), []);
    found.steps[0].prepared.world.session = Some("session-9".to_owned());
    found.experiment.steps[0].hold = Span::from_secs(11);
    let lines: Vec<String> = differences(&planned, &found)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        lines,
        [
            "experiment.steps[0].hold: planned `10s`, now `11s`",
            "steps[0].world.session: planned `session-0`, now `session-9`",
        ]
    );
}
