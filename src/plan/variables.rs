//! Stand-in until loading is merged.
use serde::{Deserialize, Serialize};

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsedVariable {
    /// Value.
    pub value: String,
}
