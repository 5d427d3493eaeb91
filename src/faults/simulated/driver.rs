//! The driver of a scripted world.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::json;

use super::world::{Behaviour, Direction, Operation, SimulatedWorld};
use crate::faults::{Fault, FaultDriver, Injection, Owner, Prepared};
use crate::model::localstack::OWNER_PREFIX;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::request::{Absence, Exchange, Proof, Request, WorldIdentity};
use crate::model::target::Target;
use crate::model::undo::{SimulatedUndo, Undo};
use crate::model::units::Span;

pub(super) struct SimulatedDriver {
    world: SimulatedWorld,
}

impl SimulatedDriver {
    pub(super) fn new(world: SimulatedWorld) -> Self {
        Self { world }
    }

    async fn prepare_fault(&self, fault: &Fault, owner: &Owner) -> Result<Prepared, Problem> {
        let Fault::Simulated(name) = fault else {
            return Err(not_scripted());
        };
        let (_, answers) = self.ask(Operation::Prepare, name).await?;
        pass(answers).await;
        self.world.remember_session(name);
        let parts = self.world.part_count(name);
        Ok(Prepared {
            world: WorldIdentity {
                platform: "simulated".to_owned(),
                endpoint: ENDPOINT.to_owned(),
                session: Some(self.world.session()),
                version: "1".to_owned(),
                edition: "scripted".to_owned(),
            },
            targets: vec![Target::Simulated { name: name.clone() }],
            blast_radius: format!("{parts} of {parts} parts"),
            summaries: vec![name.clone()],
            requests: vec![request(Direction::In, name, owner.tag())],
            undo_requests: vec![request(Direction::Out, name, owner.tag())],
            undo: Undo::Simulated(SimulatedUndo {
                fault: name.clone(),
            }),
            warnings: Vec::new(),
        })
    }

    async fn change(&self, operation: Operation, direction: Direction, undo: &Undo) -> Injection {
        let name = match scripted(undo) {
            Ok(name) => name,
            Err(problem) => {
                return Injection {
                    exchanges: Vec::new(),
                    result: Err(problem),
                };
            }
        };
        let begun = tokio::time::Instant::now();
        let result = self.write(operation, direction, name).await;
        let status = match &result {
            Ok(()) => Some(200),
            Err(problem) if problem.kind == ProblemKind::Unreachable => None,
            Err(_) => Some(500),
        };
        Injection {
            exchanges: vec![Exchange {
                request: request(direction, name, "scripted"),
                status,
                took_ms: Span::of(begun.elapsed()).as_millis(),
                request_id: None,
            }],
            result,
        }
    }

    async fn write(
        &self,
        operation: Operation,
        direction: Direction,
        name: &str,
    ) -> Result<(), Problem> {
        let all = self.world.part_count(name);
        let send = |parts, lands| self.world.send(name, parts, direction, lands);
        match self.world.called(operation, name) {
            Behaviour::Works => send(all, Duration::ZERO),
            Behaviour::Fails(problem) => return Err(problem),
            Behaviour::Hangs(limit) => {
                tokio::time::sleep(limit).await;
                return Err(unreachable(operation));
            }
            Behaviour::HalfInjects => send(all / 2, Duration::ZERO),
            Behaviour::FailsHalfway(problem) => {
                send(all / 2, Duration::ZERO);
                return Err(problem);
            }
            Behaviour::Lies => {}
            Behaviour::LosesAnswer => {
                send(all, Duration::ZERO);
                return Err(unreachable(operation));
            }
            Behaviour::LandsLate(delay) => {
                send(all, delay);
                return Err(unreachable(operation));
            }
            Behaviour::LandsInParts(delay) => {
                send(all / 2, Duration::ZERO);
                send(all, delay);
                return Err(unreachable(operation));
            }
            Behaviour::Slow(pace) => {
                pass(pace.asks).await;
                send(all, pace.lands);
                pass(pace.answers).await;
            }
        }
        Ok(())
    }

    /// A question that changes nothing: its behaviours come down to truth, hope or no answer.
    /// Says too how long the answer is under way once the world was looked at.
    async fn ask(&self, operation: Operation, name: &str) -> Result<(Told, Duration), Problem> {
        match self.world.called(operation, name) {
            Behaviour::Works | Behaviour::HalfInjects => Ok((Told::Truth, Duration::ZERO)),
            Behaviour::Lies => Ok((Told::Hope, Duration::ZERO)),
            Behaviour::Fails(problem) | Behaviour::FailsHalfway(problem) => Err(problem),
            Behaviour::Hangs(limit) => {
                tokio::time::sleep(limit).await;
                Err(unreachable(operation))
            }
            Behaviour::LosesAnswer | Behaviour::LandsLate(_) | Behaviour::LandsInParts(_) => {
                Err(unreachable(operation))
            }
            Behaviour::Slow(pace) => {
                pass(pace.asks).await;
                Ok((Told::Truth, pace.answers))
            }
        }
    }

    async fn prove(&self, undo: &Undo) -> Result<Proof, Problem> {
        let name = scripted(undo)?;
        let (told, answers) = self.ask(Operation::Confirm, name).await?;
        let planned = self.world.part_count(name);
        let seen = self.world.in_place_of(name);
        let proof = Proof {
            injected: match told {
                Told::Truth => seen.len(),
                Told::Hope => planned,
            },
            planned,
            continuity: self.world.continuity(name),
            evidence: seen
                .iter()
                .map(|part| format!("{part} is in place"))
                .collect(),
        };
        pass(answers).await;
        Ok(proof)
    }

    async fn look_for_rest(&self, undo: &Undo) -> Result<Absence, Problem> {
        let name = scripted(undo)?;
        let (told, answers) = self.ask(Operation::VerifyGone, name).await?;
        let absence = Absence {
            remaining: match told {
                Told::Truth => self.world.in_place_of(name),
                Told::Hope => Vec::new(),
            },
            foreign_changes: self.world.foreign_changes(),
            continuity: self.world.continuity(name),
        };
        pass(answers).await;
        Ok(absence)
    }
}

impl FaultDriver for SimulatedDriver {
    fn prepare<'a>(
        &'a self,
        fault: &'a Fault,
        owner: &'a Owner,
    ) -> BoxFuture<'a, Result<Prepared, Problem>> {
        Box::pin(self.prepare_fault(fault, owner))
    }

    fn inject<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        Box::pin(self.change(Operation::Inject, Direction::In, undo))
    }

    fn confirm<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Proof, Problem>> {
        Box::pin(self.prove(undo))
    }

    fn revert<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        Box::pin(self.change(Operation::Revert, Direction::Out, undo))
    }

    fn verify_gone<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Absence, Problem>> {
        Box::pin(self.look_for_rest(undo))
    }
}

/// No time at all is not even a turn for others.
async fn pass(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

/// What a scripted world says when asked.
enum Told {
    Truth,
    Hope,
}

const ENDPOINT: &str = "simulated://world";

fn request(direction: Direction, fault: &str, tag: &str) -> Request {
    Request {
        method: match direction {
            Direction::In => "PUT".to_owned(),
            Direction::Out => "DELETE".to_owned(),
        },
        url: format!("{ENDPOINT}/faults"),
        body: Some(json!({"fault": fault, "description": format!("{OWNER_PREFIX}{tag}")})),
    }
}

fn scripted(undo: &Undo) -> Result<&str, Problem> {
    match undo {
        Undo::Simulated(undo) => Ok(&undo.fault),
        Undo::LocalStack(_) | Undo::ChaosMesh(_) => Err(not_scripted()),
    }
}

fn not_scripted() -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        "a scripted world takes scripted faults only",
    )
}

fn unreachable(operation: Operation) -> Problem {
    Problem::new(
        ProblemKind::Unreachable,
        format!("the scripted world did not answer `{}`", operation.word()),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::faults::simulated::Pace;
    use crate::model::request::Continuity;

    const FAULT: &str = "slow stream";
    const PACE: Pace = Pace {
        asks: Duration::from_secs(1),
        lands: Duration::from_secs(2),
        answers: Duration::from_secs(3),
    };

    fn undo() -> Undo {
        Undo::Simulated(SimulatedUndo {
            fault: FAULT.to_owned(),
        })
    }

    async fn prepared(world: &SimulatedWorld) -> Prepared {
        let fault = Fault::Simulated(FAULT.to_owned());
        let prepared = world.driver().prepare(&fault, &Owner::Plan).await;
        prepared.expect("an obedient world prepares")
    }

    #[tokio::test]
    async fn an_obedient_world_puts_in_and_takes_out() {
        let world = SimulatedWorld::new();
        world.give_parts(FAULT, 2);
        let driver = world.driver();
        let undo = prepared(&world).await.undo;
        assert_eq!(driver.inject(&undo).await.result, Ok(()));
        assert_eq!(world.in_place(), ["slow stream 1/2", "slow stream 2/2"]);
        let proof = driver.confirm(&undo).await.expect("it answers");
        assert!(proof.is_complete());
        assert_eq!(driver.revert(&undo).await.result, Ok(()));
        assert_eq!(
            driver.verify_gone(&undo).await,
            Ok(Absence {
                remaining: Vec::new(),
                foreign_changes: Vec::new(),
                continuity: Continuity::Same,
            })
        );
        let calls = ["prepare", "inject", "confirm", "revert", "verify-gone"];
        assert_eq!(world.calls(), calls.map(|call| format!("{call} {FAULT}")));
    }

    #[tokio::test(start_paused = true)]
    async fn each_behaviour_leaves_what_it_says() {
        let deaf = || Err(unreachable(Operation::Inject));
        let no = Problem::new(ProblemKind::Refused, "no");
        let second = Duration::from_secs(1);
        for (behaviour, result, left) in [
            (Behaviour::Works, Ok(()), 4),
            (Behaviour::Fails(no.clone()), Err(no.clone()), 0),
            (Behaviour::Hangs(second), deaf(), 0),
            (Behaviour::HalfInjects, Ok(()), 2),
            (Behaviour::FailsHalfway(no.clone()), Err(no), 2),
            (Behaviour::Lies, Ok(()), 0),
            (Behaviour::LosesAnswer, deaf(), 4),
            (Behaviour::LandsLate(second), deaf(), 0),
            (Behaviour::LandsInParts(second), deaf(), 2),
            (Behaviour::Slow(PACE), Ok(()), 4),
        ] {
            let world = SimulatedWorld::new();
            world.give_parts(FAULT, 4);
            world.always(Operation::Inject, behaviour.clone());
            let injection = world.driver().inject(&undo()).await;
            assert_eq!(injection.result, result, "{behaviour:?}");
            assert_eq!(world.in_place().len(), left, "{behaviour:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_write_lands_after_its_delay() {
        let world = SimulatedWorld::new();
        let late = Behaviour::LandsLate(Duration::from_secs(3));
        world.first(1, Operation::Inject, late);
        let _lost = world.driver().inject(&undo()).await;
        tokio::time::advance(Duration::from_millis(2_999)).await;
        assert_eq!(world.in_place(), Vec::<String>::new());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(world.in_place(), [FAULT]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_sent_slowly_lands_though_nobody_waits_for_it_and_the_world_remembers_when() {
        let world = SimulatedWorld::new();
        world.decides(|_, _| Behaviour::Slow(PACE));
        let sent = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&sent);
        world.observes(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        let begun = tokio::time::Instant::now();
        let driver = world.driver();
        let undo = undo();
        let cut = tokio::time::timeout(Duration::from_millis(1_500), driver.inject(&undo));
        assert!(cut.await.is_err());
        assert_eq!(sent.load(Ordering::SeqCst), 1);
        assert_eq!(world.in_place(), Vec::<String>::new());
        tokio::time::advance(Duration::from_secs(5)).await;
        let landed = begun + Duration::from_secs(3);
        assert_eq!(world.in_place(), [FAULT]);
        assert_eq!(world.history(), [(landed, vec![FAULT.to_owned()])]);
    }

    #[tokio::test]
    async fn scripts_queue_up_and_run_out() {
        let world = SimulatedWorld::new();
        let no = Problem::new(ProblemKind::Refused, "no");
        world.first(1, Operation::Inject, Behaviour::Fails(no.clone()));
        world.first(1, Operation::Inject, Behaviour::Lies);
        let driver = world.driver();
        assert_eq!(driver.inject(&undo()).await.result, Err(no));
        assert_eq!(driver.inject(&undo()).await.result, Ok(()));
        assert_eq!(world.in_place(), Vec::<String>::new());
        assert_eq!(driver.inject(&undo()).await.result, Ok(()));
        assert_eq!(world.in_place(), [FAULT]);
    }

    #[tokio::test]
    async fn a_restart_takes_the_fault_along_and_shows() {
        let world = SimulatedWorld::new();
        let undo = prepared(&world).await.undo;
        let driver = world.driver();
        assert_eq!(driver.inject(&undo).await.result, Ok(()));
        world.restart();
        let proof = driver.confirm(&undo).await.expect("it answers");
        assert_eq!(
            (proof.injected, proof.continuity),
            (0, Continuity::Restarted)
        );
    }
}
