//! Faults of Chaos Mesh, through the binary, on a real API server. The controller is a stand-in; what is
//! in place is judged by the cluster's own objects, never by what the binary says about it.
#![expect(clippy::unwrap_used, reason = "a test that cannot ask has failed")]

mod failures;
mod runs;

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::cli::approved_plan;
use crate::support::chaos_mesh::{Mode, StandIn, install, pod};
use crate::support::kubernetes::{ControlPlane, User};
use crate::support::process::{Place, Running};
use crate::support::target::{Behaviour, Target};

/// A context that the built-in policy takes for a local cluster's.
const CONTEXT: &str = "kind-test";

/// A namespace of its own with pods `cart-0`, `cart-1`, …, a stand-in, and an experiment on them.
struct Scene {
    plane: &'static ControlPlane,
    namespace: String,
    place: Place,
    stand_in: StandIn,
    _target: Target,
}

fn labels() -> Value {
    json!({"app": "cart"})
}

/// A delay for all that the pods of `app: cart` send.
const DELAY: &str = "NetworkChaos: {selector: {labelSelectors: {app: cart}}, action: delay, delay: {latency: 90ms}}";
const POD_KILL: &str = "PodChaos: {selector: {labelSelectors: {app: cart}}, action: pod-kill}";
const POD_FAILURE: &str =
    "PodChaos: {selector: {labelSelectors: {app: cart}}, action: pod-failure}";

impl Scene {
    /// With so many pods, of which this share is hit by this fault.
    async fn new(pods: usize, share: &str, fault: &str, mode: Mode) -> Self {
        static COUNTED: AtomicUsize = AtomicUsize::new(0);
        let plane = ControlPlane::shared();
        install(plane).await;
        let namespace = format!("mesh-{}", COUNTED.fetch_add(1, Ordering::Relaxed));
        plane.create_namespace(&namespace, json!({})).await;
        for number in 0..pods {
            pod(plane, &namespace, &format!("cart-{number}"), &labels()).await;
        }
        let stand_in = StandIn::start(plane, &namespace, mode).await;
        let target = Target::start(Behaviour::Answer(vec![200])).await;
        let place = Place::new();
        let service = target.url("/orders");
        let text = format!(
            "apiVersion: chaos/v1
kind: Experiment
metadata: {{name: slow-cart}}
hypothesis: Orders go on while some carts are slow.
environment: local
on:
  kubernetes: {{namespace: {namespace}}}
metrics:
  traffic: {{url: \"{service}\", rate: 20, timeout: 2s, window: 1s}}
slos:
  - {{name: error-rate, traffic: errorRate, objective: \"< 50%\", for: 30s, every: 200ms}}
baseline: {{for: 1s}}
steps:
  - name: slow carts
    fault: {{chaosMesh: {{{fault}}}}}
    blastRadius: {share}
    hold: \"${{HOLD:-1s}}\"
recovery: {{within: 5s}}
"
        );
        place.write("game.yaml", &text);
        let scene = Self {
            plane,
            namespace,
            place,
            stand_in,
            _target: target,
        };
        scene.log_in(&User::Admin);
        scene
    }

    fn log_in(&self, user: &User) {
        self.plane.log_in(&self.place, CONTEXT, user);
    }

    async fn approved_plan(&self, args: &[&str]) -> String {
        approved_plan(&self.place, args).await
    }

    /// Plans, approves and starts.
    async fn start(&self, args: &[&str]) -> Running {
        let plan = self.approved_plan(args).await;
        self.place.start(&["run", &plan, "--undo-timeout", "10s"])
    }

    async fn list(&self, plural: &str) -> Vec<Value> {
        let path = format!(
            "/apis/chaos-mesh.org/v1alpha1/namespaces/{}/{plural}",
            self.namespace
        );
        let list = self.plane.request("GET", &path, &Value::Null).await;
        list["items"].as_array().unwrap().clone()
    }

    /// Every chaos object.
    async fn objects(&self) -> Vec<Value> {
        [self.list("networkchaos").await, self.list("podchaos").await].concat()
    }

    async fn pods(&self) -> Vec<Value> {
        let path = format!("/api/v1/namespaces/{}/pods", self.namespace);
        let list = self.plane.request("GET", &path, &Value::Null).await;
        list["items"].as_array().unwrap().clone()
    }

    /// Entries of faults that the pods of the namespace have.
    async fn entries(&self) -> usize {
        let pods = self.list("podnetworkchaos").await;
        let counts = pods
            .iter()
            .map(|pod| pod["spec"]["tcs"].as_array().map_or(0, Vec::len));
        counts.sum()
    }

    /// Nothing of a fault is left.
    async fn assert_clean(&self) {
        assert_eq!(self.objects().await, Vec::<Value>::new());
        assert_eq!(self.entries().await, 0);
        for pod in self.pods().await {
            assert_eq!(pod["spec"]["containers"][0]["image"], "app:1");
        }
    }
}
