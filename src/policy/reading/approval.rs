//! Reads what approvals an environment needs.

use super::{ReadFile, at, lists};
use crate::model::units::Span;
use crate::plan::decode::Cursor;
use crate::plan::fields::Fields;
use crate::policy::document::{
    ApprovalNeed, ApprovalRules, Permission, RequiredPresence, SignersFile,
};
use crate::signing::{AllowedSigners, SignersProblem};

pub(in crate::policy) const APPROVAL_KEYS: &[&str] = &[
    "mode",
    "count",
    "approvers",
    "requester",
    "distinctFromRequester",
    "expiresAfter",
    "singleUse",
    "signers",
    "requireTouch",
    "requireVerify",
];

const MODES: &[(&str, ApprovalNeed)] = &[
    ("none", ApprovalNeed::None),
    ("confirm", ApprovalNeed::Confirm),
    ("signed", ApprovalNeed::Signed),
];
pub(super) const PERMISSIONS: &[(&str, Permission)] = &[
    ("allowed", Permission::Allowed),
    ("denied", Permission::Denied),
];

const MOST: u32 = 100;
const SHORTEST: Span = Span::from_secs(1);
const LONGEST: Span = Span::from_secs(30 * 86_400);

const MOST_LINES_TOLD: usize = 5;

/// Keys that mean something only for a signature.
const OF_SIGNATURES: &[&str] = &["signers", "requireTouch", "requireVerify"];
/// Those of them that mean nothing where an approval may be typed: nothing is wanted of a key then.
const OF_KEYS_THAT_MUST: &[&str] = &["requireTouch", "requireVerify"];

/// The rules that stand here over those that hold without them.
pub(super) fn read(
    cursor: &Cursor<'_>,
    base: &ApprovalRules,
    files: ReadFile<'_>,
) -> Option<ApprovalRules> {
    let fields = cursor.fields(APPROVAL_KEYS)?;
    let base = base.clone();
    let rules = ApprovalRules {
        mode: at(&fields, "mode", base.mode, |cursor| cursor.word(MODES)),
        count: at(&fields, "count", base.count, |cursor| {
            cursor.whole(1..=MOST)
        }),
        approvers: at(&fields, "approvers", base.approvers, lists::patterns),
        requester: requester(&fields, base.requester),
        expires_after: at(&fields, "expiresAfter", base.expires_after, |cursor| {
            cursor.span(SHORTEST..=LONGEST)
        }),
        reuse: at(&fields, "singleUse", base.reuse, |cursor| {
            cursor.boolean().map(not_if)
        }),
        signers: at(&fields, "signers", base.signers, |cursor| {
            signers(cursor, files).map(Some)
        }),
        presence: presence(&fields, base.presence),
    };
    if fields.has("mode") {
        report_idle(&fields, rules.mode);
    }
    Some(rules)
}

/// The rules of an environment, after everything that stands above it: nothing in them is idle, and
/// nothing is missing.
pub(super) fn settled(
    fields: &Fields<'_>,
    rules: ApprovalRules,
    files_are_read: &Cursor<'_>,
) -> ApprovalRules {
    let own = fields
        .optional("approval")
        .filter(Cursor::is_map)
        .and_then(|cursor| cursor.free_fields());
    if rules.mode == ApprovalNeed::Signed {
        if rules.signers.is_none() && !own.as_ref().is_some_and(|own| own.has("signers")) {
            let own_mode = own.as_ref().and_then(|own| own.optional("mode"));
            own_mode.as_ref().unwrap_or(files_are_read).report(
                "approvals are signed here, and nothing says by which keys",
                "add `signers: allowed_signers`: the path, from this file's folder, to lines such as `alice@example.com ssh-ed25519 AAAA…`",
            );
        }
        return rules;
    }
    if let Some(own) = own.filter(|own| !own.has("mode")) {
        report_idle(&own, rules.mode);
    }
    // What was signed counts wherever its key is known, also where a typed name would do.
    ApprovalRules {
        presence: RequiredPresence::None,
        ..rules
    }
}

/// What has to do with signatures does nothing where none is asked for.
fn report_idle(fields: &Fields<'_>, mode: ApprovalNeed) {
    let (word, idle) = match mode {
        ApprovalNeed::Signed => return,
        ApprovalNeed::None => ("none", OF_SIGNATURES),
        // A signature says more than a typed name, and counts where its key is known.
        ApprovalNeed::Confirm => ("confirm", OF_KEYS_THAT_MUST),
    };
    for key in idle {
        let switched_off = || {
            fields
                .all()
                .any(|(found, value)| found == *key && value.raw() == Some("false"))
        };
        if fields.has(key)
            && !switched_off()
            && let Some(cursor) = fields.optional(key)
        {
            cursor.report(
                format!("`{key}` is about signatures, and `mode: {word}` asks for none"),
                "write `mode: signed`, or take the line away",
            );
        }
    }
}

fn not_if(denied: bool) -> Permission {
    match denied {
        true => Permission::Denied,
        false => Permission::Allowed,
    }
}

fn requester(fields: &Fields<'_>, base: Permission) -> Permission {
    let distinct = fields.optional("distinctFromRequester");
    if let (Some(distinct), Some(said)) = (&distinct, fields.optional("requester")) {
        distinct.report_with(
            "`requester` and `distinctFromRequester` say the same thing twice",
            "keep one of the two",
            Some((&said, "first here")),
        );
    }
    let requester = at(fields, "requester", base, |cursor| cursor.word(PERMISSIONS));
    distinct
        .and_then(|cursor| cursor.boolean())
        .map_or(requester, not_if)
}

fn signers(cursor: &Cursor<'_>, files: ReadFile<'_>) -> Option<SignersFile> {
    let path = cursor.filled_text()?;
    match files(path) {
        Ok(text) => {
            report_lines(cursor, path, &text);
            Some(SignersFile {
                path: path.to_owned(),
                text,
            })
        }
        Err(why) => {
            cursor.report(why.message, why.hint.unwrap_or_default());
            None
        }
    }
}

/// Every line of a file of signers that cannot be read, unless it is a file of something else.
fn report_lines(cursor: &Cursor<'_>, path: &str, text: &str) {
    let wrong = AllowedSigners::parse(text).err().unwrap_or_default();
    for SignersProblem { line, problem } in wrong.iter().take(MOST_LINES_TOLD) {
        cursor.report(
            format!("{path}, line {line}: {}", problem.message),
            problem.hint.clone().unwrap_or_default(),
        );
    }
    if wrong.len() > MOST_LINES_TOLD {
        cursor.report(
            format!("{path} has {} lines that name no signer", wrong.len()),
            "name a file with one signer a line, such as `alice@example.com ssh-ed25519 AAAA…`",
        );
    }
}

/// A key that knows who touched it was touched.
fn presence(fields: &Fields<'_>, base: RequiredPresence) -> RequiredPresence {
    let said = |key| fields.optional(key).and_then(|cursor| cursor.boolean());
    let verify = said("requireVerify");
    let touch = said("requireTouch");
    let floor = match verify {
        Some(true) => RequiredPresence::Verify,
        Some(false) => base.min(RequiredPresence::Touch),
        None => base,
    };
    match touch {
        Some(true) => floor.max(RequiredPresence::Touch),
        Some(false) if floor == RequiredPresence::Verify => {
            if let Some(cursor) = fields.optional("requireTouch") {
                cursor.report(
                    "nobody is verified by a key that was not touched",
                    "write `requireVerify: false` too, or take the line away",
                );
            }
            floor
        }
        Some(false) => RequiredPresence::None,
        None => floor,
    }
}
