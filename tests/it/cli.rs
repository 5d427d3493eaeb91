//! The binary itself, over real sockets and on real terminals. What happened to the world is judged
//! by the server's own list of rules, never by what the binary says about it.
#![expect(clippy::unwrap_used, reason = "a test that cannot ask has failed")]

mod answers;
mod approval;
mod by_hand;
mod completing;
mod documents;
mod evidence;
mod exceptions;
mod help;
mod hints;
mod keys;
mod locking;
mod misbehaving;
mod outcomes;
mod pipes;
mod plans;
mod policies;
mod preflight;
mod reading;
mod recovering;
mod secrets;
mod signals;
mod signing;
mod terminal;
mod ways;

use chaos_gameday::model::approval::{Approval, ApprovalMode, Person, SealedApproval};
use chaos_gameday::plan::StoredPlan;
use chaos_gameday::policy;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::support::localstack::{Misfit, Quirk};
use crate::support::process::{Ended, Files, Place, Running};
use crate::support::target::{Behaviour, Target};

/// What a run says once its fault was seen in for the first time.
pub(crate) const FAULT_IS_IN: &str = "fault seen in";

/// A place to work in, with an experiment on a scripted LocalStack and a service under traffic.
struct Scene {
    place: Place,
    localstack: Misfit,
    target: Target,
}

/// Somebody else's rule: it must stand as it is, whatever comes of a run.
fn foreign() -> Value {
    json!({"region": "eu-west-1", "service": "sqs", "probability": 0.5, "description": "not ours"})
}

fn one_rule() -> &'static str {
    "{service: kinesis, operation: PutRecord}"
}

/// An experiment with these rules; `${BASELINE}` and `${HOLD}` are short.
pub(crate) fn experiment(localstack: &str, service: &str, rules: &str) -> String {
    format!(
        "apiVersion: chaos/v1
kind: Experiment
metadata: {{name: stream-down}}
hypothesis: Orders go on while the stream refuses records.
environment: local
on:
  localstack: {{endpoint: \"{localstack}\", region: us-east-1}}
metrics:
  traffic: {{url: \"{service}\", rate: 20, timeout: 2s, window: 1s}}
slos:
  - {{name: error-rate, traffic: errorRate, objective: \"< 50%\", for: 300ms, every: 200ms}}
baseline: {{for: \"${{BASELINE:-1s}}\"}}
steps:
  - name: stream refuses records
    fault: {{localstack: {{faults: [{rules}]}}}}
    hold: \"${{HOLD:-1s}}\"
recovery: {{within: \"${{RECOVERY:-5s}}\"}}
"
    )
}

impl Scene {
    async fn new() -> Self {
        Self::with_rules(one_rule()).await
    }

    async fn with_rules(rules: &str) -> Self {
        let localstack = Misfit::start(Vec::new()).await;
        localstack.inner().rules.push(foreign());
        let target = Target::start(Behaviour::Answer(vec![200])).await;
        let place = Place::new();
        let text = experiment(&localstack.url, &target.url("/orders"), rules);
        place.write("stream-down.yaml", &text);
        Self {
            place,
            localstack,
            target,
        }
    }

    /// Plans, and returns the plan's id.
    async fn plan(&self, variables: &[&str]) -> String {
        let mut args = vec!["plan", "-q", "stream-down.yaml"];
        for variable in variables {
            args.extend(["--var", variable]);
        }
        let planned = self.place.chaos(&args).await.exits(0);
        planned.stdout.trim().to_owned()
    }

    async fn approved_plan(&self, variables: &[&str]) -> String {
        let plan = self.plan(variables).await;
        approve(&self.place, &plan);
        plan
    }

    /// Plans, approves and starts a run of it.
    async fn start(&self, variables: &[&str], flags: &[&str]) -> Running {
        let plan = self.approved_plan(variables).await;
        let mut args = vec!["run", plan.as_str()];
        args.extend(flags);
        self.place.start(&args)
    }

    /// From now on the LocalStack has these ways.
    fn becomes(&self, quirks: Vec<Quirk>) {
        self.localstack.inner().quirks = quirks;
    }

    /// The rules in place that are ours. Others' must stand as they stood.
    #[track_caller]
    fn ours(&self) -> Vec<Value> {
        let rules = self.localstack.inner().rules.clone();
        let (others, ours) = rules.into_iter().partition(|rule| *rule == foreign());
        let others: Vec<Value> = others;
        assert_eq!(others, [foreign()], "others' rules were touched");
        ours
    }

    #[track_caller]
    fn assert_clean(&self) {
        assert_eq!(self.ours(), Vec::<Value>::new(), "left in place");
    }
}

/// A place in which a run was held whose servers are gone, and what the run said: made once,
/// and copied for each who asks.
async fn after_a_run() -> (Place, String) {
    // Files and not the place itself: what is static is never dropped, and a folder would stay.
    static HELD: OnceCell<(Files, String)> = OnceCell::const_new();
    let (files, said) = HELD
        .get_or_init(|| async {
            let scene = Scene::new().await;
            let run = scene.start(&[], &[]).await.ended().await.exits(0);
            (scene.place.files(), run.stderr)
        })
        .await;
    (Place::with(files), said.clone())
}

/// An experiment for the sandbox, which the fragile app loses and the fixed one stands; quick, and
/// without an SLO on latency, since a busy machine is slow too.
const FOR_THE_SANDBOX: &str = r#"apiVersion: chaos/v1
kind: Experiment
metadata: {name: stream-down}
hypothesis: While the stream refuses every record, callers get a clear answer, never a bare 502.
environment: sandbox
on:
  localstack: {endpoint: "${SANDBOX_AWS:-http://127.0.0.1:7701}", region: us-east-1}
metrics:
  traffic:
    url: "${SANDBOX_APP:-http://127.0.0.1:7700}/orders"
    method: POST
    body: '{"order": "{id}", "item": "tea"}'
    rate: 30
    timeout: 3s
    window: 1s
slos:
  - {name: unclear-answers, traffic: {status: 502}, objective: "== 0", for: 500ms, every: 250ms}
baseline: {for: "${BASELINE:-1s}"}
steps:
  - name: stream refuses records
    fault: {localstack: {faults: [{service: kinesis, operation: PutRecord}]}}
    hold: "${HOLD:-6s}"
recovery: {within: 30s}
"#;

/// An approval of a stored plan whose time ends so many seconds from now.
#[expect(
    clippy::disallowed_methods,
    reason = "the process that judges the approval goes by the wall clock"
)]
fn approval(place: &Place, plan: &str, seconds: i64) -> Approval {
    let (_, text) = place.store().load_plan(plan).unwrap();
    let stored = StoredPlan::from_text(&text).unwrap();
    let now = Timestamp::now();
    let tester = Person {
        user: "tester".to_owned(),
        host: "here".to_owned(),
    };
    let from = now - SignedDuration::from_mins(20);
    let until = now + SignedDuration::from_secs(seconds);
    policy::answer(&stored, &tester, ApprovalMode::Typed, [from, until])
}

/// Writes the file that `chaos approve` writes. Most tests are about what comes after it; those of
/// `terminal` type the name.
pub(crate) fn approve(place: &Place, plan: &str) {
    let approval = approval(place, plan, 600);
    keep(place, approval);
}

/// Plans `game.yaml` with these arguments and approves it; returns the plan's id.
pub(crate) async fn approved_plan(place: &Place, args: &[&str]) -> String {
    let args = [&["plan", "-q", "game.yaml"], args].concat();
    let planned = place.chaos(&args).await.exits(0);
    let plan = planned.stdout.trim().to_owned();
    approve(place, &plan);
    plan
}

/// Keeps an approval as `chaos approve` does.
fn keep(place: &Place, approval: Approval) {
    let sealed = SealedApproval::seal(approval, None);
    place.store().save_approval(&sealed).unwrap();
}

/// How many approvals of a plan are kept.
fn approvals(place: &Place, plan: &str) -> usize {
    let id = plan.parse().unwrap();
    place.store().approvals(&id).unwrap().readable.len()
}

/// The report of the latest run as JSON.
async fn report(place: &Place) -> Value {
    let report = place.chaos(&["report", "last", "-o", "json"]).await;
    report.exits(0).json()
}

/// The words of a run that ended with this code and left nothing.
#[track_caller]
fn ends_clean(scene: &Scene, ended: Ended, code: i32, words: &str) {
    scene.assert_clean();
    ended.exits(code).tells(words);
}
