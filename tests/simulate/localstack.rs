//! A LocalStack in memory: the sandbox's own rules, behind lines that lose requests and answers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use chaos_gameday::faults::{Reply, Wire};
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::request::Request;
use chaos_gameday::sandbox::InMemory;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::dice::Dice;
use crate::engine;
use crate::life::{Life, behind};
use crate::sim::Sim;

pub const ENDPOINT: &str = "http://127.0.0.1:4566";
/// What a step sets where it sets a latency, in milliseconds.
pub const LATENCY_MS: u64 = 800;

const FAULTS: &str = "/_localstack/chaos/faults";
const EFFECTS: &str = "/_localstack/chaos/effects";

/// The server, and what it knows of who did what.
#[derive(Debug)]
pub struct Stack {
    inner: Mutex<Inner>,
}

struct Inner {
    server: InMemory,
    session: usize,
    /// The rules of others, as only they left them.
    foreign: Vec<Value>,
    /// The latency that only others set.
    foreign_latency_ms: u64,
    late: Vec<Late>,
    history: Vec<(Instant, Vec<String>)>,
    dice: Dice,
    wild: Wild,
    damage: Vec<String>,
    /// The latency as it was last told, and whom.
    told_latency: Option<(u32, u64)>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Inner").finish_non_exhaustive()
    }
}

/// How much goes wrong, in a thousand requests.
#[derive(Debug, Clone, Copy)]
pub struct Wild {
    pub writes: u32,
    pub reads: u32,
    /// How long every answer takes.
    pub pace: Duration,
    /// Hardly anything is done between these two.
    pub storm: (Instant, Instant),
    pub until: Option<Instant>,
}

/// A write that is under way.
struct Late {
    due: Instant,
    method: String,
    path: String,
    body: Vec<u8>,
}

/// How a request is taken.
#[derive(Debug, Clone)]
enum Manner {
    Works,
    /// There is no connection.
    Refused,
    /// It is lost, and nobody says so.
    Hangs,
    /// This answer, and nothing is done.
    Answers(u16, &'static str),
    /// It is done, and this is the answer.
    DoneBut(u16),
    /// Acknowledged and not done.
    Lies,
    /// It is done, and the answer is lost.
    LosesAnswer,
    /// The connection breaks, and it is done later.
    LandsLate(Duration),
    /// It is done then, and answered a while later.
    Slow(Duration, Duration),
}

fn label(rule: &Value) -> String {
    format!("rule {}", rule["service"].as_str().unwrap_or_default())
}

fn tag() -> Value {
    json!(format!("chaos:{}", engine::run_id()))
}

impl Stack {
    pub fn new(mut dice: Dice, wild: Wild) -> Self {
        let foreign = dice.pick(&[
            vec![],
            vec![json!({"service": "s3", "description": "theirs"})],
            vec![
                json!({"service": "sqs"}),
                json!({"service": "s3", "probability": 0.5}),
            ],
        ]);
        let foreign_latency_ms = dice.pick(&[0, 0, 5]);
        let mut inner = Inner {
            server: InMemory::new("session-0"),
            session: 0,
            foreign,
            foreign_latency_ms,
            late: Vec::new(),
            history: Vec::new(),
            dice,
            wild,
            damage: Vec::new(),
            told_latency: None,
        };
        inner.restore_foreign();
        Self {
            inner: Mutex::new(inner),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.land();
        inner
    }

    pub fn in_place(&self) -> Vec<String> {
        self.inner().labels()
    }

    pub fn history(&self) -> Vec<(Instant, Vec<String>)> {
        self.inner().history.clone()
    }

    /// What was done to others.
    pub fn damage(&self) -> Vec<String> {
        std::mem::take(&mut self.inner().damage)
    }

    pub fn tame(&self) {
        let now = Instant::now();
        self.inner().wild = Wild {
            writes: 0,
            reads: 0,
            pace: Duration::ZERO,
            storm: (now, now),
            until: None,
        };
    }

    pub fn restart(&self) {
        let mut inner = self.inner();
        inner.session += 1;
        let session = format!("session-{}", inner.session);
        inner.server = InMemory::new(session);
        inner.foreign.clear();
        inner.foreign_latency_ms = 0;
        inner.late.clear();
        inner.remember(Instant::now());
    }

    /// Others replace the whole list by their own rules, as a POST does.
    pub fn remove_fault(&self) {
        let mut inner = self.inner();
        inner.restore_foreign();
        inner.remember(Instant::now());
    }

    /// Others add a rule, take one out, or set a latency of their own.
    pub fn change_foreign(&self) {
        let mut inner = self.inner();
        match inner.dice.below(3) {
            0 => {
                let rule = json!({"service": "sns", "description": "theirs too"});
                inner.foreign.push(rule.clone());
                inner.ask("PATCH", FAULTS, &json!([rule]));
            }
            1 => {
                if let Some(rule) = inner.foreign.pop() {
                    inner.foreign.retain(|other| *other != rule);
                    inner.ask("DELETE", FAULTS, &json!([rule]));
                }
            }
            _ => {
                inner.foreign_latency_ms = 300;
                inner.ask("POST", EFFECTS, &json!({"latency": 300}));
            }
        }
        inner.remember(Instant::now());
    }
}

impl Inner {
    fn ask(&mut self, method: &str, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        self.server.answer(method, path, body.as_bytes()).1
    }

    fn restore_foreign(&mut self) {
        let foreign = json!(self.foreign);
        self.ask("POST", FAULTS, &foreign);
        let latency = json!({"latency": self.foreign_latency_ms});
        self.ask("POST", EFFECTS, &latency);
    }

    fn rules(&mut self) -> Vec<Value> {
        match self.ask("GET", FAULTS, &Value::Null) {
            Value::Array(rules) => rules,
            _ => Vec::new(),
        }
    }

    fn latency_ms(&mut self) -> u64 {
        self.ask("GET", EFFECTS, &Value::Null)["latency"]
            .as_u64()
            .unwrap_or_default()
    }

    fn labels(&mut self) -> Vec<String> {
        let rules = self.rules();
        let ours = rules.iter().filter(|rule| rule["description"] == tag());
        let mut labels: Vec<String> = ours.map(label).collect();
        // Others never set this one.
        if self.latency_ms() == LATENCY_MS {
            labels.push("latency".to_owned());
        }
        labels
    }

    fn remember(&mut self, at: Instant) {
        let labels = self.labels();
        if self.history.last().map(|(_, before)| before) != Some(&labels) {
            self.history.push((at, labels));
        }
    }

    fn land(&mut self) {
        if self.late.is_empty() {
            return;
        }
        let now = Instant::now();
        let (mut due, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.late)
            .into_iter()
            .partition(|late| late.due <= now);
        self.late = rest;
        due.sort_by_key(|late| late.due);
        for late in due {
            self.server.answer(&late.method, &late.path, &late.body);
            self.remember(late.due);
            self.look_after_foreign();
        }
    }

    /// Law: others' rules stand byte for byte.
    fn look_after_foreign(&mut self) {
        let rules = self.rules();
        let theirs: Vec<&Value> = rules
            .iter()
            .filter(|rule| rule["description"] != tag())
            .collect();
        if theirs != self.foreign.iter().collect::<Vec<_>>() {
            let damage = format!("others' rules were {:?} and are {theirs:?}", self.foreign);
            self.damage.push(damage);
        }
    }

    fn manner(&mut self, method: &str) -> Manner {
        let now = Instant::now();
        let (from, to) = self.wild.storm;
        if from <= now && now < to && self.dice.happens(950) {
            return self.dice.pick(&[
                Manner::Refused,
                Manner::Refused,
                Manner::Hangs,
                Manner::Answers(503, "<html>gateway</html>"),
            ]);
        }
        let over = self.wild.until.is_some_and(|until| now >= until);
        let wild = match method {
            // An operation asks several times.
            "GET" => self.wild.reads / 3,
            _ => self.wild.writes,
        };
        if over || !self.dice.happens(wild) {
            return match self.wild.pace {
                Duration::ZERO => Manner::Works,
                pace => Manner::Slow(pace / 2, pace / 2),
            };
        }
        let dice = &mut self.dice;
        let broken = dice.pick(&[
            Manner::Refused,
            Manner::Hangs,
            Manner::Answers(500, "{\"message\": \"oops\"}"),
            Manner::Answers(503, "<html>gateway</html>"),
            Manner::Answers(404, ""),
            Manner::Answers(200, "<html>hello</html>"),
        ]);
        match (method, dice.below(10)) {
            (_, 0..=2) => broken,
            ("GET", _) => Manner::Slow(Duration::ZERO, dice.within(9_000)),
            (_, 3) => Manner::DoneBut(dice.pick(&[500, 503])),
            (_, 4) => Manner::Lies,
            (_, 5 | 6) => Manner::LosesAnswer,
            (_, 7 | 8) => Manner::LandsLate(dice.within(10_000)),
            (_, _) => Manner::Slow(dice.within(5_000), dice.within(4_000)),
        }
    }
}

/// One process's way to the server.
pub struct Line {
    sim: Weak<Sim>,
    life: Arc<Life>,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Line").finish_non_exhaustive()
    }
}

fn lost() -> Problem {
    Problem::new(ProblemKind::Unreachable, "there was no answer")
}

impl Line {
    pub fn new(sim: &Arc<Sim>, life: &Arc<Life>) -> Self {
        Self {
            sim: Arc::downgrade(sim),
            life: Arc::clone(life),
        }
    }

    async fn carry(&self, request: &Request, patience: Duration) -> Result<Reply, Problem> {
        let sim = self.sim.upgrade().ok_or_else(lost)?;
        let stack = sim.stack();
        let method = request.method.as_str();
        let manner = stack.inner().manner(method);
        let path = request.url.strip_prefix(ENDPOINT).unwrap_or_default();
        sim.trace(|| format!("{method} {path}: {manner:?}"));
        match manner {
            Manner::Works => Ok(self.done(&sim, request, path)),
            Manner::Refused => Err(lost()),
            Manner::Hangs => {
                tokio::time::sleep(patience).await;
                Err(lost())
            }
            Manner::Answers(status, body) => Ok(reply(status, body.to_owned())),
            Manner::DoneBut(status) => {
                self.done(&sim, request, path);
                Ok(reply(status, "{}".to_owned()))
            }
            Manner::Lies => Ok(reply(200, "[]".to_owned())),
            Manner::LosesAnswer => {
                self.done(&sim, request, path);
                Err(lost())
            }
            Manner::LandsLate(after) => {
                self.send(&sim, request, path, after);
                Err(lost())
            }
            Manner::Slow(lands, answers) if method == "GET" => {
                tokio::time::sleep(lands).await;
                let reply = self.done(&sim, request, path);
                tokio::time::sleep(answers).await;
                Ok(reply)
            }
            Manner::Slow(lands, answers) => {
                self.send(&sim, request, path, lands);
                tokio::time::sleep(lands + answers).await;
                Ok(reply(200, "[]".to_owned()))
            }
        }
    }

    /// A write leaves its process, and lands then.
    fn send(&self, sim: &Sim, request: &Request, path: &str, lands: Duration) {
        self.judge(sim, request, path);
        let mut inner = sim.stack().inner();
        let body = request
            .body
            .as_ref()
            .map(Value::to_string)
            .unwrap_or_default();
        inner.late.push(Late {
            due: Instant::now() + lands,
            method: request.method.clone(),
            path: path.to_owned(),
            body: body.into_bytes(),
        });
        inner.land();
    }

    fn done(&self, sim: &Sim, request: &Request, path: &str) -> Reply {
        let body = request
            .body
            .as_ref()
            .map(Value::to_string)
            .unwrap_or_default();
        if request.method != "GET" {
            self.judge(sim, request, path);
        }
        let mut inner = sim.stack().inner();
        let (status, shown) = inner.server.answer(&request.method, path, body.as_bytes());
        if request.method == "GET" {
            if path == EFFECTS {
                inner.told_latency = shown["latency"].as_u64().map(|ms| (self.life.id, ms));
            }
        } else {
            inner.remember(Instant::now());
            inner.look_after_foreign();
        }
        reply(status, shown.to_string())
    }

    /// What a write may be.
    fn judge(&self, sim: &Sim, request: &Request, path: &str) {
        let goes_in = match (request.method.as_str(), path) {
            ("PATCH", FAULTS) => true,
            ("DELETE", FAULTS) => false,
            ("POST", EFFECTS) => {
                let sets = request
                    .body
                    .as_ref()
                    .and_then(|body| body["latency"].as_u64());
                self.judge_latency(sim, sets);
                sets == Some(LATENCY_MS)
            }
            (method, path) => {
                sim.violate(format!("{method} {path} is sent"));
                false
            }
        };
        sim.write_sent(&self.life, goes_in.then_some(path));
    }

    /// Others' latency is theirs, unless it changed since the last look.
    fn judge_latency(&self, sim: &Sim, sets: Option<u64>) {
        let mut inner = sim.stack().inner();
        let stands = inner.latency_ms();
        let seen = inner.told_latency == Some((self.life.id, stands));
        drop(inner);
        if sets != Some(LATENCY_MS) && stands != LATENCY_MS && seen {
            sim.violate(format!("others' latency of {stands} ms is set to {sets:?}"));
        }
    }
}

fn reply(status: u16, body: String) -> Reply {
    Reply {
        status,
        body: body.into_bytes(),
        request_id: None,
    }
}

impl Wire for Line {
    fn send<'a>(
        &'a self,
        _: &'a str,
        request: &'a Request,
        patience: Duration,
    ) -> BoxFuture<'a, Result<Reply, Problem>> {
        Box::pin(behind(&self.life, self.carry(request, patience)))
    }
}

/// A server that obeys, to plan against.
#[derive(Debug)]
pub struct Obedient;

impl Wire for Obedient {
    fn send<'a>(
        &'a self,
        _: &'a str,
        request: &'a Request,
        _: Duration,
    ) -> BoxFuture<'a, Result<Reply, Problem>> {
        Box::pin(async move {
            let path = request.url.strip_prefix(ENDPOINT).unwrap_or_default();
            let (status, shown) = InMemory::new("session-0").answer(&request.method, path, b"");
            Ok(reply(status, shown.to_string()))
        })
    }
}
