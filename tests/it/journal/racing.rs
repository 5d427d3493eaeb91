//! Two processes race for one lock, a thousand times. They are this test program, started again.
#![expect(clippy::unwrap_used, reason = "a test that cannot race has failed")]

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use chaos_gameday::journal::{Attempt, Lock, Locks};
use chaos_gameday::model::holder::Holder;
use rustix::time::{ClockId, clock_gettime};

use super::locks::holder;

const ROUNDS: usize = 1_000;
/// Until both have heard of a round: they begin it at the same nanosecond, each by itself.
const NOTICE_NS: i128 = 400_000;
/// Where a contender finds the folder that it contends in; unset in every other process.
const PLACE: &str = "CHAOS_TEST_CONTENDER";

/// Nanoseconds that all processes agree on.
fn now() -> i128 {
    let time = clock_gettime(ClockId::Monotonic);
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

/// How a winner lets go.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Release {
    Drop,
    Exit,
    Killed,
}

impl Release {
    fn of_round(round: usize) -> Self {
        match round % 50 {
            7 | 32 => Self::Exit,
            19 | 44 => Self::Killed,
            _ => Self::Drop,
        }
    }
}

/// Not a test of its own: what a contender does. It is told `at NANOSECONDS`, `drop`, `exit` and `next`, and
/// answers `won`, `lost PID` and `free`.
#[test]
#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "it is told by its environment, and ends as a process does"
)]
fn a_contender() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else {
        return;
    };
    let locks = Locks::open(place.join("locks")).unwrap();
    let mut held: Option<Lock> = None;
    for line in std::io::stdin().lines() {
        match line.unwrap().split_once(' ') {
            Some(("at", moment)) => {
                let moment: i128 = moment.parse().unwrap();
                while now() < moment {
                    std::hint::spin_loop();
                }
                let answer = match locks.take("target", &holder()).unwrap() {
                    Attempt::Taken(lock) => {
                        enter(&place);
                        held = Some(lock);
                        "won".to_owned()
                    }
                    Attempt::Held(held) => {
                        format!(
                            "lost {}",
                            held.holder.map_or(0, |holder: Holder| holder.pid)
                        )
                    }
                };
                say(&answer);
            }
            Some(("let", "drop")) => {
                leave(&place);
                drop(held.take());
                say("free");
            }
            Some(("let", "exit")) => {
                leave(&place);
                std::process::exit(0);
            }
            other => panic!("what is {other:?}?"),
        }
    }
}

/// Straight to the pipe: the test harness keeps what is printed.
fn say(answer: &str) {
    let mut pipe = OpenOptions::new().append(true).open("/dev/stderr").unwrap();
    pipe.write_all(format!("{answer}\n").as_bytes()).unwrap();
}

/// A second proof that owes nothing to the lock: only one process at a time can make this file.
fn enter(place: &Path) {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(place.join("inside"))
        .unwrap();
    record(place, 1);
}

fn leave(place: &Path) {
    record(place, -1);
    fs::remove_file(place.join("inside")).unwrap();
}

fn record(place: &Path, change: i32) {
    let mut record = OpenOptions::new()
        .append(true)
        .create(true)
        .open(place.join("record"))
        .unwrap();
    record
        .write_all(format!("{} {} {change}\n", now(), std::process::id()).as_bytes())
        .unwrap();
}

struct Contender {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Contender {
    fn start(place: &Path) -> Self {
        // What it says must come by a pipe of its own; the harness writes to stdout.
        let mut child = Command::new("/bin/sh")
            .args(["-c", "exec \"$0\" --exact journal::racing::a_contender --nocapture --test-threads 1 2>&1 >/dev/null"])
            .arg(std::env::current_exe().unwrap())
            .env(PLACE, place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            orders: child.stdin.take().unwrap(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn order(&mut self, order: &str) {
        self.orders
            .write_all(format!("{order}\n").as_bytes())
            .unwrap();
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lets the winner go, and has a fresh process in its place where it ended.
fn release(winner: &mut Contender, how: Release, place: &Path) {
    match how {
        Release::Drop => {
            winner.order("let drop");
            assert_eq!(winner.answer(), "free");
            return;
        }
        Release::Exit => {
            winner.order("let exit");
            assert!(winner.child.wait().unwrap().success());
        }
        Release::Killed => {
            leave(place);
            winner.child.kill().unwrap();
            winner.child.wait().unwrap();
        }
    }
    *winner = Contender::start(place);
}

/// Never two inside at any moment of the shared record; returns how often there was one.
fn entries(place: &Path) -> usize {
    let record = fs::read_to_string(place.join("record")).unwrap();
    let mut changes: Vec<(i128, i32)> = record
        .lines()
        .map(|line| {
            let mut words = line.split(' ');
            let (time, change) = (words.next().unwrap(), words.nth(1).unwrap());
            (time.parse().unwrap(), change.parse().unwrap())
        })
        .collect();
    changes.sort_by_key(|(time, _)| *time);
    let mut inside = 0;
    for (time, change) in &changes {
        inside += change;
        assert!((0..=1).contains(&inside), "{inside} inside at {time}");
    }
    changes.len() / 2
}

#[test]
fn of_two_processes_that_race_a_thousand_times_one_wins_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let mut both = [Contender::start(place), Contender::start(place)];
    let mut wins = [0; 2];
    for round in 0..ROUNDS {
        let moment = now() + NOTICE_NS;
        // The order of telling changes, in case it matters.
        for index in [round % 2, 1 - round % 2] {
            both[index].order(&format!("at {moment}"));
        }
        let pids = both.each_ref().map(|one| one.child.id());
        let answers = both.each_mut().map(Contender::answer);
        let winners: Vec<usize> = (0..2).filter(|one| answers[*one] == "won").collect();
        assert_eq!(winners.len(), 1, "round {round}: {answers:?}");
        let winner = winners[0];
        let named = format!("lost {}", pids[winner]);
        assert_eq!(
            answers[1 - winner],
            named,
            "round {round}: who has it is named"
        );
        wins[winner] += 1;
        release(&mut both[winner], Release::of_round(round), place);
    }
    assert_eq!(entries(place), ROUNDS);
    assert!(
        wins.iter().all(|wins| *wins > 0),
        "no race at all: {wins:?}"
    );
}
