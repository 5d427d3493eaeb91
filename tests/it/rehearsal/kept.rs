//! The rehearsal in a stored plan: part of what is approved, and no part of what may drift.

use chaos_gameday::model::approval::{ApprovalMode, SealedApproval};
use chaos_gameday::model::rehearsal::{Now, Rehearsal};
use chaos_gameday::plan::{Plan, StoredPlan, differences};
use chaos_gameday::policy::{self, Admission, Refusal};

use super::{gate, late, now, plan, quiet, value};
use crate::support::engine::person_at_desk;

async fn with(rehearsal: Rehearsal) -> Plan {
    plan(vec![(gate("2s"), rehearsal)]).await
}

async fn whole() -> Plan {
    with(Rehearsal {
        past: Some(quiet()),
        freshness: Some(late()),
        warnings: vec!["the answer is partial".to_owned()],
        ..now(value(0.1))
    })
    .await
}

#[tokio::test]
async fn it_comes_back_as_it_was_and_counts_for_the_digest() {
    let stored = StoredPlan::lock(whole().await).expect("a plan");
    let text = stored.to_text().expect("a text");
    assert_eq!(StoredPlan::from_text(&text), Ok(stored.clone()));
    let mut prettier = stored.plan;
    prettier.rehearsals[0].now = value(0.0);
    let prettier = StoredPlan::lock(prettier).expect("a plan");
    assert_ne!(prettier.digest, stored.digest);
}

#[tokio::test]
async fn a_plan_of_a_version_that_had_none_still_counts() {
    let mut before = whole().await;
    before.rehearsals.clear();
    let stored = StoredPlan::lock(before).expect("a plan");
    let text = stored.to_text().expect("a text");
    assert!(!text.contains("rehearsals"), "{text}");
    assert_eq!(StoredPlan::from_text(&text), Ok(stored));
}

#[tokio::test]
async fn another_rehearsal_is_no_drift() {
    let (planned, mut found) = (whole().await, whole().await);
    found.rehearsals.clear();
    assert_eq!(differences(&planned, &found), []);
}

#[tokio::test]
async fn a_flaw_that_was_seen_is_refused_though_somebody_approved_it() {
    let flawed = Now::Flawed {
        why: "2 series".to_owned(),
        way_out: "aggregate them".to_owned(),
    };
    let mut plan = with(now(flawed)).await;
    plan.policy = policy::built_in().identity();
    let stored = StoredPlan::lock(plan).expect("a plan");
    let at = |text: &str| text.parse().expect("a time");
    let times = [at("2026-01-01T10:00:00Z"), at("2026-01-01T10:30:00Z")];
    let person = person_at_desk();
    let yes = policy::answer(&stored, &person, ApprovalMode::Typed, times);
    let policy = policy::built_in();
    let by = Admission {
        approvals: &[SealedApproval::seal(yes, None)],
        ..Admission::by(&policy, at("2026-01-01T10:10:00Z"), &person)
    };
    let Err(Refusal::Denied(findings)) = policy::admit(stored, by) else {
        panic!("it was admitted");
    };
    let rules: Vec<_> = findings.iter().map(|found| found.rule.as_str()).collect();
    assert_eq!(rules, ["rehearsal"]);
}
