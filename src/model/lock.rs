//! What becomes of the lock that a run holds while it lasts.

use serde::{Deserialize, Serialize};

/// Something about the lock that whoever holds it has to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LockNews {
    /// Worth knowing; the lock still counts.
    Warned {
        /// One sentence.
        message: String,
    },
    /// It counts no longer, so another run may begin on the same targets.
    Lost {
        /// Why.
        why: String,
    },
}
