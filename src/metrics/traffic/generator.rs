//! Sends the requests: when each is due, how many may be under way, what became of each.
//!
//! Open loop: a request is due by the schedule alone, whatever became of those before it, and its
//! latency begins when it was due. A closed loop would wait with a stalled target and hide the stall.
//! Timers are exact to a millisecond: up to so much of a latency is our own.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::{Client, Request};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::ledger::Ledger;
use super::template::Template;
use super::window::Fate;
use crate::metrics::TrafficSpec;
use crate::model::problem::{Problem, ProblemKind};

/// More of an answer is not read.
const LONGEST_BODY: usize = 64 * 1024;

/// How long requests under way may still take once the generator is told to stop.
const GRACE: Duration = Duration::from_secs(1);

/// Idle connections are closed after this.
const IDLE: Duration = Duration::from_secs(30);

/// The rates that can be kept: from one request in 1,000 seconds on.
const RATES: std::ops::RangeInclusive<f64> = 0.001..=100_000.0;

/// When each request is due; computed from its number, so that errors never add up.
#[derive(Debug, Clone, Copy)]
struct Schedule {
    start: Instant,
    rate: f64,
}

impl Schedule {
    fn due(&self, number: u64) -> Instant {
        self.start + Duration::from_secs_f64(number as f64 / self.rate)
    }
}

pub(super) struct Generator {
    schedule: Schedule,
    client: Client,
    template: Template,
    timeout: Duration,
    max_in_flight: usize,
    ledger: Arc<Mutex<Ledger>>,
    stop: Arc<Notify>,
}

impl Generator {
    /// Checks all that the document says; nothing is sent yet.
    ///
    /// # Errors
    /// What cannot be sent, or no HTTP client on this machine.
    pub(super) fn new(spec: &TrafficSpec, tag: &str) -> Result<Self, Problem> {
        check(spec)?;
        let template = Template::parse(spec, tag)?;
        let client = client(spec)?;
        // Only now: making a client takes a while, which must not count as latency.
        let start = Instant::now();
        Ok(Self {
            schedule: Schedule {
                start,
                rate: spec.rate,
            },
            client,
            template,
            timeout: spec.timeout.as_duration(),
            max_in_flight: spec.max_in_flight,
            ledger: Arc::new(Mutex::new(Ledger::new(spec, start))),
            stop: Arc::new(Notify::new()),
        })
    }

    pub(super) fn ledger(&self) -> Arc<Mutex<Ledger>> {
        Arc::clone(&self.ledger)
    }

    /// Tells `run` to send no more.
    pub(super) fn stop_signal(&self) -> Arc<Notify> {
        Arc::clone(&self.stop)
    }

    /// Sends until told to stop, then lets what is under way end within `GRACE`. Dropping this
    /// future ends every request with it.
    pub(super) async fn run(self) {
        let mut under_way = JoinSet::new();
        let mut stopped = pin!(self.stop.notified());
        for number in 0.. {
            let due = self.schedule.due(number);
            tokio::select! {
                biased;
                () = &mut stopped => break,
                () = sleep_until(due) => {}
            }
            while under_way.try_join_next().is_some() {}
            if under_way.len() < self.max_in_flight {
                self.launch(&mut under_way, number, due);
            } else {
                lock(&self.ledger).drop_one(due, Instant::now());
            }
        }
        let deadline = Instant::now() + GRACE.min(self.timeout);
        while let Ok(Some(_)) = timeout_at(deadline, under_way.join_next()).await {}
        under_way.shutdown().await;
    }

    fn launch(&self, under_way: &mut JoinSet<()>, number: u64, due: Instant) {
        let request = self.template.request(number + 1);
        let client = self.client.clone();
        let (ledger, limit) = (Arc::clone(&self.ledger), self.timeout);
        lock(&ledger).begin(number, due);
        under_way.spawn(async move {
            let fate = timeout(limit, send(client, request))
                .await
                .unwrap_or(Fate::TimedOut);
            // Before the lock: waiting for it is no part of the latency.
            let now = Instant::now();
            lock(&ledger).finish(number, fate, now);
        });
    }
}

/// Sends one request and reads its answer, both without a limit in time: the caller sets it.
async fn send(client: Client, request: Request) -> Fate {
    let Ok(mut answer) = client.execute(request).await else {
        return Fate::ConnectionFailed;
    };
    let status = answer.status().as_u16();
    let mut read = 0;
    while read < LONGEST_BODY {
        match answer.chunk().await {
            Ok(Some(chunk)) => read += chunk.len(),
            Ok(None) => break,
            Err(_) => return Fate::ConnectionFailed,
        }
    }
    Fate::Answered(status)
}

pub(super) fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check(spec: &TrafficSpec) -> Result<(), Problem> {
    let wrong = |message: String, hint: &str| {
        Err(Problem::new(ProblemKind::Invalid, message).hint(hint.to_owned()))
    };
    if !RATES.contains(&spec.rate) {
        return wrong(
            format!("a traffic rate of {} cannot be kept", spec.rate),
            "write requests a second, between 0.001 and 100000",
        );
    }
    if spec.max_in_flight == 0 {
        return wrong(
            "traffic with `maxInFlight: 0` never sends anything".to_owned(),
            "write 1 or more",
        );
    }
    if spec.timeout.as_millis() == 0 || spec.window.as_millis() == 0 {
        return wrong(
            "the traffic's `timeout` and `window` must last".to_owned(),
            "write 1ms or more; the defaults are 5s and 10s",
        );
    }
    Ok(())
}

/// A client of its own: connections are kept for as many requests as may be under way, so that a
/// steady rate needs no new ones, and control requests never wait behind traffic.
fn client(spec: &TrafficSpec) -> Result<Client, Problem> {
    crate::clients::builder_for(&spec.url)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .pool_max_idle_per_host(spec.max_in_flight)
        .pool_idle_timeout(IDLE)
        .build()
        .map_err(crate::clients::cannot_be_made)
}
