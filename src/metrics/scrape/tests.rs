//! The loops and what they know, under paused time: every page is a script, every time exact.

mod blindness;

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, sleep};

use super::page::{Format, Sample, read};
use super::window::{Scrape, Target};
use super::*;
use crate::metrics::WallClock;
use crate::metrics::series::Labels;
use crate::model::rehearsal::{Freshness, Now};
use crate::model::sample::SloState;
use crate::model::slo::Reaction;

const SECOND: Duration = Duration::from_secs(1);
const EVERY: Span = Span::from_secs(1);

/// Pages that a test changes while they are read.
#[derive(Clone)]
struct Script {
    pages: Arc<Mutex<Vec<Result<String, String>>>>,
    /// How long each read takes.
    delay: Arc<Mutex<Duration>>,
    /// When reads began, and of which page.
    begun: Arc<Mutex<Vec<(usize, Instant)>>>,
}

impl Script {
    fn new(pages: &[&str]) -> Self {
        let pages = pages.iter().map(|page| Ok((*page).to_owned()));
        Self {
            pages: Arc::new(Mutex::new(pages.collect())),
            delay: Arc::default(),
            begun: Arc::default(),
        }
    }

    fn set(&self, index: usize, page: &str) {
        self.pages.lock().unwrap()[index] = Ok(page.to_owned());
    }

    fn fail(&self, index: usize, why: &str) {
        self.pages.lock().unwrap()[index] = Err(why.to_owned());
    }

    fn fetch(&self) -> pages::Fetch {
        let script = self.clone();
        Box::new(move |index| {
            let script = script.clone();
            Box::pin(async move {
                script.begun.lock().unwrap().push((index, Instant::now()));
                let delay = *script.delay.lock().unwrap();
                sleep(delay).await;
                let page = script.pages.lock().unwrap()[index].clone()?;
                Ok(samples(&page))
            })
        })
    }
}

fn samples(page: &str) -> Vec<Sample> {
    read(page.as_bytes(), Format::Text).expect("the test writes good pages")
}

/// `shop:80` and, as many as there are, `cart:80`, `pay:80`.
fn targets(count: usize) -> Vec<Target> {
    let all = ["shop", "cart", "pay"].into_iter().take(count);
    let target = |host: &str| Target {
        url: format!("http://{host}/metrics"),
        address: format!("{host}:80"),
        labels: Labels::from([("instance".to_owned(), format!("{host}:80"))]),
    };
    all.map(target).collect()
}

/// 1970 and some minutes: long enough ago for samples before it.
fn clock() -> WallClock {
    WallClock::set_to(Timestamp::from_second(10_000).unwrap())
}

fn scraper(script: &Script) -> Scraper {
    let count = script.pages.lock().unwrap().len();
    let pages = Pages::scripted(targets(count), EVERY, clock(), script.fetch());
    Scraper::new(pages)
}

async fn started(script: &Script) -> Scraper {
    let scraper = scraper(script);
    scraper.start().await.expect("it starts once");
    scraper
}

async fn ask(scraper: &Scraper, query: &str) -> Reading {
    scraper.read(&Metric::Scrape(query.to_owned())).await
}

/// The next read, and a moment for it to be taken in.
async fn a_second() {
    sleep(SECOND + Duration::from_millis(10)).await;
}

fn no_data(why: &str) -> Reading {
    Reading::NoData {
        why: why.to_owned(),
    }
}

fn down(why: &str) -> Reading {
    Reading::SourceDown {
        why: why.to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn each_page_is_read_at_a_cadence_that_does_not_drift() {
    let script = Script::new(&["a 1", "b 1"]);
    *script.delay.lock().unwrap() = Duration::from_millis(700);
    let began = Instant::now();
    let scraper = started(&script).await;
    assert_eq!(began.elapsed(), Duration::from_millis(700));
    sleep(Duration::from_millis(99_500)).await;
    scraper.stop().await;
    sleep(10 * SECOND).await;
    for page in [0, 1] {
        let begun = script.begun.lock().unwrap();
        let times: Vec<_> = begun.iter().filter(|(index, _)| *index == page).collect();
        let late = times.iter().zip(0_u32..).map(|((_, at), number)| {
            let due = began + SECOND * number;
            at.saturating_duration_since(due)
        });
        assert_eq!(times.len(), 101);
        assert!(late.max() <= Some(Duration::from_millis(1)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_hangs_is_down_and_is_asked_again_once_it_was_given_up() {
    let script = Script::new(&["a 1"]);
    let scraper = started(&script).await;
    assert_eq!(ask(&scraper, "a").await, Reading::Value(1.0));
    *script.delay.lock().unwrap() = Duration::from_secs(3_600);
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(ask(&scraper, "a").await, Reading::Value(1.0));
    sleep(SECOND).await;
    let given_up = "http://shop/metrics: no whole page within 1s";
    assert_eq!(ask(&scraper, "a").await, down(given_up));
    *script.delay.lock().unwrap() = Duration::ZERO;
    sleep(2 * SECOND).await;
    assert_eq!(ask(&scraper, "a").await, Reading::Value(1.0));
    // At 0 s, 1 s, 2 s, 3 s and 4 s: never two at once, and none is left out.
    assert_eq!(script.begun.lock().unwrap().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_source_is_read_between_its_start_and_its_stop() {
    let script = Script::new(&["a 1"]);
    let scraper = scraper(&script);
    let early = no_data("the pages are read only while a run lasts");
    assert_eq!(ask(&scraper, "a").await, early);
    scraper.start().await.expect("it starts once");
    assert_eq!(ask(&scraper, "a").await, Reading::Value(1.0));
    let again = scraper.start().await.expect_err("it started before");
    assert_eq!(again.message, "the pages were being read before");
    assert_eq!(ask(&scraper, "a").await, Reading::Value(1.0));
    assert_eq!(scraper.stop().await, None);
    let late = no_data("the pages are no longer read");
    assert_eq!(ask(&scraper, "a").await, late);
}

#[tokio::test(start_paused = true)]
async fn series_get_the_labels_of_their_page_and_keep_their_own_as_exported() {
    let script = Script::new(&["a{instance=\"x\",exported_instance=\"y\"} 1", "a 2"]);
    let scraper = started(&script).await;
    for (query, value) in [
        (
            "a{instance=\"shop:80\",exported_exported_instance=\"x\",exported_instance=\"y\"}",
            1.0,
        ),
        ("a{instance=\"cart:80\",exported_instance=\"\"}", 2.0),
        ("sum(up)", 2.0),
        ("count(scrape_duration_seconds)", 2.0),
    ] {
        assert_eq!(ask(&scraper, query).await, Reading::Value(value), "{query}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_page_no_longer_has_is_gone_at_once_unless_the_page_dated_it() {
    let script = Script::new(&["a 1\nb 2\nc 3 9999500"]);
    let scraper = started(&script).await;
    script.set(0, "a 1");
    a_second().await;
    assert_eq!(ask(&scraper, "a").await, Reading::Value(1.0));
    assert_eq!(
        ask(&scraper, "b").await,
        no_data("no series `b`; the page has nothing by a name like it")
    );
    assert_eq!(ask(&scraper, "c").await, Reading::Value(3.0));
    // Five minutes after its date.
    sleep(Duration::from_millis(298_000)).await;
    assert_eq!(ask(&scraper, "c").await, Reading::Value(3.0));
    a_second().await;
    assert_eq!(ask(&scraper, "c").await.value(), None);
}

#[tokio::test(start_paused = true)]
async fn a_rate_needs_two_reads_and_survives_a_restart_of_the_counter() {
    let script = Script::new(&["requests_total 100"]);
    let scraper = started(&script).await;
    let rate = "rate(requests_total[4s])";
    let first = no_data("one read of the page so far, a rate needs two");
    assert_eq!(ask(&scraper, rate).await, first);
    sleep(SECOND / 2).await;
    for total in [110, 120, 5, 15] {
        script.set(0, &format!("requests_total {total}"));
        sleep(SECOND).await;
    }
    // From 110 on 10, 5 and 10 more within three seconds.
    let Reading::Value(rate) = ask(&scraper, rate).await else {
        panic!("it has a rate");
    };
    assert!((rate - 25.0 / 3.0).abs() < 1e-9, "{rate}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_number_says_why() {
    let page =
        "http_requests_total{code=\"200\"} 1\nhttp_requests_total{code=\"500\"} 0\nnan NaN\nzero 0";
    let script = Script::new(&[page]);
    let scraper = started(&script).await;
    for (query, why) in [
        (
            "http_request_total",
            "no series `http_request_total`; the page has `http_requests_total`",
        ),
        (
            "http_requests_total{code=\"404\"}",
            "no series `http_requests_total{code=\"404\"}`; the page has the metric, but not with these labels",
        ),
        (
            "zero{instance=\"cart:80\"}",
            "`zero{instance=\"cart:80\"}` excludes every page by its labels",
        ),
        (
            "http_requests_total",
            "the query answers with 2 series where one is needed; they differ in `code`; aggregate them, as in `sum without (code) (…)`, or choose one with a matcher such as `code=\"…\"`",
        ),
        ("nan", "the query's value is NaN"),
        ("1 / zero", "the query's value is +Inf"),
        ("zero > 1", "the query finds nothing"),
        (
            "rate(zero[999ms])",
            "one read of the page so far, a rate needs two",
        ),
        (
            "sum(",
            "this is no PromQL: unclosed left parenthesis; correct the query",
        ),
        (
            "max_over_time(zero[2h])",
            "`zero` looks back 2h, and pages are kept for 1h at most; shorten its range, or read it from a Prometheus",
        ),
    ] {
        assert_eq!(ask(&scraper, query).await, no_data(why), "{query}");
    }
    a_second().await;
    assert_eq!(
        ask(&scraper, "rate(zero[500ms])").await,
        no_data("`zero[500ms]` holds fewer than two samples")
    );
}

fn held(scraper: &Scraper) -> (usize, usize) {
    let window = lock(&scraper.window);
    let points: Vec<_> = window.store.all().map(|(_, points)| points.len()).collect();
    (points.len(), points.iter().sum())
}

#[tokio::test(start_paused = true)]
async fn memory_stays_flat_whatever_comes_and_goes() {
    let script = Script::new(&[""]);
    let scraper = started(&script).await;
    let mut most = (0, 0);
    for second in 0..400 {
        script.set(
            0,
            &format!("asked 1\nunasked 1\nchurn{{id=\"{second}\"}} 1\ntoll{{id=\"{second}\"}} 1"),
        );
        sleep(SECOND).await;
        ask(&scraper, "sum(max_over_time(churn[1m]))").await;
        ask(&scraper, "asked").await;
        let (series, points) = held(&scraper);
        most = (most.0.max(series), most.1.max(points));
    }
    // `up`, the duration, `asked`, `unasked`, the last two of `toll`, and a minute and a second of `churn`;
    // five minutes of `asked`, two samples of each that nobody asks for, and `churn` with where it ended.
    assert_eq!(most, (68, 435));
}

#[tokio::test(start_paused = true)]
async fn times_that_no_page_can_mean_are_left_out() {
    let script = Script::new(&[
        "future 1 10600000\nbeyond 1 10600001\npast 1 6400000\nancient 1 6399999\nodd 1 -9223372036854775808",
    ]);
    let scraper = started(&script).await;
    let window = lock(&scraper.window);
    let names = window
        .store
        .all()
        .map(|(labels, _)| labels["__name__"].clone());
    let names: Vec<_> = names.collect();
    assert_eq!(names, ["future", "past", "scrape_duration_seconds", "up"]);
}

#[tokio::test(start_paused = true)]
async fn pages_that_there_is_no_room_for_are_down() {
    let script = Script::new(&["a 1"]);
    let scraper = started(&script).await;
    let heavy = Sample {
        labels: Labels::from([("big".to_owned(), "x".repeat(130 << 20))]),
        value: 1.0,
        at_ms: None,
    };
    let scrape = Scrape {
        at_ms: 10_000_500,
        took: SECOND,
        outcome: Ok(vec![heavy]),
    };
    lock(&scraper.window).take(0, scrape);
    assert_eq!(
        ask(&scraper, "a").await,
        down(
            "http://shop/metrics: there is no room for its 1 samples among those that are kept; read it less often, or let the queries ask for fewer series or shorter ranges"
        )
    );
    a_second().await;
    assert_eq!(ask(&scraper, "a").await, Reading::Value(1.0));
}

fn slo() -> Slo {
    Slo {
        name: "errors".to_owned(),
        reads: "scrape".to_owned(),
        objective: "< 1".parse().unwrap(),
        patience: Span::ZERO,
        blind_patience: Span::from_secs(30),
        on_breach: Reaction::Rollback,
        on_no_data: Reaction::Rollback,
        every: EVERY,
    }
}

async fn rehearsed(script: &Script, query: &str) -> Now {
    let metric = Metric::Scrape(query.to_owned());
    let rehearsal = scraper(script).rehearse(&slo(), &metric, Span::ZERO).await;
    rehearsal.now
}

#[tokio::test(start_paused = true)]
async fn a_rehearsal_reads_the_page_once_and_says_what_it_can_know() {
    let page =
        "http_requests_total{code=\"200\"} 1\nhttp_requests_total{code=\"202\"} 3\nqueue 0.5\n";
    let script = Script::new(&[page]);
    let read = |reading, state| Now::Read { reading, state };
    let not_yet = |found: &str| Now::NotYet {
        why: format!("a rate needs two reads of the page; {found}"),
    };
    let flawed = |why: &str, way_out: &str| Now::Flawed {
        why: why.to_owned(),
        way_out: way_out.to_owned(),
    };
    let filling = |found: &str| Now::NotYet {
        why: format!("its range is still to be filled; {found}"),
    };
    let errors =
        "sum(rate(http_requests_total{code=~\"5..\"}[30s])) / sum(rate(http_requests_total[30s]))";
    for (query, expected) in [
        ("queue", read(Reading::Value(0.5), SloState::Ok)),
        (
            "sum(http_requests_total)",
            read(Reading::Value(4.0), SloState::Breaching),
        ),
        (
            errors,
            not_yet(
                "`http_requests_total{code=~\"5..\"}` finds 0 series now, `http_requests_total` finds 2 series now",
            ),
        ),
        (
            "sum(rate(http_request_total[30s])) or vector(0)",
            read(
                no_data("no series `http_request_total`; the page has `http_requests_total`"),
                SloState::NoData,
            ),
        ),
        (
            "rate(http_requests_total[30s])",
            flawed(
                "the query answers with 2 series where one is needed; they differ in `code`",
                "aggregate them, as in `sum without (code) (…)`, or choose one with a matcher such as `code=\"…\"`",
            ),
        ),
        (
            "sum(rate(http_requests_total[1500ms]))",
            flawed(
                "`http_requests_total[1s500ms]` does not always hold the two samples that a rate needs: pages are read every 1s",
                "make the range 2s or longer, or `every` shorter",
            ),
        ),
        (
            "max_over_time(queue[999ms])",
            flawed(
                "`queue[999ms]` does not always hold a sample: pages are read every 1s",
                "make the range 1s or longer, or `every` shorter",
            ),
        ),
        (
            "max_over_time(queue[1s])",
            filling("`queue` finds 1 series now"),
        ),
        (
            "sum(",
            flawed(
                "this is no PromQL: unclosed left parenthesis",
                "correct the query",
            ),
        ),
    ] {
        assert_eq!(rehearsed(&script, query).await, expected, "{query}");
    }
    script.fail(0, "it answers 500");
    let dead = down("http://shop/metrics: it answers 500");
    assert_eq!(
        rehearsed(&script, errors).await,
        read(dead, SloState::SourceDown)
    );
}

#[tokio::test(start_paused = true)]
async fn the_slos_of_a_document_are_rehearsed_with_one_read_of_each_page() {
    let script = Script::new(&["queue 1"]);
    let scraper = scraper(&script);
    for query in [
        "queue",
        "rate(queue[1m])",
        "max_over_time(queue[5m]) + queue",
    ] {
        let metric = Metric::Scrape(query.to_owned());
        let rehearsal = scraper.rehearse(&slo(), &metric, Span::ZERO).await;
        let expected = Freshness {
            newest: None,
            interval: Some(EVERY),
            window: query.contains('[').then(|| {
                let minutes = if query.contains("5m") { 5 } else { 1 };
                Span::from_secs(minutes * 60)
            }),
            starved: None,
        };
        assert_eq!(rehearsal.freshness, Some(expected), "{query}");
        assert_eq!(rehearsal.past, None);
    }
    assert_eq!(script.begun.lock().unwrap().len(), 1);
    sleep(11 * SECOND).await;
    let metric = Metric::Scrape("queue".to_owned());
    scraper.rehearse(&slo(), &metric, Span::ZERO).await;
    assert_eq!(script.begun.lock().unwrap().len(), 2);
}
