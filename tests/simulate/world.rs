//! The world of a schedule: a scripted one, or a LocalStack behind the real driver.

use std::sync::Arc;

use chaos_gameday::faults::FaultDriver;
use chaos_gameday::faults::simulated::SimulatedWorld;
use tokio::time::Instant;

use crate::life::Life;
use crate::localstack::{Line, Stack};
use crate::sim::Sim;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Scripted,
    LocalStack,
}

#[derive(Debug)]
pub enum World {
    Scripted(SimulatedWorld),
    LocalStack(Box<Stack>),
}

impl World {
    /// A fresh driver of one process.
    pub fn driver(&self, sim: &Arc<Sim>, life: &Arc<Life>) -> Arc<dyn FaultDriver> {
        match self {
            Self::Scripted(world) => world.driver(),
            Self::LocalStack(_) => {
                chaos_gameday::faults::driver_over(Arc::new(Line::new(sim, life)))
            }
        }
    }

    /// What of ours is in place.
    pub fn in_place(&self) -> Vec<String> {
        match self {
            Self::Scripted(world) => world.in_place(),
            Self::LocalStack(stack) => stack.in_place(),
        }
    }

    /// What was in place after each change, and from when on.
    pub fn history(&self) -> Vec<(Instant, Vec<String>)> {
        match self {
            Self::Scripted(world) => world.history(),
            Self::LocalStack(stack) => stack.history(),
        }
    }

    pub fn restart(&self) {
        match self {
            Self::Scripted(world) => world.restart(),
            Self::LocalStack(stack) => stack.restart(),
        }
    }

    /// Somebody else takes ours out.
    pub fn remove_fault(&self) {
        match self {
            Self::Scripted(world) => world.remove_fault(),
            Self::LocalStack(stack) => stack.remove_fault(),
        }
    }

    /// Somebody else changes something of theirs.
    pub fn change_foreign(&self) {
        match self {
            Self::Scripted(world) => world.change_foreign("a rule of others is new"),
            Self::LocalStack(stack) => stack.change_foreign(),
        }
    }

    /// Whether these are all the parts of a fault.
    pub fn is_whole(&self, fault: &str, parts: usize, labels: &[String]) -> bool {
        let mine = labels.iter().filter(|label| match self {
            Self::Scripted(_) => label.split(' ').next() == Some(fault),
            // One step at a time, and all steps of a plan send the same.
            Self::LocalStack(_) => true,
        });
        mine.count() == parts
    }

    /// Whether these words name what has this label.
    pub fn names(&self, words: &str, label: &str) -> bool {
        match self {
            Self::Scripted(_) => words == label || Some(words) == label.split(' ').next(),
            Self::LocalStack(_) => {
                let whole = words.contains(" on http://");
                match label.split_once(' ') {
                    Some((_, service)) => {
                        words.contains(&format!("\"{service}\"")) || whole && words.contains("rule")
                    }
                    None => words.contains("latency"),
                }
            }
        }
    }
}
