//! What sort of process a guardian is: apart from its run's terminal and files, small, and asleep.

use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Pid;
use tokio::process::Command;
use tokio::time::sleep;

use super::Scene;
use crate::support::guardian::{guardian_of, until};
use crate::support::process::Running;

/// A file of `/proc` about a process.
fn about(pid: Pid, file: &str) -> String {
    let path = format!("/proc/{}/{file}", pid.as_raw_nonzero());
    std::fs::read_to_string(path).unwrap()
}

/// The figure behind this word.
fn figure(text: &str, word: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(word));
    let first = line.and_then(|rest| rest.split_whitespace().next());
    first.unwrap().parse().unwrap()
}

/// The fields of `stat` behind the name, the state first.
fn stat(pid: Pid) -> Vec<String> {
    let stat = about(pid, "stat");
    let (_, after) = stat.rsplit_once(") ").unwrap();
    after.split(' ').map(str::to_owned).collect()
}

/// What a process has open, by number.
fn open_files(pid: Pid) -> Vec<(u32, PathBuf)> {
    let folder = format!("/proc/{}/fd", pid.as_raw_nonzero());
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .map(|entry| {
            let number = entry.file_name().to_str().unwrap().parse().unwrap();
            (number, std::fs::read_link(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_guardian_has_no_terminal_and_nothing_open_but_its_own() {
    let scene = Scene::new().await;
    let plan = scene
        .approved_at(scene.bench.sandbox.aws_url(), &["HOLD=2s"])
        .await;
    let mut command = Command::new("sh");
    let line = "exec 7>inherited 9<&7; exec \"$0\" \"$@\"";
    command.args(["-c", line, env!("CARGO_BIN_EXE_chaos"), "run", &plan]);
    scene.place.surround(&mut command);
    let mut run = Running::of(command);
    run.says("baseline").await;
    let guardian = guardian_of(&scene.place);

    let fields = stat(guardian);
    let pid = guardian.as_raw_nonzero().to_string();
    let [group, session, terminal] = [2, 3, 4].map(|at| fields[at].clone());
    assert_eq!([group, session], [pid.clone(), pid]);
    assert_eq!(terminal, "0");
    assert_eq!(about(guardian, "comm"), "chaos-guardian\n");

    let files = open_files(guardian);
    let numbers: Vec<u32> = files.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [0, 1, 2, 3], "{files:?}");
    assert!(files[2].1.ends_with("guardian.log"), "{files:?}");
    assert!(files[3].1.ends_with("anon_inode:[pidfd]"), "{files:?}");

    // What else the run starts must not hold the guardian's pipes open.
    let run_pid = Pid::from_raw(fields[1].parse().unwrap()).unwrap();
    let pipes = [&files[0].1, &files[1].1];
    let mut ends = 0;
    for (number, file) in open_files(run_pid) {
        if pipes.contains(&&file) {
            let info = about(run_pid, &format!("fdinfo/{number}"));
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
            let flags = u32::from_str_radix(flags.unwrap().trim(), 8).unwrap();
            assert_ne!(flags & 0o2_000_000, 0, "{number} is closed on exec");
            ends += 1;
        }
    }
    assert_eq!(ends, 2, "its own end of each");
    run.ended().await.exits(0);
}

#[tokio::test]
async fn a_guardian_is_small_and_sleeps() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["BASELINE=6s"]).await;
    run.says("baseline").await;
    let guardian = guardian_of(&scene.place);
    until("it waits", || stat(guardian)[0] == "S").await;
    let wakes = || figure(&about(guardian, "status"), "voluntary_ctxt_switches:");
    let before = wakes();
    sleep(Duration::from_secs(3)).await;
    let woken = wakes() - before;
    // Twice a second to take a sign in, and what it takes to answer.
    assert!(woken <= 30, "woken {woken} times in 3 s");
    let fields = stat(guardian);
    let ticks: u64 = [11, 12]
        .map(|at| fields[at].parse::<u64>().unwrap())
        .iter()
        .sum();
    assert!(ticks <= 20, "{ticks} hundredths of a second of work");
    // What is its own; the pages of the program are those of the run, and a debug build has many.
    let own = figure(&about(guardian, "smaps_rollup"), "Private_Dirty:");
    assert!(own < 4 * 1024, "{own} KiB of its own");
    let all = figure(&about(guardian, "status"), "VmRSS:");
    assert!(all < 8 * 1024 || cfg!(debug_assertions), "{all} KiB in all");
    run.ended().await.exits(0);
}
