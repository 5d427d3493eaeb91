//! LocalStacks that are none, that say no, that lie, that hang and that restart: each ends in the
//! documented outcome, with nothing of ours left in place.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::process::Command;

use super::{FAULT_IS_IN, Scene, ends_clean, one_rule, report};
use crate::support::localstack::{FAULTS, HEALTH, Quirk};
use crate::support::process::Running;
use crate::support::target::nobody;

const TWO_RULES: &str =
    "{service: kinesis, operation: PutRecord}, {service: dynamodb, operation: PutItem}";

fn answers_all(status: u16, text: &str) -> Quirk {
    Quirk::AnswersAll(status, text.to_owned())
}

#[tokio::test]
async fn what_is_no_chaos_api_is_refused_at_plan_time_in_words_of_its_own() {
    let cases = [
        (
            Quirk::Answers(FAULTS, 404, String::new()),
            "has no Chaos API",
        ),
        (answers_all(404, ""), "the health page"),
        (answers_all(500, ""), "failed on the server: 500"),
        (answers_all(200, "<html>hello</html>"), "is no LocalStack"),
        (answers_all(200, "\u{1b}[2Jgarbage"), "is no LocalStack"),
        (answers_all(200, "{}"), "is no LocalStack"),
        (
            Quirk::Hangs(HEALTH),
            "took the connection but gave no answer within 10s",
        ),
        (Quirk::Redirects(HEALTH), "redirects elsewhere"),
    ];
    let planned = cases.map(|(quirk, words)| async move {
        let scene = Scene::new().await;
        scene.becomes(vec![quirk.clone()]);
        let ended = scene.place.chaos(&["plan", "stream-down.yaml"]).await;
        assert_eq!(ended.stdout, "", "{quirk:?}");
        assert!(
            ended.stderr.contains("hint:"),
            "{quirk:?}: {}",
            ended.stderr
        );
        assert!(!ended.stderr.contains('\u{1b}'), "{quirk:?}");
        ended.exits(3).tells(words);
        assert_eq!(scene.localstack.writes(), Vec::<String>::new(), "{quirk:?}");
    });
    join_all(planned).await;
}

#[tokio::test]
async fn an_endpoint_where_nobody_listens_is_refused_at_plan_time() {
    let scene = Scene::new().await;
    let url = format!("http://{}", nobody().await);
    let text = super::experiment(&url, &scene.target.url("/"), one_rule());
    scene.place.write("nobody.yaml", &text);
    let ended = scene.place.chaos(&["plan", "nobody.yaml"]).await.exits(3);
    ended
        .tells("nothing listens at")
        .tells("hint: start LocalStack");
}

/// A run of a fault of two rules on a LocalStack that has these ways once the plan is made.
async fn run_under(quirks: Vec<Quirk>) -> (Scene, Running) {
    let scene = Scene::with_rules(TWO_RULES).await;
    let plan = scene.approved_plan(&[]).await;
    scene.becomes(quirks);
    let run = scene.place.start(&["run", &plan]);
    (scene, run)
}

#[tokio::test]
async fn a_fault_that_never_got_in_is_refused_and_one_that_got_in_by_half_proves_nothing() {
    let snub = |status, text: &str| Quirk::Snubs(Method::PATCH, status, text.to_owned());
    let cases = [
        (snub(500, ""), 3, "the fault never got in"),
        (snub(404, "not found"), 3, "the fault never got in"),
        (snub(200, "garbage"), 3, "the fault never got in"),
        (
            snub(403, "{\"message\": \"licence\"}"),
            3,
            "the fault never got in",
        ),
        (Quirk::DropsRules, 3, "the fault never got in"),
        (Quirk::RefusesDescriptions, 3, "the fault never got in"),
        (Quirk::DropsLastRule, 6, "only 1 of 2 parts"),
        (
            Quirk::DuplicatesRules,
            6,
            "4 parts of the fault got in where 2 were planned",
        ),
        (
            Quirk::RestartsAfterPatch,
            6,
            "the platform restarted under the run",
        ),
    ];
    let runs = cases.map(|(quirk, code, words)| async move {
        let (scene, run) = run_under(vec![quirk.clone()]).await;
        let ended = run.ended().await;
        if quirk == Quirk::RestartsAfterPatch {
            // Others' rules died with the instance; they are nobody's to resurrect.
            assert_eq!(scene.localstack.inner().rules, Vec::<Value>::new());
            ended.exits(code).tells(words);
        } else {
            ends_clean(&scene, ended, code, words);
        }
    });
    join_all(runs).await;
}

#[tokio::test]
async fn a_request_that_gets_no_answer_may_land_all_the_same_and_is_undone() {
    let (scene, run) = run_under(vec![Quirk::LosesAnswers(Method::PATCH)]).await;
    let ended = run.ended().await;
    assert!(!ended.stderr.contains("only 2 of 2"), "{}", ended.stderr);
    ends_clean(&scene, ended, 6, "gave no answer within 10s");
}

#[tokio::test]
async fn a_world_that_changes_under_the_hold_ends_the_run_without_a_verdict() {
    let removed = async {
        let (scene, mut run) = run_under(vec![]).await;
        run.says(FAULT_IS_IN).await;
        scene.localstack.inner().rules.truncate(1);
        let ended = run.ended().await;
        ends_clean(&scene, ended, 6, "the fault went away by no act of ours");
    };
    let restarted = async {
        let (scene, mut run) = run_under(vec![]).await;
        run.says(FAULT_IS_IN).await;
        scene.localstack.restart();
        let ended = run.ended().await.exits(6);
        ended.tells("the platform restarted under the run");
        assert_eq!(scene.localstack.inner().rules, Vec::<Value>::new());
    };
    let added = async {
        let (scene, mut run) = run_under(vec![]).await;
        run.says(FAULT_IS_IN).await;
        let theirs = json!({"service": "s3", "description": "came later"});
        scene.localstack.inner().rules.push(theirs.clone());
        let ended = run.ended().await;
        assert_eq!(scene.ours(), [theirs], "what came meanwhile is theirs");
        ended.exits(0).tells("changed by others meanwhile");
    };
    tokio::join!(removed, restarted, added);
}

#[tokio::test]
async fn a_chaos_api_that_disappears_before_the_fault_goes_in_is_refused() {
    let cases = [
        (answers_all(500, ""), "500"),
        (answers_all(200, "garbage"), "no LocalStack"),
        (Quirk::Answers(FAULTS, 404, String::new()), "no Chaos API"),
    ];
    let runs = cases.map(|(quirk, words)| async move {
        let (scene, mut run) = run_under(vec![]).await;
        run.says("baseline").await;
        scene.becomes(vec![quirk]);
        let ended = run.ended().await;
        ends_clean(&scene, ended, 3, words);
        assert_eq!(scene.localstack.writes(), Vec::<String>::new());
    });
    join_all(runs).await;
}

#[tokio::test]
async fn a_chaos_api_that_disappears_under_the_fault_is_asked_until_it_is_back() {
    let cases = [answers_all(500, ""), answers_all(200, "garbage")];
    let runs = cases.map(|quirk| async move {
        let (scene, mut run) = run_under(vec![]).await;
        run.says(FAULT_IS_IN).await;
        scene.becomes(vec![quirk]);
        run.says("attempt 2").await;
        assert_eq!(scene.ours().len(), 2, "it is still in place");
        scene.becomes(vec![]);
        let ended = run.ended().await;
        ends_clean(&scene, ended, 6, "could not be seen");
    });
    join_all(runs).await;
}

/// The words of a shell line, as a shell reads them.
async fn words_of(line: &str) -> Vec<String> {
    let script = format!("curl() {{ printf '%s\\0' \"$@\"; }}\n{line}");
    let said = Command::new("sh")
        .args(["-c", &script])
        .output()
        .await
        .unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    said.split_terminator('\0').map(str::to_owned).collect()
}

/// Sends what curl would send.
async fn send_as_curl(line: &str) -> u16 {
    let words = words_of(line).await;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ["-X", method, url, "-H", header, "-d", body] = words[..] else {
        panic!("an unknown command line: {line}");
    };
    let (name, value) = header.split_once(": ").unwrap();
    let method: Method = method.parse().unwrap();
    let clients = chaos_gameday::clients::Clients::new().unwrap();
    let request = clients.http(url).request(method, url);
    let request = request.header(name, value).body(body.to_owned());
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn an_undo_that_is_ignored_ends_stuck_with_the_commands_that_finish_it_by_hand() {
    let scene = Scene::with_rules(TWO_RULES).await;
    let plan = scene.approved_plan(&[]).await;
    scene.becomes(vec![Quirk::IgnoresDelete]);
    let args = ["run", plan.as_str(), "-q", "--undo-timeout", "2s"];
    let ended = scene.place.chaos(&args).await.exits(7);
    assert_eq!(scene.ours().len(), 2);
    let ended = ended.tells("STILL IN PLACE");
    let by_hand = ended.stderr.lines().map(str::trim);
    let by_hand: Vec<&str> = by_hand.filter(|line| line.starts_with("curl ")).collect();
    assert_eq!(by_hand.len(), 1, "{}", ended.stderr);
    let told = scene.place.chaos(&["report", "last"]).await.exits(0);
    told.prints(by_hand[0]).prints("STUCK");
    let report = report(&scene.place).await;
    assert_eq!(report["verdict"]["outcome"], "stuck");
    assert_eq!(report["inPlace"].as_array().map(Vec::len), Some(1));
    let listed = scene.place.chaos(&["runs", "-o", "json"]).await.json();
    assert_eq!(listed[0]["inPlace"], 1, "{listed}");
    scene.becomes(vec![]);
    assert_eq!(send_as_curl(by_hand[0]).await, 200);
    scene.assert_clean();
}
