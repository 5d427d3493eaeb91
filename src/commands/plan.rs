//! `chaos plan`: see exactly what an experiment would do.

use std::path::Path;

use super::Desk;
use super::planning::{self, Draft, Look, Named};
use super::plans::{self, Found};
use super::{new_file, policies, preflight};
use crate::cli::{PlanArgs, PlanForm};
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::{StoredPlan, Variables, differences};
use crate::view::{Loudness, plan as shown};

pub(super) async fn plan(desk: &Desk, args: &PlanArgs) -> Result<Exit, Failure> {
    if let Some(out) = &args.out {
        new_file::can_be(out)?;
    }
    let old = args.diff.as_deref().map(|old| plans::find(desk, old));
    let old = old.transpose()?;
    if plans::of_file(&args.file)?.is_some() {
        return Err(planned_already(&args.file).into());
    }
    let source = planning::experiment(&args.file)?;
    let variables = planning::variables(
        Variables::default(),
        &args.variables.flags,
        &args.variables.files,
    )?;
    let clients = planning::clients(desk, &args.cluster)?;
    let draft = Draft {
        source: &source,
        policy: policies::applying(desk, &args.policy, &args.file)?,
        variables,
        sandbox: None,
        replay_of: None,
        look: Look::asked(&args.rehearsal),
        cluster: Named::typed(&args.cluster),
    };
    let planned = planning::make(desk, &clients, draft).await?;
    let text = planned.stored.to_text()?;
    let store = desk.store()?;
    preflight::advise(desk, &store, &planned.stored.plan, &clients).await?;
    store.save_plan(&planned.stored.id, &text)?;
    if let Some(out) = &args.out {
        new_file::write(out, &text)?;
        let told = format!("wrote plan {} to {}", planned.stored.id, out.display());
        desk.printer.success(&told);
    }
    let quiet = desk.printer.setup().loudness == Loudness::Quiet;
    if let Some(old) = &old {
        compare(desk, args.output, old, &planned.stored);
    }
    match args.output {
        PlanForm::Text if quiet => desk.printer.data(planned.stored.id.as_str()),
        PlanForm::Text => shown::show(&desk.printer, &planned.sheet()),
        PlanForm::Json => desk.printer.data(text.trim_end()),
        PlanForm::Yaml => desk.printer.data(planned.stored.to_yaml()?.trim_end()),
    }
    Ok(Exit::Done)
}

/// What differs from an earlier plan, before this one. Where the plan is for a program, stdout is its.
fn compare(desk: &Desk, form: PlanForm, old: &Found, new: &StoredPlan) {
    let found = differences(&old.stored.plan, &new.plan);
    let from = format!("plan {}", old.stored.id);
    let quiet = desk.printer.setup().loudness == Loudness::Quiet;
    match form {
        PlanForm::Text if !quiet => shown::show_differences(&desk.printer, &from, &found),
        PlanForm::Text | PlanForm::Json | PlanForm::Yaml => {
            shown::insist_differences_from(&desk.printer, &from, &found);
        }
    }
}

fn planned_already(file: &Path) -> Problem {
    let file = file.display();
    Problem::new(ProblemKind::Invalid, format!("{file} is a plan already")).hint(format!(
        "`chaos show {file}` shows it, `chaos run {file}` runs it"
    ))
}
