//! What a person adds to a run: marks, notes, the wish to be asked before the next step, an abort.

use std::time::Duration;

use chaos_gameday::model::decision::Cause;
use chaos_gameday::model::event::Event;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::remark::{Mark, Note, Pause, SinceFault};
use chaos_gameday::run::Input;

use crate::support::engine::{Ended, Scene, person_at_desk};

/// A run of so many steps to which these inputs come at these seconds.
async fn run_with(steps: &[&'static str], inputs: Vec<(u64, Input)>) -> Ended {
    let mut scene = Scene::healthy();
    scene.steps = steps.to_vec();
    let typed = |operator: chaos_gameday::run::Operator, _| async move {
        let begun = tokio::time::Instant::now();
        for (second, input) in inputs {
            tokio::time::sleep_until(begun + Duration::from_secs(second)).await;
            let _ = operator.send(input);
        }
        std::future::pending::<()>().await;
    };
    let ended = scene.run_with(typed).await;
    ended.assert_lawful();
    ended
}

fn mark() -> Input {
    Input::Mark {
        label: "alert fired".to_owned(),
        by: person_at_desk(),
    }
}

fn choices(ended: &Ended) -> Vec<Pause> {
    let events = ended.records.iter().map(|record| &record.event);
    let chosen = |event: &Event| {
        let Event::PauseChosen { pause } = event else {
            return None;
        };
        Some(*pause)
    };
    events.filter_map(chosen).collect()
}

fn warned(ended: &Ended) -> Vec<String> {
    ended.state().warnings
}

#[tokio::test(start_paused = true)]
async fn a_mark_is_measured_from_the_fault_and_a_note_keeps_its_author() {
    let note = Input::Note {
        text: "pager rang".to_owned(),
        by: person_at_desk(),
    };
    let ended = run_with(&["only"], vec![(2, mark()), (12, mark()), (13, note)]).await;
    let confirmed = ended.state().steps[0].confirmed_at_ms.expect("it went in");
    let marked = |at_ms: u64, since_fault| Mark {
        at_ms,
        label: "alert fired".to_owned(),
        by: person_at_desk(),
        since_fault,
    };
    let since = SinceFault {
        step: 0,
        after_ms: 12_000 - confirmed,
    };
    assert_eq!(
        ended.state().marks,
        [marked(2_000, None), marked(12_000, Some(since))]
    );
    let noted = Note {
        at_ms: 13_000,
        text: "pager rang".to_owned(),
        by: Some(person_at_desk()),
    };
    assert_eq!(ended.state().notes, [noted]);
}

#[tokio::test(start_paused = true)]
async fn a_wish_to_wait_is_recorded_and_can_be_taken_back() {
    let inputs = vec![(2, Input::Pause), (3, Input::Go)];
    let ended = run_with(&["first", "second"], inputs).await;
    assert_eq!(choices(&ended), [Pause::BeforeNextStep, Pause::No]);
    assert!(!ended.phases().contains(&Phase::AwaitingGo));
    assert_eq!(ended.settlement.outcome, Outcome::Held);
}

#[tokio::test(start_paused = true)]
async fn a_wish_to_wait_holds_for_one_step() {
    let inputs = vec![(2, Input::Pause), (30, Input::Go)];
    let ended = run_with(&["first", "second"], inputs).await;
    let waits = ended
        .phases()
        .iter()
        .filter(|phase| **phase == Phase::AwaitingGo)
        .count();
    assert_eq!((choices(&ended), waits), (vec![Pause::BeforeNextStep], 1));
    assert_eq!(ended.state().pause, Pause::No);
}

#[tokio::test(start_paused = true)]
async fn a_wish_to_wait_before_a_step_that_never_comes_is_answered() {
    let ended = run_with(&["only"], vec![(12, Input::Pause)]).await;
    assert_eq!(choices(&ended), []);
    assert_eq!(warned(&ended), ["there is no next step to wait before"]);
}

#[tokio::test(start_paused = true)]
async fn an_abort_after_the_first_reason_is_recorded_and_the_first_reason_counts() {
    let abort = |by: &str| Input::Abort { by: by.to_owned() };
    let ended = run_with(&["only"], vec![(12, abort("ada")), (12, abort("bob"))]).await;
    let by = |by: &str| Cause::Aborted { by: by.to_owned() };
    assert_eq!(ended.state().endings, [by("ada"), by("bob")]);
    assert_eq!(ended.settlement.cause, by("ada"));
}
