//! What a careful reader would say: one row a weakness.

use chaos_gameday::policy::advice;

use super::{SMALL, load_with};

const UID: &str = "clusterUids: [5d3a2b1c-7f60-4f0e-9a55-0c1f3e8d2b47]";

/// `place: message` of everything that is said about an environment with these lines.
fn said(environment: &str, keys: &str) -> Vec<String> {
    let text = match environment.contains("proof:") {
        true => SMALL.replace("proof: {localstack: {hosts: [loopback]}}", environment),
        false => format!("{SMALL}    {environment}\n"),
    };
    let policy = load_with(&text, keys).unwrap_or_else(|error| panic!("{:?}", error.problems()));
    let now = "2026-11-30T12:00:00Z".parse().expect("a time");
    let all = advice(&policy, now).into_iter();
    all.map(|one| format!("{}: {}", one.place, one.message))
        .collect()
}

#[test]
fn every_weakness_is_named_once() {
    let signed = "approval: {mode: signed, signers: allowed_signers}";
    let touch = "approval: {mode: signed, signers: allowed_signers, requireTouch: true}";
    const ALICE: &str =
        "alice ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOJrxUjrVMF0vdVnbGXIyPozsEX1iU6z+BLETfoy+EOx";
    const BOTH: &str = "alice ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOJrxUjrVMF0vdVnbGXIyPozsEX1iU6z+BLETfoy+EOx\nbob sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIOJrxUjrVMF0vdVnbGXIyPozsEX1iU6z+BLETfoy+EOxAAAABHNzaDo=";
    const FOR_GIT: &str = "alice namespaces=\"git\" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOJrxUjrVMF0vdVnbGXIyPozsEX1iU6z+BLETfoy+EOx";
    const TOUCHED: &str = "alice sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIOJrxUjrVMF0vdVnbGXIyPozsEX1iU6z+BLETfoy+EOxAAAABHNzaDo=";
    const LAPSED: &str = "alice valid-before=\"20261129Z\" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOJrxUjrVMF0vdVnbGXIyPozsEX1iU6z+BLETfoy+EOx";
    let rows: Vec<(&str, &str, String, &[&str])> = vec![
        ("nothing", "", "gates: {atLeast: 1}".to_owned(), &[]),
        (
            "a context alone",
            "",
            "proof: {kubernetes: {contexts: [staging]}}".to_owned(),
            &["environments.staging.proof.kubernetes: only the name of a context proves it, and anybody can give a context any name"],
        ),
        (
            "a label alone",
            "",
            "proof: {kubernetes: {namespaceLabels: {stage: staging}}}".to_owned(),
            &["environments.staging.proof.kubernetes: nothing proves which cluster it is: a label can be put on any namespace, and a context can have any name"],
        ),
        (
            "a context and a uid",
            "",
            format!("proof: {{kubernetes: {{contexts: [staging], {UID}}}}}"),
            &[],
        ),
        (
            "every host",
            "",
            "proof: {localstack: {hosts: [\"*\"]}}".to_owned(),
            &["environments.staging.proof.localstack.hosts: `*` fits every host there is"],
        ),
        (
            "names of anybody's",
            "",
            "traffic: {hosts: [\"shop*\"]}".to_owned(),
            &["environments.staging.traffic.hosts: `shop*` fits names of anybody's, such as `shop.example.org`"],
        ),
        (
            "approvers that nobody asks",
            "",
            "approval: {mode: none, approvers: [alice]}".to_owned(),
            &["environments.staging.approval: it says who approves, and `mode: none` asks nobody"],
        ),
        (
            "nobody asked about what is elsewhere",
            "",
            format!("proof: {{kubernetes: {{{UID}}}}}\n    approval: {{mode: none}}"),
            &["environments.staging.approval.mode: a script can break what is not on this machine, and nobody is asked"],
        ),
        (
            "two names that may be one person",
            "",
            "approval: {count: 2}".to_owned(),
            &["environments.staging.approval: who approves is whatever the variable USER says at a terminal: two names may be one person"],
        ),
        ("a key that may sign", ALICE, signed.to_owned(), &[]),
        (
            "a file without keys",
            "# none yet\n",
            signed.to_owned(),
            &["environments.staging.approval.signers: allowed_signers has no key that may sign an approval"],
        ),
        (
            "a key for something else",
            FOR_GIT,
            signed.to_owned(),
            &["environments.staging.approval.signers: allowed_signers has no key that may sign an approval"],
        ),
        (
            "a touch that no key can tell",
            ALICE,
            touch.to_owned(),
            &["environments.staging.approval.signers: a key that is touched is wanted, and allowed_signers has none that can tell"],
        ),
        (
            "a key that can be touched",
            TOUCHED,
            touch.to_owned(),
            &[],
        ),
        (
            "a key whose time is over",
            LAPSED,
            signed.to_owned(),
            &[
                "environments.staging.approval.signers: the time of the key of `alice` in allowed_signers is over",
                "environments.staging.approval.signers: allowed_signers has no key that may sign an approval",
            ],
        ),
        (
            "keys of others than the approvers",
            ALICE,
            "approval: {mode: signed, signers: allowed_signers, approvers: [\"*@example.com\"]}".to_owned(),
            &["environments.staging.approval.signers: nobody whose key is in allowed_signers is one of the `approvers`"],
        ),
        (
            "more approvals than keys",
            ALICE,
            "approval: {mode: signed, signers: allowed_signers, count: 2}".to_owned(),
            &["environments.staging.approval.signers: 2 approvals are needed, and 1 of the keys in allowed_signers may give one"],
        ),
        (
            "more approvals than keys that can be touched",
            BOTH,
            "approval: {mode: signed, signers: allowed_signers, requireTouch: true, count: 2}".to_owned(),
            &["environments.staging.approval.signers: 2 approvals are needed, and 1 of the keys in allowed_signers may give one"],
        ),
        (
            "more approvals than people",
            ALICE,
            "approval: {mode: signed, signers: allowed_signers, count: 3, approvers: [alice, bob]}".to_owned(),
            &[
                "environments.staging.approval.signers: 3 approvals are needed, and 1 of the keys in allowed_signers may give one",
                "environments.staging.approval: 3 approvals are needed, and 2 may give one",
            ],
        ),
        (
            "one person who cannot approve what she plans",
            ALICE,
            "approval: {mode: signed, signers: allowed_signers, requester: denied, approvers: [alice]}".to_owned(),
            &["environments.staging.approval: nobody may approve what `alice` plans"],
        ),
        (
            "an approval for days",
            "",
            "approval: {expiresAfter: 3d}".to_owned(),
            &["environments.staging.approval.expiresAfter: an approval counts for 3d: whoever gave it looked at another day"],
        ),
        (
            "a ladder that nobody has to climb",
            "",
            "blastRadius: {ladder: [10%, 50%]}".to_owned(),
            &["environments.staging.blastRadius.ladder: nobody has to climb it: the lowest rung may be held again and again"],
        ),
        (
            "a freeze that is over",
            "",
            "freezes: [{from: 2026-11-01, to: 2026-11-29, timeZone: UTC}, {from: 2026-11-01, to: 2026-11-30, timeZone: UTC}]".to_owned(),
            &["environments.staging.freezes: the freeze from 2026-11-01 to 2026-11-29 is over"],
        ),
        (
            "a freeze that never ends",
            "",
            "freezes: [{from: 2026-11-01, to: 9999-12-31, timeZone: UTC}]".to_owned(),
            &["environments.staging.freezes: no run may begin in it at all"],
        ),
        (
            "freezes that leave no window for years",
            "",
            "windows: [{days: [mon], from: \"09:00\", to: \"10:00\", timeZone: UTC}]\n    freezes: [{from: 2026-11-01, to: 2028-01-01, timeZone: UTC}]".to_owned(),
            &["environments.staging.freezes: no run may begin in it before 2028-01-03"],
        ),
        (
            "a window that is closed now",
            "",
            "windows: [{days: [tue], from: \"09:00\", to: \"10:00\", timeZone: UTC}]".to_owned(),
            &[],
        ),
        (
            "an environment that smells of production",
            "",
            "proof: {localstack: {hosts: [loopback]}}\n    gates: {atLeast: 1}\n  eu-prod:\n    proof: {localstack: {hosts: [loopback]}}".to_owned(),
            &["environments.eu-prod: its name smells of production (`prod`): every plan in it is denied"],
        ),
        (
            "one that is named",
            "",
            "proof: {localstack: {hosts: [loopback]}}\n    gates: {atLeast: 1}\n  eu-prod:\n    proof: {localstack: {hosts: [loopback]}}\nproduction: {named: [eu-prod]}".to_owned(),
            &[],
        ),
        (
            "everything is named",
            "",
            "gates: {atLeast: 1}\nproduction: {named: [\"*\"]}".to_owned(),
            &["production.named: `*` names everything: whatever smells of production is only asked about"],
        ),
        (
            "secrets of the shell",
            "",
            "gates: {atLeast: 1}\nvariables: {fromEnvironment: [\"AWS_*\", TEAM]}".to_owned(),
            &["variables.fromEnvironment: `AWS_*` lets a document have AWS_SECRET_ACCESS_KEY, and plans and journals show its variables"],
        ),
        (
            "nothing is production",
            "",
            "gates: {atLeast: 1}\nproduction: {words: []}".to_owned(),
            &["production: nothing is taken for production, whatever it is called"],
        ),
    ];
    for (name, keys, environment, expected) in rows {
        assert_eq!(said(&environment, keys), expected, "{name}");
    }
}
