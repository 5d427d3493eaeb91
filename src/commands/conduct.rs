//! From a locked plan to a settled run: approval, lock, journal, engine, last words. What `run` and
//! `replay` share.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;

use super::Desk;
use super::admission;
use super::guarding::{self, Charged};
use super::locking::{self, Locked};
use super::looking;
use super::planning::{self, Planned, source_setup};
use super::preflight;
use super::unfinished;
use crate::cli::{ConductArgs, Form};
use crate::clients::Clients;
use crate::error::{Failure, Way};
use crate::exit::Exit;
use crate::faults::{self, FaultDriver};
use crate::journal::{Header, Journal, RunFolder, Store, WantedWriting, Writer, Writing};
use crate::kubernetes::lease::HeldLease;
use crate::metrics::Sources;
use crate::model::decision::Cause;
use crate::model::ids::RunId;
use crate::model::outcome::Outcome;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::units::Span;
use crate::plan::Plan;
use crate::policy::AdmittedPlan;
use crate::run::{Clock, Gauge, Kit, Runner, Settlement, Timing};
use crate::sandbox::Sandbox;
use crate::session::{self, Alarm, Executed, Keyboard, Screen, Stage};
use crate::view::{self, Shape, closing};

/// Less would call a platform stuck that is only busy.
const SHORTEST_UNDO: Span = Span::from_secs(1);

/// Whoever was asked took longer than this: a yes to a world that nobody has looked at since.
const STILL_TRUE: Duration = Duration::from_millis(100);

/// How a run is to be conducted.
pub(super) struct Conduct<'a> {
    pub(super) clients: &'a Clients,
    pub(super) args: &'a ConductArgs,
    /// The sandbox that was started for it; it ends with it.
    pub(super) sandbox: Option<Sandbox>,
    /// Whether the plan stands on the screen already.
    pub(super) seen: Seen,
    /// How the plan and its approvals came here.
    pub(super) way: Way,
}

/// Whether whoever may be asked for a yes has been shown the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// It was just made and shown.
    Shown,
    /// It was made before, perhaps by somebody else.
    Unseen,
}

/// A run that ended, and where its evidence is.
pub(super) struct Conducted {
    pub(super) run: RunId,
    /// The run whose faults it repeated.
    pub(super) replay_of: Option<RunId>,
    pub(super) settlement: Settlement,
    /// Whether anybody reads what is shown.
    pub(super) screen: Screen,
}

impl Conducted {
    /// The exit code: a stuck fault before lost evidence before everything else.
    pub(super) fn exit(&self) -> Exit {
        let settlement = &self.settlement;
        let stuck = settlement.outcome == Outcome::Stuck;
        match &settlement.evidence {
            Some(_) if !stuck => Exit::Run(8),
            Some(_) | None => Exit::Run(settlement.cause.exit_code()),
        }
    }
}

/// Saves, admits and executes a plan.
pub(super) async fn conduct(
    desk: &Desk,
    planned: Planned,
    conduct: Conduct<'_>,
) -> Result<Conducted, Failure> {
    refuse_short_undo(conduct.args.undo_timeout)?;
    let mut lease = None;
    // Others wait for the Lease, also where this program has a bug.
    let conducted = AssertUnwindSafe(under_lease(desk, planned, conduct, &mut lease));
    let conducted = conducted.catch_unwind().await;
    locking::release(desk, lease).await;
    conducted.unwrap_or_else(|panic| resume_unwind(panic))
}

/// The same; whatever becomes of it, the Lease that it took is left to be given back.
async fn under_lease(
    desk: &Desk,
    planned: Planned,
    conduct: Conduct<'_>,
    lease: &mut Option<HeldLease>,
) -> Result<Conducted, Failure> {
    let store = desk.store()?;
    let text = planned.stored.to_text()?;
    let Cleared {
        admitted,
        drivers,
        mut locked,
        warnings,
        alarm,
    } = clear(desk, &store, planned, &conduct, lease).await?;
    let clock = Clock::start();
    let run = new_run_id(clock);
    locked.begin(&run);
    let kit = Kit {
        drivers: drivers.clone(),
        gauges: Vec::new(),
        sources: Sources::new(
            &admitted.plan().experiment.metrics,
            &source_setup(desk, run.to_string(), conduct.clients)?,
        )?,
        timing: Timing {
            undo_within: conduct.args.undo_timeout.as_duration(),
            ..Timing::default()
        },
        clock,
    };
    let kit = gauge(kit, admitted.plan())?;
    let timing = kit.timing;
    admission::use_up(&store, &admitted, &run)?;
    let folder = store.create_run(&run, &text)?;
    let _writing = hold(desk, &folder)?;
    let charged = Charged {
        run: &run,
        folder: &folder,
        locked: &locked,
        clients: conduct.clients,
        undo_within: conduct.args.undo_timeout,
    };
    let shape = shape(conduct.args.output);
    let stage = Stage {
        journal: open_journal(&folder, &run, &admitted, clock)?,
        view: view::view(shape, &desk.printer),
        keyboard: view::keyboard(shape, &desk.printer).map(|terminal| Keyboard {
            person: desk.settings.person.clone(),
            terminal,
        }),
        clock,
        lock: lease.as_mut().and_then(|lease| lease.news()),
        alarm: Some(alarm),
        guardian: Some(guarding::posting(desk, &charged)?),
        person: desk.settings.person.clone(),
    };
    let replay_of = admitted.plan().replay_of.clone();
    let runner = Runner::new(admitted, run.clone(), desk.settings.person.clone(), kit);
    let runner = runner.warned(warnings);
    let runner = match &conduct.sandbox {
        Some(sandbox) => runner.on_own_sandbox(sandbox.aws_url().to_owned()),
        None => runner,
    };
    let Executed { settlement, screen } = session::execute(runner, drivers, timing, stage).await?;
    let conducted = Conducted {
        run,
        replay_of,
        settlement,
        screen,
    };
    say_last(desk, &conducted, conduct.args.output);
    if let Some(sandbox) = conduct.sandbox {
        sandbox.stop().await;
    }
    Ok(conducted)
}

/// What a run starts with.
struct Cleared {
    admitted: AdmittedPlan,
    drivers: Vec<Arc<dyn FaultDriver>>,
    locked: Locked,
    /// For the run's record.
    warnings: Vec<String>,
    /// It listens until the run does.
    alarm: Alarm,
}

/// Everything that can stop a run before its first event. All that needs nobody comes first: a yes to
/// what cannot start would be a yes for nothing.
async fn clear(
    desk: &Desk,
    store: &Store,
    planned: Planned,
    conduct: &Conduct<'_>,
    lease: &mut Option<HeldLease>,
) -> Result<Cleared, Failure> {
    unfinished::refuse(desk, store)?;
    let own = conduct.sandbox.as_ref().map(planning::own);
    if !desk.printer.has_person() {
        // Nobody can change the answer, so a no is known before anything is locked. Once more below,
        // under the lock: that alone makes one yes one run.
        admission::admit(desk, store, planned.clone(), conduct, own.as_ref())?;
    }
    let plan = &planned.stored.plan;
    let warnings = preflight::preflight(desk, store, plan, conduct.clients).await?;
    // From here on a signal ends this in order, since others wait for the locks.
    let mut alarm = Alarm::set()?;
    let locked = locking::lock(desk, store, &planned.stored)?;
    // Once more: whoever held the lock a moment ago may have died with something in place.
    unfinished::refuse(desk, store)?;
    // Never left off halfway: it might be taken by then.
    *lease = locking::lease(desk, &planned.stored, conduct.clients).await?;
    let drivers = drivers(plan, conduct.clients)?;
    let asking = new_run_id(Clock::start());
    let look = looking::look(store, plan, &drivers, &asking);
    alarm.unless(look).await.map_err(Failure::Interrupted)??;
    let asked = Instant::now();
    let admitted = admission::admit(desk, store, planned, conduct, own.as_ref());
    // A question that a signal broke off was not answered.
    alarm
        .rang()
        .map_or(Ok(()), |name| Err(Failure::Interrupted(name)))?;
    let admitted = admitted?;
    if asked.elapsed() >= STILL_TRUE {
        let look = looking::look(store, admitted.plan(), &drivers, &asking);
        alarm.unless(look).await.map_err(Failure::Interrupted)??;
    }
    locked.check()?;
    lease
        .as_ref()
        .map_or(Ok(()), |lease| lease.still_counts())?;
    Ok(Cleared {
        admitted,
        drivers,
        locked,
        warnings,
        alarm,
    })
}

/// An undo that has less time than its own requests.
pub(super) fn refuse_short_undo(undo_timeout: Span) -> Result<(), Problem> {
    if undo_timeout >= SHORTEST_UNDO {
        return Ok(());
    }
    let message = format!("an undo cannot be proven within {undo_timeout}");
    let hint = format!("give `--undo-timeout` {SHORTEST_UNDO} or more");
    Err(Problem::new(ProblemKind::Invalid, message).hint(hint))
}

fn shape(form: Form) -> Shape {
    match form {
        Form::Text => Shape::Fitting,
        Form::Json => Shape::Json,
    }
}

fn say_last(desk: &Desk, conducted: &Conducted, form: Form) {
    match conducted.screen {
        Screen::Stalled => return,
        Screen::Read => {}
        // What it would have said last, above all how to finish by hand.
        Screen::Died => closing::say(&desk.printer, &conducted.settlement.state),
    }
    last_words(desk, &conducted.run, &conducted.settlement, form);
}

fn last_words(desk: &Desk, run: &RunId, settlement: &Settlement, form: Form) {
    match form {
        Form::Json => {}
        Form::Text => desk.printer.talk(&format!("next: chaos report {run}")),
    }
    if let Some(problem) = &settlement.evidence {
        desk.printer.error(problem);
    }
    if matches!(settlement.cause, Cause::Bug { .. }) {
        let problem = Problem::new(ProblemKind::Unexpected, settlement.cause.sentence());
        let hint = "what was in place was undone and seen gone; please report the bug";
        desk.printer.error(&problem.hint(hint));
    }
}

fn drivers(plan: &Plan, clients: &Clients) -> Result<Vec<Arc<dyn FaultDriver>>, Failure> {
    let steps = plan.experiment.steps.iter();
    let drivers = steps.map(|step| faults::driver_for(&step.fault, clients));
    Ok(drivers.collect::<Result<_, _>>()?)
}

fn gauge(kit: Kit, plan: &Plan) -> Result<Kit, Failure> {
    let mut gauges = Vec::new();
    for gauged in &plan.experiment.slos {
        gauges.push(Gauge {
            slo: gauged.slo.clone(),
            metric: gauged.metric.clone(),
            source: kit.sources.source_for(&gauged.metric)?,
        });
    }
    Ok(Kit { gauges, ..kit })
}

/// Whoever holds it writes the run's journal and undoes what the run has in place.
fn hold(desk: &Desk, folder: &RunFolder) -> Result<Writing, Failure> {
    let writer = Writer {
        rescuer: None,
        person: desk.settings.person.clone(),
        pid: std::process::id(),
        since: Clock::wall(),
    };
    match Writing::take(folder.path(), &writer)? {
        WantedWriting::Taken(writing) => Ok(writing),
        WantedWriting::Held(_) => {
            let message = format!("somebody else writes in {}", folder.path().display());
            Err(Failure::Problem(Problem::new(
                ProblemKind::Conflict,
                message,
            )))
        }
    }
}

fn open_journal(
    folder: &RunFolder,
    run: &RunId,
    admitted: &AdmittedPlan,
    clock: Clock,
) -> Result<Journal, Failure> {
    let header = Header {
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        run: run.clone(),
        plan: admitted.id().clone(),
        digest: admitted.digest().clone(),
        started: clock.at(0),
    };
    Ok(Journal::create(&folder.journal(), &header)?)
}

/// `r-` + UTC to the millisecond + two random letters or digits: sorts by time, also within a second.
fn new_run_id(clock: Clock) -> RunId {
    use rand::RngExt as _;
    const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
    let mut dice = rand::rng();
    let tail: String = (0..2)
        .map(|_| char::from(LETTERS[dice.random_range(0..LETTERS.len())]))
        .collect();
    let stamp = clock.at(0).strftime("%Y%m%d-%H%M%S-%3f").to_string();
    format!("r-{stamp}{tail}")
        .parse()
        .expect("digits, hyphens and lower-case letters make a run id")
}
