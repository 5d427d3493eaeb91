use serde_json::json;

use super::*;

fn target(name: &str) -> TargetPod {
    TargetPod {
        namespace: "shop".to_owned(),
        name: name.to_owned(),
        uid: format!("uid-{name}"),
        node: "n1".to_owned(),
        containers: Vec::new(),
        workload: None,
    }
}

fn undo(names: &[&str]) -> ChaosMeshUndo {
    let key = |name: &&str| RecordKey {
        selector_key: ".".to_owned(),
        id: format!("shop/{name}"),
    };
    ChaosMeshUndo {
        context: None,
        server: "https://h".to_owned(),
        cluster_uid: "u".to_owned(),
        kind: "NetworkChaos".to_owned(),
        plural: "networkchaos".to_owned(),
        namespace: "shop".to_owned(),
        name: "c-1".to_owned(),
        object: json!({"spec": {"action": "delay", "delay": {"latency": "9ms"}}}),
        targets: names.iter().map(|name| target(name)).collect(),
        records: names.iter().map(key).collect(),
        one_shot: false,
        images: Vec::new(),
    }
}

fn record(name: &str, phase: &str) -> Value {
    json!({"id": format!("shop/{name}"), "selectorKey": ".", "phase": phase, "events": []})
}

/// An object in good order with these records.
fn object(records: &[Value]) -> Value {
    json!({
        "metadata": {"annotations": {}},
        "spec": {"action": "delay", "delay": {"latency": "9ms", "jitter": "0ms"}},
        "status": {"experiment": {"desiredPhase": "Run", "containerRecords": records}},
    })
}

fn alive(names: &[&str]) -> Pods {
    let pod = |name: &&str| {
        let key = ("shop".to_owned(), (*name).to_owned());
        (key, format!("uid-{name}"))
    };
    names.iter().map(pod).collect()
}

/// `injected/planned: evidence`.
fn said(undo: &ChaosMeshUndo, object: Value, pods: Pods) -> String {
    let seen = Seen {
        object: Some(object),
        pods,
    };
    let proof = prove(undo, &seen);
    let evidence = proof.evidence.join("; ");
    format!("{}/{}: {evidence}", proof.injected, proof.planned)
}

#[test]
fn every_planned_record_must_be_in_and_every_pod_the_same() {
    let undo = undo(&["a", "b"]);
    let both = [record("a", "Injected"), record("b", "Injected")];
    for (records, pods, words) in [
        (
            both.to_vec(),
            alive(&["a", "b"]),
            "2/2: networkchaos.chaos-mesh.org/c-1 in namespace shop: Injected by its records: shop/a, shop/b",
        ),
        (
            vec![both[0].clone()],
            alive(&["a", "b"]),
            "1/2: shop/b has no record: Chaos Mesh did not select it",
        ),
        (
            vec![both[0].clone(), record("b", "Not Injected/Wait")],
            alive(&["a", "b"]),
            "1/2: shop/b is Not Injected/Wait",
        ),
        (
            both.to_vec(),
            alive(&["a"]),
            "1/2: shop/b is gone, and whoever took its place carries no fault",
        ),
        (
            vec![both[0].clone(), both[1].clone(), record("c", "Injected")],
            alive(&["a", "b"]),
            "3/2: shop/c is hit too, and was not planned",
        ),
        (
            Vec::new(),
            alive(&["a", "b"]),
            "0/2: shop/a has no record: Chaos Mesh did not select it; shop/b has no record: Chaos Mesh did not select it",
        ),
    ] {
        assert_eq!(said(&undo, object(&records), pods), words);
    }
}

#[test]
fn a_pod_that_came_back_under_its_name_carries_nothing() {
    let undo = undo(&["db-0"]);
    let mut pods = alive(&["db-0"]);
    pods.insert(("shop".to_owned(), "db-0".to_owned()), "another".to_owned());
    assert_eq!(
        said(&undo, object(&[record("db-0", "Injected")]), pods),
        "0/1: shop/db-0 was replaced by a pod of the same name, which carries no fault"
    );
}

#[test]
fn a_failure_is_told_in_the_words_of_chaos_mesh() {
    let undo = undo(&["a"]);
    let mut failing = record("a", "Not Injected");
    failing["events"] = json!([
        {"type": "Succeeded", "message": ""},
        {"type": "Failed", "message": "cannot find daemonIP on node n1"},
    ]);
    assert_eq!(
        said(&undo, object(&[failing]), alive(&["a"])),
        "0/1: shop/a is Not Injected: cannot find daemonIP on node n1"
    );
}

#[test]
fn what_ends_or_is_another_fault_counts_for_nothing() {
    let undo = undo(&["a"]);
    let whole = object(&[record("a", "Injected")]);
    let mut deleted = whole.clone();
    deleted["metadata"]["deletionTimestamp"] = json!("2026-11-30T00:00:00Z");
    let mut paused = whole.clone();
    paused["metadata"]["annotations"]["experiment.chaos-mesh.org/pause"] = json!("true");
    let mut over = whole.clone();
    over["status"]["experiment"]["desiredPhase"] = json!("Stop");
    let mut changed = whole.clone();
    changed["spec"]["delay"]["latency"] = json!("1s");
    for (object, words) in [
        (
            deleted,
            "is being deleted since 2026-11-30T00:00:00Z, and not by this run",
        ),
        (paused, "was paused by somebody"),
        (
            over,
            "is being taken out by Chaos Mesh: its duration is over",
        ),
        (changed, "was changed: its spec is not what was sent"),
    ] {
        let place = "networkchaos.chaos-mesh.org/c-1 in namespace shop";
        assert_eq!(
            said(&undo, object, alive(&["a"])),
            format!("0/1: {place} {words}")
        );
    }
}

#[test]
fn a_kill_is_proven_by_its_records_though_its_pods_are_gone() {
    let undo = ChaosMeshUndo {
        one_shot: true,
        ..undo(&["a"])
    };
    let proof = said(&undo, object(&[record("a", "Injected")]), Pods::new());
    assert!(proof.starts_with("1/1"), "{proof}");
}
