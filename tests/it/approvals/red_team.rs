//! The table of docs/approvals.md: a line that says yes names a test, and the test exists.

use std::path::Path;

use crate::support::process::files_in;
use crate::support::sources;

fn every_test() -> String {
    let files = files_in(&sources::root().join("tests/it"), Path::new(""));
    let sources = files
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|it| it == "rs"));
    sources
        .map(|(_, bytes)| String::from_utf8_lossy(bytes))
        .collect()
}

#[test]
fn each_line_that_says_yes_names_a_test_that_exists() {
    let page = include_str!("../../../docs/approvals.md");
    let table = page.split("| who tries what").nth(1).expect("the table");
    let rows = table.lines().skip(2).filter(|line| line.starts_with('|'));
    let tests = every_test();
    let mut count = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, _, stopped, test, _] = cells[..] else {
            panic!("{row}");
        };
        if !stopped.starts_with("yes") {
            assert!(stopped.starts_with("**no**"), "{row}");
            continue;
        }
        let name = test.trim_matches('`');
        let exists = tests.contains(&format!("fn {name}("));
        assert!(exists, "no test `{name}`");
        count += 1;
    }
    assert!(count > 10, "{count} lines with a test");
}
