//! The examples, the table that describes them, and the real binary that runs them.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");

/// A row of the table in `examples/README.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The file's name.
    pub file: String,
    /// How it ends on the fragile version.
    pub fragile: String,
    /// How it ends on the fixed version.
    pub fixed: String,
    /// What to type.
    pub command: String,
}

/// The table, row by row.
pub fn table() -> Vec<Row> {
    let page = fs::read_to_string(format!("{FOLDER}/README.md")).expect("a readable page");
    page.lines()
        .filter(|line| line.starts_with("| ["))
        .map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [file, _, fragile, fixed, command] = cells[..] else {
                panic!("a row has five cells: {line}");
            };
            let (_, file) = file.trim_end_matches(')').split_once("](").expect("a link");
            Row {
                file: file.to_owned(),
                fragile: fragile.to_owned(),
                fixed: fixed.to_owned(),
                command: command.trim_matches('`').to_owned(),
            }
        })
        .collect()
}

/// The names of all experiments in the folder, sorted.
pub fn files() -> Vec<String> {
    let mut files: Vec<_> = fs::read_dir(FOLDER)
        .expect("a folder of examples")
        .map(|entry| entry.expect("a readable folder").file_name())
        .map(|name| name.into_string().expect("a name in UTF-8"))
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    files.sort();
    files
}

/// A folder of evidence of its own, and the binary that fills it.
pub struct Shell {
    state: TempDir,
}

impl Shell {
    pub fn new() -> Self {
        let state = TempDir::new().expect("a temporary folder");
        Self { state }
    }

    /// The binary with some words, as it would be typed at the top of the repository, where nobody
    /// sits at the keyboard.
    pub fn chaos<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chaos"));
        command
            .args(words)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("CHAOS_STATE_DIR", self.state.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub fn run<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Finished {
        let output = self.chaos(words).output().expect("the binary starts");
        Finished::from(output)
    }

    /// What it keeps in this folder of the evidence.
    pub fn kept(&self, folder: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.state.path().join(folder));
        let entries = entries.into_iter().flatten();
        entries
            .map(|entry| entry.expect("readable").path())
            .collect()
    }
}

/// What a process said and how it ended.
#[derive(Debug)]
pub struct Finished {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("text in UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// The story of a run in the words of the table, from the events that it printed: `held`,
/// ``deviated by `bare-502` ``, and which SLOs only went on record.
pub fn story(finished: &Finished) -> String {
    let events = finished.stdout.lines().map(|line| {
        let record: Value = serde_json::from_str(line).expect("a line of JSON");
        record["event"].clone()
    });
    let mut end = format!("no end; it said {}", finished.stderr);
    let mut on_record = String::new();
    for event in events {
        let settled = &event["settled"];
        if let Some(outcome) = settled["outcome"].as_str() {
            end = match settled["cause"]["breach"]["slo"].as_str() {
                Some(slo) => format!("{outcome} by `{slo}`"),
                None if settled["cause"] == "stepsDone" => outcome.to_owned(),
                None => format!("{outcome} by {}", settled["cause"]),
            };
        }
        let tripped = &event["tripped"];
        if tripped["reaction"] == "record" {
            on_record = format!(
                ", {} on record",
                tripped["slo"].to_string().replace('"', "`")
            );
        }
    }
    end + &on_record
}
