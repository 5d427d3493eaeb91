//! The services behind the edge: one stream, one table, metrics by name. All in memory, all bounded.
//!
//! Bounds: the stream holds at most 20,000 unread records and 32 MiB of them (then it throttles, as
//! a full shard does; records before the furthest iterator asked for count as read and are let go);
//! the table keeps the 10,000 items written last; 1,000 different metrics.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::rules::Call;

/// The name of the only stream and the only table.
pub(super) const ORDERS: &str = "orders";
const SHARD: &str = "shardId-000000000000";
const MOST_RECORDS: usize = 20_000;
const MOST_RECORD_BYTES: usize = 32 << 20;
const MOST_ITEMS: usize = 10_000;
const MOST_METRICS: usize = 1_000;
/// What a GetRecords without a limit gets at most.
const DEFAULT_LIMIT: u64 = 500;

/// An error of an AWS service.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AwsError {
    pub(super) status: u16,
    pub(super) code: String,
    pub(super) message: String,
}

impl AwsError {
    fn sender(code: &str, message: impl Into<String>) -> Self {
        Self {
            status: 400,
            code: code.to_owned(),
            message: message.into(),
        }
    }
}

/// Everything that the services remember.
#[derive(Default)]
pub(super) struct Stores {
    stream: Stream,
    table: Table,
    metrics: BTreeMap<(String, String), Sum>,
}

impl Stores {
    /// Executes one call with its JSON body.
    pub(super) fn execute(&mut self, call: &Call, body: &[u8]) -> Result<Value, AwsError> {
        let operation = call.operation.as_deref().unwrap_or_default();
        let run = match (call.service.as_str(), operation) {
            ("kinesis", "PutRecord") => Self::put_record,
            ("kinesis", "GetRecords") => Self::get_records,
            ("dynamodb", "PutItem") => Self::put_item,
            ("dynamodb", "GetItem") => Self::get_item,
            ("dynamodb", "Scan") => Self::scan,
            ("cloudwatch", "PutMetricData") => Self::put_metric_data,
            ("cloudwatch", "GetMetricStatistics") => Self::get_metric_statistics,
            (service, operation) => {
                return Err(AwsError {
                    status: 501,
                    code: "InternalFailure".to_owned(),
                    message: format!("the sandbox has no operation '{operation}' of '{service}'"),
                });
            }
        };
        let body: Value = serde_json::from_slice(body).map_err(|why| {
            AwsError::sender(
                "SerializationException",
                format!("the body is no JSON: {why}"),
            )
        })?;
        run(self, &body)
    }

    fn put_record(&mut self, body: &Value) -> Result<Value, AwsError> {
        known(body, "StreamName")?;
        let partition_key = text(body, "PartitionKey")?;
        let sequence = self.stream.append(partition_key, text(body, "Data")?)?;
        Ok(json!({"ShardId": SHARD, "SequenceNumber": sequence.to_string()}))
    }

    fn get_records(&mut self, body: &Value) -> Result<Value, AwsError> {
        let iterator = text(body, "ShardIterator")?;
        let start = iterator
            .strip_prefix(SHARD)
            .and_then(|rest| rest.strip_prefix(':'))
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| {
                let message = format!("'{iterator}' is no iterator of '{ORDERS}'");
                AwsError::sender("InvalidArgumentException", message)
            })?;
        let limit = body["Limit"].as_u64().unwrap_or(DEFAULT_LIMIT);
        Ok(self.stream.read(start, limit))
    }

    fn put_item(&mut self, body: &Value) -> Result<Value, AwsError> {
        known(body, "TableName")?;
        let item = &body["Item"];
        let key = text(&item["id"], "S")?.to_owned();
        self.table.put(key, item.clone());
        Ok(json!({}))
    }

    fn get_item(&mut self, body: &Value) -> Result<Value, AwsError> {
        known(body, "TableName")?;
        let item = self.table.items.get(text(&body["Key"]["id"], "S")?);
        Ok(item.map_or_else(|| json!({}), |item| json!({"Item": item})))
    }

    fn scan(&mut self, body: &Value) -> Result<Value, AwsError> {
        known(body, "TableName")?;
        let limit = body["Limit"].as_u64().unwrap_or(DEFAULT_LIMIT);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let items: Vec<&Value> = self.table.in_order().take(limit).collect();
        Ok(json!({"Count": items.len(), "ScannedCount": items.len(), "Items": items}))
    }

    fn put_metric_data(&mut self, body: &Value) -> Result<Value, AwsError> {
        let namespace = text(body, "Namespace")?;
        let data = body["MetricData"]
            .as_array()
            .ok_or_else(|| missing("MetricData"))?;
        for datum in data {
            let name = (namespace.to_owned(), text(datum, "MetricName")?.to_owned());
            let value = datum["Value"].as_f64().ok_or_else(|| missing("Value"))?;
            if self.metrics.len() >= MOST_METRICS && !self.metrics.contains_key(&name) {
                let message = format!("the sandbox keeps {MOST_METRICS} metrics");
                return Err(AwsError::sender("LimitExceeded", message));
            }
            let sum = self.metrics.entry(name).or_default();
            sum.count += 1;
            sum.total += value;
        }
        Ok(json!({}))
    }

    /// One datapoint since the start: the sandbox has no periods.
    fn get_metric_statistics(&mut self, body: &Value) -> Result<Value, AwsError> {
        let name = text(body, "MetricName")?;
        let sum = self
            .metrics
            .get(&(text(body, "Namespace")?.to_owned(), name.to_owned()));
        let datapoints: Vec<Value> = sum
            .map(|sum| json!({"SampleCount": sum.count, "Sum": sum.total}))
            .into_iter()
            .collect();
        Ok(json!({"Label": name, "Datapoints": datapoints}))
    }
}

#[derive(Default)]
struct Sum {
    count: u64,
    total: f64,
}

struct Record {
    partition_key: String,
    payload: String,
    arrived: Instant,
}

#[derive(Default)]
struct Stream {
    records: VecDeque<Record>,
    /// The sequence number of the oldest record that is still held.
    oldest: u64,
    bytes: usize,
}

impl Stream {
    fn append(&mut self, partition_key: &str, payload: &str) -> Result<u64, AwsError> {
        if self.records.len() >= MOST_RECORDS || self.bytes + payload.len() > MOST_RECORD_BYTES {
            return Err(AwsError::sender(
                "ProvisionedThroughputExceededException",
                format!("{SHARD} of '{ORDERS}' is full of unread records"),
            ));
        }
        self.bytes += payload.len();
        self.records.push_back(Record {
            partition_key: partition_key.to_owned(),
            payload: payload.to_owned(),
            arrived: Instant::now(),
        });
        Ok(self.oldest + self.records.len() as u64 - 1)
    }

    fn read(&mut self, start: u64, limit: u64) -> Value {
        while self.oldest < start {
            let Some(read) = self.records.pop_front() else {
                break;
            };
            self.bytes -= read.payload.len();
            self.oldest += 1;
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let numbered = (self.oldest..).zip(&self.records).take(limit);
        let records: Vec<Value> = numbered
            .map(|(sequence, record)| {
                json!({
                    "SequenceNumber": sequence.to_string(),
                    "PartitionKey": record.partition_key,
                    "Data": record.payload,
                })
            })
            .collect();
        let behind = self.records.get(records.len());
        let behind = behind.map_or(0, |record| record.arrived.elapsed().as_millis());
        json!({
            "NextShardIterator": iterator_at(self.oldest + records.len() as u64),
            "MillisBehindLatest": u64::try_from(behind).unwrap_or(u64::MAX),
            "Records": records,
        })
    }
}

/// The iterator that starts at a sequence number.
pub(super) fn iterator_at(sequence: u64) -> String {
    format!("{SHARD}:{sequence}")
}

#[derive(Default)]
struct Table {
    items: HashMap<String, Value>,
    /// Keys by age, oldest first; one that is written again keeps its place.
    ages: VecDeque<String>,
}

impl Table {
    fn put(&mut self, key: String, item: Value) {
        if self.items.insert(key.clone(), item).is_none() {
            self.ages.push_back(key);
        }
        if self.items.len() > MOST_ITEMS
            && let Some(oldest) = self.ages.pop_front()
        {
            self.items.remove(&oldest);
        }
    }

    fn in_order(&self) -> impl Iterator<Item = &Value> {
        self.ages.iter().filter_map(|key| self.items.get(key))
    }
}

fn text<'a>(body: &'a Value, field: &str) -> Result<&'a str, AwsError> {
    body[field].as_str().ok_or_else(|| missing(field))
}

fn missing(field: &str) -> AwsError {
    let message = format!("'{field}' is missing or of another type");
    AwsError::sender("ValidationException", message)
}

/// Checks that the stream or table is the one there is.
fn known(body: &Value, field: &str) -> Result<(), AwsError> {
    let name = text(body, field)?;
    if name == ORDERS {
        return Ok(());
    }
    let message = format!("there is no '{name}', only '{ORDERS}'");
    Err(AwsError::sender("ResourceNotFoundException", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequences(answer: &Value) -> Vec<&str> {
        let records = answer["Records"].as_array().unwrap();
        records
            .iter()
            .map(|record| record["SequenceNumber"].as_str().unwrap())
            .collect()
    }

    #[test]
    fn an_iterator_gives_what_follows_and_lets_go_of_what_was_read() {
        let mut stream = Stream::default();
        for key in ["a", "b", "c"] {
            stream.append(key, "payload").unwrap();
        }
        let first = stream.read(0, 2);
        assert_eq!(sequences(&first), ["0", "1"]);
        assert_eq!(first["NextShardIterator"], iterator_at(2));
        assert_eq!(sequences(&stream.read(0, 9)), ["0", "1", "2"]);
        assert_eq!(sequences(&stream.read(2, 9)), ["2"]);
        assert_eq!(sequences(&stream.read(0, 9)), ["2"]);
        assert_eq!(stream.bytes, "payload".len());
        // Beyond the newest there is nothing yet, and nothing is skipped.
        assert_eq!(sequences(&stream.read(99, 9)), [""; 0]);
        assert_eq!(stream.append("d", ""), Ok(3));
    }

    #[test]
    fn a_full_stream_throttles_until_it_is_read() {
        let mut stream = Stream::default();
        for _ in 0..MOST_RECORDS {
            stream.append("a", "").unwrap();
        }
        let throttled = stream.append("a", "").unwrap_err();
        assert_eq!(throttled.code, "ProvisionedThroughputExceededException");
        stream.read(1, 1);
        assert_eq!(stream.append("a", ""), Ok(MOST_RECORDS as u64));
        let mut stream = Stream::default();
        let half = "x".repeat(MOST_RECORD_BYTES / 2);
        assert!(stream.append("a", &half).is_ok());
        assert!(stream.append("a", &half).is_ok());
        assert!(stream.append("a", "x").is_err());
    }

    #[test]
    fn a_full_table_lets_go_of_its_oldest_item() {
        let mut table = Table::default();
        for number in 0..=MOST_ITEMS {
            table.put(number.to_string(), json!(number));
        }
        assert_eq!(table.items.len(), MOST_ITEMS);
        assert_eq!(table.in_order().next(), Some(&json!(1)));
    }
}
