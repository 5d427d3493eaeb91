//! A plan that the policy denies: enough of it to know what is denied, and the findings without a place
//! in a document.

use super::super::printer::Printer;
use super::super::sanitise::sanitise;
use super::super::setup::Stream;
use super::Page;
use super::head::{named, variables};
use crate::plan::Plan;
use crate::policy::{Finding, Severity};

/// What was planned, as far as it came, to whoever reads next why it is denied.
pub fn talk_denied(printer: &Printer, plan: &Plan) {
    let page = Page::on(printer, Stream::Stderr);
    for line in page.denied(plan) {
        printer.talk(&line);
    }
}

/// What the policy says, as talk that is shown even when quiet.
pub fn insist_findings(printer: &Printer, findings: &[Finding]) {
    let page = Page::on(printer, Stream::Stderr);
    for line in findings.iter().flat_map(|found| page.finding(found)) {
        printer.insist(&line);
    }
}

/// What a policy that denies a plan says besides.
pub fn undenied(printer: &Printer, findings: &[Finding]) -> Vec<String> {
    let page = Page::on(printer, Stream::Stderr);
    let others = findings.iter();
    let others = others.filter(|found| found.severity != Severity::Deny);
    let others: Vec<String> = others.flat_map(|found| page.finding(found)).collect();
    if others.is_empty() {
        return Vec::new();
    }
    let mut lines = page.section("The policy says besides");
    lines.extend(others);
    lines
}

impl Page {
    fn denied(&self, plan: &Plan) -> Vec<String> {
        let experiment = &plan.experiment;
        let name = sanitise(experiment.name.as_str());
        let mut lines = vec![self.heading(&format!("{name}: denied, so no plan is kept"))];
        lines.extend(self.labelled(2, "claim", &experiment.hypothesis));
        lines.extend(self.labelled(2, "from", &plan.source.name));
        lines.extend(self.listed(2, "variables", &variables(plan)));
        lines.extend(self.labelled(
            2,
            "where",
            &format!("environment {}", experiment.environment),
        ));
        lines.extend(self.listed(2, "world", &worlds(plan)));
        for (index, step) in experiment.steps.iter().enumerate() {
            let label = format!("step {}", index + 1);
            lines.extend(self.labelled(
                2,
                &label,
                &format!("{}, held for {}", step.name, step.hold),
            ));
            lines.extend(self.listed(2, "", &step.fault.summaries()));
        }
        let slos = experiment.slos.iter();
        let slos = slos.map(|gauged| format!("{} {}", gauged.slo.name, gauged.slo.objective));
        lines.extend(self.labelled(2, "SLOs", &slos.collect::<Vec<_>>().join(", ")));
        lines.extend(self.labelled(2, "policy", &named(&plan.policy)));
        lines.push(String::new());
        lines
    }
}

/// Those that answered, else those that the document names.
fn worlds(plan: &Plan) -> Vec<String> {
    let mut answered: Vec<String> = plan.worlds().iter().map(ToString::to_string).collect();
    answered.extend(plan.cluster.iter().map(ToString::to_string));
    if !answered.is_empty() {
        return answered;
    }
    let on = &plan.experiment.on;
    let localstack = on.localstack.iter();
    let localstack = localstack.map(|world| format!("localstack at {}", world.endpoint));
    let cluster = on.kubernetes.iter().map(|world| {
        let context = world.context.as_deref().unwrap_or("the current one");
        format!("a cluster, context {context}")
    });
    let named = localstack.chain(cluster);
    named
        .map(|world| format!("{world}, which nobody has asked yet"))
        .collect()
}
