//! Looks at what listens there, by reading only: is it a LocalStack, which instance, has it the Chaos
//! API, and what do others have in place. Nothing may be written before this has gone well.

use serde_json::Value;

use super::answer::{Answer, Body};
use super::api::{ChaosApi, EFFECTS, FAULTS, HEALTH, INFO, LICENCE};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::request::WorldIdentity;

/// The name of the Chaos API among a licence's plug-ins.
const CHAOS_PLUGIN: &str = "localstack.platform.plugin/chaos";

/// What stands there before anything of ours.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Survey {
    pub(super) world: WorldIdentity,
    /// The services that the health page lists, with their state.
    pub(super) services: Vec<(String, String)>,
    /// Every rule in place, in list order.
    pub(super) rules: Vec<Value>,
    /// The latency in place; or why there is no telling.
    pub(super) latency_ms: Result<u64, Problem>,
}

/// What the info page tells.
#[derive(Debug, Clone, Default, PartialEq)]
struct Info {
    session: Option<String>,
    licensed: Option<bool>,
}

impl Survey {
    pub(super) async fn take(api: &ChaosApi<'_>) -> Result<Self, Problem> {
        let health = health(api).await?;
        let info = info(api).await?;
        let rules = match rules(api).await {
            Err(problem) if problem.kind == ProblemKind::Absent => {
                return Err(why_absent(api, &info).await);
            }
            other => other?,
        };
        let latency_ms = match latency(api).await {
            Err(problem) if problem.kind == ProblemKind::Unreachable => return Err(problem),
            other => other,
        };
        Ok(Self {
            world: WorldIdentity {
                platform: "localstack".to_owned(),
                endpoint: api.endpoint().to_owned(),
                session: info.session,
                version: health.version,
                edition: health.edition,
            },
            services: health.services,
            rules,
            latency_ms,
        })
    }
}

struct Health {
    services: Vec<(String, String)>,
    version: String,
    edition: String,
}

/// The body decides; proxies strip LocalStack's own header.
async fn health(api: &ChaosApi<'_>) -> Result<Health, Problem> {
    let answer = api.get(HEALTH).await.answer?;
    let stranger = |problem: Problem| match &answer.body {
        Body::S3Error(code) => Problem::new(
            ProblemKind::Unexpected,
            format!(
                "{} is no LocalStack: it answers like S3 (`{code}`), as moto and AWS itself do",
                api.endpoint()
            ),
        )
        .hint("nothing was written; point `on.localstack.endpoint` at a LocalStack"),
        Body::WebPage | Body::Xml | Body::Garbage | Body::TooLong if answer.status == 200 => {
            Problem::new(
                ProblemKind::Unexpected,
                format!("{} is no LocalStack: {}", api.endpoint(), problem.message),
            )
            .hint("nothing was written; point `on.localstack.endpoint` at a LocalStack")
        }
        Body::Empty | Body::Json(_) | Body::WebPage | Body::Xml | Body::Garbage | Body::TooLong => {
            problem
        }
    };
    let what = format!("the health page {}{HEALTH}", api.endpoint());
    let Some(page) = answer.good_json() else {
        return Err(stranger(answer.problem(&what)));
    };
    let (Some(services), Some(version)) = (page["services"].as_object(), page["version"].as_str())
    else {
        return Err(Problem::new(
            ProblemKind::Unexpected,
            format!(
                "{} is no LocalStack: its health page is JSON without `services` and `version`",
                api.endpoint()
            ),
        )
        .hint("nothing was written; point `on.localstack.endpoint` at a LocalStack"));
    };
    let state = |state: &Value| state.as_str().unwrap_or("unknown").to_owned();
    Ok(Health {
        services: services
            .iter()
            .map(|(name, value)| (name.clone(), state(value)))
            .collect(),
        version: version.to_owned(),
        edition: page["edition"].as_str().unwrap_or("unknown").to_owned(),
    })
}

/// The instance's `session_id`, where it has one.
pub(super) async fn session(api: &ChaosApi<'_>) -> Result<Option<String>, Problem> {
    Ok(info(api).await?.session)
}

/// The info page; older versions lack it, so only silence is a problem.
async fn info(api: &ChaosApi<'_>) -> Result<Info, Problem> {
    let answer = api.get(INFO).await.answer?;
    let Some(page) = answer.good_json() else {
        return Ok(Info::default());
    };
    let session = page["session_id"].as_str().filter(|text| !text.is_empty());
    Ok(Info {
        session: session.map(ToOwned::to_owned),
        licensed: page["is_license_activated"].as_bool(),
    })
}

/// The rules in place.
pub(super) async fn rules(api: &ChaosApi<'_>) -> Result<Vec<Value>, Problem> {
    read_rules(api.endpoint(), &api.get(FAULTS).await.answer?)
}

/// The rules that an answer lists.
pub(super) fn read_rules(endpoint: &str, answer: &Answer) -> Result<Vec<Value>, Problem> {
    let what = format!("the list of faults {endpoint}{FAULTS}");
    if answer.status == 404 {
        return Err(Problem::new(
            ProblemKind::Absent,
            format!("the LocalStack at {endpoint} has no Chaos API (404 for {FAULTS})"),
        )
        .hint("the Chaos API needs a LocalStack image and a licence that include it; `chaos sandbox` practises without"));
    }
    match answer.good_json() {
        Some(Value::Array(rules)) if rules.iter().all(Value::is_object) => Ok(rules.clone()),
        Some(_) => Err(Problem::new(
            ProblemKind::Unexpected,
            format!("{what} is JSON, but no list of rules"),
        )
        .hint("this LocalStack's Chaos API is of another version than the contract's")),
        None => Err(answer.problem(&what)),
    }
}

/// The latency in place, in milliseconds.
pub(super) async fn latency(api: &ChaosApi<'_>) -> Result<u64, Problem> {
    read_latency(api.endpoint(), &api.get(EFFECTS).await.answer?)
}

/// The latency that an answer tells.
pub(super) fn read_latency(endpoint: &str, answer: &Answer) -> Result<u64, Problem> {
    let what = format!("the network effects {endpoint}{EFFECTS}");
    let Some(page) = answer.good_json() else {
        return Err(match answer.status {
            404 => Problem::new(
                ProblemKind::Absent,
                format!("the LocalStack at {endpoint} has no network effects (404 for {EFFECTS})"),
            )
            .hint("latency needs a newer LocalStack; rules alone work without"),
            _ => answer.problem(&what),
        });
    };
    page["latency"].as_u64().ok_or_else(|| {
        Problem::new(
            ProblemKind::Unexpected,
            format!("{what} are JSON without a whole number of milliseconds as `latency`"),
        )
        .hint("this LocalStack's Chaos API is of another version than the contract's")
    })
}

/// Words a missing Chaos API by what the server says of its licence; the words change, the verdict not.
async fn why_absent(api: &ChaosApi<'_>, info: &Info) -> Problem {
    let plugins = api.get(LICENCE).await.answer.ok().and_then(|answer| {
        let page = answer.good_json()?;
        page["available_plugins"].as_array().cloned()
    });
    let covered = plugins.map(|plugins| plugins.iter().any(|name| name == CHAOS_PLUGIN));
    let (why, hint) = match (covered, info.licensed) {
        (Some(true), _) => (
            "although its licence covers it",
            "is it the LocalStack Pro image, and recent? Its own log tells what it loaded",
        ),
        (Some(false), _) => (
            "since its licence does not cover it",
            "ask for a plan or an add-on with the Chaos API; `chaos sandbox` practises without",
        ),
        (None, Some(false)) => (
            "and no licence is activated",
            "start the LocalStack Pro image with LOCALSTACK_AUTH_TOKEN set; `chaos sandbox` practises without",
        ),
        (None, Some(true)) => (
            "although a licence is activated: most likely the plan does not include it",
            "ask for a plan or an add-on with the Chaos API; `chaos sandbox` practises without",
        ),
        (None, None) => (
            "as the freely available LocalStack has none",
            "it needs the LocalStack Pro image and a licence that covers it; `chaos sandbox` practises without",
        ),
    };
    Problem::new(
        ProblemKind::Absent,
        format!(
            "the LocalStack at {} has no Chaos API, {why}",
            api.endpoint()
        ),
    )
    .hint(hint)
}
