//! How the fixed app handles failure: bounded retries with jittered backoff inside a deadline, an
//! honest refusal that says when to come back, and a dead-letter queue for what can't be delivered.
//!
//! Orders are delivered concurrently, and each at most once however often the stream holds it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use super::app::{App, IDLE_PAUSE, NotAccepted, items_of, one_more_order};
use super::aws_client::{CallFailed, Operation};
use super::ledger::{Claim, OrderId};
use super::life::Life;
use super::stores::iterator_at;

/// How hard a call is tried.
struct Effort {
    attempts: u32,
    /// The pause before the second attempt; it doubles from there, less the jitter.
    first_pause: Duration,
    /// When to stop whatever the number of attempts.
    within: Duration,
}

const LONGEST_ATTEMPT: Duration = Duration::from_millis(1_500);
/// Somebody waits for the answer.
const HAND_OVER: Effort = Effort {
    attempts: 3,
    first_pause: Duration::from_millis(100),
    within: Duration::from_secs(2),
};
/// Nobody waits, but a queue builds up: about a second of pauses.
const DELIVERY: Effort = Effort {
    attempts: 5,
    first_pause: Duration::from_millis(80),
    within: Duration::from_secs(8),
};
/// Enough for hundreds of orders a second at a latency of a second.
const CONCURRENT_DELIVERIES: usize = 256;
const LONGEST_POLL_PAUSE: Duration = Duration::from_secs(1);

/// API → stream. An order that was accepted before is accepted again without another record.
pub(super) async fn hand_over(app: &App, id: &OrderId, record: &Value) -> Result<(), NotAccepted> {
    if app.ledger.is_accepted(id) {
        return Ok(());
    }
    match try_hard(app, &HAND_OVER, Operation::PutRecord, record).await {
        Ok(_) => Ok(()),
        Err(_) => Err(NotAccepted),
    }
}

/// Stream → table → metric for as long as the sandbox lives.
pub(super) async fn consume(app: Arc<App>, life: Life) {
    let permits = Arc::new(Semaphore::new(CONCURRENT_DELIVERIES));
    let mut iterator = json!(iterator_at(0));
    loop {
        let answer = poll(&app, &iterator).await;
        iterator = answer["NextShardIterator"].clone();
        let items = items_of(&answer);
        if items.is_empty() {
            sleep(IDLE_PAUSE).await;
        }
        for (id, item) in items {
            if app.ledger.claim(&id) == Claim::Repeated {
                continue;
            }
            let permit = Arc::clone(&permits).acquire_owned().await;
            let app = Arc::clone(&app);
            life.spawn(async move {
                deliver(&app, &id, &item).await;
                drop(permit);
            });
        }
    }
}

/// Reading may go on for ever: the stream keeps the orders meanwhile. It only must not be a storm.
async fn poll(app: &App, iterator: &Value) -> Value {
    let question = json!({"ShardIterator": iterator});
    let mut pause = DELIVERY.first_pause;
    loop {
        let call = app
            .aws
            .call(Operation::GetRecords, &question, LONGEST_ATTEMPT);
        match call.await {
            Ok(answer) => return answer,
            Err(_) => app.ledger.retry(),
        }
        sleep(app.jittered(pause)).await;
        pause = (pause * 2).min(LONGEST_POLL_PAUSE);
    }
}

async fn deliver(app: &App, id: &OrderId, item: &Value) {
    if let Err(why) = try_hard(app, &DELIVERY, Operation::PutItem, item).await {
        return app
            .ledger
            .dead_letter(id, "stream to table", why.to_string());
    }
    app.ledger.store(id);
    let metric = one_more_order();
    match try_hard(app, &DELIVERY, Operation::PutMetricData, &metric).await {
        Ok(_) => app.ledger.count(id),
        Err(why) => app
            .ledger
            .dead_letter(id, "table to metric", why.to_string()),
    }
}

/// Tries as hard as the effort says and returns why the last attempt failed.
async fn try_hard(
    app: &App,
    effort: &Effort,
    operation: Operation,
    body: &Value,
) -> Result<Value, CallFailed> {
    let deadline = Instant::now() + effort.within;
    let mut pause = effort.first_pause;
    let mut attempt = 1;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let call = app.aws.call(operation, body, left.min(LONGEST_ATTEMPT));
        let why = match call.await {
            Ok(answer) => return Ok(answer),
            Err(why) => why,
        };
        let rest = app.jittered(pause);
        if attempt == effort.attempts || Instant::now() + rest >= deadline {
            return Err(why);
        }
        sleep(rest).await;
        app.ledger.retry();
        pause *= 2;
        attempt += 1;
    }
}
