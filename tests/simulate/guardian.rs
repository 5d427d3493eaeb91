//! The guardian: its run's end of the pipe, and its own process, which decides by the real `Vigil`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chaos_gameday::guardian::{PERIOD, RunProcess, Sign, Verdict, Vigil};
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::takeover::{GuardianNews, Rescuer, Standing};
use chaos_gameday::run::{Guard, Input, Operator};
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::life::{Gate, Life, Role};
use crate::rescuer;
use crate::schedule::Posted;
use crate::sim::Sim;

/// What goes through the pipe.
enum Line {
    Standing(Standing),
    Parting,
}

/// A guardian and the pipe to it.
#[derive(Clone)]
struct Posting {
    life: Arc<Life>,
    pipe: UnboundedSender<Line>,
}

/// The run's end.
pub struct Post {
    sim: Arc<Sim>,
    run: Arc<Life>,
    operator: Operator,
    present: Arc<Mutex<Option<Posting>>>,
    /// Somebody looks for another one.
    looking: Arc<Mutex<Looking>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looking {
    No,
    Yes,
}

impl Post {
    pub fn new(sim: &Arc<Sim>, run: &Arc<Life>, operator: Operator) -> Self {
        Self {
            sim: Arc::clone(sim),
            run: Arc::clone(run),
            operator,
            present: Arc::default(),
            looking: Arc::new(Mutex::new(Looking::No)),
        }
    }

    fn present(&self) -> Option<Posting> {
        let present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        present.clone().filter(|posting| !posting.life.is_dead())
    }

    /// The one before died: another takes its place, a while later, or none is to be had.
    fn replace(&self) {
        {
            let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
            if *looking == Looking::Yes {
                return;
            }
            *looking = Looking::Yes;
        }
        let (sim, run) = (Arc::clone(&self.sim), Arc::clone(&self.run));
        let (operator, present) = (self.operator.clone(), Arc::clone(&self.present));
        let looking = Arc::clone(&self.looking);
        let replacing = async move {
            tokio::time::sleep(Duration::from_millis(sim.schedule.replaced_after_ms)).await;
            let posted = sim.inner().guardians;
            let news = if posted > sim.schedule.replaceable as usize {
                GuardianNews::Lost {
                    why: "no other guardian is to be had".to_owned(),
                }
            } else {
                let posting = post(&sim, &run);
                let pid = posting.life.id;
                *present.lock().unwrap_or_else(PoisonError::into_inner) = Some(posting);
                *looking.lock().unwrap_or_else(PoisonError::into_inner) = Looking::No;
                GuardianNews::Replaced {
                    pid,
                    why: "the guardian died".to_owned(),
                }
            };
            let _ = operator.send(Input::Guardian(news));
        };
        tokio::spawn(Gate::new(&self.run, replacing));
    }
}

fn none() -> Problem {
    Problem::new(ProblemKind::Unreachable, "there is no guardian")
}

impl Guard for Post {
    fn start(&mut self) -> BoxFuture<'_, Result<Option<u32>, Problem>> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if self.sim.schedule.posted == Posted::Fails {
                return Err(none());
            }
            let posting = post(&self.sim, &self.run);
            let pid = posting.life.id;
            *self.present.lock().unwrap_or_else(PoisonError::into_inner) = Some(posting);
            Ok(Some(pid))
        })
    }

    fn tell(&mut self, standing: Standing) -> Result<(), Problem> {
        let Some(posting) = self.present() else {
            if self.sim.inner().guardians > 0 && !self.run.is_dead() {
                self.replace();
            }
            return match self.sim.inner().guardians {
                // Before it is posted nobody is told.
                0 => Ok(()),
                _ => Err(none()),
            };
        };
        if self.run.is_dead() {
            return Ok(());
        }
        posting
            .pipe
            .send(Line::Standing(standing))
            .map_err(|_| none())
    }

    fn dismiss(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            if let Some(posting) = self.present() {
                // One that has gone needs no word.
                let _ = posting.pipe.send(Line::Parting);
            }
        })
    }
}

/// Begins a guardian's process.
fn post(sim: &Arc<Sim>, run: &Arc<Life>) -> Posting {
    let count = {
        let mut inner = sim.inner();
        inner.guardians += 1;
        inner.guardians
    };
    let dooms = sim.schedule.guardian_dooms.get(count - 1).cloned();
    let life = sim.begin(Role::Guardian, dooms.unwrap_or_default());
    let (pipe, lines) = unbounded_channel();
    let posting = Posting {
        life: Arc::clone(&life),
        pipe,
    };
    let (sim, run) = (Arc::clone(sim), Arc::clone(run));
    tokio::spawn(async move {
        let process = watch(Arc::clone(&sim), Arc::clone(&life), run, lines);
        let process = tokio::spawn(Gate::new(&life, process));
        if process.await.is_err() {
            sim.kill(&life);
        }
        // It can be told nothing more.
        life.die();
        sim.over(&life);
    });
    posting
}

/// Watches over its run, and ends it where that does not.
async fn watch(sim: Arc<Sim>, life: Arc<Life>, run: Arc<Life>, mut lines: UnboundedReceiver<Line>) {
    let mut vigil = Vigil::default();
    let (why, process) = loop {
        let sign = match tokio::time::timeout(PERIOD, lines.recv()).await {
            Ok(Some(Line::Standing(standing))) => Sign::Standing {
                standing,
                now: sim.boot_time(),
            },
            Ok(Some(Line::Parting)) => Sign::Dismissed,
            Ok(None) => Sign::Closed,
            Err(_) => Sign::Silence,
        };
        match vigil.take(sign) {
            Verdict::Watch => {}
            Verdict::Leave => return,
            Verdict::TakeOver { why, process } => break (why, process),
        }
    };
    sim.trace(|| format!("takes over: {why}"));
    if process == RunProcess::Hangs {
        expect_hung(&sim, &why);
        sim.kill(&run);
    }
    while !sim.lock(&life) {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    rescuer::take_over(&sim, &life, Rescuer::Guardian, why).await;
}

/// A run that is well is not to be killed.
fn expect_hung(sim: &Sim, why: &str) {
    let now_ms = sim.now_ms();
    let inner = sim.inner();
    let disturbed = inner.disturbed_ms.iter().any(|at| at + 20_000 >= now_ms);
    drop(inner);
    if !disturbed {
        sim.violate(format!("the guardian ends a run that is well: {why}"));
    }
}
