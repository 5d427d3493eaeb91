//! Every way out of a run, tried in every phase: whatever ends it, nothing of it stays in place.
//!
//! Here the world is scripted and time is paused; `cli::ways` does the same with processes and signals.

mod page;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chaos_gameday::faults::simulated::{Behaviour, Operation};
use chaos_gameday::model::decision::Cause;
use chaos_gameday::model::event::Event;
use chaos_gameday::model::lock::LockNews;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::takeover::GuardianNews;
use chaos_gameday::model::undo::{SimulatedUndo, Undo};
use chaos_gameday::model::units::Span;
use chaos_gameday::run::Input;

use crate::support::delays::Delays;
use crate::support::engine::{Ended, Scene, ScriptedJournal, after, bad, good};
use crate::support::panicky::Panicky;

/// Phases that take their time in `slow`, but for `AwaitingGo`, which only a person brings about.
const PHASES: [Phase; 8] = [
    Phase::Baseline,
    Phase::Preparing,
    Phase::Injecting,
    Phase::Confirming,
    Phase::Observing,
    Phase::Undoing,
    Phase::Verifying,
    Phase::Recovering,
];

/// Seconds until `slow` has ended in any case.
const LONGEST: u64 = 60;

/// Two steps whose every phase takes seconds.
fn slow() -> Scene {
    slow_reading(&[(0, good())])
}

fn slow_reading(script: &[(u64, Reading)]) -> Scene {
    let mut scene = Scene::reading(script);
    let two = Duration::from_millis(1_900);
    scene.steps = vec!["first", "second"];
    scene.through = Delays {
        before_prepare: two,
        before_inject: two,
        before_confirm: two,
        before_revert: two,
        before_verify: two,
    }
    .through();
    scene
}

/// The phase that the run was in at this millisecond; `None`: it had ended.
fn phase_at(ended: &Ended, at_ms: u64) -> Option<Phase> {
    let over = ended.settlement.state.elapsed_ms < at_ms;
    let mut entered = ended.records.iter().filter_map(|record| {
        let Event::PhaseEntered { phase, .. } = &record.event else {
            return None;
        };
        (record.elapsed_ms < at_ms).then_some(*phase)
    });
    entered.next_back().filter(|_| !over)
}

/// Sends this at every half second of a run; returns how each ended and the phase that it came in.
async fn at_any_moment(input: &Input) -> Vec<(Ended, Phase)> {
    let mut all = Vec::new();
    for half in 0..2 * LONGEST {
        let at_ms = 500 * half + 250;
        let sent = input.clone();
        let ended = slow()
            .run_with(move |operator, _| async move {
                tokio::time::sleep(Duration::from_millis(at_ms)).await;
                let _ = operator.send(sent);
                std::future::pending::<()>().await;
            })
            .await;
        match phase_at(&ended, at_ms) {
            Some(phase) => all.push((ended, phase)),
            None => break,
        }
    }
    all
}

/// Whatever is sent ends the run for this reason, in whichever phase it comes, with nothing left.
async fn ends_it_in_every_phase(input: Input, reason: fn(&Cause) -> bool) {
    let mut phases = BTreeSet::new();
    for (ended, phase) in at_any_moment(&input).await {
        let cause = &ended.settlement.cause;
        assert!(reason(cause), "{input:?} while {}: {cause:?}", phase.word());
        assert_ne!(ended.settlement.outcome, Outcome::Held);
        ended.assert_lawful();
        phases.insert(phase.word());
    }
    for phase in PHASES {
        assert!(
            phases.contains(phase.word()),
            "never sent while {}",
            phase.word()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_signal_in_any_phase_undoes() {
    let reason = |cause: &Cause| matches!(cause, Cause::Aborted { by } if by == "SIGTERM");
    ends_it_in_every_phase(Input::Signal("SIGTERM"), reason).await;
}

#[tokio::test(start_paused = true)]
async fn a_persons_abort_in_any_phase_undoes() {
    let by = "ann@desk (chaos abort)".to_owned();
    let reason = |cause: &Cause| matches!(cause, Cause::Aborted { by } if by.contains("ann"));
    ends_it_in_every_phase(Input::Abort { by }, reason).await;
}

#[tokio::test(start_paused = true)]
async fn a_sleep_of_the_machine_in_any_phase_undoes_and_is_never_green() {
    let reason = |cause: &Cause| matches!(cause, Cause::Slept { ms: 3_600_000 });
    ends_it_in_every_phase(Input::Slept { ms: 3_600_000 }, reason).await;
}

#[tokio::test(start_paused = true)]
async fn a_guardian_that_is_lost_in_any_phase_undoes() {
    let why = "it died three times".to_owned();
    let reason = |cause: &Cause| matches!(cause, Cause::GuardianLost { .. });
    ends_it_in_every_phase(Input::Guardian(GuardianNews::Lost { why }), reason).await;
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_is_lost_in_any_phase_undoes() {
    let why = "somebody else took it".to_owned();
    let reason = |cause: &Cause| matches!(cause, Cause::LockLost { .. });
    ends_it_in_every_phase(Input::Lock(LockNews::Lost { why }), reason).await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_dies_in_any_phase_undoes_and_is_a_bug() {
    let died = Input::Died {
        what: "the view",
        why: "scripted".to_owned(),
    };
    let reason = |cause: &Cause| cause.exit_code() == 70 && cause.sentence().contains("the view");
    ends_it_in_every_phase(died, reason).await;
}

#[tokio::test(start_paused = true)]
async fn a_process_that_stood_still_says_so_and_goes_on() {
    for (ended, phase) in at_any_moment(&Input::StoodStill { ms: 8_000 }).await {
        assert_eq!(ended.settlement.outcome, Outcome::Held, "{}", phase.word());
        let warned = &ended.state().warnings;
        assert!(warned[0].contains("stood still for 8s"), "{warned:?}");
        ended.assert_lawful();
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_a_word_is_ended_by_every_way_too() {
    let lost = || "gone".to_owned();
    for input in [
        Input::Signal("SIGHUP"),
        Input::Abort { by: lost() },
        Input::Slept { ms: 60_000 },
        Input::Guardian(GuardianNews::Lost { why: lost() }),
        Input::Lock(LockNews::Lost { why: lost() }),
        Input::Died {
            what: "a gauge",
            why: lost(),
        },
    ] {
        let sent = input.clone();
        let ended = Scene::healthy()
            .run_with(|operator, _| async move {
                let _ = operator.send(Input::Pause);
                after(9, operator, sent).await;
            })
            .await;
        let phases = ended.phases();
        let waited = phases.iter().rposition(|phase| *phase == Phase::AwaitingGo);
        assert!(waited.is_some(), "{input:?}: {phases:?}");
        assert!(!phases.contains(&Phase::Injecting), "{input:?}: {phases:?}");
        assert_ne!(ended.settlement.outcome, Outcome::Held, "{input:?}");
        ended.assert_lawful();
    }
}

/// A service that turns bad, or goes dark, in any second for good.
async fn from_any_second_on(reading: &Reading) {
    let mut phases = BTreeSet::new();
    for second in 0..LONGEST {
        let script = [(0, good()), (second, reading.clone())];
        let ended = slow_reading(&script).run().await;
        let Some(phase) = phase_at(&ended, 1_000 * second + 1) else {
            break;
        };
        phases.insert(phase.word());
        assert_ne!(ended.settlement.outcome, Outcome::Held, "second {second}");
        ended.assert_lawful();
    }
    for phase in PHASES {
        assert!(phases.contains(phase.word()), "not while {}", phase.word());
    }
}

#[tokio::test(start_paused = true)]
async fn a_breach_in_any_phase_undoes() {
    from_any_second_on(&bad()).await;
}

#[tokio::test(start_paused = true)]
async fn no_data_in_any_phase_undoes() {
    let nothing = Reading::NoData {
        why: "no series".to_owned(),
    };
    from_any_second_on(&nothing).await;
}

#[tokio::test(start_paused = true)]
async fn a_source_that_goes_down_in_any_phase_undoes() {
    let down = Reading::SourceDown {
        why: "connection refused".to_owned(),
    };
    from_any_second_on(&down).await;
}

/// A disk that is full from one record on, whichever that is, or for that one alone.
async fn disk_full(is_full: fn(usize, usize) -> bool) {
    let whole = slow().run().await;
    let records = whole.records.len();
    let mut phases = BTreeSet::new();
    for from in 0..records {
        let seen = AtomicUsize::new(0);
        let mut scene = slow();
        scene.journal = ScriptedJournal::failing_at(move |_| {
            is_full(seen.fetch_add(1, Ordering::SeqCst), from)
        });
        let ended = scene.run().await;
        let state = &ended.settlement.state;
        assert_eq!(
            ended.world.in_place(),
            Vec::<String>::new(),
            "record {from}"
        );
        assert!(ended.settlement.evidence.is_some(), "record {from}");
        // What could not be said after the end takes nothing back; the exit code is that of lost evidence.
        let was_the_end = from + 1 == records;
        assert!(
            was_the_end || ended.settlement.outcome != Outcome::Held,
            "record {from}"
        );
        assert!(state.outcome.is_some(), "record {from}");
        let injected = ended
            .world
            .calls()
            .iter()
            .any(|call| call.starts_with("inject"));
        let armed = ended
            .records
            .iter()
            .any(|record| matches!(record.event, Event::UndoRecorded { .. }));
        assert!(
            armed || !injected,
            "record {from}: nothing went in unrecorded"
        );
        phases.insert(whole.records[from].elapsed_ms);
    }
    assert!(phases.len() > PHASES.len(), "{phases:?}");
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_is_full_from_any_record_on_undoes() {
    disk_full(|record, from| record >= from).await;
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_is_full_for_any_one_record_undoes() {
    disk_full(|record, from| record == from).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_any_call_of_a_driver_undoes_and_is_a_bug() {
    for (operation, calls) in [
        ("prepare", 2),
        ("inject", 2),
        ("confirm", 12),
        ("revert", 2),
        ("verify-gone", 2),
    ] {
        for good in 0..calls {
            let mut scene = Scene::healthy();
            scene.steps = vec!["first", "second"];
            // One driver for both steps, so that its calls are counted through.
            let shared = Panicky::after(good, scene.world.driver(), operation);
            scene.through = Box::new(move |_| shared.clone());
            let ended = scene.run().await;
            let cause = &ended.settlement.cause;
            assert_eq!(cause.exit_code(), 70, "{operation} {good}: {cause:?}");
            ended.assert_lawful();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_look_at_the_fault_that_dies_ends_the_run_at_once() {
    let mut scene = Scene::healthy();
    let world = scene.world.clone();
    // The first look confirms, the second is the first of the hold, two seconds into it.
    scene.through = Box::new(move |_| Panicky::after(1, world.driver(), "confirm"));
    let ended = scene.run().await;
    assert_eq!(ended.state().steps[0].undoing_at_ms, Some(7_000));
    let cause = ended.settlement.cause.sentence();
    assert!(cause.contains("the look at the fault panicked"), "{cause}");
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_look_at_the_fault_that_hangs_is_none() {
    let scene = Scene::healthy();
    scene.world.first(1, Operation::Confirm, Behaviour::Works);
    let for_ever = Behaviour::Hangs(Duration::from_secs(100_000));
    scene.world.always(Operation::Confirm, for_ever);
    let mut scene = scene;
    scene.hold = Span::from_secs(60);
    let ended = scene.run().await;
    let cause = &ended.settlement.cause;
    assert!(matches!(cause, Cause::Unconfirmed { .. }), "{cause:?}");
    // In at 5 s; asked again at 7 s; no answer within 10 s.
    assert_eq!(ended.state().steps[0].undoing_at_ms, Some(17_000));
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_write_that_was_under_way_when_its_driver_panicked_is_waited_for() {
    let mut scene = Scene::healthy();
    let world = scene.world.clone();
    scene.through = Box::new(move |_| Panicky::driver(world.driver(), "inject"));
    let lands = scene.world.clone();
    let ended = scene
        .run_with(|_, _| async move {
            // The request is on its way when the driver panics, and lands seconds later.
            tokio::time::sleep(Duration::from_secs(8)).await;
            let landing = Undo::Simulated(SimulatedUndo {
                fault: "slow stream".to_owned(),
            });
            assert_eq!(lands.driver().inject(&landing).await.result, Ok(()));
            std::future::pending::<()>().await;
        })
        .await;
    assert_eq!(ended.settlement.cause.exit_code(), 70);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn an_undo_is_tried_with_longer_and_longer_pauses_until_its_deadline() {
    let scene = Scene::healthy();
    let no = Problem::new(ProblemKind::Refused, "the platform says no");
    scene.world.always(Operation::Revert, Behaviour::Fails(no));
    let ended = scene.run().await;
    let tried: Vec<u64> = ended
        .records
        .iter()
        .filter(|record| matches!(record.event, Event::UndoFailed { .. }))
        .map(|record| record.elapsed_ms - 15_000)
        .collect();
    assert_eq!(
        tried,
        [
            0, 100, 300, 700, 1_500, 3_100, 6_300, 11_300, 16_300, 21_300, 26_300, 30_000
        ]
    );
    assert_eq!(ended.settlement.cause.exit_code(), 7);
    assert_eq!(ended.phases().last(), Some(&Phase::Stuck));
}
