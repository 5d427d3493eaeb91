//! Runs one schedule from its beginning until nothing is under way any more.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chaos_gameday::guardian::Leftover;
use chaos_gameday::journal::{self, Recorded};
use chaos_gameday::model::lock::LockNews;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::run::Input;

use crate::life::Role;
use crate::oracle::{self, Verdict};
use crate::schedule::{Happening, LONGEST, Schedule, Wish};
use crate::sim::{JOURNAL, Sim, Tracing};
use crate::{engine, plans, rescuer};

/// After so many rescues with something in their way the last one has nothing.
const ROUNDS: usize = 3;
/// A write that is in flight has landed by then.
const LANDED: Duration = Duration::from_secs(16);

/// Runs a schedule, and looks at what came of it.
pub fn run(schedule: Schedule, tracing: Tracing) -> Verdict {
    // Made in a runtime of their own, before there is another one.
    let _ = plans::shape(schedule.shape);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async move {
        let sim = Sim::new(schedule, tracing);
        if tokio::time::timeout(LONGEST, direct(&sim)).await.is_err() {
            sim.violate("the schedule does not end");
        }
        oracle::judge(&sim)
    })
}

async fn direct(sim: &Arc<Sim>) {
    engine::begin(sim);
    tokio::spawn(wish(Arc::clone(sim)));
    tokio::spawn(happen(Arc::clone(sim)));
    quiet(sim).await;
    let mut round = 0;
    while !is_over(sim) {
        if round >= ROUNDS {
            if round > ROUNDS {
                sim.violate("nothing stands in the way of a rescue, and it does not end the run");
                break;
            }
            sim.tame();
        }
        let dooms = sim.schedule.rescuer_dooms.get(round);
        rescuer::recover(sim, dooms.cloned().unwrap_or_default());
        quiet(sim).await;
        round += 1;
    }
    tokio::time::sleep(LANDED).await;
}

/// Whether nothing is left to be done: the journal ends, and nothing is in place by its word.
fn is_over(sim: &Sim) -> bool {
    match read(sim) {
        // A journal without a first line is that of a run that did nothing.
        None => true,
        Some(recorded) => {
            let left = Leftover::of(&recorded);
            left.is_settled() && left.state.outcome != Some(Outcome::Stuck)
        }
    }
}

/// The journal as it stands; `None`: it has no first line.
pub fn read(sim: &Sim) -> Option<Recorded> {
    journal::read_from(&sim.disk.bytes()[..], Path::new(JOURNAL)).ok()
}

/// Until no process is under way.
async fn quiet(sim: &Sim) {
    loop {
        let busy = {
            let inner = sim.inner();
            inner.busy > 0
        };
        if !busy {
            return;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// What reaches the run from outside. Nobody leaves it waiting for ever.
async fn wish(sim: Arc<Sim>) {
    let last = (90_000, Wish::Go);
    let later = (180_000, Wish::Abort);
    let wishes = sim.schedule.wishes.clone();
    for (at_ms, wish) in wishes.into_iter().chain([last, later]) {
        tokio::time::sleep_until(sim.began + Duration::from_millis(at_ms)).await;
        let operator = sim.inner().operator.clone();
        let Some(operator) = operator else {
            continue;
        };
        sim.trace(|| format!("{wish:?}"));
        if matches!(wish, Wish::Signal | Wish::Abort) {
            sim.inner().wished = true;
        }
        // A run that has ended hears nothing.
        let _ = operator.send(input(&wish));
    }
}

fn input(wish: &Wish) -> Input {
    match wish {
        Wish::Signal => Input::Signal("SIGINT"),
        Wish::Abort => Input::Abort {
            by: "sam".to_owned(),
        },
        Wish::Pause => Input::Pause,
        Wish::Go => Input::Go,
        Wish::Note => Input::Note {
            text: "a pager rings".to_owned(),
            by: plans::person(),
        },
        Wish::Mark => Input::Mark {
            label: "alert fired".to_owned(),
            by: plans::person(),
        },
        Wish::Warning => Input::Warning("Ctrl-Z would freeze the run"),
        Wish::LockLost => Input::Lock(LockNews::Lost {
            why: "somebody else took it".to_owned(),
        }),
        Wish::LockWarned => Input::Lock(LockNews::Warned {
            message: "the lock was late".to_owned(),
        }),
    }
}

/// What others do, and the machine.
async fn happen(sim: Arc<Sim>) {
    for (at_ms, happening) in sim.schedule.happenings.clone() {
        tokio::time::sleep_until(sim.began + Duration::from_millis(at_ms)).await;
        sim.trace(|| format!("{happening:?}"));
        match happening {
            Happening::Restart => sim.world.restart(),
            Happening::FaultRemoved => sim.world.remove_fault(),
            Happening::ForeignChange => sim.world.change_foreign(),
            Happening::Slept(ms) => {
                let now_ms = sim.now_ms();
                let mut inner = sim.inner();
                inner.slept_ms += ms;
                inner.disturbed_ms.push(now_ms);
            }
            Happening::AbortByHand => rescuer::abort(&sim),
            // Before there is a run there is nothing to recover.
            Happening::RecoverByHand
                if sim.inner().lives.iter().any(|life| life.role == Role::Run) =>
            {
                rescuer::recover(&sim, Vec::new());
            }
            Happening::RecoverByHand => {}
        }
    }
}
