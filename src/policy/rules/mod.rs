//! The rules: one private file each, one line each in `RULES`.

mod approval;
mod blast_radius;
mod change_window;
mod credentials;
mod environment;
mod facts;
mod figures;
mod gates;
mod hosts;
mod ladder;
mod own_sandbox;
mod places;
mod production;
mod protected_namespaces;
mod rehearsal;
mod same_dose;
mod unattended;
mod writable_policy;

pub use environment::proof;
pub use facts::Facts;
pub use own_sandbox::OwnSandbox;
pub(super) use production::production_mark;

use super::finding::{Finding, Severity};
use crate::model::approval::Exception;

/// A rule of the policy.
pub struct Rule {
    /// Its name, as findings carry it.
    pub name: &'static str,
    /// What it is for, one sentence.
    pub purpose: &'static str,
    /// What its findings may weigh, heaviest first.
    pub severities: &'static [Severity],
    check: fn(&Facts<'_>) -> Vec<Found>,
}

/// A finding before it knows its rule.
struct Found {
    severity: Severity,
    place: String,
    message: String,
    way_out: String,
    exception: Option<Exception>,
}

impl Found {
    fn deny(
        place: impl Into<String>,
        message: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Deny,
            place: place.into(),
            message: message.into(),
            way_out: way_out.into(),
            exception: None,
        }
    }

    fn require(
        place: impl Into<String>,
        message: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Require,
            ..Self::deny(place, message, way_out)
        }
    }

    fn warn(
        place: impl Into<String>,
        message: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Warn,
            ..Self::deny(place, message, way_out)
        }
    }

    /// The same, which only an approval that allows it by name meets.
    fn unless_allowed(self, exception: Exception) -> Self {
        Self {
            severity: Severity::Require,
            exception: Some(exception),
            ..self
        }
    }
}

/// Every rule, in the order in which findings are shown.
pub const RULES: &[Rule] = &[
    Rule {
        name: "environment",
        purpose: "the target is what the policy knows by the environment's name, and something proves it",
        severities: &[Severity::Deny],
        check: environment::check,
    },
    Rule {
        name: "hosts",
        purpose: "traffic, scraped pages and whatever else is asked go only where the policy lets them",
        severities: &[Severity::Deny],
        check: hosts::check,
    },
    Rule {
        name: "credentials",
        purpose: "no secret leaves this machine unencrypted",
        severities: &[Severity::Deny],
        check: credentials::check,
    },
    Rule {
        name: "own-sandbox",
        purpose: "what is read is about the sandbox that is broken",
        severities: &[Severity::Deny],
        check: own_sandbox::check,
    },
    Rule {
        name: "production",
        purpose: "nothing that smells of production is touched, unless the policy names it and a person allows it",
        severities: &[Severity::Deny, Severity::Require],
        check: production::check,
    },
    Rule {
        name: "protected-namespaces",
        purpose: "namespaces that keep a cluster alive are left alone",
        severities: &[Severity::Deny],
        check: protected_namespaces::check,
    },
    Rule {
        name: "figures",
        purpose: "holds, latencies, baselines and traffic stay within bounds",
        severities: &[Severity::Deny],
        check: figures::check,
    },
    Rule {
        name: "blast-radius",
        purpose: "no fault is wider than the ceiling of its environment",
        severities: &[Severity::Deny],
        check: blast_radius::check,
    },
    Rule {
        name: "ladder",
        purpose: "a fault grows by rungs, each only after a run that held at the one below",
        severities: &[Severity::Require],
        check: ladder::check,
    },
    Rule {
        name: "same-dose",
        purpose: "a dose that held again and again proves nothing new",
        severities: &[Severity::Require],
        check: same_dose::check,
    },
    Rule {
        name: "gates",
        purpose: "enough SLOs can end the run",
        severities: &[Severity::Deny, Severity::Warn],
        check: gates::check,
    },
    Rule {
        name: "rehearsal",
        purpose: "SLOs can be judged, can fail, and are quiet and quick enough while no fault is in",
        severities: &[Severity::Deny, Severity::Warn],
        check: rehearsal::check,
    },
    Rule {
        name: "change-window",
        purpose: "a run begins when changes are allowed",
        severities: &[Severity::Deny, Severity::Warn],
        check: change_window::check,
    },
    Rule {
        name: "writable-policy",
        purpose: "nobody but its owner can change what the policy says",
        severities: &[Severity::Warn],
        check: writable_policy::check,
    },
    Rule {
        name: "unattended",
        purpose: "a person is there where the environment wants one",
        severities: &[Severity::Deny, Severity::Warn],
        check: unattended::check,
    },
    Rule {
        name: "approval",
        purpose: "a person says yes to exactly this plan",
        severities: &[Severity::Require],
        check: approval::check,
    },
];

/// Everything that the policy has to say about a plan.
pub fn evaluate(facts: &Facts<'_>) -> Vec<Finding> {
    RULES
        .iter()
        .flat_map(|rule| {
            (rule.check)(facts).into_iter().map(|found| Finding {
                rule: rule.name.to_owned(),
                severity: found.severity,
                place: found.place,
                message: found.message,
                way_out: found.way_out,
                exception: found.exception,
            })
        })
        .collect()
}
