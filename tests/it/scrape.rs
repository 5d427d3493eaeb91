//! Pages read over real sockets, and compared with what a real Prometheus makes of the same bytes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chaos_gameday::clients::Clients;
use chaos_gameday::metrics::{
    Access, Auth, BearerToken, Metric, MetricSource, MetricSpecs, ScrapeSpec, ScrapeTarget,
    SourceSetup, Sources, WallClock,
};
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::secret::{Secret, SecretText, Secrets};
use chaos_gameday::model::units::Span;
use chaos_gameday::run::Clock;
use chaos_gameday::sandbox::AppVersion;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::prometheus::server::{Answer, Server};
use crate::support::pages::{OPEN_METRICS, Pages, Reply, TEXT, page, reply};
use crate::support::prometheus::{Prometheus, is_missing};
use crate::support::sandbox::Bench;

/// Long enough for a busy machine, short enough for a page that hangs.
const PATIENCE: Span = Span::from_secs(3);

/// Each of these as a page, told apart by the label `page`.
fn spec(targets: &[(&str, String)]) -> ScrapeSpec {
    let target = |(name, url): &(&str, String)| ScrapeTarget {
        url: url.clone(),
        labels: BTreeMap::from([("page".to_owned(), (*name).to_owned())]),
    };
    ScrapeSpec {
        targets: targets.iter().map(target).collect(),
        every: PATIENCE,
        timeout: PATIENCE,
        access: Access::default(),
    }
}

fn made(spec: ScrapeSpec) -> Result<Arc<dyn MetricSource>, Problem> {
    let secrets = BTreeMap::from([("TOKEN".to_owned(), Ok(Secret::new("hunter22")))]);
    let setup = SourceSetup {
        clients: Clients::new()?,
        secrets: Secrets::new(secrets),
        tag: "run-1".to_owned(),
        this_program: PathBuf::from("chaos"),
        clock: WallClock::set_to(Clock::wall()),
    };
    let specs = MetricSpecs {
        scrape: Some(spec),
        ..MetricSpecs::default()
    };
    Sources::new(&specs, &setup)?.source_for(&Metric::Scrape(String::new()))
}

async fn started(spec: ScrapeSpec) -> Arc<dyn MetricSource> {
    let source = made(spec).expect("a good document");
    source.start().await.expect("it starts once");
    source
}

async fn ask(source: &Arc<dyn MetricSource>, query: &str) -> Reading {
    source.read(&Metric::Scrape(query.to_owned())).await
}

const TRUNCATED: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\na 1\n";

/// Every page that cannot be read, with the reason that is told.
fn bad_pages() -> Vec<(&'static str, Reply, &'static str)> {
    let html = "<!doctype html>";
    let moved = [("location", "/text")];
    vec![
        (
            "500",
            reply("500 Internal Server Error", &[], "a 1\n"),
            "it answers 500 Internal Server Error",
        ),
        (
            "empty",
            reply("204 No Content", &[], ""),
            "it answers 204 No Content",
        ),
        (
            "missing",
            reply("404 Not Found", &[], ""),
            "it answers 404 Not Found",
        ),
        (
            "locked",
            reply("401 Unauthorized", &[], ""),
            "it answers 401 Unauthorized; say who asks, under `metrics.scrape.auth`",
        ),
        (
            "moved",
            reply("302 Found", &moved, ""),
            "it redirects to /text (302); no redirect is followed: write the final address as the URL",
        ),
        (
            "html",
            page("text/html", html),
            "line 1: `<!doctype html>` does not begin with a metric's name",
        ),
        (
            "nonsense",
            page(TEXT, "a 1\nb one\n"),
            "line 2: `one` is no number",
        ),
        (
            "cut",
            page(OPEN_METRICS, "a 1\n"),
            "the page was cut off: it does not end with `# EOF`",
        ),
        (
            "broken",
            Reply::Bytes(TRUNCATED.to_vec()),
            "it broke off after 4 bytes",
        ),
        (
            "silent",
            Reply::Stall(Vec::new()),
            "no whole page within 3s",
        ),
        (
            "slow",
            Reply::Stall(TRUNCATED.to_vec()),
            "no whole page within 3s",
        ),
        (
            "huge",
            Reply::Endless("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_owned()),
            "it is larger than 16 MiB",
        ),
        (
            "packed",
            reply("200 OK", &[("content-encoding", "gzip")], "x"),
            "it is compressed (gzip) though nobody asked",
        ),
        (
            "binary",
            page("application/vnd.google.protobuf; encoding=delimited", ""),
            "it is no text (application/vnd.google.protobuf; encoding=delimited)",
        ),
    ]
}

#[tokio::test]
async fn a_page_that_cannot_be_read_is_down_and_says_why() {
    let server = Pages::start().await;
    server.put("text", page(TEXT, "a 1"));
    server.put("open", page(OPEN_METRICS, "a 2\n# EOF\n"));
    let mut targets = vec![("text", server.url("text")), ("open", server.url("open"))];
    for (name, reply, _) in bad_pages() {
        server.put(name, reply);
        targets.push((name, server.url(name)));
    }
    targets.push(("nobody", "http://127.0.0.1:1/metrics".to_owned()));
    let source = started(spec(&targets)).await;
    for (name, expected) in [("text", 1.0), ("open", 2.0)] {
        let read = ask(&source, &format!("a{{page=\"{name}\"}}")).await;
        assert_eq!(read, Reading::Value(expected), "{name}");
    }
    for (name, _, why) in bad_pages() {
        let why = format!("{}: {why}", server.url(name));
        let read = ask(&source, &format!("a{{page=\"{name}\"}}")).await;
        assert_eq!(read, Reading::SourceDown { why }, "{name}");
    }
    let why = "http://127.0.0.1:1/metrics: nothing listens at 127.0.0.1:1 (connection refused)";
    let why = why.to_owned();
    let nobody = ask(&source, "a{page=\"nobody\"} or vector(0)").await;
    assert_eq!(nobody, Reading::SourceDown { why });
    assert_eq!(ask(&source, "sum(up)").await, Reading::Value(2.0));
    assert_eq!(ask(&source, "count(up)").await, Reading::Value(17.0));
    source.stop().await;
}

#[tokio::test]
async fn a_page_is_asked_for_as_the_document_says_and_no_secret_comes_back() {
    let server = Pages::start().await;
    server.put("good", page(OPEN_METRICS, "a 1\n# EOF\n"));
    let told = [("location", "/?token=hunter22")];
    server.put("telltale", reply("302 Found", &told, ""));
    let mut spec = spec(&[
        ("good", server.url("good")),
        ("telltale", server.url("telltale")),
    ]);
    let token = SecretText::new("${secret:TOKEN}");
    spec.access = Access {
        auth: Some(Auth::Bearer(BearerToken::Token(token))),
        headers: BTreeMap::from([("X-Scope".to_owned(), SecretText::new("shop"))]),
        tls: None,
    };
    let source = started(spec).await;
    assert_eq!(ask(&source, "a{page=\"good\"}").await, Reading::Value(1.0));
    let heads = server.heads();
    let head = heads.iter().find(|head| head.starts_with("GET /good "));
    let head = head.expect("it was asked for").to_lowercase();
    for line in [
        "accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        "accept-encoding: identity",
        "x-prometheus-scrape-timeout-seconds: 3",
        "authorization: bearer hunter22",
        "x-scope: shop",
    ] {
        assert!(head.lines().any(|found| found == line), "{line} in {head}");
    }
    let Reading::SourceDown { why } = ask(&source, "a{page=\"telltale\"}").await else {
        panic!("no redirect is followed");
    };
    assert!(why.contains("it redirects to /?token="), "{why}");
    assert!(!why.contains("hunter22"), "{why}");
    source.stop().await;
}

#[tokio::test]
async fn a_kept_connection_that_is_closed_as_it_is_used_again_is_no_lost_page() {
    let asked = AtomicUsize::new(0);
    let text = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\na 1\n";
    let server = Server::start(move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        1 => Answer::Cut(Vec::new()),
        _ => Answer::Bytes(text.to_vec()),
    })
    .await;
    let mut spec = spec(&[("one", server.url.clone())]);
    spec.every = Span::from_millis(100);
    let source = started(spec).await;
    // From now on every sample is kept.
    let worst = "min(min_over_time(up[1m]))";
    assert_eq!(ask(&source, worst).await, Reading::Value(1.0));
    let give_up = Instant::now() + PATIENCE.as_duration();
    while server.requests().len() < 5 {
        assert!(Instant::now() < give_up, "the page is no longer read");
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(server.connections(), 2);
    assert_eq!(ask(&source, worst).await, Reading::Value(1.0));
    source.stop().await;
}

#[tokio::test]
async fn a_page_that_changes_is_followed() {
    let server = Pages::start().await;
    server.put("one", page(TEXT, "total 0\nold 1\n"));
    let mut spec = spec(&[("one", server.url("one"))]);
    spec.every = Span::from_millis(100);
    let source = started(spec).await;
    assert_eq!(ask(&source, "old").await, Reading::Value(1.0));
    server.put("one", page(OPEN_METRICS, "total 1e9\nnew 2\n# EOF\n"));
    let give_up = Instant::now() + PATIENCE.as_duration();
    while ask(&source, "new").await != Reading::Value(2.0) {
        assert!(Instant::now() < give_up, "the new page is never seen");
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(ask(&source, "old").await.value(), None);
    let rate = ask(&source, "rate(total[2s])").await.value();
    assert!(rate.is_some_and(|rate| rate > 1e8), "{rate:?}");
    source.stop().await;
}

#[test]
fn pages_whose_series_could_not_be_told_apart_are_refused() {
    let one = ("a", "http://shop/metrics".to_owned());
    let refused = |spec| made(spec).err().map(|problem| problem.message);
    assert_eq!(
        refused(spec(&[one.clone(), one.clone()])).as_deref(),
        Some("the series of `http://shop/metrics` could not be told from those of another target")
    );
    assert_eq!(refused(spec(&[one.clone(), ("b", one.1.clone())])), None);
    for (url, why) in [
        ("shop:80/metrics", "`shop:80/metrics` is no http address"),
        (
            "nowhere",
            "`nowhere` is no URL: relative URL without a base",
        ),
        (
            "http://me:secret@shop/",
            "the URL of the page at shop holds credentials",
        ),
    ] {
        assert_eq!(
            refused(spec(&[("a", url.to_owned())])).as_deref(),
            Some(why)
        );
    }
    let mut odd = spec(&[one]);
    odd.targets[0]
        .labels
        .insert("__name__".to_owned(), "x".to_owned());
    assert_eq!(
        refused(odd).as_deref(),
        Some("`__name__` is no label that a page's series can get")
    );
}

/// Pages on which we and Prometheus must agree: both read them, to the same samples, or neither does.
const AGREED: &[(&str, &str)] = &[
    (TEXT, "a 1"),
    (
        TEXT,
        "a 1\n \n# a comment\n#TYPE x y\n # TYPE a gauge\na\t{ b = \"c\" , } \t2 \n",
    ),
    (TEXT, "a 1\na 2\n"),
    (TEXT, "a{b=\"c\"}1\n"),
    (TEXT, "# HELP\n# HELP a\na 1\n"),
    (TEXT, "# TYPE a gauge \na 1\n"),
    (TEXT, "a infinit\n"),
    (TEXT, "a -NaN\n"),
    (TEXT, "{__name__=\"a\"} 1\n"),
    (TEXT, "a{__name__=\"b\"} 1\n"),
    (TEXT, "a{b=\"x\\\"y\\\\z\\nw\\q,}\"} 1e3\n"),
    (TEXT, "a{} 1\na{b=\"\"} 2\n"),
    (TEXT, "# TYPE a b\na 1\n"),
    (TEXT, "# TYPE\na 1\n"),
    (TEXT, "a +1.5\nb .5\nc 1.\nd -0\ne 1E-2\n"),
    (TEXT, "a 0x10\n"),
    (TEXT, "a 1_0\n"),
    (TEXT, "a 1e999\n"),
    (TEXT, "a\n"),
    (TEXT, "a one\n"),
    (TEXT, "a 1 2 3\n"),
    (TEXT, "a 1 2.5\n"),
    (TEXT, "a{b=\"c\"\n"),
    (TEXT, "a{b=\"1\",b=\"2\"} 1\n"),
    (TEXT, "a{b=c} 1\n"),
    (TEXT, "a{b} 1\n"),
    (TEXT, "a{,} 1\n"),
    (TEXT, "a{b:c=\"1\"} 1\n"),
    (TEXT, "1a 1\n"),
    (TEXT, "a:b_c 1\n"),
    (TEXT, "a 1\r\n"),
    (TEXT, "<html></html>\n"),
    ("application/octet-stream", "a 1\n"),
    (OPEN_METRICS, "a 1\n# EOF\n"),
    (OPEN_METRICS, "a 1\n# EOF"),
    (OPEN_METRICS, "a 1\n"),
    (OPEN_METRICS, "a 1\n\n# EOF\n"),
    (OPEN_METRICS, "# a comment\na 1\n# EOF\n"),
    (OPEN_METRICS, "# EOF\na 1\n"),
    (OPEN_METRICS, "a  1\n# EOF\n"),
    (OPEN_METRICS, "a{b=\"c\"}1\n# EOF\n"),
    (OPEN_METRICS, "a{ b=\"c\"} 1\n# EOF\n"),
    (OPEN_METRICS, "# TYPE a untyped\na 1\n# EOF\n"),
    (
        OPEN_METRICS,
        "# TYPE a unknown\n# HELP a It.\n# UNIT a \na 1\n# EOF\n",
    ),
    (
        OPEN_METRICS,
        "# UNIT a_seconds seconds\na_seconds 1\n# EOF\n",
    ),
    (OPEN_METRICS, "# UNIT a_seconds bytes\na_seconds 1\n# EOF\n"),
    (
        OPEN_METRICS,
        "a_bucket{le=\"1.0\"} 1 # {trace=\"x\"} 0.5\na_count 1\na_created 5.5\n# EOF\n",
    ),
    (
        OPEN_METRICS,
        "a_bucket{le=\"1.0\"} 1 # {trace=\"x\"} 0.5 123.4\n# EOF\n",
    ),
    (OPEN_METRICS, "a_total 1 # {trace=\"x\"}\n# EOF\n"),
    (OPEN_METRICS, "a 1 NaN\n# EOF\n"),
];

/// Pages that are good by the format, and that Prometheus 2.42 refuses all the same.
const READ_BY_US: &[(&str, &str)] = &[(TEXT, " a 1\n"), (TEXT, "\ta 1\n"), (TEXT, "a 1 -5\n")];

/// Pages that the format forbids, and that Prometheus 2.42 reads all the same.
const REFUSED_BY_US: &[(&str, &str)] = &[
    (TEXT, "a{b=\"1\" c=\"2\"} 1\n"),
    (TEXT, "a{b=\"x\ny\"} 1\n"),
    (TEXT, "a 1\n\0b 1\n"),
];

/// What a source makes of a page: whether it is up, how many samples it has, and their sum.
type Made = (bool, Option<f64>, Option<f64>);

fn questions(name: &str) -> [String; 3] {
    let samples = format!("{{page=\"{name}\",__name__!~\"up|scrape_.*\"}}");
    [
        format!("up{{page=\"{name}\"}}"),
        format!("count({samples})"),
        format!("sum({samples})"),
    ]
}

async fn made_by_us(source: &Arc<dyn MetricSource>, name: &str) -> Made {
    let [up, count, sum] = questions(name);
    let up = ask(source, &up).await.value();
    let others = (ask(source, &count).await, ask(source, &sum).await);
    (up == Some(1.0), others.0.value(), others.1.value())
}

async fn made_by_prometheus(server: &Prometheus, name: &str) -> Made {
    let mut answers = Vec::new();
    for question in questions(name) {
        let value = &server.query(&question, None).await["result"][0]["value"][1];
        answers.push(value.as_str().and_then(|number| number.parse().ok()));
    }
    (answers[0] == Some(1.0), answers[1], answers[2])
}

#[tokio::test]
async fn every_page_is_read_or_refused_as_prometheus_does() {
    if is_missing() {
        return;
    }
    let server = Pages::start().await;
    let all = AGREED.iter().chain(READ_BY_US).chain(REFUSED_BY_US);
    let names: Vec<_> = (0..all.clone().count())
        .map(|number| format!("p{number}"))
        .collect();
    let mut targets = Vec::new();
    let mut jobs = String::new();
    for (name, (kind, body)) in names.iter().zip(all.clone()) {
        server.put(name, page(kind, body));
        targets.push((name.as_str(), server.url(name)));
        jobs.push_str(&format!(
            "- {{job_name: {name}, metrics_path: /{name}, static_configs: [{{targets: ['{}'], labels: {{page: {name}}}}}]}}\n",
            server.address()
        ));
    }
    let real = Prometheus::start(&jobs).await;
    let give_up = Instant::now() + Duration::from_secs(20);
    let expected = Value::from(names.len().to_string());
    while real.query("count(up)", None).await["result"][0]["value"][1] != expected {
        assert!(
            Instant::now() < give_up,
            "prometheus does not read every page"
        );
        sleep(Duration::from_millis(100)).await;
    }
    let source = started(spec(&targets)).await;
    let mut differences = Vec::new();
    for ((name, (_, body)), index) in names.iter().zip(all).zip(0..) {
        let ours = made_by_us(&source, name).await;
        let theirs = made_by_prometheus(&real, name).await;
        let refused = AGREED.len() + READ_BY_US.len();
        let as_agreed = match index {
            index if index < AGREED.len() => ours == theirs,
            index => (ours.0, theirs.0) == (index < refused, index >= refused),
        };
        if !as_agreed {
            differences.push(format!("{body:?}: we {ours:?}, prometheus {theirs:?}"));
        }
    }
    source.stop().await;
    assert_eq!(differences, Vec::<String>::new());
}

#[tokio::test]
async fn the_page_of_the_sandbox_says_the_same_to_prometheus_and_to_us() {
    if is_missing() {
        return;
    }
    let bench = Bench::start(AppVersion::Fixed).await;
    bench.orders(5).await;
    let app = bench.sandbox.app_url();
    let address = app.trim_start_matches("http://");
    let real = Prometheus::start(&format!(
        "- {{job_name: app, static_configs: [{{targets: ['{address}']}}]}}"
    ))
    .await;
    let source = started(spec(&[("app", format!("{app}/metrics"))])).await;
    let query = "sum(http_request_duration_seconds_bucket{le=\"+Inf\"}) + sum(http_requests_total{code=\"202\"})";
    let give_up = Instant::now() + Duration::from_secs(20);
    let theirs = loop {
        let value = real.query(query, None).await["result"][0]["value"][1].clone();
        if let Some(value) = value.as_str() {
            break value.parse().ok();
        }
        assert!(
            Instant::now() < give_up,
            "prometheus does not read the page"
        );
        sleep(Duration::from_millis(100)).await;
    };
    assert_eq!(ask(&source, query).await.value(), theirs);
    assert_eq!(theirs, Some(10.0));
    source.stop().await;
}
