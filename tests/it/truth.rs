//! Ways in which a run could say better than the truth, or leave something in place.

use std::time::Duration;

use crate::support::delays::Delays;
use crate::support::engine::{Scene, ScriptedJournal, bad, good, rescued};
use chaos_gameday::faults::simulated::{Behaviour, Operation, SimulatedWorld};
use chaos_gameday::model::decision::Cause;
use chaos_gameday::model::event::Event;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::state::{RunState, StepRecord};
use chaos_gameday::model::undo::{SimulatedUndo, Undo};
use chaos_gameday::model::units::Span;
use chaos_gameday::run::Input;

#[tokio::test(start_paused = true)]
async fn a_hold_without_a_single_reading_is_not_held() {
    // In from 5 s to 15 s, blind all of that time; `noDataFor` has its default, 30 s.
    let nothing = Reading::NoData {
        why: "no series".to_owned(),
    };
    let mut scene = Scene::reading(&[(0, good()), (6, nothing), (15, good())]);
    scene.blind_patience = Span::from_secs(30);
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Inconclusive);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_source_that_hangs_is_blind_too() {
    // The reading of second 6 comes back in second 15.5, after the undo; `noDataFor` is 3 s.
    let scene = Scene::healthy();
    let series = scene.series.clone();
    let ended = scene
        .run_with(|_, _| async move {
            tokio::time::sleep(Duration::from_millis(5_500)).await;
            let _slow = series.delays("errors", Duration::from_millis(9_500));
            std::future::pending::<()>().await;
        })
        .await;
    assert_eq!(ended.settlement.outcome, Outcome::Inconclusive);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_reading_begun_before_the_fault_was_gone_says_nothing_of_the_recovery() {
    // Every reading takes 4 s and says what held when it was asked; bad from 14 s on, for ever. The
    // fault is gone at 15 s, and the reading that was asked at 12 s arrives at 16 s.
    let mut scene = Scene::reading(&[(0, good()), (14, bad())]);
    scene.blind_patience = Span::from_secs(10);
    let _slow = scene
        .series
        .clone()
        .delays("errors", Duration::from_secs(4));
    let ended = scene.run().await;
    assert!(
        matches!(ended.settlement.cause, Cause::RecoveryLate { .. }),
        "{:?}",
        ended.settlement.cause
    );
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_late_recovery_between_steps_is_measured_from_the_fault_seen_gone() {
    // Gone at 15 s, late at 35 s, back at 40 s: 25 s after the fault was gone, not 5 s.
    let mut scene = Scene::reading(&[(0, good()), (14, bad()), (40, good())]);
    scene.patience = Span::from_secs(60);
    scene.steps = vec!["first", "second"];
    let ended = scene.run().await;
    assert!(matches!(ended.settlement.cause, Cause::RecoveryLate { .. }));
    let state = ended.state();
    let gone = state.steps[0].gone_at_ms.unwrap_or_default();
    let back = state.recovered_at_ms.map(|back| back - gone);
    assert_eq!(state.recovery_ms, back);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_write_that_landed_late_is_not_said_to_have_never_got_in() {
    let scene = Scene::healthy();
    scene.world.always(
        Operation::Inject,
        Behaviour::LandsLate(Duration::from_secs(3)),
    );
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Inconclusive);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_is_whole_though_its_answer_was_lost_is_not_called_a_part() {
    let scene = Scene::healthy();
    scene
        .world
        .always(Operation::Inject, Behaviour::LosesAnswer);
    let ended = scene.run().await;
    let whole = Cause::PartlyInjected {
        injected: 1,
        planned: 1,
    };
    assert_ne!(ended.settlement.cause, whole);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn how_long_a_lost_write_may_land_is_counted_from_its_sending() {
    let mut scene = Scene::healthy();
    scene.through = Delays {
        before_inject: Duration::from_secs(12),
        ..Delays::default()
    }
    .through();
    scene.world.always(
        Operation::Inject,
        Behaviour::LandsLate(Duration::from_secs(3)),
    );
    let ended = scene.run().await;
    // Long after the end of the run the world is still clean.
    tokio::time::sleep(Duration::from_secs(60)).await;
    ended.assert_lawful();
}

fn in_place(fault: &str) -> (Undo, RunState) {
    let undo = Undo::Simulated(SimulatedUndo {
        fault: fault.to_owned(),
    });
    let step = StepRecord {
        undo: Some(undo.clone()),
        injecting_at_ms: Some(5_000),
        ..StepRecord::default()
    };
    let state = RunState {
        steps: vec![step],
        ..RunState::default()
    };
    (undo, state)
}

#[tokio::test(start_paused = true)]
async fn a_rescue_waits_for_writes_that_may_still_land() {
    // The engine dies while its write is under way.
    let world = SimulatedWorld::new();
    let driver = world.driver();
    let (undo, state) = in_place("slow stream");
    world.always(
        Operation::Inject,
        Behaviour::LandsLate(Duration::from_secs(3)),
    );
    let _lost = driver.inject(&undo).await;
    let unproven = rescued(state, &[driver]).await;
    assert_eq!(unproven, Vec::<String>::new());
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.in_place(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_rescue_names_what_it_has_no_driver_for() {
    let (undo, state) = in_place("slow stream");
    let unproven = rescued(state, &[]).await;
    assert_eq!(unproven, [undo.summary()]);
}

#[tokio::test(start_paused = true)]
async fn a_baseline_that_lost_its_patience_is_broken_though_its_last_reading_is_good() {
    // Bad at 1, 2 and 3 s with a patience of 2 s; the baseline ends at 5 s.
    let ended = Scene::reading(&[(0, bad()), (4, good())]).run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Refused);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_breach_before_the_first_fault_is_no_deviation() {
    // Paused before the only step; nothing was ever injected.
    let ended = Scene::reading(&[(0, good()), (10, bad())])
        .run_with(|operator, _| async move {
            let _ = operator.send(Input::Pause);
            std::future::pending::<()>().await;
        })
        .await;
    assert_eq!(ended.settlement.outcome, Outcome::Refused);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_breach_that_began_while_the_fault_was_in_and_outlasts_its_patience_is_a_deviation() {
    // Bad from 14 s on, undone at 15 s as the hold is over, patience (2 s) lost at 16 s, back at 20 s:
    // the journal says `tripped`, `rollback`.
    let ended = Scene::reading(&[(0, good()), (14, bad()), (20, good())])
        .run()
        .await;
    assert_eq!(ended.settlement.outcome, Outcome::Deviated);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_write_that_failed_once_leaves_no_gap_in_the_numbers() {
    let mut scene = Scene::healthy();
    scene.journal = ScriptedJournal::failing_at(|event| matches!(event, Event::Confirmed { .. }));
    let ended = scene.run().await;
    let numbers: Vec<u64> = ended.records.iter().map(|record| record.seq).collect();
    let due: Vec<u64> = (1..).take(numbers.len()).collect();
    assert_eq!(numbers, due);
}

#[tokio::test(start_paused = true)]
async fn no_fault_goes_into_a_service_that_broke_while_the_step_was_prepared() {
    // The baseline held until 5 s; preparing lasts until 9 s; bad from 6 s on with a patience of 2 s.
    let mut scene = Scene::reading(&[(0, good()), (6, bad()), (20, good())]);
    scene.through = Delays {
        before_prepare: Duration::from_secs(4),
        ..Delays::default()
    }
    .through();
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Refused);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_breach_that_a_restart_of_the_platform_brought_is_no_deviation() {
    // The platform restarts at 7.5 s, between two looks; the SLO breaches at 8 s, without patience.
    let mut scene = Scene::reading(&[(0, good()), (8, bad()), (12, good())]);
    scene.patience = Span::ZERO;
    let ended = scene
        .run_while(Duration::from_millis(7_500), SimulatedWorld::restart)
        .await;
    assert_eq!(ended.settlement.outcome, Outcome::Inconclusive);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_go_puts_no_fault_into_a_service_that_breaches() {
    // Paused before the only step; bad from 28 s on with a patience of 60 s; go at 30 s.
    let mut scene = Scene::reading(&[(0, good()), (28, bad()), (60, good())]);
    scene.patience = Span::from_secs(60);
    let ended = scene
        .run_with(|operator, _| async move {
            let _ = operator.send(Input::Pause);
            tokio::time::sleep(Duration::from_secs(30)).await;
            let _ = operator.send(Input::Go);
            std::future::pending::<()>().await;
        })
        .await;
    let injected = ended.state().steps[0].injecting_at_ms;
    assert!(injected.is_none_or(|at| at >= 60_000), "{injected:?}");
    ended.assert_lawful();
}
