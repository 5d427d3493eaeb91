//! Who holds a lock: written by the run that has it, read by the run that cannot have it.

use std::fmt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::approval::Person;
use super::ids::{Name, PlanId, RunId};

/// More letters of a name than these are cut: it comes from a file or a cluster that others write to.
const LONGEST_NAME: usize = 64;

/// A longer path is not shown.
const LONGEST_PATH: usize = 200;

/// The run that holds a lock. It says who to talk to, never whether the lock is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    /// Who started it.
    pub person: Person,
    /// When it took the lock, UTC.
    pub since: Timestamp,
    /// The plan that it executes.
    pub plan: PlanId,
    /// The plan's experiment.
    pub experiment: Name,
    /// The run's id; `None`: a person is being asked whether it may start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Its state folder, absolute.
    pub state: PathBuf,
    /// Its process, on the person's host.
    pub pid: u32,
}

impl Holder {
    /// Its state folder, unless it is this one or no shell would take it as it stands: whoever reads a
    /// hint pastes it.
    pub fn other_state(&self, ours: &Path) -> Option<&str> {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-._/@+".contains(letter);
        let path = self.state.to_str()?;
        let shown = self.state.is_absolute() && path.len() <= LONGEST_PATH;
        (shown && self.state != ours && path.chars().all(plain)).then_some(path)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}@{} holds it since {} for plan {} ({})",
            cut(&self.person.user),
            cut(&self.person.host),
            self.since.strftime("%Y-%m-%d %H:%M:%SZ"),
            self.plan,
            self.experiment,
        )?;
        match &self.run {
            Some(run) => write!(formatter, ", run {run}, pid {}", self.pid),
            None => write!(formatter, ", not begun yet, pid {}", self.pid),
        }
    }
}

fn cut(name: &str) -> String {
    match name.char_indices().nth(LONGEST_NAME) {
        None => name.to_owned(),
        Some((at, _)) => format!("{}…", &name[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(user: &str, state: &str) -> Holder {
        Holder {
            person: Person {
                user: user.to_owned(),
                host: "desk".to_owned(),
            },
            since: "2026-11-30T12:01:33.5Z".parse().expect("a time"),
            plan: "p-3a1fd9bca3".parse().expect("an id"),
            experiment: "redis-latency".parse().expect("a name"),
            run: "r-20261130-120133-500ab".parse().ok(),
            state: PathBuf::from(state),
            pid: 4711,
        }
    }

    #[test]
    fn a_holder_is_named_with_all_that_finds_him() {
        assert_eq!(
            holder("ann", "/state").to_string(),
            "ann@desk holds it since 2026-11-30 12:01:33Z for plan p-3a1fd9bca3 (redis-latency), run r-20261130-120133-500ab, pid 4711"
        );
        let asking = Holder {
            run: None,
            ..holder("ann", "/state")
        };
        assert!(
            asking
                .to_string()
                .ends_with("(redis-latency), not begun yet, pid 4711"),
            "{asking}"
        );
        let long = holder(&"ä".repeat(1_000), "/state").to_string();
        assert!(
            long.starts_with(&format!("{}…@desk", "ä".repeat(64))),
            "{long}"
        );
    }

    #[test]
    fn a_state_folder_is_shown_only_where_a_shell_takes_it_as_it_stands() {
        for (state, shown) in [
            ("/home/ann/.local/state/chaos", true),
            ("/ours", false),
            ("relative", false),
            ("/tmp/$(reboot)", false),
            ("/tmp/with blank", false),
            (&format!("/{}", "x".repeat(300)), false),
        ] {
            let holder = holder("ann", state);
            let seen = holder.other_state(Path::new("/ours"));
            assert_eq!(seen.is_some(), shown, "{state}");
        }
    }
}
