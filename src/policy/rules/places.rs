//! Where in a document the things stand that several rules look at.

use serde_json::Value;

use crate::faults::Fault;
use crate::plan::Plan;

/// Every LocalStack that a plan touches, once, with its place. All three must agree, but a plan's file
/// may come from anywhere: the endpoint of the document, of its faults, and of the resolved steps.
pub(super) fn endpoints(plan: &Plan) -> Vec<(String, &str)> {
    let mut all: Vec<(String, &str)> = Vec::new();
    let mut add = |place: String, url| {
        if !all.iter().any(|(_, known)| *known == url) {
            all.push((place, url));
        }
    };
    if let Some(world) = &plan.experiment.on.localstack {
        add("on.localstack.endpoint".to_owned(), world.endpoint.as_str());
    }
    let steps = &plan.experiment.steps;
    for (position, step) in steps.iter().enumerate() {
        match &step.fault {
            Fault::LocalStack(fault) => {
                add(
                    format!("{}.fault.localstack", step.place(position)),
                    &fault.endpoint,
                );
            }
            Fault::ChaosMesh(_) | Fault::Simulated(_) => {}
        }
    }
    for (position, (written, step)) in steps.iter().zip(&plan.steps).enumerate() {
        let world = &step.prepared.world;
        if world.platform == "localstack" {
            let place = format!("{}.fault.localstack", written.place(position));
            add(place, &world.endpoint);
        }
    }
    all
}

/// Every namespace that a plan touches, as the document and the cluster name it, with its place.
pub(super) fn namespaces(plan: &Plan) -> Vec<(String, &str)> {
    let named = plan.experiment.on.kubernetes.as_ref();
    let named = named.and_then(|world| world.namespace.as_deref());
    let resolved = plan.cluster.as_ref();
    let resolved = resolved.map(|cluster| cluster.namespace.as_str());
    let resolved = resolved.filter(|resolved| Some(*resolved) != named);
    let mut all: Vec<(String, &str)> = named
        .into_iter()
        .chain(resolved)
        .map(|namespace| ("on.kubernetes.namespace".to_owned(), namespace))
        .collect();
    for (position, step) in plan.experiment.steps.iter().enumerate() {
        match &step.fault {
            Fault::ChaosMesh(fault) => {
                let place = format!(
                    "{}.fault.chaosMesh.{}",
                    step.place(position),
                    fault.chaos_kind
                );
                selected(&fault.spec, &place, &mut all);
            }
            Fault::LocalStack(_) | Fault::Simulated(_) => {}
        }
    }
    all
}

/// The namespaces that selectors name, wherever they stand in a spec: a network fault has two.
fn selected<'a>(spec: &'a Value, place: &str, all: &mut Vec<(String, &'a str)>) {
    let Some(fields) = spec.as_object() else {
        return;
    };
    for (key, inner) in fields {
        let place = format!("{place}.{key}");
        if key == "selector" {
            let listed = inner.get("namespaces").and_then(Value::as_array);
            for (index, name) in listed.into_iter().flatten().enumerate() {
                if let Some(name) = name.as_str() {
                    all.push((format!("{place}.namespaces[{index}]"), name));
                }
            }
            let pods = inner.get("pods").and_then(Value::as_object);
            for name in pods.into_iter().flat_map(|pods| pods.keys()) {
                all.push((format!("{place}.pods.{name}"), name));
            }
        }
        selected(inner, &place, all);
    }
}
