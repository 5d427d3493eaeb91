//! The laws of a run, tried in a scripted world under paused time.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use chaos_gameday::faults::simulated::{Behaviour, Operation, Pace, SimulatedWorld};
use chaos_gameday::model::decision::Cause;
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::lock::LockNews;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::slo::Reaction;
use chaos_gameday::model::state::RunState;
use chaos_gameday::model::undo::{SimulatedUndo, Undo};
use chaos_gameday::run::Input;
use futures_util::FutureExt as _;

use crate::support::delays::Delays;
use crate::support::engine::{Scene, ScriptedJournal, after, bad, good, rescued, rescued_into};
use crate::support::panicky::Overwhelmed;

fn deaf() -> Problem {
    Problem::new(ProblemKind::Unreachable, "nobody answers")
}

fn refuses() -> Problem {
    Problem::new(ProblemKind::Refused, "the platform says no")
}

#[tokio::test(start_paused = true)]
async fn a_healthy_run_holds_and_visits_every_phase_in_order() {
    let ended = Scene::healthy().run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Held);
    assert_eq!(ended.settlement.cause, Cause::StepsDone);
    assert_eq!(
        ended.phases(),
        [
            Phase::Baseline,
            Phase::Between,
            Phase::Preparing,
            Phase::Injecting,
            Phase::Confirming,
            Phase::Observing,
            Phase::Undoing,
            Phase::Verifying,
            Phase::Between,
            Phase::Recovering,
            Phase::Settled,
        ]
    );
    let step = &ended.state().steps[0];
    assert_eq!(step.held_ms(), Some(10_000));
    assert!(ended.state().recovery_ms.is_some());
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_breach_ends_the_step_with_the_sample_that_completes_its_patience() {
    // In at 5 s; bad from 8 s on; patience 2 s: bad at 8, 9, 10, so undone at 10 s, not at 15 s.
    let ended = Scene::reading(&[(0, good()), (8, bad()), (12, good())])
        .run()
        .await;
    assert_eq!(ended.settlement.outcome, Outcome::Deviated);
    let state = ended.state();
    let step = &state.steps[0];
    assert_eq!(step.confirmed_at_ms, Some(5_000));
    assert_eq!(step.tripped.as_ref().map(|trip| trip.at_ms), Some(10_000));
    assert_eq!(step.undoing_at_ms, Some(10_000));
    assert_eq!(step.gone_at_ms, Some(10_000));
    assert_eq!(state.recovery_ms, Some(2_000));
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_breach_shorter_than_its_patience_does_not_end_the_step() {
    let ended = Scene::reading(&[(0, good()), (8, bad()), (9, good())])
        .run()
        .await;
    assert_eq!(ended.settlement.outcome, Outcome::Held);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_record_slo_is_written_down_and_ends_nothing() {
    let mut scene = Scene::reading(&[(0, good()), (8, bad()), (14, good())]);
    scene.reaction = Reaction::Record;
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Held);
    assert!(
        ended
            .records
            .iter()
            .any(|record| matches!(record.event, Event::Tripped { .. }))
    );
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn blindness_ends_the_run_and_is_not_called_a_breach() {
    let down = Reading::SourceDown {
        why: "connection refused".to_owned(),
    };
    let ended = Scene::reading(&[(0, good()), (8, down), (12, good())])
        .run()
        .await;
    assert_eq!(ended.settlement.outcome, Outcome::Inconclusive);
    assert!(matches!(ended.settlement.cause, Cause::Blind { .. }));
    assert_eq!(ended.state().steps[0].undoing_at_ms, Some(11_000));
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_broken_baseline_is_refused_with_nothing_injected() {
    let ended = Scene::reading(&[(0, bad())]).run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Refused);
    assert_eq!(ended.phases(), [Phase::Baseline, Phase::Settled]);
    assert!(
        ended
            .world
            .calls()
            .iter()
            .all(|call| !call.starts_with("inject"))
    );
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_late_recovery_is_a_deviation_though_the_step_held() {
    // The patience outlasts the hold; the service stays bad long after the undo.
    let mut scene = Scene::reading(&[(0, good()), (14, bad())]);
    scene.patience = chaos_gameday::model::units::Span::from_secs(60);
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Deviated);
    assert!(matches!(ended.settlement.cause, Cause::RecoveryLate { .. }));
    assert_eq!(ended.settlement.state.elapsed_ms, 35_000);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn an_unseen_recovery_cannot_be_judged() {
    let nothing = Reading::NoData {
        why: "no series".to_owned(),
    };
    let ended = Scene::reading(&[(0, good()), (14, nothing)]).run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Inconclusive);
    assert!(matches!(
        ended.settlement.cause,
        Cause::RecoveryUnseen { .. }
    ));
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn what_never_got_in_is_refused_and_not_green() {
    for behaviour in [Behaviour::Lies, Behaviour::Fails(refuses())] {
        let scene = Scene::healthy();
        scene.world.always(Operation::Inject, behaviour.clone());
        let ended = scene.run().await;
        assert_eq!(ended.settlement.outcome, Outcome::Refused, "{behaviour:?}");
        assert!(matches!(
            ended.settlement.cause,
            Cause::NeverInjected { .. }
        ));
        ended.assert_lawful();
    }
}

#[tokio::test(start_paused = true)]
async fn what_got_in_by_half_is_inconclusive() {
    for behaviour in [Behaviour::HalfInjects, Behaviour::FailsHalfway(refuses())] {
        let scene = Scene::healthy();
        scene.world.give_parts("slow stream", 4);
        scene.world.always(Operation::Inject, behaviour.clone());
        let ended = scene.run().await;
        assert_eq!(
            ended.settlement.cause,
            Cause::PartlyInjected {
                injected: 2,
                planned: 4
            },
            "{behaviour:?}"
        );
        assert_eq!(ended.settlement.outcome, Outcome::Inconclusive);
        ended.assert_lawful();
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_lands_after_its_answer_was_lost_is_taken_out_again() {
    let scene = Scene::healthy();
    scene.world.always(
        Operation::Inject,
        Behaviour::LandsLate(Duration::from_secs(3)),
    );
    let ended = scene.run().await;
    assert_ne!(ended.settlement.outcome, Outcome::Held);
    // Long after the end of the run the world is still clean.
    tokio::time::sleep(Duration::from_secs(60)).await;
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn an_undo_is_repeated_until_it_is_proven() {
    for behaviour in [
        Behaviour::Fails(deaf()),
        Behaviour::Lies,
        Behaviour::LosesAnswer,
        Behaviour::Hangs(Duration::from_secs(4)),
    ] {
        let scene = Scene::healthy();
        scene.world.first(3, Operation::Revert, behaviour.clone());
        let ended = scene.run().await;
        assert_eq!(ended.settlement.outcome, Outcome::Held, "{behaviour:?}");
        ended.assert_lawful();
    }
}

#[tokio::test(start_paused = true)]
async fn an_undo_that_is_never_proven_is_stuck_and_says_what_is_left() {
    let scene = Scene::healthy();
    scene
        .world
        .always(Operation::Revert, Behaviour::Fails(refuses()));
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Stuck);
    assert_eq!(
        ended.settlement.cause,
        Cause::UndoUnproven {
            remaining: vec!["slow stream".to_owned()]
        }
    );
    assert_eq!(ended.phases().last(), Some(&Phase::Stuck));
    assert_eq!(ended.state().in_place().count(), 1);
    assert_eq!(ended.world.in_place(), ["slow stream"]);
}

#[tokio::test(start_paused = true)]
async fn stuck_beats_the_breach_that_led_to_it() {
    let scene = Scene::reading(&[(0, good()), (8, bad())]);
    scene
        .world
        .always(Operation::VerifyGone, Behaviour::Fails(deaf()));
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Stuck);
}

#[tokio::test(start_paused = true)]
async fn an_abort_in_any_second_of_a_run_undoes_everything() {
    for second in 0..20 {
        for input in [
            Input::Signal("SIGINT"),
            Input::Abort {
                by: "sam".to_owned(),
            },
        ] {
            let ended = Scene::healthy()
                .run_with(|operator, _| after(second, operator, input.clone()))
                .await;
            let outcome = ended.settlement.outcome;
            assert!(
                outcome == Outcome::Aborted || (second >= 15 && outcome == Outcome::Held),
                "second {second}: {outcome:?}"
            );
            ended.assert_lawful();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_abort_while_the_fault_goes_in_waits_for_it_and_takes_it_out() {
    let scene = Scene::healthy();
    scene
        .world
        .always(Operation::Inject, Behaviour::Hangs(Duration::from_secs(4)));
    let ended = scene
        .run_with(|operator, _| after(6, operator, Input::Signal("SIGTERM")))
        .await;
    assert_eq!(ended.settlement.outcome, Outcome::Aborted);
    let calls = ended.world.calls();
    assert!(calls.iter().any(|call| call.starts_with("revert")));
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_second_abort_never_cuts_the_undo() {
    let scene = Scene::healthy();
    scene
        .world
        .first(5, Operation::Revert, Behaviour::Fails(deaf()));
    let ended = scene
        .run_with(|operator, _| async move {
            for second in [8, 1, 1, 1] {
                tokio::time::sleep(Duration::from_secs(second)).await;
                let _ = operator.send(Input::Signal("SIGINT"));
            }
            std::future::pending::<()>().await;
        })
        .await;
    assert_eq!(ended.settlement.outcome, Outcome::Aborted);
    let signals = ended
        .records
        .iter()
        .filter(|record| matches!(record.event, Event::SignalReceived { .. }))
        .count();
    assert!(signals >= 2, "{signals}");
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn an_injection_under_way_is_awaited_whoever_wants_the_run_to_end() {
    let mut scene = Scene::healthy();
    let delays = Delays {
        before_inject: Duration::from_secs(3),
        ..Delays::default()
    };
    scene.through = delays.through();
    let ended = scene
        .run_with(|operator, _| async move {
            tokio::time::sleep(Duration::from_secs(6)).await;
            let _ = operator.send(Input::Signal("SIGINT"));
            std::future::pending::<()>().await;
        })
        .await;
    let calls = ended.world.calls();
    let injects = calls.iter().position(|call| call == "inject slow stream");
    let reverts = calls.iter().position(|call| call == "revert slow stream");
    assert!(injects.is_some() && injects < reverts, "{calls:?}");
    assert_eq!(ended.settlement.outcome, Outcome::Aborted);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_others_remove_is_noticed_and_not_green() {
    let ended = Scene::healthy()
        .run_while(Duration::from_secs(8), SimulatedWorld::remove_fault)
        .await;
    assert!(matches!(ended.settlement.cause, Cause::FaultLost { .. }));
    assert_eq!(ended.settlement.outcome, Outcome::Inconclusive);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_is_lost_ends_the_run_wherever_it_is_and_is_not_green() {
    for seconds in [0, 3, 5, 8, 14, 15, 16] {
        let lost = LockNews::Lost {
            why: "somebody else took it".to_owned(),
        };
        let ended = Scene::healthy()
            .run_with(move |operator, _| after(seconds, operator, Input::Lock(lost)))
            .await;
        let cause = &ended.settlement.cause;
        assert!(
            matches!(cause, Cause::LockLost { .. }),
            "after {seconds} s: {cause:?}"
        );
        assert_eq!(ended.settlement.outcome, Outcome::Inconclusive);
        ended.assert_lawful();
    }
}

#[tokio::test(start_paused = true)]
async fn a_restart_of_the_platform_is_noticed_and_not_green() {
    let ended = Scene::healthy()
        .run_while(Duration::from_secs(8), SimulatedWorld::restart)
        .await;
    assert!(matches!(ended.settlement.cause, Cause::Restarted { .. }));
    assert_eq!(ended.settlement.outcome, Outcome::Inconclusive);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_goes_in_the_last_moment_of_its_hold_does_not_count() {
    let ended = Scene::healthy()
        .run_while(Duration::from_millis(14_900), SimulatedWorld::remove_fault)
        .await;
    assert!(matches!(ended.settlement.cause, Cause::FaultLost { .. }));
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_platform_that_goes_deaf_ends_the_run() {
    let ended = Scene::healthy();
    ended.world.first(1, Operation::Confirm, Behaviour::Works);
    ended
        .world
        .always(Operation::Confirm, Behaviour::Fails(deaf()));
    let ended = ended.run().await;
    assert!(matches!(ended.settlement.cause, Cause::Unconfirmed { .. }));
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_world_that_refuses_to_be_prepared_is_left_alone() {
    let scene = Scene::healthy();
    scene.world.refuses_prepare(refuses());
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Refused);
    assert!(
        ended
            .world
            .calls()
            .iter()
            .all(|call| call.starts_with("prepare"))
    );
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_cannot_be_armed_lets_nothing_in() {
    let fails: [fn(&Event) -> bool; 3] = [
        |event| matches!(event, Event::UndoRecorded { .. }),
        |event| {
            matches!(
                event,
                Event::PhaseEntered {
                    phase: Phase::Injecting,
                    ..
                }
            )
        },
        |event| matches!(event, Event::RunStarted { .. }),
    ];
    for fails_at in fails {
        let mut scene = Scene::healthy();
        scene.journal = ScriptedJournal::failing_at(fails_at);
        let ended = scene.run().await;
        assert!(ended.settlement.evidence.is_some());
        assert!(
            ended
                .world
                .calls()
                .iter()
                .all(|call| !call.starts_with("inject"))
        );
        assert_ne!(ended.settlement.outcome, Outcome::Held);
    }
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_fails_while_the_fault_is_in_ends_in_a_proven_undo() {
    let mut scene = Scene::healthy();
    scene.journal = ScriptedJournal::failing_at(|event| {
        let observing = Phase::Observing;
        matches!(event, Event::PhaseEntered { phase, .. } if *phase == observing)
    });
    let ended = scene.run().await;
    assert!(ended.settlement.evidence.is_some());
    assert_eq!(ended.settlement.outcome, Outcome::Inconclusive);
    assert_eq!(ended.world.in_place(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_record_that_stands_but_could_not_be_synced_keeps_its_number() {
    let mut scene = Scene::healthy();
    scene.journal = ScriptedJournal::unsynced_at(|event| {
        matches!(
            event,
            Event::GoneChecked { .. } | Event::Settled { .. } | Event::RunStarted { .. }
        )
    });
    let ended = scene.run().await;
    assert!(ended.settlement.evidence.is_some());
    let numbers: Vec<u64> = ended.records.iter().map(|record| record.seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!(ended.state(), ended.settlement.state);
}

#[tokio::test(start_paused = true)]
async fn the_next_fault_waits_until_the_slos_are_back() {
    let mut scene = Scene::reading(&[(0, good()), (14, bad()), (25, good())]);
    scene.patience = chaos_gameday::model::units::Span::from_secs(60);
    scene.steps = vec!["first", "second"];
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Held);
    let state = ended.state();
    assert_eq!(state.steps[0].gone_at_ms, Some(15_000));
    assert!(
        state.steps[1].injecting_at_ms >= Some(25_000),
        "{:?}",
        state.steps[1].injecting_at_ms
    );
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_paused_run_asks_before_the_next_step_and_goes_on_at_a_word() {
    let ended = Scene::healthy()
        .run_with(|operator, _| async move {
            let _ = operator.send(Input::Pause);
            tokio::time::sleep(Duration::from_secs(30)).await;
            let _ = operator.send(Input::Go);
            std::future::pending::<()>().await;
        })
        .await;
    assert_eq!(ended.settlement.outcome, Outcome::Held);
    assert_eq!(ended.state().steps[0].injecting_at_ms, Some(30_000));
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_a_driver_is_undone_and_told_as_a_bug() {
    for operation in ["prepare", "inject", "confirm", "revert", "verify-gone"] {
        let mut scene = Scene::healthy();
        scene.panics_in = Some(operation);
        let ended = scene.run().await;
        assert!(
            matches!(
                ended.settlement.cause,
                Cause::Bug { .. } | Cause::NotPrepared { .. }
            ),
            "{operation}: {:?}",
            ended.settlement.cause
        );
        assert_eq!(ended.settlement.cause.exit_code(), 70, "{operation}");
        ended.assert_lawful();
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_dead_engine_left_in_place_is_undone_from_its_events() {
    let ended = Scene::healthy().run().await;
    let observing = |record: &&Record| {
        matches!(
            record.event,
            Event::PhaseEntered {
                phase: Phase::Undoing,
                ..
            }
        )
    };
    let died_at = ended.records.iter().position(|record| observing(&record));
    let state = RunState::of(&ended.records[..died_at.expect("it was undone")]);
    let world = SimulatedWorld::new();
    let undo = Undo::Simulated(SimulatedUndo {
        fault: "slow stream".to_owned(),
    });
    world.first(2, Operation::Revert, Behaviour::Fails(deaf()));
    assert_eq!(world.driver().inject(&undo).await.result, Ok(()));
    assert_eq!(world.in_place(), ["slow stream"]);
    let remaining = rescued(state, &[world.driver()]).await;
    assert_eq!(remaining, Vec::<String>::new());
    assert_eq!(world.in_place(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn what_is_still_going_in_when_the_engine_panics_goes_in_no_more() {
    let mut scene = Scene::healthy();
    scene.world.always(
        Operation::Inject,
        Behaviour::Slow(Pace {
            asks: Duration::from_secs(15),
            lands: Duration::ZERO,
            answers: Duration::ZERO,
        }),
    );
    scene.journal = ScriptedJournal::panicking_at(|event| {
        // With the fault about to be sent.
        matches!(event, Event::SignalReceived { .. })
    });
    let world = scene.world.clone();
    let run = scene.run_with(|operator, _| after(8, operator, Input::Signal("SIGINT")));
    assert!(AssertUnwindSafe(run).catch_unwind().await.is_err());
    assert_eq!(
        world.calls().last().map(String::as_str),
        Some("inject slow stream")
    );
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.in_place(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn what_a_driver_sent_before_it_panicked_is_waited_for() {
    let mut scene = Scene::healthy();
    scene.world.always(
        Operation::Inject,
        Behaviour::LandsLate(Duration::from_secs(8)),
    );
    scene.through = Box::new(|driver| Arc::new(Overwhelmed(driver)));
    let ended = scene.run().await;
    assert!(matches!(ended.settlement.cause, Cause::Bug { .. }));
    tokio::time::sleep(Duration::from_secs(60)).await;
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn who_is_stuck_names_all_that_may_be_there_where_the_last_look_saw_nothing() {
    let scene = Scene::healthy();
    scene.world.give_parts("slow stream", 2);
    scene.world.always(
        Operation::Inject,
        Behaviour::LandsInParts(Duration::from_secs(8)),
    );
    scene
        .world
        .always(Operation::Revert, Behaviour::Fails(refuses()));
    // Half of it is seen; nobody sees the rest land.
    scene
        .world
        .first(1, Operation::VerifyGone, Behaviour::Works);
    scene
        .world
        .always(Operation::VerifyGone, Behaviour::Fails(deaf()));
    let ended = scene.run().await;
    let all = Cause::UndoUnproven {
        remaining: vec!["slow stream".to_owned()],
    };
    assert_eq!(ended.settlement.cause, all);
    assert_eq!(ended.world.in_place().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_stuck_run_that_was_taken_over_has_no_end_until_that_one_is_written() {
    let scene = Scene::healthy();
    scene
        .world
        .always(Operation::Revert, Behaviour::Fails(refuses()));
    let ended = scene.run().await;
    assert_eq!(ended.state().outcome, Some(Outcome::Stuck));
    ended.world.always(Operation::Revert, Behaviour::Works);
    let journal = ScriptedJournal::default();
    rescued_into(journal.clone(), ended.state(), &[ended.world.driver()]).await;
    let mut records = [ended.records.clone(), journal.records()].concat();
    assert_eq!(RunState::of(&records).outcome, Some(Outcome::Inconclusive));
    // Killed before its last word: seen gone, and still to be ended.
    records.pop();
    let state = RunState::of(&records);
    assert_eq!((state.outcome, state.in_place().count()), (None, 0));
}

#[tokio::test(start_paused = true)]
async fn a_look_that_was_asked_before_the_last_write_could_land_proves_nothing() {
    let scene = Scene::healthy();
    scene.world.always(
        Operation::Inject,
        Behaviour::LandsLate(Duration::from_secs(9)),
    );
    // It sees nothing in the eighth second, and says so in the twelfth.
    scene.world.always(
        Operation::VerifyGone,
        Behaviour::Slow(Pace {
            asks: Duration::ZERO,
            lands: Duration::ZERO,
            answers: Duration::from_secs(4),
        }),
    );
    let ended = scene.run().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    ended.assert_lawful();
}
