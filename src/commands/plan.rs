//! `chaos plan`: see exactly what an experiment would do.

use super::Desk;
use super::planning::{self, Draft};
use crate::cli::{PlanArgs, PlanForm};
use crate::clients::Clients;
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::Variables;
use crate::policy::Severity;
use crate::view::{Loudness, plan as shown};

pub(super) async fn plan(desk: &Desk, args: &PlanArgs) -> Result<Exit, Failure> {
    let source = planning::experiment(&args.file)?;
    let variables = planning::variables(
        Variables::default(),
        &args.variables.flags,
        &args.variables.files,
    )?;
    let clients = Clients::new()?;
    let draft = Draft {
        source: &source,
        variables,
        sandbox: None,
        replay_of: None,
    };
    let planned = planning::make(desk, &clients, draft).await?;
    let denied: Vec<_> = planned
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Deny)
        .cloned()
        .collect();
    if denied.is_empty() {
        desk.store()?
            .save_plan(&planned.stored.id, &planned.stored.to_text()?)?;
    }
    let quiet = desk.printer.setup().loudness == Loudness::Quiet;
    match args.output {
        PlanForm::Text if quiet && denied.is_empty() => {
            desk.printer.data(planned.stored.id.as_str())
        }
        PlanForm::Text if quiet => {}
        PlanForm::Text => shown::show(&desk.printer, &planned.stored, &planned.findings),
        PlanForm::Json => desk.printer.data(planned.stored.to_text()?.trim_end()),
        PlanForm::Yaml => desk.printer.data(planned.stored.to_yaml()?.trim_end()),
    }
    match args.output {
        _ if denied.is_empty() => Ok(Exit::Done),
        PlanForm::Text if !quiet => Err(Failure::Problem(
            Problem::new(ProblemKind::Refused, "the policy denies this plan")
                .hint("what it says, and each way out, stands under `Policy` above"),
        )),
        PlanForm::Text | PlanForm::Json | PlanForm::Yaml => Err(Failure::Denied(denied)),
    }
}
