//! Stored plans: locked by their digest, and compared with the world line by line.

use chaos_gameday::model::cluster::Cluster;
use chaos_gameday::model::ids::Digest;
use chaos_gameday::model::target::Target;
use chaos_gameday::model::units::Span;
use chaos_gameday::plan::{Source, StoredPlan, Variables, canonical, differences, load_experiment};
use chaos_gameday::policy;
use proptest::prelude::*;

use crate::support::engine::Scene;
use crate::support::examples;

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
    found.cluster = Some(cluster("cart"));
    let lines: Vec<String> = differences(&planned, &found)
        .iter()
        .map(|difference| format!("{}: {difference}", difference.topic.heading()))
        .collect();
    assert_eq!(
        lines[1..],
        [
            "the platform: step 1, session: planned `session-0`, now `session-9`",
            "the experiment: step 1, hold: planned `10s`, now `11s`",
        ]
    );
    assert!(lines[0].starts_with("the cluster: the cluster: planned nothing, now `{"));
}

fn cluster(team: &str) -> Cluster {
    Cluster {
        context: None,
        api_server: "https://10.0.0.1:6443".to_owned(),
        uid: "uid-1".to_owned(),
        version: "v1.30.0".to_owned(),
        namespace: "shop".to_owned(),
        namespace_uid: "uid-2".to_owned(),
        namespace_labels: [("ownerTeam".to_owned(), team.to_owned())].into(),
    }
}

#[test]
fn another_cluster_its_labels_the_policy_and_the_targets_are_told_in_words() {
    let mut planned = stored().plan;
    planned.cluster = Some(cluster("cart"));
    let mut found = planned.clone();
    let there = Cluster {
        api_server: "https://10.0.0.2:6443".to_owned(),
        uid: "uid-9".to_owned(),
        ..cluster("checkout")
    };
    found.cluster = Some(there);
    found.policy.name = "stricter".to_owned();
    found.steps[0].prepared.targets = vec![Target::EveryAwsCall];
    let told = differences(&planned, &found);
    let told: Vec<String> = told.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "API server: planned `https://10.0.0.1:6443`, now `https://10.0.0.2:6443`",
            "namespace labels, ownerTeam: planned `cart`, now `checkout`",
            "cluster uid: planned `uid-1`, now `uid-9`",
            "name: planned `built-in`, now `stricter`",
            "step 1, target: planned `slow stream`, now nothing",
            "step 1, target: planned nothing, now `every call to every service`",
        ]
    );
}

/// The document with its parts in another order, other white space, comments, and quotes. A text in
/// lines of its own moves as a whole: white space and remarks within it would be part of it.
fn rewritten(text: &str, turn: usize) -> String {
    let begins = |line: &str| line.starts_with(|c: char| c.is_ascii_alphabetic());
    let mut blocks: Vec<String> = Vec::new();
    let mut text_below: Option<usize> = None;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let indent = line.len() - line.trim_start().len();
        text_below = text_below.filter(|above| indent > *above);
        let is_text = text_below.is_some();
        if line.ends_with(['|', '>']) {
            text_below = Some(indent);
        }
        let line = match line.strip_prefix("environment: ") {
            Some(name) => format!("'environment':   \"{name}\"  # where"),
            None if indent > 0 => format!("   {line}"),
            None => line.to_owned(),
        };
        if begins(&line) || line.starts_with('\'') || blocks.is_empty() {
            blocks.push(String::new());
        }
        let block = blocks.last_mut().expect("one was pushed");
        let between = match is_text || text_below.is_some() {
            true => "",
            false => "\n# a remark\n",
        };
        block.push_str(&format!("{line}\n{between}"));
    }
    let turn = turn % blocks.len();
    blocks.rotate_left(turn);
    blocks.concat()
}

/// In every order of the parts of every example: there are few enough to try them all.
#[test]
fn order_white_space_quotes_and_comments_change_the_bytes_and_not_the_meaning() {
    let files = examples::files();
    assert!(files.iter().any(|file| file == "scraped-page.yaml"));
    for file in &files {
        let file = format!("{}/{file}", examples::FOLDER);
        let text = std::fs::read_to_string(&file).expect("an example");
        let load = |text: String| {
            let name = file.clone();
            let loaded = load_experiment(&Source { name, text }, &Variables::default());
            let loaded = loaded.unwrap_or_else(|why| panic!("{file}: {:?}", why.problems()));
            (loaded.experiment, loaded.used)
        };
        let (meaning, used) = load(text.clone());
        for turn in 0..12 {
            let other = rewritten(&text, turn);
            assert_ne!(
                Digest::of(text.as_bytes()),
                Digest::of(other.as_bytes()),
                "{file}"
            );
            assert_eq!(
                load(other),
                (meaning.clone(), used.clone()),
                "{file}, {turn}"
            );
        }
    }
}
