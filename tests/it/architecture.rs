//! The house rules, held against the source text: who may know whom, what the pure layers never
//! touch, and how long things may be.

use std::collections::BTreeSet;

use crate::support::sources::{self, SourceFile, words};

/// Who may know whom. A longer path lets in only what it names. Whatever stands in one's own folder
/// is free; `model` knows nobody.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("clients", &["model"]),
    // Who a cluster is, and the lock of its namespaces. Drivers may know it, it knows no driver.
    ("kubernetes", &["clients", "model"]),
    ("faults", &["clients", "kubernetes", "model"]),
    ("metrics", &["clients", "model"]),
    // Resolving asks the drivers about the world, which takes the clients.
    (
        "plan",
        &[
            "clients::Clients",
            "faults",
            "kubernetes::identify",
            "metrics",
            "model",
        ],
    ),
    // A rule looks into a plan, whose parts are faults and metrics; it never drives or reads one.
    (
        "policy",
        &[
            "clients::is_loopback",
            "faults::Fault",
            "metrics::Access",
            "metrics::Metric",
            "metrics::MetricSpecs",
            "model",
            "plan",
            // Whose a signature is decides whether an approval counts.
            "signing",
        ],
    ),
    // The plan is reached through what admitted it.
    (
        "run",
        &["faults", "metrics", "model", "policy::AdmittedPlan"],
    ),
    ("journal", &["model"]),
    ("report", &["model"]),
    (
        "view",
        &[
            "model",
            "plan",
            // A policy is shown as a plan is: as it was read, whatever the rules make of it.
            "policy::Advice",
            "policy::ApprovalNeed",
            "policy::ApprovalRules",
            "policy::BUILT_IN",
            "policy::Environment",
            "policy::Finding",
            "policy::Freeze",
            "policy::Halt",
            "policy::KubernetesProof",
            "policy::Permission",
            "policy::Policy",
            "policy::RequiredPresence",
            "policy::Said",
            "policy::Severity",
            "policy::Standing",
            "policy::Window",
            // What proves an environment is the rule's to know.
            "policy::proof",
        ],
    ),
    // A target like any other; it has clients because its hops call each other over HTTP.
    ("sandbox", &["clients", "model"]),
    ("session", &["faults", "journal", "model", "run", "view"]),
    // It goes on with a run where its process stopped.
    (
        "guardian",
        &[
            "clients",
            "faults",
            "journal",
            "model",
            "run",
            // Its log is read at a terminal.
            "view::sanitise",
        ],
    ),
    // Types only. Their parsers are the model's and the view's, their defaults the sandbox's, and
    // what a shell offers for a value stands at the value.
    (
        "cli",
        &[
            "completing",
            "model",
            "sandbox::DEFAULT_APP_PORT",
            "sandbox::DEFAULT_AWS_PORT",
            "view::Speed",
        ],
    ),
    ("completing", &["journal::Store", "settings"]),
    ("settings", &["model", "view"]),
    // It is handed bytes and names; what they mean is no business of a key's.
    ("signing", &["model"]),
    ("error", &["model", "plan", "policy", "view"]),
    ("exit", &[]),
    (
        "commands",
        &[
            "cli",
            "clients",
            "error",
            "exit",
            "faults",
            "guardian",
            "journal",
            "kubernetes::lease",
            "kubernetes::told_time",
            "metrics",
            "model",
            "plan",
            "policy",
            "report",
            "run",
            "sandbox",
            "session",
            "settings",
            "signing",
            "view",
        ],
    ),
    ("lib", &[]),
    // It reaches the rest as `chaos_gameday::`, which its own test below looks at.
    ("main", &[]),
];

/// Layers of pure data and pure functions, and what they never touch.
const PURE: &[&str] = &["model", "policy", "report"];
const IMPURE: &[&str] = &["async", "await", "tokio", "std::fs", "std::env", "std::net"];

/// The longest file and function, test items not counted.
const LONGEST_FILE: usize = 500;
const LONGEST_FUNCTION: usize = 80;

/// Flat tables: one exhaustive match whose arms are a line or a few each. Cut in pieces, they would
/// need a catch-all that hides a new variant.
const FLAT_TABLES: &[(&str, &str)] = &[("model/state.rs", "apply")];

fn allowed(folder: &str) -> Option<&'static [&'static str]> {
    let row = MAY_IMPORT.iter().find(|(name, _)| *name == folder);
    row.map(|(_, may)| *may)
}

fn is_within(path: &str, allowed: &str) -> bool {
    path.strip_prefix(allowed)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// What breaks a rule, one line each, over every file that is no test.
fn broken(rule: impl Fn(&SourceFile) -> Vec<String>) -> Vec<String> {
    let files = sources::all();
    let ours = files.iter().filter(|file| !file.is_test());
    ours.flat_map(|file| {
        let name = file.name.clone();
        rule(file)
            .into_iter()
            .map(move |what| format!("{name}: {what}"))
    })
    .collect()
}

const NOTHING: [String; 0] = [];

#[test]
fn nobody_imports_what_the_table_does_not_let_in() {
    let found = broken(|file| {
        let may = allowed(file.folder()).unwrap_or_default();
        let mut paths = file.crate_paths();
        paths.retain(|path| {
            !is_within(path, file.folder()) && !may.iter().any(|may| is_within(path, may))
        });
        paths
    });
    assert_eq!(found, NOTHING, "not in the table of architecture");
}

#[test]
fn the_table_names_every_folder_and_lets_in_nothing_that_nobody_uses() {
    let files = sources::all();
    let folders: BTreeSet<_> = files.iter().map(SourceFile::folder).collect();
    let table: BTreeSet<_> = MAY_IMPORT.iter().map(|(name, _)| *name).collect();
    assert_eq!(folders, table);

    let unused = MAY_IMPORT.iter().flat_map(|(folder, may)| {
        let ours = files.iter().filter(|file| file.folder() == *folder);
        let used: Vec<_> = ours.flat_map(SourceFile::crate_paths).collect();
        may.iter()
            .filter(move |may| !used.iter().any(|path| is_within(path, may)))
            .map(move |may| format!("{folder}: {may}"))
    });
    assert_eq!(unused.collect::<Vec<_>>(), NOTHING);
}

#[test]
fn the_table_has_no_circle() {
    let knows = |one: &str, other: &str| {
        let may = allowed(one).unwrap_or_default();
        may.iter()
            .any(|path| path.split("::").next() == Some(other))
    };
    // Repeatedly take away whoever knows nobody that is left: what stays stands in a circle.
    let mut left: BTreeSet<_> = MAY_IMPORT.iter().map(|(name, _)| *name).collect();
    loop {
        let lowest = left
            .iter()
            .find(|one| !left.iter().any(|other| other != *one && knows(one, other)))
            .copied();
        match lowest {
            Some(one) => left.remove(one),
            None => break,
        };
    }
    assert_eq!(left.into_iter().collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn main_knows_the_command_line_the_commands_and_the_guardian() {
    let files = sources::all();
    let knows = |file: &SourceFile| {
        let whole = words(&file.code, "chaos_gameday");
        let after = whole.into_iter().map(|at| {
            let rest = &file.code[at + "chaos_gameday::".len()..];
            rest.split(|letter: char| !letter.is_alphanumeric())
                .next()
                .unwrap_or_default()
                .to_owned()
        });
        after.collect::<BTreeSet<_>>()
    };
    for file in &files {
        let expected: &[&str] = match file.name.as_str() {
            "main.rs" => &["cli", "commands", "guardian"],
            _ => &[],
        };
        let known = knows(file);
        assert!(known.iter().eq(expected), "{}: {known:?}", file.name);
    }
    let main = files.iter().find(|file| file.name == "main.rs");
    let lines = main.map(|file| file.text.lines().count());
    assert!(lines.is_some_and(|count| count <= 20), "{lines:?} lines");
}

#[test]
fn pure_layers_do_not_wait_and_touch_no_machine() {
    let found = broken(|file| {
        let pure = PURE.contains(&file.folder());
        let touched = IMPURE
            .iter()
            .filter(|word| !words(&file.code, word).is_empty());
        touched
            .filter(|_| pure)
            .map(|word| format!("touches {word}"))
            .collect()
    });
    assert_eq!(found, NOTHING);
}

#[test]
fn one_file_names_the_yaml_reader() {
    let files = sources::all();
    let naming: Vec<_> = files
        .iter()
        .filter(|file| !words(&file.code, "serde_yaml").is_empty())
        .map(|file| file.name.as_str())
        .collect();
    assert_eq!(naming, ["plan/variables.rs"]);
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    let found = broken(|file| {
        let opening = file.text.lines().take_while(|line| line.starts_with("//!"));
        match opening.count() {
            0 => vec!["does not say what it is for".to_owned()],
            _ => Vec::new(),
        }
    });
    assert_eq!(found, NOTHING);
}

#[test]
fn files_and_functions_stay_short() {
    let found = broken(|file| {
        let lines = file.code.trim_end().lines().count();
        let long_file = (lines > LONGEST_FILE).then(|| format!("{lines} lines"));
        let functions = file.functions().into_iter();
        let long_functions = functions
            .filter(|(name, _, length)| {
                let flat = FLAT_TABLES.contains(&(file.name.as_str(), name.as_str()));
                *length > LONGEST_FUNCTION && !flat
            })
            .map(|(name, line, length)| format!("fn {name} at line {line} has {length} lines"));
        long_file.into_iter().chain(long_functions).collect()
    });
    assert_eq!(found, NOTHING);
}

#[test]
fn no_lint_is_waved_through_and_no_answer_from_outside_unwrapped() {
    let found = broken(|file| {
        let code: String = file.code.split_whitespace().collect();
        ["#[allow(", "#![allow(", ".unwrap()"]
            .into_iter()
            .filter(|word| code.contains(word))
            .map(str::to_owned)
            .collect()
    });
    assert_eq!(found, NOTHING);
}
