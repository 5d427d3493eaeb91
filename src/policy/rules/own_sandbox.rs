//! A sandbox that this process starts is new and on ports of its own: no Prometheus can know it, and
//! what one says is about another.

use super::{Facts, Found};
use crate::metrics::Metric;
use crate::plan::Plan;

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

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let prometheus = facts.plan.experiment.metrics.prometheus.as_ref();
    let Some((_, spec)) = facts.sandbox.zip(prometheus) else {
        return Vec::new();
    };
    vec![Found::deny(
        "metrics.prometheus",
        format!(
            "the Prometheus at {} does not know the sandbox that `--sandbox` starts: whatever it says is about something else",
            spec.url
        ),
        "start `chaos sandbox` in another terminal, let Prometheus scrape it, and run without `--sandbox`; or read the sandbox's page with `metrics.scrape`",
    )]
}
