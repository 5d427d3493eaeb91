//! Keeps a Lease that is ours: renews it, says when that fails or somebody else has it, gives it back.
//!
//! A renewal names the version that was read, so it succeeds only if nobody held the Lease in between,
//! however long this machine slept. Where none succeeds for as long as the Lease counts, it is lost:
//! another run may have begun that we cannot see.

use std::time::Duration;

use http::StatusCode;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::record::{self, Standing};
use super::{NAME, Seat};
use crate::kubernetes::asking::{ANSWER_WITHIN, Reply, ServerClock, Verb, ask_within};
use crate::model::lock::LockNews;
use crate::model::problem::Problem;

/// An attempt to renew gets so long even where the Lease has lapsed meanwhile.
const SHORTEST_ATTEMPT: Duration = Duration::from_secs(1);
/// How often a Lease that changed under our hands is looked at again before it is left to lapse.
const ATTEMPTS: usize = 3;

/// Whoever keeps a Lease.
pub(super) struct Keeper {
    seat: Seat,
    /// The Lease as it was last seen, ours.
    object: Value,
    clock: ServerClock,
    /// Until when it counts by our own clock, from the last renewal that succeeded.
    sure_until: Instant,
    /// Since when renewing fails.
    failing_since: Option<Instant>,
    news: Option<mpsc::UnboundedSender<LockNews>>,
    lost: Option<watch::Sender<Option<String>>>,
}

/// What came of an attempt to renew.
enum Renewal {
    Done,
    /// Ours, but of another version than we knew.
    Again,
    Failed(Problem),
    Lost(String),
}

impl Keeper {
    /// Of a Lease that was written when `sent`.
    pub(super) fn new(seat: Seat, object: Value, clock: ServerClock, sent: Instant) -> Self {
        let sure_until = sent + seat.timing.duration;
        Self {
            seat,
            object,
            clock,
            sure_until,
            failing_since: None,
            news: None,
            lost: None,
        }
    }

    pub(super) fn tell(
        &mut self,
        news: mpsc::UnboundedSender<LockNews>,
        lost: watch::Sender<Option<String>>,
    ) {
        self.news = Some(news);
        self.lost = Some(lost);
    }

    /// Says something that ends nothing.
    pub(super) fn warn(&self, what: String) {
        let message = format!("the lock of namespace `{}`: {what}", self.seat.namespace);
        self.send(LockNews::Warned { message });
    }

    fn send(&self, news: LockNews) {
        if let Some(told) = &self.news {
            // Nobody has to listen.
            let _ = told.send(news);
        }
    }

    /// Renews for the first time, right after it was created; what was created is taken back where that
    /// is not allowed.
    ///
    /// # Errors
    /// A Lease that could not be renewed is none.
    pub(super) async fn prove(&mut self) -> Result<(), Problem> {
        let body = record::renewed(&self.object, self.clock.now());
        let sent = Instant::now();
        let reply = self.seat.ask(Verb::Update, Some(&body)).await?;
        if reply.status.is_success() {
            self.renewed(reply, sent);
            return Ok(());
        }
        let problem = self.seat.refusal(Verb::Update, &reply);
        // If this is refused too, it lapses by itself; what was refused first is what counts.
        let _ = self
            .seat
            .ask(Verb::Delete, Some(&record::only_this(&self.object)))
            .await;
        Err(problem)
    }

    /// Renews until told to stop, then gives it back. One that was lost is nobody's business any more.
    pub(super) async fn keep(mut self, mut stop: oneshot::Receiver<()>) -> Result<(), Problem> {
        let mut pause = self.seat.timing.renew_every;
        loop {
            tokio::select! {
                _ = &mut stop => return self.give_back().await,
                () = tokio::time::sleep(pause) => {}
            }
            pause = match self.renew().await {
                Renewal::Done => {
                    self.tell_recovery();
                    self.seat.timing.renew_every
                }
                Renewal::Again => Duration::ZERO,
                Renewal::Failed(problem) if Instant::now() < self.sure_until => {
                    self.tell_failure(&problem);
                    self.seat.timing.retry_every
                }
                Renewal::Failed(problem) => {
                    let since = self.seat.timing.duration.as_secs();
                    self.lose(format!(
                        "it could not be renewed for {since} s, so another run may begin: {problem}"
                    ));
                    break;
                }
                Renewal::Lost(why) => {
                    self.lose(why);
                    break;
                }
            };
        }
        // Until nobody needs to ask any more.
        let _ = stop.await;
        Ok(())
    }

    async fn renew(&mut self) -> Renewal {
        let body = record::renewed(&self.object, self.clock.now());
        let sent = Instant::now();
        let reply = match self.ask(Verb::Update, Some(&body)).await {
            Ok(reply) => reply,
            Err(problem) => return Renewal::Failed(problem),
        };
        match reply.status {
            StatusCode::CONFLICT | StatusCode::NOT_FOUND => self.look().await,
            status if status.is_success() => {
                self.renewed(reply, sent);
                Renewal::Done
            }
            _ => Renewal::Failed(self.seat.refusal(Verb::Update, &reply)),
        }
    }

    /// Something was written that was not by us, or by a request of ours whose answer was lost.
    async fn look(&mut self) -> Renewal {
        let found = match self.ask(Verb::Get, None).await {
            Ok(found) => found,
            Err(problem) => return Renewal::Failed(problem),
        };
        if found.status == StatusCode::NOT_FOUND {
            let now = self.clock.now();
            let new = record::created(
                &self.seat.namespace,
                &self.seat.holder,
                now,
                &self.seat.timing,
            );
            return self.take_again(Verb::Create, new).await;
        }
        if !found.status.is_success() {
            return Renewal::Failed(self.seat.refusal(Verb::Get, &found));
        }
        self.clock = found.clock.unwrap_or(self.clock);
        let now = self.clock.now();
        match record::standing(&found.body, &self.seat.holder, now) {
            Standing::Ours => {
                self.object = found.body;
                Renewal::Again
            }
            Standing::Free => {
                let ours = record::taken(&found.body, &self.seat.holder, now, &self.seat.timing);
                self.take_again(Verb::Update, ours).await
            }
            Standing::Held(how) | Standing::Lapsed(how) => {
                Renewal::Lost(format!("somebody else took it: {how}"))
            }
        }
    }

    /// Somebody deleted or emptied it by hand; whoever is quicker has it now.
    async fn take_again(&mut self, verb: Verb, body: Value) -> Renewal {
        let sent = Instant::now();
        let reply = match self.ask(verb, Some(&body)).await {
            Ok(reply) => reply,
            Err(problem) => return Renewal::Failed(problem),
        };
        match reply.status {
            StatusCode::CONFLICT => Renewal::Again,
            status if status.is_success() => {
                self.renewed(reply, sent);
                self.warn(
                    "somebody removed it; it is ours again, and no other run holds it".to_owned(),
                );
                Renewal::Done
            }
            _ => Renewal::Failed(self.seat.refusal(verb, &reply)),
        }
    }

    fn renewed(&mut self, reply: Reply, sent: Instant) {
        self.clock = reply.clock.unwrap_or(self.clock);
        self.object = reply.body;
        self.sure_until = sent + self.seat.timing.duration;
    }

    /// No attempt lasts beyond the moment at which the Lease would be lost.
    async fn ask(&self, verb: Verb, body: Option<&Value>) -> Result<Reply, Problem> {
        let left = self.sure_until.saturating_duration_since(Instant::now());
        let within = left.clamp(SHORTEST_ATTEMPT, ANSWER_WITHIN);
        ask_within(
            &self.seat.context,
            (verb, &self.seat.resource),
            body,
            within,
        )
        .await
    }

    fn tell_failure(&mut self, problem: &Problem) {
        if self.failing_since.is_some() {
            return;
        }
        self.failing_since = Some(Instant::now());
        let left = self
            .sure_until
            .saturating_duration_since(Instant::now())
            .as_secs();
        self.warn(format!(
            "it cannot be renewed; it counts for {left} s more: {problem}"
        ));
    }

    fn tell_recovery(&mut self) {
        if let Some(since) = self.failing_since.take() {
            let seconds = since.elapsed().as_secs();
            self.warn(format!("it is renewed again, after {seconds} s"));
        }
    }

    fn lose(&self, why: String) {
        let why = format!("the lock of namespace `{}`: {why}", self.seat.namespace);
        if let Some(lost) = &self.lost {
            lost.send_replace(Some(why.clone()));
        }
        self.send(LockNews::Lost { why });
    }

    async fn give_back(mut self) -> Result<(), Problem> {
        let mut problem = None;
        for _ in 0..ATTEMPTS {
            let only_this = record::only_this(&self.object);
            let reply = self.ask(Verb::Delete, Some(&only_this)).await?;
            problem = match reply.status {
                StatusCode::NOT_FOUND => return Ok(()),
                status if status.is_success() => return Ok(()),
                StatusCode::FORBIDDEN => {
                    let emptied = record::given_back(&self.object);
                    let reply = self.ask(Verb::Update, Some(&emptied)).await?;
                    match reply.status {
                        status if status.is_success() => return Ok(()),
                        _ => Some(self.seat.refusal(Verb::Update, &reply)),
                    }
                }
                _ => Some(self.seat.refusal(Verb::Delete, &reply)),
            };
            let found = self.ask(Verb::Get, None).await?;
            let is_ours = record::standing(&found.body, &self.seat.holder, self.clock.now())
                == Standing::Ours;
            if !is_ours {
                return Ok(());
            }
            self.object = found.body;
        }
        match problem {
            Some(problem) => Err(problem.hint(format!(
                "it lapses by itself within {} s; `kubectl -n {} delete lease {NAME}` is quicker",
                self.seat.timing.duration.as_secs(),
                self.seat.namespace
            ))),
            None => Ok(()),
        }
    }
}
