//! How late the data behind a query is: the age of the newest sample of each of its selectors, how
//! often there is a new one, and how far the query looks back. What cannot be found out stays unknown.

use futures_util::future::join_all;
use prometheus_http_query::response::{Data, RangeVector, Sample};
use promql_parser::parser::VectorSelector;

use super::api::Api;
use super::reading::number;
use crate::metrics::promql;
use crate::model::rehearsal::{Freshness, Starved};
use crate::model::units::Span;

/// So many selectors of one query are asked about: whatever has more has the same source for most.
const MOST_SELECTORS: usize = 4;

/// The time between two samples is looked for in so much of the past.
const LOOKED_AT: &str = "10m";

/// Fewer samples than these tell nothing: the distance of two may be a scrape that was missed.
const ENOUGH: usize = 3;

/// How late the data of a query is; `None`: nothing of it is known.
pub(super) async fn freshness(api: &Api, query: &str) -> Option<Freshness> {
    let expression = promql::parse(query).ok()?;
    let selectors = promql::selectors(&expression);
    let asked = selectors.iter().take(MOST_SELECTORS);
    let told = join_all(asked.map(|selector| of_selector(api, selector))).await;
    let starved = selectors.iter().zip(&told).find_map(|(selector, told)| {
        let (window, interval) = (promql::range_of(&expression, selector)?, told.1?);
        (window < interval).then_some(Starved { window, interval })
    });
    let freshness = Freshness {
        newest: told.iter().filter_map(|(newest, _)| *newest).max(),
        interval: told.iter().filter_map(|(_, interval)| *interval).max(),
        window: promql::longest_range(&expression),
        starved,
    };
    let known = freshness.newest.or(freshness.interval).or(freshness.window);
    known.map(|_| freshness)
}

/// The age of the newest sample of a selector, and the time between two.
async fn of_selector(api: &Api, selector: &VectorSelector) -> (Option<Span>, Option<Span>) {
    let newest = one(api, format!("max(timestamp({selector}))"));
    let (newest, interval) = tokio::join!(newest, interval(api, selector));
    let age = newest.map(|newest| newest.timestamp() - newest.value());
    (age.and_then(span), interval.and_then(span))
}

async fn one(api: &Api, query: String) -> Option<Sample> {
    let answer = api.instant(&query).await.ok()?;
    number(&answer.opened.data).ok()?
}

fn span(seconds: f64) -> Option<Span> {
    let seconds = std::time::Duration::try_from_secs_f64(seconds.max(0.0)).ok()?;
    Some(Span::of(seconds))
}

/// Seconds between two samples, by the times of those of one series: the one with most of them.
async fn interval(api: &Api, selector: &VectorSelector) -> Option<f64> {
    let counted = format!("topk(1, count_over_time({selector}[{LOOKED_AT}]))");
    let Data::Vector(counted) = api.instant(&counted).await.ok()?.opened.data else {
        return None;
    };
    let labels = counted.first()?.metric().iter();
    let labels = labels.map(|(name, value)| (name.as_str(), value.as_str()));
    // A name that the selector leaves open is no label of a count; a server may tell it all the same.
    let labels = labels.filter(|(name, _)| *name != "__name__");
    let series = promql::narrowed(selector, labels);
    let Data::Matrix(series) = api
        .instant(&format!("{series}[{LOOKED_AT}]"))
        .await
        .ok()?
        .opened
        .data
    else {
        return None;
    };
    let samples = series.iter().map(RangeVector::samples);
    let samples = samples.max_by_key(|samples| samples.len())?;
    let times: Vec<f64> = samples.iter().map(Sample::timestamp).collect();
    usual_distance(&times)
}

/// The middle one of the distances, the shorter of two middle ones, in tenths of a second where there
/// is no more than one of them in half a second.
fn usual_distance(times: &[f64]) -> Option<f64> {
    if times.len() < ENOUGH {
        return None;
    }
    let distances = times.windows(2).map(|pair| pair[1] - pair[0]);
    let mut distances: Vec<f64> = distances.collect();
    distances.sort_by(f64::total_cmp);
    let middle = distances[(distances.len() - 1) / 2];
    let parts = if middle < 0.5 { 1_000.0 } else { 10.0 };
    Some((middle * parts).round() / parts)
}

#[cfg(test)]
mod tests {
    use super::usual_distance;

    #[test]
    fn the_times_of_samples_tell_the_usual_distance() {
        let rows: [(&[f64], Option<f64>); 10] = [
            (&[0.0, 1.0, 2.0], Some(1.0)),
            (&[0.0, 15.0, 30.0, 45.0], Some(15.0)),
            // A server sets its scrapes right by milliseconds; a pushed sample is less regular.
            (&[0.0, 15.003, 29.998, 45.01], Some(15.0)),
            (&[0.0, 0.996, 1.994], Some(1.0)),
            (&[0.0, 0.25, 0.5], Some(0.25)),
            // One scrape was missed, in the middle and of three.
            (&[0.0, 5.0, 10.0, 20.0, 25.0], Some(5.0)),
            (&[0.0, 5.0, 15.0], Some(5.0)),
            // Two tell nothing, nor does one.
            (&[0.0, 90.0], None),
            (&[0.0], None),
            (&[], None),
        ];
        for (times, seconds) in rows {
            assert_eq!(usual_distance(times), seconds, "{times:?}");
        }
    }
}
