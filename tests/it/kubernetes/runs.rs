//! The binary with an experiment that names a cluster: what it plans, when it refuses, and the lock that
//! it holds while it runs. The fault itself goes into a scripted LocalStack.

use chaos_gameday::kubernetes::lease::NAME;
use serde_json::{Value, json};

use super::unique;
use crate::cli::{FAULT_IS_IN, approved_plan, experiment};
use crate::support::kubernetes::{ControlPlane, User, is_in_full, is_missing};
use crate::support::localstack::Misfit;
use crate::support::process::{Ended, Place, Running};
use crate::support::target::{Behaviour, Target};

/// A context that the built-in policy takes for a local cluster's.
const CONTEXT: &str = "kind-test";

/// A place with a kubeconfig, and an experiment on a namespace and a LocalStack of its own.
struct Scene<'p> {
    plane: &'p ControlPlane,
    namespace: String,
    place: Place,
    localstack: Misfit,
    _target: Target,
}

impl<'p> Scene<'p> {
    /// On a namespace that is new.
    async fn new(plane: &'p ControlPlane) -> Self {
        let namespace = unique("game");
        plane
            .create_namespace(&namespace, json!({"team": "payments"}))
            .await;
        Self::on(plane, namespace).await
    }

    async fn on(plane: &'p ControlPlane, namespace: String) -> Self {
        let localstack = Misfit::start(Vec::new()).await;
        let target = Target::start(Behaviour::Answer(vec![200])).await;
        let place = Place::new();
        let rules = "{service: kinesis, operation: PutRecord}";
        let text = experiment(&localstack.url, &target.url("/orders"), rules);
        let named = format!("on:\n  kubernetes: {{namespace: {namespace}}}\n");
        // A busy machine is slow, which is no matter here.
        let text = text.replace("for: 300ms", "for: 30s");
        place.write("game.yaml", &text.replacen("on:\n", &named, 1));
        let scene = Self {
            plane,
            namespace,
            place,
            localstack,
            _target: target,
        };
        scene.log_in(CONTEXT, &User::Admin);
        scene
    }

    /// From now on this is the current context.
    fn log_in(&self, context: &str, user: &User) {
        self.plane.log_in(&self.place, context, user);
    }

    async fn approved_plan(&self, args: &[&str]) -> String {
        approved_plan(&self.place, args).await
    }

    /// Plans, approves and starts.
    async fn start(&self, variables: &[&str]) -> Running {
        let variables = variables.iter().flat_map(|variable| ["--var", variable]);
        let plan = self.approved_plan(&variables.collect::<Vec<_>>()).await;
        self.place.start(&["run", &plan])
    }

    fn leases(&self) -> String {
        let namespace = &self.namespace;
        format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases")
    }

    async fn lease(&self) -> Option<Value> {
        let all = self
            .plane
            .request("GET", &self.leases(), &Value::Null)
            .await;
        all["items"].as_array().unwrap().first().cloned()
    }

    async fn patch(&self, path: &str, patch: Value) {
        self.plane.request("PATCH", path, &patch).await;
    }

    #[track_caller]
    fn assert_untouched(&self) {
        assert_eq!(self.localstack.writes(), Vec::<String>::new());
    }

    #[track_caller]
    fn assert_clean(&self) {
        assert_eq!(self.localstack.inner().rules, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn a_plan_names_the_cluster_and_a_run_holds_its_namespace_while_it_lasts() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(ControlPlane::shared()).await;
    let shown = scene.place.chaos(&["plan", "game.yaml"]).await.exits(0);
    let words: String = shown
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for part in [
        format!(
            "cluster context {CONTEXT}: kubernetes v1.35.4 at {}, uid ",
            scene.plane.url()
        ),
        format!("namespace {}, uid ", scene.namespace),
        format!(
            "labels kubernetes.io/metadata.name={}, team=payments",
            scene.namespace
        ),
    ] {
        assert!(words.contains(&part), "no `{part}` in {words}");
    }
    assert_eq!(scene.lease().await, None, "a plan locks nothing");

    let mut run = scene.start(&["HOLD=2s"]).await;
    run.says(FAULT_IS_IN).await;
    let lease = scene.lease().await.expect("a lock");
    let holder = lease["spec"]["holderIdentity"].as_str().unwrap();
    assert!(holder.starts_with("tester@"), "{holder}");
    assert_eq!(lease["metadata"]["name"], NAME);
    run.ended().await.exits(0);
    assert_eq!(scene.lease().await, None, "the lock stayed");
    scene.assert_clean();
}

#[tokio::test]
async fn a_namespace_or_a_context_that_changed_after_the_plan_is_refused_with_its_difference() {
    if is_missing() {
        return;
    }
    let plane = ControlPlane::shared();
    let scene = Scene::new(plane).await;
    let path = format!("/api/v1/namespaces/{}", scene.namespace);
    let plan = scene.approved_plan(&[]).await;
    let run = async |words: &str| {
        let ended = scene.place.chaos(&["run", &plan]).await.exits(3);
        ended
            .tells("the world is not the one that was planned")
            .tells(words);
        scene.assert_untouched();
    };
    scene
        .patch(&path, json!({"metadata": {"labels": {"team": "orders"}}}))
        .await;
    run("namespace labels, team: planned `payments`, now `orders`").await;
    scene
        .patch(
            &path,
            json!({"metadata": {"labels": {"team": "payments", "env": "x"}}}),
        )
        .await;
    run("namespace labels, env: planned nothing, now `x`").await;
    scene
        .patch(&path, json!({"metadata": {"labels": {"env": null}}}))
        .await;

    scene.log_in("kind-other", &User::Admin);
    run("context: planned `kind-test`, now `kind-other`").await;
    scene.log_in(CONTEXT, &User::Admin);

    plane.delete_namespace(&scene.namespace).await;
    plane
        .create_namespace(&scene.namespace, json!({"team": "payments"}))
        .await;
    run("namespace uid\n      planned   `").await;
    assert_eq!(scene.lease().await, None, "what is refused locks nothing");
}

#[tokio::test]
async fn another_cluster_behind_the_same_name_is_refused() {
    if is_missing() {
        return;
    }
    let plane = ControlPlane::shared();
    let other = ControlPlane::lent().await;
    let scene = Scene::new(plane).await;
    let plan = scene.approved_plan(&[]).await;
    other
        .create_namespace(&scene.namespace, json!({"team": "payments"}))
        .await;
    let text = other.kubeconfig(CONTEXT, None, &User::Admin);
    let file = scene.place.write("other", &text);
    let file = file.display().to_string();
    let ended = scene
        .place
        .chaos(&["run", &plan, "--kubeconfig", &file])
        .await;
    ended
        .exits(3)
        .tells("cluster uid\n      planned   `")
        .tells("API server: planned `");
    scene.assert_untouched();
}

#[tokio::test]
async fn flags_choose_context_and_namespace_and_are_kept_in_the_plan() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(ControlPlane::shared()).await;
    let typo = scene
        .place
        .chaos(&["plan", "game.yaml", "--context", "kind-tset"])
        .await;
    typo.exits(3)
        .tells("there is no context `kind-tset`")
        .tells("the nearest is `kind-test`");
    let other = unique("game");
    scene.plane.create_namespace(&other, json!({})).await;
    let plan = scene
        .approved_plan(&["--context", CONTEXT, "-n", &other])
        .await;
    let shown = scene
        .place
        .chaos(&["show", &plan, "-o", "json"])
        .await
        .exits(0);
    assert!(
        shown
            .stdout
            .contains(&format!("\"namespace\": \"{other}\"")),
        "{}",
        shown.stdout
    );
    // The plan is run as it is, without its flags.
    scene.place.chaos(&["run", &plan]).await.exits(0);
    scene.assert_clean();

    let without = scene.place.path("game.yaml");
    let text = std::fs::read_to_string(&without).unwrap();
    let named = format!("  kubernetes: {{namespace: {}}}\n", scene.namespace);
    scene.place.write("without.yaml", &text.replace(&named, ""));
    let ended = scene
        .place
        .chaos(&["plan", "without.yaml", "-n", &other])
        .await;
    ended.exits(2).tells("the experiment names no cluster");
}

#[tokio::test]
async fn two_users_with_nothing_in_common_but_the_namespace_do_not_run_at_the_same_time() {
    if is_missing() {
        return;
    }
    let plane = ControlPlane::shared();
    let first = Scene::new(plane).await;
    let second = Scene::on(plane, first.namespace.clone()).await;
    let plan = second.approved_plan(&[]).await;
    let mut running = first.start(&["HOLD=6s"]).await;
    running.says(FAULT_IS_IN).await;
    let mut command = second.place.command(&["run", &plan]);
    command.env("USER", "eve");
    let refused = Running::of(command).ended().await.exits(3);
    refused
        .tells(&format!(
            "another run is under way in namespace `{}`",
            first.namespace
        ))
        .tells("its lock is held by tester@")
        .tells("(plan p-")
        .tells("it counts until");
    second.assert_untouched();
    // Looking at things asks for no lock.
    second.place.chaos(&["plan", "game.yaml"]).await.exits(0);
    running.ended().await.exits(0);
    second.place.chaos(&["run", &plan]).await.exits(0);
}

#[tokio::test]
async fn an_account_that_may_not_lock_is_refused_before_anything_is_touched() {
    if is_missing() {
        return;
    }
    let plane = ControlPlane::shared();
    let scene = Scene::new(plane).await;
    let rules = json!([{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]}]);
    let reader = plane.account(&scene.namespace, "reader", &rules).await;
    scene.log_in(CONTEXT, &reader);
    let plan = scene.approved_plan(&[]).await;
    let refused = scene.place.chaos(&["run", &plan]).await.exits(3);
    refused
        .tells("does not let us get leases.coordination.k8s.io/chaos-run")
        .tells("--verb=get,create,update,delete --resource=leases.coordination.k8s.io");
    scene.assert_untouched();
}

#[tokio::test]
async fn a_run_whose_lock_is_taken_away_ends_undone_and_judges_nothing() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(ControlPlane::shared()).await;
    let mut run = scene.start(&["HOLD=60s"]).await;
    run.says(FAULT_IS_IN).await;
    let path = format!("{}/{NAME}", scene.leases());
    scene
        .patch(
            &path,
            json!({"spec": {"holderIdentity": "bo@far p-ba9876543210 7"}}),
        )
        .await;
    let ended: Ended = run.ended().await.exits(6);
    ended
        .tells("the run lock was lost")
        .tells("somebody else took it: held by bo@far");
    scene.assert_clean();
    let lease = scene.lease().await.expect("theirs");
    assert_eq!(lease["spec"]["holderIdentity"], "bo@far p-ba9876543210 7");
}

/// Half a minute, most of it until the first renewal: the same of the lock alone is in `locks`.
#[tokio::test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
async fn a_restart_of_the_api_server_during_a_run_is_told_and_ends_nothing() {
    if is_missing() {
        return;
    }
    if !is_in_full() {
        eprintln!("skipped: takes half a minute, set CHAOS_REQUIRE_E2E=1");
        return;
    }
    let plane = ControlPlane::lent().await;
    let scene = Scene::new(&plane).await;
    let mut run = scene.start(&["HOLD=24s"]).await;
    run.says(FAULT_IS_IN).await;
    plane.kill_api();
    run.says("it cannot be renewed; it counts for").await;
    assert!(plane.start_api(), "it starts again");
    run.says("it is renewed again, after").await;
    run.ended().await.exits(0);
    scene.assert_clean();
    assert_eq!(scene.lease().await, None);
}
