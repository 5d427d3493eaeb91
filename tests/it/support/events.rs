//! Event lists of whole runs, as the engine would write them: `Story::deviated().records()`.
//!
//! The clock never goes back, phases move only as the table allows, and SLO states and trips come
//! from the real judge, so a story cannot tell what no run could.

use std::collections::BTreeMap;

use chaos_gameday::model::approval::{
    Approval, ApprovalMode, Exception, Nonce, Person, Presence, Signature, Signer, Stage, Verdict,
};
use chaos_gameday::model::brief::{Brief, StepBrief};
use chaos_gameday::model::decision::Cause;
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::ids::{Digest, PlanId};
use chaos_gameday::model::judgement::{Judge, Trip};
use chaos_gameday::model::phase::{Phase, Trigger};
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::remark::Pause;
use chaos_gameday::model::request::{
    Absence, Continuity, Exchange, Proof, Purpose, Request, WorldIdentity,
};
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::slo::{Reaction, Slo};
use chaos_gameday::model::takeover::{Rescuer, Takeover};
use chaos_gameday::model::target::Target;
use chaos_gameday::model::traffic::TrafficSummary;
use chaos_gameday::model::undo::{LocalStackUndo, Undo};
use chaos_gameday::model::units::{Span, Unit};
use serde_json::json;

/// Where the LocalStack of the stories is.
pub const ENDPOINT: &str = "http://127.0.0.1:4566";

/// What the SLOs read for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    /// Every objective is met.
    Calm,
    /// Errors and latency are far beyond their objectives.
    Storm,
    /// The source answers with nothing.
    Fog,
    /// The source does not answer.
    Night,
}

/// A run under construction.
#[derive(Debug, Clone)]
pub struct Story {
    brief: Brief,
    records: Vec<Record>,
    judges: Vec<Judge>,
    phase: Phase,
    now_ms: u64,
}

impl Story {
    /// A run of the usual experiment that has just started and been approved.
    pub fn begun() -> Self {
        Self::begun_with(usual_brief())
    }

    /// A run of this experiment that has just started and been approved.
    pub fn begun_with(brief: Brief) -> Self {
        let digest = Digest::of(b"the plan of the stories");
        let mut story = Self {
            judges: vec![Judge::default(); brief.slos.len()],
            brief: brief.clone(),
            records: Vec::new(),
            phase: Phase::Preflight,
            now_ms: 0,
        };
        story.tell(Event::RunStarted {
            run: "r-20260314-093000-k7x2".parse().expect("a valid run id"),
            plan: PlanId::of(&digest),
            digest: digest.clone(),
            tool: "0.1.0".to_owned(),
            requester: ada(),
            brief: Box::new(brief),
        });
        story.tell(Event::Approved {
            approval: Box::new(approval(digest)),
            signature: None,
        });
        story
    }

    /// Held: the fault goes in, nothing breaches, it comes out again.
    pub fn held() -> Self {
        let mut story = Self::begun();
        story.baseline_holds().inject(0).watch(30, Weather::Calm);
        story.undo(0, Trigger::HoldOver).recover(0);
        story.settle(Trigger::Recovered, Cause::StepsDone);
        story
    }

    /// Deviated: `error-rate` breaches for its whole patience and the fault is undone at once.
    pub fn deviated() -> Self {
        let mut story = Self::begun();
        story.baseline_holds().inject(0).watch(3, Weather::Calm);
        story.watch(30, Weather::Storm);
        let slo = "error-rate".to_owned();
        let cause = Cause::Breach { slo };
        story.ending(cause.clone()).undo(0, Trigger::Tripped);
        story.recover(6).settle(Trigger::Recovered, cause);
        story
    }

    /// Deviated, with a person at the keyboard, who marks, notes, and asks for a pause that never comes.
    pub fn attended() -> Self {
        let mut story = Self::begun();
        story.baseline_holds().inject(0).watch(3, Weather::Calm);
        story.watch(3, Weather::Storm).after(200);
        story.tell(Event::Marked {
            label: "alert fired".to_owned(),
            by: ada(),
        });
        story.after(300).tell(Event::Noted {
            text: "checkout is down for me too".to_owned(),
            by: Some(ada()),
        });
        story.after(100).tell(Event::PauseChosen {
            pause: Pause::BeforeNextStep,
        });
        story.watch(30, Weather::Storm);
        let cause = Cause::Breach {
            slo: "error-rate".to_owned(),
        };
        story.ending(cause.clone()).undo(0, Trigger::Tripped);
        story.recover(6).settle(Trigger::Recovered, cause);
        story
    }

    /// A run with a broken baseline, resting on an approval that a FIDO key signed and that allows something by name.
    pub fn signed() -> Self {
        let mut story = Self::refused();
        let (approval, signature) = signed_approval();
        story.records[1].event = Event::Approved {
            approval: Box::new(approval),
            signature: Some(Box::new(signature)),
        };
        story
    }

    /// Refused: the baseline is broken, so nothing is ever injected.
    pub fn refused() -> Self {
        let mut story = Self::begun();
        story.enter(Trigger::Begin, None);
        story.watch(10, Weather::Storm);
        let why = vec!["SLO `error-rate` reads 30%, objective < 1%".to_owned()];
        let cause = Cause::BaselineBroken { why };
        story
            .ending(cause.clone())
            .settle(Trigger::BaselineBroken, cause);
        story
    }

    /// Aborted: Ctrl-C in the middle of the hold.
    pub fn aborted() -> Self {
        let mut story = Self::begun();
        story.baseline_holds().inject(0).watch(8, Weather::Calm);
        let cause = Cause::Aborted {
            by: "Ctrl-C".to_owned(),
        };
        story.after(400).tell(Event::SignalReceived {
            signal: "SIGINT".to_owned(),
        });
        story.ending(cause.clone()).undo(0, Trigger::Abort);
        story.recover(0).settle(Trigger::Recovered, cause);
        story
    }

    /// Inconclusive: the metrics are lost while the fault is in.
    pub fn inconclusive() -> Self {
        let mut story = Self::begun();
        story.baseline_holds().inject(0).watch(4, Weather::Calm);
        story.watch(30, Weather::Night);
        let cause = Cause::Blind {
            slo: "error-rate".to_owned(),
            why: "connection refused".to_owned(),
        };
        story.ending(cause.clone()).undo(0, Trigger::Tripped);
        story.recover(2).settle(Trigger::Recovered, cause);
        story
    }

    /// Stuck: the platform no longer answers when the fault has to come out.
    pub fn stuck() -> Self {
        let mut story = Self::begun();
        story.baseline_holds().inject(0).watch(30, Weather::Calm);
        story.enter(Trigger::HoldOver, Some(0));
        for attempt in 1..=3 {
            story.exchange(0, Purpose::Undo, None);
            story.after(2_000).tell(Event::UndoFailed {
                step: 0,
                attempt,
                problem: Problem::new(
                    ProblemKind::Unreachable,
                    format!("no answer from {ENDPOINT} within 2s"),
                ),
            });
        }
        let remaining = vec![format!("1 rule on {ENDPOINT}")];
        let cause = Cause::UndoUnproven { remaining };
        story
            .ending(cause.clone())
            .settle(Trigger::UndoDeadline, cause);
        story
    }

    /// Rescued: the run's process died in the middle of the hold, and its guardian ended it.
    pub fn rescued() -> Self {
        let mut story = Self::begun();
        story.after(1).tell(Event::GuardianStarted { pid: 4712 });
        story.baseline_holds().inject(0).watch(5, Weather::Calm);
        story.taken_over(Rescuer::Guardian, "its process died");
        story
    }

    /// Recovered: it was stuck, and an hour later a person had it undone.
    pub fn recovered() -> Self {
        let mut story = Self::stuck();
        story.after(3_600_000);
        story.taken_over(Rescuer::Recover, "it was stuck");
        story
    }

    /// Somebody takes over, undoes and ends it.
    fn taken_over(&mut self, by: Rescuer, why: &str) -> &mut Self {
        self.after(700).tell(Event::TakenOver(Takeover {
            by,
            person: ada(),
            why: why.to_owned(),
        }));
        self.undo(0, Trigger::TakenOver);
        let cause = Cause::Rescued {
            by,
            why: why.to_owned(),
        };
        self.enter(Trigger::TakenOver, Some(0))
            .tell(Event::Settled {
                outcome: cause.outcome(),
                cause,
            })
    }

    /// The events so far.
    pub fn records(&self) -> Vec<Record> {
        self.records.clone()
    }

    /// The events up to and with the first one that enters this phase.
    pub fn until(&self, phase: Phase) -> Vec<Record> {
        let entered = |record: &Record| matches!(&record.event, Event::PhaseEntered { phase: entered, .. } if *entered == phase);
        let end = self.records.iter().position(entered);
        let end = end.unwrap_or_else(|| panic!("this story never reaches {phase:?}"));
        self.records[..=end].to_vec()
    }

    /// The events of the run's first milliseconds.
    pub fn first_ms(&self, elapsed_ms: u64) -> Vec<Record> {
        let in_time = |record: &&Record| record.elapsed_ms <= elapsed_ms;
        self.records.iter().take_while(in_time).cloned().collect()
    }

    /// Lets time pass.
    pub fn after(&mut self, milliseconds: u64) -> &mut Self {
        self.now_ms += milliseconds;
        self
    }

    /// Adds one event, now.
    pub fn tell(&mut self, event: Event) -> &mut Self {
        let seq = self.records.len() as u64 + 1;
        let since = std::time::Duration::from_millis(self.now_ms);
        let began: jiff::Timestamp = "2026-03-14T09:30:00Z".parse().expect("a valid time");
        self.records.push(Record {
            seq,
            time: began + since,
            elapsed_ms: self.now_ms,
            event,
        });
        self
    }

    /// Moves on as the phase table says.
    pub fn enter(&mut self, trigger: Trigger, step: Option<usize>) -> &mut Self {
        self.phase = self
            .phase
            .next(trigger)
            .expect("the story follows the phase table");
        let phase = self.phase;
        if phase == Phase::Injecting {
            // As the engine does: what a step is judged by begins with it.
            self.judges.fill_with(Judge::default);
        }
        self.tell(Event::PhaseEntered {
            phase,
            trigger,
            step,
        })
    }

    /// The reason for the end is found.
    pub fn ending(&mut self, cause: Cause) -> &mut Self {
        self.tell(Event::Ending { cause })
    }

    /// A calm baseline of its planned length.
    pub fn baseline_holds(&mut self) -> &mut Self {
        self.after(2).enter(Trigger::Begin, None);
        let seconds = self.brief.baseline.as_millis() / 1_000;
        self.watch(seconds, Weather::Calm)
            .enter(Trigger::BaselineHeld, Some(0))
    }

    /// From between two steps to the fault seen in.
    pub fn inject(&mut self, step: usize) -> &mut Self {
        self.enter(Trigger::NextStep, Some(step));
        self.after(12).tell(Event::UndoRecorded {
            step,
            undo: Box::new(usual_undo()),
        });
        self.after(3).enter(Trigger::UndoRecorded, Some(step));
        self.after(9).exchange(step, Purpose::Inject, Some(200));
        self.enter(Trigger::Injected, Some(step));
        self.after(6).tell(Event::Confirmed {
            step,
            proof: Proof {
                injected: 1,
                planned: 1,
                continuity: Continuity::Same,
                evidence: vec!["rule 1 of 1 read back".to_owned()],
            },
        });
        self.enter(Trigger::Confirmed, Some(step))
    }

    /// From the hold to the fault seen gone.
    pub fn undo(&mut self, step: usize, trigger: Trigger) -> &mut Self {
        self.after(4).enter(trigger, Some(step));
        self.after(8).exchange(step, Purpose::Undo, Some(200));
        self.enter(Trigger::UndoSent, Some(step));
        self.after(5).tell(Event::GoneChecked {
            step,
            absence: Absence {
                remaining: Vec::new(),
                foreign_changes: Vec::new(),
                continuity: Continuity::Same,
            },
        });
        self.enter(Trigger::Gone, Some(step))
    }

    /// The SLOs come back after so many seconds of storm.
    pub fn recover(&mut self, storm_seconds: u64) -> &mut Self {
        self.enter(Trigger::StepsOver, None);
        let began = self.now_ms;
        for _ in 0..storm_seconds {
            self.read_all(Weather::Storm);
        }
        self.read_all(Weather::Calm);
        let after_ms = self.now_ms - began;
        self.tell(Event::Recovered { after_ms })
    }

    /// The end.
    pub fn settle(&mut self, trigger: Trigger, cause: Cause) -> &mut Self {
        let step = (self.phase == Phase::Undoing).then_some(0);
        self.enter(trigger, step).after(1);
        self.tell(Event::TrafficStopped {
            summary: usual_traffic(),
        });
        self.tell(Event::Settled {
            outcome: cause.outcome(),
            cause,
        })
    }

    /// Reads every SLO once a second, until a rollback SLO trips or the time is over.
    pub fn watch(&mut self, seconds: u64, weather: Weather) -> &mut Self {
        for _ in 0..seconds {
            if self.read_all(weather) == Some(Reaction::Rollback) {
                break;
            }
        }
        self
    }

    fn exchange(&mut self, step: usize, purpose: Purpose, status: Option<u16>) -> &mut Self {
        let request = Request {
            method: if purpose == Purpose::Inject {
                "PATCH"
            } else {
                "DELETE"
            }
            .to_owned(),
            url: format!("{ENDPOINT}/_localstack/chaos/faults"),
            body: Some(json!([usual_rule()])),
        };
        self.tell(Event::Exchanged {
            step,
            purpose,
            exchange: Box::new(Exchange {
                request,
                status,
                took_ms: 4,
                request_id: None,
            }),
        })
    }

    /// One reading of each SLO, a second later; stops at the first rollback, as a run does.
    fn read_all(&mut self, weather: Weather) -> Option<Reaction> {
        self.after(1_000);
        for index in 0..self.brief.slos.len() {
            let slo = self.brief.slos[index].clone();
            let reading = reading(&slo, weather, self.now_ms / 1_000);
            let verdict = self.judges[index].observe(&slo, self.now_ms, &reading);
            self.after(3).tell(Event::Sampled {
                slo: slo.name.clone(),
                reading: reading.clone(),
                state: verdict.state,
                streak_ms: verdict.streak_ms,
                took_ms: 3,
            });
            if let Some(trip) = verdict.trip.filter(|_| self.phase != Phase::Recovering) {
                let reaction = match trip {
                    Trip::Breach => slo.on_breach,
                    Trip::Blind => slo.on_no_data,
                };
                self.tell(Event::Tripped {
                    slo: slo.name.clone(),
                    trip,
                    reading,
                    reaction,
                });
                if reaction == Reaction::Rollback {
                    return Some(reaction);
                }
            }
        }
        None
    }
}

/// Checkout over a LocalStack whose kinesis fails; three SLOs, of which the last only records.
pub fn usual_brief() -> Brief {
    Brief {
        experiment: "kinesis-down".parse().expect("a valid name"),
        hypothesis: "With every PutRecord refused, checkout errors stay under 1 %.".to_owned(),
        environment: "local".to_owned(),
        labels: BTreeMap::from([("service".to_owned(), "checkout".to_owned())]),
        worlds: vec![WorldIdentity {
            platform: "localstack".to_owned(),
            endpoint: ENDPOINT.to_owned(),
            session: Some("5f0c1a2e".to_owned()),
            version: "4.9.2".to_owned(),
            edition: "pro".to_owned(),
        }],
        cluster: None,
        slos: vec![
            slo("error-rate", "< 1%", 5),
            slo("latency-p99", "<= 800ms", 10),
            Slo {
                on_breach: Reaction::Record,
                on_no_data: Reaction::Record,
                ..slo("throughput", ">= 8", 5)
            },
        ],
        baseline: Span::from_secs(10),
        steps: vec![StepBrief {
            name: "kinesis refuses writes".to_owned(),
            faults: vec!["kinesis:PutRecord answers 503 ServiceUnavailable".to_owned()],
            targets: vec![Target::AwsCalls {
                region: Some("us-east-1".to_owned()),
                service: Some("kinesis".to_owned()),
                operation: Some("PutRecord".to_owned()),
            }],
            blast_radius: "100% of kinesis:PutRecord requests".to_owned(),
            hold: Span::from_secs(30),
            doses: Vec::new(),
        }],
        recovery_within: Span::from_secs(60),
        variables: BTreeMap::new(),
        replay_of: None,
        own_sandbox: None,
    }
}

/// A rollback SLO of the traffic generator.
pub fn slo(name: &str, objective: &str, patience_s: u64) -> Slo {
    Slo {
        name: name.to_owned(),
        reads: format!("traffic {}", name.replace('-', " ")),
        objective: objective.parse().expect("a valid objective"),
        patience: Span::from_secs(patience_s),
        blind_patience: Span::from_secs(10),
        on_breach: Reaction::Rollback,
        on_no_data: Reaction::Rollback,
        every: Span::from_secs(1),
    }
}

/// One rule and no latency.
pub fn usual_undo() -> Undo {
    Undo::LocalStack(LocalStackUndo {
        endpoint: ENDPOINT.to_owned(),
        session: Some("5f0c1a2e".to_owned()),
        rules: vec![usual_rule()],
        foreign: Vec::new(),
        latency: None,
    })
}

fn usual_rule() -> serde_json::Value {
    json!({
        "region": "us-east-1",
        "service": "kinesis",
        "operation": "PutRecord",
        "error": {"statusCode": 503, "code": "ServiceUnavailable"}
    })
}

fn usual_traffic() -> TrafficSummary {
    TrafficSummary {
        sent: 412,
        dropped: 0,
        by_status: BTreeMap::from([(200, 371), (502, 38)]),
        timed_out: 3,
        connection_failed: 0,
        p50_ms: 41.0,
        p99_ms: 1_904.0,
        max_ms: 2_000.0,
    }
}

fn ada() -> Person {
    Person {
        user: "ada".to_owned(),
        host: "workbench".to_owned(),
    }
}

fn approval(digest: Digest) -> Approval {
    Approval {
        format: 1,
        plan: PlanId::of(&digest),
        digest,
        approver: ada(),
        policy: None,
        worlds: Vec::new(),
        stage: None,
        nonce: None,
        requester: None,
        mode: ApprovalMode::Typed,
        verdict: Verdict::Yes,
        approved_at: "2026-03-14T09:29:41Z".parse().expect("a valid time"),
        expires_at: "2026-03-14T10:29:41Z".parse().expect("a valid time"),
        reason: None,
        exceptions: Vec::new(),
    }
}

fn signed_approval() -> (Approval, Signature) {
    let approval = Approval {
        format: 2,
        policy: Some(Digest::of(b"the policy of the stories")),
        stage: Some(Stage::Run),
        nonce: Some(Nonce::of(7)),
        requester: Some(ada()),
        approver: Person {
            user: "bob".to_owned(),
            host: "laptop".to_owned(),
        },
        mode: ApprovalMode::Signed,
        reason: Some("agreed with the shop".to_owned()),
        exceptions: vec![Exception::SkippedRung],
        ..approval(Digest::of(b"the plan of the stories"))
    };
    let armored = "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n";
    let signature = Signature {
        armored: armored.to_owned(),
        signer: Some(Signer {
            principal: "bob@example.com".to_owned(),
            fingerprint: "SHA256:eociZM1067ttqU2UsGET28EhbC1qWNjGJ9Epwnsb+Ec".to_owned(),
            key_type: "sk-ssh-ed25519@openssh.com".to_owned(),
            presence: Presence::Touched,
        }),
    };
    (approval, signature)
}

/// A value that wobbles a little from second to second, always the same way.
fn reading(slo: &Slo, weather: Weather, second: u64) -> Reading {
    let wobble = [0.0, 0.3, 0.1, 0.6, 0.2, 0.5, 0.4][(second % 7) as usize];
    let threshold = slo.objective.threshold();
    let better = if slo.objective.holds(0.0) { 0.2 } else { 1.2 };
    let worse = match (slo.objective.unit(), slo.objective.holds(0.0)) {
        (Unit::Percent, true) => 30.0,
        (Unit::Number | Unit::Duration, true) => 2.0,
        (Unit::Number | Unit::Percent | Unit::Duration, false) => 0.3,
    };
    // Few enough digits for JSON to give back the very same number.
    let value = |share: f64| (threshold * (share + wobble * 0.5) * 1e6).round() / 1e6;
    match weather {
        Weather::Calm => Reading::Value(value(better)),
        Weather::Storm => Reading::Value(value(worse)),
        Weather::Fog => Reading::NoData {
            why: "no request in the window".to_owned(),
        },
        Weather::Night => Reading::SourceDown {
            why: "connection refused".to_owned(),
        },
    }
}
