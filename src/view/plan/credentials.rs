//! Whom a plan, and the run after it, send which credentials to: what somebody who did not write the
//! document has to know.

use super::Page;
use crate::plan::StoredPlan;

impl Page {
    /// What each server gets; nothing where none gets any.
    pub(super) fn credentials(&self, stored: &StoredPlan) -> Vec<String> {
        let recipients = stored.plan.experiment.metrics.recipients();
        let told = recipients.into_iter().map(|(url, credentials)| {
            let all = credentials.join(", ");
            self.labelled(2, "secrets", &format!("{url} gets {all}"))
        });
        told.flatten().collect()
    }
}
