//! The only requests that change a LocalStack: PATCH and DELETE of our own rules, POST of the latency.
//! Never a POST of the rules, which would replace everybody's.

use reqwest::Method;
use serde_json::{Value, json};

use super::api::{ChaosApi, EFFECTS, FAULTS};
use super::conflicts;
use super::memory::{LatencyOwner, Memory, Tags};
use super::ownership::{Division, shown, shown_by_patch};
use super::sameness::Meaning;
use super::sight::continuity_by_session;
use super::survey;
use crate::faults::Injection;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::request::{Continuity, Exchange};
use crate::model::undo::{LatencyUndo, LocalStackUndo};
use crate::model::units::Span;

/// A rule that stands twice may need a DELETE for each, and a list shows whether it helped.
const DELETE_ROUNDS: usize = 3;

/// What a DELETE says: a server may compare with what it was sent or with what it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    AsSent,
    AsListed,
}

impl Form {
    /// What was recorded goes first: it is what the plan and the commands by hand say.
    fn of_round(round: usize) -> Self {
        match round {
            0 => Self::AsSent,
            _ => Self::AsListed,
        }
    }
}

/// Why rules may still be there.
enum NotOut {
    /// The list of rules gave no answer at all.
    Deaf(Problem),
    /// Any other reason.
    Said(Problem),
}

impl NotOut {
    /// What went wrong earlier tells more.
    fn after(self, earlier: Option<Problem>) -> Self {
        match self {
            Self::Deaf(problem) => Self::Deaf(earlier.unwrap_or(problem)),
            Self::Said(problem) => Self::Said(earlier.unwrap_or(problem)),
        }
    }
}

/// A sequence of requests and all that they exchanged.
pub(super) struct Writes<'a> {
    api: &'a ChaosApi<'a>,
    memory: &'a Memory,
    exchanges: Vec<Exchange>,
}

impl<'a> Writes<'a> {
    pub(super) fn new(api: &'a ChaosApi<'a>, memory: &'a Memory) -> Self {
        Self {
            api,
            memory,
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
        let latency = match (undo.latency, &rules) {
            // Who is deaf is asked nothing more: each request would take all its time, and the next
            // attempt starts over.
            (_, Err(NotOut::Deaf(_))) | (None, _) => Ok(()),
            // What became of the rules otherwise is no reason to leave the latency in.
            (Some(latency), Ok(()) | Err(NotOut::Said(_))) => self.take_out_latency(latency).await,
        };
        let rules = rules.map_err(|(NotOut::Deaf(problem) | NotOut::Said(problem))| problem);
        self.done(rules.and(latency))
    }

    fn done(self, result: Result<(), Problem>) -> Injection {
        Injection {
            exchanges: self.exchanges,
            result,
        }
    }

    async fn put_in(&mut self, undo: &LocalStackUndo) -> Result<(), Problem> {
        let before = self.recognise(undo).await?;
        if !undo.rules.is_empty() {
            let body = Value::Array(undo.rules.clone());
            self.write(Method::PATCH, FAULTS, body)
                .await
                .map_err(explain_refusal)?;
            // A look that fails teaches nothing; whether the rules are in is asked again anyway.
            if let Ok(after) = survey::rules(self.api).await {
                self.memory.learn(shown_by_patch(&before, &after, undo));
                conflicts::refuse_overtaken(&after, undo)?;
            }
        }
        match undo.latency {
            Some(latency) => self.put_in_latency(latency).await,
            None => Ok(()),
        }
    }

    /// Writes only to the instance that was planned, and only if it still has a Chaos API, whose rules
    /// it returns.
    async fn recognise(&self, undo: &LocalStackUndo) -> Result<Vec<Value>, Problem> {
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
        survey::rules(self.api).await
    }

    /// The undo puts the former latency back, so ours may replace no other one. Between this look and
    /// the write somebody may still set one: the API knows no condition.
    async fn put_in_latency(&mut self, latency: LatencyUndo) -> Result<(), Problem> {
        let now = survey::latency(self.api).await?;
        let ours_already = now == latency.set_ms && self.memory.latency() == LatencyOwner::Us;
        if now != latency.former_ms && !ours_already {
            self.memory.latency_is_refused();
            return Err(Problem::new(
                ProblemKind::Conflict,
                format!(
                    "somebody changed the latency on {} from {} to {}; ours was not sent",
                    self.api.endpoint(),
                    Span::from_millis(latency.former_ms),
                    Span::from_millis(now)
                ),
            )
            .hint("agree with whoever set it, then make a new plan"));
        }
        self.memory.latency_is_sent();
        self.set_latency(latency.set_ms).await
    }

    async fn take_out_rules(&mut self, undo: &LocalStackUndo) -> Result<(), NotOut> {
        let mut listed = self.look().await?;
        let tags = self.tags(undo).await.map_err(NotOut::Said)?;
        let mut refusal = None;
        for round in 0..DELETE_ROUNDS {
            let ours = rules_to_delete(&listed, undo, tags, Form::of_round(round));
            if ours.is_empty() {
                return Ok(());
            }
            let sent = self.write(Method::DELETE, FAULTS, Value::Array(ours)).await;
            if let Err(problem) = sent {
                refusal = Some(problem);
            }
            // A DELETE whose answer was lost may have worked; only the list knows.
            listed = match self.look().await {
                Ok(listed) => listed,
                Err(why) => return Err(why.after(refusal)),
            };
        }
        if Division::new(&listed, undo, tags).ours().next().is_none() {
            return Ok(());
        }
        Err(NotOut::Said(refusal.unwrap_or_else(|| {
            Problem::new(
                ProblemKind::Unexpected,
                format!(
                    "the LocalStack at {} acknowledged the DELETE of our rules and still lists them",
                    self.api.endpoint()
                ),
            )
            .hint("delete them by hand, and look into LocalStack's own log")
        })))
    }

    async fn look(&self) -> Result<Vec<Value>, NotOut> {
        let answer = self.api.get(FAULTS).await.answer.map_err(NotOut::Deaf)?;
        let listed = match survey::read_rules(self.api.endpoint(), &answer) {
            // Nothing of ours can stand where there is no Chaos API; whether that is believable is
            // judged by whoever asks whether the fault is gone.
            Err(problem) if problem.kind == ProblemKind::Absent => Vec::new(),
            other => other.map_err(NotOut::Said)?,
        };
        self.memory.learn(shown(&listed));
        Ok(listed)
    }

    /// What was seen of the server's way with tags counts for the instance that it was seen of: on
    /// another one our rules died, and what looks like them without a tag is somebody else's.
    async fn tags(&self, undo: &LocalStackUndo) -> Result<Tags, Problem> {
        let seen = self.memory.tags();
        if seen != Tags::Dropped {
            return Ok(seen);
        }
        let now = survey::session(self.api).await?;
        Ok(match continuity_by_session(undo, now.as_deref()) {
            Continuity::Restarted => Tags::Kept,
            Continuity::Same | Continuity::Unknown => seen,
        })
    }

    async fn take_out_latency(&mut self, latency: LatencyUndo) -> Result<(), Problem> {
        if self.memory.latency() == LatencyOwner::Others {
            return Ok(());
        }
        match survey::latency(self.api).await {
            Ok(now) if now == latency.set_ms => self.set_latency(latency.former_ms).await,
            // Somebody else's by now, or never set.
            Ok(_) => Ok(()),
            // A restart may have brought an instance without effects: no latency stands there.
            Err(problem) if problem.kind == ProblemKind::Absent => Ok(()),
            Err(problem) => Err(problem),
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

/// Our rules of the list, in this form, each once: the list of a request may hold nothing twice.
fn rules_to_delete(listed: &[Value], undo: &LocalStackUndo, tags: Tags, form: Form) -> Vec<Value> {
    let division = Division::new(listed, undo, tags);
    let mut rules: Vec<Value> = Vec::new();
    for entry in division.ours() {
        let rule = match form {
            Form::AsSent => sent(undo, &entry.meaning).unwrap_or(entry.rule),
            Form::AsListed => entry.rule,
        };
        if !rules.contains(rule) {
            rules.push(rule.clone());
        }
    }
    rules
}

/// The rule that we sent and that the server shows so, perhaps with fields of its own.
fn sent<'a>(undo: &'a LocalStackUndo, shown: &Meaning) -> Option<&'a Value> {
    let mut sent = undo.rules.iter();
    sent.find(|rule| Meaning::read(rule).is_some_and(|rule| rule.is_within(shown)))
}
