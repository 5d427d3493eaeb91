//! The rules: one private file each, one line each in `RULES`.

mod approval;
mod credentials;
mod environment;
mod figures;
mod gates;
mod local_only;
mod own_sandbox;
mod production;
mod rehearsal;

use super::document::{Attendance, Environment, Moment, Policy};
use super::finding::{Finding, Severity};
use crate::metrics::Metric;
use crate::model::approval::Exception;
use crate::model::history::History;
use crate::plan::Plan;

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
            moment: Moment::Planning,
            attendance: Attendance::Person,
        }
    }

    /// What the policy says about the plan's environment; `None`: it does not know it, which the rule
    /// `environment` denies.
    fn environment(&self) -> Option<&'a Environment> {
        self.policy.environment(&self.plan.experiment.environment)
    }
}

/// A sandbox that this very process started; nobody else can be hurt in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnSandbox {
    /// Base URL of its order API.
    pub app_url: String,
    /// Base URL of its Chaos API.
    pub aws_url: String,
}

impl OwnSandbox {
    /// Whether a plan touches nothing but this sandbox.
    pub fn holds(&self, plan: &Plan) -> bool {
        self.outside(plan).is_none()
    }

    /// The first thing that a plan touches outside this sandbox.
    pub fn outside(&self, plan: &Plan) -> Option<String> {
        let worlds = plan.worlds();
        let world = worlds.iter().find(|world| world.endpoint != self.aws_url);
        let world = world.map(|world| format!("the endpoint {}", world.endpoint));
        let traffic = plan.experiment.metrics.traffic.as_ref();
        let traffic = traffic.filter(|spec| !self.serves(&spec.url));
        let traffic = traffic.map(|spec| format!("the traffic to {}", spec.url));
        world
            .or(traffic)
            .or_else(|| self.source_outside(plan))
            .or_else(|| self.program_outside(plan))
    }

    /// Every Prometheus, and every page but the sandbox's own.
    fn source_outside(&self, plan: &Plan) -> Option<String> {
        let specs = &plan.experiment.metrics;
        let prometheus = specs.prometheus.as_ref();
        let prometheus = prometheus.map(|spec| format!("the Prometheus at {}", spec.url));
        let mut pages = specs.scrape.iter().flat_map(|spec| &spec.targets);
        let page = || {
            let page = pages.find(|target| !self.serves(&target.url));
            page.map(|target| format!("the page {}", target.url))
        };
        prometheus.or_else(page)
    }

    fn serves(&self, url: &str) -> bool {
        let rest = url.strip_prefix(&self.app_url);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
    }

    fn program_outside(&self, plan: &Plan) -> Option<String> {
        plan.experiment
            .slos
            .iter()
            .find_map(|gauged| match &gauged.metric {
                Metric::Command(command) if !self.answers(&command.argv) => {
                    Some(format!("the command of `{}`", gauged.slo.name))
                }
                Metric::Command(_)
                | Metric::Traffic(_)
                | Metric::Prometheus(_)
                | Metric::Scrape(_)
                | Metric::Simulated(_) => None,
            })
    }

    /// Whether it is the one program that cannot hurt anybody: this binary, asking this sandbox for
    /// its figures.
    fn answers(&self, argv: &[String]) -> bool {
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        words == ["chaos", "sandbox", "status", "--url", self.app_url.as_str()]
    }
}

/// A rule of the policy.
pub struct Rule {
    /// Its name, as findings carry it.
    pub name: &'static str,
    /// What it is for, one sentence.
    pub purpose: &'static str,
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
}

/// Every rule, in the order in which findings are shown.
pub const RULES: &[Rule] = &[
    Rule {
        name: "environment",
        purpose: "an experiment names an environment that the policy knows",
        check: environment::check,
    },
    Rule {
        name: "local-only",
        purpose: "faults, and the requests that measure them, stay on this machine",
        check: local_only::check,
    },
    Rule {
        name: "credentials",
        purpose: "no secret leaves this machine unencrypted",
        check: credentials::check,
    },
    Rule {
        name: "own-sandbox",
        purpose: "what is read is about the sandbox that is broken",
        check: own_sandbox::check,
    },
    Rule {
        name: "production",
        purpose: "nothing that smells of production is touched",
        check: production::check,
    },
    Rule {
        name: "figures",
        purpose: "holds, latencies, baselines and traffic stay within bounds",
        check: figures::check,
    },
    Rule {
        name: "gates",
        purpose: "enough SLOs can end the run",
        check: gates::check,
    },
    Rule {
        name: "rehearsal",
        purpose: "SLOs can be judged, can fail, and are quiet and quick enough while no fault is in",
        check: rehearsal::check,
    },
    Rule {
        name: "approval",
        purpose: "a person says yes to exactly this plan",
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
