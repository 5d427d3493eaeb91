//! Plans as a person reads them at 80 columns: accepted, warned about, denied, explained on a page.

use std::fs;

use chaos_gameday::model::approval::{
    Approval, ApprovalMode, Exception, Person, SealedApproval, Verdict,
};
use chaos_gameday::model::ids::Digest;
use chaos_gameday::plan::StoredPlan;
use chaos_gameday::policy::{self, Facts, Finding, Scales, Severity, Standing};
use chaos_gameday::view::{Setup, plan as view};
use serde_json::Value;

use super::{Scene, approve};
use crate::support::screen::captured;

const DOCS: &str = include_str!("../../../docs/plans.md");
const RULES: &str = "{service: kinesis, operation: PutRecord, probability: 0.5}, {service: sqs}";

/// The plan of a scene as its file has it.
async fn text_of(scene: &Scene) -> String {
    let planned = ["plan", "-o", "json", "stream-down.yaml"];
    scene.place.chaos(&planned).await.exits(0).stdout
}

/// What a plan looks like, with what the built-in policy and these say about it.
fn read(stored: &StoredPlan, findings: Vec<Finding>) -> String {
    let policy = policy::built_in();
    let mut found = policy::evaluate(&Facts::about(&stored.plan, &policy));
    found.extend(findings);
    let (printer, seen) = captured(Setup::PIPE);
    let sheet = view::Sheet {
        stored,
        policy: &policy,
        findings: &found,
        standing: None,
    };
    view::show(&printer, &sheet);
    let page = seen.stdout();
    for line in page.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    page.replace(stored.digest.as_str(), "DIGEST")
        .replace(stored.id.as_str(), "p-0123456789")
}

#[tokio::test]
async fn a_plan_says_everything_in_order_and_nothing_twice() {
    let scene = Scene::with_rules(RULES).await;
    let text = text_of(&scene).await;
    let stored = steady(&text, &scene);
    let accepted = read(&stored, Vec::new());
    assert!(DOCS.contains(&accepted), "docs/plans.md shows another plan");
    insta::assert_snapshot!("accepted", accepted);
    let skipped = Finding {
        rule: "ladder".to_owned(),
        severity: Severity::Require,
        place: "steps[0].fault.localstack.faults[0].probability".to_owned(),
        message: "a dose of 50% wants a run that held at 10%".to_owned(),
        way_out: "`probability: 0.1` comes next".to_owned(),
        exception: Some(Exception::SkippedRung),
    };
    insta::assert_snapshot!("warned", read(&stored, vec![skipped]));
}

#[tokio::test]
async fn every_field_of_a_plan_is_documented() {
    let scene = Scene::new().await;
    let plan: Value = serde_json::from_str(&text_of(&scene).await).unwrap();
    for place in ["", "/plan", "/plan/steps/0", "/plan/steps/0/prepared"] {
        let fields = plan.pointer(place).unwrap().as_object().unwrap();
        for field in fields
            .keys()
            .filter(|field| !["plan", "steps", "prepared"].contains(&field.as_str()))
        {
            let told = DOCS.contains(&format!("`{field}`")) || DOCS.contains(&format!(".{field}`"));
            assert!(told, "docs/plans.md does not tell `{field}` of `{place}`");
        }
    }
}

#[tokio::test]
async fn a_plan_that_is_approved_is_shown_with_who_did_and_wants_to_be_run() {
    let scene = Scene::new().await;
    let plan = scene.plan(&[]).await;
    let show = ["show", plan.as_str()];
    let next = format!("next: chaos approve {plan}\nthen: chaos run {plan}\n");
    scene.place.chaos(&show).await.exits(0).prints(&next);
    approve(&scene.place, &plan);
    let next = "1 of 1 approvals: it may run\n\ndigest sha256:";
    let shown = scene.place.chaos(&show).await.exits(0).prints(next);
    let last = shown.stdout.lines().last().map(str::to_owned);
    assert_eq!(last, Some(format!("next: chaos run {plan}")));
}

#[tokio::test]
async fn an_approved_plan_that_would_be_refused_now_is_not_said_to_run() {
    let policy = |lines: &str| {
        format!(
            "apiVersion: chaos/v1\nkind: Policy\nmetadata: {{name: careful}}\nenvironments:\n  local:\n    proof: {{localstack: {{hosts: [loopback]}}}}\n    approval: {{mode: confirm}}\n{lines}"
        )
    };
    let scene = Scene::new().await;
    // Frozen whenever this is run.
    let frozen = "    freezes: [{from: 2000-01-01, to: 2999-12-31, timeZone: UTC}]\n";
    scene.place.write("chaos-policy.yaml", &policy(frozen));
    let plan = scene.plan(&[]).await;
    approve(&scene.place, &plan);
    let show = ["show", plan.as_str()];
    let list = ["approve", "--list"];
    for args in [&show, &list] {
        let told = scene.place.chaos(args).await.exits(0);
        let told = told.prints("1 of 1 approvals: refused now, ");
        assert!(!told.stdout.contains("it may run\n"), "{}", told.stdout);
    }
    let next = format!("next, once it is not refused any more: chaos run {plan}\n");
    scene.place.chaos(&show).await.exits(0).prints(&next);
    scene.place.write("chaos-policy.yaml", &policy(""));
    for args in [&show, &list] {
        let told = scene.place.chaos(args).await.exits(0);
        let told = told.prints("made under another policy: it does not run");
        assert!(!told.stdout.contains("it may run\n"), "{}", told.stdout);
    }
    let told = scene
        .place
        .chaos(&show)
        .await
        .exits(0)
        .prints("(policy, at");
    let last = told.stdout.lines().last().unwrap_or_default().to_owned();
    assert!(last.starts_with("next: chaos plan "), "{last}");
}

#[test]
fn what_a_denying_policy_says_besides_is_not_passed_over() {
    let finding = |rule: &str, severity| Finding {
        rule: rule.to_owned(),
        severity,
        place: "environment".to_owned(),
        message: format!("{rule} speaks"),
        way_out: "listen".to_owned(),
        exception: None,
    };
    let (printer, _) = captured(Setup::PIPE);
    let denied = finding("figures", Severity::Deny);
    let warned = finding("change-window", Severity::Warn);
    let nothing: Vec<String> = Vec::new();
    assert_eq!(
        view::undenied(&printer, std::slice::from_ref(&denied)),
        nothing
    );
    let said = view::undenied(&printer, &[denied, warned]).join("\n");
    assert_eq!(
        said,
        "\nThe policy says besides\n  warn      change-window speaks (change-window, at environment)\n            → listen"
    );
}

#[tokio::test]
async fn a_denied_plan_says_what_was_planned_why_not_and_how_to_go_on() {
    let scene = Scene::new().await;
    let file = scene.place.path("stream-down.yaml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("HOLD:-1s", "HOLD:-1h")).unwrap();
    for verb in ["plan", "run"] {
        let denied = scene
            .place
            .chaos(&[verb, "stream-down.yaml"])
            .await
            .exits(3);
        assert_eq!(denied.stdout, "");
        let at = |words: &str| {
            let found = denied.stderr.find(words);
            found.unwrap_or_else(|| panic!("no {words:?} in {}", denied.stderr))
        };
        let places = [
            at("stream-down: denied, so no plan is kept\n"),
            at("  step 1    stream refuses records, held for 1h\n"),
            at("            kinesis PutRecord in us-east-1"),
            at("error: the policy denies this plan"),
            at("(figures)"),
            at("next: change stream-down.yaml or the policy, then plan again\n"),
        ];
        assert!(places.is_sorted(), "{}", denied.stderr);
        let quiet = scene.place.chaos(&["-q", verb, "stream-down.yaml"]);
        let quiet = quiet.await.exits(3);
        assert!(quiet.stderr.starts_with("error:"), "{}", quiet.stderr);
    }
    assert!(scene.place.store().plans().unwrap().is_empty());
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
}

/// The plan as it would be at an address and on a day that are always the same.
fn steady(text: &str, scene: &Scene) -> StoredPlan {
    let text = text
        .replace(&scene.localstack.url, "http://127.0.0.1:4566")
        .replace(&scene.target.url(""), "http://127.0.0.1:8080");
    let stored: StoredPlan = serde_json::from_str(&text).unwrap();
    let mut plan = stored.plan;
    plan.created = "2026-01-01T00:00:00Z".parse().unwrap();
    plan.requester = Person {
        user: "sam".to_owned(),
        host: "desk".to_owned(),
    };
    plan.source.digest = Digest::of(plan.source.text.as_bytes());
    StoredPlan::lock(plan).unwrap()
}

#[tokio::test]
async fn a_plan_is_explained_on_a_page_of_eighty_columns() {
    let scene = Scene::with_rules(RULES).await;
    let file = scene.place.path("stream-down.yaml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        text.replace("faults: [", "latency: 300ms, faults: ["),
    )
    .unwrap();
    let text = text_of(&scene).await;
    let stored = steady(&text, &scene);
    let required = Finding {
        rule: "approval".to_owned(),
        severity: Severity::Require,
        place: "environment".to_owned(),
        message: "environment `local` wants a person's approval".to_owned(),
        way_out: "`chaos approve PLAN`".to_owned(),
        exception: None,
    };
    for (name, utf8) in [("unicode", true), ("ascii", false)] {
        let mut setup = Setup::PIPE;
        setup.environment.ascii_locale = !utf8;
        let (printer, seen) = captured(setup);
        view::explain(&printer, &stored, std::slice::from_ref(&required), None);
        let page = seen.stdout();
        assert!(
            page.lines().all(|line| line.chars().count() <= 80),
            "{page}"
        );
        assert!(page.lines().count() <= 66, "{page}");
        assert!(utf8 || page.is_ascii(), "{page}");
        let page = page
            .replace(stored.digest.as_str(), "DIGEST")
            .replace(stored.id.as_str(), "p-0123456789");
        insta::assert_snapshot!(name, page);
    }
}

fn wants_a_yes() -> Finding {
    Finding {
        rule: "approval".to_owned(),
        severity: Severity::Require,
        place: "environment".to_owned(),
        message: "environment `local` wants a person's approval".to_owned(),
        way_out: "`chaos approve PLAN`".to_owned(),
        exception: None,
    }
}

/// A page of paper.
#[track_caller]
fn assert_fits(page: &str) {
    let wide = |line: &str| line.chars().count() > 80;
    assert!(!page.lines().any(wide), "{page}");
    assert!(page.lines().count() <= 66, "{page}");
}

fn unnamed(page: &str, stored: &StoredPlan) -> String {
    page.replace(stored.digest.as_str(), "DIGEST")
        .replace(stored.id.as_str(), "p-0123456789")
}

#[tokio::test]
async fn a_page_tells_who_said_yes_who_said_no_and_who_does_not_count() {
    let scene = Scene::new().await;
    let text = text_of(&scene).await;
    let stored = steady(&text, &scene);
    let said = |user: &str, minute: i8, end: &str| {
        let approver = Person {
            user: user.to_owned(),
            host: "laptop".to_owned(),
        };
        let from = format!("2026-01-01T10:{minute:02}:00Z").parse().unwrap();
        let times = [from, end.parse().unwrap()];
        policy::answer(&stored, &approver, ApprovalMode::Typed, times)
    };
    let allows = Approval {
        reason: Some("agreed \u{202e}with the\u{1b}[2J shop".to_owned()),
        exceptions: vec![Exception::SameDose],
        ..said("bob", 1, "2026-01-01T10:31:00Z")
    };
    let no = Approval {
        verdict: Verdict::No,
        reason: Some("the queue is full, and it will be until the night".to_owned()),
        ..said("carol", 2, "2026-01-01T10:02:00Z")
    };
    let all = [
        said("ann", 0, "2026-01-01T10:05:00Z"),
        allows,
        no,
        said("Bob\u{200b}", 3, "2026-01-01T23:33:00Z"),
    ];
    let given = all.map(|one| SealedApproval::seal(one, None));
    let built_in = policy::built_in();
    let now = "2026-01-01T10:10:00Z".parse().unwrap();
    let scales = Scales::new(&stored, &built_in, &[], &[], now).unwrap();
    let standing = Standing::of(&scales, &given);
    let (printer, seen) = captured(Setup::PIPE);
    view::explain(&printer, &stored, &[wants_a_yes()], Some(&standing));
    let page = seen.stdout();
    assert_fits(&page);
    let yes = page.split("Who must say yes").nth(1).unwrap();
    let yes = yes.split("How to undo").next().unwrap();
    insta::assert_snapshot!("said", unnamed(yes, &stored));
}
