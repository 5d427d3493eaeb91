//! What rules look at.

use jiff::Timestamp;

use super::OwnSandbox;
use crate::model::history::{History, PastRun};
use crate::model::units::Span;
use crate::plan::Plan;
use crate::policy::built_in::BUILT_IN;
use crate::policy::document::{Attendance, Environment, Moment, Policy};
use crate::policy::finding::Severity;

/// What a rule may look at.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The policy.
    pub policy: &'a Policy,
    /// The sandbox that this very process started, if it did.
    pub sandbox: Option<&'a OwnSandbox>,
    /// What was run before.
    pub history: &'a History,
    /// At which moment the policy is asked.
    pub moment: Moment,
    /// Whether a person is there to be asked.
    pub attendance: Attendance,
}

impl<'a> Facts<'a> {
    /// A plan that was just made, by a person, where nothing was run before.
    pub fn about(plan: &'a Plan, policy: &'a Policy) -> Self {
        Self {
            plan,
            policy,
            sandbox: None,
            history: History::none(),
            moment: Moment::Planning(plan.created),
            attendance: Attendance::Person,
        }
    }

    /// What the policy says about the plan's environment; `None`: it does not know it, which the rule
    /// `environment` denies.
    pub(super) fn environment(&self) -> Option<&'a Environment> {
        self.policy.environment(self.environment_name())
    }

    /// The environment that the experiment names.
    pub(super) fn environment_name(&self) -> &'a str {
        &self.plan.experiment.environment
    }

    /// What was run before, newest first, as far as is known here or was where the plan was made.
    pub(super) fn runs_before(&self) -> Vec<&'a PastRun> {
        self.history.with(&self.plan.history)
    }

    /// Whether it touches nothing but the sandbox that this process started.
    pub(super) fn is_in_its_own_sandbox(&self) -> bool {
        self.sandbox.is_some_and(|sandbox| sandbox.holds(self.plan))
    }

    /// The moment that is asked about: when the run begins, or else when somebody looks at the plan.
    pub(super) fn now(&self) -> Timestamp {
        match self.moment {
            Moment::Planning(now) | Moment::Running(now) => now,
        }
    }

    /// How much it weighs that a run could not begin now: nothing is lost while a plan is made.
    pub(super) fn weight_of_now(&self) -> Severity {
        match self.moment {
            Moment::Planning(_) => Severity::Warn,
            Moment::Running(_) => Severity::Deny,
        }
    }

    /// Whether the world was asked: a draft says only what its document says.
    pub(super) fn is_resolved(&self) -> bool {
        !self.plan.steps.is_empty() || matches!(self.moment, Moment::Running(_))
    }

    /// How the policy could allow more, as a way out: the line of its file that would, or how to get
    /// such a file.
    pub(super) fn unless_policy_says(&self, line: &str) -> String {
        if self.policy.name == BUILT_IN {
            return "the built-in policy lets only this machine be touched (127.0.0.1, [::1], localhost); for more, write a policy: `chaos init` makes one, and it is found as `chaos-policy.yaml` beside the experiment or in a folder above, or by `--policy FILE`".to_owned();
        }
        format!("or let policy `{}` say `{line}`", self.policy.name)
    }
}

/// A length of time in its two largest units: nobody wants the milliseconds of a month.
pub(super) fn roughly(span: Span) -> Span {
    const UNITS: [u64; 4] = [86_400_000, 3_600_000, 60_000, 1_000];
    let length = span.as_millis();
    let largest = UNITS.iter().position(|unit| length >= *unit);
    let smallest = largest.and_then(|largest| UNITS.get(largest + 1));
    smallest.map_or(span, |unit| Span::from_millis(length - length % unit))
}

/// `a`, `b` and `c`, each in backquotes.
pub(super) fn quoted<T: std::fmt::Display>(all: &[T]) -> String {
    let mut words: Vec<String> = all.iter().map(|one| format!("`{one}`")).collect();
    match (words.pop(), words.is_empty()) {
        (None, _) => "nothing".to_owned(),
        (Some(last), true) => last,
        (Some(last), false) => format!("{} or {last}", words.join(", ")),
    }
}
