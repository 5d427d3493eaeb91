//! Who is at work on a run: whoever holds its lock writes its journal and undoes what it has in place.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::approval::Person;
use super::takeover::Rescuer;

/// Who writes the journal of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Writer {
    /// `None`: the run itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescuer: Option<Rescuer>,
    /// Whose process.
    pub person: Person,
    /// The process, on that person's host.
    pub pid: u32,
    /// Since when, UTC.
    pub since: Timestamp,
}

impl fmt::Display for Writer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = self.rescuer.map_or("chaos run", Rescuer::word);
        write!(
            formatter,
            "{who}, process {} of {} since {}",
            self.pid,
            self.person,
            self.since.strftime("%Y-%m-%d %H:%M:%SZ")
        )
    }
}

/// Whether somebody is at work on a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Attendance {
    /// Nobody.
    Nobody,
    /// Somebody who does not say who he is.
    Unknown,
    /// This one.
    Writer(Writer),
}

impl Attendance {
    /// Not nobody.
    pub fn is_somebody(&self) -> bool {
        match self {
            Self::Nobody => false,
            Self::Unknown | Self::Writer(_) => true,
        }
    }

    /// What becomes of a run without an end, one sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::Nobody => "it has no end, and nobody is at work on it".to_owned(),
            Self::Unknown => "somebody is at work on it and does not say who".to_owned(),
            Self::Writer(writer) => match writer.rescuer {
                None => format!("it goes on: {writer}"),
                Some(_) => format!("it is being ended by {writer}"),
            },
        }
    }
}
