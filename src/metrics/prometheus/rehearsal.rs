//! What a query would have read over the past: range queries in chunks that no server refuses for
//! their number of points, one after another.

use std::time::Duration;

use prometheus_http_query::response::{Data, RangeVector};
use tokio::time::timeout;

use super::api::Api;
use super::freshness;
use super::reading::{differing, number};
use super::trouble::Trouble;
use crate::model::rehearsal::{Now, Past, Rehearsal};
use crate::model::sample::Reading;
use crate::model::slo::Slo;
use crate::model::units::Span;

/// Points of one range query, at most; both its ends are points. Prometheus refuses more than 11,000
/// steps (`web/api/v1`), others count the points.
const MOST_POINTS: u64 = 11_000;

/// Points of the whole past, at most: ten chunks. A longer past is looked at in coarser steps.
const MOST_IN_ALL: u64 = 100_000;

/// How long the past of one query may take, all its chunks together.
const WITHIN: Duration = Duration::from_secs(30);

/// One query about the past.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    /// The SLO that the values are judged by.
    pub(super) slo: &'a Slo,
    /// The query.
    pub(super) query: &'a str,
    /// How far to look back; less than a second asks only for now.
    pub(super) over: Span,
}

/// Adds the past and how late the data is to what is known about now, as far as somebody wants them
/// and the server tells them; a query that can never be judged is not asked any further, nor is a
/// server that is down.
pub(super) async fn complete(api: &Api, question: Question<'_>, told: Rehearsal) -> Rehearsal {
    let length = Length::of(question.slo.every, question.over);
    let Some(length) = length.filter(|_| is_worth_asking(&told.now)) else {
        return told;
    };
    let (freshness, past) = tokio::join!(
        freshness::freshness(api, question.query),
        past_in_time(api, question, length)
    );
    let told = Rehearsal { freshness, ..told };
    match past.map_err(|trouble| trouble.map(|text| api.redacted(text))) {
        Ok(past) => Rehearsal {
            past: Some(match told.now.value() {
                Some(value) => past.reaching(value),
                None => past,
            }),
            ..told
        },
        // Now was answered: what keeps the past from it, such as a server's limit for its length, is
        // no flaw of the query.
        Err(
            Trouble::Unjudgeable { why, .. }
            | Trouble::Refused { why, .. }
            | Trouble::Passing { why, .. },
        ) => {
            let mut warnings = told.warnings;
            warnings.push(format!(
                "its past could not be read ({why}); a shorter `--rehearse` asks for less"
            ));
            Rehearsal { warnings, ..told }
        }
    }
}

fn is_worth_asking(now: &Now) -> bool {
    match now {
        Now::NotYet { .. } | Now::Flawed { .. } => false,
        Now::Read { reading, .. } => match reading {
            Reading::Value(_) | Reading::NoData { .. } => true,
            Reading::SourceDown { .. } => false,
        },
    }
}

/// The year 10,000, in seconds since 1970.
const LATEST: f64 = 253_402_300_800.0;

async fn past_in_time(api: &Api, question: Question<'_>, length: Length) -> Result<Past, Trouble> {
    let asked = timeout(WITHIN, past(api, question, length)).await;
    asked.unwrap_or_else(|_| {
        let within = Span::of(WITHIN);
        Err(Trouble::passing(format!("it took longer than {within}")))
    })
}

async fn past(api: &Api, question: Question<'_>, length: Length) -> Result<Past, Trouble> {
    // The server's own clock: ours may be another.
    let now = api.instant("time()").await?;
    let now =
        number(&now.opened.data)?.ok_or_else(|| Trouble::passing("it does not tell the time"))?;
    let now = now.timestamp().floor();
    if !(0.0..LATEST).contains(&now) {
        return Err(Trouble::passing("it tells a time that no calendar has"));
    }
    let start = now as i64 - length.seconds as i64;
    let mut values = vec![None; length.points as usize];
    let mut ambiguous = None;
    for chunk in length.chunks() {
        let at_ms = |point: u64| (start + (point * length.step) as i64) * 1_000;
        let (first, last) = (at_ms(chunk.first), at_ms(chunk.last));
        let step = Span::from_secs(length.step);
        let answer = api.range(question.query, first, last, step).await?;
        let Data::Matrix(series) = &answer.opened.data else {
            return Err(Trouble::passing(
                "a range query is not answered with a range",
            ));
        };
        let values = &mut values[chunk.first as usize..=chunk.last as usize];
        let several = fill(values, series, first / 1_000, length.step);
        ambiguous = ambiguous.or(several.map(|several| api.redacted(&several)));
    }
    let over = Span::from_secs(length.seconds);
    let step = Span::from_secs(length.step);
    let at_ms = |point: usize| point as u64 * step.as_millis();
    let values = values.into_iter().enumerate();
    let values = values.map(|(point, value)| (at_ms(point), value));
    let past = Past::of(question.slo, over, step, values);
    Ok(Past { ambiguous, ..past })
}

/// Puts the samples of a chunk where they belong. One series may follow another, as where a pod was
/// replaced; two at one time are no value, as they would be in a run, and are told. What stands in
/// front of the server may take the start down to a multiple of the step (Thanos does): every point is
/// then a little early, and the first may belong before this chunk.
fn fill(
    values: &mut [Option<f64>],
    series: &[RangeVector],
    start: i64,
    step: u64,
) -> Option<String> {
    let mut doubled = false;
    for sample in series.iter().flat_map(RangeVector::samples) {
        let point = ((sample.timestamp() - start as f64) / step as f64).round();
        if point < 0.0 {
            continue;
        }
        let Some(value) = values.get_mut(point as usize) else {
            continue;
        };
        if value.replace(sample.value()).is_some() {
            doubled = true;
            *value = Some(f64::NAN);
        }
    }
    doubled.then(|| differing(series.iter().map(RangeVector::metric)))
}

/// How much of the past is looked at, in whole seconds and points: the API takes no finer times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Length {
    seconds: u64,
    /// Seconds between two points.
    step: u64,
    /// How many points, both ends included where the step fits.
    points: u64,
}

/// Points, counted from the oldest; both are part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Chunk {
    first: u64,
    last: u64,
}

impl Length {
    /// The step is the time between two readings, in whole seconds, or so many times that that
    /// the points do not get too many. `None`: that is no past.
    fn of(every: Span, over: Span) -> Option<Self> {
        let seconds = over.as_millis() / 1_000;
        if seconds == 0 {
            return None;
        }
        let every = every.as_millis().div_ceil(1_000).max(1);
        let coarser = seconds.div_ceil(every * (MOST_IN_ALL - 1)).max(1);
        let step = every * coarser;
        Some(Self {
            seconds,
            step,
            points: seconds / step + 1,
        })
    }

    fn chunks(self) -> impl Iterator<Item = Chunk> {
        let firsts = (0..self.points).step_by(MOST_POINTS as usize);
        firsts.map(move |first| Chunk {
            first,
            last: (first + MOST_POINTS).min(self.points) - 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_the_server_took_down_to_its_own_grid_are_one_series() {
        for (shift, expected) in [
            (0, [Some(0.0), Some(1.0), Some(2.0)]),
            (-3, [Some(0.0), Some(1.0), Some(2.0)]),
            (-13, [Some(1.0), Some(2.0), None]),
        ] {
            let at = |point: i64| 1_000 + shift + 15 * point;
            let pairs: Vec<_> = (0..3)
                .map(|point| format!(r#"[{},"{point}"]"#, at(point)))
                .collect();
            let json = format!(r#"{{"metric":{{}},"values":[{}]}}"#, pairs.join(","));
            let series: RangeVector = serde_json::from_str(&json).expect("a series");
            let mut values = [None; 3];
            assert_eq!(fill(&mut values, &[series], 1_000, 15), None);
            assert_eq!(values, expected, "{shift}");
        }
    }

    #[test]
    fn no_chunk_has_too_many_points_and_together_they_have_each_once() {
        let hours = |hours: u64| Span::from_secs(hours * 3_600);
        // Every, over, step, points, chunks.
        let rows = [
            ("1s", hours(6), 1, 21_601, 2),
            ("1s", hours(24), 1, 86_401, 8),
            // One point less than a chunk, a chunk, and one point more.
            ("1s", Span::from_secs(10_998), 1, 10_999, 1),
            ("1s", Span::from_secs(10_999), 1, 11_000, 1),
            ("1s", Span::from_secs(11_000), 1, 11_001, 2),
            ("15s", hours(6), 15, 1_441, 1),
            // The API takes whole seconds only.
            ("100ms", hours(1), 1, 3_601, 1),
            ("1500ms", hours(1), 2, 1_801, 1),
            // Coarser, so that the points do not get too many.
            ("1s", Span::from_secs(99_999), 1, 100_000, 10),
            ("1s", Span::from_secs(100_000), 2, 50_001, 5),
            ("1s", hours(7 * 24), 7, 86_401, 8),
            ("1s", hours(366 * 24), 317, 99_756, 10),
            // The step does not fit.
            ("5m", Span::from_secs(700), 300, 3, 1),
            ("5m", Span::from_secs(10), 300, 1, 1),
        ];
        for (every, over, step, points, chunks) in rows {
            let length = Length::of(every.parse().expect("a duration"), over);
            let length = length.expect("a past");
            assert_eq!(
                (length.step, length.points),
                (step, points),
                "{every} {over}"
            );
            let all: Vec<_> = length.chunks().collect();
            assert_eq!(all.len(), chunks, "{every} {over}");
            let mut next = 0;
            for chunk in all {
                assert_eq!(chunk.first, next, "{every} {over}");
                assert!(chunk.last - chunk.first < MOST_POINTS, "{every} {over}");
                next = chunk.last + 1;
            }
            assert_eq!(next, points, "{every} {over}");
        }
        assert_eq!(Length::of(Span::from_secs(1), Span::ZERO), None);
        assert_eq!(Length::of(Span::from_secs(1), Span::from_millis(999)), None);
    }
}
