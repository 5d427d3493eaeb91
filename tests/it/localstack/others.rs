//! What belongs to others, or to another run, when two of them meet.

use chaos_gameday::clients::Clients;
use chaos_gameday::faults::{Owner, driver_for_undo};
use chaos_gameday::model::problem::ProblemKind;
use chaos_gameday::model::request::{Absence, Continuity};
use chaos_gameday::sandbox::AppVersion;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Case, put_record, tagged};
use crate::cli::{FAULT_IS_IN, approve, experiment};
use crate::support::localstack::{Misfit, Quirk};
use crate::support::process::{Place, Running};
use crate::support::sandbox::{Bench, answer};
use crate::support::target::{Behaviour, Target};

const FAULTS: &str = "/_localstack/chaos/faults";
const EFFECTS: &str = "/_localstack/chaos/effects";

fn gone() -> Absence {
    Absence {
        remaining: Vec::new(),
        foreign_changes: Vec::new(),
        continuity: Continuity::Same,
    }
}

#[tokio::test]
async fn an_untagged_rule_that_others_add_while_nothing_of_ours_is_in_stays() {
    // Ours never landed; meanwhile somebody breaks the same calls by hand, on a server that keeps tags.
    let bench = Bench::start(AppVersion::Fixed).await;
    let case = Case::new(bench.sandbox.aws_url(), json!([put_record()]), None);
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(bench.faults("PATCH", json!([put_record()])).await.0, 200);
    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    let standing = answer(bench.edge("GET", FAULTS)).await.1;
    assert_eq!(standing, json!([put_record()]));
    // Whose it is nobody can tell, and so nobody may say that ours is gone.
    let words = "which does what ours does and has no tag that tells whose it is";
    let expected = Absence {
        remaining: vec![format!("rule {}, {words}", put_record())],
        ..gone()
    };
    assert_eq!(case.driver.verify_gone(&undo).await, Ok(expected));
}

#[tokio::test]
async fn an_untagged_rule_that_others_add_beside_ours_is_theirs() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let case = Case::new(bench.sandbox.aws_url(), json!([put_record()]), None);
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(case.driver.inject(&undo).await.result, Ok(()));
    assert_eq!(bench.faults("PATCH", json!([put_record()])).await.0, 200);
    for _ in 0..2 {
        assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
        let theirs = Absence {
            foreign_changes: vec![format!("a rule of others is new: {}", put_record())],
            ..gone()
        };
        assert_eq!(case.driver.verify_gone(&undo).await, Ok(theirs));
        let standing = answer(bench.edge("GET", FAULTS)).await.1;
        assert_eq!(standing, json!([put_record()]));
    }
}

#[tokio::test]
async fn a_rule_that_lost_its_tag_is_taken_out_only_by_who_saw_it_lose_it() {
    let server = Misfit::start(vec![Quirk::StripsDescriptions]).await;
    let case = Case::new(&server.url, json!([put_record()]), None);
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(case.driver.inject(&undo).await.result, Ok(()));

    let from_a_journal = driver_for_undo(&undo, &Clients::new().unwrap()).unwrap();
    assert_eq!(from_a_journal.revert(&undo).await.result, Ok(()));
    let absence = from_a_journal.verify_gone(&undo).await.unwrap();
    assert_eq!(
        (absence.remaining.len(), server.inner().rules.len()),
        (1, 1)
    );

    // On another instance the same rule is somebody else's.
    let standing = server.inner().rules.clone();
    server.restart();
    server.inner().rules.clone_from(&standing);
    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    let absence = case.driver.verify_gone(&undo).await.unwrap();
    assert_eq!(absence.remaining, Vec::<String>::new());
    assert_eq!(server.inner().rules, standing);

    server.inner().session = 0;
    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    assert_eq!(case.driver.verify_gone(&undo).await, Ok(gone()));
    assert_eq!(server.inner().rules, Vec::<Value>::new());
}

/// A latency carries no mark of its owner. Of two that overlap, the later one would put the earlier
/// one back after that had ended, and nothing on the server could tell it not to: the driver refuses
/// where it sees rules of another run beside a latency, and for the rest there is the lock. It holds
/// for one user on one machine, whatever the server is called and wherever the runs keep their state.
#[tokio::test]
async fn two_runs_with_a_latency_each_leave_none_behind() {
    let server = Misfit::start(Vec::new()).await;
    let target = Target::start(Behaviour::Answer(vec![200])).await;
    let by_name = server.url.replace("127.0.0.1", "localhost");
    let (one, other) = (Place::new(), Place::new());
    let approved = async |place: &Place, endpoint: &str, latency: &str| {
        let text = experiment(endpoint, &target.url("/orders"), "");
        place.write("slow.yaml", &text.replace("faults: []", latency));
        let args = ["plan", "-q", "slow.yaml", "--var", "HOLD=60s"];
        let planned = place.chaos(&args).await.exits(0);
        approve(place, planned.stdout.trim());
        planned.stdout.trim().to_owned()
    };
    let plan = approved(&one, &server.url, "latency: 20ms").await;
    let mut first = one.start(&["run", &plan]);
    first.says(FAULT_IS_IN).await;

    let plan = approved(&other, &by_name, "latency: 30ms").await;
    let mut second = other.command(&["run", &plan]);
    second.env("CHAOS_LOCK_DIR", one.runtime());
    let refused = Running::of(second).ended().await.exits(3);
    refused.tells(&format!("another run is under way on {by_name}"));

    first.signal(Signal::INT);
    first.ended().await.exits(5);
    let post = |latency: u64| format!("POST {EFFECTS} {{\"latency\":{latency}}}");
    assert_eq!(server.writes(), [post(20), post(0)]);
    assert_eq!(server.inner().latency, 0);
}

/// Both looked before either wrote, from two machines that share no lock: whoever stands behind in the
/// list gives way at once, also where the server would let both rules bite.
#[tokio::test]
async fn of_two_runs_that_write_at_the_same_moment_the_one_behind_gives_way() {
    let broad = || json!({"region": "us-east-1", "service": "kinesis"});
    for (ours, theirs) in [
        (put_record(), put_record()),
        (put_record(), broad()),
        (broad(), put_record()),
    ] {
        let bench = Bench::start(AppVersion::Fixed).await;
        let one = Case::new(bench.sandbox.aws_url(), json!([ours]), None);
        let other = Case {
            owner: Owner::Run("r-20261130-1200-zyxw".parse().unwrap()),
            ..Case::new(bench.sandbox.aws_url(), json!([theirs]), None)
        };
        let undo = one.prepare().await.unwrap().undo;
        let other_undo = other.prepare().await.unwrap().undo;
        assert_eq!(one.driver.inject(&undo).await.result, Ok(()));
        let problem = other.driver.inject(&other_undo).await.result.unwrap_err();
        let words = "run r-20261130-1200-abcd put its rule in at the same moment, and first";
        assert!(problem.message.starts_with(words), "{problem}");
        assert_eq!(problem.kind, ProblemKind::Conflict);
        let proofs = [
            one.driver.confirm(&undo).await.unwrap(),
            other.driver.confirm(&other_undo).await.unwrap(),
        ];
        assert_eq!(
            proofs.map(|proof| proof.injected),
            [1, 0],
            "{ours} {theirs}"
        );
        assert_eq!(other.driver.revert(&other_undo).await.result, Ok(()));
        assert_eq!(one.driver.revert(&undo).await.result, Ok(()));
        assert_eq!(one.driver.verify_gone(&undo).await, Ok(gone()));
        let left = answer(bench.edge("GET", FAULTS)).await.1;
        assert_eq!(left, json!([]));
    }
}

#[tokio::test]
async fn a_plan_is_made_beside_a_run_that_is_in_its_way() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let one = Case::new(bench.sandbox.aws_url(), json!([put_record()]), None);
    let undo = one.prepare().await.unwrap().undo;
    assert_eq!(one.driver.inject(&undo).await.result, Ok(()));
    let later = Case {
        owner: Owner::Plan,
        ..Case::new(bench.sandbox.aws_url(), json!([put_record()]), None)
    };
    let warnings = later.prepare().await.unwrap().warnings;
    let words = "a rule of run r-20261130-1200-abcd is in place, and no run of this plan starts before it is gone";
    assert!(
        warnings.iter().any(|warning| warning.starts_with(words)),
        "{warnings:?}"
    );
}

#[tokio::test]
async fn a_latency_that_others_set_after_the_last_look_is_not_lost() {
    // Between our last look and our write somebody sets 7 ms; ours must not replace what it cannot
    // put back.
    let bench = Bench::start(AppVersion::Fixed).await;
    let case = Case::new(bench.sandbox.aws_url(), json!([]), Some(20));
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(bench.effects(json!({"latency": 7})).await.0, 200);
    let refused = case.driver.inject(&undo).await;
    assert_eq!(refused.result.unwrap_err().kind, ProblemKind::Conflict);
    assert_eq!(refused.exchanges, []);
    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    let standing = answer(bench.edge("GET", EFFECTS)).await.1;
    assert_eq!(standing, json!({"latency": 7}));
}

#[tokio::test]
async fn a_latency_of_others_stays_even_if_it_is_just_what_we_meant_to_set() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let case = Case::new(bench.sandbox.aws_url(), json!([put_record()]), Some(20));
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(bench.effects(json!({"latency": 20})).await.0, 200);
    let problem = case.driver.inject(&undo).await.result.unwrap_err();
    let words = format!(
        "somebody changed the latency on {} from 0s to 20ms; ours was not sent",
        bench.sandbox.aws_url()
    );
    assert_eq!(
        (problem.kind, problem.message),
        (ProblemKind::Conflict, words)
    );
    let proof = case.driver.confirm(&undo).await.unwrap();
    assert_eq!((proof.injected, proof.planned), (1, 2));
    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    let theirs = Absence {
        foreign_changes: vec![
            "the latency is 20 ms now, set by others before ours was sent".to_owned(),
        ],
        ..gone()
    };
    assert_eq!(case.driver.verify_gone(&undo).await, Ok(theirs));
    let standing = answer(bench.edge("GET", EFFECTS)).await.1;
    assert_eq!(standing, json!({"latency": 20}));
}

#[tokio::test]
async fn an_undo_that_meets_silence_asks_once_and_leaves_the_rest_to_the_next_attempt() {
    let clients = Clients::new().unwrap();
    let server = Misfit::start(Vec::new()).await;
    let case = Case::with(&clients, &server.url, json!([put_record()]), Some(20)).hasty(&clients);
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(case.driver.inject(&undo).await.result, Ok(()));
    server.inner().heard.clear();
    server.inner().quirks = vec![Quirk::Hangs(FAULTS)];
    let problem = case.driver.revert(&undo).await.result.unwrap_err();
    assert_eq!(problem.kind, ProblemKind::Unreachable);
    assert_eq!(server.inner().heard, [format!("GET {FAULTS}")]);
    server.inner().quirks.clear();
    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    assert_eq!(case.driver.verify_gone(&undo).await, Ok(gone()));
}

#[tokio::test]
async fn our_rules_come_out_of_a_server_that_shows_them_with_a_field_of_its_own() {
    let server = Misfit::start(vec![Quirk::ShowsMore]).await;
    let case = Case::new(&server.url, json!([put_record()]), None);
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(case.driver.inject(&undo).await.result, Ok(()));
    let reverted = case.driver.revert(&undo).await;
    assert_eq!(server.inner().rules, Vec::<Value>::new());
    assert_eq!(reverted.result, Ok(()));
    let bodies: Vec<_> = reverted
        .exchanges
        .into_iter()
        .map(|exchange| exchange.request.body)
        .collect();
    assert_eq!(bodies, [Some(json!([tagged(put_record())]))]);
    assert_eq!(case.driver.verify_gone(&undo).await, Ok(gone()));
}
