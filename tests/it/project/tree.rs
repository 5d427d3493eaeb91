//! The tree: what is generated is fresh, what is promised to packagers is there, and nothing lies
//! about that should not.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{chaos, file, text};
use crate::support::sources::root;

/// Shells and the file names that packagers expect.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "chaos.bash"),
    ("zsh", "_chaos"),
    ("fish", "chaos.fish"),
    ("powershell", "_chaos.ps1"),
    ("elvish", "chaos.elv"),
];

/// Name and text of every file of a folder.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).expect("a readable folder");
    entries
        .map(|entry| {
            let path = entry.expect("a readable folder").path();
            let name = path.file_name().expect("a file has a name");
            let content = fs::read_to_string(&path).expect("a readable text");
            (name.to_string_lossy().into_owned(), content)
        })
        .collect()
}

fn stale(committed: &BTreeMap<String, String>, made: &BTreeMap<String, String>) -> Vec<String> {
    let names = committed.keys().chain(made.keys());
    let mut names: Vec<_> = names
        .filter(|name| committed.get(*name) != made.get(*name))
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn the_man_pages_are_what_the_program_makes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().to_string_lossy().into_owned();
    chaos(&["man", "--out", &out]);
    let made = texts(folder.path());
    assert!(made.len() > 10, "{:?}", made.keys());
    let stale = stale(&texts(&root().join("man")), &made);
    assert_eq!(stale, [""; 0], "`make man` writes them again");
}

#[test]
fn every_page_that_a_man_page_refers_to_is_there() {
    let pages = texts(&root().join("man"));
    for (name, page) in &pages {
        let referred = page.lines().filter_map(|line| line.strip_suffix("(1)"));
        for target in referred.map(|word| word.replace("\\-", "-")) {
            assert!(
                pages.contains_key(&format!("{target}.1")),
                "{name}: {target}"
            );
        }
        assert!(page.contains("\"chaos 0."), "{name} is not signed by chaos");
    }
}

#[test]
fn the_completions_are_what_the_program_makes() {
    let made = COMPLETIONS.iter().map(|(shell, name)| {
        let script = text(chaos(&["completions", shell]).stdout);
        ((*name).to_owned(), script)
    });
    let stale = stale(&texts(&root().join("completions")), &made.collect());
    assert_eq!(stale, [""; 0], "`make completions` writes them again");
}

#[test]
fn the_scripts_can_be_executed() {
    let scripts = fs::read_dir(root().join("scripts")).expect("a folder of scripts");
    let scripts = scripts.map(|entry| entry.expect("a readable folder").path());
    for path in scripts.chain([root().join(".ci/run")]) {
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{}", path.display());
        let script = fs::read_to_string(&path).expect("a readable script");
        assert!(script.starts_with("#!"), "{}", path.display());
        assert!(script.contains("\nset -eu"), "{}", path.display());
    }
}

#[test]
fn the_package_says_what_it_is_and_has_its_licences_and_its_lock() {
    let manifest = file("Cargo.toml");
    for line in [
        "edition = \"2024\"",
        "license = \"MIT OR Apache-2.0\"",
        "readme = \"README.md\"",
    ] {
        assert!(manifest.lines().any(|found| found == line), "{line}");
    }
    assert!(file("LICENSE-MIT").contains("The chaos-gameday authors"));
    let apache = file("LICENSE-APACHE");
    assert!(apache.contains("Version 2.0, January 2004"));
    assert!(apache.contains("END OF TERMS AND CONDITIONS"));
    assert!(file("Cargo.lock").contains("name = \"chaos-gameday\""));
    assert!(tree().contains(&root().join("Cargo.lock")));
}

/// What git has of the repository.
fn tree() -> Vec<PathBuf> {
    let listed = Command::new("git")
        .current_dir(root())
        .args(["ls-files", "-z", "--cached"])
        .output()
        .expect("git");
    assert!(listed.status.success(), "no repository here");
    let names = text(listed.stdout);
    let names = names.split('\0').filter(|name| !name.is_empty());
    names.map(|name| root().join(name)).collect()
}

#[test]
fn nothing_in_the_tree_is_unfinished_or_from_somebodys_machine() {
    // Put together here, so that this file may be looked at too. Capitals count for the first two:
    // small, the first is the name of a lint that forbids it.
    let unfinished = [["TO", "DO"], ["FIX", "ME"]].map(|parts| parts.concat());
    let foreign = [
        ["cla", "ude"],
        ["agent", " session"],
        ["/wo", "rk/"],
        ["/tmp", "/wt"],
        ["/ro", "ot/"],
    ]
    .map(|parts| parts.concat());
    let files = tree();
    assert!(files.len() > 100, "the tree is not where it was");
    let mut found = Vec::new();
    for path in files {
        // A file that was deleted but not yet from git's list says nothing.
        let content = fs::read(&path).unwrap_or_default();
        for (number, line) in String::from_utf8_lossy(&content).lines().enumerate() {
            let small = line.to_lowercase();
            let unfinished = unfinished.iter().filter(|word| line.contains(*word));
            let foreign = foreign.iter().filter(|word| small.contains(*word));
            found.extend(
                unfinished
                    .chain(foreign)
                    .map(|word| format!("{}:{}: {word}", path.display(), number + 1)),
            );
        }
    }
    assert_eq!(found, [""; 0]);
}

/// The licences of deny.toml's list.
fn allowed_licences() -> Vec<String> {
    let deny = file("deny.toml");
    let list = deny
        .split_once("\nallow = [")
        .and_then(|(_, rest)| rest.split_once(']'));
    let (list, _) = list.expect("deny.toml has a list of licences");
    let names = list.split('"').skip(1).step_by(2);
    names.map(str::to_owned).collect()
}

/// Whether an SPDX expression can be met with what is allowed. `/` is the old way to write OR.
fn is_met(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace('/', " OR ");
    let mut depth = 0_usize;
    let mut parts = vec![String::new()];
    let mut operators = Vec::new();
    for word in expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .split_whitespace()
    {
        match word {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 && (word == "OR" || word == "AND") {
            operators.push(word.to_owned());
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push_str(word);
            last.push(' ');
        }
    }
    let simple = |part: &str| {
        let part = part.trim();
        match part
            .strip_prefix('(')
            .and_then(|part| part.strip_suffix(')'))
        {
            Some(inner) => is_met(inner, allowed),
            None => allowed.iter().any(|name| name == part),
        }
    };
    // AND binds closer: any run of parts joined by AND that is met as a whole is enough.
    let mut met = parts.first().is_some_and(|part| simple(part));
    let mut enough = false;
    for (operator, part) in operators.iter().zip(&parts[1..]) {
        if operator == "AND" {
            met = met && simple(part);
        } else {
            enough = enough || met;
            met = simple(part);
        }
    }
    enough || met
}

#[test]
fn licence_expressions_are_read_as_spdx_means_them() {
    let allowed = ["MIT".to_owned(), "ISC".to_owned()];
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND ISC", true),
        ("MIT AND GPL-3.0", false),
        ("MIT AND GPL-3.0 OR ISC", true),
        ("(MIT OR GPL-3.0) AND ISC", true),
        ("(GPL-3.0 OR AGPL-3.0) AND ISC", false),
        ("MIT WITH Some-exception", false),
    ] {
        assert_eq!(is_met(expression, &allowed), expected, "{expression}");
    }
}

#[test]
fn every_dependency_is_from_the_registry_under_a_licence_that_is_allowed() {
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc");
    let rustc = text(rustc.stdout);
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
    let metadata = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["metadata", "--locked", "--offline", "--format-version", "1"])
        // Packages of other platforms are not on this machine; cargo-deny looks at those.
        .args(["--filter-platform", host.expect("rustc names its host")])
        .output()
        .expect("cargo");
    let why = String::from_utf8_lossy(&metadata.stderr);
    assert!(metadata.status.success(), "{why}");
    let metadata: serde_json::Value =
        serde_json::from_slice(&metadata.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    assert!(packages.len() > 100, "{} packages", packages.len());
    let allowed = allowed_licences();
    let refused: Vec<_> = packages
        .iter()
        .filter(|package| {
            let ours = package["name"] == "chaos-gameday";
            let source = package["source"].as_str().unwrap_or_default();
            let licence = package["license"].as_str().unwrap_or_default();
            !is_met(licence, &allowed) || !(ours || source.starts_with("registry+"))
        })
        .map(|package| format!("{}: {}", package["name"], package["license"]))
        .collect();
    assert_eq!(refused, [""; 0]);
}
