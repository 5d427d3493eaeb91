//! What the engine tells a guardian, and what it does without one; under paused time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use chaos_gameday::faults::simulated::{Behaviour, Operation};
use chaos_gameday::model::decision::Cause;
use chaos_gameday::model::event::Event;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::takeover::{GuardianNews, Standing};
use chaos_gameday::run::{Guard, Input, Operator};
use futures_util::future::BoxFuture;

use crate::support::engine::{Ended, Scene};

/// What a guardian heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    Posted,
    Told(Standing),
    Dismissed,
}

type Ears = Arc<Mutex<Vec<Heard>>>;

/// A guardian of this process, which may be missing from some moment on.
struct Scripted {
    heard: Ears,
    missing: fn(Heard) -> bool,
}

impl Scripted {
    fn hears(&self, what: Heard) -> Result<(), Problem> {
        if (self.missing)(what) {
            return Err(Problem::new(ProblemKind::Unexpected, "nobody is there"));
        }
        self.heard.lock().unwrap().push(what);
        Ok(())
    }
}

impl Guard for Scripted {
    fn start(&mut self) -> BoxFuture<'_, Result<Option<u32>, Problem>> {
        Box::pin(async { self.hears(Heard::Posted).map(|()| Some(7)) })
    }

    fn tell(&mut self, standing: Standing) -> Result<(), Problem> {
        self.hears(Heard::Told(standing))
    }

    fn dismiss(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let _ = self.hears(Heard::Dismissed);
        })
    }
}

/// A healthy scene whose guardian is missing in these moments, and what it hears.
fn guarded(missing: fn(Heard) -> bool) -> (Scene, Ears) {
    let heard = Ears::default();
    let guard = Scripted {
        heard: Arc::clone(&heard),
        missing,
    };
    let scene = Scene {
        guard: Box::new(guard),
        ..Scene::healthy()
    };
    (scene, heard)
}

fn never(_: Heard) -> bool {
    false
}

/// Reminds the engine as its session does.
async fn beating(operator: Operator) {
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let _ = operator.send(Input::Beat);
    }
}

fn was_injected(ended: &Ended) -> bool {
    let calls = ended.world.calls();
    calls.iter().any(|call| call.contains("inject"))
}

#[tokio::test(start_paused = true)]
async fn a_run_tells_its_guardian_where_it_stands_and_dismisses_it_at_the_end() {
    let (scene, heard) = guarded(never);
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Held);
    let mut kinds = Vec::new();
    for heard in heard.lock().unwrap().iter() {
        let kind = match heard {
            Heard::Posted => "posted",
            Heard::Told(Standing::Clear) => "clear",
            Heard::Told(Standing::In { .. }) => "in",
            Heard::Told(Standing::Undoing) => "undoing",
            Heard::Dismissed => "dismissed",
        };
        if kinds.last() != Some(&kind) {
            kinds.push(kind);
        }
    }
    let expected = ["posted", "clear", "in", "undoing", "clear", "dismissed"];
    assert_eq!(kinds, expected);
    let started = |event: &Event| matches!(event, Event::GuardianStarted { pid: 7 });
    assert!(ended.records.iter().any(|record| started(&record.event)));
}

/// A fault that goes in as slowly as its platform may take is none that stays too long.
#[tokio::test(start_paused = true)]
async fn the_first_word_on_how_long_a_fault_stays_has_room_for_a_slow_way_in() {
    let (scene, heard) = guarded(never);
    scene.run_with(|operator, _| beating(operator)).await;
    let heard = heard.lock().unwrap();
    let words = heard.iter().filter_map(|heard| match heard {
        Heard::Told(Standing::In { at_most_ms }) => Some(*at_most_ms),
        Heard::Posted | Heard::Told(_) | Heard::Dismissed => None,
    });
    let words: Vec<u64> = words.collect();
    let hold = 10_000;
    let last = words.last().copied().unwrap();
    assert!(words[0] > hold + 60_000 + 5_000, "{words:?}");
    assert!((60_000..=hold + 60_000).contains(&last), "{words:?}");
}

#[tokio::test(start_paused = true)]
async fn without_a_guardian_nothing_begins() {
    let (scene, heard) = guarded(|what| what == Heard::Posted);
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Refused);
    assert!(!was_injected(&ended));
    let expected = [Heard::Told(Standing::Clear), Heard::Dismissed];
    assert_eq!(*heard.lock().unwrap(), expected);
    let why = ended.settlement.cause.sentence();
    assert!(
        why.contains("no guardian could be posted: nobody is there"),
        "{why}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_fault_does_not_go_in_while_nobody_watches() {
    let (scene, _) = guarded(|what| matches!(what, Heard::Told(Standing::In { .. })));
    let ended = scene.run().await;
    let why = "nobody is there".to_owned();
    assert_eq!(ended.settlement.cause, Cause::GuardianLost { why });
    assert!(!was_injected(&ended), "{:?}", ended.world.calls());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_loses_its_guardian_undoes_and_ends() {
    let (scene, _) = guarded(never);
    let ended = scene.run_with(|operator, _| async move {
        tokio::time::sleep(Duration::from_secs(8)).await;
        let why = "it died".to_owned();
        let _ = operator.send(Input::Guardian(GuardianNews::Lost { why }));
        std::future::pending::<()>().await;
    });
    let ended = ended.await;
    assert!(was_injected(&ended));
    assert_eq!(ended.world.in_place(), Vec::<String>::new());
    let why = "it died".to_owned();
    assert_eq!(ended.settlement.cause, Cause::GuardianLost { why });
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_undo_fails_gives_signs_until_it_ends() {
    let (scene, heard) = guarded(never);
    let no = Problem::new(ProblemKind::Refused, "no");
    scene.world.always(Operation::Revert, Behaviour::Fails(no));
    let ended = scene.run_with(|operator, _| beating(operator));
    assert_eq!(ended.await.settlement.outcome, Outcome::Stuck);
    let heard = heard.lock().unwrap();
    let (last, before) = heard.split_last().unwrap();
    assert_eq!(*last, Heard::Dismissed);
    assert_eq!(before.last(), Some(&Heard::Told(Standing::Undoing)));
    let undoing = before.iter().rev();
    let undoing = undoing.take_while(|heard| **heard == Heard::Told(Standing::Undoing));
    assert!(undoing.count() > 30, "{heard:?}");
}
