//! How the fragile app handles failure: badly, in the ways that people really meet.
//!
//! It retries at once and without bound, gives up on its callers without a word, lets one stuck
//! order block all behind it, and calls an order done whose metric never arrived.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::app::{App, IDLE_PAUSE, NotAccepted, items_of, one_more_order};
use super::aws_client::Operation;
use super::stores::iterator_at;

/// Shorter than a slow but healthy answer: an attempt given up may be executed all the same.
const ATTEMPT: Duration = Duration::from_millis(300);
/// Shorter than the retries need.
const WHOLE_REQUEST: Duration = Duration::from_secs(1);

/// API → stream: retries until the caller's time is up.
pub(super) async fn hand_over(app: &App, record: &Value) -> Result<(), NotAccepted> {
    let handed_over = until_done(app, Operation::PutRecord, record);
    match timeout(WHOLE_REQUEST, handed_over).await {
        Ok(_) => Ok(()),
        Err(_) => Err(NotAccepted),
    }
}

/// Stream → table → metric, one order after the other, for as long as the sandbox lives.
pub(super) async fn consume(app: Arc<App>) {
    let mut iterator = json!(iterator_at(0));
    loop {
        let question = json!({"ShardIterator": iterator});
        let answer = until_done(&app, Operation::GetRecords, &question).await;
        iterator = answer["NextShardIterator"].clone();
        let items = items_of(&answer);
        if items.is_empty() {
            sleep(IDLE_PAUSE).await;
        }
        for (id, item) in items {
            until_done(&app, Operation::PutItem, &item).await;
            app.ledger.store(&id);
            let metric = one_more_order();
            match app
                .aws
                .call(Operation::PutMetricData, &metric, ATTEMPT)
                .await
            {
                Ok(_) => app.ledger.count(&id),
                Err(_) => app.ledger.lose_metric(&id),
            }
        }
    }
}

/// Tries at once, again and again. Only the round trip slows it down.
async fn until_done(app: &App, operation: Operation, body: &Value) -> Value {
    loop {
        match app.aws.call(operation, body, ATTEMPT).await {
            Ok(answer) => return answer,
            Err(_) => app.ledger.retry(),
        }
    }
}
