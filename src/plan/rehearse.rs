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

/// What has not answered by then is written down as down.
const WITHIN: Duration = Duration::from_secs(60);

/// The plan with what its SLOs read now and over so much of the past; zero asks only for now.
///
/// # Errors
/// An SLO reads from a source that is not declared. What a source cannot answer is no error: it
/// stands in the rehearsal.
pub async fn rehearse(plan: Plan, sources: &Sources, over: Span) -> Result<Plan, Problem> {
    let deadline = Instant::now() + WITHIN;
    let slos = plan.experiment.slos.iter().enumerate();
    let asked = stream::iter(slos)
        .map(|(index, gauged)| async move { (index, one(gauged, sources, over, deadline).await) })
        .buffer_unordered(AT_ONCE);
    let mut told: Vec<_> = asked.collect().await;
    told.sort_by_key(|(index, _)| *index);
    let told = told.into_iter().map(|(_, told)| told);
    let rehearsals = told.collect::<Result<_, _>>()?;
    Ok(Plan { rehearsals, ..plan })
}

async fn one(
    gauged: &GaugedSlo,
    sources: &Sources,
    over: Span,
    deadline: Instant,
) -> Result<Rehearsal, Problem> {
    let source = sources.source_for(&gauged.metric)?;
    let asked = source.rehearse(&gauged.slo, &gauged.metric, over);
    let answered = timeout_at(deadline, asked).await;
    Ok(answered.unwrap_or_else(|_| not_reached(gauged)))
}

fn not_reached(gauged: &GaugedSlo) -> Rehearsal {
    let why = format!("no answer in the {} that all SLOs had", Span::of(WITHIN));
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
