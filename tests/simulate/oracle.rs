//! What must be true of every schedule, judged by the world's own log and not by what the run says.

use std::collections::{BTreeSet, hash_map::DefaultHasher};
use std::hash::{Hash, Hasher};
use std::path::Path;

use chaos_gameday::journal::{Entries, Entry, Recorded};
use chaos_gameday::model::decision::Cause;
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::state::RunState;
use chaos_gameday::model::takeover::Rescuer;

use crate::director;
use crate::life::Role;
use crate::plans;
use crate::sim::{JOURNAL, Settled, Sim, Told};
use crate::world::World;

/// What came of a schedule.
pub struct Verdict {
    pub violations: Vec<String>,
    pub trace: String,
    /// The journal's own bytes.
    pub journal: Vec<u8>,
    /// Words for what was reached: outcomes, phases, triggers, causes, rescuers.
    pub reached: BTreeSet<String>,
    /// How it ended; `None`: with no record at all.
    pub outcome: Option<Outcome>,
    /// What the end looks like, without times.
    pub end: u64,
}

/// Looks at a schedule that is over.
pub fn judge(sim: &Sim) -> Verdict {
    let recorded = director::read(sim);
    let told = sim.inner().told.clone();
    let settled = sim.inner().settled.clone();
    for one in &settled {
        ended(sim, one);
    }
    chain(sim);
    phases(sim, &told);
    if let Some(recorded) = &recorded {
        fold(sim, recorded, &told, &settled);
    }
    if !sim.world.in_place().is_empty() {
        sim.violate(format!("left in place: {:?}", sim.world.in_place()));
    }
    if let World::LocalStack(stack) = &sim.world {
        for damage in stack.damage() {
            sim.violate(damage);
        }
    }
    let records = recorded
        .map(|recorded| recorded.records)
        .unwrap_or_default();
    let state = RunState::of(&records);
    let mut inner = sim.inner();
    Verdict {
        violations: std::mem::take(&mut inner.violations),
        trace: std::mem::take(&mut inner.trace),
        journal: sim.disk.bytes(),
        reached: reached(&records),
        outcome: state.outcome,
        end: end_of(&records, &state),
    }
}

/// An outcome is never better than the truth.
fn ended(sim: &Sim, one: &Settled) {
    let outcome = one.settlement.outcome;
    match &one.settlement.cause {
        Cause::UndoUnproven { remaining } => names_all(sim, one, remaining),
        _ => stays_clean(sim, one),
    }
    let complains = |wrong: Option<String>| {
        if let Some(wrong) = wrong {
            sim.violate(format!("{outcome:?} although {wrong}"));
        }
    };
    complains(match &one.settlement.cause {
        Cause::StepsDone => held_wrongly(sim, one),
        Cause::Breach { slo } => no_bad_reading(sim, slo),
        Cause::RecoveryLate { slos } => slos.iter().find_map(|slo| no_bad_reading(sim, slo)),
        Cause::Aborted { .. } if !sim.inner().wished => Some("nobody wanted it".to_owned()),
        Cause::Rescued { .. } if one.role == Role::Run => Some("it is its own run".to_owned()),
        _ => None,
    });
}

/// From an end that is not stuck on nothing of ours is in place.
fn stays_clean(sim: &Sim, one: &Settled) {
    let later = sim
        .world
        .history()
        .into_iter()
        .filter(|(at, _)| *at > one.at);
    let now = std::iter::once((one.at, one.in_place.clone()));
    for (at, in_place) in now.chain(later) {
        if !in_place.is_empty() {
            sim.violate(format!(
                "{:?} although {in_place:?} is in place at {} ms",
                one.settlement.outcome,
                sim.ms_of(at)
            ));
            return;
        }
    }
}

/// Who is stuck names all that is there, and what lands later.
fn names_all(sim: &Sim, one: &Settled, remaining: &[String]) {
    let again = sim
        .inner()
        .settled
        .iter()
        .map(|other| other.at)
        .find(|at| *at > one.at);
    let history = sim.world.history();
    let later = history
        .iter()
        .filter(|(at, _)| *at > one.at && again.is_none_or(|end| *at < end));
    let mut there: Vec<String> = later.flat_map(|(_, labels)| labels.clone()).collect();
    there.extend(one.in_place.clone());
    for label in there {
        if !remaining.iter().any(|words| sim.world.names(words, &label)) {
            sim.violate(format!(
                "stuck with {remaining:?} although `{label}` is there too"
            ));
        }
    }
}

/// Held: every step whole in place for its whole hold, and the gates seen well afterwards.
fn held_wrongly(sim: &Sim, one: &Settled) -> Option<String> {
    let told = sim.inner().told.clone();
    let history = sim.world.history();
    let steps = &sim.shape().parts;
    let mut last_gone_ms = 0;
    for (step, (fault, parts)) in steps.iter().enumerate() {
        let of_step = |wanted: fn(&Event, usize) -> bool| {
            let mut mine = told.iter().filter(|one| wanted(&one.record.event, step));
            mine.next().map(|one| sim.ms_of(one.at))
        };
        let Some(seen_ms) = of_step(is_complete_proof) else {
            return Some(format!("step {step} was never seen in"));
        };
        let Some(gone_ms) = of_step(is_empty_absence) else {
            return Some(format!("step {step} was never seen gone"));
        };
        last_gone_ms = gone_ms;
        let whole = |labels: &Vec<String>| sim.world.is_whole(fault, *parts, labels);
        let over_ms = seen_ms + plans::HOLD.as_millis();
        let at = |ms: u64| {
            history
                .iter()
                .rev()
                .find(|(from, _)| sim.ms_of(*from) <= ms)
        };
        if !at(seen_ms).is_some_and(|(_, labels)| whole(labels)) {
            return Some(format!(
                "step {step} was not whole in place when it was seen"
            ));
        }
        let mut during = history.iter().filter(|(from, _)| {
            let from_ms = sim.ms_of(*from);
            from_ms > seen_ms && from_ms < over_ms
        });
        if let Some((from, labels)) = during.find(|(_, labels)| !whole(labels)) {
            let from_ms = sim.ms_of(*from);
            return Some(format!("step {step} was {labels:?} at {from_ms} ms"));
        }
        if let Some(wrong) = unwell(sim, seen_ms, over_ms) {
            return Some(wrong);
        }
    }
    let end_ms = sim.ms_of(one.at);
    let readings = sim.inner().readings.clone();
    gates(sim).find_map(|slo| {
        // Of what arrives in the very millisecond of the end the run need not have known.
        let well = [end_ms, end_ms.saturating_sub(1)].into_iter().any(|by_ms| {
            let mut known = readings
                .iter()
                .rev()
                .filter(|seen| seen.slo == slo && seen.answered_ms <= by_ms);
            known
                .next()
                .is_some_and(|seen| is_good(&seen.reading) && seen.asked_ms >= last_gone_ms)
        });
        (!well).then(|| format!("`{slo}` was not seen back"))
    })
}

fn is_complete_proof(event: &Event, wanted: usize) -> bool {
    matches!(event, Event::Confirmed { step, proof } if *step == wanted && proof.is_complete())
}

fn is_empty_absence(event: &Event, wanted: usize) -> bool {
    matches!(event, Event::GoneChecked { step, absence }
        if *step == wanted && absence.remaining.is_empty())
}

fn is_good(reading: &Reading) -> bool {
    matches!(reading, Reading::Value(value) if *value < 0.01)
}

fn gates(sim: &Sim) -> impl Iterator<Item = String> {
    let slos = &sim.shape().plan.plan().experiment.slos;
    let gates = slos.iter().filter(|gauged| gauged.slo.is_gate());
    gates
        .map(|gauged| gauged.slo.name.clone())
        .collect::<Vec<_>>()
        .into_iter()
}

/// A gate that was bad, or dark, from one reading to another for clearly longer than its patience.
fn unwell(sim: &Sim, from_ms: u64, to_ms: u64) -> Option<String> {
    let slos = &sim.shape().plan.plan().experiment.slos;
    let readings = sim.inner().readings.clone();
    for gauged in slos.iter().filter(|gauged| gauged.slo.is_gate()) {
        let slo = &gauged.slo;
        let mine = readings.iter().filter(|seen| {
            seen.slo == slo.name && seen.asked_ms > from_ms && seen.answered_ms < to_ms
        });
        let mut bad_since = None;
        for seen in mine {
            match &seen.reading {
                reading if is_good(reading) => bad_since = None,
                Reading::Value(_) => {
                    let since = *bad_since.get_or_insert(seen.asked_ms);
                    if seen.asked_ms - since >= slo.patience.as_millis() {
                        return Some(format!("`{}` was bad since {since} ms", slo.name));
                    }
                }
                Reading::NoData { .. } | Reading::SourceDown { .. } => {}
            }
        }
    }
    None
}

fn no_bad_reading(sim: &Sim, slo: &str) -> Option<String> {
    let inner = sim.inner();
    let bad = |reading: &Reading| reading.value().is_some() && !is_good(reading);
    let found = inner
        .readings
        .iter()
        .any(|seen| seen.slo == slo && bad(&seen.reading));
    (!found).then(|| format!("`{slo}` never read badly"))
}

/// Every line is as it was written.
fn chain(sim: &Sim) {
    let bytes = sim.disk.bytes();
    for entry in Entries::new(&bytes[..], Path::new(JOURNAL)) {
        if let Ok(Entry::Broken(found)) = entry {
            // A journal whose first line was torn by a crash is empty.
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            if lines > 0 {
                sim.violate(format!("the journal is damaged: {found}"));
            }
        }
    }
}

/// Each process moves by the table, from where it found the run.
fn phases(sim: &Sim, told: &[Told]) {
    let lives: BTreeSet<u32> = told.iter().map(|one| one.life).collect();
    let run = sim
        .inner()
        .lives
        .iter()
        .find(|life| life.role == Role::Run)
        .map(|life| life.id);
    for life in lives {
        let mut phase = (Some(life) == run).then_some(Phase::Preflight);
        for one in told.iter().filter(|one| one.life == life) {
            let Event::PhaseEntered {
                phase: next,
                trigger,
                ..
            } = &one.record.event
            else {
                continue;
            };
            if let Some(from) = phase
                && from.next(*trigger) != Ok(*next)
            {
                sim.violate(format!("no way from {from:?} to {next:?} by {trigger:?}"));
            }
            phase = Some(*next);
        }
    }
}

/// What stands in the journal is what its writers knew.
fn fold(sim: &Sim, recorded: &Recorded, told: &[Told], settled: &[Settled]) {
    if sim.inner().power_lost {
        return;
    }
    let run = sim
        .inner()
        .lives
        .iter()
        .find(|life| life.role == Role::Run)
        .map(|life| life.id);
    let mut stands = recorded.records.iter().peekable();
    let mut last = None;
    for one in told.iter().filter(|one| Some(one.life) == run) {
        // A line that lacked nothing but its newline was told as failed, and stands all the same; one
        // that was cut off again is told once more.
        last = stands.next_if(|stood| **stood == one.record).or(last);
        if one.written == Some(true) && last != Some(&one.record) {
            let there = stands.peek();
            sim.violate(format!(
                "the journal has {there:?} where {:?} was written",
                one.record
            ));
            break;
        }
    }
    let Some(last) = settled.last() else {
        return;
    };
    // Who could not write something knows more than the journal.
    if last.settlement.evidence.is_some() || sim.disk.appends_failed() + sim.disk.syncs_failed() > 0
    {
        return;
    }
    // Who died while it wrote the end told nobody.
    if recorded.records.last().map(|record| record.seq) != Some(last.settlement.state.seq) {
        return;
    }
    let folded = RunState::of(&recorded.records);
    if folded != last.settlement.state {
        sim.violate(format!(
            "the journal folds to {folded:?} where {:?} was known",
            last.settlement.state
        ));
    }
}

fn name_of(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    let end = text.find(|letter: char| !letter.is_alphanumeric());
    text[..end.unwrap_or(text.len())].to_owned()
}

fn reached(records: &[Record]) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    for record in records {
        match &record.event {
            Event::PhaseEntered { phase, trigger, .. } => {
                reached.insert(format!("phase {phase:?}"));
                reached.insert(format!("trigger {trigger:?}"));
            }
            Event::Ending { cause } => {
                reached.insert(format!("ending {}", name_of(cause)));
            }
            Event::Settled { outcome, cause } => {
                reached.insert(format!("outcome {outcome:?}"));
                reached.insert(format!("cause {}", name_of(cause)));
            }
            Event::TakenOver(takeover) => {
                reached.insert(format!("rescuer {:?}", takeover.by));
            }
            _ => {}
        }
    }
    reached
}

/// What an end looks like: the way there and what is known, without times and words.
fn end_of(records: &[Record], state: &RunState) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.outcome.hash(&mut hasher);
    state.phase.hash(&mut hasher);
    state.cause.as_ref().map(name_of).hash(&mut hasher);
    for cause in &state.endings {
        name_of(cause).hash(&mut hasher);
    }
    for step in &state.steps {
        step.undo.is_some().hash(&mut hasher);
        step.injecting_at_ms.is_some().hash(&mut hasher);
        step.confirmed_at_ms.is_some().hash(&mut hasher);
        step.proof
            .as_ref()
            .map(|proof| (proof.injected, proof.planned))
            .hash(&mut hasher);
        step.tripped.is_some().hash(&mut hasher);
        step.gone_at_ms.is_some().hash(&mut hasher);
        step.undo_failures.min(2).hash(&mut hasher);
    }
    let rescuers: Vec<Rescuer> = state.takeovers.iter().map(|one| one.takeover.by).collect();
    rescuers.hash(&mut hasher);
    let states: Vec<_> = state.slos.iter().map(|slo| slo.state).collect();
    states.hash(&mut hasher);
    records.is_empty().hash(&mut hasher);
    hasher.finish()
}
