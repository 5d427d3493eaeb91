//! Whoever ends a run in the place of its own process: the guardian, `chaos abort`, `chaos recover`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chaos_gameday::guardian::{GoingOn, go_on};
use chaos_gameday::journal::{self, Journal, Tail};
use chaos_gameday::model::event::Event;
use chaos_gameday::model::takeover::{Rescuer, Takeover};
use chaos_gameday::model::undo::Undo;
use chaos_gameday::run::Input;

use crate::disk::Handle;
use crate::drive::Driving;
use crate::engine::UNDO_WITHIN;
use crate::life::{Gate, Life, Role};
use crate::plans;
use crate::schedule::{Doom, Place};
use crate::sim::{JOURNAL, Sim};

/// Goes on with the run as this process, which holds its lock.
pub async fn take_over(sim: &Arc<Sim>, life: &Arc<Life>, by: Rescuer, why: String) {
    let path = Path::new(JOURNAL);
    let bytes = sim.disk.bytes();
    let Ok(recorded) = journal::read_from(&bytes[..], path) else {
        // Its first word was never written whole, and so nothing went in.
        return;
    };
    let driver_of = |_: usize, _: &Undo| Ok(Driving::driver(sim, life));
    let (seer, whose) = (Arc::clone(sim), Arc::clone(life));
    let settlement = go_on(
        &recorded,
        || {
            let tail = Tail::of(&mut &bytes[..]).expect("bytes can be read");
            Journal::go_on(Handle::new(sim, life), path, &tail)
        },
        GoingOn {
            now: sim.utc(),
            drivers: &driver_of,
            undo_within: UNDO_WITHIN,
            takeover: Takeover {
                by,
                person: plans::person(),
                why,
            },
            audience: Box::new(move |record, _| {
                if whose.is_dead() {
                    return;
                }
                seer.told(&whose, record, None);
                if !matches!(record.event, Event::Sampled { .. }) {
                    seer.strike(&whose, Place::Milestone);
                }
            }),
        },
    )
    .await;
    match settlement {
        Some(settlement) if !life.is_dead() => sim.settled(life, settlement),
        Some(_) => {}
        None => sim.trace(|| "finds the run settled".to_owned()),
    }
}

fn begin<F>(sim: &Arc<Sim>, life: &Arc<Life>, process: F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let (sim, life) = (Arc::clone(sim), Arc::clone(life));
    tokio::spawn(async move {
        if tokio::spawn(Gate::new(&life, process)).await.is_err() {
            sim.kill(&life);
        }
        life.die();
        sim.over(&life);
    });
}

/// `chaos recover`: leaves alone what somebody else is at.
pub fn recover(sim: &Arc<Sim>, dooms: Vec<Doom>) {
    let life = sim.begin(Role::Recover, dooms);
    let (seer, whose) = (Arc::clone(sim), Arc::clone(&life));
    begin(sim, &life, async move {
        if seer.lock(&whose) {
            let why = "its process died".to_owned();
            take_over(&seer, &whose, Rescuer::Recover, why).await;
        }
    });
}

/// `chaos abort`: asks, and ends the run itself where nobody answers.
pub fn abort(sim: &Arc<Sim>) {
    let life = sim.begin(Role::Abort, Vec::new());
    let (seer, whose) = (Arc::clone(sim), Arc::clone(&life));
    begin(sim, &life, async move {
        let operator = seer.inner().operator.clone();
        if let Some(operator) = operator {
            seer.inner().wished = true;
            let by = "ann@desk (chaos abort)".to_owned();
            let _ = operator.send(Input::Abort { by });
            drop(operator);
            tokio::time::sleep(Duration::from_secs(5)).await;
            let hung = seer.writer().filter(|holder| holder.role == Role::Run);
            if let Some(hung) = hung.filter(|holder| holder.is_stopped()) {
                seer.kill(&hung);
            }
        }
        let why = "it did not answer".to_owned();
        if seer.lock(&whose) {
            seer.inner().wished = true;
            take_over(&seer, &whose, Rescuer::Abort, why).await;
        }
    });
}
