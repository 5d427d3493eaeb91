//! When things happen: every figure of a run against the truth of its script, and the cadence of the
//! readings. All under paused time, so each figure is exact to the millisecond.

use std::time::Duration;

use chaos_gameday::faults::simulated::{Behaviour, Operation};
use chaos_gameday::metrics::simulated::SimulatedSeries;
use chaos_gameday::model::event::Event;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::slo::Reaction;
use chaos_gameday::model::units::Span;
use chaos_gameday::report::Report;
use chaos_gameday::run::Input;
use proptest::prelude::*;

use crate::support::delays::Delays;
use crate::support::engine::{Ended, Scene, after, bad, good};

/// The scene's baseline; its only step begins with its end.
const BASELINE: u64 = 5_000;
/// How long that step holds its fault.
const HOLD: u64 = 10_000;

/// What is scripted, in milliseconds: the series is bad from one time to another.
#[derive(Debug, Clone, Copy)]
struct Script {
    every: u64,
    patience: u64,
    bad_from: u64,
    bad_until: u64,
    answer: u64,
    inject: u64,
    confirm: u64,
    revert: u64,
    verify: u64,
}

/// What the run must say of it, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Figures {
    detect: Option<u64>,
    react: Option<u64>,
    gone: Option<u64>,
    held: Option<u64>,
    recovery: Option<u64>,
}

impl Script {
    /// When readings are asked for: every tick, but for those under way while the answer takes longer.
    fn ticks(self) -> impl Iterator<Item = u64> {
        let step = self.every * self.answer.div_ceil(self.every).max(1);
        (0..).map(move |tick| tick * step)
    }

    fn is_bad(self, asked: u64) -> bool {
        (self.bad_from..self.bad_until).contains(&asked)
    }

    fn seen_in(self) -> u64 {
        BASELINE + self.inject + self.confirm
    }

    /// With the first reading that is due once the patience is over.
    fn tripped(self) -> u64 {
        let first_bad = self.ticks().find(|asked| self.is_bad(*asked));
        let first_bad = first_bad.expect("the script breaches");
        let mut late = self.ticks();
        let completing = late.find(|asked| *asked >= first_bad + self.patience);
        completing.expect("ticks never end") + self.answer
    }

    /// Worked out from the script alone.
    fn truth(self) -> Figures {
        let seen_in = self.seen_in();
        let tripped = self.tripped();
        let gone = tripped + self.revert + self.verify;
        let back = self
            .ticks()
            .find(|asked| *asked > gone && !self.is_bad(*asked))
            .expect("ticks never end");
        Figures {
            detect: Some(tripped - seen_in),
            react: Some(0),
            gone: Some(gone - tripped),
            held: Some(tripped - seen_in),
            recovery: Some(back + self.answer - gone),
        }
    }

    fn scene(self) -> Scene {
        let at = Span::from_millis;
        let script = vec![
            (Span::ZERO, good()),
            (at(self.bad_from), bad()),
            (at(self.bad_until), good()),
        ];
        let mut scene = Scene::healthy();
        scene.series = SimulatedSeries::new()
            .series("errors", script)
            .delays("errors", Duration::from_millis(self.answer));
        scene.every = at(self.every);
        scene.patience = at(self.patience);
        scene.blind_patience = Span::from_secs(30);
        scene.through = Delays {
            before_prepare: Duration::ZERO,
            before_inject: Duration::from_millis(self.inject),
            before_confirm: Duration::from_millis(self.confirm),
            before_revert: Duration::from_millis(self.revert),
            before_verify: Duration::from_millis(self.verify),
        }
        .through();
        scene
    }

    async fn run(self) -> Ended {
        let ended = self.scene().run().await;
        ended.assert_lawful();
        ended
    }
}

/// What the run says: its state and its report alike.
fn figures(ended: &Ended) -> Figures {
    let state = ended.state();
    let step = &state.steps[0];
    let figures = Figures {
        detect: step.detect_ms(),
        react: step.react_ms(),
        gone: step.gone_ms(),
        held: step.held_ms(),
        recovery: state.recovery_ms,
    };
    let report = Report::from_events(&ended.records);
    let times = report.steps[0].times;
    let reported = Figures {
        detect: times.detect_ms,
        react: times.react_ms,
        gone: times.gone_ms,
        held: times.held_ms,
        recovery: report.recovery.and_then(|recovery| recovery.took_ms),
    };
    assert_eq!(figures, reported);
    figures
}

#[tokio::test(start_paused = true)]
async fn every_figure_of_a_breach_is_exact_to_one_sample() {
    let plain = Script {
        every: 1_000,
        patience: 2_000,
        bad_from: 8_000,
        bad_until: 12_000,
        answer: 0,
        inject: 0,
        confirm: 0,
        revert: 0,
        verify: 0,
    };
    let expected = Figures {
        detect: Some(5_000),
        react: Some(0),
        gone: Some(0),
        held: Some(5_000),
        recovery: Some(2_000),
    };
    assert_eq!(plain.truth(), expected, "the truth itself");
    let slow_world = Script {
        inject: 300,
        confirm: 200,
        revert: 1_700,
        verify: 450,
        ..plain
    };
    let cases = [
        plain,
        slow_world,
        Script {
            every: 250,
            ..slow_world
        },
        Script {
            every: 3_000,
            bad_until: 16_000,
            ..slow_world
        },
        Script {
            patience: 0,
            ..slow_world
        },
        Script {
            patience: 2_500,
            ..plain
        },
        Script {
            answer: 130,
            ..slow_world
        },
        Script {
            answer: 1_000,
            ..slow_world
        },
        Script {
            answer: 1_700,
            bad_until: 30_000,
            ..slow_world
        },
        Script {
            every: 700,
            bad_from: 7_777,
            bad_until: 16_161,
            ..slow_world
        },
    ];
    for script in cases {
        assert_eq!(figures(&script.run().await), script.truth(), "{script:?}");
    }
}

fn scripts() -> impl Strategy<Value = Script> {
    let cadence = (
        prop::sample::select(vec![200_u64, 500, 1_000, 1_500]),
        0..3_000_u64,
    );
    let times = (6_200..8_500_u64, 3_000..9_000_u64, 0..2_000_u64);
    let delays = (0..500_u64, 0..500_u64, 0..3_000_u64, 0..500_u64);
    let drawn = (cadence, times, delays);
    let scripts = drawn.prop_map(|((every, patience), (bad_from, lasts, answer), delays)| {
        let (inject, confirm, revert, verify) = delays;
        let stretch = every * answer.div_ceil(every).max(1);
        Script {
            every,
            patience,
            bad_from,
            // Long enough for the patience to be lost for sure.
            bad_until: bad_from + lasts.max(patience + 2 * stretch),
            answer,
            inject,
            confirm,
            revert,
            verify,
        }
    });
    scripts.prop_filter("it trips while the fault is in", |script| {
        (script.seen_in()..script.seen_in() + HOLD).contains(&script.tripped())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn every_figure_of_any_breach_is_exact_to_one_sample(script in scripts()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let seen = runtime.block_on(async { figures(&script.run().await) });
        prop_assert_eq!(seen, script.truth());
    }
}

#[tokio::test(start_paused = true)]
async fn a_breach_that_trips_after_the_hold_is_detected_all_the_same() {
    // In at 5 s, bad from 13 s on, hold over at 15 s, patience (4 s) lost at 17 s, back at 20 s.
    let mut scene = Scene::reading(&[(0, good()), (13, bad()), (20, good())]);
    scene.patience = Span::from_secs(4);
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Deviated);
    let expected = Figures {
        detect: Some(12_000),
        react: None,
        gone: Some(0),
        held: Some(10_000),
        recovery: Some(5_000),
    };
    assert_eq!(figures(&ended), expected);
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_platform_that_is_slow_to_say_whether_the_fault_is_in_holds_no_undo_up() {
    // The look at the fault takes 4 s; bad from 6 s on, no patience: undone in second 6, not 9.
    let mut scene = Scene::reading(&[(0, good()), (6, bad()), (8, good())]);
    scene.patience = Span::ZERO;
    scene.through = Delays {
        before_confirm: Duration::from_secs(4),
        ..Delays::default()
    }
    .through();
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Deviated);
    assert_eq!(ended.state().steps[0].react_ms(), Some(20));
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn nor_after_an_injection_that_failed_halfway() {
    let mut scene = Scene::healthy();
    let why = Problem::new(ProblemKind::Conflict, "it broke in the middle");
    let behaviour = Behaviour::FailsHalfway(why);
    scene.world.give_parts("slow stream", 4);
    scene.world.first(1, Operation::Inject, behaviour);
    scene.through = Delays {
        before_confirm: Duration::from_secs(4),
        ..Delays::default()
    }
    .through();
    let ended = scene
        .run_with(|operator, _| after(6, operator, Input::Signal("SIGTERM")))
        .await;
    assert_eq!(ended.settlement.outcome, Outcome::Aborted);
    assert_eq!(ended.state().steps[0].gone_at_ms, Some(6_020));
    ended.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn a_value_from_before_the_fault_is_held_against_nobody() {
    // Each answer takes 1.9 s. What was asked at 4 s, before the fault went in (5 s), comes back bad at
    // 5.9 s, when there is no patience left; good ever after.
    let mut scene = Scene::reading(&[(0, good()), (4, bad()), (5, good())]);
    scene.patience = Span::ZERO;
    scene.series = scene.series.delays("errors", Duration::from_millis(1_900));
    let ended = scene.run().await;
    assert_eq!(ended.settlement.outcome, Outcome::Held);
    ended.assert_lawful();
}

/// When readings came in, and how many were missed before each.
fn cadence(ended: &Ended) -> Vec<(u64, u64)> {
    let mut missed_before = 0;
    let mut seen = Vec::new();
    for record in &ended.records {
        if let Event::TicksMissed { missed, .. } = &record.event {
            missed_before = *missed;
        }
        if let Event::Sampled { .. } = &record.event {
            seen.push((record.elapsed_ms, std::mem::take(&mut missed_before)));
        }
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn readings_keep_to_their_ticks_however_long_answers_take() {
    for (answer, ticks) in [(0, 1), (1, 1), (999, 1), (1_000, 1), (1_001, 2), (2_500, 3)] {
        let mut scene = Scene::healthy();
        scene.blind_patience = Span::from_secs(30);
        scene.series = scene.series.delays("errors", Duration::from_millis(answer));
        let seen = cadence(&scene.run().await);
        let due = (0..).map(|tick| (tick * ticks * 1_000 + answer, ticks - 1));
        assert_eq!(seen, due.take(seen.len()).collect::<Vec<_>>(), "{answer}");
        assert!(seen.len() as u64 >= 15 / ticks, "{answer}: {}", seen.len());
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_hangs_for_ten_ticks_is_asked_again_at_the_next_one() {
    let mut scene = Scene::healthy();
    scene.every = Span::from_millis(500);
    scene.reaction = Reaction::Record;
    scene.series = scene.series.series("steady", vec![(Span::ZERO, good())]);
    let series = scene.series.clone();
    let ended = scene
        .run_with(|_, _| async move {
            tokio::time::sleep(Duration::from_millis(5_750)).await;
            let series = series.delays("errors", Duration::from_millis(5_300));
            tokio::time::sleep(Duration::from_millis(500)).await;
            let _quick = series.delays("errors", Duration::ZERO);
            std::future::pending::<()>().await;
        })
        .await;
    let told: Vec<_> = ended
        .records
        .iter()
        .filter_map(|record| {
            let Event::Sampled { slo, reading, .. } = &record.event else {
                return None;
            };
            (slo == "errors").then(|| (record.elapsed_ms, reading.clone()))
        })
        .filter(|(at_ms, _)| (6_000..12_000).contains(at_ms))
        .collect();
    let waiting = Reading::SourceDown {
        why: "no answer for 3s".to_owned(),
    };
    // Called blind once, after its 3 s of patience; answered at 11.3 s; on the tick again at 11.5 s.
    assert_eq!(told, [(9_000, waiting), (11_300, good()), (11_500, good())]);
    assert_eq!(ended.state().slos[0].missed, 10);
    assert_eq!(ended.settlement.outcome, Outcome::Held);
    ended.assert_lawful();
}

/// A machine that sleeps from 6.5 s to 10.3 s.
async fn jump() {
    tokio::time::sleep(Duration::from_millis(6_500)).await;
    tokio::time::advance(Duration::from_millis(3_800)).await;
    std::future::pending::<()>().await;
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_leaves_ticks_out_and_no_reading_off_its_tick() {
    let seen = cadence(&Scene::healthy().run_with(|_, _| jump()).await);
    let around: Vec<_> = seen
        .into_iter()
        .filter(|(at_ms, _)| (6_000..=13_000).contains(at_ms))
        .collect();
    // Awake again at 10.3 s: the reading of second 10 is a little late, those of 7, 8 and 9 are left out.
    assert_eq!(
        around,
        [
            (6_000, 0),
            (10_300, 3),
            (11_000, 0),
            (12_000, 0),
            (13_000, 0)
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_breach_is_no_longer_for_a_clock_that_jumped_in_it() {
    // Bad from 10.2 s to 12.5 s with a patience of 3 s; nobody looked between 6.5 s and 10.3 s.
    let mut scene = Scene::healthy();
    let at = Span::from_millis;
    scene.patience = Span::from_secs(3);
    let script = vec![
        (Span::ZERO, good()),
        (at(10_200), bad()),
        (at(12_500), good()),
    ];
    scene.series = SimulatedSeries::new().series("errors", script);
    let ended = scene.run_with(|_, _| jump()).await;
    assert_eq!(ended.settlement.outcome, Outcome::Held);
    ended.assert_lawful();
}
