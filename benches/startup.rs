//! Cold start and peak memory of the binary: `chaos --version`, and `chaos plan` of the file that
//! `CHAOS_BENCH_PLAN` names. A table on stdout; nothing is built and no figure is kept.

#![expect(clippy::print_stdout, reason = "a bench shows its figures")]
#![expect(
    clippy::disallowed_methods,
    reason = "real processes take real time, and there is no settings layer here"
)]

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CHAOS: &str = env!("CARGO_BIN_EXE_chaos");

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
    let Some(file) = std::env::var_os("CHAOS_BENCH_PLAN") else {
        println!("chaos plan: skipped, CHAOS_BENCH_PLAN names no experiment");
        return Ok(());
    };
    let state = tempfile::tempdir()?;
    report("chaos plan", PLAN_RUNS, || {
        plan(&file, state.path().as_os_str())
    })
}

fn plan(file: &OsString, state: &OsStr) -> Command {
    let mut command = Command::new(CHAOS);
    command.arg("plan").arg(file).env("CHAOS_STATE_DIR", state);
    command
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
