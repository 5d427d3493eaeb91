//! Whether the evidence of a run can be kept and believed: asked before the first fault, and before a
//! person is asked for a yes to what could not start.

use futures_util::future::{OptionFuture, join_all, join3};

use super::Desk;
use super::planning::source_setup;
use crate::clients::{Clients, told_time};
use crate::error::Failure;
use crate::journal::{Room, Store, Wanted};
use crate::kubernetes::told_time as told_by_api_server;
use crate::metrics;
use crate::model::problem::Problem;
use crate::model::skew::{SkewVerdict, ToldTime};
use crate::plan::Plan;
use crate::run::Clock;

/// Free beside what a run writes itself.
const FREE: u64 = 64 << 20;
/// What a run writes whatever it reads: its plan, requests, questions, and room for a bad day.
const WRITTEN_ANYWAY: u64 = 2 << 20;
/// A reading in the journal, on the wide side.
const READING: u64 = 512;

/// Nothing is written to the world. What does not stop the run is said, and returned for its record.
///
/// # Errors
/// The state folder takes no evidence of this run, or a clock is too far off to judge it.
pub(super) async fn preflight(
    desk: &Desk,
    store: &Store,
    plan: &Plan,
    clients: &Clients,
) -> Result<Vec<String>, Failure> {
    let mut warnings = Room::find(store.root(), wanted(plan))?.warnings;
    warnings.extend(doubt(plan, clients).await?);
    let (skewed, refused) = clocks(desk, plan, clients).await?;
    if let Some(problem) = refused.into_iter().next() {
        return Err(Failure::Problem(problem));
    }
    warnings.extend(skewed);
    say(desk, &warnings);
    Ok(warnings)
}

/// The same for a plan, which is for later: what would stop a run now is only said.
pub(super) async fn advise(
    desk: &Desk,
    store: &Store,
    plan: &Plan,
    clients: &Clients,
) -> Result<(), Failure> {
    let refused = |problem: Problem| format!("a run would be refused now: {}", problem.message);
    let mut warnings = match Room::find(store.root(), wanted(plan)) {
        Ok(room) => room.warnings,
        Err(problem) => vec![refused(problem)],
    };
    warnings.extend(doubt(plan, clients).await?);
    let (skewed, unusable) = clocks(desk, plan, clients).await?;
    warnings.extend(skewed);
    warnings.extend(unusable.into_iter().map(refused));
    say(desk, &warnings);
    Ok(())
}

fn say(desk: &Desk, warnings: &[String]) {
    for warning in warnings {
        desk.printer.warn(warning);
    }
}

/// That nobody knows for sure which cluster answers: its uid is what the answer says.
async fn doubt(plan: &Plan, clients: &Clients) -> Result<Option<String>, Problem> {
    let Some(cluster) = &plan.cluster else {
        return Ok(None);
    };
    let context = clients.kubernetes(cluster.context.as_deref()).await?;
    Ok(context.doubt().map(|why| {
        format!(
            "nothing proves that the API server {} is the one that it says, and whoever is in between reads the credentials: {why}",
            context.server()
        )
    }))
}

/// The clocks that are off, and those that are too far off.
async fn clocks(
    desk: &Desk,
    plan: &Plan,
    clients: &Clients,
) -> Result<(Vec<String>, Vec<Problem>), Failure> {
    let (mut warned, mut refused) = (Vec::new(), Vec::new());
    for told in told_times(desk, plan, clients).await? {
        match told.skew().map(|skew| skew.verdict()) {
            None | Some(SkewVerdict::Fine) => {}
            Some(SkewVerdict::Warned(sentence)) => warned.push(sentence),
            Some(SkewVerdict::Refused(problem)) => refused.push(problem),
        }
    }
    Ok((warned, refused))
}

/// By how long the run takes and how often each SLO is read meanwhile.
fn wanted(plan: &Plan) -> Wanted {
    let experiment = &plan.experiment;
    let holds = experiment.steps.iter().map(|step| step.hold.as_millis());
    let lasts = experiment.baseline.as_millis().saturating_add(holds.sum());
    let lasts = lasts.saturating_add(experiment.recovery_within.as_millis());
    let readings = experiment.slos.iter().map(|gauged| {
        let every = gauged.slo.every.as_millis().max(1);
        lasts / every
    });
    let readings: u64 = readings.sum();
    let own = WRITTEN_ANYWAY.saturating_add(readings.saturating_mul(READING));
    Wanted {
        own,
        free: own.max(FREE),
    }
}

/// What every server of this plan says of the time, all asked at once.
async fn told_times(desk: &Desk, plan: &Plan, clients: &Clients) -> Result<Vec<ToldTime>, Failure> {
    let setup = source_setup(desk, "preflight".to_owned(), clients)?;
    let worlds = plan.worlds();
    let localstacks = worlds.iter().filter(|world| world.platform == "localstack");
    let asked = localstacks.map(|world| {
        let url = format!("{}/_localstack/health", world.endpoint);
        let server = format!("LocalStack at {}", world.endpoint);
        told_time(server, Clock::wall(), clients.http(&url).get(&url))
    });
    let sources = metrics::told_times(&plan.experiment.metrics, &setup);
    let cluster = plan.cluster.as_ref();
    let cluster = cluster.map(|cluster| told_by_api_server(clients, cluster, Clock::wall()));
    let (worlds, sources, cluster) =
        join3(join_all(asked), sources, OptionFuture::from(cluster)).await;
    let told = sources.into_iter().chain(worlds.into_iter().flatten());
    Ok(told.chain(cluster.flatten()).collect())
}
