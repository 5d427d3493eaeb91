//! How late the data behind a query is: the age of the newest sample of each of its selectors, how
//! often there is a new one, and how far the query looks back. What cannot be found out stays unknown.

use futures_util::future::join_all;
use prometheus_http_query::response::Sample;

use super::api::Api;
use super::reading::number;
use crate::metrics::promql;
use crate::model::rehearsal::Freshness;
use crate::model::units::Span;

/// So many selectors of one query are asked about: whatever has more has the same source for most.
const MOST_SELECTORS: usize = 4;

/// Samples are counted over so many seconds; the shorter times are for series that are young.
const COUNTED_OVER: [f64; 3] = [300.0, 60.0, 10.0];

/// With fewer samples in a shorter time a series is not known to be young.
const ENOUGH: f64 = 4.0;

/// A series is young where its samples are so much denser in a shorter time; less is by chance.
const DENSER: f64 = 1.5;

/// What people write for a scrape interval, in seconds. A count of samples tells it only within one
/// sample; the round one that fits is the likely one.
const USUAL_INTERVALS: [f64; 12] = [
    1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0,
];

/// How late the data of a query is; `None`: nothing of it is known.
pub(super) async fn freshness(api: &Api, query: &str) -> Option<Freshness> {
    let expression = promql::parse(query).ok()?;
    let selectors = promql::selectors(&expression);
    let asked = selectors.iter().take(MOST_SELECTORS);
    let told = join_all(asked.map(|selector| of_selector(api, selector))).await;
    let freshness = Freshness {
        newest: told.iter().filter_map(|(newest, _)| *newest).max(),
        interval: told.iter().filter_map(|(_, interval)| *interval).max(),
        window: promql::longest_range(&expression),
    };
    let known = freshness.newest.or(freshness.interval).or(freshness.window);
    known.map(|_| freshness)
}

/// The age of the newest sample of a selector, and the time between two.
async fn of_selector(api: &Api, selector: &str) -> (Option<Span>, Option<Span>) {
    let count = async |seconds: f64| {
        let query = format!("max(count_over_time({selector}[{seconds}s]))");
        one(api, query).await.map_or(0.0, |count| count.value())
    };
    let (newest, counts) = tokio::join!(
        one(api, format!("max(timestamp({selector}))")),
        join_all(COUNTED_OVER.map(count))
    );
    let age = newest.map(|newest| newest.timestamp() - newest.value());
    (age.and_then(span), interval(&counts).and_then(span))
}

async fn one(api: &Api, query: String) -> Option<Sample> {
    let answer = api.instant(&query).await.ok()?;
    number(&answer.opened.data).ok()?
}

fn span(seconds: f64) -> Option<Span> {
    let seconds = std::time::Duration::try_from_secs_f64(seconds.max(0.0)).ok()?;
    Some(Span::of(seconds))
}

/// Seconds between two samples, by how many there were over each of the times.
fn interval(counts: &[f64]) -> Option<f64> {
    let mut counted = counts.iter().copied().zip(COUNTED_OVER);
    let longest = counted.next()?;
    let (count, over) = counted.fold(longest, |(count, over), (fewer, shorter)| {
        if fewer >= ENOUGH && fewer / shorter > DENSER * count / over {
            (fewer, shorter)
        } else {
            (count, over)
        }
    });
    if count < 2.0 {
        return None;
    }
    let fits = |usual: &f64| over / (count + 1.0) <= *usual && *usual <= over / (count - 1.0);
    let counted = over / count;
    let nearest = |one: &f64, other: &f64| {
        let (one, other) = ((one - counted).abs(), (other - counted).abs());
        one.total_cmp(&other)
    };
    let usual = USUAL_INTERVALS.into_iter().filter(fits).min_by(nearest);
    let tenths = |seconds: f64| (seconds * 10.0).round() / 10.0;
    Some(usual.unwrap_or_else(|| tenths(counted)))
}

#[cfg(test)]
mod tests {
    use super::interval;

    #[test]
    fn counts_of_samples_tell_the_time_between_two() {
        for (counts, seconds) in [
            ([300.0, 60.0, 10.0], Some(1.0)),
            ([301.0, 61.0, 11.0], Some(1.0)),
            ([60.0, 12.0, 2.0], Some(5.0)),
            ([20.0, 4.0, 0.0], Some(15.0)),
            ([21.0, 5.0, 1.0], Some(15.0)),
            ([10.0, 2.0, 1.0], Some(30.0)),
            ([7.0, 2.0, 0.0], Some(45.0)),
            ([5.0, 1.0, 0.0], Some(60.0)),
            ([3.0, 1.0, 1.0], Some(90.0)),
            // Nobody's round figure.
            ([43.0, 9.0, 2.0], Some(7.0)),
            ([1_200.0, 240.0, 40.0], Some(0.3)),
            // Series that are two minutes, 20 s and 6 s old.
            ([120.0, 60.0, 10.0], Some(1.0)),
            ([20.0, 20.0, 10.0], Some(1.0)),
            ([6.0, 6.0, 6.0], Some(2.0)),
            // One sample says nothing.
            ([1.0, 1.0, 1.0], None),
            ([0.0, 0.0, 0.0], None),
        ] {
            assert_eq!(interval(&counts), seconds, "{counts:?}");
        }
    }
}
