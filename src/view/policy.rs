//! A policy as a person reads it: what is allowed where, and what a careful reader would say.

use serde_json::json;

use super::printer::Printer;
use super::sanitise::sanitise;
use super::setup::Stream;
use super::text::{counted, hung, left};
use super::theme::{Colour, Glyphs, Tone};
use crate::policy::{
    Advice, ApprovalNeed, ApprovalRules, Environment, Freeze, KubernetesProof, Permission, Policy,
    RequiredPresence, Window,
};

/// Where texts begin.
const COLUMN: usize = 16;
const NARROWEST: usize = 40;
const WIDEST: usize = 100;

/// The policy as data.
pub fn show(printer: &Printer, policy: &Policy, advice: &[Advice]) {
    let page = Page {
        width: printer.size().0.clamp(NARROWEST, WIDEST),
        colour: printer.setup().colour(Stream::Stdout),
        glyphs: printer.setup().glyphs(),
    };
    let mut lines = page.head(policy);
    for (name, environment) in &policy.environments {
        lines.push(String::new());
        lines.push(page.heading(&format!("Environment {name}")));
        lines.extend(page.environment(environment));
    }
    lines.push(String::new());
    lines.extend(page.advice(advice));
    printer.data(&page.glyphs.adapt(lines.join("\n")));
}

/// The policy for programs.
pub fn json(printer: &Printer, policy: &Policy, advice: &[Advice]) {
    let identity = policy.identity();
    let all = json!({
        "name": identity.name,
        "path": identity.path,
        "digest": identity.digest,
        "policy": policy,
        "warnings": advice,
    });
    printer.data(&format!("{all:#}"));
}

struct Page {
    width: usize,
    colour: Colour,
    glyphs: Glyphs,
}

impl Page {
    fn heading(&self, text: &str) -> String {
        Tone::Strong.paint(&sanitise(text), self.colour)
    }

    /// A label and its text; nothing where there is no text.
    fn labelled(&self, label: &str, text: &str) -> Vec<String> {
        if text.is_empty() {
            return Vec::new();
        }
        let line = format!("  {}{}", left(label, COLUMN - 2), sanitise(text));
        hung(&line, self.width, COLUMN)
    }

    fn head(&self, policy: &Policy) -> Vec<String> {
        let identity = policy.identity();
        let production = &policy.production;
        let mut lines = vec![self.heading(&format!("Policy {}", policy.name))];
        let path = identity.path.as_deref().unwrap_or("chaos itself");
        lines.extend(self.labelled("from", path));
        lines.extend(self.labelled("digest", identity.digest.as_str()));
        let marks = production.words.iter().cloned();
        let marks = marks.chain(texts(&production.patterns));
        lines.extend(self.labelled("production", &marks.collect::<Vec<_>>().join(", ")));
        lines.extend(self.labelled("but allowed", &listed(&production.named)));
        let namespaces = listed(&policy.protected_namespaces);
        lines.extend(self.labelled("protected", &format!("namespaces {namespaces}")));
        lines.extend(self.labelled("denied hosts", &listed(&policy.denied_hosts)));
        lines.extend(self.labelled("from shell", &listed(&policy.environment_variables)));
        for (name, hosts) in &policy.secret_hosts {
            let text = format!("{name} only to {}", listed(hosts));
            lines.extend(self.labelled("secret", &text));
        }
        lines
    }

    fn environment(&self, environment: &Environment) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(kubernetes) = &environment.proof.kubernetes {
            lines.extend(self.labelled("cluster", &cluster(kubernetes)));
        }
        if let Some(localstack) = &environment.proof.localstack {
            lines.extend(self.labelled("LocalStack", &format!("at {}", listed(&localstack.hosts))));
        }
        lines.extend(self.labelled("traffic to", &listed(&environment.traffic_hosts)));
        lines.extend(self.labelled("approval", &approval(&environment.approval)));
        let limits = &environment.limits;
        let text = format!(
            "hold at most {}, latency at most {}, baseline at least {}, at most {} requests a second",
            limits.longest_hold,
            limits.longest_latency,
            limits.shortest_baseline,
            limits.highest_traffic_rate
        );
        lines.extend(self.labelled("limits", &text));
        let gates = format!("at least {} that can end the run", limits.least_gates);
        lines.extend(self.labelled("SLOs", &gates));
        lines.extend(self.labelled("blast radius", &blast_radius(environment)));
        let same = environment.same_dose_at_most;
        let same = same.map(|most| format!("held at most {most} times, then another one"));
        lines.extend(self.labelled("same dose", &same.unwrap_or_default()));
        for window in &environment.windows {
            lines.extend(self.labelled("window", &self::window(window)));
        }
        for freeze in &environment.freezes {
            lines.extend(self.labelled("freeze", &self::freeze(freeze)));
        }
        let unattended = match environment.unattended {
            Permission::Allowed => "runs may begin with nobody at a terminal",
            Permission::Denied => "no run begins without a person at a terminal",
        };
        lines.extend(self.labelled("unattended", unattended));
        lines
    }

    fn advice(&self, advice: &[Advice]) -> Vec<String> {
        if advice.is_empty() {
            return vec!["nothing in it is weak".to_owned()];
        }
        let mut lines = Vec::new();
        for one in advice {
            let text = format!("{} (at {})", one.message, one.place);
            let mut warning = hung(&format!("warn  {}", sanitise(&text)), self.width, 6);
            if let Some(head) = warning.first_mut() {
                *head = head.replacen("warn", &Tone::Caution.paint("warn", self.colour), 1);
            }
            lines.extend(warning);
            let way_out = format!("      → {}", sanitise(&one.way_out));
            lines.extend(hung(&way_out, self.width, 8));
        }
        lines
    }
}

fn texts<T: ToString>(all: &[T]) -> impl Iterator<Item = String> {
    all.iter().map(ToString::to_string)
}

fn listed<T: ToString>(all: &[T]) -> String {
    texts(all).collect::<Vec<_>>().join(", ")
}

fn cluster(proof: &KubernetesProof) -> String {
    let one_of = |what: &str, all: String| (!all.is_empty()).then(|| format!("{what} {all}"));
    let labels = proof.namespace_labels.iter();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let parts = [
        one_of("uid", listed(&proof.cluster_uids)),
        one_of("API server at", listed(&proof.api_hosts)),
        one_of("context", listed(&proof.contexts)),
        one_of("namespace labelled", labels.join(", ")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn approval(rules: &ApprovalRules) -> String {
    let how = match rules.mode {
        ApprovalNeed::None => return "none is needed".to_owned(),
        ApprovalNeed::Confirm => "typed at a terminal",
        ApprovalNeed::Signed => "signed",
    };
    let many = counted(rules.count as usize, "approval", "approvals");
    let mut parts = vec![many, how.to_owned()];
    if !rules.approvers.is_empty() {
        parts.push(format!("by {}", listed(&rules.approvers)));
    }
    if rules.requester == Permission::Denied {
        parts.push("not by who made the plan".to_owned());
    }
    parts.push(format!("counts for {} at most", rules.expires_after));
    if rules.reuse == Permission::Denied {
        parts.push("for one run".to_owned());
    }
    match rules.presence {
        RequiredPresence::None => {}
        RequiredPresence::Touch => parts.push("with a key that was touched".to_owned()),
        RequiredPresence::Verify => parts.push("with a key that knew who touched it".to_owned()),
    }
    if let Some(signers) = &rules.signers {
        parts.push(format!("keys of {}", signers.path));
    }
    parts.join(", ")
}

fn blast_radius(environment: &Environment) -> String {
    let radius = &environment.blast_radius;
    let ceiling = format!("at most {} of the pods", radius.ceiling);
    if radius.ladder.is_empty() {
        return ceiling;
    }
    format!(
        "{ceiling}; {} in turn, each after a run that held at the one before within {}",
        listed(&radius.ladder),
        radius.not_older_than
    )
}

fn window(window: &Window) -> String {
    let days: Vec<String> = window
        .days
        .iter()
        .map(|day| format!("{day:?}").to_lowercase())
        .collect();
    format!(
        "{} from {} to {} ({})",
        days.join(", "),
        window.from.strftime("%H:%M"),
        window.to.strftime("%H:%M"),
        window.time_zone
    )
}

fn freeze(freeze: &Freeze) -> String {
    let reason = freeze.reason.as_ref().map(|reason| format!(": {reason}"));
    format!(
        "{} to {} ({}){}",
        freeze.from,
        freeze.to,
        freeze.time_zone,
        reason.unwrap_or_default()
    )
}
