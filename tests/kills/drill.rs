//! One drill: a run, a blow at its moment, and a look at what comes of it.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use chaos_gameday::clients::Clients;
use chaos_gameday::journal::{self, Store};
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::state::RunState;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::aim::{Aim, Blow, Fault, Moment};
use super::judge::Judge;
use super::proxy::Proxy;

/// In this time a guardian that has nothing to undo has gone.
const GONE_WITHIN: Duration = Duration::from_secs(6);
/// A run that hangs is taken for one after this.
const HANGS_FOR: Duration = Duration::from_secs(11);
/// Until a journal must have its end: a write may be under way for ten seconds, and is waited for.
const SETTLED_WITHIN: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

const POLICY: &str = "apiVersion: chaos/v1
kind: Policy
metadata: {name: drill}
environments:
  drill:
    proof: {localstack: {hosts: [loopback]}}
    approval: {mode: none}
    limits: {baseline: 300ms}
";

/// What came of it.
pub struct Found {
    /// What the run was at when it was hit.
    pub phase: &'static str,
    /// Milliseconds from the blow until the platform had nothing of ours, if it had anything.
    pub clean_after_ms: Option<u64>,
}

struct Drill {
    place: TempDir,
    judge: Judge,
    run: Child,
    /// How long a fault may stay in after a kill.
    within: Duration,
}

fn experiment(aim: &Aim, app: &str, aws: &str) -> String {
    let latency = match aim.fault {
        Fault::Rules => "",
        Fault::RulesAndLatency => ", latency: 40ms",
    };
    // A run that is stopped must not have been about to end by itself.
    let hold = match aim.blow {
        Blow::Stop => "30s",
        Blow::Run | Blow::Guardian | Blow::Both | Blow::Signal(_) => "400ms",
    };
    let fault = |operation: &str| {
        format!(
            "{{localstack: {{faults: [{{service: kinesis, operation: {operation}}}, {{service: dynamodb}}]{latency}}}}}"
        )
    };
    format!(
        "apiVersion: chaos/v1
kind: Experiment
metadata: {{name: drill}}
hypothesis: Whatever becomes of the run, nothing of it stays.
environment: drill
on: {{localstack: {{endpoint: \"{aws}\", region: us-east-1}}}}
metrics:
  traffic: {{url: \"{app}/health\", rate: 10, timeout: 2s, window: 1s}}
slos:
  - {{name: answers, traffic: throughput, objective: \">= 0\", every: 100ms}}
baseline: {{for: 300ms}}
steps:
  - {{name: first, fault: {}, hold: {hold}}}
  - {{name: second, fault: {}, hold: {hold}}}
recovery: {{within: 5s}}
",
        fault("PutRecord"),
        fault("GetRecords"),
    )
}

pub async fn drill(aim: Aim, within: Duration, clients: Arc<Clients>) -> Result<Found, String> {
    let place = tempfile::tempdir().map_err(|why| why.to_string())?;
    let judge = Judge::start(place.path(), clients).await?;
    let proxy = Proxy::start(judge.aws.clone(), aim.on_the_way).await;
    let text = experiment(&aim, &judge.app, &proxy.url);
    std::fs::write(place.path().join("drill.yaml"), text).unwrap();
    std::fs::write(place.path().join("chaos-policy.yaml"), POLICY).unwrap();
    let run = chaos(place.path(), &["run", "--yes", "drill.yaml"], "run.log")?;
    let mut drill = Drill {
        place,
        judge,
        run,
        within,
    };
    let found = drill.go_through(&aim).await;
    // Whatever is left of it in a drill that failed ends here.
    drill.end_all().await;
    found.map_err(|why| format!("{why}\n{}", drill.told()))
}

/// Starts the binary, with its talk in a file.
fn chaos(place: &Path, args: &[&str], log: &str) -> Result<Child, String> {
    let log = std::fs::File::create(place.join(log)).map_err(|why| why.to_string())?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_chaos"));
    command
        .args(args)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", place)
        .env("USER", "tester")
        .env("CHAOS_STATE_DIR", place.join("state"))
        .env("CHAOS_LOCK_DIR", place.join("locks"))
        .current_dir(place)
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(|why| why.to_string())?)
        .stderr(log)
        .kill_on_drop(true);
    command.spawn().map_err(|why| why.to_string())
}

impl Drill {
    async fn go_through(&mut self, aim: &Aim) -> Result<Found, String> {
        self.wait_for(aim.moment).await?;
        match aim.blow {
            Blow::Run => self.kill_run().await,
            Blow::Guardian => self.kill_guardian().await,
            Blow::Both => self.kill_both().await,
            Blow::Signal(number) => self.signal(number).await,
            Blow::Stop => self.stop().await,
        }
    }

    fn state(&self) -> PathBuf {
        self.place.path().join("state")
    }

    fn journal(&self) -> Option<PathBuf> {
        let runs = std::fs::read_dir(self.state().join("runs")).ok()?;
        let journal = runs.flatten().next()?.path().join("journal.jsonl");
        journal.exists().then_some(journal)
    }

    fn records(&self) -> Vec<Record> {
        let journal = self.journal().and_then(|path| journal::read(&path).ok());
        journal.map_or_else(Vec::new, |recorded| recorded.records)
    }

    fn run_state(&self) -> RunState {
        RunState::of(&self.records())
    }

    /// Until the moment, or until the run has ended before it.
    async fn wait_for(&mut self, moment: Moment) -> Result<(), String> {
        let (phase, step, delay) = match moment {
            Moment::After(delay) => {
                sleep(delay).await;
                return Ok(());
            }
            Moment::In(phase, step, delay) => (phase, step, delay),
        };
        let begun = Instant::now();
        while !self.has_entered(phase, step) {
            if self.has_ended()? {
                return Ok(());
            }
            if begun.elapsed() > SETTLED_WITHIN {
                return Err(format!("the run never came to {}", phase.word()));
            }
            sleep(Duration::from_micros(500)).await;
        }
        // What takes long enough for it is hit anywhere, what is over sooner right at its begin.
        let delay = match matches!(phase, Phase::Observing | Phase::Baseline) {
            true => delay * 5,
            false => delay / 2,
        };
        sleep(delay).await;
        Ok(())
    }

    /// Read as text: the file grows while it is read, and is looked at thousands of times.
    fn has_entered(&self, phase: Phase, step: usize) -> bool {
        let Some(text) = self
            .journal()
            .and_then(|path| std::fs::read_to_string(path).ok())
        else {
            return false;
        };
        let word = serde_json::to_string(&phase).unwrap();
        let begin = format!("\"phaseEntered\":{{\"phase\":{word},");
        let step = format!("\"step\":{step}}}");
        text.match_indices(&begin).any(|(at, _)| {
            let rest = text[at..].lines().next().unwrap_or_default();
            phase == Phase::Baseline || rest.contains(&step)
        })
    }

    fn has_ended(&mut self) -> Result<bool, String> {
        let ended = self.run.try_wait().map_err(|why| why.to_string())?;
        Ok(ended.is_some())
    }

    fn run_pid(&self) -> Option<Pid> {
        self.run.id().and_then(|id| Pid::from_raw(id.cast_signed()))
    }

    fn guardian(&self) -> Option<Pid> {
        let pid = self.run_state().guardian?;
        Pid::from_raw(pid.cast_signed())
    }

    fn phase(&self) -> &'static str {
        self.run_state().phase.map_or("not begun", Phase::word)
    }

    async fn kill_run(&mut self) -> Result<Found, String> {
        hit(self.run_pid(), Signal::KILL);
        let begun = Instant::now();
        let clean = self.until_clean(begun, self.within).await?;
        // The fold of what stood there by then: nobody else writes before it takes the run over.
        let phase = self.settled().await?;
        self.judge.find_clean().await?;
        self.verified().await?;
        self.nobody_left().await?;
        Ok(Found {
            phase,
            clean_after_ms: clean,
        })
    }

    async fn kill_guardian(&mut self) -> Result<Found, String> {
        let phase = self.phase();
        hit(self.guardian(), Signal::KILL);
        let status = self.ended().await?;
        self.judge.find_clean().await?;
        let outcome = self.run_state().outcome;
        let known = matches!(outcome, Some(Outcome::Held | Outcome::Inconclusive));
        if !known || !matches!(status.code(), Some(0 | 6)) {
            return Err(format!("ended as {outcome:?}, {status}"));
        }
        self.verified().await?;
        self.nobody_left().await?;
        Ok(Found {
            phase,
            clean_after_ms: None,
        })
    }

    async fn kill_both(&mut self) -> Result<Found, String> {
        let guardian = self.guardian();
        hit(guardian, Signal::KILL);
        hit(self.run_pid(), Signal::KILL);
        let _ = self.run.wait().await;
        // One that was posted in this very moment.
        hit(
            self.guardian().filter(|pid| Some(*pid) != guardian),
            Signal::KILL,
        );
        let begun = Instant::now();
        self.recover().await?;
        let clean = begun.elapsed();
        self.judge.find_clean().await?;
        let phase = match self.journal() {
            Some(_) => self.settled().await?,
            None => "not begun",
        };
        self.recover().await?;
        self.judge.find_clean().await?;
        self.verified().await?;
        let clean_after_ms = u64::try_from(clean.as_millis()).ok();
        Ok(Found {
            phase,
            clean_after_ms,
        })
    }

    async fn recover(&self) -> Result<(), String> {
        let child = chaos(self.place.path(), &["recover"], "recover.log")?;
        let status = end_of(child).await?;
        match status.code() {
            Some(0) => Ok(()),
            _ => Err(format!("chaos recover: {status}")),
        }
    }

    async fn signal(&mut self, number: i32) -> Result<Found, String> {
        let phase = self.phase();
        let Some(signal) = Signal::from_named_raw(number) else {
            return Err(format!("there is no signal {number}"));
        };
        let was_listening = self.journal().is_some();
        hit(self.run_pid(), signal);
        let status = self.ended().await?;
        self.judge.find_clean().await?;
        if !was_listening {
            // Before there is a run, nobody is told how it ended.
            return Ok(Found {
                phase: "not begun",
                clean_after_ms: None,
            });
        }
        if !matches!(status.code(), Some(0 | 5)) {
            return Err(format!("ended with {status}"));
        }
        let outcome = self.run_state().outcome;
        if !matches!(outcome, Some(Outcome::Aborted | Outcome::Held)) {
            return Err(format!("ended as {outcome:?}"));
        }
        self.verified().await?;
        self.nobody_left().await?;
        Ok(Found {
            phase,
            clean_after_ms: None,
        })
    }

    async fn stop(&mut self) -> Result<Found, String> {
        let phase = self.phase();
        hit(self.run_pid(), Signal::STOP);
        let begun = Instant::now();
        let clean = self.until_clean(begun, HANGS_FOR + self.within).await?;
        self.settled().await?;
        self.judge.find_clean().await?;
        self.verified().await?;
        self.nobody_left().await?;
        Ok(Found {
            phase,
            clean_after_ms: clean,
        })
    }

    /// Milliseconds until the platform has nothing of ours; `None`: it had nothing to begin with.
    async fn until_clean(&self, begun: Instant, within: Duration) -> Result<Option<u64>, String> {
        if self.judge.is_clean().await? {
            return Ok(None);
        }
        loop {
            if self.judge.is_clean().await? {
                let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                return Ok(Some(ms));
            }
            if begun.elapsed() > within {
                return Err(format!(
                    "not clean within {within:?}: {:?}",
                    self.judge.look().await?
                ));
            }
            sleep(BETWEEN_LOOKS).await;
        }
    }

    /// Waits for the end in the journal; returns the phase in which the run was when it was hit. What it
    /// says of a run that did not end by itself is never that it held.
    async fn settled(&self) -> Result<&'static str, String> {
        let begun = Instant::now();
        loop {
            let records = self.records();
            let taken_over = records
                .iter()
                .position(|record| matches!(record.event, Event::TakenOver(_)));
            let hit_in = RunState::of(&records[..taken_over.unwrap_or(records.len())]);
            let phase = hit_in.phase.map_or("not begun", Phase::word);
            let outcome = RunState::of(&records).outcome;
            match (outcome, taken_over) {
                (Some(Outcome::Held | Outcome::Stuck), Some(_)) => {
                    return Err(format!("it was taken over and is called {outcome:?}"));
                }
                (Some(_), _) => return Ok(phase),
                // Before it has a guardian nothing is in place, and nobody is there to end it.
                (None, _) if hit_in.guardian.is_none() && begun.elapsed() > GONE_WITHIN => {
                    return Ok("not begun");
                }
                (None, _) if begun.elapsed() > SETTLED_WITHIN => {
                    return Err(format!("its journal has no end after {SETTLED_WITHIN:?}"));
                }
                (None, _) => sleep(BETWEEN_LOOKS).await,
            }
        }
    }

    async fn verified(&self) -> Result<(), String> {
        if self.records().is_empty() {
            return Ok(());
        }
        let args = ["show", "--verify", "last"];
        let status = end_of(chaos(self.place.path(), &args, "verify.log")?).await?;
        let store = Store::open(self.state()).map_err(|why| why.to_string())?;
        let runs = store.runs().map_err(|why| why.to_string())?.len();
        match (status.code(), runs) {
            (Some(0), 1) => Ok(()),
            _ => Err(format!("{runs} runs; chaos show --verify: {status}")),
        }
    }

    /// No guardian stays behind.
    async fn nobody_left(&self) -> Result<(), String> {
        let begun = Instant::now();
        while let Some(pid) = self
            .guardian()
            .filter(|pid| test_kill_process(*pid).is_ok())
        {
            if begun.elapsed() > GONE_WITHIN {
                return Err(format!("guardian {pid:?} is still there"));
            }
            sleep(BETWEEN_LOOKS).await;
        }
        Ok(())
    }

    async fn ended(&mut self) -> Result<ExitStatus, String> {
        match timeout(SETTLED_WITHIN, self.run.wait()).await {
            Ok(status) => status.map_err(|why| why.to_string()),
            Err(_) => Err(format!("the run goes on after {SETTLED_WITHIN:?}")),
        }
    }

    async fn end_all(&mut self) {
        let _ = self.run.start_kill();
        let _ = self.run.wait().await;
        hit(self.guardian(), Signal::KILL);
    }

    /// What everybody said, for a drill that failed.
    fn told(&self) -> String {
        let mut told = String::new();
        let logs =
            ["run.log", "recover.log", "verify.log"].map(|name| self.place.path().join(name));
        let guardian = self
            .journal()
            .map(|path| path.with_file_name("guardian.log"));
        for path in logs.into_iter().chain(guardian).chain(self.journal()) {
            if let Ok(text) = std::fs::read_to_string(&path) {
                let lines = text.lines().filter(|line| !line.contains("\"sampled\""));
                let lines: Vec<_> = lines.map(|line| line.chars().take(300).collect()).collect();
                let kept: Vec<String> = lines.into_iter().rev().take(40).rev().collect();
                told.push_str(&format!("--- {}\n{}\n", path.display(), kept.join("\n")));
            }
        }
        told
    }
}

/// What is gone already feels nothing.
fn hit(pid: Option<Pid>, signal: Signal) {
    if let Some(pid) = pid {
        let _ = kill_process(pid, signal);
    }
}

async fn end_of(mut child: Child) -> Result<ExitStatus, String> {
    match timeout(SETTLED_WITHIN, child.wait()).await {
        Ok(status) => status.map_err(|why| why.to_string()),
        Err(_) => Err(format!("no end after {SETTLED_WITHIN:?}")),
    }
}
