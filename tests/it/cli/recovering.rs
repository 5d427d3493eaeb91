//! `chaos abort` and `chaos recover`, with real processes: what they find, what they do, and what is
//! left. The server's own list of rules is the judge.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{FAULT_IS_IN, Scene, foreign};
use crate::support::localstack::Quirk;
use crate::support::process::{Place, Running};

/// The guardian of the latest run, as its journal names it.
fn guardian_of(place: &Place) -> Pid {
    let run = place.store().find_run("last").unwrap();
    let records = chaos_gameday::journal::read(&run.journal).unwrap().records;
    let state = chaos_gameday::model::state::RunState::of(&records);
    let pid = state.guardian.expect("it has a guardian");
    Pid::from_raw(pid.cast_signed()).expect("a process id")
}

/// A run whose process and guardian were killed with its fault in.
async fn killed(scene: &Scene) -> String {
    let mut run = scene.start(&["HOLD=1m"], &[]).await;
    run.says(FAULT_IS_IN).await;
    // The guardian first: it would be quicker. A run that is stopped posts no other one.
    run.signal(Signal::STOP);
    kill_process(guardian_of(&scene.place), Signal::KILL).unwrap();
    run.signal(Signal::KILL);
    run.ended().await;
    assert_eq!(scene.ours().len(), 1, "its fault is in");
    let run = scene.place.store().find_run("last").unwrap();
    run.id.to_string()
}

async fn started(scene: &Scene) -> (Running, String) {
    let mut run = scene.start(&["HOLD=1m"], &[]).await;
    run.says(FAULT_IS_IN).await;
    let id = scene.place.store().find_run("last").unwrap().id;
    (run, id.to_string())
}

#[tokio::test]
async fn a_live_run_is_aborted_from_two_other_terminals_at_once() {
    let scene = Scene::new().await;
    let (run, id) = started(&scene).await;
    let (one, other) = tokio::join!(
        scene.place.chaos(&["abort"]),
        scene.place.chaos(&["abort", &id])
    );
    for ended in [one, other] {
        ended
            .exits(0)
            .prints("aborted (exit 5): aborted by tester@");
    }
    let ended = run.ended().await.exits(5);
    ended.tells("(chaos abort)");
    scene.assert_clean();
    assert_eq!(scene.localstack.writes().len(), 2, "one PATCH, one DELETE");
    let again = scene.place.chaos(&["abort", &id]).await.exits(0);
    again.prints("had ended before: aborted");
    let none = scene.place.chaos(&["abort"]).await.exits(0);
    none.tells("no run is under way here");
    scene.place.chaos(&["abort", "r-nobody"]).await.exits(2);
}

#[tokio::test]
async fn rubbish_in_the_place_of_a_wish_keeps_nobody_from_ending_the_run() {
    let scene = Scene::new().await;
    let (mut run, _) = started(&scene).await;
    let folder = scene.place.store().find_run("last").unwrap().folder();
    std::fs::write(folder.abort_request(), "{").unwrap();
    run.says("an abort.json that cannot be read").await;
    let aborted = scene.place.chaos(&["abort"]).await.exits(0);
    assert!(!aborted.stderr.contains("was ended"), "{}", aborted.stderr);
    run.ended().await.exits(5).tells("(chaos abort)");
    scene.assert_clean();
}

#[tokio::test]
async fn a_stopped_run_is_ended_and_its_fault_undone() {
    let scene = Scene::new().await;
    let (run, id) = started(&scene).await;
    run.signal(Signal::STOP);
    let aborted = scene.place.chaos(&["abort", &id]).await.exits(0);
    aborted.tells("and was ended").prints(&id);
    run.ended().await;
    scene.assert_clean();
    let shown = scene.place.chaos(&["show", &id]).await.exits(0);
    shown.prints("Taken over by");
}

#[tokio::test]
async fn a_run_that_was_killed_with_its_guardian_is_recovered_before_another_starts() {
    let scene = Scene::new().await;
    let id = killed(&scene).await;
    let runs = scene.place.chaos(&["runs"]).await.exits(0);
    runs.prints("no end: chaos recover");
    let plan = scene.approved_plan(&[]).await;
    let refused = scene.place.chaos(&["run", &plan]).await.exits(3);
    refused
        .tells(&format!(
            "run {id} (stream-down) has no end, and nobody is at work on it"
        ))
        .tells("1 rule on http://")
        .tells(&format!("`chaos recover {id}`"));

    let recovered = scene.place.chaos(&["recover"]).await.exits(0);
    recovered
        .tells(&format!("found {id}: it has no end"))
        .prints(&format!("{id}  inconclusive (exit 6): its process died"));
    scene.assert_clean();
    let again = scene.place.chaos(&["recover"]).await.exits(0);
    again.tells("nothing to recover");
    let named = scene
        .place
        .chaos(&["recover", &id, "-o", "json"])
        .await
        .exits(0);
    assert_eq!(named.json()["runs"][0]["did"], json!("had-ended"));
    let whole = scene.place.chaos(&["show", &id, "--verify"]).await.exits(0);
    whole.prints("the chain of hashes is whole");
    scene.place.chaos(&["run", &plan]).await.exits(0);
}

#[tokio::test]
async fn a_run_that_could_not_be_recovered_is_stuck_until_its_platform_is_back() {
    let scene = Scene::new().await;
    let id = killed(&scene).await;
    scene.becomes(vec![Quirk::AnswersAll(503, String::new())]);
    let args = ["recover", &id, "--undo-timeout", "1s"];
    let stuck = scene.place.chaos(&args).await.exits(7);
    stuck
        .prints(&format!("{id}  stuck (exit 7)"))
        .tells("is, or may be, still in place")
        .tells("tries again");
    scene.becomes(vec![]);
    let aborted = scene.place.chaos(&["abort", "--all"]).await.exits(0);
    aborted.prints(&id);
    scene.assert_clean();
    let shown = scene.place.chaos(&["show", &id]).await.exits(0);
    shown
        .prints("It was stuck before")
        .prints("Taken over by chaos abort of tester@");
}

#[tokio::test]
async fn a_live_run_is_left_alone_by_whoever_recovers() {
    let scene = Scene::new().await;
    let (run, id) = started(&scene).await;
    let left = scene.place.chaos(&["recover"]).await.exits(0);
    left.prints(&format!("{id}  left alone: it goes on: chaos run"))
        .tells(&format!("`chaos abort {id}` ends it"));
    assert_eq!(scene.ours().len(), 1, "its fault is in");
    run.signal(Signal::INT);
    run.ended().await.exits(5);
    scene.assert_clean();
}

#[tokio::test]
async fn rules_of_a_run_that_nobody_here_knows_go_only_at_a_word_and_others_never() {
    let scene = Scene::new().await;
    let place = Place::new();
    let tagged = |run: &str| json!({"service": "sns", "description": format!("chaos:{run}")});
    let unknown = "r-20260101-000000-000xx";
    let theirs = [foreign(), json!({"service": "s3"}), tagged("r-other")];
    let before = [&theirs[..], &[tagged(unknown)]].concat();
    scene.localstack.inner().rules.clone_from(&before);
    let at = ["--endpoint", scene.localstack.url.as_str()];
    let rules = || scene.localstack.inner().rules.clone();

    let listed = place.chaos(&["recover", at[0], at[1]]).await.exits(7);
    listed
        .prints(&format!(
            "1 rule of {unknown}, which is not known here: 1 still there"
        ))
        .tells(&format!("`chaos recover {unknown} --endpoint {}`", at[1]));
    assert_eq!(rules(), before);

    let all = place
        .chaos(&["recover", "--all", at[0], at[1]])
        .await
        .exits(7);
    assert!(!all.stdout.contains("taken out"), "no terminal is no yes");
    assert_eq!(rules(), before);

    let named = place
        .chaos(&["recover", unknown, at[0], at[1]])
        .await
        .exits(0);
    named.prints("taken out, none left");
    assert_eq!(rules(), theirs);
    assert_eq!(
        scene.localstack.writes(),
        [format!(
            "DELETE /_localstack/chaos/faults {}",
            json!([tagged(unknown)])
        )]
    );
    place
        .chaos(&["recover", unknown, at[0], at[1]])
        .await
        .exits(2);

    let args = ["recover", "--all", "--yes", at[0], at[1]];
    place.chaos(&args).await.exits(0);
    assert_eq!(rules(), theirs[..2]);
}

/// A write that landed after the end of its run, as its own record can undo it.
#[tokio::test]
async fn a_rule_of_a_run_that_is_over_is_undone_by_its_own_record() {
    let scene = Scene::new().await;
    scene.start(&[], &[]).await.ended().await.exits(0);
    let id = scene.place.store().find_run("last").unwrap().id.to_string();
    let patch = scene.localstack.writes()[0].clone();
    let body = patch.split_once(" [").unwrap().1;
    let late: Vec<Value> = serde_json::from_str(&format!("[{body}")).unwrap();
    scene.localstack.inner().rules.extend(late);
    let recovered = scene.place.chaos(&["recover"]).await.exits(0);
    recovered.prints(&format!("1 rule of {id}: taken out, none left"));
    scene.assert_clean();
    let shown = scene.place.chaos(&["show", &id]).await.exits(0);
    shown
        .prints("INCONCLUSIVE")
        .prints("It was held before")
        .prints("its fault was in place after its end");
    let whole = scene.place.chaos(&["show", &id, "--verify"]).await.exits(0);
    whole.prints("the chain of hashes is whole");
}

/// What was seen cannot be written down, and the rules go all the same.
#[tokio::test]
async fn a_rule_of_a_run_that_is_over_is_undone_where_its_record_can_grow_no_more() {
    let scene = Scene::new().await;
    scene.start(&[], &[]).await.ended().await.exits(0);
    let id = scene.place.store().find_run("last").unwrap().id.to_string();
    land_late(&scene, 0);
    let mut recover = tokio::process::Command::new("sh");
    let chaos = env!("CARGO_BIN_EXE_chaos");
    recover.args(["-c", &format!("ulimit -f 0; exec {chaos} recover")]);
    scene.place.surround(&mut recover);
    let recovered = Running::of(recover).ended().await;
    recovered.prints(&format!("1 rule of {id}: taken out, none left"));
    scene.assert_clean();
}

/// Puts the rules of this run, which is over, in place once more.
fn land_late(scene: &Scene, writes_before: usize) {
    let patch = scene.localstack.writes()[writes_before].clone();
    let body = patch.split_once(" [").unwrap().1;
    let late: Vec<Value> = serde_json::from_str(&format!("[{body}")).unwrap();
    scene.localstack.inner().rules.extend(late);
}

#[tokio::test]
async fn a_run_that_cannot_be_read_keeps_nobody_from_recovering_the_others() {
    let scene = Scene::new().await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        scene.start(&[], &[]).await.ended().await.exits(0);
        let run = scene.place.store().find_run("last").unwrap();
        ids.push(run.id.to_string());
    }
    let damaged = scene.place.store().find_run(&ids[0]).unwrap().journal;
    let text = std::fs::read_to_string(&damaged).unwrap();
    let newer = text.replacen("\"format\":2", "\"format\":99", 1);
    assert_ne!(newer, text);
    std::fs::write(&damaged, newer).unwrap();
    land_late(&scene, 0);
    land_late(&scene, 2);
    let recovered = scene.place.chaos(&["recover"]).await.exits(7);
    recovered
        .prints(&format!("1 rule of {}: taken out, none left", ids[1]))
        .prints(&format!("1 rule of {}: 1 still there", ids[0]))
        .tells("format 99")
        .tells(&format!("`chaos recover {} --endpoint http", ids[0]));
    let endpoint = scene.localstack.url.clone();
    let args = ["recover", &ids[0], "--endpoint", &endpoint];
    let named = scene.place.chaos(&args).await.exits(8);
    named.prints(&format!("1 rule of {}: taken out, none left", ids[0]));
    scene.assert_clean();
}

#[tokio::test]
async fn a_place_that_was_typed_and_cannot_be_looked_at_is_not_called_clean() {
    let place = Place::new();
    let nowhere = ["recover", "--endpoint", "http://127.0.0.1:1"];
    place.chaos(&nowhere).await.exits(7).tells("127.0.0.1:1");
    let nonsense = ["recover", "--endpoint", "nonsense"];
    let refused = place.chaos(&nonsense).await.exits(2);
    refused.tells("`nonsense` is no address of a LocalStack");
}

#[tokio::test]
async fn a_tag_that_names_no_run_is_no_part_of_a_command_to_type() {
    let scene = Scene::new().await;
    let place = Place::new();
    let rule = json!({"service": "sns", "description": "chaos:x; touch /tmp/y"});
    scene.localstack.inner().rules.push(rule);
    let args = ["recover", "--endpoint", &scene.localstack.url];
    let listed = place.chaos(&args).await.exits(7);
    assert!(
        !listed.stderr.contains("chaos recover x"),
        "{}",
        listed.stderr
    );
    listed.tells(&format!(
        "`chaos recover --all --endpoint {}`",
        scene.localstack.url
    ));
}

#[tokio::test]
async fn no_run_starts_while_somebody_unnamed_is_at_work_on_one_without_an_end() {
    let scene = Scene::new().await;
    killed(&scene).await;
    let plan = scene.approved_plan(&[]).await;
    let folder = scene.place.store().find_run("last").unwrap().folder();
    let lock = std::fs::File::create(folder.path().join("writer.lock")).unwrap();
    lock.lock().unwrap();
    let refused = scene.place.chaos(&["run", &plan]).await.exits(3);
    refused.tells("somebody is at work on it and does not say who");
    drop(lock);
    scene.place.chaos(&["recover"]).await.exits(0);
    scene.assert_clean();
}

#[tokio::test]
async fn a_run_that_cannot_be_asked_since_the_disk_is_full_is_ended_all_the_same() {
    let scene = Scene::new().await;
    let (run, id) = started(&scene).await;
    // No file of its may grow any more.
    let mut abort = tokio::process::Command::new("sh");
    let chaos = env!("CARGO_BIN_EXE_chaos");
    abort.args(["-c", &format!("ulimit -f 0; exec {chaos} abort {id}")]);
    scene.place.surround(&mut abort);
    // By whoever is quicker, this one or the guardian.
    let aborted = Running::of(abort).ended().await;
    aborted.tells("cannot write").tells("was ended").prints(&id);
    run.ended().await;
    scene.assert_clean();
}

#[tokio::test]
async fn a_run_whose_journal_was_lost_is_found_by_its_plan_and_its_tag() {
    let scene = Scene::new().await;
    let id = killed(&scene).await;
    let journal = scene.place.store().find_run(&id).unwrap().journal;
    std::fs::write(&journal, "").unwrap();
    let found = scene.place.chaos(&["recover"]).await.exits(7);
    found
        .prints(&format!("1 rule of {id}: 1 still there"))
        .tells(&format!("`chaos recover {id} --endpoint http"));
    assert_eq!(scene.ours().len(), 1, "nobody said that it may go");
    let named = scene.place.chaos(&["recover", &id]).await;
    named.prints(&format!("1 rule of {id}: taken out, none left"));
    scene.assert_clean();
}

#[tokio::test]
async fn a_live_run_that_keeps_its_state_elsewhere_is_left_alone_on_this_machine() {
    let scene = Scene::new().await;
    let (run, id) = started(&scene).await;
    let args = [
        "recover",
        "--all",
        "--yes",
        "--endpoint",
        &scene.localstack.url,
        "--state-dir",
        "elsewhere",
    ];
    let left = scene.place.chaos(&args).await;
    left.prints(&id);
    assert_eq!(scene.ours().len(), 1, "its fault is in");
    run.signal(Signal::INT);
    run.ended().await.exits(5);
    scene.assert_clean();
}
