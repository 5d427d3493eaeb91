//! The only requests that change a LocalStack: PATCH and DELETE of our own rules, POST of the latency.
//! Never a POST of the rules, which would replace everybody's.

use reqwest::Method;
use serde_json::{Value, json};

use super::api::{ChaosApi, EFFECTS, FAULTS};
use super::ownership::Division;
use super::sameness::Meaning;
use super::survey;
use crate::faults::Injection;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::request::Exchange;
use crate::model::undo::{LatencyUndo, LocalStackUndo};

/// A rule that stands twice may need a DELETE for each, and a list shows whether it helped.
const DELETE_ROUNDS: usize = 3;

/// A sequence of requests and all that they exchanged.
pub(super) struct Writes<'a> {
    api: &'a ChaosApi<'a>,
    exchanges: Vec<Exchange>,
}

impl<'a> Writes<'a> {
    pub(super) fn new(api: &'a ChaosApi<'a>) -> Self {
        Self {
            api,
            exchanges: Vec::new(),
        }
    }

    /// Puts the fault in. What of it is in after a failure, the undo takes out.
    pub(super) async fn inject(mut self, undo: &LocalStackUndo) -> Injection {
        let result = self.put_in(undo).await;
        self.done(result)
    }

    /// Takes the fault out: only what is there, and only what is ours.
    pub(super) async fn revert(mut self, undo: &LocalStackUndo) -> Injection {
        let rules = match undo.rules.is_empty() {
            true => Ok(()),
            false => self.take_out_rules(undo).await,
        };
        // The latency is tried whatever became of the rules.
        let latency = match undo.latency {
            Some(latency) => self.take_out_latency(latency).await,
            None => Ok(()),
        };
        self.done(rules.and(latency))
    }

    fn done(self, result: Result<(), Problem>) -> Injection {
        Injection {
            exchanges: self.exchanges,
            result,
        }
    }

    async fn put_in(&mut self, undo: &LocalStackUndo) -> Result<(), Problem> {
        self.recognise(undo).await?;
        if !undo.rules.is_empty() {
            let body = Value::Array(undo.rules.clone());
            self.write(Method::PATCH, FAULTS, body)
                .await
                .map_err(explain_refusal)?;
        }
        if let Some(latency) = undo.latency {
            self.set_latency(latency.set_ms).await?;
        }
        Ok(())
    }

    /// Writes only to the instance that was planned, and only if it still has a Chaos API.
    async fn recognise(&self, undo: &LocalStackUndo) -> Result<(), Problem> {
        let now = survey::session(self.api).await?;
        if undo.session.is_some() && undo.session != now {
            return Err(Problem::new(
                ProblemKind::Conflict,
                format!(
                    "the LocalStack at {} is another instance than the planned one; nothing was sent",
                    self.api.endpoint()
                ),
            )
            .hint("it restarted just before the fault went in; make a new plan"));
        }
        survey::rules(self.api).await.map(drop)
    }

    async fn take_out_rules(&mut self, undo: &LocalStackUndo) -> Result<(), Problem> {
        let mut refusal = None;
        for round in 0..=DELETE_ROUNDS {
            let listed = match self.list().await {
                // A DELETE whose answer was lost may have worked; only the list knows.
                Err(problem) => return Err(refusal.unwrap_or(problem)),
                Ok(listed) => listed,
            };
            let ours = rules_to_delete(&listed, undo, round);
            if ours.is_empty() {
                return Ok(());
            }
            if round == DELETE_ROUNDS {
                break;
            }
            let sent = self.write(Method::DELETE, FAULTS, Value::Array(ours)).await;
            if let Err(problem) = sent {
                refusal = Some(problem);
            }
        }
        Err(refusal.unwrap_or_else(|| {
            Problem::new(
                ProblemKind::Unexpected,
                format!(
                    "the LocalStack at {} acknowledged the DELETE of our rules and still lists them",
                    self.api.endpoint()
                ),
            )
        }))
    }

    async fn take_out_latency(&mut self, latency: LatencyUndo) -> Result<(), Problem> {
        match survey::latency(self.api).await {
            Ok(now) if now == latency.set_ms => self.set_latency(latency.former_ms).await,
            // Somebody else's by now, or never set.
            Ok(_) => Ok(()),
            // A restart may have brought an instance without effects: no latency stands there.
            Err(problem) if problem.kind == ProblemKind::Absent => Ok(()),
            Err(problem) => Err(problem),
        }
    }

    async fn list(&self) -> Result<Vec<Value>, Problem> {
        match survey::rules(self.api).await {
            // Nothing of ours can stand where there is no Chaos API; whether that is believable is
            // judged by whoever asks whether the fault is gone.
            Err(problem) if problem.kind == ProblemKind::Absent => Ok(Vec::new()),
            other => other,
        }
    }

    async fn set_latency(&mut self, milliseconds: u64) -> Result<(), Problem> {
        let body = json!({"latency": milliseconds});
        self.write(Method::POST, EFFECTS, body).await
    }

    async fn write(&mut self, method: Method, path: &str, body: Value) -> Result<(), Problem> {
        let what = format!("{method} {}{path}", self.api.endpoint());
        let call = self.api.send(method, path, Some(body)).await;
        self.exchanges.push(call.exchange);
        let answer = call.answer?;
        match answer.status {
            400 => Err(Problem::new(
                ProblemKind::Refused,
                format!(
                    "{what} was refused as invalid: 400, {}",
                    answer.body.words()
                ),
            )),
            _ => answer.acknowledged(&what),
        }
    }
}

/// The 400 names no field. Ours passed the published patterns, so what remains is our tag.
fn explain_refusal(problem: Problem) -> Problem {
    if problem.kind != ProblemKind::Refused || problem.hint.is_some() {
        return problem;
    }
    problem.hint(
        "a LocalStack that is older than the `description` field refuses our tag, and untagged rules could not be told from others'; use a newer one",
    )
}

/// Our rules as the server shows them, each once (the list of a request may hold nothing twice). A
/// server that compares with what was sent, not with what it shows, gets that in the second round.
fn rules_to_delete(listed: &[Value], undo: &LocalStackUndo, round: usize) -> Vec<Value> {
    let division = Division::new(listed, undo);
    let mut rules: Vec<Value> = Vec::new();
    for entry in division.ours() {
        let sent = || {
            let mut sent = undo.rules.iter();
            sent.find(|rule| {
                Meaning::read(rule).is_some_and(|rule| rule.has_effect_of(&entry.meaning))
            })
        };
        let rule = match round {
            1 => sent().unwrap_or(entry.rule),
            _ => entry.rule,
        };
        if !rules.contains(rule) {
            rules.push(rule.clone());
        }
    }
    rules
}
