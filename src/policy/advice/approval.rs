//! What is weak about who has to say yes.

use jiff::Timestamp;

use super::Advice;
use crate::model::pattern::Pattern;
use crate::model::units::Span;
use crate::policy::document::{ApprovalNeed, ApprovalRules, Permission, RequiredPresence};
use crate::signing::{AbleSigner, AllowedSigners};

/// The world that was approved is another one after this.
const LONG_APPROVAL: Span = Span::from_secs(86_400);

pub(super) fn approval(place: &str, rules: &ApprovalRules, now: Timestamp) -> Vec<Advice> {
    let place = format!("{place}.approval");
    let mut all = Vec::new();
    let asks_who =
        !rules.approvers.is_empty() || rules.count > 1 || rules.requester == Permission::Denied;
    match rules.mode {
        ApprovalNeed::None if asks_who => all.push(Advice::new(
            &place,
            "it says who approves, and `mode: none` asks nobody",
            "write `mode: signed` or `mode: confirm`, or take the rest away",
        )),
        ApprovalNeed::Confirm if asks_who => all.push(Advice::new(
            &place,
            "who approves is whatever the variable USER says at a terminal: two names may be one person",
            "write `mode: signed` with `signers`, where a key proves the person",
        )),
        ApprovalNeed::None | ApprovalNeed::Confirm => {}
        ApprovalNeed::Signed => all.extend(signed(&place, rules, now)),
    }
    all.extend(too_few(&place, rules));
    if rules.mode != ApprovalNeed::None && rules.expires_after > LONG_APPROVAL {
        all.push(Advice::new(
            format!("{place}.expiresAfter"),
            format!(
                "an approval counts for {}: whoever gave it looked at another day",
                rules.expires_after
            ),
            "write hours or minutes; `chaos approve` is quickly said again",
        ));
    }
    all
}

/// Too few people are named to give what is wanted.
fn too_few(place: &str, rules: &ApprovalRules) -> Option<Advice> {
    let people = rules.approvers.iter().filter(|one| is_literal(one)).count();
    if people == 0 || people < rules.approvers.len() {
        return None;
    }
    if is_more(rules.count, people) {
        return Some(Advice::new(
            place,
            format!(
                "{} approvals are needed, and {people} may give one",
                rules.count
            ),
            "name more approvers, or lower `count`",
        ));
    }
    (people == 1 && rules.requester == Permission::Denied).then(|| {
        Advice::new(
            place,
            format!("nobody may approve what `{}` plans", rules.approvers[0]),
            "name a second approver",
        )
    })
}

fn is_more(count: u32, than: usize) -> bool {
    usize::try_from(count).is_ok_and(|count| count > than)
}

fn is_literal(pattern: &Pattern) -> bool {
    !pattern.as_str().contains(['*', '?', '[', '{', '\\'])
}

fn signed(place: &str, rules: &ApprovalRules, now: Timestamp) -> Vec<Advice> {
    let Some(file) = &rules.signers else {
        return Vec::new();
    };
    let place = format!("{place}.signers");
    let path = &file.path;
    // What cannot be read is an error of the policy, not a weakness.
    let signers = AllowedSigners::parse(&file.text).unwrap_or_default();
    let able = signers.able_to_approve(now);
    let mut all = Vec::new();
    for names in signers.lapsed(now) {
        all.push(Advice::new(
            &place,
            format!("the time of the key of `{names}` in {path} is over"),
            "put a new key there, or take the line away",
        ));
    }
    if able.is_empty() {
        all.push(Advice::new(
            place,
            format!("{path} has no key that may sign an approval"),
            "add lines such as `alice@example.com namespaces=\"chaos-approval@v1\" ssh-ed25519 AAAA…`",
        ));
        return all;
    }
    all.extend(unmet(&place, path, rules, &able));
    all
}

/// Keys that cannot give what is wanted of them.
fn unmet(
    place: &str,
    path: &str,
    rules: &ApprovalRules,
    able: &[AbleSigner<'_>],
) -> Option<Advice> {
    let can_tell = |signer: &&AbleSigner<'_>| {
        rules.presence == RequiredPresence::None || signer.key_type.starts_with("sk-")
    };
    let telling: Vec<_> = able.iter().filter(can_tell).collect();
    if telling.is_empty() {
        return Some(Advice::new(
            place,
            format!("a key that is touched is wanted, and {path} has none that can tell"),
            "add a FIDO key: `ssh-keygen -t ed25519-sk` makes one",
        ));
    }
    let approves = |signer: &&&AbleSigner<'_>| {
        let is_one = |name: &str| rules.approvers.iter().any(|one| one.matches(name));
        rules.approvers.is_empty() || signer.may_be(is_one)
    };
    let approving = telling.iter().filter(approves).count();
    if approving == 0 {
        return Some(Advice::new(
            place,
            format!("nobody whose key is in {path} is one of the `approvers`"),
            "approvers are matched with the names at the beginning of each line: make them agree",
        ));
    }
    is_more(rules.count, approving).then(|| {
        Advice::new(
            place,
            format!(
                "{} approvals are needed, and {approving} of the keys in {path} may give one",
                rules.count
            ),
            "add keys of more people, or lower `count`",
        )
    })
}
