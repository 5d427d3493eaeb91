//! From the arrival of the sample that completes a breach to the undo on the wire, with 100 SLOs.
//!
//! The wire is a relay between driver and platform that notes when the first byte of each request
//! comes in: of the first request of the undo (it reads before it writes, so as to touch nothing
//! foreign), and of the first that writes, which is what the target is for.

#![expect(clippy::print_stdout, reason = "a bench shows its figures")]
#![expect(clippy::print_stderr, reason = "a bench says why it failed")]

mod relay;
mod stand;

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chaos_gameday::clients::Clients;
use chaos_gameday::metrics::{Metric, MetricSource};
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::rehearsal::Rehearsal;
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::slo::Slo;
use chaos_gameday::model::state::RunState;
use chaos_gameday::model::traffic::TrafficSummary;
use chaos_gameday::model::units::Span;
use chaos_gameday::view::{LineView, Printer, Setup, View};
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::time::Instant;

use relay::Relay;
use stand::{Failure, Stand, Wish};

const SLOS: usize = 100;
const EVERY: Duration = Duration::from_millis(200);
const RUNS: usize = 60;
const TARGET: Duration = Duration::from_millis(50);

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

#[tokio::main]
async fn measure() -> Result<ExitCode, Failure> {
    let stand = Stand::start()?;
    let relay = Relay::start(&stand.platform)?;
    let (mut read, mut write) = (Vec::new(), Vec::new());
    let mut refused = 0;
    for number in 0..RUNS * 2 {
        match one(&stand, &relay, number).await? {
            Some((first, undo)) => {
                read.push(first);
                write.push(undo);
            }
            None => refused += 1,
        }
        if read.len() == RUNS || refused > RUNS {
            break;
        }
    }
    if refused > 0 {
        println!("{refused} runs did not get past their baseline: this machine is too busy");
    }
    if read.len() < RUNS {
        return Err(format!("only {} of {RUNS} runs were measured", read.len()).into());
    }
    read.sort();
    write.sort();
    println!(
        "breach to undo, {SLOS} SLOs every {EVERY:?}, {} runs, in milliseconds",
        write.len()
    );
    println!("{:<28}{:>8}{:>8}{:>8}{:>8}", "", "p50", "p90", "p99", "max");
    show("first request of the undo", &read);
    show("first write of the undo", &write);
    let p99 = at(&write, 99);
    let word = if p99 <= TARGET { "pass" } else { "FAIL" };
    println!("target: p99 of the first write at most {TARGET:?}: {word}");
    Ok(if p99 <= TARGET {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// One run; from the bad sample to the first request of the undo, and to its first write. `None`: its
/// baseline was broken, as on a machine that cannot read 100 SLOs in time.
async fn one(
    stand: &Stand,
    relay: &Relay,
    number: usize,
) -> Result<Option<(Duration, Duration)>, Failure> {
    let folder = tempfile::tempdir()?;
    let (phases, mut entered) = mpsc::unbounded_channel();
    let view = Box::new(Phases {
        view: LineView::new(quiet()),
        phases,
    });
    let stamp = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&stamp);
    let wish = Wish {
        slos: SLOS,
        every: EVERY,
        baseline: EVERY * 10,
        hold: Duration::from_secs(30),
        prometheus: &stand.prometheus,
        platform: relay.url(),
    };
    let clients = Clients::new()?;
    let control = clients.http(&stand.prometheus);
    let breach = async {
        until(&mut entered, Phase::Observing).await?;
        // Anywhere in a tick, and any of the SLOs.
        tokio::time::sleep(EVERY * (number as u32 * 37 % 100) / 100 + EVERY).await;
        relay.forget();
        let url = format!("{}/breach/{}", stand.prometheus, number * 61 % SLOS);
        control.post(url).send().await?;
        until(&mut entered, Phase::Recovering).await?;
        let url = format!("{}/heal", stand.prometheus);
        control.post(url).send().await?;
        Ok::<(), Failure>(())
    };
    let through = move |source| {
        Arc::new(Stamping {
            source,
            bad: Arc::clone(&seen),
        }) as Arc<dyn MetricSource>
    };
    let run = stand::run(&wish, folder.path(), view, through);
    let (executed, healed) = tokio::join!(run, breach);
    let settlement = executed?.settlement;
    if settlement.outcome == Outcome::Refused {
        return Ok(None);
    }
    if settlement.outcome != Outcome::Deviated {
        return Err(format!("run {number} ended otherwise: {:?}", settlement.cause).into());
    }
    healed?;
    let bad = stamp.lock().unwrap_or_else(PoisonError::into_inner).take();
    let bad = bad.ok_or("no bad sample was seen")?;
    let since = |method: &str| {
        let first = relay.first(method, bad);
        first.map(|at| at.saturating_duration_since(bad))
    };
    let read = since("GET").ok_or("the undo read nothing")?;
    let write = since("DELETE").ok_or("the undo wrote nothing")?;
    Ok(Some((read.min(write), write)))
}

/// Waits until a phase is entered.
async fn until(entered: &mut mpsc::UnboundedReceiver<Phase>, wanted: Phase) -> Result<(), Failure> {
    while let Some(phase) = entered.recv().await {
        if phase == wanted {
            return Ok(());
        }
    }
    Err(format!("the run ended before {wanted:?}").into())
}

fn quiet() -> Printer {
    let sink = || Box::new(std::io::sink());
    Printer::writing_to(Setup::PIPE, sink(), sink())
}

fn at(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted[rank.clamp(1, sorted.len()) - 1]
}

fn show(what: &str, sorted: &[Duration]) {
    let millis = |percent| format!("{:.2}", at(sorted, percent).as_secs_f64() * 1_000.0);
    println!(
        "{what:<28}{:>8}{:>8}{:>8}{:>8}",
        millis(50),
        millis(90),
        millis(99),
        millis(100)
    );
}

/// The line view, and word of every phase.
struct Phases {
    view: LineView,
    phases: mpsc::UnboundedSender<Phase>,
}

impl View for Phases {
    fn show(&mut self, record: &Record, state: &RunState) {
        if let Event::PhaseEntered { phase, .. } = &record.event {
            // Who waits for no phase any more has what it wanted.
            let _ = self.phases.send(*phase);
        }
        self.view.show(record, state);
    }

    fn tick(&mut self, elapsed_ms: u64, state: &RunState) {
        self.view.tick(elapsed_ms, state);
    }

    fn finish(&mut self, state: &RunState) {
        self.view.finish(state);
    }
}

/// A source that notes when its first bad value arrives.
struct Stamping {
    source: Arc<dyn MetricSource>,
    bad: Arc<Mutex<Option<Instant>>>,
}

impl MetricSource for Stamping {
    fn start(&self) -> BoxFuture<'_, Result<(), Problem>> {
        self.source.start()
    }

    fn read<'a>(&'a self, metric: &'a Metric) -> BoxFuture<'a, Reading> {
        Box::pin(async {
            let reading = self.source.read(metric).await;
            if reading.value().is_some_and(|value| value > 0.01) {
                let now = Instant::now();
                let mut bad = self.bad.lock().unwrap_or_else(PoisonError::into_inner);
                bad.get_or_insert(now);
            }
            reading
        })
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
