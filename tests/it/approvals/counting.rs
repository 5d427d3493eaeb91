//! What makes an approval count and what voids it: one row a case, with the words that a person reads.

use std::collections::BTreeMap;

use chaos_gameday::error::{Way, why_unapproved};
use chaos_gameday::model::approval::{
    Approval, ApprovalMode, Exception, Nonce, SealedApproval, Signature, Verdict,
};
use chaos_gameday::model::cluster::Cluster;
use chaos_gameday::model::ids::{Digest, RunId};
use chaos_gameday::plan::StoredPlan;
use chaos_gameday::policy::{
    self, Admission, ApprovalNeed, ApprovalRules, Finding, Permission, Policy, Refusal,
    RequiredPresence, Scales, Severity, SignersFile, Standing,
};

use super::fido::FidoKey;
use super::{Keys, at, keygen_is_missing, person, signed_by_hand};
use crate::support::engine::Scene;

pub(super) const NOW: &str = "2026-01-01T10:10:00Z";

/// A plan, the policy that it was made under, and keys.
pub(super) struct Ground {
    pub(super) stored: StoredPlan,
    pub(super) policy: Policy,
    keys: Keys,
    findings: Vec<Finding>,
    used: Vec<(Nonce, RunId)>,
}

impl Ground {
    /// Where a person types a name.
    pub(super) async fn confirmed() -> Self {
        Self::with(|_| {}).await
    }

    /// Where ann and bob sign; `more` are lines of signers beside theirs.
    pub(super) async fn signed(more: &str) -> Self {
        let keys = Keys::new();
        let mut text = String::new();
        for name in ["ann", "bob"] {
            keys.make(name, "ed25519");
            text += &keys.line(name, &format!("{name}@example.com"));
        }
        text += more;
        let mut ground = Self::with(|rules| {
            rules.mode = ApprovalNeed::Signed;
            rules.signers = Some(SignersFile {
                path: "allowed_signers".to_owned(),
                text: text.clone(),
            });
        })
        .await;
        ground.keys = keys;
        ground
    }

    async fn with(change: impl Fn(&mut ApprovalRules)) -> Self {
        let mut policy = policy::built_in();
        policy
            .environments
            .values_mut()
            .for_each(|environment| change(&mut environment.approval));
        let plan = Scene::healthy().plan(policy.identity()).await;
        Self {
            stored: StoredPlan::lock(plan).unwrap(),
            policy,
            keys: Keys::new(),
            findings: Vec::new(),
            used: Vec::new(),
        }
    }

    /// The same plan under changed rules.
    async fn ruled(mut self, change: impl Fn(&mut ApprovalRules)) -> Self {
        let environments = self.policy.environments.values_mut();
        environments.for_each(|environment| change(&mut environment.approval));
        let plan = Scene::healthy().plan(self.policy.identity()).await;
        self.stored = StoredPlan::lock(plan).unwrap();
        self
    }

    pub(super) fn yes(&self, user: &str) -> Approval {
        let times = [at("2026-01-01T10:00:00Z"), at("2026-01-01T10:30:00Z")];
        let answer = policy::answer(
            &self.stored,
            &person(user, "laptop"),
            ApprovalMode::Typed,
            times,
        );
        Approval {
            nonce: Some(Nonce::of(7)),
            ..answer
        }
    }

    pub(super) fn signed_yes(&self, user: &str) -> SealedApproval {
        let approval = Approval {
            mode: ApprovalMode::Signed,
            ..self.yes(user)
        };
        self.sign(approval, user)
    }

    fn sign(&self, approval: Approval, key: &str) -> SealedApproval {
        let message = approval.canonical();
        let space = "chaos-approval@v1";
        let armored = signed_by_hand(&self.keys.path(key), space, message.as_bytes());
        let signer = None;
        SealedApproval::seal(approval, Some(Signature { armored, signer }))
    }

    fn standing(&self, approvals: &[SealedApproval]) -> Standing {
        let scales = Scales::new(
            &self.stored,
            &self.policy,
            &self.findings,
            &self.used,
            at(NOW),
        );
        Standing::of(&scales.unwrap(), approvals)
    }

    /// The words of the refusal, `PLAN` for the plan's id; `None`: they are enough.
    fn refused(&self, approvals: &[SealedApproval]) -> Option<String> {
        let standing = self.standing(approvals);
        if standing.is_enough() {
            return None;
        }
        let (problem, lines) = why_unapproved(&standing, &Way::default());
        assert!(problem.hint.is_some(), "{problem} has no next move");
        let text = [vec![problem.message], lines].concat().join("\n");
        Some(text.replace(self.stored.id.as_str(), "PLAN"))
    }

    fn refuses(&self, approval: Approval) -> Option<String> {
        self.refused(&[SealedApproval::seal(approval, None)])
    }
}

fn some(words: &str) -> Option<String> {
    Some(words.to_owned())
}

#[tokio::test]
async fn each_flaw_of_a_typed_approval_has_its_own_words() {
    let ground = Ground::confirmed().await;
    assert_eq!(ground.refuses(ground.yes("ann")), None);
    assert_eq!(ground.refused(&[]), some("nobody has approved plan PLAN"));
    type Spoil = fn(&mut Approval);
    let rows: &[(Spoil, &str)] = &[
        (
            |it| it.digest = Digest::of(b"another"),
            "is for another version of this plan",
        ),
        (
            |it| it.policy = Some(Digest::of(b"laxer")),
            "was given under another policy",
        ),
        (|it| it.policy = None, "was given under another policy"),
        (
            |it| it.worlds.clear(),
            "is for other platforms than this plan touches",
        ),
        (|it| it.stage = None, "is not about a whole run"),
        (
            |it| it.mode = ApprovalMode::NotNeeded,
            "is no person's answer",
        ),
        (
            |it| it.mode = ApprovalMode::Signed,
            "is not signed, and the policy wants a signature",
        ),
        (
            |it| it.expires_at = at(NOW),
            "expired at 2026-01-01 10:10:00Z",
        ),
        (
            |it| it.approved_at = at("2026-01-01T10:11:01Z"),
            "was given in the future: a clock was set back",
        ),
        (
            |it| it.expires_at = at("2026-01-01T10:30:01Z"),
            "counts for longer than the policy lets it",
        ),
        (
            |it| it.exceptions = vec![Exception::SameDose],
            "allows an exception and gives no reason",
        ),
    ];
    for (spoil, words) in rows {
        let mut approval = ground.yes("ann");
        spoil(&mut approval);
        let expected = format!("the approval of ann@laptop {words}");
        assert_eq!(ground.refuses(approval), Some(expected));
    }
    let mut almost = ground.yes("ann");
    almost.approved_at = at("2026-01-01T10:11:00Z");
    assert_eq!(ground.refuses(almost), None, "clocks may differ a little");
}

#[tokio::test]
async fn where_several_were_given_and_none_counts_each_is_told() {
    let ground = Ground::confirmed().await;
    let mut old = ground.yes("ann");
    old.expires_at = at(NOW);
    let mut other = ground.yes("bob");
    other.digest = Digest::of(b"another");
    let given = [old, other].map(|it| SealedApproval::seal(it, None));
    assert_eq!(
        ground.refused(&given),
        some(
            "none of 2 approvals of plan PLAN counts\n  \
             that of ann@laptop expired at 2026-01-01 10:10:00Z\n  \
             that of bob@laptop is for another version of this plan"
        )
    );
}

#[tokio::test]
async fn two_approvals_are_those_of_two_persons() {
    let two = |rules: &mut ApprovalRules| rules.count = 2;
    let ground = Ground::with(two).await;
    let seal = |user: &str| SealedApproval::seal(ground.yes(user), None);
    let few = some("plan PLAN has 1 of 2 approvals, by ann@laptop");
    assert_eq!(ground.refused(&[seal("ann")]), few);
    assert_eq!(ground.refused(&[seal("ann"), seal("ann")]), few);
    assert_eq!(ground.refused(&[seal("ann"), seal("bob")]), None);
    let elsewhere = Approval {
        approver: person("Ann", "server"),
        expires_at: at("2026-01-01T10:29:59Z"),
        ..ground.yes("ann")
    };
    let twice = [seal("ann"), SealedApproval::seal(elsewhere, None)];
    let words = "plan PLAN has 1 of 2 approvals, by Ann@server\n  \
                 that of ann@laptop is the second of one person or one key, which count once";
    assert_eq!(ground.refused(&twice), some(words));
}

#[tokio::test]
async fn one_key_is_one_person_whatever_names_it_goes_by() {
    if keygen_is_missing() {
        return;
    }
    let two = |rules: &mut ApprovalRules| rules.count = 2;
    let mut ground = Ground::signed("").await.ruled(two).await;
    let both = [ground.signed_yes("ann"), ground.signed_yes("bob")];
    assert_eq!(ground.refused(&both), None);
    let line = ground.keys.line("ann", "*");
    ground = ground
        .ruled(|rules| {
            let signers = rules.signers.as_mut().unwrap();
            signers.text = line.clone();
        })
        .await;
    let as_bob = Approval {
        mode: ApprovalMode::Signed,
        ..ground.yes("bob")
    };
    let both = [ground.signed_yes("ann"), ground.sign(as_bob, "ann")];
    assert_eq!(
        ground.refused(&both),
        some(
            "plan PLAN has 1 of 2 approvals, by ann@laptop\n  \
             that of bob@laptop is the second of one person or one key, which count once"
        )
    );
}

#[tokio::test]
async fn a_requester_does_not_approve_where_the_policy_says_so() {
    let distinct = |rules: &mut ApprovalRules| rules.requester = Permission::Denied;
    let ground = Ground::with(distinct).await;
    let requester = ground.stored.plan.requester.user.clone();
    let words = "was given by whoever made the plan, who may not approve it";
    assert_eq!(
        ground.refuses(ground.yes(&requester)),
        Some(format!("the approval of {requester}@laptop {words}"))
    );
    assert_eq!(ground.refuses(ground.yes("somebody-else")), None);
    if keygen_is_missing() {
        return;
    }
    // Under another user name, with the requester's own key.
    let ground = Ground::signed("").await.ruled(distinct).await;
    let line = ground.keys.line("ann", &format!("{requester}@example.com"));
    let ground = ground
        .ruled(|rules| rules.signers.as_mut().unwrap().text = line.clone())
        .await;
    assert_eq!(
        ground.refused(&[ground.signed_yes("ann")]),
        Some(format!("the approval of ann@laptop {words}"))
    );
}

#[tokio::test]
async fn only_approvers_approve() {
    let rules = |rules: &mut ApprovalRules| rules.approvers = vec!["lead-*".parse().unwrap()];
    let ground = Ground::with(rules).await;
    assert_eq!(ground.refuses(ground.yes("lead-ann")), None);
    assert_eq!(
        ground.refuses(ground.yes("ann")),
        some(
            "the approval of ann@laptop was given by `ann`, who is no approver of this environment"
        )
    );
}

#[tokio::test]
async fn a_signature_is_needed_and_has_to_be_the_right_one() {
    if keygen_is_missing() {
        return;
    }
    let ground = Ground::signed("").await;
    assert_eq!(ground.refused(&[ground.signed_yes("ann")]), None);
    assert_eq!(
        ground.refuses(ground.yes("ann")),
        some("the approval of ann@laptop is not signed, and the policy wants a signature")
    );
    ground.keys.make("eve", "ed25519");
    let stranger = ground.refused(&[ground.signed_yes("eve")]).unwrap();
    let words = "the approval of eve@laptop is signed by SHA256:";
    assert!(stranger.starts_with(words), "{stranger}");
    assert!(
        stranger.ends_with(", which is no allowed signer"),
        "{stranger}"
    );
    let mut moved = ground.signed_yes("ann");
    moved.approval.reason = Some("written in later".to_owned());
    let moved = SealedApproval::seal(moved.approval, moved.signature);
    assert_eq!(
        ground.refused(&[moved]),
        some("the approval of ann@laptop has a signature that is not over what it says")
    );
}

#[tokio::test]
async fn a_key_has_to_say_that_somebody_was_there() {
    let key = FidoKey::ed25519();
    let words = |flags: u8, presence: RequiredPresence, options: &'static str| {
        let line = key.line(&format!("ann@example.com {options}"));
        let key = &key;
        async move {
            let ground = Ground::with(|rules| {
                rules.mode = ApprovalNeed::Signed;
                rules.presence = presence;
                rules.signers = Some(SignersFile {
                    path: String::new(),
                    text: line.clone(),
                });
            })
            .await;
            let approval = Approval {
                mode: ApprovalMode::Signed,
                ..ground.yes("ann")
            };
            let armored = key.sign(flags, approval.canonical().as_bytes());
            let signer = None;
            let signature = Some(Signature { armored, signer });
            ground.refused(&[SealedApproval::seal(approval, signature)])
        }
    };
    let untouched = some(
        "the approval of ann@laptop was signed by a key that nobody touched, and the policy wants a touch",
    );
    let unverified = some(
        "the approval of ann@laptop was signed by a key that did not ask who touched it, and the policy wants a PIN or a finger",
    );
    use RequiredPresence::{None as Nothing, Touch, Verify};
    for (flags, presence, options, expected) in [
        (0x00, Nothing, "", None),
        (0x00, Touch, "", untouched.clone()),
        (0x01, Touch, "", None),
        (0x05, Touch, "", None),
        (0x00, Verify, "", unverified.clone()),
        (0x01, Verify, "", unverified.clone()),
        (0x05, Verify, "", None),
        (0x00, Touch, "no-touch-required", None),
        (0x01, Verify, "no-touch-required", unverified.clone()),
        (0x01, Nothing, "verify-required", unverified),
    ] {
        let found = words(flags, presence, options).await;
        assert_eq!(found, expected, "{flags:#x} {presence:?} {options}");
    }
}

#[tokio::test]
async fn a_no_stands_until_the_same_person_says_yes() {
    let ground = Ground::confirmed().await;
    let seal = |it: Approval| SealedApproval::seal(it, None);
    let no = Approval {
        verdict: Verdict::No,
        reason: Some("the queue is full today".to_owned()),
        approved_at: at("2026-01-01T10:05:00Z"),
        ..ground.yes("bob")
    };
    let words = some("bob@laptop said no to plan PLAN: the queue is full today");
    let yes = seal(ground.yes("ann"));
    assert_eq!(ground.refused(&[seal(no.clone())]), words);
    assert_eq!(ground.refused(&[yes.clone(), seal(no.clone())]), words);
    let earlier = seal(ground.yes("bob"));
    assert_eq!(
        ground.refused(&[yes.clone(), seal(no.clone()), earlier]),
        words
    );
    let later = Approval {
        approved_at: at("2026-01-01T10:06:00Z"),
        ..ground.yes("bob")
    };
    assert_eq!(ground.refused(&[yes, seal(no), seal(later)]), None);
}

#[tokio::test]
async fn a_no_stands_also_where_no_yes_is_needed() {
    let ground = Ground::with(|rules| rules.mode = ApprovalNeed::None).await;
    let no = Approval {
        verdict: Verdict::No,
        reason: Some("the queue is full today".to_owned()),
        ..ground.yes("bob")
    };
    let asker = person("sam", "desk");
    let run = |approvals: &[SealedApproval]| {
        let by = Admission {
            approvals,
            ..Admission::by(&ground.policy, at(NOW), &asker)
        };
        policy::admit(ground.stored.clone(), by)
    };
    let admitted = run(&[]).expect("nobody is needed");
    let approval = &admitted.granted()[0].approval;
    assert_eq!(approval.mode, ApprovalMode::NotNeeded);
    let reason = "policy `built-in` wants no approval in environment `sandbox`";
    assert_eq!(approval.reason.as_deref(), Some(reason));
    let refused = run(&[SealedApproval::seal(no, None)]);
    assert!(
        matches!(refused, Err(Refusal::Unapproved(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_yes_for_another_cluster_is_void() {
    let mut ground = Ground::confirmed().await;
    let cluster = |uid: &str| Cluster {
        context: None,
        api_server: "https://127.0.0.1:6443".to_owned(),
        uid: uid.to_owned(),
        version: "v1.35.4".to_owned(),
        namespace: "shop".to_owned(),
        namespace_uid: "uid".to_owned(),
        namespace_labels: BTreeMap::new(),
    };
    let mut plan = ground.stored.plan.clone();
    plan.cluster = Some(cluster("one"));
    ground.stored = StoredPlan::lock(plan).unwrap();
    let yes = ground.yes("ann");
    assert_eq!(ground.refuses(yes.clone()), None);
    let world = cluster("two").world();
    let elsewhere = Approval {
        worlds: vec![yes.worlds[0].clone(), world],
        ..yes
    };
    assert!(ground.refuses(elsewhere).is_some());
}

#[tokio::test]
async fn what_is_unusual_has_to_be_allowed_by_name_and_with_a_reason() {
    let mut ground = Ground::confirmed().await;
    ground.findings = vec![Finding {
        rule: "ladder".to_owned(),
        severity: Severity::Require,
        place: "steps[0]".to_owned(),
        message: "a rung is skipped".to_owned(),
        way_out: "run the rung below".to_owned(),
        exception: Some(Exception::SkippedRung),
    }];
    assert_eq!(
        ground.refuses(ground.yes("ann")),
        some("the approval of ann@laptop does not allow `skipped-rung`, which this plan needs")
    );
    let allowed = Approval {
        exceptions: vec![Exception::SkippedRung],
        reason: Some("rehearsed by hand".to_owned()),
        ..ground.yes("ann")
    };
    assert_eq!(ground.refuses(allowed), None);
}

#[tokio::test]
async fn a_single_use_approval_counts_once() {
    let once = |rules: &mut ApprovalRules| rules.reuse = Permission::Denied;
    let mut ground = Ground::with(once).await;
    assert_eq!(ground.refuses(ground.yes("ann")), None);
    let run: RunId = "r-20260101-100000-000ab".parse().unwrap();
    ground.used = vec![(Nonce::of(7), run)];
    assert_eq!(
        ground.refuses(ground.yes("ann")),
        some("the approval of ann@laptop counts once and was used by r-20260101-100000-000ab")
    );
    let mut bare = ground.yes("ann");
    bare.nonce = None;
    assert_eq!(
        ground.refuses(bare),
        some("the approval of ann@laptop counts once and has no nonce that tells it from another")
    );
}
