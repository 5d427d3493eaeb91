//! Files of allowed signers, as ssh-keygen(1) describes them.

use chaos_gameday::signing::AllowedSigners;

use super::{Keys, keygen_is_missing};

const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB4gKi0oRNsNKNXKv/7Oym+qxFFG+xZvjzGmXxxzKHiT";

/// The errors, with their next moves.
fn errors(text: &str) -> Vec<String> {
    let problems = AllowedSigners::parse(text).err().unwrap_or_default();
    let lines = problems.iter().map(|found| {
        assert!(found.problem.hint.is_some(), "{found} has no next move");
        found.to_string()
    });
    lines.collect()
}

#[test]
fn comments_empty_lines_options_and_quotes_are_read() {
    let text = format!(
        "# who may say yes\n\n  ann@example.com {KEY} a comment\n\
         *@example.com,!bob@example.com namespaces=\"file,chaos-*\" {KEY}\n\
         \"with blank\" valid-after=\"20260101Z\",valid-before=\"202701011200Z\" {KEY}\n\
         cat@example.com VERIFY-REQUIRED\t{KEY}\r\n\
         dan@example.com no-touch-required,valid-before=20270101120000Z {KEY}"
    );
    assert_eq!(errors(&text), [""; 0]);
    assert_eq!(AllowedSigners::parse(&text).unwrap().keys(), 5);
}

#[test]
fn every_line_that_cannot_be_read_is_told_by_its_number() {
    let certificate = KEY.replace("ssh-ed25519 ", "ssh-ed25519-cert-v01@openssh.com ");
    let rows = [
        ("ann".to_owned(), "there is no key"),
        ("ann ssh-ed25519".to_owned(), "there is no key"),
        (
            "ann ssh-ed25519 AAAA".to_owned(),
            "this is no key: `ssh-ed25519`",
        ),
        (
            format!("ann cert-authority {KEY}"),
            "`cert-authority` is not supported",
        ),
        (
            format!("ann {certificate}"),
            "certificates are not supported: `ssh-ed25519-cert-v01@openssh.com`",
        ),
        (
            format!("ann namespace=\"x\" {KEY}"),
            "`namespace` is no option of a signer",
        ),
        (format!("ann namespaces {KEY}"), "`namespaces` has no value"),
        (
            format!("ann namespaces=\"x {KEY}"),
            "a quote is never closed",
        ),
        (format!("\"ann {KEY}"), "a quote is never closed"),
        (format!("!ann {KEY}"), "no name is allowed by it"),
        (
            format!("ann valid-after=\"20260101\" {KEY}"),
            "`valid-after=20260101` says no time zone",
        ),
        (
            format!("ann valid-after=\"20261301Z\" {KEY}"),
            "`valid-after` is no time: `20261301Z`",
        ),
        (
            format!("ann valid-before=\"2026Z\" {KEY}"),
            "`valid-before` is no time: `2026Z`",
        ),
        (
            format!("ann valid-after=20270101Z,valid-before=20260101Z {KEY}"),
            "`valid-before` is no later than `valid-after`",
        ),
        (
            format!("ann namespaces=\"a\",namespaces=\"b\" {KEY}"),
            "`namespaces` stands there twice",
        ),
        (
            format!("ann verify-required,no-touch-required {KEY}"),
            "`no-touch-required` and `verify-required` exclude each other",
        ),
    ];
    for (line, why) in &rows {
        let text = format!("# one\n{line}\n");
        assert_eq!(errors(&text), [format!("line 2: {why}")], "{line}");
    }
    let all: Vec<&str> = rows.iter().map(|(line, _)| line.as_str()).collect();
    assert_eq!(errors(&all.join("\n")).len(), rows.len(), "all at once");
}

#[test]
fn weak_and_unknown_keys_are_refused() {
    if keygen_is_missing() {
        return;
    }
    let keys = Keys::new();
    keys.make("weak", "rsa 1024");
    let line = keys.line("weak", "ann");
    assert_eq!(
        errors(&line),
        ["line 1: an RSA key of 1024 bits cannot be used, only one of 2048 to 4096"]
    );
    let unknown = "ann ssh-dss AAAAB3NzaC1kc3MAAACB";
    assert_eq!(errors(unknown), ["line 1: this is no key: `ssh-dss`"]);
}
