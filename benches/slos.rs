//! 1,000 SLOs once a second on one core, through real sockets, journal and line view; and an hour of
//! their samples, in which memory must stay flat.

#![expect(clippy::print_stdout, reason = "a bench shows its figures")]
#![expect(clippy::print_stderr, reason = "a bench says why it failed")]

mod calm;
mod stand;

use std::fmt;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chaos_gameday::metrics::simulated::SimulatedSeries;
use chaos_gameday::metrics::{Metric, MetricSource};
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::rehearsal::Rehearsal;
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::slo::Slo;
use chaos_gameday::model::state::RunState;
use chaos_gameday::model::traffic::TrafficSummary;
use chaos_gameday::model::units::Span;
use chaos_gameday::view::{LineView, Printer, Setup};
use futures_util::future::BoxFuture;
use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

use stand::{Failure, Stand, Wish};

const SLOS: usize = 1_000;
const EVERY: Duration = Duration::from_secs(1);
const HOLD: Duration = Duration::from_secs(20);
/// How many are watched for an hour.
const CROWD: usize = 100;
const HOUR: Duration = Duration::from_secs(3_605);
/// Share of the ticks that may be left out.
const LEFT_OUT: f64 = 0.01;
/// Memory after an hour over memory after ten minutes.
const GROWTH: f64 = 1.1;

fn main() -> ExitCode {
    let done = if stand::is_server() {
        stand::serve().map(|()| ExitCode::SUCCESS)
    } else {
        measure()
    };
    done.unwrap_or_else(|why| {
        eprintln!("{why}");
        ExitCode::FAILURE
    })
}

fn measure() -> Result<ExitCode, Failure> {
    stand::stay_on(0);
    println!("{SLOS} SLOs every {EVERY:?} on one core");
    let missed = load()?;
    let grown = hour()?;
    println!("{:<32}{:>12}{:>12}", "", "measured", "target");
    verdict("ticks left out", missed, LEFT_OUT);
    verdict("memory, 60 min over 10 min", grown, GROWTH);
    Ok(if missed <= LEFT_OUT && grown <= GROWTH {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn verdict(what: &str, measured: f64, target: f64) {
    let word = if measured <= target { "pass" } else { "FAIL" };
    println!("{what:<32}{measured:>12.4}{target:>12}  {word}");
}

fn figure(what: &str, value: impl fmt::Display) {
    println!("{what:<32}{value:>12}");
}

/// A run over real sockets; the share of the ticks that were left out.
fn load() -> Result<f64, Failure> {
    let stand = Stand::start()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let folder = tempfile::tempdir()?;
        let wish = Wish {
            slos: SLOS,
            every: EVERY,
            baseline: EVERY * 3,
            hold: HOLD,
            prometheus: &stand.prometheus,
            platform: &stand.platform,
        };
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        let through = move |source| {
            Arc::new(Noting {
                source,
                asked: Arc::clone(&noted),
            }) as Arc<dyn MetricSource>
        };
        let (began, cpu) = (Instant::now(), cpu_time());
        let view = Box::new(LineView::new(sink()));
        let executed = stand::run(&wish, folder.path(), view, through).await?;
        let took = began.elapsed().as_secs_f64();
        let settlement = executed.settlement;
        if settlement.outcome != Outcome::Held {
            let why = settlement.cause.sentence();
            let why: String = why.chars().take(200).collect();
            return Err(format!("the run ended otherwise: {why}").into());
        }
        let written = std::fs::metadata(folder.path().join(stand::JOURNAL))?.len();
        let share = (cpu_time() - cpu) / took;
        figure("share of the core", format!("{:.1}%", share * 100.0));
        let journal = written as f64 / took / 1_024.0;
        figure("journal", format!("{journal:.0} KiB/s"));
        let lateness = lateness(&asked.lock().unwrap_or_else(PoisonError::into_inner));
        figure("asked late, p50", format!("{:.2} ms", at(&lateness, 50)));
        figure("asked late, p99", format!("{:.2} ms", at(&lateness, 99)));
        Ok(missed(&settlement.state))
    })
}

fn missed(state: &RunState) -> f64 {
    let sum = |count: fn(&chaos_gameday::model::state::SloRecord) -> u64| {
        state.slos.iter().map(count).sum::<u64>() as f64
    };
    let missed = sum(|slo| slo.missed);
    missed / (missed + sum(|slo| slo.samples))
}

/// How many milliseconds after its tick each reading was asked for, sorted. Ticks are counted from the
/// earliest reading of each SLO, moved to a common start.
fn lateness(asked: &[(String, Instant)]) -> Vec<f64> {
    let mut by_slo: std::collections::BTreeMap<&str, Vec<Instant>> = Default::default();
    for (slo, at) in asked {
        by_slo.entry(slo).or_default().push(*at);
    }
    let mut late = Vec::new();
    for moments in by_slo.values() {
        let since = |at: &Instant| (*at - moments[0]).as_secs_f64();
        let phase = |at: &Instant| {
            let ticks = since(at) / EVERY.as_secs_f64();
            (ticks - ticks.round()) * EVERY.as_secs_f64() * 1_000.0
        };
        let earliest = moments.iter().map(phase).fold(f64::INFINITY, f64::min);
        late.extend(moments.iter().map(|at| phase(at) - earliest));
    }
    late.sort_by(f64::total_cmp);
    late
}

fn at(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// An hour of samples under a paused clock: resident memory at its end over that after ten minutes.
fn hour() -> Result<f64, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()?;
    runtime.block_on(async {
        let good = vec![(Span::ZERO, Reading::Value(0.001))];
        let series = SimulatedSeries::new().series(calm::SERIES, good);
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&sizes);
        let watching = tokio::spawn(async move {
            for minutes in [10, 50] {
                tokio::time::sleep(Duration::from_secs(minutes * 60)).await;
                let resident = resident();
                noted
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(resident);
            }
        });
        let outcome = calm::run(CROWD, HOUR, &series, LineView::new(sink())).await?;
        watching.abort();
        if outcome != Outcome::Held {
            return Err(format!("the hour ended otherwise: {outcome:?}").into());
        }
        let sizes = sizes.lock().unwrap_or_else(PoisonError::into_inner);
        let [Some(early), Some(late)] = sizes[..] else {
            return Err("resident memory cannot be read here".into());
        };
        figure("memory after 10 min", format!("{:.1} MiB", early / 1_024.0));
        figure("memory after 60 min", format!("{:.1} MiB", late / 1_024.0));
        Ok(late / early)
    })
}

/// Resident memory of this process in KiB.
fn resident() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// Seconds of processor time that this process has used.
fn cpu_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn sink() -> Printer {
    let sink = || Box::new(std::io::sink());
    Printer::writing_to(Setup::PIPE, sink(), sink())
}

/// A source that notes when it is asked.
struct Noting {
    source: Arc<dyn MetricSource>,
    asked: Arc<Mutex<Vec<(String, Instant)>>>,
}

impl MetricSource for Noting {
    fn start(&self) -> BoxFuture<'_, Result<(), Problem>> {
        self.source.start()
    }

    fn read<'a>(&'a self, metric: &'a Metric) -> BoxFuture<'a, Reading> {
        let asked = (metric.words(), Instant::now());
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(asked);
        self.source.read(metric)
    }

    fn rehearse<'a>(
        &'a self,
        slo: &'a Slo,
        metric: &'a Metric,
        over: Span,
    ) -> BoxFuture<'a, Rehearsal> {
        self.source.rehearse(slo, metric, over)
    }

    fn stop(&self) -> BoxFuture<'_, Option<TrafficSummary>> {
        self.source.stop()
    }
}
