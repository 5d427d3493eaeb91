//! The head of a plan: what it is called and claims, where it is about, and what proves that.

use super::super::text::clock_time;
use super::{Page, Sheet};
use crate::plan::{Plan, PolicyIdentity};
use crate::policy::proof;

impl Page {
    pub(super) fn head(&self, sheet: &Sheet<'_>) -> Vec<String> {
        let (stored, plan) = (sheet.stored, &sheet.stored.plan);
        let title = format!("Plan {}: {}", stored.id, plan.name());
        let mut lines = vec![self.heading(&title)];
        lines.extend(self.labelled(2, "claim", &plan.experiment.hypothesis));
        let from = format!(
            "{}, planned by {} at {}",
            plan.source.name,
            plan.requester,
            clock_time(plan.created)
        );
        lines.extend(self.labelled(2, "from", &from));
        if let Some(run) = &plan.replay_of {
            lines.extend(self.labelled(2, "repeats", run.as_str()));
        }
        lines.extend(self.listed(2, "variables", &variables(plan)));
        lines.extend(self.listed(2, "before", &runs_before(plan)));
        let proven = match proof(plan, sheet.policy) {
            proof if proof.is_empty() => String::new(),
            proof => format!(", proven by {}", proof.join(", ")),
        };
        let environment = &plan.experiment.environment;
        lines.extend(self.labelled(2, "where", &format!("environment {environment}{proven}")));
        lines.extend(self.worlds(plan));
        lines.extend(self.cluster(plan));
        lines.extend(self.credentials(stored));
        lines
    }

    fn worlds(&self, plan: &Plan) -> Vec<String> {
        let worlds = plan.worlds().into_iter().map(|world| {
            let session = world.session.as_deref();
            let session = session.unwrap_or("unknown, so a restart cannot be noticed");
            format!("{world}, session {session}")
        });
        self.listed(2, "world", &worlds.collect::<Vec<_>>())
    }

    /// Who the cluster and the namespace are, by what proves them: the names alone could be anybody's.
    fn cluster(&self, plan: &Plan) -> Vec<String> {
        let Some(cluster) = &plan.cluster else {
            return Vec::new();
        };
        let context = match &cluster.context {
            Some(context) => format!("context {context}"),
            None => "the cluster that this process runs in".to_owned(),
        };
        let labels = cluster.namespace_labels.iter();
        let labels: Vec<String> = labels
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let labels = match labels.is_empty() {
            true => "none".to_owned(),
            false => labels.join(", "),
        };
        let (version, server) = (&cluster.version, &cluster.api_server);
        let (namespace, uid) = (&cluster.namespace, &cluster.namespace_uid);
        let cluster = format!(
            "{context}: kubernetes {version} at {server}, uid {}",
            cluster.uid
        );
        let mut lines = self.labelled(2, "cluster", &cluster);
        lines.extend(self.labelled(2, "namespace", &format!("{namespace}, uid {uid}")));
        lines.extend(self.labelled(2, "labels", &labels));
        lines
    }
}

/// How many runs are named before the rest is counted.
const FEW: usize = 3;

/// What was run of these faults before, where the policy goes by it.
fn runs_before(plan: &Plan) -> Vec<String> {
    let runs = &plan.history.runs;
    let told = runs.iter().take(FEW).map(|run| {
        let shares: Vec<String> = run
            .doses
            .iter()
            .map(|dose| dose.share.to_string())
            .collect();
        format!(
            "{} {} at {}",
            run.run,
            run.outcome.word(),
            shares.join(", ")
        )
    });
    let more = runs.len().saturating_sub(FEW);
    let more = (more > 0).then(|| format!("{more} more runs of these faults"));
    told.chain(more).collect()
}

/// The values that filled the document, and where each came from.
pub(super) fn variables(plan: &Plan) -> Vec<String> {
    let used = plan.variables.iter();
    used.map(|(name, used)| format!("{name} = {} ({})", used.value, used.source))
        .collect()
}

/// A policy by its name and its file.
pub(super) fn named(policy: &PolicyIdentity) -> String {
    match &policy.path {
        Some(path) => format!("{}, {path}", policy.name),
        None => policy.name.clone(),
    }
}
