//! Each type of key: signed by the real `ssh-keygen` and recognised by us, and the other way round.

use chaos_gameday::model::approval::{Presence, SIGNATURE_NAMESPACE, SignatureFlaw, Signer};
use chaos_gameday::signing::{AllowedSigners, Recognised, Signed, sign, verify};

use super::{Keys, at, keygen_is_missing, person, signed_by_hand, verifies_by_hand};

const MESSAGE: &[u8] = br#"{"digest":"sha256:00"}"#;

fn recognise(signers: &str, armored: &str, message: &[u8]) -> Result<Recognised, SignatureFlaw> {
    recognise_at(signers, armored, message, "2026-06-01T00:00:00Z")
}

fn recognise_at(
    signers: &str,
    armored: &str,
    message: &[u8],
    time: &str,
) -> Result<Recognised, SignatureFlaw> {
    let signers = AllowedSigners::parse(signers).expect("readable signers");
    let signed = Signed {
        message,
        armored,
        at: at(time),
        by: &person("ann", "desk"),
    };
    verify(&signers, &signed)
}

#[test]
fn each_type_of_key_is_recognised_whoever_had_it_signed() {
    if keygen_is_missing() {
        return;
    }
    let keys = Keys::new();
    for (kind, key_type) in [
        ("ed25519", "ssh-ed25519"),
        ("ecdsa 256", "ecdsa-sha2-nistp256"),
        ("ecdsa 384", "ecdsa-sha2-nistp384"),
        ("ecdsa 521", "ecdsa-sha2-nistp521"),
        ("rsa 2048", "ssh-rsa"),
        ("rsa 4096", "ssh-rsa"),
    ] {
        let name = kind.replace(' ', "-");
        let key = keys.make(&name, kind);
        let signers = keys.line(&name, "ann@example.com");
        let by_hand = signed_by_hand(&key, SIGNATURE_NAMESPACE, MESSAGE);
        let ours = sign(&key, MESSAGE).expect("it signs");
        for armored in [&by_hand, &ours] {
            let found = recognise(&signers, armored, MESSAGE).expect(kind);
            let Signer {
                principal,
                key_type: found_type,
                presence,
                fingerprint,
            } = found.signer;
            assert_eq!(principal, "ann@example.com");
            assert_eq!(
                (found_type.as_str(), presence),
                (key_type, Presence::Unknown)
            );
            assert!(fingerprint.starts_with("SHA256:"), "{fingerprint}");
            assert!(
                verifies_by_hand(&keys, &signers, armored, MESSAGE),
                "{kind}"
            );
        }
        assert_eq!(
            recognise(&signers, &ours, b"another message"),
            Err(SignatureFlaw::Wrong),
            "{kind}"
        );
    }
}

#[test]
fn a_signature_for_something_else_or_by_somebody_else_counts_for_nothing() {
    if keygen_is_missing() {
        return;
    }
    let keys = Keys::new();
    let key = keys.make("ann", "ed25519");
    let other = keys.make("other", "ed25519");
    let signers = keys.line("ann", "ann@example.com");
    let file = signed_by_hand(&key, "file", MESSAGE);
    assert_eq!(
        recognise(&signers, &file, MESSAGE),
        Err(SignatureFlaw::OtherNamespace("file".to_owned()))
    );
    let stranger = signed_by_hand(&other, SIGNATURE_NAMESPACE, MESSAGE);
    assert!(matches!(
        recognise(&signers, &stranger, MESSAGE),
        Err(SignatureFlaw::UnknownKey { .. })
    ));
    let good = signed_by_hand(&key, SIGNATURE_NAMESPACE, MESSAGE);
    for broken in [
        String::new(),
        good.replace('\n', "\r\n"),
        good.trim_end().to_owned(),
        format!("{good}\n"),
        good.replace("SSH SIGNATURE", "PGP SIGNATURE"),
    ] {
        let found = recognise(&signers, &broken, MESSAGE);
        assert_eq!(found, Err(SignatureFlaw::Unreadable), "{broken}");
    }
}

#[test]
fn keys_have_their_time_their_purpose_and_their_names() {
    if keygen_is_missing() {
        return;
    }
    let keys = Keys::new();
    let key = keys.make("ann", "ed25519");
    let armored = signed_by_hand(&key, SIGNATURE_NAMESPACE, MESSAGE);
    let found = |before: &str| {
        let signers = keys.line("ann", before);
        let ours = recognise(&signers, &armored, MESSAGE).map(|found| found.signer.principal);
        ours.map_err(|flaw| flaw.to_string())
    };
    let ok = |name: &str| Ok(name.to_owned());
    let no = |why: &str| Err(why.to_owned());
    assert_eq!(found("ann@example.com"), ok("ann@example.com"));
    assert_eq!(found("bob,ann"), ok("ann"), "the name that she claims");
    assert_eq!(found("*@desk"), ok("ann@desk"));
    assert_eq!(
        found("*@example.com"),
        no("is signed by a key that is allowed for `*@example.com` only")
    );
    assert_eq!(found("a namespaces=\"chaos-*\""), ok("a"));
    assert_eq!(
        found("a namespaces=\"git,file\""),
        no("is signed by a key that is not allowed for approvals")
    );
    assert_eq!(
        found("a valid-after=20260701Z"),
        no("is signed by a key that is allowed from 2026-07-01 00:00:00Z on")
    );
    assert_eq!(
        found("a valid-before=20260501Z"),
        no("is signed by a key that was allowed until 2026-05-01 00:00:00Z")
    );
    let two = keys.line("ann", "a namespaces=git") + &keys.line("ann", "b");
    let second = recognise(&two, &armored, MESSAGE).expect("its second line");
    assert_eq!(second.signer.principal, "b");
}

#[test]
fn what_keeps_a_key_from_signing_is_told() {
    if keygen_is_missing() {
        return;
    }
    let keys = Keys::new();
    let missing = sign(&keys.path("none"), MESSAGE).expect_err("no key");
    assert_eq!(
        missing.message,
        format!("there is no key {}", keys.path("none").display())
    );
    let broken = keys.write("broken", "no key at all\n");
    let refused = sign(&broken, MESSAGE).expect_err("no key in it");
    assert!(
        refused
            .message
            .starts_with("`ssh-keygen` did not sign with "),
        "{refused}"
    );
    assert!(refused.hint.is_some());
}
