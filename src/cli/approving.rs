//! What can be typed about policies and approvals.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use super::Form;
use crate::completing;
use crate::model::approval::Exception;
use crate::model::units::Span;

/// Which policy applies.
#[derive(Debug, Clone, Default, Args)]
pub struct PolicyArgs {
    /// The policy that applies [default: chaos-policy.yaml, found upwards from the document, else the built-in one]
    #[arg(long, value_name = "FILE", env = "CHAOS_POLICY", value_hint = ValueHint::FilePath, add = ArgValueCompleter::new(completing::policies))]
    pub policy: Option<PathBuf>,
}

/// `chaos approve`
#[derive(Debug, Clone, Args)]
pub struct ApproveArgs {
    /// The plan: its id, a part of it that only it has, or its file
    #[arg(required_unless_present = "list", conflicts_with = "list", add = ArgValueCompleter::new(completing::plans))]
    pub plan: Option<String>,
    /// List the plans that are kept here, with what was said about each
    #[arg(long)]
    pub list: bool,
    /// Say no: this plan is not run
    #[arg(long, conflicts_with_all = ["list", "valid_for", "allow"])]
    pub deny: bool,
    /// For how long the approval counts; the policy sets the most
    #[arg(long, value_name = "DURATION")]
    pub valid_for: Option<Span>,
    /// What should be remembered with it
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Allow by name what the policy wants named; needs a reason
    #[arg(long, value_name = "EXCEPTION")]
    pub allow: Vec<AllowedException>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub key: KeyArgs,
    /// Write the approval into this file [default for a plan's file: beside it]; never overwritten
    #[arg(long, value_name = "FILE", conflicts_with = "list", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub policy: PolicyArgs,
    /// Form of the list
    #[arg(
        short,
        long,
        value_name = "FORM",
        default_value = "text",
        requires = "list"
    )]
    pub output: Form,
}

/// The key of whoever is asked for a yes.
#[derive(Debug, Clone, Default, Args)]
pub struct KeyArgs {
    /// SSH key that signs an approval: a private key, or a public one whose private half an agent holds
    #[arg(long, value_name = "FILE", env = "CHAOS_SIGNING_KEY", value_hint = ValueHint::FilePath)]
    pub key: Option<PathBuf>,
}

/// What an approval can allow by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AllowedException {
    /// A rung of the blast-radius ladder is skipped
    SkippedRung,
    /// One more run at a dose that held often enough
    SameDose,
    /// Something that smells of production and that the policy names
    Production,
}

impl AllowedException {
    /// What it allows.
    pub fn exception(self) -> Exception {
        match self {
            Self::SkippedRung => Exception::SkippedRung,
            Self::SameDose => Exception::SameDose,
            Self::Production => Exception::Production,
        }
    }
}

/// `chaos policy`
#[derive(Debug, Clone, Args)]
pub struct PolicyCommandArgs {
    #[command(subcommand)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub command: PolicyCommand,
}

/// Verbs of `chaos policy`.
#[derive(Debug, Clone, Subcommand)]
pub enum PolicyCommand {
    /// Check a policy, and show what it allows where
    Check {
        /// The policy [default: the one that applies in the current folder]
        #[arg(value_hint = ValueHint::FilePath, add = ArgValueCompleter::new(completing::policies))]
        file: Option<PathBuf>,
        #[command(flatten)]
        #[expect(missing_docs, reason = "a doc comment here would become help text")]
        policy: PolicyArgs,
        /// Form of what is printed
        #[arg(short, long, value_name = "FORM", default_value = "text")]
        output: Form,
    },
}
