//! Asks every SLO's source what it reads before the run, several at once and all within a bound: a
//! server that is slow or gone must not make a plan wait for ever.

use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use tokio::time::{Instant, timeout_at};

use super::document::GaugedSlo;
use super::resolve::Plan;
use crate::metrics::Sources;
use crate::model::problem::Problem;
use crate::model::rehearsal::{Now, Rehearsal};
use crate::model::sample::{Reading, SloState};
use crate::model::units::Span;

/// So many SLOs are asked about at once: enough to be quick, few enough for a server that others
/// use too.
const AT_ONCE: usize = 8;

/// What every SLO reads now comes first, and may take so long.
const NOW_WITHIN: Duration = Duration::from_secs(30);

/// What is not known of the past by then stays unknown.
const WITHIN: Duration = Duration::from_secs(60);

/// The plan with what its SLOs read now and over so much of the past; zero asks only for now.
///
/// # Errors
/// An SLO reads from a source that is not declared. What a source cannot answer is no error: it
/// stands in the rehearsal.
pub async fn rehearse(plan: Plan, sources: &Sources, over: Span) -> Result<Plan, Problem> {
    let begun = Instant::now();
    let slos = || plan.experiment.slos.iter();
    let now = slos().map(|gauged| now(gauged, sources, begun + NOW_WITHIN));
    let mut rehearsals = in_turn(now).await?;
    // No long past of one SLO may keep another from being read at all.
    if over > Span::ZERO {
        let deadline = begun + WITHIN;
        let seen = slos().zip(rehearsals);
        let past = seen.map(|(gauged, seen)| past(gauged, seen, sources, over, deadline));
        rehearsals = in_turn(past).await?;
    }
    Ok(Plan { rehearsals, ..plan })
}

/// Several at once, none waiting for a slow one before it; the results in their order.
async fn in_turn(
    asked: impl Iterator<Item = impl Future<Output = Result<Rehearsal, Problem>>>,
) -> Result<Vec<Rehearsal>, Problem> {
    let numbered = asked.enumerate();
    let numbered = numbered.map(|(index, asked)| async move { (index, asked.await) });
    let mut told: Vec<_> = stream::iter(numbered)
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    told.sort_by_key(|(index, _)| *index);
    told.into_iter().map(|(_, told)| told).collect()
}

async fn now(
    gauged: &GaugedSlo,
    sources: &Sources,
    deadline: Instant,
) -> Result<Rehearsal, Problem> {
    let source = sources.source_for(&gauged.metric)?;
    let asked = source.rehearse(&gauged.slo, &gauged.metric, Span::ZERO);
    let answered = timeout_at(deadline, asked).await;
    Ok(answered.unwrap_or_else(|_| not_reached(gauged)))
}

/// What was seen, with the past behind it where there is one to be had.
async fn past(
    gauged: &GaugedSlo,
    seen: Rehearsal,
    sources: &Sources,
    over: Span,
    deadline: Instant,
) -> Result<Rehearsal, Problem> {
    if !gauged.metric.may_have_a_past() || !answers(&seen.now) {
        return Ok(seen);
    }
    let source = sources.source_for(&gauged.metric)?;
    let asked = source.rehearse(&gauged.slo, &gauged.metric, over);
    let told = timeout_at(deadline, asked).await.ok();
    // All these questions may be what a slow server cannot answer: it was not down before them.
    if let Some(told) = told.filter(|told| answers(&told.now)) {
        let now = seen.now;
        return Ok(Rehearsal { now, ..told });
    }
    let mut warnings = seen.warnings;
    warnings.push(format!(
        "its past was not read within the {} that all SLOs had; a shorter `--rehearse` asks for less",
        Span::of(WITHIN)
    ));
    Ok(Rehearsal { warnings, ..seen })
}

/// Whether there is a source that says something about it.
fn answers(now: &Now) -> bool {
    match now {
        Now::Read { state, .. } => *state != SloState::SourceDown,
        Now::NotYet { .. } | Now::Flawed { .. } => false,
    }
}

fn not_reached(gauged: &GaugedSlo) -> Rehearsal {
    let why = format!(
        "no answer in the {} that all SLOs had",
        Span::of(NOW_WITHIN)
    );
    Rehearsal {
        slo: gauged.slo.name.clone(),
        now: Now::Read {
            reading: Reading::SourceDown { why },
            state: SloState::SourceDown,
        },
        past: None,
        freshness: None,
        warnings: Vec::new(),
    }
}
