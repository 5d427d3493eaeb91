//! A stand-in for the controller of Chaos Mesh 2.8 in one namespace, on a real API server: it selects,
//! keeps records, kills and breaks pods for real, recovers, drops its finalizer, counts a duration from
//! the creation of the object, and misbehaves as it is told to.
#![expect(clippy::unwrap_used, reason = "a test that cannot ask has failed")]

mod cluster;
mod effects;

pub use cluster::{install, pod, replace_pod};

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use self::cluster::Api;
use self::effects::{apply, recover};
use super::kubernetes::ControlPlane;

const BETWEEN_LOOKS: Duration = Duration::from_millis(40);
const FINALIZER: &str = "chaos-mesh/records";
/// The kinds that it knows: plural, and the actions that are over once they are done.
const KINDS: [(&str, &[&str]); 3] = [
    ("podchaos", &["pod-kill", "container-kill"]),
    ("networkchaos", &[]),
    ("stresschaos", &[]),
];

/// How it behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// As it should.
    Obeys,
    /// It finds no target.
    SelectsNothing,
    /// Every injection fails.
    NeverInjects,
    /// Only so many injections succeed.
    InjectsOnly(usize),
    /// No recovery succeeds, so that a deletion hangs.
    NeverRecovers,
    /// It does nothing: its process is dead.
    Dead,
    /// So long after it saw an object first it begins.
    Slow(Duration),
}

/// One at work; it ends with its handle.
pub struct StandIn {
    mode: Arc<Mutex<Mode>>,
    task: JoinHandle<()>,
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl StandIn {
    /// In this namespace.
    pub async fn start(plane: &'static ControlPlane, namespace: &str, mode: Mode) -> Self {
        let mode = Arc::new(Mutex::new(mode));
        let (api, known) = (Api::of(plane, namespace).await, Arc::clone(&mode));
        let task = tokio::spawn(async move {
            loop {
                let mode = *known.lock().unwrap();
                if mode != Mode::Dead {
                    look(&api, mode).await;
                }
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
        });
        Self { mode, task }
    }

    /// From now on.
    pub fn becomes(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }
}

async fn look(api: &Api, mode: Mode) {
    for (plural, one_shot) in KINDS {
        let Some(list) = api.get(&api.chaos(plural, "")).await else {
            continue;
        };
        for object in list["items"].as_array().into_iter().flatten() {
            let turn = Turn {
                api,
                mode,
                plural,
                one_shot: one_shot.iter().any(|one| object["spec"]["action"] == *one),
                object,
            };
            turn.reconcile().await;
        }
    }
}

/// One pass over one object.
struct Turn<'a> {
    api: &'a Api,
    mode: Mode,
    plural: &'static str,
    one_shot: bool,
    object: &'a Value,
}

impl Turn<'_> {
    fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap()
    }

    async fn patch(&self, patch: Value) {
        self.api
            .send("PATCH", &self.api.chaos(self.plural, self.name()), &patch)
            .await;
    }

    fn is_deleted(&self) -> bool {
        !self.object["metadata"]["deletionTimestamp"].is_null()
    }

    fn age(&self) -> Duration {
        let created = self.object["metadata"]["creationTimestamp"].as_str();
        let created: Timestamp = created.unwrap().parse().unwrap();
        #[expect(
            clippy::disallowed_methods,
            reason = "a controller compares its own clock with the server's"
        )]
        let age = Timestamp::now().duration_since(created);
        Duration::try_from(age).unwrap_or_default()
    }

    /// Deleted, then one-shot, then the duration, then the pause.
    fn desired(&self) -> &'static str {
        let pause = "experiment.chaos-mesh.org/pause";
        let paused = self.object["metadata"]["annotations"][pause] == "true";
        let duration = self.object["spec"]["duration"].as_str();
        let over = duration.is_some_and(|text| {
            let text = text.strip_suffix("ms").unwrap();
            self.age() >= Duration::from_millis(text.parse().unwrap())
        });
        match (self.is_deleted(), self.one_shot) {
            (true, _) => "Stop",
            (false, true) => "Run",
            (false, false) if over || paused => "Stop",
            (false, false) => "Run",
        }
    }

    async fn reconcile(&self) {
        let finalizers = &self.object["metadata"]["finalizers"];
        if finalizers.is_null() && !self.is_deleted() {
            self.patch(json!({"metadata": {"finalizers": [FINALIZER]}}))
                .await;
        }
        if let Mode::Slow(delay) = self.mode
            && self.age() < delay
        {
            return;
        }
        let before = self.object["status"]["experiment"]["containerRecords"].as_array();
        let mut records = match before {
            Some(records) => records.clone(),
            None => self.select().await,
        };
        let desired = self.desired();
        let mut failed = false;
        for index in 0..records.len() {
            failed |= !self.turn(&mut records, index, desired).await;
        }
        self.write(&records, desired).await;
        let out = records
            .iter()
            .all(|record| record["phase"] == "Not Injected");
        if self.is_deleted() && out && !failed {
            // All of them, also those of others.
            self.patch(json!({"metadata": {"finalizers": []}})).await;
        }
    }

    /// Pods that are named and are not there are left out without a word.
    async fn select(&self) -> Vec<Value> {
        if self.mode == Mode::SelectsNothing {
            let message = "Failed to select targets: no pod is selected";
            self.api.event(self.name(), message).await;
            return Vec::new();
        }
        let mut records = Vec::new();
        let sides = [
            (".", &self.object["spec"]["selector"]),
            (".Target", &self.object["spec"]["target"]["selector"]),
        ];
        for (key, selector) in sides {
            for (namespace, names) in selector["pods"].as_object().into_iter().flatten() {
                for name in names.as_array().into_iter().flatten() {
                    let name = name.as_str().unwrap();
                    let Some(pod) = self.api.pod(namespace, name).await else {
                        continue;
                    };
                    let id = match self.plural {
                        "stresschaos" => {
                            let container = pod["spec"]["containers"][0]["name"].as_str().unwrap();
                            format!("{namespace}/{name}/{container}")
                        }
                        _ => format!("{namespace}/{name}"),
                    };
                    records.push(json!({
                        "id": id, "selectorKey": key, "phase": "Not Injected",
                        "injectedCount": 0, "recoveredCount": 0, "events": [],
                    }));
                }
            }
        }
        records
    }

    /// Moves one record on; whether nothing failed.
    async fn turn(&self, records: &mut [Value], index: usize, desired: &str) -> bool {
        let in_place = records
            .iter()
            .filter(|one| one["phase"] == "Injected")
            .count();
        let record = &mut records[index];
        let is_in = record["phase"] == "Injected";
        let (operation, result) = match (desired, is_in) {
            ("Run", false) => {
                let full = matches!(self.mode, Mode::InjectsOnly(count) if in_place >= count);
                let result = if self.mode == Mode::NeverInjects {
                    Err("the daemon said no".to_owned())
                } else if full {
                    Err("no room for one more".to_owned())
                } else {
                    apply(self.api, self.plural, self.object, record).await
                };
                ("Apply", result)
            }
            ("Stop", true) => {
                let result = if self.mode == Mode::NeverRecovers {
                    Err("unable to flush ip sets".to_owned())
                } else {
                    recover(self.api, self.plural, self.object, record).await
                };
                ("Recover", result)
            }
            _ => return true,
        };
        let succeeded = result.is_ok();
        let kind = if succeeded { "Succeeded" } else { "Failed" };
        let event = json!({"type": kind, "operation": operation, "message": result.err().unwrap_or_default(), "timestamp": "2026-11-30T00:00:00Z"});
        let events = record["events"].as_array_mut().unwrap();
        // No more of them than an object can hold.
        events.truncate(20);
        events.push(event);
        if succeeded {
            let (phase, count) = match operation {
                "Apply" => ("Injected", "injectedCount"),
                _ => ("Not Injected", "recoveredCount"),
            };
            record["phase"] = json!(phase);
            record[count] = json!(record[count].as_u64().unwrap() + 1);
        }
        succeeded
    }

    /// Conditions lag behind the records by a pass, and come in any order.
    async fn write(&self, records: &[Value], desired: &str) {
        let known = self.object["status"]["experiment"]["containerRecords"].as_array();
        let known = known.map(Vec::as_slice).unwrap_or_default();
        let all = |phase: &str| {
            let all = known.iter().all(|record| record["phase"] == phase);
            let all = all && !known.is_empty();
            if all { "True" } else { "False" }
        };
        let selected = if known.is_empty() { "False" } else { "True" };
        let conditions = json!([
            {"type": "AllInjected", "status": all("Injected")},
            {"type": "Paused", "status": "False"},
            {"type": "Selected", "status": selected},
            {"type": "AllRecovered", "status": all("Not Injected")},
        ]);
        let mut experiment = json!({"desiredPhase": desired});
        if !records.is_empty() {
            experiment["containerRecords"] = json!(records);
        }
        let status = json!({"conditions": conditions, "experiment": experiment});
        if self.object["status"] != status {
            self.patch(json!({"status": status})).await;
        }
    }
}
