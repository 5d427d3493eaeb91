//! `chaos plan`: see exactly what an experiment would do.

use super::Desk;
use super::planning::{self, Draft, Look, Named};
use super::policies;
use crate::cli::{PlanArgs, PlanForm};
use crate::error::Failure;
use crate::exit::Exit;
use crate::plan::Variables;
use crate::view::{Loudness, plan as shown};

pub(super) async fn plan(desk: &Desk, args: &PlanArgs) -> Result<Exit, Failure> {
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
    desk.store()?
        .save_plan(&planned.stored.id, &planned.stored.to_text()?)?;
    let quiet = desk.printer.setup().loudness == Loudness::Quiet;
    match args.output {
        PlanForm::Text if quiet => desk.printer.data(planned.stored.id.as_str()),
        PlanForm::Text => shown::show(&desk.printer, &planned.stored, &planned.findings),
        PlanForm::Json => desk.printer.data(planned.stored.to_text()?.trim_end()),
        PlanForm::Yaml => desk.printer.data(planned.stored.to_yaml()?.trim_end()),
    }
    Ok(Exit::Done)
}
