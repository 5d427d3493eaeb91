//! The store of plans, approvals and runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use chaos_gameday::journal::{RunEntry, Store};
use chaos_gameday::model::approval::{Approval, ApprovalMode, Person, SealedApproval, Verdict};
use chaos_gameday::model::ids::{Digest, PlanId, RunId};
use chaos_gameday::model::problem::{Problem, ProblemKind};

struct State {
    folder: tempfile::TempDir,
    store: Store,
}

fn state() -> State {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path().join("state/chaos")).expect("a store");
    State { folder, store }
}

fn plan(id: &str) -> PlanId {
    id.parse().expect("a valid plan id")
}

fn run(id: &str) -> RunId {
    id.parse().expect("a valid run id")
}

fn approval(plan: &PlanId, reason: &str) -> SealedApproval {
    let approval = Approval {
        format: 2,
        plan: plan.clone(),
        digest: Digest::of(b"plan"),
        approver: Person {
            user: "ada".to_owned(),
            host: "workbench".to_owned(),
        },
        policy: None,
        worlds: Vec::new(),
        stage: None,
        nonce: None,
        requester: None,
        mode: ApprovalMode::Typed,
        verdict: Verdict::Yes,
        approved_at: "2026-03-14T09:29:41Z".parse().expect("a valid time"),
        expires_at: "2026-03-14T10:29:41Z".parse().expect("a valid time"),
        reason: Some(reason.to_owned()),
        exceptions: Vec::new(),
    };
    SealedApproval::seal(approval, None)
}

fn invalid(message: &str, hint: &str) -> Problem {
    Problem::new(ProblemKind::Invalid, message).hint(hint)
}

#[test]
fn opening_and_asking_an_empty_store_writes_nothing() {
    let state = state();
    assert_eq!(state.store.plans(), Ok(vec![]));
    assert_eq!(state.store.runs(), Ok(vec![]));
    let none = state.store.approvals(&plan("p-0a1b"));
    assert_eq!(none, Ok(Default::default()));
    assert_eq!(
        fs::read_dir(state.folder.path()).expect("a folder").count(),
        0
    );
}

#[test]
fn a_plan_is_kept_once_for_its_owner_only_and_never_overwritten() {
    let State { folder, store } = state();
    let id = plan("p-0a1b2c3d4e");
    assert_eq!(store.save_plan(&id, "{\"a\":1}"), Ok(()));
    assert_eq!(store.save_plan(&id, "{\"a\":1}"), Ok(()));
    let other = store.save_plan(&id, "{\"a\":2}").expect_err("a refusal");
    let path = folder.path().join("state/chaos/plans/p-0a1b2c3d4e.json");
    assert_eq!(
        other.message,
        format!("another plan stands under {id} in {}", path.display())
    );
    assert_eq!(
        store.load_plan("p-0a1b2c3d4e"),
        Ok((id, "{\"a\":1}".to_owned()))
    );
    let mode = |path| {
        fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode(path.clone()), 0o600);
    assert_eq!(mode(folder.path().join("state/chaos")), 0o700);
    let beside = fs::read_dir(path.parent().expect("a folder")).expect("a folder");
    assert_eq!(beside.count(), 1, "no draft is left");
}

#[test]
fn a_plan_is_found_by_any_unique_start() {
    let State { store, .. } = state();
    for id in ["p-0a1b2c3d4e", "p-0a9f2c3d4e", "p-ff"] {
        store.save_plan(&plan(id), id).expect("space");
    }
    for wanted in ["p-0a1b2c3d4e", "0a1b2c3d4e", "0a1", "p-0a1"] {
        let found = store.load_plan(wanted).map(|(id, _)| id);
        assert_eq!(found, Ok(plan("p-0a1b2c3d4e")), "{wanted}");
    }
}

#[test]
fn an_ambiguous_an_unknown_and_an_empty_plan_id_say_what_there_is() {
    let State { store, .. } = state();
    assert_eq!(
        store.load_plan("abc"),
        Err(invalid(
            "there is no plan `abc`",
            "there is no plan yet: `chaos plan FILE` makes one"
        ))
    );
    for id in ["p-0a1b", "p-0a9f"] {
        store.save_plan(&plan(id), id).expect("space");
    }
    let ambiguous = store.load_plan("0a").expect_err("two fit");
    assert_eq!(ambiguous.message, "`0a` could be 2 plans");
    assert_eq!(
        store.load_plan("0a9e"),
        Err(invalid(
            "there is no plan `0a9e`",
            "there are p-0a9f, p-0a1b; `chaos plan FILE` makes one"
        ))
    );
    for odd in ["", "../../etc/passwd", "p-\n"] {
        let kind = store.load_plan(odd).map_err(|why| why.kind);
        assert_eq!(kind, Err(ProblemKind::Invalid), "{odd:?}");
    }
}

#[test]
fn plans_are_listed_newest_first() {
    let State { folder, store } = state();
    for (id, age) in [("p-aa", 30), ("p-bb", 10), ("p-cc", 20)] {
        store.save_plan(&plan(id), id).expect("space");
        let path = folder.path().join(format!("state/chaos/plans/{id}.json"));
        let file = fs::File::options().append(true).open(path).expect("a plan");
        let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(9_000 - age);
        file.set_modified(then).expect("a settable time");
    }
    fs::write(folder.path().join("state/chaos/plans/notes.txt"), "mine").expect("space");
    assert_eq!(
        store.plans(),
        Ok(["p-bb", "p-cc", "p-aa"].map(plan).to_vec())
    );
}

#[test]
fn approvals_are_kept_side_by_side_and_damaged_ones_are_named() {
    let State { folder, store } = state();
    let id = plan("p-0a1b");
    for reason in ["first", "second"] {
        store.save_approval(&approval(&id, reason)).expect("space");
    }
    let approvals = folder.path().join("state/chaos/approvals/p-0a1b");
    fs::write(approvals.join("3.json"), "{\"format\":1").expect("space");
    let foreign = approval(&plan("p-ffff"), "moved here").to_text();
    fs::write(approvals.join("4.json"), foreign).expect("space");
    store.save_approval(&approval(&id, "last")).expect("space");
    let found = store.approvals(&id).expect("a readable folder");
    let expected = ["first", "second", "last"].map(|reason| approval(&id, reason));
    assert_eq!(found.readable, expected);
    let damaged: Vec<_> = found
        .damaged
        .iter()
        .map(|problem| problem.message.clone())
        .collect();
    let named = |number: u32, why: &str| {
        format!(
            "the approval {}/{number}.json does not count: {why}",
            approvals.display()
        )
    };
    assert_eq!(
        damaged,
        [
            named(
                3,
                "this is no approval: EOF while parsing an object at line 1 column 11"
            ),
            named(4, "it is for p-ffff"),
        ]
    );
}

#[test]
fn a_run_has_a_folder_of_its_own_with_its_plan() {
    let State { store, .. } = state();
    let id = run("r-20260314-093000-k7x2");
    let folder = store.create_run(&id, "{\"plan\":1}").expect("space");
    assert_eq!(
        fs::read_to_string(folder.plan()).expect("a plan"),
        "{\"plan\":1}"
    );
    assert!(!folder.journal().exists());
    let again = store
        .create_run(&id, "{\"plan\":2}")
        .expect_err("a refusal");
    assert_eq!(again.kind, ProblemKind::Evidence);
    assert_eq!(
        fs::read_to_string(folder.plan()).expect("a plan"),
        "{\"plan\":1}"
    );
    let entry = RunEntry {
        journal: folder.journal(),
        plan: folder.plan(),
        id,
    };
    assert_eq!(store.runs(), Ok(vec![entry]));
}

#[test]
fn runs_are_listed_newest_first_and_found_by_start_or_as_the_last() {
    let State { store, .. } = state();
    let ids = [
        "r-20260314-093000-k7x2",
        "r-20260315-080000-aaaa",
        "r-20260314-101500-b2b2",
    ];
    for id in ids {
        store.create_run(&run(id), "{}").expect("space");
    }
    let listed: Vec<_> = store
        .runs()
        .expect("runs")
        .into_iter()
        .map(|run| run.id)
        .collect();
    assert_eq!(listed, [ids[1], ids[2], ids[0]].map(run));
    let find = |wanted: &str| store.find_run(wanted).map(|run| run.id.to_string());
    assert_eq!(find("last").as_deref(), Ok(ids[1]));
    assert_eq!(find("20260315").as_deref(), Ok(ids[1]));
    assert_eq!(find("r-20260314-10").as_deref(), Ok(ids[2]));
    assert_eq!(
        find("r-20260314"),
        Err(invalid(
            "`r-20260314` could be 2 runs",
            "write more of it: r-20260314-101500-b2b2, r-20260314-093000-k7x2"
        ))
    );
}

#[test]
fn a_state_folder_that_is_a_file_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("state");
    fs::write(&path, "a file").expect("space");
    let problem = Store::open(path.clone()).expect_err("a refusal");
    assert_eq!(
        problem.message,
        format!("the state folder {} is no folder", path.display())
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_a_clear_problem() {
    // `/proc` refuses new folders to everybody, root too, where mode bits would stop nobody.
    let store = Store::open("/proc/chaos".into()).expect("nothing is written yet");
    let problem = store
        .save_plan(&plan("p-0a1b"), "{}")
        .expect_err("a refusal");
    assert_eq!(problem.kind, ProblemKind::Evidence);
    assert!(
        problem
            .message
            .starts_with("cannot make the folder /proc/chaos/plans: "),
        "{problem}"
    );
    assert!(problem.hint.is_some());
}
