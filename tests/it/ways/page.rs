//! The page that says which way out is tried where names tests that there are, and all of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Whose every test is about a way out.
const ALL_OF: [&str; 4] = ["ways", "dying", "endings", "cli::ways"];

/// The file of a module of the integration tests, or of a path below `src`.
fn file_of(module: &str) -> PathBuf {
    let root = Path::new(ROOT);
    match module.starts_with("src/") {
        true => root.join(module),
        false => root
            .join("tests/it")
            .join(format!("{}.rs", module.replace("::", "/"))),
    }
}

/// What is in backquotes in the cells of the table, as module and test.
fn named() -> BTreeSet<(String, String)> {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/ways-out.md")).expect("a page");
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let quoted = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    let tests = quoted.filter_map(|text| text.rsplit_once("::"));
    tests
        .map(|(module, test)| (module.to_owned(), test.to_owned()))
        .collect()
}

/// The functions of a file that are tests.
fn tests_in(module: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(file_of(module)).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let tests = lines.iter().enumerate().filter_map(|(place, line)| {
        let name = line.trim_start_matches("async ").strip_prefix("fn ")?;
        let above = lines[..place].iter().rev().take(2);
        let is_test = above
            .into_iter()
            .any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"));
        is_test.then(|| name.split('(').next().unwrap_or_default().to_owned())
    });
    tests.collect()
}

#[test]
fn the_page_names_tests_that_there_are_and_leaves_none_out() {
    let named = named();
    assert!(named.len() > 30, "{named:?}");
    for (module, test) in &named {
        let there = tests_in(module);
        assert!(there.contains(test), "there is no test {module}::{test}");
    }
    for module in ALL_OF {
        for test in tests_in(module) {
            let pair = (module.to_owned(), test);
            assert!(named.contains(&pair), "the page leaves out {pair:?}");
        }
    }
}
