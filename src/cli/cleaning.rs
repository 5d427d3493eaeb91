//! What can be typed after `abort` and `recover`.

use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use super::Form;
use crate::completing;
use crate::model::units::Span;

/// What both take.
#[derive(Debug, Clone, Args)]
pub struct CleaningArgs {
    /// How long an undo may take before the run is stuck
    #[arg(long, value_name = "DURATION", default_value = "2m")]
    pub undo_timeout: Span,
    /// Form of what is printed
    #[arg(short, long, value_name = "FORM", default_value = "text")]
    pub output: Form,
}

/// The exit codes of both.
const CODES: &str = "\
Exit code 0: nothing is left in place. 7: something is, or may be; 8: evidence could not be written.";

/// `chaos abort`
#[derive(Debug, Clone, Args)]
#[command(after_help = CODES)]
pub struct AbortArgs {
    /// The run: its id, a part that only it has, or `last` [default: the one that is under way]
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(completing::runs))]
    pub run: Option<String>,
    /// Every run that has no end
    #[arg(long, conflicts_with = "run")]
    pub all: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub cleaning: CleaningArgs,
}

/// `chaos recover`
#[derive(Debug, Clone, Args)]
#[command(after_help = CODES)]
pub struct RecoverArgs {
    /// Runs: ids, parts that only they have, or `last`; an id that is only known by its rules on a
    /// LocalStack too [default: every run]
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(completing::runs))]
    pub runs: Vec<String>,
    /// Look for rules on this LocalStack too, besides those that runs were on; may come several times
    #[arg(long = "endpoint", value_name = "URL", value_hint = ValueHint::Url)]
    pub endpoints: Vec<String>,
    /// Take out the rules of runs that are not known here too; asks first
    #[arg(long)]
    pub all: bool,
    /// With --all: ask nothing
    #[arg(long, requires = "all")]
    pub yes: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub cleaning: CleaningArgs,
}
