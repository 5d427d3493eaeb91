//! How a run of the plan goes, everything that ends it, and the SLOs that it is judged by.

use super::Page;
use crate::model::slo::{Reaction, Slo};
use crate::plan::StoredPlan;

impl Page {
    pub(super) fn course(&self, stored: &StoredPlan) -> Vec<String> {
        let experiment = &stored.plan.experiment;
        let mut lines = self.section("How it goes and how it ends");
        let first = format!(
            "{} of baseline, in which every SLO must hold",
            experiment.baseline
        );
        lines.extend(self.labelled(2, "first", &first));
        let step = "inject, see it in, hold, undo, see it gone";
        let step = match stored.plan.steps.len() {
            0 | 1 => step.to_owned(),
            _ => format!("each step in turn: {step}"),
        };
        lines.extend(self.labelled(2, "then", &step));
        let last = format!(
            "the SLOs must hold again within {}",
            experiment.recovery_within
        );
        lines.extend(self.labelled(2, "last", &last));
        lines.extend(self.labelled(
            2,
            "sooner",
            "all is undone at once where a rollback SLO breaches or goes blind or a fault vanishes, and on Ctrl-C, SIGTERM, SIGHUP, SIGQUIT or a closed terminal",
        ));
        let mut told: Vec<&str> = Vec::new();
        for step in &stored.plan.steps {
            let left = step.prepared.undo.left_alone();
            if !told.contains(&left) {
                told.push(left);
            }
        }
        let killed = told.iter().map(|left| {
            format!(
                "{left}; `chaos show --explain {}` has the commands",
                stored.id
            )
        });
        lines.extend(self.listed(2, "if killed", &killed.collect::<Vec<_>>()));
        lines
    }

    pub(super) fn slos(&self, stored: &StoredPlan) -> Vec<String> {
        let mut lines = self.section("SLOs");
        for gauged in &stored.plan.experiment.slos {
            let slo = &gauged.slo;
            lines.extend(self.hung(
                2,
                4,
                &format!("{} {}, {}", slo.name, slo.objective, ends(slo)),
            ));
            lines.extend(self.wrapped(4, &format!("{}, every {}", slo.reads, slo.every)));
        }
        lines.extend(self.rehearsals(stored));
        lines
    }
}

/// What it has to say: `rollback after 30s of breach or 1m of no data`.
fn ends(slo: &Slo) -> String {
    let breach = |word: &str| format!("{word} after {} of breach", slo.patience);
    let blind = format!("{} of no data", slo.blind_patience);
    match (slo.on_breach, slo.on_no_data) {
        (Reaction::Rollback, Reaction::Rollback) => format!("{} or {blind}", breach("rollback")),
        (Reaction::Rollback, Reaction::Record) => {
            format!("{}; no data is recorded", breach("rollback"))
        }
        (Reaction::Record, Reaction::Rollback) => {
            format!("a breach is recorded; rollback after {blind}")
        }
        (Reaction::Record, Reaction::Record) => "recorded only".to_owned(),
    }
}
