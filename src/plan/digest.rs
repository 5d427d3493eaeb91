//! The digest of a plan, and the file that a plan is kept in.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::resolve::{FORMAT, Plan};
use super::source::YAML_HEAD;
use crate::model::ids::{Digest, PlanId};
use crate::model::problem::{Problem, ProblemKind};

/// A plan with its id and digest, as stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StoredPlan {
    /// `p-` + head of the digest.
    pub id: PlanId,
    /// SHA-256 over the canonical form of `plan`.
    pub digest: Digest,
    /// The plan.
    pub plan: Plan,
}

/// The canonical form of a plan: JSON with sorted keys and no white space.
///
/// # Errors
/// A number that JSON cannot write.
pub fn canonical(plan: &Plan) -> Result<String, Problem> {
    // `serde_json::Value` keeps objects in a sorted map, so going through it sorts the keys.
    serde_json::to_value(plan)
        .map(|value| value.to_string())
        .map_err(|why| {
            Problem::new(
                ProblemKind::Evidence,
                format!("the plan cannot be written as JSON: {why}"),
            )
        })
}

impl StoredPlan {
    /// Locks a plan.
    ///
    /// # Errors
    /// As `canonical`.
    pub fn lock(plan: Plan) -> Result<Self, Problem> {
        let digest = Digest::of(canonical(&plan)?.as_bytes());
        Ok(Self {
            id: PlanId::of(&digest),
            digest,
            plan,
        })
    }

    /// The text of the file.
    ///
    /// # Errors
    /// As `canonical`.
    pub fn to_text(&self) -> Result<String, Problem> {
        let value = serde_json::to_value(self)
            .map_err(|why| Problem::new(ProblemKind::Evidence, why.to_string()))?;
        serde_json::to_string_pretty(&value)
            .map(|text| text + "\n")
            .map_err(|why| Problem::new(ProblemKind::Evidence, why.to_string()))
    }

    /// The same as YAML, for reading; the file is JSON.
    ///
    /// # Errors
    /// As `canonical`.
    pub fn to_yaml(&self) -> Result<String, Problem> {
        super::variables::yaml_of(self).map_err(|why| Problem::new(ProblemKind::Evidence, why))
    }

    /// Whether a file's text is meant to be a plan's, be it a sound one or not: `chaos run` takes
    /// experiments too, and JSON is YAML.
    pub fn is_meant_by(text: &str) -> bool {
        match serde_json::from_str::<Value>(text) {
            Ok(value) => value.get("digest").is_some() && value.get("plan").is_some(),
            // What is cut off or damaged is no JSON any more; its head may still tell.
            Err(_) => {
                text.trim_start_matches('\u{feff}')
                    .trim_start()
                    .starts_with('{')
                    && text.contains("\"digest\": \"sha256:")
            }
        }
    }

    /// Whether a text is what `to_yaml` makes, which is for reading only.
    pub fn is_yaml_of_one(text: &str) -> bool {
        let mut lines = text.lines();
        let mut begins = |word: &str| lines.next().is_some_and(|line| line.starts_with(word));
        begins(YAML_HEAD) && begins("id: p-")
    }

    /// Reads a file back and checks that not a byte of it has changed.
    ///
    /// # Errors
    /// It is no plan, a newer one, or it was changed.
    pub fn from_text(text: &str) -> Result<Self, Problem> {
        let value: Value =
            serde_json::from_str(text).map_err(|why| not_a_plan(&why.to_string()))?;
        let format = value.pointer("/plan/format").and_then(Value::as_u64);
        if format.is_some_and(|format| format > u64::from(FORMAT)) {
            return Err(Problem::new(
                ProblemKind::Evidence,
                format!(
                    "the plan has format {}, this version reads up to {FORMAT}",
                    format.unwrap_or_default()
                ),
            )
            .hint("update chaos, or make a new plan with `chaos plan`"));
        }
        let stored: Self =
            serde_json::from_value(value).map_err(|why| not_a_plan(&why.to_string()))?;
        let locked = Self::lock(stored.plan.clone())?;
        if locked != stored || locked.to_text()? != text {
            return Err(Problem::new(
                ProblemKind::Evidence,
                format!("plan {} was changed after it was made", stored.id),
            )
            .hint("a changed plan is void; make a new one with `chaos plan`"));
        }
        Ok(stored)
    }
}

fn not_a_plan(why: &str) -> Problem {
    Problem::new(ProblemKind::Evidence, format!("this is no plan: {why}"))
        .hint("`chaos plan FILE` makes one; `chaos run FILE` takes an experiment")
}
