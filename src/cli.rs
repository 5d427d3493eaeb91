//! What can be typed. Types only; their doc comments are the help text.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCompleter;

mod approving;
mod cleaning;

pub use approving::{
    AllowedException, ApproveArgs, KeyArgs, PolicyArgs, PolicyCommand, PolicyCommandArgs,
};

pub use cleaning::{AbortArgs, CleaningArgs, RecoverArgs};

use crate::completing;
use crate::model::ids::Name;
use crate::model::units::Span;
use crate::view::Speed;

const EXIT_CODES: &str = "\
Exit codes of a run:
  0   held          the hypothesis held; fault proven in, undone, proven gone, SLOs back
  1   deviated      an SLO breached or recovery was late; undone and proven gone
  2   -             usage, or an invalid document
  3   refused       policy, drift, lock, broken baseline, or the fault never got in
  4   unapproved    no valid approval, or it expired
  5   aborted       by a person or a signal; undone and proven gone
  6   inconclusive  the run cannot judge; undone and proven gone
  7   stuck         an undo failed or is unproven: look now
  8   -             evidence could not be written or read
  70  -             a bug in chaos

Every other command uses 0, 2, 3, 4, 8 and 70 in the same sense, `abort` and `recover` 5 and 7 too.";

const FIRST_STEPS: &str = "\
Start here:
  chaos run --sandbox examples/stream-down.yaml   practise, with nothing to install
  chaos init                                      write an experiment of your own
  chaos plan FILE                                 see exactly what it would do";

/// Guided game days: plan a fault, approve exactly that plan, inject it while SLOs are watched, undo
/// it and prove it gone.
#[derive(Debug, Parser)]
#[command(name = "chaos", version, max_term_width = 100)]
#[command(after_help = FIRST_STEPS, after_long_help = format!("{FIRST_STEPS}\n\n{EXIT_CODES}"))]
#[command(
    propagate_version = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub global: Global,
    #[command(subcommand)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Say less; for `plan`, print the plan's id and nothing else
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// When to use colour; NO_COLOR and CLICOLOR_FORCE are honoured
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Where plans, approvals and runs are kept [default: $CHAOS_STATE_DIR, else $XDG_STATE_HOME/chaos]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub state_dir: Option<PathBuf>,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal that can show it
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Every verb.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write an experiment and a policy, guided by questions or by flags
    Init(InitArgs),
    /// Show exactly what an experiment would do, and keep it as a plan
    Plan(PlanArgs),
    /// Say yes or no to one plan, as a person at a terminal
    Approve(ApproveArgs),
    /// Run a plan, or plan and run a file: baseline, inject, watch, undo, prove, recover
    Run(RunArgs),
    /// Repeat a run's faults and compare; with --view, play the recording back
    Replay(ReplayArgs),
    /// Turn a run into a document; several runs into a comparison
    Report(ReportArgs),
    /// End a run from any terminal: undo what it has in place, and prove it gone
    Abort(AbortArgs),
    /// End the runs that have no end, and take out what runs left behind
    Recover(RecoverArgs),
    /// List the runs
    Runs(ListArgs),
    /// Show a plan with its approvals, or a run
    Show(ShowArgs),
    /// Check a policy file
    Policy(PolicyCommandArgs),
    /// Start the practice environment on this machine
    Sandbox(SandboxArgs),
    /// Print the JSON Schema of a document, for editors
    Schema(SchemaArgs),
    /// Print the completion script for a shell
    Completions(CompletionsArgs),
    /// Print a man page, or write all of them
    Man(ManArgs),
}

/// Where variables come from.
#[derive(Debug, Clone, Default, Args)]
pub struct VariableArgs {
    /// Fill ${NAME} in the document
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub flags: Vec<String>,
    /// Fill variables from a YAML file of names and values
    #[arg(long = "var-file", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
}

/// Which cluster, where the document leaves it open or is overruled.
#[derive(Debug, Clone, Default, Args)]
pub struct ClusterArgs {
    /// Kubeconfig that clusters are found in [default: $KUBECONFIG, which may list several, else ~/.kube/config]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig, instead of the document's [default: the current one]
    #[arg(long, value_name = "CONTEXT")]
    pub context: Option<String>,
    /// Namespace, instead of the document's [default: the context's]
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Option<Name>,
}

/// How far back SLOs are looked at while a plan is made.
#[derive(Debug, Clone, Default, Args)]
pub struct RehearsalArgs {
    /// Ask what the SLOs would have done over so much of the past; 0s asks only for now [default: 6h]
    #[arg(long, value_name = "DURATION")]
    pub rehearse: Option<Span>,
}

/// The embedded sandbox for one run.
#[derive(Debug, Clone, Args)]
pub struct OwnSandboxArgs {
    /// Start a practice environment for this run; fills ${SANDBOX_APP} and ${SANDBOX_AWS}
    #[arg(long)]
    pub sandbox: bool,
    /// Which version of the practice application
    #[arg(
        long,
        value_name = "VERSION",
        default_value = "fragile",
        requires = "sandbox"
    )]
    pub app: App,
    /// Seed of its dice
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "sandbox")]
    pub seed: u64,
}

/// The practice application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum App {
    /// Retries without end and swallows failures
    Fragile,
    /// Bounded retries, clear answers, a dead-letter queue
    Fixed,
}

/// `chaos init`
#[derive(Debug, Clone, Args)]
pub struct InitArgs {
    /// The file to write; never overwritten [default: NAME.yaml]
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Name of the experiment, a DNS label
    #[arg(long)]
    pub name: Option<String>,
    /// What it claims
    #[arg(long, value_name = "SENTENCE")]
    pub hypothesis: Option<String>,
    /// Base URL of the LocalStack
    #[arg(long, value_name = "URL", env = "AWS_ENDPOINT_URL", value_hint = ValueHint::Url)]
    pub endpoint: Option<String>,
    /// AWS region of the faults
    #[arg(long, env = "AWS_REGION")]
    pub region: Option<String>,
    /// AWS service that fails, as botocore names it: kinesis, dynamodb, sqs
    #[arg(long)]
    pub service: Option<String>,
    /// Operation that fails [default: every operation]
    #[arg(long)]
    pub operation: Option<String>,
    /// Share of the requests that fail, 0 to 1
    #[arg(long, value_name = "SHARE")]
    pub probability: Option<f64>,
    /// URL that the built-in traffic asks while the fault is in
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub traffic: Option<String>,
    /// PromQL query that must hold too
    #[arg(long, value_name = "PROMQL")]
    pub query: Option<String>,
    /// What its value must be [default: < 1%]
    #[arg(long, value_name = "OBJECTIVE", requires = "query")]
    pub objective: Option<String>,
    /// Base URL of the Prometheus that answers it [default: http://127.0.0.1:9090]
    #[arg(long, value_name = "URL", env = "PROMETHEUS_URL", value_hint = ValueHint::Url)]
    pub prometheus: Option<String>,
    /// How long the fault stays in
    #[arg(long, value_name = "DURATION")]
    pub hold: Option<Span>,
    /// Write no policy beside it
    #[arg(long)]
    pub no_policy: bool,
    /// Ask nothing: take the flags and the defaults
    #[arg(long)]
    pub yes: bool,
}

/// `chaos plan`
#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    /// The experiment
    #[arg(value_hint = ValueHint::FilePath, add = ArgValueCompleter::new(completing::experiments))]
    pub file: PathBuf,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub variables: VariableArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub policy: PolicyArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub rehearsal: RehearsalArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub cluster: ClusterArgs,
    /// Write the locked plan into this file too, to take it elsewhere; never overwritten
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Show what differs from this earlier plan: its id, or its file
    #[arg(long, value_name = "PLAN", add = ArgValueCompleter::new(completing::plans))]
    pub diff: Option<String>,
    /// Form of what is printed
    #[arg(short, long, value_name = "FORM", default_value = "text")]
    pub output: PlanForm,
}

/// Forms of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanForm {
    /// For people
    Text,
    /// The locked plan
    Json,
    /// The locked plan
    Yaml,
}

/// Forms of everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For people
    Text,
    /// For programs
    Json,
}

/// The keys of the live view.
const KEYS: &str = "Keys, while it is shown on a terminal:
  a  abort, asks first         m  mark \"alert fired\"
  n  note into the journal     p  pause before the next step; again: go on
  q  abort, or plain lines     ?  what the keys do";

/// `chaos run`
#[derive(Debug, Clone, Args)]
#[command(after_help = KEYS)]
pub struct RunArgs {
    /// An experiment, a plan's file, or the id of a plan
    #[arg(value_name = "FILE|PLAN", add = ArgValueCompleter::new(completing::experiments_and_plans))]
    pub what: String,
    /// An approval that was given elsewhere, as a file; may come several times
    #[arg(long = "approval", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub approvals: Vec<PathBuf>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub variables: VariableArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub policy: PolicyArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub rehearsal: RehearsalArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub sandbox: OwnSandboxArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub conduct: ConductArgs,
}

/// How a run is conducted and shown.
#[derive(Debug, Clone, Args)]
pub struct ConductArgs {
    /// Form of what is shown; json is every event, one a line
    #[arg(short, long, value_name = "FORM", default_value = "text")]
    pub output: Form,
    /// Skip courtesy questions; never an approval
    #[arg(long)]
    pub yes: bool,
    /// How long an undo may take before the run is stuck
    #[arg(long, value_name = "DURATION", default_value = "2m")]
    pub undo_timeout: Span,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub key: KeyArgs,
}

/// `chaos replay`
#[derive(Debug, Clone, Args)]
pub struct ReplayArgs {
    /// The run: its id, a part that only it has, or `last`
    #[arg(add = ArgValueCompleter::new(completing::runs))]
    pub run: String,
    /// Play the recording through the live view; nothing is touched
    #[arg(long, conflicts_with_all = ["sandbox", "flags", "files", "rehearse", "kubeconfig", "context", "namespace"])]
    pub view: bool,
    /// How fast to play it: 0.5, 10, max
    #[arg(long, value_name = "TIMES", default_value = "1", requires = "view")]
    pub speed: Speed,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub variables: VariableArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub policy: PolicyArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub rehearsal: RehearsalArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub sandbox: OwnSandboxArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub conduct: ConductArgs,
}

/// `chaos report`
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// Runs: ids, parts that only they have, or `last`; two or more are compared
    #[arg(required = true, value_name = "RUN", add = ArgValueCompleter::new(completing::runs))]
    pub runs: Vec<String>,
    /// Form of the document
    #[arg(short, long, value_name = "FORM", default_value = "text")]
    pub output: Form,
}

/// `chaos runs`
#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// Form of the list
    #[arg(short, long, value_name = "FORM", default_value = "text")]
    pub output: Form,
}

/// `chaos show`
#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// A plan or a run: its id, or a part that only it has; a plan's file; `last` is the latest run
    #[arg(value_name = "PLAN|RUN", add = ArgValueCompleter::new(completing::plans_and_runs))]
    pub what: String,
    /// One page to print: what a plan does, to whom, how it ends, and how to undo it by hand
    #[arg(long, conflicts_with_all = ["verify", "output"])]
    pub explain: bool,
    /// Check a run's journal, line by line, and say what is wrong with it
    #[arg(long)]
    pub verify: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub policy: PolicyArgs,
    /// Form of what is printed
    #[arg(short, long, value_name = "FORM", default_value = "text")]
    pub output: Form,
}

/// `chaos sandbox`
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SandboxArgs {
    #[command(subcommand)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub command: Option<SandboxCommand>,
    /// Which version of the application
    #[arg(long, value_name = "VERSION", default_value = "fragile")]
    pub app: App,
    /// Port of its order API; 0 takes any
    #[arg(long, value_name = "PORT", default_value_t = crate::sandbox::DEFAULT_APP_PORT)]
    pub app_port: u16,
    /// Port of its AWS services and Chaos API; 0 takes any
    #[arg(long, value_name = "PORT", default_value_t = crate::sandbox::DEFAULT_AWS_PORT)]
    pub aws_port: u16,
    /// Seed of its dice
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
}

/// Verbs of `chaos sandbox`.
#[derive(Debug, Clone, Subcommand)]
pub enum SandboxCommand {
    /// Print what a running sandbox has counted, as JSON
    Status {
        /// Base URL of its order API
        #[arg(long, value_hint = ValueHint::Url, default_value_t = format!("http://127.0.0.1:{}", crate::sandbox::DEFAULT_APP_PORT))]
        url: String,
    },
}

/// `chaos schema`
#[derive(Debug, Clone, Args)]
pub struct SchemaArgs {
    /// Which document
    #[arg(value_name = "KIND", default_value = "experiment")]
    pub kind: SchemaKind,
}

/// Documents that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    /// An experiment
    Experiment,
    /// A policy
    Policy,
}

/// `chaos completions`
#[derive(Debug, Clone, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Shells with completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// GNU Bash
    Bash,
    /// Z shell
    Zsh,
    /// fish
    Fish,
    /// PowerShell
    Powershell,
    /// Elvish
    Elvish,
}

/// `chaos man`
#[derive(Debug, Clone, Args)]
pub struct ManArgs {
    /// The command whose page is printed [default: chaos itself]
    pub command: Option<String>,
    /// Write every page into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "command", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
}
