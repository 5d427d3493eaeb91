//! One plan under one policy, both as people write them, and what the rules say about it.

use std::collections::BTreeMap;

use chaos_gameday::error::Failure;
use chaos_gameday::faults::{Fault, Prepared};
use chaos_gameday::model::cluster::Cluster;
use chaos_gameday::model::history::{Dose, History, PastRun};
use chaos_gameday::model::ids::Digest;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::request::WorldIdentity;
use chaos_gameday::plan::{
    self, DocumentSource, Plan, PlannedStep, Resolution, Source, Spans, StoredPlan, Variables,
    load_experiment,
};
use chaos_gameday::policy::{
    self, Attendance, Facts, Finding, Moment, OwnSandbox, Policy, Severity, load_policy,
};
use chaos_gameday::view::{ColorChoice, Devices, Environment, Loudness, Setup, Size, plan as view};
use jiff::{SignedDuration, Timestamp};

use crate::support::engine::person_at_desk;
use crate::support::events::usual_undo;
use crate::support::screen::captured;

/// A Wednesday morning, on which every plan here is made.
pub const MADE: &str = "2026-03-04T10:00:00Z";

pub fn at(time: &str) -> Timestamp {
    time.parse().expect("a time")
}

pub struct Case {
    pub document: String,
    pub policy: Policy,
    pub history: History,
    pub moment: Moment,
    pub attendance: Attendance,
    pub sandbox: Option<OwnSandbox>,
    pub spoil: fn(&mut Plan),
}

/// An experiment in `staging`, with this under `on` and `steps`.
pub fn experiment(on: &str, steps: &str) -> String {
    format!(
        "apiVersion: chaos/v1
kind: Experiment
metadata: {{name: orders}}
hypothesis: Orders get through.
environment: staging
on:
  {on}
metrics:
  traffic: {{url: \"http://127.0.0.1:7700/orders\", rate: 10}}
slos:
  - {{name: errors, traffic: errorRate, objective: \"< 1%\", for: 5s}}
steps:
{steps}"
    )
}

pub const LOCALSTACK: &str = "localstack: {endpoint: \"http://127.0.0.1:4566\", region: us-east-1}";
pub const CLUSTER: &str = "kubernetes: {context: staging-eu, namespace: checkout}";

/// Steps that fail this share of the writes to Kinesis, one after the other.
pub fn failing(shares: &[f64]) -> String {
    let step = |(index, share): (usize, &f64)| {
        format!(
            "  - name: writes fail {index}
    fault:
      localstack:
        faults:
          - {{service: kinesis, operation: PutRecord, probability: {share}}}
    hold: 30s
"
        )
    };
    shares.iter().enumerate().map(step).collect()
}

pub fn on_localstack(shares: &[f64]) -> String {
    experiment(LOCALSTACK, &failing(shares))
}

/// A step that slows the pods of `app: cart` in a cluster down.
pub fn on_cluster(radius: &str) -> String {
    let steps = format!(
        "  - name: slow redis
    fault:
      chaosMesh:
        NetworkChaos:
          selector: {{labelSelectors: {{app: cart}}}}
          action: delay
          delay: {{latency: 300ms}}
    blastRadius: {radius}
    hold: 30s
"
    );
    experiment(CLUSTER, &steps)
}

/// The policy `ours`, with these lines about the environment `staging`.
pub fn staging(lines: &str) -> Policy {
    whole(lines, "")
}

/// The policy `ours`, with these lines about the environment `staging` and these about everything.
pub fn whole(lines: &str, others: &str) -> Policy {
    let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    let proof = match lines.contains("proof:") {
        true => "",
        false => {
            "    proof:\n      localstack: {hosts: [loopback]}\n      kubernetes: {contexts: [\"staging-*\"]}\n"
        }
    };
    let text = format!(
        "apiVersion: chaos/v1\nkind: Policy\nmetadata: {{name: ours}}\n{others}\nenvironments:\n  staging:\n{proof}{lines}"
    );
    let source = Source {
        name: "chaos-policy.yaml".to_owned(),
        text,
    };
    let files = |_: &str| {
        Ok("ada ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8E0jWQjQx0Yb0Ywz5mTj3nG1m1xO5uQq1m4m3p8J2o\n".to_owned())
    };
    load_policy(&source, &files).unwrap_or_else(|why| panic!("{:?}", why.problems()))
}

/// The cluster that `staging-eu` is.
pub fn cluster() -> Cluster {
    Cluster {
        context: Some("staging-eu".to_owned()),
        api_server: "https://api.staging.example.com:6443".to_owned(),
        uid: "7c9e".to_owned(),
        version: "v1.33.1".to_owned(),
        namespace: "checkout".to_owned(),
        namespace_uid: "11aa".to_owned(),
        namespace_labels: BTreeMap::from([("env".to_owned(), "staging".to_owned())]),
    }
}

/// A run of a step's fault in `staging` that ended so many days before the plan was made.
pub fn ran(fault: &str, share: &str, days: i64, outcome: Outcome) -> PastRun {
    PastRun {
        run: format!("r-{fault}-{days}").parse().expect("a run id"),
        environment: "staging".to_owned(),
        ended: at(MADE) - SignedDuration::from_hours(24 * days),
        outcome,
        doses: vec![dose(fault, share)],
    }
}

/// `stream` is the fault of `failing`, `cart` that of `on_cluster`; any other name is another fault.
pub fn dose(fault: &str, share: &str) -> Dose {
    let document = match fault {
        "stream" => Some(on_localstack(&[0.5])),
        "cart" => Some(on_cluster("50%")),
        _ => None,
    };
    let known = document.map(|document| Case::of(document, staging("")).plan().0);
    let fault = match known {
        Some(plan) => plan.experiment.steps[0].fault.doses()[0].fault.clone(),
        None => Digest::of(fault.as_bytes()),
    };
    Dose {
        fault,
        share: share.parse().expect("a share"),
    }
}

impl Case {
    pub fn of(document: impl Into<String>, policy: Policy) -> Self {
        Self {
            document: document.into(),
            policy,
            history: History::default(),
            moment: Moment::Planning(at(MADE)),
            attendance: Attendance::Person,
            sandbox: None,
            spoil: |_| {},
        }
    }

    /// The same once the world was asked, or its plan's file tampered with.
    pub fn once(self, spoil: fn(&mut Plan)) -> Self {
        Self { spoil, ..self }
    }

    pub fn after(self, runs: Vec<PastRun>) -> Self {
        let history = History { runs };
        Self { history, ..self }
    }

    pub fn running(self, now: &str) -> Self {
        let moment = Moment::Running(at(now));
        Self { moment, ..self }
    }

    pub fn source(&self) -> Source {
        Source {
            name: "orders.yaml".to_owned(),
            text: self.document.clone(),
        }
    }

    pub fn plan(&self) -> (Plan, Spans) {
        let source = self.source();
        let loaded = load_experiment(&source, &Variables::default())
            .unwrap_or_else(|why| panic!("{:?}", why.problems()));
        let source = DocumentSource {
            name: source.name,
            digest: Digest::of(source.text.as_bytes()),
            text: source.text,
        };
        let with = Resolution {
            requester: person_at_desk(),
            now: at(MADE),
            policy: self.policy.identity(),
            replay_of: None,
        };
        let mut plan = plan::draft(loaded.experiment, source, loaded.used, with);
        (self.spoil)(&mut plan);
        (plan, loaded.spans)
    }

    pub fn findings(&self) -> Vec<Finding> {
        let (plan, _) = self.plan();
        policy::evaluate(&Facts {
            plan: &plan,
            policy: &self.policy,
            sandbox: self.sandbox.as_ref(),
            history: &self.history,
            moment: self.moment,
            attendance: self.attendance,
        })
    }

    /// What one rule finds.
    pub fn of_rule(&self, rule: &str) -> Vec<Finding> {
        let mut findings = self.findings();
        findings.retain(|found| found.rule == rule);
        findings
    }

    /// `severity place: message` of what one rule finds.
    pub fn said(&self, rule: &str) -> Vec<String> {
        let findings = self.of_rule(rule).into_iter();
        let said = findings.map(|found| {
            let severity = found.severity.word();
            format!("{severity} {}: {}", found.place, found.message)
        });
        said.collect()
    }

    /// What `chaos plan` prints about a rule, or `chaos run` where the run is about to begin, at 80
    /// columns.
    pub fn printed(&self, rule: &str) -> String {
        let findings = self.of_rule(rule);
        let (plan, spans) = self.plan();
        let denied = findings
            .iter()
            .any(|found| found.severity == Severity::Deny);
        let (printer, seen) = captured(terminal());
        let shown = match (denied, self.moment) {
            (true, Moment::Planning(_)) => {
                let failure = Failure::denied_at(&self.source(), &spans, &findings, Vec::new());
                failure.expect("a denial").show(&printer);
                seen.stderr()
            }
            (true, Moment::Running(_)) => {
                Failure::Denied(findings).show(&printer);
                seen.stderr()
            }
            (false, _) => {
                let stored = StoredPlan::lock(plan).expect("a plan");
                let policy = &self.policy;
                let sheet = view::Sheet {
                    stored: &stored,
                    policy,
                    findings: &findings,
                    standing: None,
                };
                view::show(&printer, &sheet);
                // Ids change with every word of a plan; a page of examples need not.
                let page = seen.stdout().replace(stored.id.as_str(), "p-0123456789");
                // The findings are those of one rule, which say nothing about the other section.
                let (from, to) = match rule {
                    "approval" => ("Who must say yes", "\n\ndigest"),
                    _ => ("Policy ", "\n\nWho must say yes"),
                };
                let from = page.find(from).expect("a heading");
                let to = page.rfind(to).expect("what comes after it");
                let next = page.rfind("next").map_or("", |at| &page[at..]);
                format!("{}\n\n{next}", &page[from..to])
            }
        };
        shown.trim_end().to_owned()
    }
}

fn terminal() -> Setup {
    Setup {
        devices: Devices::TERMINAL,
        loudness: Loudness::Normal,
        size: Size::Fixed(80, 24),
        choice: ColorChoice::Never,
        environment: Environment::default(),
    }
}

/// Steps as the world answered.
pub fn resolve(plan: &mut Plan) {
    let steps = plan.experiment.steps.iter().map(|step| PlannedStep {
        name: step.name.clone(),
        prepared: Prepared {
            world: WorldIdentity {
                platform: match &step.fault {
                    Fault::LocalStack(_) => "localstack".to_owned(),
                    Fault::ChaosMesh(_) | Fault::Simulated(_) => "kubernetes".to_owned(),
                },
                endpoint: match &step.fault {
                    Fault::LocalStack(fault) => fault.endpoint.clone(),
                    Fault::ChaosMesh(_) | Fault::Simulated(_) => cluster().api_server,
                },
                session: None,
                version: "4.9.2".to_owned(),
                edition: "pro".to_owned(),
            },
            targets: Vec::new(),
            blast_radius: "all".to_owned(),
            summaries: Vec::new(),
            requests: Vec::new(),
            undo_requests: Vec::new(),
            undo: usual_undo(),
            warnings: Vec::new(),
        },
    });
    plan.steps = steps.collect();
}
