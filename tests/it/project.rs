//! What stands around the code: README, man pages, completions, licences, the Makefile and the tree
//! itself, each held against what the program says now.

mod readme;
mod tree;

use std::process::{Command, Output};

use chaos_gameday::model::outcome::Outcome;

use crate::support::sources::root;

/// The program, with nothing of the caller's environment that could colour what it prints.
fn chaos(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chaos"));
    command
        .args(arguments)
        .env("CHAOS_STATE_DIR", root().join("target/none"))
        .env("COLUMNS", "47")
        .env("AWS_REGION", "not-in-a-page");
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "chaos {arguments:?}: {output:?}");
    output
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("the program prints UTF-8")
}

fn file(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
}

/// Code and word of every way to end, in the order of the codes; a way that is no outcome has none.
fn every_exit() -> Vec<(u8, &'static str)> {
    let outcomes = Outcome::ALL.map(|outcome| (outcome.code(), outcome.word()));
    let mut all = [(2, "-"), (4, "unapproved"), (8, "-"), (70, "-")]
        .into_iter()
        .chain(outcomes)
        .collect::<Vec<_>>();
    all.sort_unstable();
    all
}
