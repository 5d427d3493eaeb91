//! The recorded inverse of a fault, durable before the fault is injected.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chaos_mesh::ChaosMeshUndo;

/// Everything that is needed to put one step's fault in and to take it out again, without the
/// experiment, the plan or the process that made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Undo {
    /// Rules and latency on a LocalStack.
    LocalStack(LocalStackUndo),
    /// A Chaos Mesh object.
    ChaosMesh(ChaosMeshUndo),
    /// A scripted world in tests and simulations.
    Simulated(SimulatedUndo),
}

/// What was about to be changed on a LocalStack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalStackUndo {
    /// Base URL, no trailing slash.
    pub endpoint: String,
    /// `session_id` of `/_localstack/info` before the fault; `None`: the server has none, so a
    /// restart cannot be noticed.
    pub session: Option<String>,
    /// Our rules, exactly as sent with PATCH; DELETE takes back these and no others.
    pub rules: Vec<Value>,
    /// What stood there before, others' rules, in list order.
    pub foreign: Vec<Value>,
    /// The one global latency, when the step sets it.
    pub latency: Option<LatencyUndo>,
}

/// The latency that a step sets and the one that it found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LatencyUndo {
    /// Milliseconds that we set.
    pub set_ms: u64,
    /// Milliseconds that were there before, put back only where ours still stands.
    pub former_ms: u64,
}

/// The fault of a scripted world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SimulatedUndo {
    /// Which of the scripted faults.
    pub fault: String,
}

impl Undo {
    /// The exact commands that undo it by hand if this tool vanished, one a line.
    pub fn by_hand(&self) -> Vec<String> {
        match self {
            Self::LocalStack(undo) => undo.by_hand(),
            Self::ChaosMesh(undo) => undo.by_hand(),
            Self::Simulated(undo) => vec![format!("undo {}", undo.fault)],
        }
    }

    /// The commands that show what is in place, one a line; they change nothing.
    pub fn look_by_hand(&self) -> Vec<String> {
        match self {
            Self::LocalStack(undo) => undo.look_by_hand(),
            Self::ChaosMesh(undo) => undo.look_by_hand(),
            Self::Simulated(undo) => vec![format!("look at {}", undo.fault)],
        }
    }

    /// What those commands show once it is gone, one sentence for each.
    pub fn gone_by_hand(&self) -> Vec<String> {
        match self {
            Self::LocalStack(undo) => undo.gone_by_hand(),
            Self::ChaosMesh(undo) => undo.gone_by_hand(),
            Self::Simulated(undo) => vec![format!("no {}", undo.fault)],
        }
    }

    /// What becomes of the fault where the process that put it in dies.
    pub fn left_alone(&self) -> &'static str {
        match self {
            Self::LocalStack(_) => {
                "the run's guardian, a process of its own, takes the fault out; if that is lost too it stays in, as LocalStack has no time limit, until somebody undoes it or LocalStack itself restarts, which takes others' rules too"
            }
            Self::ChaosMesh(undo) if undo.one_shot => {
                "what the fault did is done; the run's guardian, a process of its own, deletes its object"
            }
            Self::ChaosMesh(_) => {
                "the run's guardian, a process of its own, takes the fault out; if that is lost too, Chaos Mesh ends it when the duration of its object is over, and the object stays until somebody deletes it"
            }
            Self::Simulated(_) => "the fault stays in",
        }
    }

    /// Where it is in place; `None`: nowhere that has an address.
    pub fn endpoint(&self) -> Option<&str> {
        match self {
            Self::LocalStack(undo) => Some(&undo.endpoint),
            Self::ChaosMesh(undo) => Some(&undo.server),
            Self::Simulated(_) => None,
        }
    }

    /// One line for a person: what is in place.
    pub fn summary(&self) -> String {
        match self {
            Self::LocalStack(undo) => undo.summary(),
            Self::ChaosMesh(undo) => undo.summary(),
            Self::Simulated(undo) => undo.fault.clone(),
        }
    }
}

impl LocalStackUndo {
    fn by_hand(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.rules.is_empty() {
            let body = Value::Array(self.rules.clone()).to_string();
            lines.push(format!(
                "curl -X DELETE {} -H 'Content-Type: application/json' -d {}",
                shell_word(&format!("{}/_localstack/chaos/faults", self.endpoint)),
                shell_quoted(&body)
            ));
        }
        if let Some(latency) = self.latency {
            lines.push(format!(
                "curl -X POST {} -H 'Content-Type: application/json' -d '{{\"latency\":{}}}'",
                shell_word(&format!("{}/_localstack/chaos/effects", self.endpoint)),
                latency.former_ms
            ));
        }
        lines
    }

    fn look_by_hand(&self) -> Vec<String> {
        let page = |name: &str| {
            let url = format!("{}/_localstack/chaos/{name}", self.endpoint);
            format!("curl -s {}", shell_word(&url))
        };
        let faults = (!self.rules.is_empty()).then(|| page("faults"));
        let effects = self.latency.map(|_| page("effects"));
        faults.into_iter().chain(effects).collect()
    }

    fn gone_by_hand(&self) -> Vec<String> {
        let tags = self
            .rules
            .iter()
            .filter_map(|rule| rule["description"].as_str());
        let tag = tags
            .take(1)
            .map(|tag| format!("no rule has the description `{tag}`"));
        let latency = self
            .latency
            .map(|latency| format!("`latency` is {}, as it was before", latency.former_ms));
        tag.chain(latency).collect()
    }

    fn summary(&self) -> String {
        let mut parts = Vec::new();
        if !self.rules.is_empty() {
            let noun = if self.rules.len() == 1 {
                "rule"
            } else {
                "rules"
            };
            parts.push(format!("{} {noun}", self.rules.len()));
        }
        if let Some(latency) = self.latency {
            parts.push(format!("{} ms latency", latency.set_ms));
        }
        format!("{} on {}", parts.join(" and "), self.endpoint)
    }
}

/// The text as it is where no shell would touch it, quoted where one would: the endpoint comes from a
/// document, and a person pastes these lines.
pub(super) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._/:@%+".contains(c);
    if text.chars().all(plain) {
        return text.to_owned();
    }
    shell_quoted(text)
}

/// A word that every POSIX shell reads back unchanged.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn undo(endpoint: &str) -> Undo {
        Undo::LocalStack(LocalStackUndo {
            endpoint: endpoint.to_owned(),
            session: None,
            rules: vec![json!({"description": "it's ours"})],
            foreign: Vec::new(),
            latency: Some(LatencyUndo {
                set_ms: 800,
                former_ms: 5,
            }),
        })
    }

    #[test]
    fn the_commands_by_hand_survive_a_shell() {
        assert_eq!(
            undo("http://127.0.0.1:4566").by_hand(),
            [
                r#"curl -X DELETE http://127.0.0.1:4566/_localstack/chaos/faults -H 'Content-Type: application/json' -d '[{"description":"it'\''s ours"}]'"#,
                r#"curl -X POST http://127.0.0.1:4566/_localstack/chaos/effects -H 'Content-Type: application/json' -d '{"latency":5}'"#,
            ]
        );
        let lines = undo("http://h/$(reboot)").by_hand();
        assert!(lines[0].starts_with("curl -X DELETE 'http://h/$(reboot)/_localstack"));
    }

    #[test]
    fn the_summary_counts() {
        let undo = undo("http://h");
        assert_eq!(undo.summary(), "1 rule and 800 ms latency on http://h");
    }
}
