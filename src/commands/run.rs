//! `chaos run`: a plan, or a file that is planned, shown and run in one go.

use std::path::Path;

use super::Desk;
use super::approvals;
use super::conduct::{self, Conduct, Seen};
use super::planning::{self, Draft, Look, Named, Planned};
use super::plans::{self, Found};
use super::policies;
use super::replay;
use crate::cli::{App, ConductArgs, Form, OwnSandboxArgs, RunArgs, VariableArgs};
use crate::clients::Clients;
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::ids::PlanId;
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::{Source, Variables, differences, read_source};
use crate::policy::made_under;
use crate::sandbox::{AppVersion, Sandbox, SandboxSettings};
use crate::view::plan as shown;

pub(super) async fn run(desk: &Desk, args: &RunArgs) -> Result<Exit, Failure> {
    let named = plans::to_run(desk, &args.what)?;
    if let Some(found) = &named {
        refuse_changes(&found.stored.id, args)?;
    }
    let id = named.as_ref().map(|found| &found.stored.id);
    if named.is_none() && !Path::new(&args.what).exists() {
        planning::experiment(Path::new(&args.what))?;
    }
    approvals::bring_in(desk, &args.approvals, id)?;
    let mut way = named.as_ref().map(|found| approvals::way(desk, found));
    for file in &args.approvals {
        if let Some(way) = &mut way {
            way.add(Some(file.clone()));
        }
    }
    let clients = planning::clients(desk, &args.cluster)?;
    let sandbox = own_sandbox(&args.sandbox).await?;
    let own = sandbox.as_ref().map(planning::own);
    let (planned, seen) = match named {
        Some(found) => {
            let planned = approved(desk, &clients, found, args).await?;
            (planned, Seen::Unseen)
        }
        None => {
            let source = planning::experiment(Path::new(&args.what))?;
            let variables = planning::variables(
                planning::sandbox_variables(sandbox.as_ref()),
                &args.variables.flags,
                &args.variables.files,
            )?;
            let draft = Draft {
                source: &source,
                policy: policies::applying(desk, &args.policy, Path::new(&args.what))?,
                variables,
                sandbox: own.as_ref(),
                replay_of: None,
                look: Look::asked(&args.rehearsal),
                cluster: Named::typed(&args.cluster),
            };
            let planned = planning::make(desk, &clients, draft).await?;
            present(desk, &planned, &args.conduct)?;
            (planned, Seen::Shown)
        }
    };
    let conduct = Conduct {
        clients: &clients,
        args: &args.conduct,
        sandbox,
        seen,
        way: way.unwrap_or_default(),
    };
    let conducted = conduct::conduct(desk, planned, conduct).await?;
    replay::compare_with_original(desk, &conducted, args.conduct.output);
    Ok(conducted.exit())
}

/// A plan is run as it was approved: flags that would have made it another one are not passed over.
fn refuse_changes(plan: &PlanId, args: &RunArgs) -> Result<(), Problem> {
    let VariableArgs { flags, files } = &args.variables;
    let changes = !flags.is_empty() || !files.is_empty() || args.sandbox.sandbox;
    if !changes && args.rehearsal.rehearse.is_none() {
        return Ok(());
    }
    Err(Problem::new(
        ProblemKind::Invalid,
        format!("{plan} is a plan, which is run as it is: --var, --var-file, --rehearse and --sandbox make another one"),
    )
    .hint("give them to `chaos plan FILE` or `chaos run FILE`"))
}

/// Shows a plan to the person who will be asked, and saves it.
pub(super) fn present(
    desk: &Desk,
    planned: &Planned,
    conduct: &ConductArgs,
) -> Result<(), Failure> {
    let form = conduct.output;
    let asks_anyway = !conduct.yes;
    let asks = desk.printer.has_person() && (planned.needs_approval() || asks_anyway);
    match form {
        // Nobody says yes to what he has not seen.
        Form::Text | Form::Json if asks => {
            shown::insist(&desk.printer, &planned.sheet());
        }
        Form::Text => shown::talk(&desk.printer, &planned.sheet()),
        Form::Json => {}
    }
    desk.store()?
        .save_plan(&planned.stored.id, &planned.stored.to_text()?)?;
    Ok(())
}

/// The plan as it was approved, if the world is still the one that it was made for.
async fn approved(
    desk: &Desk,
    clients: &Clients,
    found: Found,
    args: &RunArgs,
) -> Result<Planned, Failure> {
    let Found { stored, file, .. } = found;
    let source = stored.plan.source.source();
    let policy = policies::of_plan(desk, &args.policy, &stored.plan, file.as_deref())?;
    made_under(&stored, &policy)?;
    let draft = Draft {
        source: &source,
        policy,
        variables: Variables::recorded(&stored.plan.variables),
        sandbox: None,
        replay_of: stored.plan.replay_of.clone(),
        look: Look::Nowhere,
        cluster: Named::typed_or_planned(&args.cluster, &stored.plan),
    };
    warn_if_edited(desk, &source);
    let now = planning::make(desk, clients, draft).await?;
    let mut drift = differences(&stored.plan, &now.stored.plan);
    drift.retain(|difference| difference.topic.binds());
    if !drift.is_empty() {
        return Err(Failure::Drift(drift));
    }
    // By the very plan that was approved, with what it carries.
    let (findings, _) = planning::looked_at(desk, &stored.plan, &now.policy)?;
    Ok(Planned {
        findings,
        stored,
        policy: now.policy,
    })
}

/// A plan holds its document; what became of the file since then is not looked at, and that is said.
fn warn_if_edited(desk: &Desk, planned: &Source) {
    let file = read_source(Path::new(&planned.name)).ok();
    if file.is_some_and(|file| file.text != planned.text) {
        desk.printer.warn(&format!(
            "{} was edited after this plan was made; what runs is what was planned and approved",
            planned.name
        ));
    }
}

/// The sandbox that was asked for.
pub(super) async fn own_sandbox(args: &OwnSandboxArgs) -> Result<Option<Sandbox>, Failure> {
    if !args.sandbox {
        return Ok(None);
    }
    let settings = SandboxSettings {
        app: version(args.app),
        app_port: 0,
        aws_port: 0,
        seed: args.seed,
    };
    Ok(Some(Sandbox::start(settings).await?))
}

/// The version that was typed.
pub(super) fn version(app: App) -> AppVersion {
    match app {
        App::Fragile => AppVersion::Fragile,
        App::Fixed => AppVersion::Fixed,
    }
}
