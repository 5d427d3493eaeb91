//! Asks both, and says where they differ.

use std::collections::BTreeMap;

use chaos_gameday::clients::Clients;
use chaos_gameday::metrics::promql::{self, Value};
use chaos_gameday::metrics::series::{Labels, SeriesStore};
use futures_util::stream::{self, StreamExt};
use serde_json::Value as Json;

/// Relative, and for differences of nearly equal numbers absolute.
const TOLERANCE: f64 = 1e-9;

/// How many queries are under way at once.
const AT_ONCE: usize = 8;

/// Instants at equal distances: the server answers about all of them in one go, each as by itself.
#[derive(Debug, Clone, Copy)]
pub struct Instants {
    pub first_ms: i64,
    pub step_ms: i64,
    pub count: i64,
}

impl Instants {
    fn each(self) -> impl Iterator<Item = i64> {
        (0..self.count).map(move |index| self.first_ms + index * self.step_ms)
    }
}

/// Numbers by instant and labels, a scalar's without labels; `Err`: it is refused at some instant.
type Answer = Result<BTreeMap<(i64, Labels), f64>, String>;

pub struct Judge {
    server: String,
    clients: Clients,
    store: SeriesStore,
}

/// What came of a comparison.
#[derive(Default)]
pub struct Verdict {
    pub differences: Vec<String>,
    asked: usize,
    empty: usize,
    refused: usize,
}

impl Verdict {
    /// How many were answered with at least one number.
    pub fn with_values(&self) -> usize {
        self.asked - self.empty - self.refused
    }

    /// Two that always answer with nothing would agree too.
    pub fn assert_worthwhile(&self) {
        let with_values = self.with_values();
        let counts = format!(
            "{} asked, {with_values} with values, {} empty, {} refused",
            self.asked, self.empty, self.refused
        );
        assert!(with_values * 2 > self.asked, "{counts}");
        assert!(self.refused > 0, "{counts}");
    }
}

impl Judge {
    pub fn new(server: &str, store: SeriesStore) -> Self {
        Self {
            server: server.to_owned(),
            clients: Clients::new().expect("clients"),
            store,
        }
    }

    /// Every expression at every instant.
    pub async fn compare(&self, expressions: &[String], instants: &[Instants]) -> Verdict {
        let pairs = expressions
            .iter()
            .flat_map(|expression| instants.iter().map(move |instants| (expression, *instants)));
        let answers = stream::iter(pairs).map(|(expression, instants)| async move {
            let theirs = self.theirs(expression, instants).await;
            (expression, self.ours(expression, instants), theirs)
        });
        let mut answers = answers.buffer_unordered(AT_ONCE);
        let mut verdict = Verdict::default();
        while let Some((expression, ours, theirs)) = answers.next().await {
            verdict.asked += 1;
            match &theirs {
                Err(_) => verdict.refused += 1,
                Ok(numbers) if numbers.is_empty() => verdict.empty += 1,
                Ok(_) => {}
            }
            if !are_same(&ours, &theirs) {
                let line = format!("{expression}:\n  ours {ours:?}\n  theirs {theirs:?}");
                verdict.differences.push(line);
            }
        }
        verdict
    }

    fn ours(&self, expression: &str, instants: Instants) -> Answer {
        let read = promql::parse(expression).map_err(|why| why.problem.message)?;
        let mut numbers = BTreeMap::new();
        for at_ms in instants.each() {
            let value = promql::evaluate(&read, &self.store, at_ms);
            let samples = match value.map_err(|why| why.message)? {
                Value::Scalar(value) => vec![(Labels::new(), value)],
                Value::Vector(samples) => samples,
            };
            let dated = samples.into_iter();
            numbers.extend(dated.map(|(labels, value)| ((at_ms, labels), value)));
        }
        Ok(numbers)
    }

    async fn theirs(&self, expression: &str, instants: Instants) -> Answer {
        let last_ms = instants.each().last().expect("an instant");
        let address = format!("{}/api/v1/query_range", self.server);
        let mut url = url::Url::parse(&address).expect("a URL");
        url.query_pairs_mut()
            .append_pair("query", expression)
            .append_pair("start", &seconds(instants.first_ms))
            .append_pair("end", &seconds(last_ms))
            .append_pair("step", &seconds(instants.step_ms));
        let request = self.clients.http(url.as_str()).get(url.as_str());
        let answer = request.send().await.expect("an answer");
        let body: Json = answer.json().await.expect("JSON");
        if body["status"] != "success" {
            return Err(body["error"].to_string());
        }
        let mut numbers = BTreeMap::new();
        for series in body["data"]["result"].as_array().expect("a list") {
            let labels: Labels = serde_json::from_value(series["metric"].clone()).expect("labels");
            for point in series["values"].as_array().expect("a list") {
                let at_ms = point[0].as_f64().expect("a time") * 1_000.0;
                numbers.insert((at_ms.round() as i64, labels.clone()), number(&point[1]));
            }
        }
        Ok(numbers)
    }
}

fn seconds(milliseconds: i64) -> String {
    format!("{}.{:03}", milliseconds / 1_000, milliseconds % 1_000)
}

fn number(text: &Json) -> f64 {
    let text = text.as_str().expect("a number as text");
    text.parse().expect("a number")
}

fn are_same(ours: &Answer, theirs: &Answer) -> bool {
    match (ours, theirs) {
        (Err(_), Err(_)) => true,
        (Ok(ours), Ok(theirs)) => {
            let mut pairs = ours.values().zip(theirs.values());
            ours.keys().eq(theirs.keys()) && pairs.all(|(ours, theirs)| are_near(*ours, *theirs))
        }
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

fn are_near(ours: f64, theirs: f64) -> bool {
    let largest = ours.abs().max(theirs.abs()).max(1e-3);
    ours == theirs
        || (ours.is_nan() && theirs.is_nan())
        || (ours - theirs).abs() <= TOLERANCE * largest
}
