//! What a reader should know of the workloads that a fault hits: their disruption budgets, and how well
//! they are now. It stops nothing: a fault is no eviction, which a budget would hold back.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::pod::Pod;
use crate::clients::KubeContext;
use crate::kubernetes::{self, ObjectPath};
use crate::model::chaos_mesh::TargetPod;
use crate::model::problem::{Problem, ProblemKind};

/// Warnings about the PodDisruptionBudgets of the chosen pods.
///
/// # Errors
/// No answer. Whoever may not look is told so in a warning.
pub(super) async fn check(context: &KubeContext, chosen: &[Pod]) -> Result<Vec<String>, Problem> {
    let places: BTreeSet<&str> = chosen.iter().map(Pod::namespace).collect();
    let mut warnings = Vec::new();
    for place in places {
        let path = ObjectPath::of("policy/v1", "poddisruptionbudgets").within(place);
        let there: Vec<&Pod> = chosen
            .iter()
            .filter(|pod| pod.namespace() == place)
            .collect();
        let looked = kubernetes::each(context, &path, |budget| {
            let warning = exceeded(&budget, &there);
            // A list that begins anew tells the same once more.
            warnings.extend(warning.filter(|warning| !warnings.contains(warning)));
        });
        match looked.await {
            Ok(()) => {}
            Err(problem) if problem.kind == ProblemKind::Refused => warnings.push(format!(
                "the disruption budgets of {place} were not looked at: we may not list poddisruptionbudgets.policy"
            )),
            Err(problem) => return Err(problem),
        }
    }
    Ok(warnings)
}

fn exceeded(budget: &Value, chosen: &[&Pod]) -> Option<String> {
    let selector = &budget["spec"]["selector"];
    let hit = chosen
        .iter()
        .filter(|pod| matches(selector, pod.labels()))
        .count();
    let allowed = budget["status"]["disruptionsAllowed"].as_u64().unwrap_or(0);
    if hit == 0 || hit as u64 <= allowed {
        return None;
    }
    let name = budget["metadata"]["name"].as_str().unwrap_or_default();
    Some(format!(
        "PodDisruptionBudget {name} allows {allowed} disruptions now, the fault hits {hit} of its pods; it holds back evictions, no faults"
    ))
}

/// A LabelSelector of meta/v1. An empty one matches everything, one that is missing nothing.
fn matches(selector: &Value, labels: &Value) -> bool {
    let Some(selector) = selector.as_object() else {
        return false;
    };
    let of = |key: &str| labels[key].as_str();
    let equal = selector.get("matchLabels").and_then(Value::as_object);
    let mut equal = equal.into_iter().flatten();
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    let mut expressions = expressions.into_iter().flatten();
    equal.all(|(key, value)| of(key) == value.as_str())
        && expressions.all(|one| {
            let found = of(one["key"].as_str().unwrap_or_default());
            let listed = || {
                let values = one["values"].as_array().into_iter().flatten();
                let mut values = values.filter_map(Value::as_str);
                found.is_some_and(|found| values.any(|value| value == found))
            };
            match one["operator"].as_str() {
                Some("In") => listed(),
                Some("NotIn") => !listed(),
                Some("Exists") => found.is_some(),
                Some("DoesNotExist") => found.is_none(),
                Some(_) | None => false,
            }
        })
}

/// Warnings about workloads that lack replicas before the fault.
///
/// # Errors
/// No answer.
pub(super) async fn unready(
    context: &KubeContext,
    targets: &[TargetPod],
) -> Result<Vec<String>, Problem> {
    let mut workloads: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for target in targets {
        if let Some(workload) = &target.workload {
            *workloads.entry((&target.namespace, workload)).or_default() += 1;
        }
    }
    let mut warnings = Vec::new();
    for ((namespace, workload), hit) in workloads {
        let Some((kind, name)) = workload.split_once('/') else {
            continue;
        };
        let plural = match kind {
            "Deployment" => "deployments",
            "StatefulSet" => "statefulsets",
            "ReplicaSet" => "replicasets",
            _ => continue,
        };
        let path = ObjectPath::of("apps/v1", plural)
            .within(namespace)
            .named(name);
        let found = match kubernetes::get(context, &path).await {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            Err(problem) if problem.kind == ProblemKind::Refused => continue,
            Err(problem) => return Err(problem),
        };
        let wanted = found["spec"]["replicas"].as_u64().unwrap_or(1);
        let ready = found["status"]["readyReplicas"].as_u64().unwrap_or(0);
        if ready < wanted {
            warnings.push(format!(
                "{workload}: {ready} of {wanted} replicas are ready now, before the fault hits {hit}"
            ));
        }
        if hit as u64 >= ready.max(1) {
            warnings.push(format!(
                "{workload}: the fault hits every replica that is ready"
            ));
        }
    }
    Ok(warnings)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(labels: Value) -> Pod {
        Pod::of(json!({"metadata": {"namespace": "shop", "labels": labels}}))
    }

    #[test]
    fn a_budget_is_exceeded_by_more_pods_than_it_allows() {
        let (cart, other) = (pod(json!({"app": "cart"})), pod(json!({"app": "other"})));
        let budget = |allowed: u64| {
            json!({
                "metadata": {"name": "cart"},
                "spec": {"selector": {"matchLabels": {"app": "cart"}}},
                "status": {"disruptionsAllowed": allowed},
            })
        };
        assert_eq!(exceeded(&budget(1), &[&cart, &other]), None);
        assert_eq!(exceeded(&budget(0), &[&other]), None);
        assert_eq!(
            exceeded(&budget(1), &[&cart, &cart]).unwrap(),
            "PodDisruptionBudget cart allows 1 disruptions now, the fault hits 2 of its pods; it holds back evictions, no faults"
        );
    }

    #[test]
    fn a_selector_is_read_as_kubernetes_reads_it() {
        let labels = json!({"app": "cart", "tier": "web"});
        for (selector, matched) in [
            (json!({}), true),
            (json!(null), false),
            (json!({"matchLabels": {"app": "cart"}}), true),
            (json!({"matchLabels": {"app": "cart", "zone": "a"}}), false),
            (
                json!({"matchExpressions": [{"key": "tier", "operator": "In", "values": ["web"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["web"]}]}),
                false,
            ),
            (
                json!({"matchExpressions": [{"key": "zone", "operator": "DoesNotExist"}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "zone", "operator": "Exists"}]}),
                false,
            ),
        ] {
            assert_eq!(matches(&selector, &labels), matched, "{selector}");
        }
    }
}
