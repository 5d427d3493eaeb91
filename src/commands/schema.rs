//! `chaos schema`: the JSON Schema of a document, for editors.

use super::Desk;
use crate::cli::{SchemaArgs, SchemaKind};
use crate::error::Failure;
use crate::exit::Exit;
use crate::plan::experiment_schema;
use crate::policy::policy_schema;

pub(super) fn schema(desk: &Desk, args: &SchemaArgs) -> Result<Exit, Failure> {
    let schema = match args.kind {
        SchemaKind::Experiment => experiment_schema(),
        SchemaKind::Policy => policy_schema(),
    };
    desk.printer.data(&format!("{schema:#}"));
    Ok(Exit::Done)
}
