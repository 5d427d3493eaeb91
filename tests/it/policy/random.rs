//! Rules answer, whatever plan and policy they are given, and weigh no more than they say they do.

use std::sync::LazyLock;

use chaos_gameday::model::history::{History, PastRun};
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::units::Percent;
use chaos_gameday::policy::{Attendance, Moment, Policy, RULES};
use jiff::Timestamp;
use proptest::prelude::*;
use proptest::sample::select;

use super::case::{Case, cluster, dose, on_cluster, on_localstack, resolve, staging};

static DOSES: LazyLock<[chaos_gameday::model::history::Dose; 3]> =
    LazyLock::new(|| ["stream", "cart", "other"].map(|fault| dose(fault, "10%")));

/// A text with a mark of production in it now and then.
fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,8}", "(eu-)?prod-[0-9]?", "\\PC{0,6}"]
}

fn policies() -> impl Strategy<Value = Policy> {
    let lines = select(vec![
        "windows: [{days: [sun], from: \"02:15\", to: \"02:45\", timeZone: Europe/Berlin}]",
        "windows: [{days: [fri], from: \"22:00\", to: \"21:00\", timeZone: America/Sao_Paulo}]\nfreezes: [{from: 0001-01-01, to: 9999-12-31, timeZone: UTC}]",
        "freezes: [{from: 2026-12-20, to: 2026-12-31, timeZone: Pacific/Apia}]\nunattended: denied",
        "proof: {kubernetes: {clusterUids: [\"7c9e\"], namespaceLabels: {env: s*}}}",
        "blastRadius: {ladder: [10%, 25%, 50%], ceiling: 60%}\nsameDose: {atMost: 1}",
        "approval: {mode: none}\nlimits: {hold: 1s, latency: 1ms}",
    ]);
    (lines, word(), word()).prop_map(|(lines, word, named)| {
        let mut policy = staging(lines);
        policy.production.words.push(word);
        policy.production.named.extend(named.parse());
        policy
    })
}

fn histories() -> impl Strategy<Value = History> {
    let run = (
        select(&DOSES[..]),
        0.0..=1.0,
        any::<i32>(),
        select(&Outcome::ALL[..]),
    )
        .prop_map(|(dose, share, ended, outcome)| PastRun {
            run: "r-random".parse().expect("a run id"),
            environment: "staging".to_owned(),
            ended: Timestamp::from_second(ended.into()).expect("a time"),
            outcome,
            doses: vec![chaos_gameday::model::history::Dose {
                share: Percent::of_ratio(share),
                ..dose
            }],
        });
    proptest::collection::vec(run, 0..6).prop_map(|runs| History { runs })
}

fn moments() -> impl Strategy<Value = Moment> {
    let seconds = prop_oneof![
        Just(Timestamp::MIN.as_second()),
        Just(Timestamp::MAX.as_second()),
        any::<i32>().prop_map(i64::from),
    ];
    let running =
        seconds.prop_map(|second| Moment::Running(Timestamp::from_second(second).expect("a time")));
    prop_oneof![
        Just(Moment::Planning(super::case::at(super::case::MADE))),
        running
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(192) })]

    #[test]
    fn rules_answer_whatever_they_are_given(
        policy in policies(),
        history in histories(),
        moment in moments(),
        share in 0.0..=1.0_f64,
        cluster_dose in select(vec!["10%", "[10%, 25%, 50%]", "100%"]),
        in_cluster in any::<bool>(),
        attended in any::<bool>(),
        resolved in any::<bool>(),
    ) {
        let document = match in_cluster {
            true => on_cluster(cluster_dose),
            false => on_localstack(&[share, share / 2.0]),
        };
        let case = Case {
            history,
            moment,
            attendance: match attended {
                true => Attendance::Person,
                false => Attendance::Nobody,
            },
            ..Case::of(document, policy)
        };
        let case = match resolved {
            true => case.once(|plan| {
                resolve(plan);
                plan.cluster = Some(cluster());
            }),
            false => case,
        };
        for found in case.findings() {
            let rule = RULES.iter().find(|rule| rule.name == found.rule);
            let rule = rule.expect("a rule");
            prop_assert!(rule.severities.contains(&found.severity), "{found:?}");
            prop_assert!(!found.message.is_empty() && !found.message.ends_with('.'), "{found:?}");
            prop_assert!(!found.way_out.is_empty() && !found.place.is_empty(), "{found:?}");
        }
    }
}
