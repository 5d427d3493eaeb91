//! The plans that schedules run: made and admitted once.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use chaos_gameday::faults::simulated::SimulatedWorld;
use chaos_gameday::faults::{self, Fault, LocalStackFault, Owner};
use chaos_gameday::metrics::{Metric, MetricSpecs};
use chaos_gameday::model::approval::{ApprovalMode, Person, SealedApproval};
use chaos_gameday::model::history::History;
use chaos_gameday::model::ids::Digest;
use chaos_gameday::model::slo::{Reaction, Slo};
use chaos_gameday::model::units::Span;
use chaos_gameday::plan::document::{Experiment, GaugedSlo, Step, Worlds};
use chaos_gameday::plan::{DocumentSource, Plan, PlannedStep, StoredPlan};
use chaos_gameday::policy::{self, Admission, AdmittedPlan};
use jiff::Timestamp;

use crate::localstack::{ENDPOINT, LATENCY_MS, Obedient};
use crate::world::Kind;

/// A plan, and what its world has to be like.
pub struct Shape {
    pub plan: AdmittedPlan,
    pub world: Kind,
    /// The faults and of how many parts they are.
    pub parts: Vec<(&'static str, usize)>,
}

const STEPS: [&[&str]; 4] = [
    &["alpha"],
    &["alpha"],
    &["alpha", "beta"],
    // A ladder: the same fault again.
    &["alpha", "beta", "alpha"],
];
const PARTS: [usize; 3] = [1, 2, 3];
const SLO_SETS: u64 = 5;

/// How long a fault is held, in milliseconds.
pub const HOLD: Span = Span::from_secs(4);
/// How long the SLOs are watched before.
pub const BASELINE: Span = Span::from_secs(2);

/// The one of this number.
pub fn shape(number: u64) -> &'static Shape {
    static SHAPES: OnceLock<Vec<Shape>> = OnceLock::new();
    let shapes = SHAPES.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(all())
    });
    let place = number % shapes.len() as u64;
    &shapes[usize::try_from(place).expect("few shapes")]
}

async fn all() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for world in [Kind::Scripted, Kind::LocalStack] {
        for steps in STEPS {
            for parts in PARTS {
                for set in 0..SLO_SETS {
                    shapes.push(Shape {
                        plan: admitted(world, steps, parts, set).await,
                        world,
                        parts: steps.iter().map(|name| (*name, parts)).collect(),
                    });
                }
            }
        }
    }
    shapes
}

pub fn person() -> Person {
    Person {
        user: "sam".to_owned(),
        host: "desk".to_owned(),
    }
}

/// When every schedule begins.
pub fn beginning() -> Timestamp {
    "2026-01-01T00:02:00Z".parse().expect("a time")
}

fn slo(name: &str, patience: Span, on_breach: Reaction, on_no_data: Reaction) -> GaugedSlo {
    GaugedSlo {
        slo: Slo {
            name: name.to_owned(),
            reads: format!("script {name}"),
            objective: "< 1%".parse().expect("an objective"),
            patience,
            blind_patience: Span::from_secs(2),
            on_breach,
            on_no_data,
            every: Span::from_secs(1),
        },
        metric: Metric::Simulated(name.to_owned()),
    }
}

/// The first is always a gate.
fn slos(set: u64) -> Vec<GaugedSlo> {
    let rollback = Reaction::Rollback;
    let one = |patience| slo("errors", patience, rollback, rollback);
    match set {
        0 => vec![one(Span::ZERO)],
        1 => vec![one(Span::from_millis(1_500))],
        2 => vec![slo(
            "errors",
            Span::from_secs(1),
            rollback,
            Reaction::Record,
        )],
        3 => vec![
            one(Span::from_secs(2)),
            slo("latency", Span::ZERO, Reaction::Record, Reaction::Record),
        ],
        _ => vec![
            one(Span::from_secs(60)),
            slo("latency", Span::from_secs(1), rollback, rollback),
        ],
    }
}

async fn admitted(world: Kind, names: &[&str], parts: usize, set: u64) -> AdmittedPlan {
    let policy = policy::built_in();
    let plan = Plan {
        policy: policy.identity(),
        ..plan(world, names, parts, set).await
    };
    let stored = StoredPlan::lock(plan).expect("a plan that can be written");
    let at = |text: &str| text.parse().expect("a time");
    let times = [at("2026-01-01T00:00:00Z"), at("2026-01-01T00:30:00Z")];
    let person = person();
    let yes = policy::answer(&stored, &person, ApprovalMode::Typed, times);
    let by = Admission {
        approvals: &[SealedApproval::seal(yes, None)],
        ..Admission::by(&policy, at("2026-01-01T00:01:00Z"), &person)
    };
    policy::admit(stored, by).expect("an admitted plan")
}

/// So many rules and latencies.
fn on_localstack(parts: usize) -> LocalStackFault {
    let rule = |service: &str| {
        serde_json::from_value(serde_json::json!({"region": "us-east-1", "service": service}))
            .expect("a rule")
    };
    let services = ["kinesis", "dynamodb"];
    LocalStackFault {
        endpoint: ENDPOINT.to_owned(),
        faults: services
            .iter()
            .take(parts)
            .map(|service| rule(service))
            .collect(),
        latency: (parts > services.len()).then(|| Span::from_millis(LATENCY_MS)),
    }
}

async fn plan(world: Kind, names: &[&str], parts: usize, set: u64) -> Plan {
    let mut steps = Vec::new();
    let mut planned = Vec::new();
    let scripted = SimulatedWorld::new();
    for (place, name) in names.iter().enumerate() {
        scripted.give_parts(name, parts);
        let (fault, driver) = match world {
            Kind::Scripted => (Fault::Simulated((*name).to_owned()), scripted.driver()),
            Kind::LocalStack => (
                Fault::LocalStack(on_localstack(parts)),
                faults::driver_over(Arc::new(Obedient)),
            ),
        };
        let prepared = driver.prepare(&fault, &Owner::Plan).await;
        let step = format!("{name} {place}");
        planned.push(PlannedStep {
            name: step.clone(),
            prepared: prepared.expect("an obedient world"),
        });
        steps.push(Step {
            name: step,
            fault,
            hold: HOLD,
            written: None,
        });
    }
    let text = "kind: Experiment\n".to_owned();
    Plan {
        format: 1,
        tool: "0.1.0".to_owned(),
        created: "2026-01-01T00:00:00Z".parse().expect("a time"),
        requester: person(),
        source: DocumentSource {
            name: "scripted.yaml".to_owned(),
            digest: Digest::of(text.as_bytes()),
            text,
        },
        variables: BTreeMap::new(),
        experiment: Experiment {
            name: "scripted".parse().expect("a name"),
            labels: BTreeMap::new(),
            hypothesis: "it holds".to_owned(),
            environment: "sandbox".to_owned(),
            on: Worlds::default(),
            metrics: MetricSpecs::default(),
            slos: slos(set),
            baseline: BASELINE,
            steps,
            recovery_within: Span::from_secs(4),
        },
        steps: planned,
        cluster: None,
        policy: policy::built_in().identity(),
        replay_of: None,
        rehearsals: Vec::new(),
        history: History::default(),
        runs_in_past: Vec::new(),
    }
}
