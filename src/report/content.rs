//! What a report says, as data. Times are milliseconds of the run or UTC; readings are in base units
//! (a ratio, seconds, a bare number), and `unit` says which.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::model::approval::{Person, RestsOn};
use crate::model::attendance::Attendance;
use crate::model::ids::{Digest, Name, PlanId, RunId};
use crate::model::judgement::Trip;
use crate::model::outcome::Outcome;
use crate::model::phase::Phase;
use crate::model::request::{Proof, Purpose, WorldIdentity};
use crate::model::sample::{Reading, SloState};
use crate::model::slo::Reaction;
use crate::model::takeover::Rescuer;
use crate::model::traffic::TrafficSummary;
use crate::model::units::{Objective, Unit};

/// Everything that is known about one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Format of this document.
    pub format: u32,
    /// How it ended.
    pub verdict: Verdict,
    /// What is wrong with the journal itself, one sentence each; whoever read it fills this in.
    pub evidence: Vec<String>,
    /// What is, or may be, still in place.
    pub in_place: Vec<InPlace>,
    /// Who is at work on it; `None`: nobody looked. Whoever read the journal fills this in.
    pub attendance: Option<Attendance>,
    /// Its guardian; `None`: it never had one.
    pub guardian: Option<Guardian>,
    /// Who went on where the run's own engine stopped, in order.
    pub takeovers: Vec<TakenOver>,
    /// The ends that it had before the one of the verdict: what was stuck may have been taken over.
    pub former_ends: Vec<FormerEnd>,
    /// Who, when, by which plan; `None`: the journal does not say.
    pub run: Option<RunFacts>,
    /// What was tried; `None`: the journal does not say.
    pub experiment: Option<Experiment>,
    /// The approvals that the run rests on, in order.
    pub approvals: Vec<RestsOn>,
    /// The SLOs in document order.
    pub slos: Vec<SloReport>,
    /// The steps in order.
    pub steps: Vec<StepReport>,
    /// How the SLOs came back.
    pub recovery: Option<Recovery>,
    /// What the traffic generator counted.
    pub traffic: Option<TrafficSummary>,
    /// Warnings, in order.
    pub warnings: Vec<String>,
    /// The moments that persons marked.
    pub marks: Vec<Marked>,
    /// What persons wrote down.
    pub notes: Vec<Note>,
    /// What happened, without the single readings.
    pub timeline: Vec<Moment>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The outcome; `None`: the journal has no end.
    pub outcome: Option<Outcome>,
    /// The exit code that goes with it.
    pub exit_code: Option<u8>,
    /// What that means, one sentence.
    pub meaning: String,
    /// Why, one sentence.
    pub cause: Option<String>,
    /// Where the run was last heard of; the end of it when there is one.
    pub phase: Option<Phase>,
}

/// The detached process that ends a run whose own process cannot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Guardian {
    /// The latest one's process.
    pub pid: u32,
    /// Where it writes what it does; `None`: there is no such file. Whoever read the journal fills this
    /// in.
    pub log: Option<String>,
}

/// Somebody went on where the run's own engine stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TakenOver {
    /// When.
    pub at_ms: u64,
    /// UTC.
    pub time: Timestamp,
    /// Which part of this program.
    pub by: Rescuer,
    /// Whose process that was.
    pub person: Person,
    /// What was found.
    pub why: String,
}

/// An end that was not the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FormerEnd {
    /// When.
    pub at_ms: u64,
    /// UTC.
    pub time: Timestamp,
    /// How.
    pub outcome: Outcome,
    /// Why, one sentence.
    pub cause: String,
}

/// A fault that was not seen gone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InPlace {
    /// The step's name.
    pub step: String,
    /// What it put in place.
    pub what: String,
    /// What of it was last seen there.
    pub seen: Vec<String>,
    /// The commands that undo it by hand.
    pub by_hand: Vec<String>,
}

/// Who, when, by which plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunFacts {
    /// The run.
    pub id: RunId,
    /// Its plan.
    pub plan: PlanId,
    /// The plan's digest.
    pub digest: Digest,
    /// Version of the tool that ran it.
    pub tool: String,
    /// Who started it.
    pub requester: Person,
    /// When it began.
    pub started: Timestamp,
    /// From its first to its latest event.
    pub took_ms: u64,
    /// The run whose faults it repeats.
    pub replay_of: Option<RunId>,
}

/// What was tried, and where.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Experiment {
    /// Its name.
    pub name: Name,
    /// What it claims.
    pub hypothesis: String,
    /// Where, as the policy names it.
    pub environment: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The variables used, secrets redacted.
    pub variables: BTreeMap<String, String>,
    /// The platforms, as they said who they are.
    pub worlds: Vec<WorldIdentity>,
    /// How long the baseline was to be watched.
    pub baseline_ms: u64,
}

/// What an SLO did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SloReport {
    /// Its name.
    pub name: String,
    /// What was read, in words.
    pub reads: String,
    /// What a value has to satisfy.
    pub objective: Objective,
    /// What its readings count.
    pub unit: Unit,
    /// How long a breach must last before it trips.
    pub patience_ms: u64,
    /// Time between two readings.
    pub every_ms: u64,
    /// What a breach does.
    pub on_breach: Reaction,
    /// What blindness does.
    pub on_no_data: Reaction,
    /// The whole run in a word.
    pub fate: SloFate,
    /// The state that it ended in; `None`: never read.
    pub state: Option<SloState>,
    /// Best reading of the baseline.
    pub baseline_best: Option<f64>,
    /// Worst reading of the baseline.
    pub baseline_worst: Option<f64>,
    /// Worst reading while a fault was in, or being undone.
    pub fault_worst: Option<f64>,
    /// Worst reading of the whole run.
    pub worst: Option<f64>,
    /// Time spent breaching, from reading to reading.
    pub breaching_ms: u64,
    /// Readings.
    pub samples: u64,
    /// Readings without a value.
    pub blind_samples: u64,
    /// Readings that were due while an earlier one was still under way.
    pub missed: u64,
    /// When it lost its patience.
    pub trips: Vec<TripMoment>,
}

/// A whole run of one SLO in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SloFate {
    /// Every value met the objective.
    Ok,
    /// The objective was missed for less than the patience.
    Dipped,
    /// The objective was missed for longer than the patience.
    Breached,
    /// It could not be read for longer than the patience, or never.
    Blind,
    /// Nobody tried to read it.
    NotRead,
}

/// An SLO lost its patience.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TripMoment {
    /// When.
    pub at_ms: u64,
    /// Breach or blindness.
    pub trip: Trip,
    /// The reading that completed it.
    pub reading: Reading,
    /// What followed.
    pub reaction: Reaction,
}

/// What a step did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// Its name.
    pub name: String,
    /// The whole step in a word.
    pub fate: StepFate,
    /// What was broken, one line a fault.
    pub faults: Vec<String>,
    /// What was touched.
    pub targets: Vec<String>,
    /// The share of the possible targets, in words.
    pub blast_radius: String,
    /// The answer to "is it in?" that saw most of it.
    pub proof: Option<Proof>,
    /// How long things took.
    pub times: StepTimes,
    /// What ended it early.
    pub tripped: Option<StepTripped>,
    /// Why putting it in failed.
    pub inject_problems: Vec<String>,
    /// Why attempts to undo, or to see it gone, failed.
    pub undo_problems: Vec<String>,
    /// What others changed meanwhile; theirs, and only named.
    pub foreign_changes: Vec<String>,
    /// The requests that were sent.
    pub requests: Vec<Sent>,
}

/// A whole step in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepFate {
    /// The run ended before it.
    NotReached,
    /// The fault was never seen in.
    NotRun,
    /// Only a part of the fault was seen in.
    PartlyIn,
    /// The fault was in for its whole hold.
    Held,
    /// The fault was in and the step ended early.
    CutShort,
    /// The fault is, or may be, still in place.
    InPlace,
}

/// How long the parts of a step took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepTimes {
    /// The hold that was planned.
    pub hold_planned_ms: u64,
    /// From the fault seen in to the undo.
    pub held_ms: Option<u64>,
    /// From the fault seen in to the trip.
    pub detect_ms: Option<u64>,
    /// From the trip to the undo.
    pub react_ms: Option<u64>,
    /// From the undo to the fault seen gone.
    pub gone_ms: Option<u64>,
}

/// The trip that ended a step, or came of a breach that its fault had begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepTripped {
    /// The SLO.
    pub slo: String,
    /// Breach or blindness.
    pub trip: Trip,
    /// When.
    pub at_ms: u64,
}

/// A request that was sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// When it was answered or given up.
    pub at_ms: u64,
    /// Why it was sent.
    pub purpose: Purpose,
    /// HTTP method.
    pub method: String,
    /// Absolute URL.
    pub url: String,
    /// JSON body.
    pub body: Option<Value>,
    /// HTTP status; `None`: no answer.
    pub status: Option<u16>,
    /// Milliseconds until the answer, or until it was given up.
    pub took_ms: u64,
    /// The platform's own id for it.
    pub request_id: Option<String>,
}

/// How the SLOs came back after the last undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Recovery {
    /// How it went, in a word.
    pub fate: RecoveryFate,
    /// The time that they had.
    pub within_ms: u64,
    /// From the last fault seen gone to the SLOs back.
    pub took_ms: Option<u64>,
}

/// Recovery in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryFate {
    /// The SLOs were back in time.
    InTime,
    /// They were back later, or not at all.
    Late,
    /// They could not be read until the deadline.
    Unseen,
    /// Nobody waited for them.
    NotMeasured,
}

/// What a person wrote down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// When.
    pub at_ms: u64,
    /// The words.
    pub text: String,
    /// Who; `None`: the journal does not say.
    pub by: Option<Person>,
}

/// A moment that a person marked: how long the alerts of the team took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Marked {
    /// When.
    pub at_ms: u64,
    /// What happened: `alert fired`.
    pub label: String,
    /// Who saw it.
    pub by: Person,
    /// The name of the step whose fault had gone in last.
    pub step: Option<String>,
    /// From that fault seen in to the mark.
    pub after_fault_ms: Option<u64>,
}

/// An event worth reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// Milliseconds since the run began.
    pub at_ms: u64,
    /// UTC.
    pub time: Timestamp,
    /// What sort of event.
    pub kind: MomentKind,
    /// What happened, one line.
    pub what: String,
}

/// What sort of event a moment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MomentKind {
    /// The run moved on.
    Run,
    /// Something about a fault.
    Fault,
    /// An SLO changed its state.
    SloState,
    /// An SLO lost its patience, or they all came back.
    Slo,
    /// A person or a signal.
    Person,
    /// Something went wrong.
    Trouble,
}
