//! What an API server says on a bad day, and what is made of it.

use std::time::Duration;

use chaos_gameday::kubernetes::identify;
use chaos_gameday::kubernetes::lease::{self, Holder, LeaseTiming};
use chaos_gameday::model::approval::Person;
use chaos_gameday::model::cluster::Cluster;
use chaos_gameday::model::problem::{Problem, ProblemKind};
use serde_json::json;

use crate::support::apiserver::{Say, Scripted, status};
use crate::support::kubernetes::{clients_of, kubeconfig};

const SYSTEM: &str = "GET /api/v1/namespaces/kube-system";
const SHOP: &str = "GET /api/v1/namespaces/shop";
const LEASE: &str = "GET /apis/coordination.k8s.io/v1/namespaces/shop/leases/chaos-run";
const CREATE: &str = "POST /apis/coordination.k8s.io/v1/namespaces/shop/leases";
const UPDATE: &str = "PUT /apis/coordination.k8s.io/v1/namespaces/shop/leases/chaos-run";
const DELETE: &str = "DELETE /apis/coordination.k8s.io/v1/namespaces/shop/leases/chaos-run";

async fn refused(scripts: &[(&str, &[Say])]) -> Problem {
    let server = Scripted::start(scripts).await;
    let clients = server.clients().await;
    let problem = identify(&clients, None, None)
        .await
        .expect_err("no identity");
    Problem {
        message: problem.message.replace(&server.url, "URL"),
        ..problem
    }
}

/// The message, and the kind that another attempt is decided by.
fn told(problem: &Problem) -> (ProblemKind, &str) {
    (problem.kind, problem.message.as_str())
}

#[tokio::test]
async fn a_refusal_names_what_was_asked_and_how_it_is_allowed() {
    let unknown = refused(&[(SYSTEM, &[status(401, "Unauthorized")])]).await;
    assert_eq!(
        told(&unknown),
        (
            ProblemKind::Refused,
            "the API server URL does not accept our credentials (401: Unauthorized)"
        )
    );
    assert!(
        unknown
            .hint
            .unwrap()
            .contains("kubectl --context odd version")
    );

    let words = "namespaces \"kube-system\" is forbidden: User \"eve\" cannot get resource";
    let forbidden = refused(&[(SYSTEM, &[status(403, words)])]).await;
    assert_eq!(
        told(&forbidden),
        (
            ProblemKind::Refused,
            "the API server URL does not let us get namespaces/kube-system: namespaces \"kube-system\" is forbidden: User \"eve\" cannot get resource"
        )
    );
    assert_eq!(
        forbidden.hint.unwrap(),
        "an administrator allows it: `kubectl create clusterrole chaos-get-namespaces --verb=get --resource=namespaces --resource-name=kube-system`, bound by `kubectl create clusterrolebinding`"
    );
}

#[tokio::test]
async fn a_namespace_that_is_not_there_is_told_with_the_nearest() {
    let items =
        json!({"items": [{"metadata": {"name": "shops"}}, {"metadata": {"name": "default"}}]});
    let near = refused(&[
        (SHOP, &[status(404, "not found")]),
        ("GET /api/v1/namespaces", &[Say::Json(200, items)]),
    ])
    .await;
    assert_eq!(
        told(&near),
        (ProblemKind::Absent, "there is no namespace `shop` at URL")
    );
    assert_eq!(near.hint.as_deref(), Some("the nearest is `shops`"));
    let blind = refused(&[
        (SHOP, &[status(404, "not found")]),
        ("GET /api/v1/namespaces", &[status(403, "no")]),
    ])
    .await;
    assert_eq!(
        blind.hint.as_deref(),
        Some("`kubectl --context odd get namespaces` lists them")
    );
    let metadata = json!({"name": "shop", "uid": "u", "deletionTimestamp": "2026-11-30T00:00:00Z"});
    let going = refused(&[(SHOP, &[Say::Json(200, json!({"metadata": metadata}))])]).await;
    assert_eq!(
        told(&going),
        (
            ProblemKind::Absent,
            "namespace `shop` is being deleted at URL"
        )
    );
}

#[tokio::test]
async fn an_answer_that_no_api_server_gives_is_called_so() {
    for (say, words) in [
        (
            Say::Text(200, "<html>log in</html>"),
            "with something that is no JSON object",
        ),
        (
            Say::Text(200, "[]"),
            "with something that is no JSON object",
        ),
        (Say::Text(200, ""), "with something that is no JSON object"),
        (
            Say::Json(200, json!({"gitVersion": 7})),
            "says /version without `gitVersion`",
        ),
        (
            Say::Json(200, json!({})),
            "says /version without `gitVersion`",
        ),
        (Say::Text(302, "elsewhere"), "did not get /version (302)"),
    ] {
        let problem = refused(&[("GET /version", &[say])]).await;
        assert_eq!(problem.kind, ProblemKind::Unexpected, "{problem}");
        assert!(problem.message.contains(words), "{problem}");
    }
    let nameless = refused(&[(SYSTEM, &[Say::Json(200, json!({"metadata": {"uid": ""}}))])]).await;
    assert!(
        nameless
            .message
            .ends_with("says namespaces/kube-system without a uid"),
        "{nameless}"
    );
}

#[tokio::test]
async fn trouble_that_may_pass_is_told_as_such() {
    let unwell = refused(&[(SYSTEM, &[status(500, "etcdserver: request timed out")])]).await;
    assert_eq!(
        told(&unwell),
        (
            ProblemKind::Unreachable,
            "the API server URL failed to get namespaces/kube-system (500: etcdserver: request timed out)"
        )
    );
    let busy = refused(&[(SYSTEM, &[Say::Busy(3_600)])]).await;
    assert_eq!(
        told(&busy),
        (
            ProblemKind::Unreachable,
            "the API server URL is too busy and wants to be left alone for 3600 s"
        )
    );
    let cluster = json!({"server": "http://127.0.0.1:9"});
    let nobody = clients_of(&kubeconfig("gone", None, &cluster, &json!({}))).await;
    let problem = identify(&nobody, None, None).await.expect_err("no server");
    assert_eq!(
        told(&problem),
        (
            ProblemKind::Unreachable,
            "the API server http://127.0.0.1:9 does not answer: nothing listens there (connection refused)"
        )
    );
}

#[tokio::test]
async fn a_server_that_asks_for_a_moment_gets_it() {
    let namespace = json!({"metadata": {"uid": "u"}});
    let says = [Say::Busy(0), Say::Busy(1), Say::Json(200, namespace)];
    let server = Scripted::start(&[(SYSTEM, &says)]).await;
    let cluster = identify(&server.clients().await, None, None)
        .await
        .expect("an identity");
    assert_eq!(cluster.uid, "u");
    assert_eq!(
        server.heard().iter().filter(|line| *line == SYSTEM).count(),
        3
    );
}

#[tokio::test]
async fn an_answer_that_never_comes_is_not_waited_for() {
    let server = Scripted::start(&[(SYSTEM, &[Say::Hang])]).await;
    let clients = server.clients().await;
    let asked = identify(&clients, None, None);
    let within = tokio::time::timeout(Duration::from_secs(20), asked);
    let problem = within.await.expect("an end").expect_err("no answer");
    assert_eq!(problem.kind, ProblemKind::Unreachable);
    assert!(
        problem.message.ends_with("does not answer within 10 s"),
        "{problem}"
    );
}

async fn no_lock(scripts: &[(&str, &[Say])]) -> (Problem, Vec<String>) {
    let server = Scripted::start(scripts).await;
    let taken = lease::take(
        &server.clients().await,
        &shop(),
        &holder(),
        LeaseTiming::default(),
    )
    .await;
    (taken.expect_err("no lock"), server.heard())
}

fn shop() -> Cluster {
    Cluster {
        context: Some("odd".to_owned()),
        api_server: String::new(),
        uid: "uid-kube-system".to_owned(),
        version: "v1.35.4".to_owned(),
        namespace: "shop".to_owned(),
        namespace_uid: "uid-shop".to_owned(),
        namespace_labels: Default::default(),
    }
}

fn holder() -> Holder {
    let eve = Person {
        user: "eve".to_owned(),
        host: "here".to_owned(),
    };
    Holder::new(&eve, &"p-0123456789ab".parse().unwrap())
}

/// An object as the server keeps it.
fn kept() -> Say {
    let metadata = json!({"name": "chaos-run", "uid": "u", "resourceVersion": "1"});
    Say::Json(200, json!({"metadata": metadata, "spec": {}}))
}

#[tokio::test]
async fn a_permission_that_the_lock_needs_is_named_before_anything_begins() {
    let (get, _) = no_lock(&[(LEASE, &[status(403, "no")])]).await;
    assert!(
        get.message.contains(
            "does not let us get leases.coordination.k8s.io/chaos-run in namespace shop: no"
        ),
        "{get}"
    );
    assert!(
        get.hint
            .unwrap()
            .contains("--verb=get,create,update,delete --resource=leases.coordination.k8s.io")
    );
    let (create, _) = no_lock(&[(LEASE, &[status(404, "")]), (CREATE, &[status(403, "no")])]).await;
    assert!(
        create.message.contains("does not let us create leases"),
        "{create}"
    );
    // Creating is allowed, renewing is not: nothing stays.
    let (update, heard) = no_lock(&[
        (LEASE, &[status(404, "")]),
        (CREATE, &[kept()]),
        (UPDATE, &[status(403, "no")]),
        (DELETE, &[kept()]),
    ])
    .await;
    assert!(
        update.message.contains("does not let us update leases"),
        "{update}"
    );
    assert_eq!(heard, [LEASE, CREATE, UPDATE, DELETE]);
}

#[tokio::test]
async fn a_lock_that_others_are_always_quicker_to_take_is_given_up() {
    let (problem, heard) = no_lock(&[
        (LEASE, &[kept()]),
        (UPDATE, &[status(409, "the object has been modified")]),
    ])
    .await;
    assert_eq!(problem.kind, ProblemKind::Conflict);
    assert!(
        problem
            .message
            .contains("changes faster than it can be taken"),
        "{problem}"
    );
    assert_eq!(heard.iter().filter(|line| *line == UPDATE).count(), 5);
}

#[tokio::test]
async fn a_lock_in_a_namespace_that_vanished_is_refused() {
    let gone = "namespaces \"shop\" not found";
    let (problem, _) =
        no_lock(&[(LEASE, &[status(404, "")]), (CREATE, &[status(404, gone)])]).await;
    assert_eq!(problem.kind, ProblemKind::Absent);
    assert!(problem.message.ends_with(gone), "{problem}");
}

#[tokio::test]
async fn a_lock_is_given_back_by_whoever_may_not_delete_it() {
    let forbids: &[(&str, &[Say])] = &[
        (LEASE, &[kept()]),
        (UPDATE, &[kept()]),
        (DELETE, &[status(403, "no")]),
    ];
    let server = Scripted::start(forbids).await;
    let timing = LeaseTiming::default();
    let held = lease::take(&server.clients().await, &shop(), &holder(), timing)
        .await
        .expect("a lock");
    held.release().await.expect("given back");
    assert_eq!(server.heard(), [LEASE, UPDATE, DELETE, UPDATE]);
}
