//! Wiring only, one file a verb: settings, load, call, show.

mod abort;
mod admission;
mod approvals;
mod approve;
mod asking;
mod attending;
mod bug;
mod cleaning;
mod completions;
mod conduct;
mod guarding;
mod init;
mod leftovers;
mod locking;
mod looking;
mod man;
mod new_file;
mod plan;
mod planning;
mod plans;
mod policies;
mod preflight;
mod recover;
mod replay;
mod report;
mod run;
mod runs;
mod sandbox;
mod schema;
mod show;
mod signature;
mod unfinished;

use crate::cli::{Cli, Color, Command, Global};
use crate::error::Failure;
use crate::exit::Exit;
use crate::journal::Store;
use crate::model::problem::{Problem, ProblemKind};
use crate::settings::{self, Settings, Wishes};
use crate::view::{ColorChoice, Loudness, Printer};

/// What every command has at hand.
pub(crate) struct Desk {
    settings: Settings,
    printer: Printer,
}

impl Desk {
    fn store(&self) -> Result<Store, Problem> {
        let folder = self.settings.state_dir.as_ref().map_err(Problem::clone)?;
        self.printer.detail(&format!(
            "state is kept in {} ({})",
            folder.value.display(),
            folder.origin
        ));
        Store::open(folder.value.clone())
    }
}

/// Does what was typed, shows what came of it, and says how the process should exit.
pub fn dispatch(cli: Cli) -> u8 {
    let wishes = wishes(&cli.global);
    let printer = Printer::new(settings::setup(&wishes));
    let result = bug::caught(|| {
        let desk = Desk {
            settings: Settings::new(&wishes),
            printer: printer.clone(),
        };
        perform(&desk, cli.command)
    });
    let code = match result {
        Ok(exit) => exit.code(),
        Err(failure) => {
            failure.show(&printer);
            failure.code()
        }
    };
    match printer.outcome() {
        Err(problem) if code == 0 => {
            printer.error(&problem);
            8
        }
        Ok(()) | Err(_) => code,
    }
}

fn wishes(global: &Global) -> Wishes {
    Wishes {
        state_dir: global.state_dir.clone(),
        loudness: match (global.quiet, global.verbose) {
            (true, _) => Loudness::Quiet,
            (false, true) => Loudness::Verbose,
            (false, false) => Loudness::Normal,
        },
        color: match global.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        },
    }
}

fn perform(desk: &Desk, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Init(args) => init::init(desk, &args),
        Command::Plan(args) => on_a_runtime(plan::plan(desk, &args)),
        Command::Approve(args) => approve::approve(desk, &args),
        Command::Run(args) => on_a_runtime(run::run(desk, &args)),
        Command::Replay(args) => on_a_runtime(replay::replay(desk, &args)),
        Command::Report(args) => report::report(desk, &args),
        Command::Abort(args) => on_a_runtime(abort::abort(desk, &args)),
        Command::Recover(args) => on_a_runtime(recover::recover(desk, &args)),
        Command::Runs(args) => runs::runs(desk, &args),
        Command::Show(args) => show::show(desk, &args),
        Command::Policy(args) => policies::policy(desk, &args),
        Command::Sandbox(args) => on_a_runtime(sandbox::sandbox(desk, &args)),
        Command::Schema(args) => schema::schema(desk, &args),
        Command::Completions(args) => completions::completions(desk, &args),
        Command::Man(args) => man::man(desk, &args),
    }
}

/// Commands that talk to nobody start no runtime: `chaos runs` must feel instant.
fn on_a_runtime<F>(work: F) -> Result<Exit, Failure>
where
    F: Future<Output = Result<Exit, Failure>>,
{
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|why| {
            Problem::new(
                ProblemKind::Unexpected,
                format!("no asynchronous runtime here: {why}"),
            )
        })?
        .block_on(work)
}
