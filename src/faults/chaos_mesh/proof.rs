//! What is seen of a fault, judged: pure, so that every trap of the platform can be tried.

use std::collections::BTreeMap;

use serde_json::Value;

use super::records::{self, Record};
use crate::model::chaos_mesh::{ChaosMeshUndo, RecordKey, TargetPod};
use crate::model::request::{Continuity, Proof};

/// The uids of pods that are there, by namespace and name.
pub(super) type Pods = BTreeMap<(String, String), String>;

/// More lines than these say nothing more.
const LINES: usize = 8;

/// What was seen at one look.
pub(super) struct Seen {
    /// Our object; `None`: it is not there.
    pub(super) object: Option<Value>,
    /// The targets that are there; of a one-shot fault nobody is looked for.
    pub(super) pods: Pods,
}

/// How many of the planned targets carry the fault. `AllInjected` is not asked: it is true as well
/// where a pod that does not exist was skipped.
pub(super) fn prove(undo: &ChaosMeshUndo, seen: &Seen) -> Proof {
    let planned = undo.records.len().max(1);
    let Some(object) = &seen.object else {
        return proof((0, planned), vec![format!("{} is not there", undo.shown())]);
    };
    if let Some(why) = ending(undo, object) {
        return proof((0, planned), vec![format!("{} {why}", undo.shown())]);
    }
    let records = records::of(object);
    let mut lines = Vec::new();
    let mut carried = Vec::new();
    for key in &undo.records {
        let record = records.iter().find(|record| record.key() == *key);
        match carries(undo, key, record, &seen.pods) {
            Ok(()) => carried.push(key.id.as_str()),
            Err(why) => lines.push(why),
        }
    }
    let others = strangers(undo, &records);
    let injected = carried.len() + others.len();
    lines.extend(others);
    if lines.is_empty() {
        lines.push(format!(
            "{}: Injected by its records: {}",
            undo.shown(),
            some(&carried)
        ));
    }
    proof((injected, planned), lines)
}

fn proof((injected, planned): (usize, usize), mut evidence: Vec<String>) -> Proof {
    let more = evidence.len().saturating_sub(LINES);
    if more > 0 {
        evidence.truncate(LINES);
        evidence.push(format!("and {more} more"));
    }
    Proof {
        injected,
        planned,
        continuity: Continuity::Same,
        evidence,
    }
}

fn some(ids: &[&str]) -> String {
    match ids.len() > LINES {
        true => format!("{} and {} more", ids[..LINES].join(", "), ids.len() - LINES),
        false => ids.join(", "),
    }
}

fn is_done(undo: &ChaosMeshUndo, record: &Record<'_>) -> bool {
    match undo.one_shot {
        true => record.was_in(),
        false => record.is_in(),
    }
}

/// Why the fault is on its way out, or is another one; `None`: it is ours, and to stay.
fn ending(undo: &ChaosMeshUndo, object: &Value) -> Option<String> {
    if let Some(since) = object["metadata"]["deletionTimestamp"].as_str() {
        return Some(format!(
            "is being deleted since {since}, and not by this run"
        ));
    }
    if !contains(&object["spec"], &undo.object["spec"]) {
        return Some("was changed: its spec is not what was sent".to_owned());
    }
    let annotations = &object["metadata"]["annotations"];
    let paused = annotations["experiment.chaos-mesh.org/pause"] == "true";
    if paused && !undo.one_shot {
        return Some("was paused by somebody".to_owned());
    }
    let stops = object["status"]["experiment"]["desiredPhase"] == "Stop";
    stops.then(|| "is being taken out by Chaos Mesh: its duration is over".to_owned())
}

/// Whether a server's version of something still says all that was sent.
fn contains(found: &Value, sent: &Value) -> bool {
    match (found, sent) {
        (Value::Object(found), Value::Object(sent)) => sent
            .iter()
            .all(|(key, value)| found.get(key).is_some_and(|found| contains(found, value))),
        (found, sent) => found == sent,
    }
}

/// Whether the target of this record carries the fault.
fn carries(
    undo: &ChaosMeshUndo,
    key: &RecordKey,
    record: Option<&Record<'_>>,
    pods: &Pods,
) -> Result<(), String> {
    let done = record.is_some_and(|record| is_done(undo, record));
    if !done {
        return Err(reason(&key.id, record));
    }
    let target = undo.targets.iter().find(|target| is_of(key, target));
    match target {
        Some(target) if !undo.one_shot => lives(target, pods),
        // The far side is not looked for: the fault is in the near one.
        Some(_) | None => Ok(()),
    }
}

fn is_of(key: &RecordKey, target: &TargetPod) -> bool {
    let pod = format!("{}/{}", target.namespace, target.name);
    let rest = key.id.strip_prefix(&pod);
    key.selector_key != ".Target"
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A record keeps its name when its pod is replaced; the pod that took the name carries nothing.
fn lives(target: &TargetPod, pods: &Pods) -> Result<(), String> {
    let key = (target.namespace.clone(), target.name.clone());
    let name = format!("{}/{}", target.namespace, target.name);
    match pods.get(&key) {
        Some(uid) if *uid == target.uid => Ok(()),
        Some(_) => Err(format!(
            "{name} was replaced by a pod of the same name, which carries no fault"
        )),
        None => Err(format!(
            "{name} is gone, and whoever took its place carries no fault"
        )),
    }
}

fn reason(id: &str, record: Option<&Record<'_>>) -> String {
    let Some(record) = record else {
        return format!("{id} has no record: Chaos Mesh did not select it");
    };
    match record.failure() {
        Some(why) => format!("{id} is {}: {why}", record.phase()),
        None => format!("{id} is {}", record.phase()),
    }
}

/// Records of targets that nobody planned.
fn strangers(undo: &ChaosMeshUndo, records: &[Record<'_>]) -> Vec<String> {
    let strange = records.iter().filter(|record| {
        let key = record.key();
        !undo.records.contains(&key)
    });
    strange
        .map(|record| format!("{} is hit too, and was not planned", record.key().id))
        .collect()
}

#[cfg(test)]
#[path = "proof/tests.rs"]
mod tests;
