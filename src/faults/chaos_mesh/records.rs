//! The records that Chaos Mesh keeps of each target (`status.experiment.containerRecords`, 2.3.0 and
//! later with counts and events).

use serde_json::Value;

use crate::model::chaos_mesh::{ChaosMeshUndo, RecordKey};

/// What others write is not quoted beyond this.
const LONGEST_QUOTE: usize = 300;

/// More records than these are not told one by one.
const TOLD: usize = 5;

pub(super) fn cut(text: &str) -> String {
    text.chars().take(LONGEST_QUOTE).collect()
}

/// One record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a>(&'a Value);

impl Record<'_> {
    pub(super) fn key(&self) -> RecordKey {
        let text = |name: &str| self.0[name].as_str().unwrap_or_default().to_owned();
        RecordKey {
            selector_key: text("selectorKey"),
            id: text("id"),
        }
    }

    pub(super) fn phase(&self) -> &str {
        self.0["phase"].as_str().unwrap_or_default()
    }

    /// In at this moment.
    pub(super) fn is_in(&self) -> bool {
        self.phase() == "Injected"
    }

    /// In, or on its way out, or perhaps in: not yet seen out.
    fn may_be_in(&self) -> bool {
        self.phase() != "Not Injected"
    }

    /// It was in at some time.
    pub(super) fn was_in(&self) -> bool {
        self.is_in() || self.0["injectedCount"].as_u64().unwrap_or(0) > 0
    }

    /// What the newest event says, if it is a failure.
    pub(super) fn failure(&self) -> Option<String> {
        let newest = self.0["events"].as_array()?.last()?;
        let failed = newest["type"] == "Failed";
        failed.then(|| cut(newest["message"].as_str().unwrap_or_default()))
    }
}

/// All records of an object.
pub(super) fn of(object: &Value) -> Vec<Record<'_>> {
    let list = object["status"]["experiment"]["containerRecords"].as_array();
    list.into_iter().flatten().map(Record).collect()
}

/// Why an object that is to go is still there, in words.
pub(super) fn still_there(undo: &ChaosMeshUndo, object: &Value) -> String {
    let since = object["metadata"]["deletionTimestamp"].as_str();
    let since = match since {
        Some(since) => format!("being deleted since {since}"),
        None => "not being deleted".to_owned(),
    };
    let records = of(object);
    let hanging: Vec<&Record<'_>> = records.iter().filter(|record| record.may_be_in()).collect();
    if hanging.is_empty() {
        return format!(
            "{} is {since}, all its targets are recovered by its records",
            undo.shown()
        );
    }
    let mut told: Vec<String> = hanging
        .iter()
        .take(TOLD)
        .map(|record| match record.failure() {
            Some(why) => format!("{} is {} ({why})", record.key().id, record.phase()),
            None => format!("{} is {}", record.key().id, record.phase()),
        })
        .collect();
    if hanging.len() > TOLD {
        told.push(format!("and {} more", hanging.len() - TOLD));
    }
    format!("{} is {since}: {}", undo.shown(), told.join(", "))
}
