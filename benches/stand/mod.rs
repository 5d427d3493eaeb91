//! What the benches of the engine stand on: a Prometheus that answers within a millisecond or two and
//! a practice platform, both in a process of their own, and the real thing against them: driver,
//! source, engine, journal with its syncs, line view.

#![expect(
    clippy::disallowed_methods,
    reason = "a bench measures real time, and there is no settings layer here"
)]

mod server;

use std::error::Error;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use chaos_gameday::clients::Clients;
use chaos_gameday::faults::{self, FaultDriver};
use chaos_gameday::journal::{Header, Journal};
use chaos_gameday::metrics::{MetricSource, SourceSetup, Sources, WallClock};
use chaos_gameday::model::approval::{ApprovalMode, Person, SealedApproval};
use chaos_gameday::model::ids::{Digest, RunId};
use chaos_gameday::model::secret::Secrets;
use chaos_gameday::plan::{
    self, DocumentSource, Plan, Resolution, Source, StoredPlan, Variables, load_experiment,
};
use chaos_gameday::policy::{self, Admission, AdmittedPlan};
use chaos_gameday::run::{Clock, Gauge, Kit, Runner, Timing};
use chaos_gameday::session::{self, Executed, Stage};
use chaos_gameday::view::View;
use jiff::{SignedDuration, Timestamp};
use rustix::thread::{CpuSet, sched_setaffinity};

/// Makes a process of a bench the other side.
const SERVE: &str = "--serve";

pub type Failure = Box<dyn Error + Send + Sync>;

/// Whether this process is the other side.
pub fn is_server() -> bool {
    std::env::args().any(|argument| argument == SERVE)
}

/// Is the other side, on the second core, until nobody holds its stdin any more.
pub fn serve() -> Result<(), Failure> {
    stay_on(1);
    server::serve()
}

/// Keeps this thread, and those that it starts, on one core, if there are several.
pub fn stay_on(core: usize) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut set = CpuSet::new();
    set.set(core % cores);
    if let Err(why) = sched_setaffinity(None, &set) {
        eprintln!("not pinned to core {core}: {why}");
    }
}

/// The other side while it runs.
pub struct Stand {
    process: Child,
    pub prometheus: String,
    pub platform: String,
    /// Its stdin ends with this, and so does it.
    _talk: BufReader<ChildStdout>,
}

impl Stand {
    pub fn start() -> Result<Self, Failure> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg(SERVE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = process.stdout.take().ok_or("no stdout")?;
        let mut talk = BufReader::new(stdout);
        Ok(Self {
            process,
            prometheus: line(&mut talk)?,
            platform: line(&mut talk)?,
            _talk: talk,
        })
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        // It may be gone already, and nothing is lost with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn line(talk: &mut BufReader<ChildStdout>) -> io::Result<String> {
    let mut line = String::new();
    talk.read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// So many SLOs on one Prometheus, and a fault on a platform.
pub struct Wish<'a> {
    pub slos: usize,
    pub every: Duration,
    pub baseline: Duration,
    pub hold: Duration,
    pub prometheus: &'a str,
    pub platform: &'a str,
}

impl Wish<'_> {
    fn document(&self) -> String {
        let every = self.every.as_millis();
        let slo = |number: usize| {
            format!(
                "  - {{name: slo-{number}, query: 'slo{{number=\"{number}\"}}', \
                 objective: \"< 1%\", every: {every}ms}}\n"
            )
        };
        format!(
            "apiVersion: chaos/v1\n\
             kind: Experiment\n\
             metadata: {{name: bench}}\n\
             hypothesis: It is fast enough.\n\
             environment: sandbox\n\
             on: {{localstack: {{endpoint: \"{platform}\", region: us-east-1}}}}\n\
             metrics: {{prometheus: {{url: \"{prometheus}\"}}}}\n\
             slos:\n{slos}\
             baseline: {{for: {baseline}ms}}\n\
             steps:\n\
             \x20 - name: stream down\n\
             \x20   fault: {{localstack: {{faults: [{{service: kinesis, error: {{statusCode: 503, code: Down}}}}]}}}}\n\
             \x20   hold: {hold}ms\n\
             recovery: {{within: 60s}}\n",
            platform = self.platform,
            prometheus = self.prometheus,
            slos = (0..self.slos).map(slo).collect::<String>(),
            baseline = self.baseline.as_millis(),
            hold = self.hold.as_millis(),
        )
    }
}

/// Runs it to its end, the journal in this folder. Each source is looked at through `through`.
pub async fn run(
    wish: &Wish<'_>,
    folder: &Path,
    view: Box<dyn View>,
    through: impl Fn(Arc<dyn MetricSource>) -> Arc<dyn MetricSource>,
) -> Result<Executed, Failure> {
    let clients = Clients::new()?;
    let admitted = admit(plan::resolve(draft(wish)?, &clients).await?)?;
    let setup = SourceSetup {
        clients: clients.clone(),
        tag: "bench".to_owned(),
        clock: WallClock::set_to(Clock::wall()),
        secrets: Secrets::default(),
        this_program: std::env::current_exe()?,
    };
    let sources = Sources::new(&admitted.plan().experiment.metrics, &setup)?;
    let clock = Clock::start();
    let drivers = drivers(admitted.plan(), &clients)?;
    let kit = Kit {
        drivers: drivers.clone(),
        gauges: gauges(admitted.plan(), &sources, through)?,
        sources,
        timing: Timing::default(),
        clock,
    };
    let stage = Stage {
        journal: journal(&admitted, folder, clock)?,
        view,
        clock,
        keyboard: None,
        lock: None,
        alarm: None,
        guardian: None,
        person: person(),
    };
    let runner = Runner::new(admitted, run_id()?, person(), kit);
    Ok(session::execute(runner, drivers, Timing::default(), stage).await?)
}

/// The file of `journal`.
pub const JOURNAL: &str = "journal.jsonl";

/// A new journal in this folder.
pub fn journal(plan: &AdmittedPlan, folder: &Path, clock: Clock) -> Result<Journal, Failure> {
    let header = Header {
        tool: "bench".to_owned(),
        run: run_id()?,
        plan: plan.id().clone(),
        digest: plan.digest().clone(),
        started: clock.at(0),
    };
    Ok(Journal::create(&folder.join(JOURNAL), &header)?)
}

/// The run of a bench.
pub fn run_id() -> Result<RunId, Failure> {
    Ok("r-20260101-000000-bench".parse()?)
}

fn drivers(plan: &Plan, clients: &Clients) -> Result<Vec<Arc<dyn FaultDriver>>, Failure> {
    let steps = plan.experiment.steps.iter();
    let drivers = steps.map(|step| faults::driver_for(&step.fault, clients));
    Ok(drivers.collect::<Result<_, _>>()?)
}

fn gauges(
    plan: &Plan,
    sources: &Sources,
    through: impl Fn(Arc<dyn MetricSource>) -> Arc<dyn MetricSource>,
) -> Result<Vec<Gauge>, Failure> {
    let first = plan.experiment.slos.first().ok_or("no SLO")?;
    // One for all, so that the engine sees one source.
    let source = through(sources.source_for(&first.metric)?);
    let gauge = |gauged: &plan::document::GaugedSlo| Gauge {
        slo: gauged.slo.clone(),
        metric: gauged.metric.clone(),
        source: Arc::clone(&source),
    };
    Ok(plan.experiment.slos.iter().map(gauge).collect())
}

/// The plan of it; nobody was asked anything yet.
pub fn draft(wish: &Wish<'_>) -> Result<Plan, Failure> {
    let text = wish.document();
    let source = Source {
        name: "bench.yaml".to_owned(),
        text: text.clone(),
    };
    let loaded = load_experiment(&source, &Variables::default())
        .map_err(|why| format!("the document of the bench is wrong: {why:?}"))?;
    let with = Resolution {
        requester: person(),
        now: Clock::wall(),
        policy: policy::built_in().identity(),
        replay_of: None,
    };
    let document = DocumentSource {
        name: source.name,
        digest: Digest::of(text.as_bytes()),
        text,
    };
    Ok(plan::draft(loaded.experiment, document, loaded.used, with))
}

/// What the built-in policy admits with a yes of the bench's own.
pub fn admit(plan: Plan) -> Result<AdmittedPlan, Failure> {
    let stored = StoredPlan::lock(plan)?;
    let policy = policy::built_in();
    let now = Clock::wall();
    let approval = approval(&stored, now)?;
    let person = person();
    let by = Admission {
        approvals: &[approval],
        ..Admission::by(&policy, now, &person)
    };
    policy::admit(stored, by).map_err(|why| format!("not admitted: {why:?}").into())
}

fn approval(stored: &StoredPlan, now: Timestamp) -> Result<SealedApproval, Failure> {
    let until = now.checked_add(SignedDuration::from_mins(10))?;
    let answer = policy::answer(stored, &person(), ApprovalMode::Typed, [now, until]);
    Ok(SealedApproval::seal(answer, None))
}

/// Who asks, and who says yes.
pub fn person() -> Person {
    Person {
        user: "bench".to_owned(),
        host: "bench".to_owned(),
    }
}
