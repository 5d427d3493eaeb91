//! Which pods a fault goes into: the selector is resolved here, pod by pod, so that what a plan shows is
//! what is hit.

use std::collections::BTreeSet;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::AT_ONCE;
use super::pod::Pod;
use super::selector::Selector;
use crate::clients::KubeContext;
use crate::kubernetes::{self, ObjectPath};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::units::Percent;

/// Phases of a pod in which no fault gets into it.
const NOT_RUNNING: [&str; 4] = ["Pending", "Succeeded", "Failed", "Unknown"];

/// More labels than these are no hint.
const LABELS_SHOWN: usize = 12;

/// What a selector found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Selection {
    /// The chosen pods, sorted by namespace and name.
    pub(super) chosen: Vec<Pod>,
    /// How many could have been chosen: running, and not on their way out.
    pub(super) candidates: usize,
    /// Pods that the selector finds and that were left out, each with why: `shop/cart-7 (Pending)`.
    pub(super) left_out: Vec<String>,
}

/// A pod that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    namespace: String,
    name: String,
}

#[derive(Debug, Default)]
struct Listed {
    candidates: BTreeSet<Candidate>,
    left_out: BTreeSet<String>,
}

/// Resolves a selector as the controller would, but for pods that are not running or on their way out,
/// which it would pick and never inject. Of n candidates `ceil(n * share)` are chosen, the same ones each
/// time for one seed, and those of a smaller share are among those of a larger one.
///
/// # Errors
/// The cluster does not answer or does not let us look; no pod, or none that can be chosen.
pub(super) async fn select(
    context: &KubeContext,
    selector: &Selector,
    share: Percent,
    seed: &str,
) -> Result<Selection, Problem> {
    let listed = match selector.pods.is_empty() {
        true => list(context, selector).await?,
        false => look_up(context, selector).await?,
    };
    if listed.candidates.is_empty() {
        return Err(nothing_found(context, selector, &listed).await);
    }
    let candidates = listed.candidates.len();
    let chosen = choose(listed.candidates, share, seed);
    let pods = stream::iter(chosen).map(|one| read(context, one));
    let mut chosen: Vec<Pod> = pods.buffer_unordered(AT_ONCE).try_collect().await?;
    chosen.sort_by_key(Pod::id);
    Ok(Selection {
        chosen,
        candidates,
        left_out: listed.left_out.into_iter().collect(),
    })
}

/// Highest random weight: whoever comes or goes changes the choice by himself alone.
fn choose(candidates: BTreeSet<Candidate>, share: Percent, seed: &str) -> Vec<Candidate> {
    let wanted = share.part_of(candidates.len());
    let weight = |one: &Candidate| -> [u8; 32] {
        Sha256::digest(format!("{seed} {}/{}", one.namespace, one.name)).into()
    };
    let mut weighed: Vec<([u8; 32], Candidate)> = candidates
        .into_iter()
        .map(|one| (weight(&one), one))
        .collect();
    weighed.sort();
    weighed.truncate(wanted);
    weighed.into_iter().map(|(_, one)| one).collect()
}

async fn list(context: &KubeContext, selector: &Selector) -> Result<Listed, Problem> {
    let nodes = nodes(context, selector).await?;
    let mut listed = Listed::default();
    for namespace in &selector.namespaces {
        for node in &nodes {
            for phase in NOT_RUNNING.into_iter().chain(["Running"]) {
                if selector.wants_phase(phase) {
                    let path = selector.list(namespace, phase, node.as_deref());
                    list_phase(context, selector, (&path, phase), &mut listed).await?;
                }
            }
        }
    }
    Ok(listed)
}

async fn list_phase(
    context: &KubeContext,
    selector: &Selector,
    (path, phase): (&ObjectPath, &str),
    listed: &mut Listed,
) -> Result<(), Problem> {
    // A list that begins anew finds the same pods once more: both are sets.
    kubernetes::each(context, path, |pod| {
        let metadata = &pod["metadata"];
        let (Some(namespace), Some(name)) =
            (metadata["namespace"].as_str(), metadata["name"].as_str())
        else {
            return;
        };
        if !selector.has_annotations(metadata) {
            return;
        }
        let why = match (phase, metadata["deletionTimestamp"].is_null()) {
            ("Running", true) => {
                listed.candidates.insert(Candidate {
                    namespace: namespace.to_owned(),
                    name: name.to_owned(),
                });
                return;
            }
            (_, false) => "on its way out",
            (other, true) => other,
        };
        listed
            .left_out
            .insert(format!("{namespace}/{name} ({why})"));
    })
    .await
}

/// The nodes to ask for, one at a time; one `None`: whatever the node.
async fn nodes(context: &KubeContext, selector: &Selector) -> Result<Vec<Option<String>>, Problem> {
    if selector.nodes.is_empty() && selector.node_labels.is_empty() {
        return Ok(vec![None]);
    }
    let mut nodes: BTreeSet<String> = selector.nodes.iter().cloned().collect();
    if !selector.node_labels.is_empty() {
        let path = ObjectPath::of("v1", "nodes").metadata();
        let path = path.asking("labelSelector", &selector.node_labels);
        let found = |node: Value| {
            nodes.extend(node["metadata"]["name"].as_str().map(str::to_owned));
        };
        kubernetes::each(context, &path, found).await?;
    }
    Ok(nodes.into_iter().map(Some).collect())
}

/// Pods that are named: each must be there.
async fn look_up(context: &KubeContext, selector: &Selector) -> Result<Listed, Problem> {
    let mut listed = Listed::default();
    for (namespace, name) in &selector.pods {
        let one = Candidate {
            namespace: namespace.clone(),
            name: name.clone(),
        };
        let pod = read(context, one.clone()).await?;
        match pod.unfit() {
            None => {
                listed.candidates.insert(one);
            }
            Some(why) => {
                listed
                    .left_out
                    .insert(format!("{namespace}/{name} ({why})"));
            }
        }
    }
    Ok(listed)
}

async fn read(context: &KubeContext, one: Candidate) -> Result<Pod, Problem> {
    let path = ObjectPath::of("v1", "pods")
        .within(&one.namespace)
        .named(&one.name);
    match kubernetes::get(context, &path).await? {
        Some(pod) => Ok(Pod::of(pod)),
        None => {
            let message = format!(
                "there is no pod `{}` in namespace {}",
                one.name, one.namespace
            );
            let hint =
                "Chaos Mesh would leave it out without a word; name another, or select by labels";
            Err(Problem::new(ProblemKind::Absent, message).hint(hint))
        }
    }
}

async fn nothing_found(context: &KubeContext, selector: &Selector, listed: &Listed) -> Problem {
    let places: Vec<&str> = selector.places().into_iter().collect();
    let places = places.join(", ");
    let words = match selector.words() {
        words if words.is_empty() => String::new(),
        words => format!(" match {words}"),
    };
    if !listed.left_out.is_empty() {
        let left_out: Vec<&str> = listed.left_out.iter().map(String::as_str).collect();
        let message = format!(
            "no pod that{words} in {places} is running: {}",
            left_out.join(", ")
        );
        return Problem::new(ProblemKind::Absent, message)
            .hint("a fault goes into running pods only; wait until some are");
    }
    let message = format!("no pods{words} in {places}");
    let hint = match labels_there(context, selector).await {
        labels if labels.is_empty() => {
            format!("`kubectl get pods -n {places}` lists what is there")
        }
        labels => format!("pods there have {}", labels.join(", ")),
    };
    Problem::new(ProblemKind::Absent, message).hint(hint)
}

/// Labels of the pods that are there, for a hint: whoever cannot look gets none.
async fn labels_there(context: &KubeContext, selector: &Selector) -> Vec<String> {
    let mut labels = BTreeSet::new();
    for namespace in selector.places() {
        let path = ObjectPath::of("v1", "pods").within(namespace).metadata();
        let path = path.asking("limit", "100");
        let Ok(Some(list)) = kubernetes::get(context, &path).await else {
            continue;
        };
        let items = list["items"].as_array().into_iter().flatten();
        let found =
            items.flat_map(|pod| pod["metadata"]["labels"].as_object().into_iter().flatten());
        labels.extend(found.filter_map(|(name, value)| {
            let generated = ["pod-template-hash", "controller-revision-hash"];
            let value = value
                .as_str()
                .filter(|_| !generated.contains(&name.as_str()))?;
            Some(format!("`{name}={value}`"))
        }));
    }
    labels.into_iter().take(LABELS_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(names: impl Iterator<Item = usize>) -> BTreeSet<Candidate> {
        let one = |number| Candidate {
            namespace: "shop".to_owned(),
            name: format!("cart-{number}"),
        };
        names.map(one).collect()
    }

    fn share(text: &str) -> Percent {
        text.parse().unwrap()
    }

    #[test]
    fn a_choice_is_the_same_each_time_and_another_for_another_seed() {
        let chosen = choose(candidates(0..50), share("10%"), "a");
        assert_eq!(chosen.len(), 5);
        assert_eq!(chosen, choose(candidates(0..50), share("10%"), "a"));
        assert_ne!(chosen, choose(candidates(0..50), share("10%"), "b"));
    }

    #[test]
    fn a_wider_choice_holds_the_narrower_one() {
        let narrow = choose(candidates(0..40), share("10%"), "a");
        let wide = choose(candidates(0..40), share("25%"), "a");
        assert!(narrow.iter().all(|one| wide.contains(one)));
    }

    #[test]
    fn who_goes_takes_nobody_with_him() {
        let before = choose(candidates(0..40), share("50%"), "a");
        let gone = candidates(0..40).into_iter().next_back().unwrap();
        let mut left = candidates(0..40);
        left.remove(&gone);
        let after = choose(left, share("50%"), "a");
        let kept = before.iter().filter(|one| after.contains(one)).count();
        assert!(kept >= before.len() - 1, "{kept} of {}", before.len());
    }
}
