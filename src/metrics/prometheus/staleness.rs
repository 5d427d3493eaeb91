//! Whether an answer is about now: something between here and the server may have kept it.
//!
//! No clock of this machine's is compared with the server's. Three things tell instead: the server's
//! own `Date`, the `Age` that a cache writes, and that the time of evaluation has to move on from
//! one reading of a query to the next.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{AGE, DATE, HeaderMap};
use tokio::time::Instant;

use crate::model::units::Span;

/// Older answers are no data. The clocks of a server and of the proxy in front of it differ, and
/// `Date` has whole seconds.
const TOLERATED: Duration = Duration::from_secs(10);

/// When an answer was given, by what came with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Served {
    /// Seconds since 1970.
    date: Option<f64>,
    /// Time in caches.
    age: Option<Duration>,
    /// Time between question and answer.
    took: Duration,
}

impl Served {
    /// By the headers of an answer that took so long.
    pub(super) fn by(headers: &HeaderMap, took: Duration) -> Self {
        let text = |name| headers.get(name)?.to_str().ok();
        let date = text(DATE).and_then(|date| {
            let parsed: Timestamp = rfc2822::DateTimeParser::new().parse_timestamp(date).ok()?;
            Some(parsed.as_duration().as_secs_f64())
        });
        let age = text(AGE).and_then(|age| age.trim().parse().ok());
        Self {
            date,
            age: age.map(Duration::from_secs),
            took,
        }
    }
}

/// When each query was last evaluated.
#[derive(Default)]
pub(super) struct Staleness {
    newest: Mutex<HashMap<String, Seen>>,
}

/// The newest evaluation of a query.
#[derive(Clone, Copy)]
struct Seen {
    /// By the server, seconds since 1970.
    evaluated: f64,
    /// When it was first seen here.
    at: Instant,
}

impl Staleness {
    /// How old an answer is that was evaluated then, if that is too old.
    pub(super) fn too_old(&self, query: &str, evaluated: f64, served: Served) -> Option<Span> {
        // A slow evaluation is no old one: the instant was now when the question was asked.
        let took = served.took.as_secs() as f64;
        let by_date = served.date.map(|date| date - evaluated - took);
        let by_age = served.age.map(|age| age.as_secs_f64());
        let by_movement = self.since_it_moved(query, evaluated);
        let age = [by_date, by_age, by_movement].into_iter().flatten();
        let age = Duration::try_from_secs_f64(age.fold(0.0, f64::max).floor()).ok()?;
        (age > TOLERATED).then(|| Span::of(age))
    }

    /// Seconds since an evaluation was seen that is as new as this one, and what it is older than
    /// that.
    fn since_it_moved(&self, query: &str, evaluated: f64) -> Option<f64> {
        let now = Instant::now();
        let this = Seen { evaluated, at: now };
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        match newest.get_mut(query) {
            None => {
                newest.insert(query.to_owned(), this);
                None
            }
            Some(seen) if evaluated > seen.evaluated => {
                *seen = this;
                None
            }
            Some(seen) => {
                let elapsed = now.duration_since(seen.at).as_secs_f64();
                Some(elapsed + seen.evaluated - evaluated)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_evaluation_that_takes_long_is_not_old() {
        let answered = |took: u64| Served {
            date: Some(1_000.0),
            age: None,
            took: Duration::from_secs(took),
        };
        let staleness = Staleness::default();
        assert_eq!(staleness.too_old("up", 980.0, answered(20)), None);
        let old = Some(Span::from_secs(18));
        assert_eq!(staleness.too_old("up", 981.0, answered(1)), old);
    }
}
