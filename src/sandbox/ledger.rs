//! What happened to every order, as the app itself saw it: the source of `/status` and `/metrics`.
//!
//! Every number is the sum of what single orders went through, so one order can't be counted twice
//! by two paths. The ledger remembers the 50,000 orders seen last; sums outlive that.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;

use super::histogram::Histogram;

const MOST_ORDERS: usize = 50_000;
/// Bounds the work that one new order makes when many old ones are pending.
const LOOKED_AT_ONCE: usize = 16;
const MOST_LISTED_LETTERS: usize = 1_000;

/// Names one order through all hops.
pub(super) type OrderId = Arc<str>;

/// Whether somebody works on an order already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// Nobody did; now the caller does.
    New,
    /// Somebody does or did: this delivery is a repetition.
    Repeated,
}

/// An order that could not be delivered, put aside for a person to look at.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeadLetter {
    pub(super) order_id: String,
    /// The hop that gave up.
    pub(super) hop: &'static str,
    /// Why its last attempt failed.
    pub(super) reason: String,
}

/// The sums over all orders.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Totals {
    /// Orders that a caller was told are accepted.
    pub(super) accepted: u64,
    /// Answers that told a caller "not now" (5xx); whether the order got in all the same is another matter.
    pub(super) refused: u64,
    /// Orders in the table.
    pub(super) stored: u64,
    /// Orders whose metric arrived.
    pub(super) counted: u64,
    /// Orders in the dead-letter queue.
    pub(super) dead_lettered: u64,
    /// Accepted orders whose metric failed and which nobody was told of.
    pub(super) silent: u64,
    /// Accepted orders, neither stored nor dead-lettered yet.
    pub(super) pending: u64,
    /// Deliveries of an order beyond its first.
    pub(super) duplicated: u64,
    /// Attempts of an AWS call beyond its first.
    pub(super) retries: u64,
}

#[derive(Default)]
struct Order {
    accepted: Option<Instant>,
    claimed: bool,
    deliveries: u64,
    counted: bool,
    metric_lost: bool,
    dead_lettered: bool,
}

impl Order {
    fn is_pending(&self) -> bool {
        self.accepted.is_some() && self.deliveries == 0 && !self.dead_lettered
    }

    fn is_silent(&self) -> bool {
        self.accepted.is_some() && self.metric_lost && !self.counted
    }

    /// What this order adds to the totals.
    fn share(&self) -> Totals {
        Totals {
            accepted: self.accepted.is_some().into(),
            stored: (self.deliveries > 0).into(),
            counted: self.counted.into(),
            dead_lettered: self.dead_lettered.into(),
            silent: self.is_silent().into(),
            pending: self.is_pending().into(),
            duplicated: self.deliveries.saturating_sub(1),
            // About answers and attempts, not about orders.
            refused: 0,
            retries: 0,
        }
    }
}

/// What callers of `POST /orders` got.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers {
    pub(super) by_status: BTreeMap<u16, u64>,
    pub(super) durations: Histogram,
}

#[derive(Default)]
struct Books {
    orders: HashMap<OrderId, Order>,
    /// The same orders, the one seen first in front.
    seen: VecDeque<OrderId>,
    /// Accepted orders, the oldest in front; those done already are dropped when they get there.
    waiting: VecDeque<OrderId>,
    totals: Totals,
    answers: Answers,
    letters: VecDeque<DeadLetter>,
}

impl Books {
    fn change(&mut self, id: &OrderId, change: impl FnOnce(&mut Order)) {
        if !self.orders.contains_key(id) {
            self.seen.push_back(Arc::clone(id));
            self.forget_old_ones();
        }
        let order = self.orders.entry(Arc::clone(id)).or_default();
        let before = order.share();
        change(order);
        let after = order.share();
        let totals = &mut self.totals;
        for (total, before, after) in [
            (&mut totals.accepted, before.accepted, after.accepted),
            (&mut totals.stored, before.stored, after.stored),
            (&mut totals.counted, before.counted, after.counted),
            (
                &mut totals.dead_lettered,
                before.dead_lettered,
                after.dead_lettered,
            ),
            (&mut totals.silent, before.silent, after.silent),
            (&mut totals.pending, before.pending, after.pending),
            (&mut totals.duplicated, before.duplicated, after.duplicated),
        ] {
            *total = *total + after - before;
        }
    }

    /// Keeps the memory bounded; orders that are still pending go to the back instead.
    fn forget_old_ones(&mut self) {
        for _ in 0..LOOKED_AT_ONCE {
            if self.seen.len() <= MOST_ORDERS {
                return;
            }
            let Some(oldest) = self.seen.pop_front() else {
                return;
            };
            if self.orders.get(&oldest).is_some_and(Order::is_pending) {
                self.seen.push_back(oldest);
            } else {
                self.orders.remove(&oldest);
            }
        }
    }

    fn oldest_pending(&mut self) -> Option<Instant> {
        while let Some(front) = self.waiting.front() {
            match self.orders.get(front) {
                Some(order) if order.is_pending() => return order.accepted,
                Some(_) | None => self.waiting.pop_front(),
            };
        }
        None
    }
}

/// The shared ledger.
#[derive(Default)]
pub(super) struct Ledger {
    books: Mutex<Books>,
}

impl Ledger {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn accept(&self, id: &OrderId) {
        let mut books = self.books();
        books.change(id, |order| {
            order.accepted.get_or_insert_with(Instant::now);
        });
        books.waiting.push_back(Arc::clone(id));
        books.oldest_pending();
    }

    pub(super) fn is_accepted(&self, id: &OrderId) -> bool {
        let books = self.books();
        let order = books.orders.get(id);
        order.is_some_and(|order| order.accepted.is_some())
    }

    /// Notes the status that a caller of `POST /orders` gets, and how long it waited for it.
    pub(super) fn answer(&self, status: u16, took: Duration) {
        let mut books = self.books();
        *books.answers.by_status.entry(status).or_default() += 1;
        books.answers.durations.record(took);
        books.totals.refused += u64::from(status >= 500);
    }

    pub(super) fn retry(&self) {
        self.books().totals.retries += 1;
    }

    pub(super) fn claim(&self, id: &OrderId) -> Claim {
        let mut claim = Claim::New;
        self.books().change(id, |order| {
            if order.claimed {
                claim = Claim::Repeated;
            }
            order.claimed = true;
        });
        claim
    }

    pub(super) fn store(&self, id: &OrderId) {
        self.books().change(id, |order| order.deliveries += 1);
    }

    pub(super) fn count(&self, id: &OrderId) {
        self.books().change(id, |order| order.counted = true);
    }

    /// The metric of this order failed, and the app told nobody.
    pub(super) fn lose_metric(&self, id: &OrderId) {
        self.books().change(id, |order| order.metric_lost = true);
    }

    pub(super) fn dead_letter(&self, id: &OrderId, hop: &'static str, reason: String) {
        let mut books = self.books();
        books.change(id, |order| order.dead_lettered = true);
        let letter = DeadLetter {
            order_id: id.to_string(),
            hop,
            reason,
        };
        books.letters.push_back(letter);
        if books.letters.len() > MOST_LISTED_LETTERS {
            books.letters.pop_front();
        }
    }

    pub(super) fn totals(&self) -> Totals {
        self.books().totals.clone()
    }

    /// How long the oldest pending order has been waiting.
    pub(super) fn oldest_pending(&self) -> Duration {
        let oldest = self.books().oldest_pending();
        oldest.map_or(Duration::ZERO, |accepted| accepted.elapsed())
    }

    /// The dead letters put aside last, oldest first.
    pub(super) fn dead_letters(&self) -> Vec<DeadLetter> {
        self.books().letters.iter().cloned().collect()
    }

    /// The answers of `POST /orders` so far.
    pub(super) fn answers(&self) -> Answers {
        self.books().answers.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_forgets_old_orders_but_none_that_is_pending_and_no_sum() {
        let ledger = Ledger::default();
        let pending: OrderId = "pending".into();
        ledger.accept(&pending);
        for number in 0..MOST_ORDERS + 10 {
            ledger.store(&number.to_string().into());
        }
        assert_eq!(ledger.books().orders.len(), MOST_ORDERS);
        assert!(ledger.is_accepted(&pending));
        let expected = Totals {
            accepted: 1,
            pending: 1,
            stored: MOST_ORDERS as u64 + 10,
            ..Totals::default()
        };
        assert_eq!(ledger.totals(), expected);
    }

    #[test]
    fn a_metric_that_arrives_after_all_is_no_longer_silent() {
        let ledger = Ledger::default();
        let id: OrderId = "a".into();
        ledger.accept(&id);
        ledger.store(&id);
        ledger.lose_metric(&id);
        assert_eq!(ledger.totals().silent, 1);
        ledger.store(&id);
        ledger.count(&id);
        let expected = Totals {
            accepted: 1,
            stored: 1,
            counted: 1,
            duplicated: 1,
            ..Totals::default()
        };
        assert_eq!(ledger.totals(), expected);
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_pending_order_is_the_one_accepted_first_and_not_done() {
        let ledger = Ledger::default();
        let [first, second]: [OrderId; 2] = ["first".into(), "second".into()];
        ledger.accept(&first);
        tokio::time::advance(Duration::from_secs(2)).await;
        ledger.accept(&second);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(ledger.oldest_pending(), Duration::from_secs(3));
        ledger.store(&first);
        assert_eq!(ledger.oldest_pending(), Duration::from_secs(1));
        ledger.dead_letter(&second, "stream to table", String::new());
        assert_eq!(ledger.oldest_pending(), Duration::ZERO);
    }
}
