//! The experiment that `chaos init` writes.

use crate::model::units::Span;

/// What a name of at most 63 letters has room for.
const LONGEST_SERVICE: usize = 50;

/// A query that Prometheus answers.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedQuery {
    /// Base URL of the Prometheus.
    pub url: String,
    /// PromQL.
    pub query: String,
    /// What its value must be: `< 1%`.
    pub objective: String,
}

/// What a template is filled with.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// DNS label.
    pub name: String,
    /// The claim.
    pub hypothesis: String,
    /// Base URL of the LocalStack.
    pub endpoint: String,
    /// AWS region.
    pub region: String,
    /// AWS service.
    pub service: String,
    /// Operation; `None`: every one.
    pub operation: Option<String>,
    /// Share of the requests that fail.
    pub probability: f64,
    /// What the traffic asks.
    pub traffic: String,
    /// What Prometheus is asked.
    pub asked: Option<AskedQuery>,
    /// How long the fault stays in.
    pub hold: Span,
    environment: &'static str,
}

impl Answers {
    /// The order pipeline of the embedded sandbox, at these base URLs unless variables say otherwise.
    pub fn for_the_sandbox(app_url: &str, aws_url: &str) -> Self {
        Self {
            name: String::new(),
            hypothesis: String::new(),
            endpoint: format!("${{SANDBOX_AWS:-{aws_url}}}"),
            region: "us-east-1".to_owned(),
            service: "kinesis".to_owned(),
            operation: Some("PutRecord".to_owned()),
            probability: 1.0,
            traffic: format!("${{SANDBOX_APP:-{app_url}}}/orders"),
            asked: None,
            hold: Span::from_secs(20),
            environment: "sandbox",
        }
    }

    /// A LocalStack with something of the user's on it.
    pub fn for_localstack(endpoint: &str) -> Self {
        Self {
            endpoint: endpoint.to_owned(),
            service: "sqs".to_owned(),
            operation: None,
            traffic: "http://127.0.0.1:8080/".to_owned(),
            environment: "local",
            ..Self::for_the_sandbox("", "")
        }
    }

    /// Whether it is for the embedded sandbox.
    pub fn is_for_the_sandbox(&self) -> bool {
        self.environment == "sandbox"
    }

    /// The environment that it names.
    pub fn environment(&self) -> &str {
        self.environment
    }

    /// A name for those who have none yet, a DNS label whatever the service is called.
    pub fn default_name(&self) -> String {
        let plain = |letter: char| match letter.to_ascii_lowercase() {
            fits if fits.is_ascii_alphanumeric() => fits,
            _ => '-',
        };
        let service: String = self
            .service
            .chars()
            .map(plain)
            .take(LONGEST_SERVICE)
            .collect();
        format!("{service}-fails").trim_matches('-').to_owned()
    }

    /// A claim for those who have none yet.
    pub fn default_hypothesis(&self) -> String {
        let operation = self.operation.as_deref().unwrap_or("every operation");
        format!(
            "While {} of {} ({operation}) fails, less than 5 % of the requests fail and none takes longer than 2 s.",
            share(self.probability),
            self.service
        )
    }

    fn method(&self) -> &'static str {
        if self.is_for_the_sandbox() {
            "POST"
        } else {
            "GET"
        }
    }
}

fn share(probability: f64) -> String {
    if probability >= 1.0 {
        "all".to_owned()
    } else {
        format!("{} %", probability * 100.0)
    }
}

/// A JSON string is a YAML string: whatever was answered stays one value.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The document.
pub fn text(answers: &Answers) -> String {
    let operation = answers
        .operation
        .as_ref()
        .map_or(String::new(), |operation| {
            format!("operation: {}, ", quoted(operation))
        });
    let prometheus = answers.asked.as_ref().map_or(String::new(), |asked| {
        format!("  prometheus: {{url: {}}}\n", quoted(&asked.url))
    });
    let body = if answers.is_for_the_sandbox() {
        "    body: '{\"item\": \"tea\"}'\n"
    } else {
        ""
    };
    format!(
        "# yaml-language-server: $schema=./chaos-experiment.schema.json
# (`chaos schema > chaos-experiment.schema.json` writes it for your editor)
apiVersion: chaos/v1
kind: Experiment
metadata:
  name: {name}
hypothesis: {hypothesis}
environment: {environment}
on:
  localstack: {{endpoint: {endpoint}, region: {region}}}
metrics:
  traffic:                       # asked while the run lasts, so that there is something to measure
    url: {traffic}
    method: {method}
{body}    rate: 20                     # requests a second
    timeout: 3s
    window: 5s                   # figures are over the last five seconds
{prometheus}slos:
  - name: error-rate
    traffic: errorRate
    objective: \"< 5%\"
    for: 3s                      # a breach must last this long before it ends the run
  - name: slowest-of-100
    traffic: {{latency: p99}}
    objective: \"<= 2s\"
    for: 3s
{query}baseline: {{for: 8s}}             # the SLOs must hold before anything is broken
steps:
  - name: {step}
    fault:
      localstack:
        faults:
          - {{service: {service}, {operation}probability: {probability}, error: {{statusCode: 503, code: ServiceUnavailable}}}}
    hold: {hold}
recovery: {{within: 30s}}         # and again after the undo
",
        name = quoted(&answers.name),
        hypothesis = quoted(&answers.hypothesis),
        environment = answers.environment,
        endpoint = quoted(&answers.endpoint),
        region = quoted(&answers.region),
        traffic = quoted(&answers.traffic),
        method = answers.method(),
        query = answers.asked.as_ref().map_or(String::new(), query_slo),
        step = quoted(&format!("{} fails", answers.service)),
        service = quoted(&answers.service),
        probability = answers.probability,
        hold = answers.hold,
    )
}

fn query_slo(asked: &AskedQuery) -> String {
    format!(
        "  - name: query
    query: {query}
    objective: {objective}
    for: 3s
",
        query = quoted(&asked.query),
        objective = quoted(&asked.objective),
    )
}
