//! Approvals, the signatures over them and the file of those who may sign.

use chaos_gameday::model::approval::{Person, SealedApproval};
use chaos_gameday::signing::{AllowedSigners, Signed, verify};

use crate::corpus;
use crate::harness::Target;
use crate::input::Corpus;

const WORDS: &[&str] = &[
    "-----BEGIN SSH SIGNATURE-----\n",
    "-----END SSH SIGNATURE-----\n",
    "U1NIU0lH",
    "AAAA",
    "====",
    "\\n",
    "ssh-ed25519 ",
    "ssh-rsa ",
    "sk-ssh-ed25519@openssh.com ",
    "ecdsa-sha2-nistp256 ",
    "namespaces=\"chaos-approval@v1\" ",
    "valid-after=\"20260101Z\" ",
    "valid-before=\"00000000Z\" ",
    "valid-before=\"99991231235960Z\",",
    "cert-authority ",
    "no-touch-required,",
    "*@example.com",
    "!*",
    "ann@example.com",
    ",",
];

fn signers() -> Vec<u8> {
    corpus::file("examples/policy/allowed_signers")
}

#[test]
fn an_approval_is_what_was_sealed_or_void() {
    let known = String::from_utf8(signers()).expect("a text");
    let known = AllowedSigners::parse(&known).expect("allowed signers");
    Target {
        name: "approval",
        corpus: Corpus {
            seeds: corpus::files("tests/fixtures/fuzz/approval", ".json"),
            words: WORDS,
            largest: 1 << 20,
            between: b"",
        },
        cases: 80,
        holds: &|input| {
            let text = String::from_utf8_lossy(input);
            match SealedApproval::from_text(&text) {
                Ok(sealed) => {
                    assert_eq!(sealed.to_text(), text);
                    if let Some(signature) = &sealed.signature {
                        check_signature(&known, &signature.armored);
                    }
                }
                Err(problem) => assert!(problem.hint.is_some(), "{problem}"),
            }
            check_signature(&known, &text);
            // An honest seal around a signature that is none.
            let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            if let Some(armored) = value["signature"]["armored"].as_str() {
                check_signature(&known, armored);
            }
        },
    }
    .run();
}

/// No signature of these is over this.
fn check_signature(known: &AllowedSigners, armored: &str) {
    let by = Person {
        user: "ann".to_owned(),
        host: "desk".to_owned(),
    };
    let signed = Signed {
        message: b"something that nobody signed",
        armored,
        at: "2026-11-30T12:00:00Z".parse().expect("a time"),
        by: &by,
    };
    assert!(verify(known, &signed).is_err(), "{armored}");
}

#[test]
fn allowed_signers_are_read_or_say_which_line_is_wrong() {
    let times = ["-009999-01-02T01:59:59Z", "9999-12-30T22:00:00Z"];
    let times = times.map(|time| time.parse().expect("a time"));
    Target {
        name: "signers",
        corpus: Corpus {
            seeds: vec![signers()],
            words: WORDS,
            largest: 1 << 20,
            between: b"",
        },
        cases: 80,
        holds: &|input| {
            let text = String::from_utf8_lossy(input);
            match AllowedSigners::parse(&text) {
                Ok(signers) => {
                    assert!(signers.keys() <= text.lines().count());
                    for at in times {
                        let able = signers.able_to_approve(at);
                        let _either = able.iter().any(|one| one.may_be(|name| name == "ann"));
                        assert!(able.len() + signers.lapsed(at).len() <= signers.keys());
                    }
                    assert!(!signers.knows("SHA256:nobody"));
                    check_signature(&signers, &text);
                }
                Err(problems) => {
                    assert!(!problems.is_empty());
                    for problem in problems {
                        assert!(
                            (1..=text.lines().count()).contains(&problem.line),
                            "{problem}"
                        );
                        assert!(problem.problem.hint.is_some(), "{problem}");
                    }
                }
            }
        },
    }
    .run();
}
