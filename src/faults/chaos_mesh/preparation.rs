//! Writes down what one step does in a cluster: the targets, the very object, its undo.

use std::collections::BTreeSet;

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::super::dose;
use super::super::{ChaosMeshFault, Owner, Prepared};
use super::kinds::{ChaosKind, Picks, kind};
use super::pod::Pod;
use super::selection::{Selection, select};
use super::selector::Selector;
use super::{WRITE_WITHIN, budgets, defaults, object, permissions, poison, readiness};
use crate::clients::{Clients, KubeContext};
use crate::kubernetes::{self, ObjectPath, Verb, identify};
use crate::model::chaos_mesh::{
    ChaosMeshUndo, ContainerImage, GROUP_VERSION, RecordKey, TargetPod,
};
use crate::model::cluster::Cluster;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::target::Target;
use crate::model::undo::Undo;
use crate::model::units::Percent;

/// The keys of a spec that the driver writes itself.
const OURS: [&str; 4] = ["selector", "mode", "value", "duration"];

/// One line of what the fault does, before the cluster is asked.
pub(super) fn summary(fault: &ChaosMeshFault) -> String {
    match fault.spec["action"].as_str() {
        Some(action) => format!("{} {action}", fault.chaos_kind),
        None => fault.chaos_kind.clone(),
    }
}

/// Everything that is known of one step before anything is written.
struct Step<'a> {
    fault: &'a ChaosMeshFault,
    owner: &'a Owner,
    kind: &'static ChaosKind,
    cluster: Cluster,
    /// Whom it hits.
    chosen: Selection,
    /// The far side of a NetworkChaos.
    far: Option<Selection>,
}

/// Reads the cluster and says what the fault would be.
pub(super) async fn prepare(
    clients: &Clients,
    fault: &ChaosMeshFault,
    owner: &Owner,
) -> Result<Prepared, Problem> {
    let kind = usable(fault)?;
    let context = clients.kubernetes(fault.context.as_deref()).await?;
    let named = (fault.context.as_deref(), fault.namespace.as_deref());
    let cluster = identify(clients, named.0, named.1).await?;
    let (chosen, far) = choose(&context, fault, &cluster.namespace).await?;
    let step = Step {
        fault,
        owner,
        kind,
        cluster,
        chosen,
        far,
    };
    let pods = step.pods();
    let daemon_for = match kind.needs_daemon(step.action()) {
        true => pods,
        false => &[],
    };
    let place = (kind.plural, step.cluster.namespace.as_str());
    let ready = readiness::check(&context, place, daemon_for).await?;
    let targets = step.targets()?;
    let places = step.places();
    permissions::check(&context, kind.plural, place.1, &places).await?;
    let mut warnings = step.warnings();
    warnings.extend(ready.warnings);
    if let Some(internal) = kind.internal {
        warnings.extend(poison::check(&context, internal, &targets).await?);
    }
    warnings.extend(budgets::check(&context, pods).await?);
    warnings.extend(budgets::unready(&context, &targets).await?);
    let spec = step.spec(&targets)?;
    warnings.extend(step.rehearse(&context, &spec).await?);
    step.write_down(&context, targets, spec, warnings)
}

/// The row of a kind that can work at all.
fn usable(fault: &ChaosMeshFault) -> Result<&'static ChaosKind, Problem> {
    let Some(kind) = kind(&fault.chaos_kind) else {
        let message = format!("Chaos Mesh has no kind `{}`", fault.chaos_kind);
        return Err(Problem::new(ProblemKind::Invalid, message)
            .hint("`chaos schema` lists the kinds that a fault can have"));
    };
    if matches!(kind.picks, Picks::Cloud | Picks::Machines) {
        let message = format!(
            "a {} breaks things outside of the cluster, which no policy can allow yet",
            kind.kind
        );
        return Err(Problem::new(ProblemKind::Refused, message)
            .hint("break pods; this version drives the kinds that pick pods"));
    }
    match kind.defect {
        None => Ok(kind),
        Some(defect) => {
            let message = format!("a {} never works: {defect}", kind.kind);
            Err(Problem::new(ProblemKind::Invalid, message)
                .hint("break something else, such as IOChaos for faults of a disk"))
        }
    }
}

/// Whom it hits, and the far side of a NetworkChaos.
async fn choose(
    context: &KubeContext,
    fault: &ChaosMeshFault,
    namespace: &str,
) -> Result<(Selection, Option<Selection>), Problem> {
    let seed = dose::chaos_mesh(fault).fault;
    let selector = Selector::read(namespace, &fault.spec["selector"])?;
    let chosen = select(context, &selector, fault.blast_radius, seed.as_str()).await?;
    if fault.chaos_kind != "NetworkChaos" {
        return Ok((chosen, None));
    }
    refuse_host_network(&chosen)?;
    let target = &fault.spec["target"];
    if target.is_null() {
        return Ok((chosen, None));
    }
    let far = far_side(context, target, namespace, seed.as_str()).await?;
    Ok((chosen, Some(far)))
}

/// `target` of a NetworkChaos: the peers that the fault is about.
async fn far_side(
    context: &KubeContext,
    target: &Value,
    namespace: &str,
    seed: &str,
) -> Result<Selection, Problem> {
    let selector = Selector::read(namespace, &target["selector"])
        .map_err(|problem| within("target", problem))?;
    let found = select(context, &selector, far_share(target)?, seed).await;
    found.map_err(|problem| within("target", problem))
}

impl Step<'_> {
    fn action(&self) -> Option<&str> {
        self.fault.spec["action"].as_str()
    }

    fn is_one_shot(&self) -> bool {
        self.kind.is_one_shot(self.action())
    }

    fn picks(&self) -> Picks {
        self.kind.picks_with(self.action())
    }

    fn pods(&self) -> &[Pod] {
        &self.chosen.chosen
    }

    fn container_names(&self) -> Vec<&str> {
        let names = self.fault.spec["containerNames"].as_array();
        names
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    fn targets(&self) -> Result<Vec<TargetPod>, Problem> {
        let named = self.container_names();
        let targets = self
            .pods()
            .iter()
            .map(|pod| pod.target(self.picks(), &named));
        targets.collect()
    }

    fn far_targets(&self) -> Result<Vec<TargetPod>, Problem> {
        let far = self.far.iter().flat_map(|far| &far.chosen);
        far.map(|pod| pod.target(Picks::Pods, &[])).collect()
    }

    /// The namespaces of all pods that the object names.
    fn places(&self) -> Vec<&str> {
        let far = self.far.iter().flat_map(|far| &far.chosen);
        let places: BTreeSet<&str> = self.pods().iter().chain(far).map(Pod::namespace).collect();
        places.into_iter().collect()
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let far = self.far.as_ref().map(|far| ("the far side: ", far));
        for (side, selection) in [("", &self.chosen)].into_iter().chain(far) {
            if !selection.left_out.is_empty() {
                let left_out = selection.left_out.join(", ");
                warnings.push(format!("{side}left out: {left_out}"));
            }
        }
        if self.kind.kind == "NetworkChaos"
            && self.far.is_none()
            && self.fault.spec["externalTargets"].is_null()
        {
            warnings.push(
                "it names no far side, so that all that the pods send is hit, DNS and probes too"
                    .to_owned(),
            );
        }
        warnings
    }

    /// The spec exactly as it is sent.
    fn spec(&self, targets: &[TargetPod]) -> Result<Map<String, Value>, Problem> {
        let given = self.fault.spec.as_object().cloned().unwrap_or_default();
        let mut spec = defaults::written_out(self.kind.kind, &given);
        for key in OURS {
            spec.remove(key);
        }
        spec.insert("selector".to_owned(), object::selector(targets));
        spec.insert("mode".to_owned(), json!("all"));
        if self.far.is_some() {
            let far = object::selector(&self.far_targets()?);
            spec.insert("target".to_owned(), json!({"selector": far, "mode": "all"}));
        }
        if !self.is_one_shot() {
            let duration = object::duration(self.fault.hold);
            let duration = format!("{}ms", duration.as_millis());
            spec.insert("duration".to_owned(), json!(duration));
        }
        Ok(spec)
    }

    fn path(&self) -> ObjectPath {
        ObjectPath::of(GROUP_VERSION, self.kind.plural).within(&self.cluster.namespace)
    }

    fn object(&self, name: &str, spec: &Map<String, Value>) -> Value {
        let place = (name, self.cluster.namespace.as_str());
        object::object((self.fault, self.owner), place, spec.clone())
    }

    /// Sends the very object under another name, to be looked at by everybody who will look at it, and
    /// kept by nobody. Returns what the server warns of.
    async fn rehearse(
        &self,
        context: &KubeContext,
        spec: &Map<String, Value>,
    ) -> Result<Vec<String>, Problem> {
        let mut tried = self.object(&object::trial_name(self.fault), spec);
        tried["metadata"]["labels"] = json!({});
        let path = self
            .path()
            .asking("dryRun", "All")
            .asking("fieldValidation", "Strict");
        let reply =
            kubernetes::send(context, Verb::Create, &path, Some(&tried), WRITE_WITHIN).await?;
        if reply.status.is_success() {
            return Ok(reply.warnings);
        }
        Err(untenable(context, self.kind, &path, &reply))
    }

    fn write_down(
        &self,
        context: &KubeContext,
        targets: Vec<TargetPod>,
        spec: Map<String, Value>,
        warnings: Vec<String>,
    ) -> Result<Prepared, Problem> {
        let name = object::name(self.fault, self.owner);
        let sent = self.object(&name, &spec);
        let undo = ChaosMeshUndo {
            context: context.name().map(str::to_owned),
            server: context.server().to_owned(),
            cluster_uid: self.cluster.uid.clone(),
            kind: self.kind.kind.to_owned(),
            plural: self.kind.plural.to_owned(),
            namespace: self.cluster.namespace.clone(),
            name: name.clone(),
            object: sent.clone(),
            records: self.records(&targets)?,
            one_shot: self.is_one_shot(),
            images: self.images(),
            targets: targets.clone(),
        };
        Ok(Prepared {
            world: self.cluster.world(),
            targets: targets.into_iter().map(Target::Pod).collect(),
            blast_radius: self.blast_radius(),
            summaries: vec![summary(self.fault)],
            requests: vec![undo.create_request()],
            undo_requests: vec![undo.delete_request()],
            undo: Undo::ChaosMesh(undo),
            warnings,
        })
    }

    fn blast_radius(&self) -> String {
        let (count, candidates) = (self.pods().len(), self.chosen.candidates);
        let noun = match candidates {
            1 => "pod",
            _ => "pods",
        };
        format!("{count} of {candidates} {noun}")
    }

    fn images(&self) -> Vec<ContainerImage> {
        match self.action() {
            Some("pod-failure") => self.pods().iter().flat_map(Pod::images).collect(),
            Some(_) | None => Vec::new(),
        }
    }

    /// The records that Chaos Mesh will keep, by how it names them.
    fn records(&self, targets: &[TargetPod]) -> Result<Vec<RecordKey>, Problem> {
        let mut records: Vec<RecordKey> = Vec::new();
        let mut add = |selector_key: &str, id: String| {
            let selector_key = selector_key.to_owned();
            records.push(RecordKey { selector_key, id });
        };
        for (pod, target) in self.pods().iter().zip(targets) {
            for id in ids(self.picks(), &self.fault.spec, pod, target)? {
                add(".", id);
            }
        }
        for pod in self.far.iter().flat_map(|far| &far.chosen) {
            add(".Target", pod.id());
        }
        Ok(records)
    }
}

/// The ids of a pod's records.
fn ids(picks: Picks, spec: &Value, pod: &Pod, target: &TargetPod) -> Result<Vec<String>, Problem> {
    match picks {
        Picks::Cloud | Picks::Machines => Ok(Vec::new()),
        Picks::Pods => Ok(vec![pod.id()]),
        Picks::Containers => {
            let names = target.containers.iter();
            Ok(names.map(|name| format!("{}/{name}", pod.id())).collect())
        }
        Picks::Volumes => {
            let volume = spec["volumeName"].as_str().unwrap_or_default();
            let mounts = pod.mounts(volume, &target.containers);
            if mounts.is_empty() {
                let message = format!("pod {} mounts no volume `{volume}`", pod.id());
                return Err(Problem::new(ProblemKind::Absent, message)
                    .hint("`volumeName` is the name of a volume in the pod's spec"));
            }
            let ids = mounts.into_iter();
            Ok(ids
                .map(|(container, path)| format!("{}/{container}/{path}", pod.id()))
                .collect())
        }
    }
}

/// The share of the far side: all of it, unless its `mode` says otherwise.
fn far_share(target: &Value) -> Result<Percent, Problem> {
    let value = target["value"].as_str().unwrap_or_default();
    match target["mode"].as_str() {
        None | Some("all") => Ok(Percent::ALL),
        Some("fixed-percent") => format!("{value}%").parse(),
        Some(other) => Err(Problem::new(
            ProblemKind::Invalid,
            format!("`target.mode: {other}` leaves it to chance whom the fault is about"),
        )
        .hint(
            "write `mode: all`, or `mode: fixed-percent` with its `value`: chaos chooses by name",
        )),
    }
}

fn within(place: &str, mut problem: Problem) -> Problem {
    problem.message = format!("{place}: {}", problem.message);
    problem
}

fn refuse_host_network(chosen: &Selection) -> Result<(), Problem> {
    let Some(pod) = chosen.chosen.iter().find(|pod| pod.has_host_network()) else {
        return Ok(());
    };
    let message = format!(
        "pod {} has the network of its node, and Chaos Mesh refuses to break that",
        pod.id()
    );
    Err(Problem::new(ProblemKind::Invalid, message).hint(
        "select other pods; the object would hang in `Not Injected/Wait`, and its deletion too",
    ))
}

/// Why the cluster would not take the object.
fn untenable(
    context: &KubeContext,
    kind: &ChaosKind,
    path: &ObjectPath,
    reply: &kubernetes::Reply,
) -> Problem {
    let message = reply.body["message"].as_str().unwrap_or_default();
    if let Some(problem) = super::answers::webhooks_down(context, message) {
        return problem;
    }
    let denied = message.contains("denied the request");
    match reply.status {
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Problem::new(
            ProblemKind::Invalid,
            format!("{} does not take this {}: {message}", context.server(), kind.kind),
        )
        .hint("correct the fault's spec in the experiment"),
        StatusCode::FORBIDDEN if denied => Problem::new(
            ProblemKind::Refused,
            format!("Chaos Mesh does not take this {}: {message}", kind.kind),
        )
        .hint("correct the fault's spec; where it says `is forbidden on namespace`, we lack `create` there"),
        _ => kubernetes::refused(context, Verb::Create, path, reply),
    }
}

#[cfg(test)]
mod tests;
