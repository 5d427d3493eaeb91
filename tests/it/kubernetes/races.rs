//! Two processes that want one lock, again and again: one has it at a time. That nobody else has it is not
//! what the lock says: it is a file that only one can make.
#![expect(
    clippy::disallowed_methods,
    reason = "a racer is told by its environment where to race"
)]

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, remove_file};
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use chaos_gameday::clients::{Clients, KubeconfigFiles};
use chaos_gameday::kubernetes::identify;
use chaos_gameday::kubernetes::lease::{LeaseTiming, take};
use chaos_gameday::model::problem::ProblemKind;
use serde_json::json;

use super::locks::{Door, person};
use crate::support::kubernetes::{ControlPlane, User, is_in_full, is_missing};

/// How often two processes get the lock between them.
const WINS: usize = 60;
const WINS_IN_FULL: usize = 240;

#[tokio::test]
async fn two_processes_race_for_one_lock_and_never_have_it_both() {
    if is_missing() {
        return;
    }
    let door = Door::new(ControlPlane::shared()).await;
    race(&door, &User::Admin).await;
    assert_eq!(door.leases().await.len(), 0, "it stayed");
}

/// Who may not delete a Lease empties it, so the next holder is whoever updates it first.
#[tokio::test]
async fn two_processes_race_for_a_lock_that_is_never_deleted() {
    if is_missing() {
        return;
    }
    let plane = ControlPlane::shared();
    let door = Door::new(plane).await;
    let namespace = &door.cluster.namespace;
    let rules = json!([
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]},
    ]);
    let user = plane.account(namespace, "racer", &rules).await;
    let wins = race(&door, &user).await;
    let lease = &door.leases().await[0];
    assert_eq!(lease["spec"].get("holderIdentity"), None, "{lease}");
    let updates = lease["spec"]["leaseTransitions"].as_u64();
    // It was created once; every other win took over what was there.
    assert_eq!(updates, Some(wins as u64 - 1));
}

/// Lets two race, and says how often they got the lock.
async fn race(door: &Door<'_>, user: &User) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let namespace = Some(door.cluster.namespace.as_str());
    let text = door.plane.kubeconfig("kind-test", namespace, user);
    std::fs::write(folder.path().join("kubeconfig"), text).unwrap();
    let (one, other) = tokio::join!(racer(folder.path()), racer(folder.path()));
    for racer in [one, other] {
        assert!(racer.status.success(), "{racer:?}");
    }
    let wins = std::fs::read_to_string(folder.path().join("wins")).unwrap();
    let racers: BTreeSet<&str> = wins.lines().collect();
    assert_eq!(racers.len(), 2, "only one ever ran: {wins}");
    let all = wins.lines().count();
    assert!(all >= wanted(), "{all}");
    all
}

fn wanted() -> usize {
    match is_in_full() {
        true => WINS_IN_FULL,
        false => WINS,
    }
}

async fn racer(folder: &Path) -> Output {
    tokio::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "kubernetes::races::one_of_two_racers",
            "--ignored",
        ])
        .env("RACE_FOLDER", folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap()
}

/// One side of a race, in a process of its own.
#[tokio::test]
#[ignore = "the race starts it"]
async fn one_of_two_racers() {
    let folder = std::env::var_os("RACE_FOLDER").expect("the race starts it");
    let folder = Path::new(&folder);
    let files = KubeconfigFiles::exactly(folder.join("kubeconfig"));
    let clients = Clients::new().unwrap().with_kubeconfig(files);
    let cluster = identify(&clients, None, None).await.unwrap();
    let us = person(&format!("racer-{}", std::process::id()));
    let wins = folder.join("wins");
    let won = || {
        let text = std::fs::read_to_string(&wins).unwrap_or_default();
        text.lines().count()
    };
    while won() < wanted() {
        let held = match take(&clients, &cluster, &us, LeaseTiming::default()).await {
            Ok(held) => held,
            Err(problem) => {
                assert_eq!(problem.kind, ProblemKind::Conflict, "{problem}");
                continue;
            }
        };
        let alone = folder.join("alone");
        File::create_new(&alone).expect("nobody else has the lock");
        let mut log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&wins)
            .unwrap();
        writeln!(log, "{}", us.identity().split(' ').next().unwrap()).unwrap();
        remove_file(&alone).unwrap();
        held.still_counts().expect("it is ours");
        held.release().await.unwrap();
    }
}
