//! Folding a run's events into its report: the shared `RunState`, and beside it what only a report
//! wants to know.

use std::borrow::Borrow;

use crate::model::brief::{Brief, StepBrief};
use crate::model::decision::Cause;
use crate::model::event::{Event, Record};
use crate::model::judgement::Trip;
use crate::model::phase::{Phase, Trigger};
use crate::model::remark::Mark;
use crate::model::request::{Absence, Exchange, Proof, Purpose};
use crate::model::state::{RunState, SloRecord, StepRecord};

use super::FORMAT;
use super::content::{
    Experiment, Guardian, InPlace, Marked, Moment, Note, Recovery, RecoveryFate, Report, RunFacts,
    Sent, SloFate, SloReport, StepFate, StepReport, StepTimes, StepTripped, TripMoment,
};
use super::{endings, timeline};

impl Report {
    /// The report of a run after these events, owned or borrowed; they need not reach its end.
    pub fn from_events<R: Borrow<Record>>(records: impl IntoIterator<Item = R>) -> Self {
        let mut gathered = Gathered::default();
        for record in records {
            gathered.take(record.borrow());
        }
        gathered.into_report()
    }
}

#[derive(Default)]
struct Gathered {
    state: RunState,
    slos: Vec<SloExtra>,
    steps: Vec<StepExtra>,
    timeline: Vec<Moment>,
}

#[derive(Default, Clone)]
struct SloExtra {
    baseline_best: Option<f64>,
    trips: Vec<TripMoment>,
}

#[derive(Default, Clone)]
struct StepExtra {
    best_proof: Option<Proof>,
    undone_by: Option<Trigger>,
    inject_problems: Vec<String>,
    undo_problems: Vec<String>,
    foreign_changes: Vec<String>,
    requests: Vec<Sent>,
}

impl Gathered {
    fn take(&mut self, record: &Record) {
        // Before the state takes the event in: a change of state shows only against the former one.
        self.timeline.extend(timeline::moment(&self.state, record));
        self.note(record);
        self.state.apply(record);
        self.slos.resize(self.state.slos.len(), SloExtra::default());
        self.steps
            .resize(self.state.steps.len(), StepExtra::default());
    }

    fn note(&mut self, record: &Record) {
        let at_ms = record.elapsed_ms;
        match &record.event {
            Event::Sampled { slo, reading, .. } => {
                if let (Some(Phase::Baseline), Some(value)) = (self.state.phase, reading.value()) {
                    self.baseline(slo, value);
                }
            }
            Event::Tripped {
                slo,
                trip,
                reading,
                reaction,
            } => {
                let moment = TripMoment {
                    at_ms,
                    trip: *trip,
                    reading: reading.clone(),
                    reaction: *reaction,
                };
                self.with_slo(slo, |extra, _| extra.trips.push(moment));
            }
            Event::PhaseEntered {
                phase: Phase::Undoing,
                trigger,
                step: Some(step),
            } => self.with_step(*step, |extra| {
                extra.undone_by.get_or_insert(*trigger);
            }),
            Event::Exchanged {
                step,
                purpose,
                exchange,
            } => self.with_step(*step, |extra| {
                extra.requests.push(sent(at_ms, *purpose, exchange));
            }),
            Event::InjectFailed { step, problem } => self.with_step(*step, |extra| {
                extra.inject_problems.push(problem.message.clone());
            }),
            Event::UndoFailed { step, problem, .. } => self.with_step(*step, |extra| {
                extra.undo_problems.push(problem.message.clone());
            }),
            Event::Confirmed { step, proof } => self.with_step(*step, |extra| {
                let best = extra.best_proof.as_ref().map(|best| best.injected);
                if best.is_none_or(|best| proof.injected >= best) {
                    extra.best_proof = Some(proof.clone());
                }
            }),
            Event::GoneChecked { step, absence } => {
                self.with_step(*step, |extra| foreign(extra, absence));
            }
            Event::RunStarted { .. }
            | Event::Approved { .. }
            | Event::PhaseEntered { .. }
            | Event::GuardianStarted { .. }
            | Event::Slept { .. }
            | Event::TakenOver(_)
            | Event::TicksMissed { .. }
            | Event::UndoRecorded { .. }
            | Event::Recovered { .. }
            | Event::Ending { .. }
            | Event::SignalReceived { .. }
            | Event::Asked { .. }
            | Event::Answered { .. }
            | Event::Noted { .. }
            | Event::Marked { .. }
            | Event::PauseChosen { .. }
            | Event::Warned { .. }
            | Event::TrafficStopped { .. }
            | Event::Settled { .. } => {}
        }
    }

    fn baseline(&mut self, slo: &str, value: f64) {
        self.with_slo(slo, |extra, record| {
            let objective = record.slo.objective;
            if extra
                .baseline_best
                .is_none_or(|best| objective.is_worse(best, value))
            {
                extra.baseline_best = Some(value);
            }
        });
    }

    fn with_slo(&mut self, name: &str, change: impl FnOnce(&mut SloExtra, &SloRecord)) {
        let named = |record: &SloRecord| record.slo.name == name;
        if let Some(index) = self.state.slos.iter().position(named) {
            change(&mut self.slos[index], &self.state.slos[index]);
        }
    }

    /// A journal from outside may name a step that its brief lacks; it is passed over.
    fn with_step(&mut self, step: usize, change: impl FnOnce(&mut StepExtra)) {
        if let Some(extra) = self.steps.get_mut(step) {
            change(extra);
        }
    }

    fn into_report(self) -> Report {
        let state = &self.state;
        let slos = state.slos.iter().zip(self.slos);
        let briefs = state.brief().map_or(&[][..], |brief| &brief.steps);
        let steps = state.steps.iter().zip(self.steps).zip(briefs);
        Report {
            format: FORMAT,
            verdict: endings::verdict(state),
            evidence: Vec::new(),
            in_place: in_place(state),
            attendance: None,
            guardian: state.guardian.map(|pid| Guardian { pid, log: None }),
            takeovers: endings::takeovers(state),
            former_ends: endings::former_ends(state),
            run: run_facts(state),
            experiment: state.brief().map(experiment),
            approvals: state.approvals.clone(),
            slos: slos
                .map(|(record, extra)| slo_report(record, extra))
                .collect(),
            steps: steps
                .map(|((record, extra), brief)| step_report(record, extra, brief))
                .collect(),
            recovery: state.brief().map(|brief| recovery(state, brief)),
            traffic: state.traffic.clone(),
            warnings: state.warnings.clone(),
            marks: state.marks.iter().map(|mark| marked(state, mark)).collect(),
            notes: state
                .notes
                .iter()
                .map(|note| Note {
                    at_ms: note.at_ms,
                    text: note.text.clone(),
                    by: note.by.clone(),
                })
                .collect(),
            timeline: self.timeline,
        }
    }
}

fn sent(at_ms: u64, purpose: Purpose, exchange: &Exchange) -> Sent {
    Sent {
        at_ms,
        purpose,
        method: exchange.request.method.clone(),
        url: exchange.request.url.clone(),
        body: exchange.request.body.clone(),
        status: exchange.status,
        took_ms: exchange.took_ms,
        request_id: exchange.request_id.clone(),
    }
}

fn foreign(extra: &mut StepExtra, absence: &Absence) {
    for change in &absence.foreign_changes {
        if !extra.foreign_changes.contains(change) {
            extra.foreign_changes.push(change.clone());
        }
    }
}

fn step_name(state: &RunState, step: usize) -> String {
    let brief = state.brief().and_then(|brief| brief.steps.get(step));
    brief.map_or_else(|| format!("step {}", step + 1), |brief| brief.name.clone())
}

fn marked(state: &RunState, mark: &Mark) -> Marked {
    Marked {
        at_ms: mark.at_ms,
        label: mark.label.clone(),
        by: mark.by.clone(),
        step: mark.since_fault.map(|since| step_name(state, since.step)),
        after_fault_ms: mark.since_fault.map(|since| since.after_ms),
    }
}

fn in_place(state: &RunState) -> Vec<InPlace> {
    state
        .in_place()
        .map(|(step, record)| InPlace {
            step: step_name(state, step),
            what: record.undo.as_ref().map_or_else(
                || "unknown: its undo is not in the journal".to_owned(),
                |undo| undo.summary(),
            ),
            seen: record
                .absence
                .as_ref()
                .map_or_else(Vec::new, |absence| absence.remaining.clone()),
            by_hand: record
                .undo
                .as_ref()
                .map_or_else(Vec::new, |undo| undo.by_hand()),
        })
        .collect()
}

fn run_facts(state: &RunState) -> Option<RunFacts> {
    let header = state.header.as_ref()?;
    Some(RunFacts {
        id: header.run.clone(),
        plan: header.plan.clone(),
        digest: header.digest.clone(),
        tool: header.tool.clone(),
        requester: header.requester.clone(),
        started: header.started,
        took_ms: state.elapsed_ms,
        replay_of: header.brief.replay_of.clone(),
    })
}

fn experiment(brief: &Brief) -> Experiment {
    Experiment {
        name: brief.experiment.clone(),
        hypothesis: brief.hypothesis.clone(),
        environment: brief.environment.clone(),
        labels: brief.labels.clone(),
        variables: brief.variables.clone(),
        worlds: brief.worlds.clone(),
        baseline_ms: brief.baseline.as_millis(),
    }
}

fn slo_report(record: &SloRecord, extra: SloExtra) -> SloReport {
    let slo = &record.slo;
    SloReport {
        name: slo.name.clone(),
        reads: slo.reads.clone(),
        objective: slo.objective,
        unit: slo.objective.unit(),
        patience_ms: slo.patience.as_millis(),
        every_ms: slo.every.as_millis(),
        on_breach: slo.on_breach,
        on_no_data: slo.on_no_data,
        fate: slo_fate(record, &extra.trips),
        state: record.state,
        baseline_best: extra.baseline_best,
        baseline_worst: record.baseline_worst,
        fault_worst: record.fault_worst,
        worst: record.worst,
        breaching_ms: record.breaching_ms,
        samples: record.samples,
        blind_samples: record.blind_samples,
        missed: record.missed,
        trips: extra.trips,
    }
}

fn slo_fate(record: &SloRecord, trips: &[TripMoment]) -> SloFate {
    let tripped = |wanted: Trip| trips.iter().any(|moment| moment.trip == wanted);
    let missed = record
        .worst
        .is_some_and(|worst| !record.slo.objective.holds(worst));
    if record.samples == 0 {
        SloFate::NotRead
    } else if tripped(Trip::Breach) {
        SloFate::Breached
    } else if tripped(Trip::Blind) || record.blind_samples == record.samples {
        SloFate::Blind
    } else if missed {
        SloFate::Dipped
    } else {
        SloFate::Ok
    }
}

fn step_report(record: &StepRecord, extra: StepExtra, brief: &StepBrief) -> StepReport {
    StepReport {
        name: brief.name.clone(),
        fate: step_fate(record, &extra),
        faults: brief.faults.clone(),
        targets: brief.targets.iter().map(ToString::to_string).collect(),
        blast_radius: brief.blast_radius.clone(),
        proof: extra.best_proof,
        times: StepTimes {
            hold_planned_ms: brief.hold.as_millis(),
            held_ms: record.held_ms(),
            detect_ms: record.detect_ms(),
            react_ms: record.react_ms(),
            gone_ms: record.gone_ms(),
        },
        tripped: record.tripped.as_ref().map(|trip| StepTripped {
            slo: trip.slo.clone(),
            trip: trip.trip,
            at_ms: trip.at_ms,
        }),
        inject_problems: extra.inject_problems,
        undo_problems: extra.undo_problems,
        foreign_changes: extra.foreign_changes,
        requests: extra.requests,
    }
}

fn step_fate(record: &StepRecord, extra: &StepExtra) -> StepFate {
    let seen_in = extra.best_proof.as_ref().map_or(0, |proof| proof.injected);
    if record.injecting_at_ms.is_none() {
        StepFate::NotReached
    } else if record.may_be_in_place() {
        StepFate::InPlace
    } else if record.confirmed_at_ms.is_some() {
        match extra.undone_by {
            Some(Trigger::HoldOver) => StepFate::Held,
            Some(_) | None => StepFate::CutShort,
        }
    } else if seen_in > 0 {
        StepFate::PartlyIn
    } else {
        StepFate::NotRun
    }
}

fn recovery(state: &RunState, brief: &Brief) -> Recovery {
    let within_ms = brief.recovery_within.as_millis();
    let found = |wanted: fn(&Cause) -> bool| state.endings.iter().chain(&state.cause).any(wanted);
    let fate = match state.recovery_ms {
        Some(took_ms) if took_ms <= within_ms => RecoveryFate::InTime,
        Some(_) => RecoveryFate::Late,
        None if found(|cause| matches!(cause, Cause::RecoveryLate { .. })) => RecoveryFate::Late,
        None if found(|cause| matches!(cause, Cause::RecoveryUnseen { .. })) => {
            RecoveryFate::Unseen
        }
        None => RecoveryFate::NotMeasured,
    };
    Recovery {
        fate,
        within_ms,
        took_ms: state.recovery_ms,
    }
}
