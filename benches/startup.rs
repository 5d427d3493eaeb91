//! Cold start and peak memory of the binary: `chaos --version`, and `chaos plan` of an example
//! against a sandbox that the bench starts. A table on stdout; no figure is kept.

#![expect(clippy::print_stdout, reason = "a bench shows its figures")]
#![expect(
    clippy::disallowed_methods,
    reason = "real processes take real time, and there is no settings layer here"
)]

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

const CHAOS: &str = env!("CARGO_BIN_EXE_chaos");
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/stream-down.yaml");

/// What the project wants of `--version`: felt as instant, and small.
const GOAL: &str = "goal for --version: under 5 ms, under 16 MiB";

/// Enough for a p95 that stands still.
const VERSION_RUNS: usize = 200;
const PLAN_RUNS: usize = 50;

/// Runs whose memory is watched; they are not timed, since watching takes a core.
const MEMORY_RUNS: usize = 20;

fn main() -> io::Result<()> {
    println!("{:<24}{:>10}{:>10}{:>12}", "", "median", "p95", "peak RSS");
    report("chaos --version", VERSION_RUNS, || {
        let mut command = Command::new(CHAOS);
        command.arg("--version");
        command
    })?;
    let sandbox = Sandbox::start()?;
    let state = tempfile::tempdir()?;
    report("chaos plan EXAMPLE", PLAN_RUNS, || {
        sandbox.plan(state.path().as_os_str())
    })?;
    println!("{GOAL}");
    Ok(())
}

/// A practice environment in a process of its own.
struct Sandbox {
    process: Child,
    app: String,
    aws: String,
    /// Kept open: the sandbox goes on talking.
    _talk: BufReader<ChildStderr>,
}

impl Sandbox {
    /// Starts one on free ports and waits until it has named them.
    fn start() -> io::Result<Self> {
        let mut process = Command::new(CHAOS)
            .args(["sandbox", "--app-port", "0", "--aws-port", "0"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = process.stderr.take();
        let mut talk = BufReader::new(stderr.ok_or_else(|| io::Error::other("no stderr"))?);
        let app = base_url(&mut talk, "/orders")?;
        let aws = base_url(&mut talk, "/_localstack/chaos/faults")?;
        Ok(Self {
            process,
            app,
            aws,
            _talk: talk,
        })
    }

    fn plan(&self, state: &OsStr) -> Command {
        let mut command = Command::new(CHAOS);
        command
            .args(["plan", EXAMPLE])
            .args(["--var", &format!("SANDBOX_APP={}", self.app)])
            .args(["--var", &format!("SANDBOX_AWS={}", self.aws)])
            .env("CHAOS_STATE_DIR", state);
        command
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // It may be gone already, and nothing is lost with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The URL before this path, from the first line that has one.
fn base_url(talk: &mut BufReader<ChildStderr>, path: &str) -> io::Result<String> {
    let mut line = String::new();
    while talk.read_line(&mut line)? > 0 {
        let words = line.split_whitespace();
        let url = words.filter_map(|word| word.strip_suffix(path)).next_back();
        if let Some(url) = url.filter(|url| url.starts_with("http://")) {
            return Ok(url.to_owned());
        }
        line.clear();
    }
    Err(io::Error::other(format!(
        "the sandbox did not say where {path} is"
    )))
}

fn report(title: &str, runs: usize, command: impl Fn() -> Command) -> io::Result<()> {
    // The first run reads the binary from the disk; it is judged for success only.
    let ended = quiet(command()).status()?;
    if !ended.success() {
        println!("{title}: skipped, it ended with {ended}");
        return Ok(());
    }
    let mut times = (0..runs)
        .map(|_| time(command()))
        .collect::<io::Result<Vec<_>>>()?;
    times.sort();
    let mut peak = None;
    for _ in 0..MEMORY_RUNS {
        peak = peak.max(peak_memory(command())?);
    }
    println!(
        "{title:<24}{:>10}{:>10}{:>12}",
        milliseconds(times[times.len() / 2]),
        milliseconds(times[times.len() * 95 / 100]),
        peak.map_or("unknown".to_owned(), |kib| format!(
            "{:.1} MiB",
            kib as f64 / 1_024.0
        ))
    );
    Ok(())
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1_000.0)
}

fn quiet(mut command: Command) -> Command {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn time(command: Command) -> io::Result<Duration> {
    let begun = Instant::now();
    quiet(command).status()?;
    Ok(begun.elapsed())
}

/// The high-water mark of resident memory in KiB, read until the process is gone: the mark never
/// falls, so the last one seen is the peak but for the process's very last moment.
fn peak_memory(command: Command) -> io::Result<Option<u64>> {
    let mut child = quiet(command).spawn()?;
    let mut peak = None;
    while child.try_wait()?.is_none() {
        peak = peak.max(high_water_mark(child.id()));
    }
    Ok(peak)
}

fn high_water_mark(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
