//! The lock of a namespace on a real API server: who gets it, who doesn't, and what becomes of it.
#![expect(
    clippy::disallowed_methods,
    reason = "Leases are written here as another machine would, by its clock"
)]

use std::time::Duration;

use chaos_gameday::clients::Clients;
use chaos_gameday::kubernetes::identify;
use chaos_gameday::kubernetes::lease::{HeldLease, Holder, LeaseTiming, NAME, take};
use chaos_gameday::model::approval::Person;
use chaos_gameday::model::cluster::Cluster;
use chaos_gameday::model::lock::LockNews;
use chaos_gameday::model::problem::{Problem, ProblemKind};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::unique;
use crate::support::kubernetes::{ControlPlane, User, is_missing};

const PATIENCE: Duration = Duration::from_secs(60);

/// Renewed often, and quick to lapse.
const QUICK: LeaseTiming = LeaseTiming {
    duration: Duration::from_secs(3),
    renew_every: Duration::from_millis(200),
    retry_every: Duration::from_millis(200),
};

pub(super) fn person(user: &str) -> Holder {
    let person = Person {
        user: user.to_owned(),
        host: "here".to_owned(),
    };
    Holder::new(&person, &"p-0123456789ab".parse().unwrap())
}

/// A namespace with a lock.
pub(super) struct Door<'p> {
    pub(super) plane: &'p ControlPlane,
    clients: Clients,
    pub(super) cluster: Cluster,
}

impl<'p> Door<'p> {
    pub(super) async fn new(plane: &'p ControlPlane) -> Self {
        let name = unique("shop");
        plane.create_namespace(&name, json!({})).await;
        let clients = plane.clients("kind-test", &User::Admin).await;
        let cluster = identify(&clients, None, Some(&name)).await.unwrap();
        Self {
            plane,
            clients,
            cluster,
        }
    }

    fn path(&self) -> String {
        let namespace = &self.cluster.namespace;
        format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases")
    }

    async fn take(&self, user: &str, timing: LeaseTiming) -> Result<HeldLease, Problem> {
        take(&self.clients, &self.cluster, &person(user), timing).await
    }

    pub(super) async fn leases(&self) -> Vec<Value> {
        let all = self.plane.request("GET", &self.path(), &Value::Null).await;
        all["items"].as_array().unwrap().clone()
    }

    /// The lock as somebody on another machine wrote it so long ago.
    async fn held_by_another(&self, ago: SignedDuration) {
        let time = before(ago);
        let spec = json!({
            "holderIdentity": "ann@far p-ba9876543210 7", "leaseDurationSeconds": 30,
            "acquireTime": time, "renewTime": time,
        });
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": NAME}, "spec": spec,
        });
        self.plane.request("POST", &self.path(), &lease).await;
    }

    async fn patch(&self, patch: Value) {
        let path = format!("{}/{NAME}", self.path());
        self.plane.request("PATCH", &path, &patch).await;
    }
}

/// So long ago, as Leases have it.
fn before(ago: SignedDuration) -> String {
    let time = Timestamp::now() - ago;
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// The next thing that becomes of a lock.
async fn next(news: &mut tokio::sync::mpsc::UnboundedReceiver<LockNews>) -> (&'static str, String) {
    match tokio::time::timeout(PATIENCE, news.recv()).await.unwrap() {
        Some(LockNews::Warned { message }) => ("warned", message),
        Some(LockNews::Lost { why }) => ("lost", why),
        None => panic!("nobody tells anything any more"),
    }
}

#[tokio::test]
async fn a_lock_is_one_holders_until_it_is_given_back_and_leaves_nothing() {
    if is_missing() {
        return;
    }
    let door = Door::new(ControlPlane::shared()).await;
    let held = door
        .take("ann", LeaseTiming::default())
        .await
        .expect("a free lock");
    let lease = &door.leases().await[0];
    let holder = lease["spec"]["holderIdentity"].as_str().unwrap();
    assert!(holder.starts_with("ann@here p-0123456789ab "), "{holder}");
    assert_eq!(lease["spec"]["leaseDurationSeconds"], 30);
    assert_eq!(
        lease["metadata"]["labels"],
        json!({"chaos-gameday/lock": "run"})
    );

    let refused = door
        .take("bo", LeaseTiming::default())
        .await
        .expect_err("it is taken");
    assert_eq!(refused.kind, ProblemKind::Conflict);
    let start = format!(
        "another run is under way in namespace `{}`: its lock is held by ann@here since ",
        door.cluster.namespace
    );
    assert!(refused.message.starts_with(&start), "{refused}");
    assert!(
        refused.message.contains("(plan p-0123456789ab), renewed"),
        "{refused}"
    );
    held.release().await.expect("given back");
    assert_eq!(door.leases().await, Vec::<Value>::new());
    let next = door
        .take("bo", LeaseTiming::default())
        .await
        .expect("a free lock");
    next.release().await.expect("given back");
}

#[tokio::test]
async fn a_lock_that_was_not_given_back_is_taken_over_past_its_time_and_not_before() {
    if is_missing() {
        return;
    }
    let door = Door::new(ControlPlane::shared()).await;
    door.held_by_another(SignedDuration::from_secs(20)).await;
    let refused = door
        .take("bo", LeaseTiming::default())
        .await
        .expect_err("it counts");
    assert!(
        refused.message.contains("held by ann@far since"),
        "{refused}"
    );
    let long_ago = before(SignedDuration::from_secs(40));
    door.patch(json!({"spec": {"renewTime": long_ago}})).await;
    let mut held = door
        .take("bo", LeaseTiming::default())
        .await
        .expect("it lapsed");
    let (sort, told) = next(&mut held.news().unwrap()).await;
    assert_eq!(sort, "warned");
    assert!(
        told.contains("its former holder did not give it back: it was held by ann@far since"),
        "{told}"
    );
    assert_eq!(door.leases().await[0]["spec"]["leaseTransitions"], 1);
    held.release().await.expect("given back");
}

#[tokio::test]
async fn of_two_that_take_over_one_lapsed_lock_one_is_refused() {
    if is_missing() {
        return;
    }
    let door = Door::new(ControlPlane::shared()).await;
    for _ in 0..20 {
        door.held_by_another(SignedDuration::from_secs(60)).await;
        let (one, other) = tokio::join!(
            door.take("ann", LeaseTiming::default()),
            door.take("bo", LeaseTiming::default())
        );
        let winner = match (one, other) {
            (Ok(held), Err(problem)) | (Err(problem), Ok(held)) => {
                assert_eq!(problem.kind, ProblemKind::Conflict);
                held
            }
            (one, other) => panic!("{one:?}, {other:?}"),
        };
        winner.release().await.expect("given back");
    }
}

#[tokio::test]
async fn a_lock_that_somebody_takes_away_is_lost_and_left_alone() {
    if is_missing() {
        return;
    }
    let door = Door::new(ControlPlane::shared()).await;
    let mut held = door.take("ann", QUICK).await.expect("a free lock");
    held.still_counts().expect("it is ours");
    let mut news = held.news().unwrap();
    door.patch(json!({"spec": {"holderIdentity": "bo@far p-ba9876543210 7"}}))
        .await;
    let (sort, why) = next(&mut news).await;
    assert_eq!(sort, "lost");
    assert!(
        why.contains("somebody else took it: held by bo@far since"),
        "{why}"
    );
    held.still_counts().expect_err("it is theirs");
    held.release().await.expect("nothing to give back");
    assert_eq!(
        door.leases().await[0]["spec"]["holderIdentity"],
        "bo@far p-ba9876543210 7"
    );
}

#[tokio::test]
async fn a_lock_that_somebody_removes_is_taken_again_and_that_is_told() {
    if is_missing() {
        return;
    }
    let door = Door::new(ControlPlane::shared()).await;
    let mut held = door.take("ann", QUICK).await.expect("a free lock");
    let mut news = held.news().unwrap();
    let path = format!("{}/{NAME}", door.path());
    door.plane.request("DELETE", &path, &Value::Null).await;
    assert_eq!(next(&mut news).await.0, "warned");
    door.patch(json!({"spec": {"holderIdentity": null}})).await;
    let (sort, told) = next(&mut news).await;
    assert_eq!(sort, "warned");
    assert!(
        told.contains("somebody removed it; it is ours again"),
        "{told}"
    );
    // A label of somebody's is no reason to lose it.
    door.patch(json!({"metadata": {"labels": {"theirs": "x"}}}))
        .await;
    let renewed = |lease: &Value| lease["spec"]["renewTime"].clone();
    let before = renewed(&door.leases().await[0]);
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while renewed(&door.leases().await[0]) == before {
        assert!(
            tokio::time::Instant::now() < deadline,
            "it is not renewed any more"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    held.still_counts().expect("it is ours");
    held.release().await.expect("given back");
    assert_eq!(door.leases().await, Vec::<Value>::new());
}

#[tokio::test]
async fn an_account_that_may_create_and_not_renew_is_refused_at_once() {
    if is_missing() {
        return;
    }
    let plane = ControlPlane::shared();
    let mut door = Door::new(plane).await;
    let rule = |verbs: &[&str]| json!([{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": verbs}]);
    for (name, verbs, missing) in [
        ("one", &["create"][..], Some("get")),
        ("two", &["get"], Some("create")),
        ("three", &["get", "create"], Some("update")),
    ] {
        let user = plane
            .account(&door.cluster.namespace, name, &rule(verbs))
            .await;
        door.clients = plane.clients("kind-test", &user).await;
        let refused = door
            .take("ann", LeaseTiming::default())
            .await
            .expect_err("not allowed");
        assert_eq!(refused.kind, ProblemKind::Refused);
        let words = format!(
            "does not let us {} leases.coordination.k8s.io/{NAME}",
            missing.unwrap()
        );
        assert!(refused.message.contains(&words), "{refused}");
    }
    let path = format!("{}/{NAME}", door.path());
    plane.request("DELETE", &path, &Value::Null).await;
    let without_delete = rule(&["get", "create", "update"]);
    let user = plane
        .account(&door.cluster.namespace, "four", &without_delete)
        .await;
    door.clients = plane.clients("kind-test", &user).await;
    let held = door
        .take("ann", LeaseTiming::default())
        .await
        .expect("all that it needs");
    held.release().await.expect("given back");
    assert_eq!(door.leases().await[0]["spec"].get("holderIdentity"), None);
}

#[tokio::test]
async fn a_lock_outlives_a_restart_of_the_server_and_no_longer_silence() {
    if is_missing() {
        return;
    }
    let plane = ControlPlane::lent().await;
    let door = Door::new(&plane).await;
    let patient = LeaseTiming {
        duration: PATIENCE,
        ..QUICK
    };
    let mut held = door.take("ann", patient).await.expect("a free lock");
    let mut news = held.news().unwrap();
    plane.kill_api();
    let (sort, told) = next(&mut news).await;
    assert_eq!(sort, "warned");
    assert!(
        told.contains("it cannot be renewed; it counts for"),
        "{told}"
    );
    assert!(plane.start_api(), "it starts again");
    let (sort, told) = next(&mut news).await;
    assert_eq!(sort, "warned");
    assert!(told.contains("it is renewed again, after"), "{told}");
    held.release().await.expect("given back");

    let mut held = door.take("ann", QUICK).await.expect("a free lock");
    let mut news = held.news().unwrap();
    plane.signal_api("STOP");
    let (sort, why) = next(&mut news).await;
    assert_eq!(sort, "lost", "{why}");
    assert!(
        why.contains("it could not be renewed for 3 s, so another run may begin"),
        "{why}"
    );
    plane.signal_api("CONT");
    held.still_counts().expect_err("it may be anybody's");
}
