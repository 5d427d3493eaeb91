//! Whether a fault is in or out, by what the cluster says now: the object, its records, its targets.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde_json::Value;

use super::kinds::kind;
use super::proof::{Pods, Seen, prove};
use super::{AT_ONCE, poison, records, writes};
use crate::clients::KubeContext;
use crate::kubernetes::{self, ObjectPath};
use crate::model::chaos_mesh::{ChaosMeshUndo, GROUP_VERSION, TargetPod};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::request::{Absence, Continuity, Proof};

/// More pods than these are read by a list.
const READ_ONE_BY_ONE: usize = 32;

/// How many of the targets carry the fault: the records of Chaos Mesh by id, and the pods by uid.
pub(super) async fn confirm(context: &KubeContext, undo: &ChaosMeshUndo) -> Result<Proof, Problem> {
    let object = kubernetes::get(context, &writes::path_of(undo)).await?;
    let pods = match undo.one_shot {
        // Whom it killed is not looked for.
        true => Pods::new(),
        false => pods(context, &undo.targets).await?,
    };
    let seen = Seen {
        object: object.filter(|object| writes::is_ours(undo, object)),
        pods,
    };
    let mut proof = prove(undo, &seen);
    if !proof.is_complete() && seen.object.is_some() {
        proof.evidence.extend(reasons(context, undo).await);
    }
    Ok(proof)
}

/// The uids of the targets that are there.
async fn pods(context: &KubeContext, targets: &[TargetPod]) -> Result<Pods, Problem> {
    if targets.len() > READ_ONE_BY_ONE {
        return listed(context, targets).await;
    }
    let looks: Vec<_> = targets
        .iter()
        .map(|target| uid_of(context, target))
        .collect();
    let looks = stream::iter(looks);
    let found: Vec<_> = looks.buffer_unordered(AT_ONCE).try_collect().await?;
    Ok(found
        .into_iter()
        .filter_map(|(key, uid)| Some((key, uid?)))
        .collect())
}

async fn uid_of(
    context: &KubeContext,
    target: &TargetPod,
) -> Result<((String, String), Option<String>), Problem> {
    let path = ObjectPath::of("v1", "pods")
        .within(&target.namespace)
        .named(&target.name)
        .metadata();
    let found = kubernetes::get(context, &path).await?;
    let uid = found.and_then(|pod| pod["metadata"]["uid"].as_str().map(str::to_owned));
    Ok(((target.namespace.clone(), target.name.clone()), uid))
}

async fn listed(context: &KubeContext, targets: &[TargetPod]) -> Result<Pods, Problem> {
    let mut by_place: BTreeMap<&str, Vec<&TargetPod>> = BTreeMap::new();
    for target in targets {
        by_place.entry(&target.namespace).or_default().push(target);
    }
    let mut pods = Pods::new();
    for (place, targets) in by_place {
        let path = ObjectPath::of("v1", "pods").within(place).metadata();
        kubernetes::each(context, &path, |pod| {
            let metadata = &pod["metadata"];
            let (Some(name), Some(uid)) = (metadata["name"].as_str(), metadata["uid"].as_str())
            else {
                return;
            };
            if targets.iter().any(|target| target.name == name) {
                pods.insert((place.to_owned(), name.to_owned()), uid.to_owned());
            }
        })
        .await?;
    }
    Ok(pods)
}

/// Why Chaos Mesh has not done it, by its own events; whoever may not read them learns nothing more.
async fn reasons(context: &KubeContext, undo: &ChaosMeshUndo) -> Vec<String> {
    let path = ObjectPath::of("v1", "events")
        .within(&undo.namespace)
        .asking(
            "fieldSelector",
            &format!("involvedObject.name={},reason=Failed", undo.name),
        )
        .asking("limit", "50");
    let Ok(Some(list)) = kubernetes::get(context, &path).await else {
        return Vec::new();
    };
    let items = list["items"].as_array().into_iter().flatten();
    let mut messages: Vec<&str> = items
        .filter_map(|event| event["message"].as_str())
        .collect();
    messages.sort_unstable();
    messages.dedup();
    let last = messages.into_iter().take(3);
    last.map(|message| format!("Chaos Mesh says: {}", records::cut(message)))
        .collect()
}

/// Whether the object is gone and its targets are as they were.
pub(super) async fn verify_gone(
    context: &KubeContext,
    undo: &ChaosMeshUndo,
) -> Result<Absence, Problem> {
    let object = kubernetes::get(context, &writes::path_of(undo)).await?;
    let mut remaining = Vec::new();
    let mut foreign_changes = Vec::new();
    match object {
        Some(object) if writes::is_ours(undo, &object) => {
            remaining.push(records::still_there(undo, &object));
        }
        Some(_) => {
            foreign_changes.push(format!("{} is there, and is not of this run", undo.shown()))
        }
        None => {}
    }
    if remaining.is_empty() {
        remaining.extend(entries_left(context, undo).await?);
        remaining.extend(images_left(context, undo).await?);
    }
    Ok(Absence {
        remaining,
        foreign_changes,
        continuity: Continuity::Same,
    })
}

/// Entries of the object in the internal objects of its targets: what the daemons were told to keep.
async fn entries_left(context: &KubeContext, undo: &ChaosMeshUndo) -> Result<Vec<String>, Problem> {
    let Some(internal) = kind(&undo.kind).and_then(|kind| kind.internal) else {
        return Ok(Vec::new());
    };
    let source = format!("{}/{}", undo.namespace, undo.name);
    let looks: Vec<_> = undo
        .targets
        .iter()
        .map(|target| entry_left(context, internal, target, &source))
        .collect();
    let looks = stream::iter(looks);
    let left: Vec<Option<String>> = looks.buffered(AT_ONCE).try_collect().await?;
    Ok(left.into_iter().flatten().collect())
}

async fn entry_left(
    context: &KubeContext,
    internal: &str,
    target: &TargetPod,
    source: &str,
) -> Result<Option<String>, Problem> {
    let TargetPod {
        namespace, name, ..
    } = target;
    let path = ObjectPath::of(GROUP_VERSION, internal)
        .within(namespace)
        .named(name);
    let found = match kubernetes::get(context, &path).await {
        Ok(found) => found,
        // Chaos Mesh itself says that it is out; this is a second look, which needs a right of its own.
        Err(problem) if problem.kind == ProblemKind::Refused => None,
        Err(problem) => return Err(problem),
    };
    let left = found.is_some_and(|found| poison::sources(&found).iter().any(|one| one == source));
    Ok(left.then(|| format!("{internal} {namespace}/{name} still holds an entry of it")))
}

/// Containers that still have the image that a pod-failure gave them.
async fn images_left(context: &KubeContext, undo: &ChaosMeshUndo) -> Result<Vec<String>, Problem> {
    let mut pods: BTreeMap<(&str, &str), Option<Value>> = BTreeMap::new();
    let mut left = Vec::new();
    for image in &undo.images {
        let key = (image.namespace.as_str(), image.pod.as_str());
        if let Entry::Vacant(place) = pods.entry(key) {
            let path = ObjectPath::of("v1", "pods").within(key.0).named(key.1);
            place.insert(kubernetes::get(context, &path).await?);
        }
        let Some(Some(pod)) = pods.get(&key) else {
            continue;
        };
        // One that came after it was never touched.
        if pod["metadata"]["uid"].as_str() != Some(&image.uid) {
            continue;
        }
        let found = ["initContainers", "containers"]
            .into_iter()
            .find_map(|list| {
                let mut all = pod["spec"][list].as_array().into_iter().flatten();
                all.find(|container| container["name"] == image.container.as_str())
            });
        let found = found.and_then(|container| container["image"].as_str());
        if let Some(found) = found.filter(|found| *found != image.image) {
            left.push(format!(
                "pod {}/{}: container {} still has the image {found}",
                image.namespace, image.pod, image.container
            ));
        }
    }
    Ok(left)
}
