//! Servers that take a request and do something else, and others' rules that stand in the way.

use chaos_gameday::clients::Clients;
use chaos_gameday::model::problem::ProblemKind;
use chaos_gameday::model::request::{Absence, Continuity};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Case, put_record, send_message, tagged};
use crate::support::localstack::{EFFECTS, FAULTS, Misfit, Quirk};

/// What is seen of a fault of two rules and a latency that a misfit was told to take in and give back.
#[derive(Debug, PartialEq)]
struct Course {
    injected: Result<(), ProblemKind>,
    /// Parts seen in of three, and whether that counts as all of it.
    proof: (usize, bool),
    reverted: Result<(), ProblemKind>,
    /// Parts still there after the undo.
    remaining: usize,
    continuity: Continuity,
}

const OBEDIENT: Course = Course {
    injected: Ok(()),
    proof: (3, true),
    reverted: Ok(()),
    remaining: 0,
    continuity: Continuity::Same,
};

fn two_rules() -> Value {
    json!([put_record(), send_message()])
}

async fn course(case: &Case) -> Course {
    let undo = case.prepare().await.unwrap().undo;
    let injected = case.driver.inject(&undo).await.result;
    let proof = case.driver.confirm(&undo).await.unwrap();
    let reverted = case.driver.revert(&undo).await.result;
    let absence = case.driver.verify_gone(&undo).await.unwrap();
    assert_eq!(proof.planned, 3, "{proof:?}");
    Course {
        injected: injected.map_err(|problem| problem.kind),
        proof: (proof.injected, proof.is_complete()),
        reverted: reverted.map_err(|problem| problem.kind),
        remaining: absence.remaining.len(),
        continuity: absence.continuity,
    }
}

#[tokio::test]
async fn liars_are_found_out_and_nothing_of_ours_stays_that_can_be_removed() {
    use Quirk::{
        DeletesOneCopy, DropsLastRule, DropsRules, DuplicatesRules, IgnoresDelete, IgnoresLatency,
        NoSession, OthersComeFirst, RefusesDescriptions, RefusesWhatItDeletes, RestartsAfterPatch,
        ShowsDefaults, StripsDescriptions,
    };
    let clients = Clients::new().unwrap();
    let unexpected = Err(ProblemKind::Unexpected);
    let restarted = Continuity::Restarted;
    for (quirks, seen) in [
        (vec![], OBEDIENT),
        (vec![ShowsDefaults], OBEDIENT),
        (vec![StripsDescriptions], OBEDIENT),
        (vec![RefusesWhatItDeletes], OBEDIENT),
        (
            vec![NoSession],
            Course {
                continuity: Continuity::Unknown,
                ..OBEDIENT
            },
        ),
        (
            vec![DropsRules],
            Course {
                proof: (1, false),
                ..OBEDIENT
            },
        ),
        (
            vec![DropsLastRule],
            Course {
                proof: (2, false),
                ..OBEDIENT
            },
        ),
        (
            vec![IgnoresLatency],
            Course {
                proof: (2, false),
                ..OBEDIENT
            },
        ),
        (
            vec![DuplicatesRules],
            Course {
                proof: (5, false),
                ..OBEDIENT
            },
        ),
        (
            vec![DuplicatesRules, DeletesOneCopy],
            Course {
                proof: (5, false),
                ..OBEDIENT
            },
        ),
        (
            vec![IgnoresDelete],
            Course {
                reverted: unexpected,
                remaining: 2,
                ..OBEDIENT
            },
        ),
        (
            vec![RefusesDescriptions],
            Course {
                injected: Err(ProblemKind::Refused),
                proof: (0, false),
                ..OBEDIENT
            },
        ),
        (
            vec![RestartsAfterPatch],
            // The rules died; the latency went to the new instance, and comes off again.
            Course {
                proof: (1, false),
                continuity: restarted,
                ..OBEDIENT
            },
        ),
        (
            vec![OthersComeFirst(json!({"service": "kinesis"}))],
            Course {
                proof: (2, false),
                ..OBEDIENT
            },
        ),
    ] {
        let misfit = Misfit::start(quirks.clone()).await;
        let case = Case::with(&clients, &misfit.url, two_rules(), Some(20));
        assert_eq!(course(&case).await, seen, "{quirks:?}");
        let inner = misfit.inner();
        let ours = inner
            .rules
            .iter()
            .filter(|rule| rule["service"] != "kinesis" || rule.get("error").is_some());
        assert_eq!(
            ours.count(),
            seen.remaining,
            "{quirks:?}: {:?}",
            inner.rules
        );
        assert_eq!(inner.latency, 0, "{quirks:?}");
    }
}

#[tokio::test]
async fn a_lost_answer_is_no_answer_and_the_undo_works_all_the_same() {
    let deaf = Err(ProblemKind::Unreachable);
    let clients = Clients::new().unwrap();
    for (method, seen) in [
        (
            Method::PATCH,
            Course {
                injected: deaf,
                proof: (2, false),
                ..OBEDIENT
            },
        ),
        (
            Method::POST,
            Course {
                injected: deaf,
                reverted: deaf,
                ..OBEDIENT
            },
        ),
        (Method::DELETE, OBEDIENT),
    ] {
        let misfit = Misfit::start(vec![Quirk::LosesAnswers(method.clone())]).await;
        let case = Case::with(&clients, &misfit.url, two_rules(), Some(20)).hasty(&clients);
        assert_eq!(course(&case).await, seen, "{method}");
        assert_eq!(misfit.inner().rules, Vec::<Value>::new());
        assert_eq!(misfit.inner().latency, 0);
    }
}

/// 400 ms stand against a patience of 200 ms: only a time-out that counts the latency in works.
#[tokio::test]
async fn a_latency_that_slows_the_control_path_too_can_be_proven_and_taken_back() {
    let clients = Clients::new().unwrap();
    let misfit = Misfit::start(vec![Quirk::DelaysControl]).await;
    let case = Case::with(&clients, &misfit.url, json!([]), Some(400)).hasty(&clients);
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(case.driver.inject(&undo).await.result, Ok(()));
    assert!(case.driver.confirm(&undo).await.unwrap().is_complete());
    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    assert_eq!(misfit.inner().latency, 0);
}

#[tokio::test]
async fn a_refused_tag_explains_itself() {
    let misfit = Misfit::start(vec![Quirk::RefusesDescriptions]).await;
    let case = Case::new(&misfit.url, json!([put_record()]), None);
    let undo = case.prepare().await.unwrap().undo;
    let injection = case.driver.inject(&undo).await;
    let problem = injection.result.unwrap_err();
    assert_eq!(
        problem.message,
        format!(
            "PATCH {}/_localstack/chaos/faults was refused as invalid: 400, \
             JSON that says `Request body validation error`",
            misfit.url
        )
    );
    assert!(problem.hint.unwrap().contains("`description`"));
    assert_eq!(injection.exchanges.len(), 1);
    assert_eq!(injection.exchanges[0].status, Some(400));
    assert_eq!(misfit.inner().rules, Vec::<Value>::new());
}

#[tokio::test]
async fn what_stands_in_the_way_is_named_and_nothing_is_written() {
    let foreign = |mut rule: Value, description: &str| {
        rule["description"] = json!(description);
        rule
    };
    let mine = || put_record();
    let broad = json!({"service": "kinesis"});
    let half = json!({"operation": "PutRecord", "region": "us-east-1", "probability": 0.1});
    let narrow = json!({"region": "us-east-1", "service": "kinesis", "operation": "PutRecord", "probability": 0.1});
    for (listed, latency, words, hint) in [
        (
            json!([mine()]),
            0,
            "somebody else's rule equals faults[0]",
            "agree with its owner",
        ),
        (
            json!([foreign(mine(), "load test")]),
            0,
            "equals faults[0]",
            "agree with its owner",
        ),
        (
            json!([{}]),
            0,
            "stands first and catches kinesis:PutRecord in us-east-1",
            "owner",
        ),
        (
            json!([broad]),
            0,
            "stands first and catches kinesis:PutRecord",
            "owner",
        ),
        (
            json!([narrow]),
            0,
            "stands first and catches kinesis:PutRecord",
            "owner",
        ),
        (
            json!([half]),
            0,
            "stands first and catches kinesis:PutRecord",
            "owner",
        ),
        (
            json!([foreign(mine(), "chaos:r-1")]),
            0,
            "a rule of run r-1 equals faults[0]",
            "`chaos show r-1`",
        ),
        (
            json!([foreign(
                json!({"service": "s3"}),
                "chaos:r-20261130-1200-abcd"
            )]),
            0,
            "a rule of run r-20261130-1200-abcd is in place already",
            "curl -X DELETE",
        ),
        (
            json!([]),
            800,
            "a latency of 800ms is in place already",
            "curl -X POST",
        ),
        (
            json!([foreign(json!({"service": "sns"}), "chaos:r-1")]),
            5,
            "a rule of run r-1 is in place, and so is a latency of 5ms that may be its own",
            "curl -X DELETE",
        ),
    ] {
        let misfit = Misfit::start(Vec::new()).await;
        misfit.inner().rules = listed.as_array().unwrap().clone();
        misfit.inner().latency = latency;
        let case = Case::new(&misfit.url, json!([mine()]), Some(800));
        let problem = case.prepare().await.unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Conflict, "{listed}");
        assert!(problem.message.contains(words), "{listed}: {problem}");
        assert!(problem.hint.as_ref().unwrap().contains(hint), "{problem:?}");
        assert_eq!(misfit.writes(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_plan_warns_of_what_a_reader_should_know() {
    let misfit = Misfit::start(vec![Quirk::NoSession]).await;
    misfit.inner().rules = vec![json!({"service": "s3"})];
    misfit.inner().latency = 5;
    let rules = json!([{"service": "kinesys", "probability": 0.5}, {"service": "dynamodb", "region": "us-east-1", "operation": "PutItem"}]);
    let prepared = Case::new(&misfit.url, rules, Some(800)).prepare().await;
    assert_eq!(
        prepared.unwrap().warnings,
        [
            "this LocalStack tells no `session_id`: a restart under the run cannot be noticed",
            "faults[0] names no region, no operation: it hits every kinesys operation in every region",
            "faults[0]: this LocalStack lists no service `kinesys`, so the rule may never match; did you mean `kinesis`?",
            "faults[0]: 50% of attempts fail, but to a caller whose SDK makes 3 attempts only about 12.5% of calls do",
            "faults[1]: LocalStack says that `dynamodb` is in state `error`",
            "LocalStack's own calls from service to service (SNS to SQS, Lambda to DynamoDB) meet these rules too",
            "1 rule of others stands on this LocalStack and will stay exactly so",
            "a latency of 5ms is in place; it will be put back after the step, which is wrong if it is another run's: that would have ended with it",
        ]
    );
}

#[tokio::test]
async fn a_plan_warns_of_what_another_run_has_in_place() {
    let misfit = Misfit::start(Vec::new()).await;
    misfit.inner().rules = vec![json!({"service": "sns", "description": "chaos:r-1"})];
    misfit.inner().latency = 5;
    let case = Case::new(&misfit.url, json!([put_record()]), None);
    let by_hand = format!(
        "curl -X DELETE {}/_localstack/chaos/faults -H 'Content-Type: application/json' -d '[{{\"description\":\"chaos:r-1\",\"service\":\"sns\"}}]'",
        misfit.url
    );
    assert_eq!(
        case.prepare().await.unwrap().warnings,
        [
            "LocalStack's own calls from service to service (SNS to SQS, Lambda to DynamoDB) meet these rules too".to_owned(),
            format!("a rule of run r-1 is in place: {{\"description\":\"chaos:r-1\",\"service\":\"sns\"}}; `chaos show r-1` tells whose it is; if that run is over, `chaos recover r-1 --endpoint {}` takes it out, or take it out by hand: {by_hand}", misfit.url),
            "a latency of 5ms is in place; it stays, and slows every reading".to_owned(),
        ]
    );
}

#[tokio::test]
async fn another_instance_than_the_planned_one_is_never_written_to() {
    let misfit = Misfit::start(Vec::new()).await;
    let case = Case::new(&misfit.url, json!([put_record()]), Some(20));
    let undo = case.prepare().await.unwrap().undo;
    misfit.restart();
    let problem = case.driver.inject(&undo).await.result.unwrap_err();
    assert_eq!(problem.kind, ProblemKind::Conflict);
    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    assert_eq!(misfit.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_restart_that_loses_the_chaos_api_leaves_nothing_of_ours() {
    let misfit = Misfit::start(Vec::new()).await;
    misfit.inner().rules = vec![json!({"service": "s3"})];
    let case = Case::new(&misfit.url, json!([put_record()]), Some(20));
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(case.driver.inject(&undo).await.result, Ok(()));
    misfit.restart();
    let gone = |path| Quirk::Answers(path, 404, String::new());
    misfit.inner().quirks = vec![gone(FAULTS), gone(EFFECTS)];
    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    assert_eq!(
        case.driver.verify_gone(&undo).await,
        Ok(Absence {
            remaining: Vec::new(),
            foreign_changes: vec!["the restart took 1 rule of others along".to_owned()],
            continuity: Continuity::Restarted,
        })
    );
}

#[tokio::test]
async fn a_chaos_api_that_vanishes_without_a_restart_proves_nothing() {
    let misfit = Misfit::start(Vec::new()).await;
    let case = Case::new(&misfit.url, json!([put_record()]), None);
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(case.driver.inject(&undo).await.result, Ok(()));
    let gone = Quirk::Answers(FAULTS, 404, String::new());
    misfit.inner().quirks = vec![gone];
    let problem = case.driver.verify_gone(&undo).await.unwrap_err();
    assert_eq!(problem.kind, ProblemKind::Absent);
    assert_eq!(misfit.inner().rules, [tagged(put_record())]);
}
