//! The help and the man pages: complete, narrow, and about nothing that is not there.

use chaos_gameday::cli::Cli;
use clap::CommandFactory as _;

use crate::support::process::{Place, names_in};

const COMMANDS: [&str; 15] = [
    "init",
    "plan",
    "approve",
    "run",
    "replay",
    "report",
    "abort",
    "recover",
    "runs",
    "show",
    "policy",
    "sandbox",
    "schema",
    "completions",
    "man",
];
/// Named in the contract for later; whoever reads of them would look for them.
const UNBUILT: [&str; 7] = [
    "chaos doctor",
    "chaos guard",
    "chaos mcp",
    "chaos import",
    "chaos suggest",
    "chaos explore",
    "chaos sweep",
];
const WIDEST: usize = 100;

/// Every way to ask for help, with its text.
async fn all_help(place: &Place) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let commands = COMMANDS.iter().map(|command| vec![*command]);
    let places = commands.chain([vec![], vec!["sandbox", "status"]]);
    for command in places {
        for flag in ["-h", "--help"] {
            let args = [command.as_slice(), &[flag]].concat();
            let ended = place.chaos(&args).await.exits(0);
            assert_eq!(ended.stderr, "", "{args:?}");
            all.push((args.join(" "), ended.stdout));
        }
    }
    all
}

#[tokio::test]
async fn help_is_narrow_complete_and_names_nothing_unbuilt() {
    let place = Place::new();
    for (asked, text) in all_help(&place).await {
        for line in text.lines() {
            assert!(line.chars().count() <= WIDEST, "{asked}: {line}");
        }
        let about = text.lines().next().unwrap_or_default();
        assert!(
            !about.is_empty() && !about.starts_with("Usage"),
            "{asked}: {text}"
        );
        for unbuilt in UNBUILT {
            assert!(!text.contains(unbuilt), "{asked} speaks of `{unbuilt}`");
        }
    }
    assert!(!place.state().exists());
}

#[tokio::test]
async fn the_root_help_lists_every_command_and_every_exit_code() {
    let place = Place::new();
    let help = place.chaos(&["--help"]).await.exits(0).stdout;
    for command in COMMANDS {
        assert!(
            help.contains(&format!("\n  {command} ")),
            "no {command} in\n{help}"
        );
    }
    let codes = [
        "0   held",
        "1   deviated",
        "2   -",
        "3   refused",
        "4   unapproved",
        "5   aborted",
        "6   inconclusive",
        "7   stuck",
        "8   -",
        "70  -",
    ];
    for code in codes {
        assert!(
            help.contains(&format!("\n  {code} ")),
            "no `{code}` in\n{help}"
        );
    }
    let version = place.chaos(&["--version"]).await.exits(0);
    assert_eq!(
        version.stdout,
        format!("chaos {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn every_command_is_listed_here_and_every_flag_is_explained() {
    let mut root = Cli::command();
    root.build();
    let names: Vec<&str> = root
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    assert_eq!(names, COMMANDS);
    for command in root.get_subcommands() {
        assert!(command.get_about().is_some(), "{}", command.get_name());
        for flag in command.get_arguments() {
            assert!(
                flag.get_help().is_some(),
                "{} {}",
                command.get_name(),
                flag.get_id()
            );
        }
    }
}

#[tokio::test]
async fn man_pages_are_printed_or_written_one_for_each_command() {
    let place = Place::new();
    let root = place.chaos(&["man"]).await.exits(0);
    root.prints(".TH chaos 1").prints("inconclusive");
    for command in COMMANDS {
        let page = place.chaos(&["man", command]).await.exits(0);
        page.prints(&format!(".TH chaos-{command} 1"));
    }
    place.chaos(&["man", "--out", "pages"]).await.exits(0);
    let mut expected: Vec<String> = COMMANDS
        .iter()
        .map(|name| format!("chaos-{name}.1"))
        .collect();
    expected
        .extend(["chaos.1", "chaos-policy-check.1", "chaos-sandbox-status.1"].map(str::to_owned));
    expected.sort();
    assert_eq!(names_in(&place.path("pages")), expected);
}
