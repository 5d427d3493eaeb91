//! `chaos replay`: the same faults as a new run, both side by side; or the recording played back.

use super::Desk;
use super::conduct::{self, Conduct, Conducted, Seen};
use super::planning::{self, Draft, Look, Named};
use super::policies;
use super::{report, run};
use crate::cli::{Form, ReplayArgs};
use crate::error::{Failure, Way};
use crate::exit::Exit;
use crate::journal::{self, RunEntry};
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::{StoredPlan, VariableSource, Variables, differences};
use crate::report::{Comparison, Report};
use crate::session::{self, Screen};
use crate::view::{Player, Shape, plan as shown, view};

pub(super) async fn replay(desk: &Desk, args: &ReplayArgs) -> Result<Exit, Failure> {
    let entry = desk.store()?.find_run(&args.run)?;
    if args.view {
        return play(desk, args, &entry).await;
    }
    let before = report::of(&entry)?;
    let stored = StoredPlan::from_text(&entry.plan_text()?)?;
    needs_a_sandbox(&stored, args)?;
    let clients = planning::clients(desk, &args.cluster)?;
    let sandbox = run::own_sandbox(&args.sandbox).await?;
    let own = sandbox.as_ref().map(planning::own);
    let source = stored.plan.source.source();
    let recorded = Variables::recorded(&stored.plan.variables);
    let variables = planning::variables(
        recorded.overlaid(planning::sandbox_variables(sandbox.as_ref())),
        &args.variables.flags,
        &args.variables.files,
    )?;
    let draft = Draft {
        source: &source,
        policy: policies::of_plan(desk, &args.policy, &stored.plan, None)?,
        variables,
        sandbox: own.as_ref(),
        replay_of: Some(entry.id.clone()),
        look: Look::asked(&args.rehearsal),
        cluster: Named::typed_or_planned(&args.cluster, &stored.plan),
    };
    let planned = planning::make(desk, &clients, draft).await?;
    shown::talk_differences(
        &desk.printer,
        &differences(&stored.plan, &planned.stored.plan),
    );
    run::present(desk, &planned, &args.conduct)?;
    let conduct = Conduct {
        clients: &clients,
        args: &args.conduct,
        sandbox,
        seen: Seen::Shown,
        way: Way::default(),
    };
    let conducted = conduct::conduct(desk, planned, conduct).await?;
    compare(desk, &before, &conducted, args.conduct.output);
    Ok(conducted.exit())
}

/// Shows both runs side by side. How the run ended stands, whatever becomes of that.
fn compare(desk: &Desk, before: &Report, conducted: &Conducted, form: Form) {
    match after(desk, conducted) {
        Ok(Some(after)) => report::compare(desk, &Comparison::between(before, &after), form),
        Ok(None) => {}
        Err(failure) => failure.show(&desk.printer),
    }
}

/// A run on a sandbox of its own can only be repeated on another one.
fn needs_a_sandbox(stored: &StoredPlan, args: &ReplayArgs) -> Result<(), Problem> {
    let of_its_own = planning::SANDBOX_SOURCE;
    let mut used = stored.plan.variables.values();
    let had_one = used.any(
        |variable| matches!(&variable.source, VariableSource::File(file) if file == of_its_own),
    );
    if !had_one || args.sandbox.sandbox || !args.variables.flags.is_empty() {
        return Ok(());
    }
    Err(Problem::new(
        ProblemKind::Invalid,
        format!("{} was on a sandbox of its own, which is gone", args.run),
    )
    .hint("add `--sandbox`, and `--app fixed` for the version with the fix"))
}

/// The same for an approved plan that repeats a run; nothing to say for any other plan.
pub(super) fn compare_with_original(desk: &Desk, conducted: &Conducted, form: Form) {
    let Some(original) = &conducted.replay_of else {
        return;
    };
    let before = desk
        .store()
        .and_then(|store| store.find_run(original.as_str()))
        .map_err(Failure::from)
        .and_then(|entry| report::of(&entry));
    match before {
        Ok(before) => compare(desk, &before, conducted, form),
        Err(failure) => failure.show(&desk.printer),
    }
}

/// The report of the run that has just ended; `None`: nobody reads what is shown.
fn after(desk: &Desk, conducted: &Conducted) -> Result<Option<Report>, Failure> {
    match conducted.screen {
        Screen::Stalled => Ok(None),
        Screen::Read => {
            let entry = desk.store()?.find_run(conducted.run.as_str())?;
            report::of(&entry).map(Some)
        }
    }
}

/// Plays the recording; touches nothing.
async fn play(desk: &Desk, args: &ReplayArgs, entry: &RunEntry) -> Result<Exit, Failure> {
    let recorded = journal::read(&entry.journal)?;
    let shape = match args.conduct.output {
        Form::Text => Shape::Fitting,
        Form::Json => Shape::Json,
    };
    let mut seen = view(shape, &desk.printer);
    let player = Player::new(recorded.records, args.speed);
    // Whoever has seen enough gets the cursor back, which the view gives when it is dropped.
    tokio::select! {
        _ = player.play(seen.as_mut()) => {}
        stopped = session::until_told_to_stop() => stopped?,
    }
    Ok(Exit::Done)
}
