//! The object that is created: its name, its labels, its spec with every default written out.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::super::{ChaosMeshFault, Owner};
use crate::model::chaos_mesh::{GROUP_VERSION, NAME_PLACEHOLDER, RUN_LABEL, TargetPod};
use crate::model::units::Span;

/// How much longer than the hold Chaos Mesh may keep the fault: until all of it is seen in, and for the
/// undo to come first. Counted from the creation of the object, as Chaos Mesh counts.
const ROOM: Span = Span::from_secs(90);

/// `spec.duration`.
pub(super) fn duration(hold: Span) -> Span {
    Span::from_millis(hold.as_millis().saturating_add(ROOM.as_millis()))
}

/// The name of a run's object. Short, since Chaos Mesh makes it part of annotation keys of at most 63
/// letters (pod-failure), and unique: an object that was there before would be somebody else's.
pub(super) fn name(fault: &ChaosMeshFault, owner: &Owner) -> String {
    match owner {
        Owner::Plan => NAME_PLACEHOLDER.to_owned(),
        Owner::Run(run) => hashed(run.as_str(), fault.position),
    }
}

/// A name for an object that is only tried (`dryRun=All`).
pub(super) fn trial_name(fault: &ChaosMeshFault) -> String {
    hashed("a plan", fault.position)
}

fn hashed(run: &str, position: usize) -> String {
    let digest = Sha256::digest(format!("{run}/{position}"));
    let letters: String = digest
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("c-{letters}")
}

/// The object. `spec` has its defaults, and neither selector nor mode nor duration yet.
pub(super) fn object(
    (fault, owner): (&ChaosMeshFault, &Owner),
    (name, namespace): (&str, &str),
    spec: Map<String, Value>,
) -> Value {
    json!({
        "apiVersion": GROUP_VERSION,
        "kind": fault.chaos_kind,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {RUN_LABEL: owner.tag()},
        },
        "spec": spec,
    })
}

/// A selector that names these pods and no others; `namespaces` is written out, since a webhook that is
/// down would leave it open and the one that checks permissions reads it.
pub(super) fn selector(pods: &[TargetPod]) -> Value {
    let mut named: Map<String, Value> = Map::new();
    for pod in pods {
        let names = named
            .entry(pod.namespace.clone())
            .or_insert_with(|| json!([]));
        if let Some(names) = names.as_array_mut() {
            names.push(json!(pod.name));
        }
    }
    let namespaces: Vec<&String> = named.keys().collect();
    json!({"namespaces": namespaces, "pods": named})
}
