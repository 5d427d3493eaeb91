//! The README promises nothing that the program does not do.

use std::collections::BTreeSet;

use chaos_gameday::cli::Cli;
use chaos_gameday::guardian::HUNG_AFTER;
use chaos_gameday::model::units::Span;
use chaos_gameday::plan::{Source, Variables, load_experiment};
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};

use super::{chaos, every_exit, file, text};
use crate::support::sources::root;

/// One fenced block: its language and its lines.
struct Block {
    language: String,
    lines: Vec<String>,
}

/// The blocks of the README, and its lines outside them.
fn readme() -> (Vec<Block>, Vec<String>) {
    let (mut blocks, mut prose) = (Vec::new(), Vec::new());
    let mut open: Option<Block> = None;
    for line in file("README.md").lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => blocks.push(block),
            (Some(language), None) => {
                open = Some(Block {
                    language: language.to_owned(),
                    lines: Vec::new(),
                });
            }
            (None, Some(mut block)) => {
                block.lines.push(line.to_owned());
                open = Some(block);
            }
            (None, None) => prose.push(line.to_owned()),
        }
    }
    assert!(open.is_none(), "a block without an end");
    (blocks, prose)
}

/// What stands between backticks.
fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The lines of one section, from its heading to the next.
fn section(title: &str) -> Vec<String> {
    let (_, prose) = readme();
    let heading = format!("## {title}");
    let lines: Vec<_> = prose
        .into_iter()
        .skip_while(|line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .collect();
    assert!(!lines.is_empty(), "no section {title}");
    lines
}

/// The cells of the rows of a section's tables, headings left out.
fn rows(title: &str) -> Vec<Vec<String>> {
    let lines = section(title).into_iter();
    let rows = lines.filter_map(|line| {
        let inner = line.strip_prefix('|')?.strip_suffix('|')?.to_owned();
        Some(
            inner
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect(),
        )
    });
    let table: Vec<Vec<String>> = rows.collect();
    let rule = |row: &Vec<String>| row.iter().all(|cell| cell.starts_with("---"));
    let after = table.iter().position(rule).expect("a table has a heading");
    table[after + 1..].to_vec()
}

/// Every command line of `chaos`, typed in a block or between backticks.
fn command_lines() -> Vec<String> {
    let (blocks, prose) = readme();
    let typed = blocks.iter().flat_map(|block| {
        let shell = block.language == "sh";
        let console = block.language == "console";
        block.lines.iter().filter_map(move |line| match line {
            line if shell => Some(line.as_str()),
            line if console => line.strip_prefix("$ "),
            _ => None,
        })
    });
    let typed = typed.chain(prose.iter().flat_map(|line| spans(line)));
    let ours: Vec<_> = typed
        .filter(|line| *line == "chaos" || line.starts_with("chaos "))
        .map(str::to_owned)
        .collect();
    assert!(ours.len() > 20, "the reader of the README misses commands");
    ours
}

/// The words of a command line, without its comment and redirection; quotes are not used there.
fn split(line: &str) -> Vec<&str> {
    let typed = line.split(['#', '>']).next().unwrap_or_default();
    assert!(!typed.contains(['"', '\'']), "quotes are not read: {typed}");
    typed.split_whitespace().collect()
}

#[test]
fn every_command_line_is_understood() {
    let refused: Vec<_> = command_lines()
        .iter()
        .filter(|line| *line != "chaos")
        .filter_map(|line| {
            let why = Cli::try_parse_from(split(line)).err()?;
            // A verb that is only mentioned, without what it works on.
            let mentioned =
                split(line).len() == 2 && why.kind() == ErrorKind::MissingRequiredArgument;
            (!mentioned).then(|| format!("{line}\n{why}"))
        })
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn the_table_of_commands_names_each_once_in_the_order_of_the_help() {
    let listed: Vec<_> = rows("Commands")
        .iter()
        .map(|row| split(row[0].trim_matches('`'))[1].to_owned())
        .collect();
    let built: Vec<_> = Cli::command()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    assert_eq!(listed, built);
}

#[test]
fn the_exit_codes_are_those_of_the_code_in_the_readme_the_help_and_the_man_page() {
    let readme: Vec<_> = rows("Exit codes")
        .iter()
        .map(|row| (row[0].parse().expect("a code"), row[1].clone()))
        .collect();
    let expected: Vec<(u8, String)> = every_exit()
        .into_iter()
        .map(|(code, word)| (code, word.to_owned()))
        .collect();
    assert_eq!(readme, expected);

    let in_lines = |page: &str| -> Vec<(u8, String)> {
        page.lines()
            .filter(|line| line.starts_with("  "))
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                let code = words.next()?.parse().ok()?;
                Some((code, words.next()?.replace("\\-", "-")))
            })
            .collect()
    };
    assert_eq!(in_lines(&text(chaos(&["--help"]).stdout)), expected);
    assert_eq!(in_lines(&file("man/chaos.1")), expected);
}

#[test]
fn the_meanings_of_the_exit_codes_are_those_of_the_help() {
    let help = text(chaos(&["--help"]).stdout);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let missing: Vec<_> = rows("Exit codes")
        .into_iter()
        .map(|row| format!("{} {} {}", row[0], row[1], row[2]))
        .filter(|said| !help.contains(said.as_str()))
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn the_laws_are_eleven_and_what_is_not_built_is_said() {
    let laws = section("The laws of a run");
    let numbers: Vec<_> = laws
        .iter()
        .filter_map(|line| line.split_once(". **"))
        .map(|(number, _)| number.to_owned())
        .collect();
    let expected: Vec<_> = (1..=11).map(|number: u8| number.to_string()).collect();
    assert_eq!(numbers, expected);

    let admitted = section("Not built yet").join("\n");
    let built: BTreeSet<_> = Cli::command()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    for command in ["abort", "recover", "doctor"] {
        let is_admitted = admitted.contains(&format!("`{command}`"));
        assert_ne!(built.contains(command), is_admitted, "{command}");
    }
    assert!(laws.join("\n").contains("[a guardian](#the-guardian)"));
    let hangs = format!("for {} with a fault in", Span::of(HUNG_AFTER));
    let hangs = hangs.replace("10s", "10 s");
    assert!(
        section("The guardian").join(" ").contains(&hangs),
        "{hangs}"
    );
}

#[test]
fn the_examples_load() {
    let (blocks, _) = readme();
    let documents: Vec<_> = blocks
        .iter()
        .filter(|block| block.language == "yaml")
        .map(|block| block.lines.join("\n"))
        // Those are held by the tests of policies.
        .filter(|document| !document.contains("kind: Policy"))
        .collect();
    let [whole, sources] = documents.as_slice() else {
        panic!("{} documents", documents.len());
    };
    // The second shows two sections of the first in another way.
    let (head, rest) = whole.split_once("metrics:\n").expect("sources");
    let (_, tail) = rest.split_once("\nbaseline:").expect("a baseline");
    let other = format!("{head}{sources}\nbaseline:{tail}");
    for text in [whole.clone(), other] {
        let source = Source {
            name: "README.md".to_owned(),
            text,
        };
        let loaded = load_experiment(&source, &Variables::default());
        assert!(loaded.is_ok(), "{:?}", loaded.err());
    }
}

#[test]
fn the_oldest_rust_is_that_of_the_package() {
    let manifest = file("Cargo.toml");
    let oldest = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \""));
    let oldest = oldest.map(|rest| rest.trim_end_matches('"'));
    let said = format!("Rust ({} or newer)", oldest.expect("a rust-version"));
    assert!(file("README.md").contains(&said), "{said}");
}

#[test]
fn every_file_it_names_exists() {
    let (blocks, prose) = readme();
    let text = prose.join("\n");
    let links = text.match_indices("](").map(|(at, _)| {
        let rest = &text[at + 2..];
        rest.split(')').next().unwrap_or_default()
    });
    let spans = prose.iter().flat_map(|line| spans(line));
    let typed = blocks.iter().filter(|block| block.language == "sh");
    let typed = typed.flat_map(|block| block.lines.iter().flat_map(|line| line.split(' ')));
    let named: BTreeSet<_> = links
        .filter(|link| !link.starts_with('#') && !link.contains("://"))
        .chain(spans.chain(typed).filter(|word| is_ours(word)))
        .collect();
    assert!(named.contains("examples/stream-down.yaml"), "{named:?}");
    let missing: Vec<_> = named
        .into_iter()
        .filter(|name| !root().join(name).exists())
        .collect();
    assert_eq!(missing, [""; 0]);
}

/// Whether a word is a path into this repository.
fn is_ours(word: &str) -> bool {
    let folders = [
        "examples/",
        "man/",
        "completions/",
        "src/",
        "tests/",
        ".ci/",
    ];
    folders.iter().any(|folder| word.starts_with(folder))
}

#[test]
fn its_targets_are_in_the_makefile_and_each_is_explained_there() {
    let makefile = file("Makefile");
    let phony = makefile
        .lines()
        .find_map(|line| line.strip_prefix(".PHONY: "));
    let phony: BTreeSet<_> = phony.unwrap_or_default().split(' ').collect();
    let explained: BTreeSet<_> = makefile
        .lines()
        .filter_map(|line| line.split_once(": ## "))
        .map(|(target, _)| target)
        .collect();
    assert_eq!(phony, explained);

    let (blocks, prose) = readme();
    let lines = blocks.iter().flat_map(|block| block.lines.iter());
    let words = lines.chain(&prose).flat_map(|line| line.split('`'));
    let used: BTreeSet<_> = words
        .filter_map(|text| text.trim().strip_prefix("make "))
        .filter_map(|rest| rest.split_whitespace().next())
        .collect();
    assert!(used.contains("demo") && used.contains("test"), "{used:?}");
    assert!(used.is_subset(&phony), "{used:?}");
}
