//! Looks at the world again: is the fault in, is it out. Pure once the world was read.

use serde_json::Value;

use super::api::ChaosApi;
use super::memory::{LatencyOwner, Memory, Tags};
use super::ownership::{Division, foreign_changes, shown};
use super::sameness::Meaning;
use super::survey;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::request::{Absence, Continuity, Proof};
use crate::model::undo::{LatencyUndo, LocalStackUndo};

/// What the server shows of a fault.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sight {
    session: Option<String>,
    rules: Vec<Value>,
    /// Read only when the fault sets one.
    latency_ms: Option<u64>,
    /// What was seen of the server's way with tags, now and before.
    tags: Tags,
    /// Whose a latency is that reads like ours.
    latency_owner: LatencyOwner,
}

impl Sight {
    /// Reads all that the fault may have changed.
    pub(super) async fn take(
        api: &ChaosApi<'_>,
        undo: &LocalStackUndo,
        memory: &Memory,
    ) -> Result<Self, Problem> {
        let session = survey::session(api).await?;
        let restarted = continuity_by_session(undo, session.as_deref()) == Continuity::Restarted;
        // The instance that we faulted is no more; one without a Chaos API has nothing of ours.
        let nothing_there = |problem: &Problem| restarted && problem.kind == ProblemKind::Absent;
        let rules = match survey::rules(api).await {
            Err(problem) if nothing_there(&problem) => Vec::new(),
            other => other?,
        };
        let latency_ms = match undo.latency {
            None => None,
            Some(_) => match survey::latency(api).await {
                Err(problem) if nothing_there(&problem) => Some(0),
                other => Some(other?),
            },
        };
        memory.learn(shown(&rules));
        Ok(Self {
            session,
            rules,
            latency_ms,
            tags: memory.tags(),
            latency_owner: memory.latency(),
        })
    }

    /// On another instance ours died: what looks like them without a tag is somebody else's.
    fn division(&self, undo: &LocalStackUndo) -> Division<'_> {
        let tags = match self.continuity(undo) {
            Continuity::Restarted => Tags::Kept,
            Continuity::Same | Continuity::Unknown => self.tags,
        };
        Division::new(&self.rules, undo, tags)
    }

    /// Without a `session_id`, all rules gone at once, others' too, count as a restart.
    fn continuity(&self, undo: &LocalStackUndo) -> Continuity {
        match continuity_by_session(undo, self.session.as_deref()) {
            Continuity::Unknown if self.rules.is_empty() && !undo.foreign.is_empty() => {
                Continuity::Restarted
            }
            known @ (Continuity::Same | Continuity::Restarted | Continuity::Unknown) => known,
        }
    }

    /// Whether the fault is in.
    pub(super) fn prove(&self, undo: &LocalStackUndo) -> Proof {
        let division = self.division(undo);
        let continuity = self.continuity(undo);
        let mut evidence: Vec<String> = continuity_line(continuity).into_iter().collect();
        let (mut present, mut copies) = (0, 0);
        for rule in &undo.rules {
            let found = Meaning::read(rule).map_or(0, |rule| division.effective_copies(&rule));
            present += found.min(1);
            copies += found;
            evidence.push(match found {
                0 => format!("not in effect: {rule}"),
                1 => format!("read back: {rule}"),
                times => format!("read back {times} times: {rule}"),
            });
        }
        if let (Some(latency), Some(now)) = (undo.latency, self.latency_ms) {
            let ours = matches!(self.stance(latency, now), Stance::Ours);
            present += usize::from(ours);
            copies += usize::from(ours);
            evidence.push(match ours {
                true => format!("read back: a latency of {now} ms"),
                false => format!("the latency is {now} ms, not {} ms", latency.set_ms),
            });
        }
        let planned = undo.rules.len() + usize::from(undo.latency.is_some());
        Proof {
            // Too much of it is no proof either, but a missing part counts first.
            injected: if present < planned { present } else { copies },
            planned,
            continuity,
            evidence,
        }
    }

    /// Whether the fault is out.
    pub(super) fn prove_absence(&self, undo: &LocalStackUndo) -> Absence {
        let division = self.division(undo);
        let ours = division.ours();
        let mut remaining: Vec<String> = ours.map(|entry| format!("rule {}", entry.rule)).collect();
        let perhaps = division.perhaps_ours();
        remaining.extend(perhaps.map(|entry| {
            format!(
                "rule {}, which does what ours does and has no tag that tells whose it is",
                entry.rule
            )
        }));
        let continuity = self.continuity(undo);
        let mut changes = match continuity {
            Continuity::Restarted if !undo.foreign.is_empty() => vec![format!(
                "the restart took {} of others along",
                count(undo.foreign.len(), "rule")
            )],
            Continuity::Restarted => Vec::new(),
            Continuity::Same | Continuity::Unknown => {
                foreign_changes(&undo.foreign, &division.theirs())
            }
        };
        if let (Some(latency), Some(now)) = (undo.latency, self.latency_ms) {
            match self.stance(latency, now) {
                Stance::Ours => remaining.push(format!("latency of {now} ms")),
                Stance::Former => {}
                Stance::Theirs if continuity == Continuity::Restarted => {}
                Stance::Theirs => changes.push(foreign_latency(latency, now)),
            }
        }
        Absence {
            remaining,
            foreign_changes: changes,
            continuity,
        }
    }

    fn stance(&self, latency: LatencyUndo, now: u64) -> Stance {
        let could_be_ours = match self.latency_owner {
            LatencyOwner::Unknown | LatencyOwner::Us => true,
            LatencyOwner::Others => false,
        };
        if now == latency.set_ms && could_be_ours {
            Stance::Ours
        } else if now == latency.former_ms {
            Stance::Former
        } else {
            Stance::Theirs
        }
    }
}

/// Whose latency stands there.
enum Stance {
    Ours,
    Former,
    Theirs,
}

fn foreign_latency(latency: LatencyUndo, now: u64) -> String {
    if now == latency.set_ms {
        return format!("the latency is {now} ms now, set by others before ours was sent");
    }
    format!(
        "the latency is {now} ms now, neither ours ({} ms) nor the one before ({} ms)",
        latency.set_ms, latency.former_ms
    )
}

pub(super) fn continuity_by_session(undo: &LocalStackUndo, now: Option<&str>) -> Continuity {
    match (undo.session.as_deref(), now) {
        (Some(before), Some(now)) if before == now => Continuity::Same,
        (Some(_), Some(_)) => Continuity::Restarted,
        (None, _) | (_, None) => Continuity::Unknown,
    }
}

fn continuity_line(continuity: Continuity) -> Option<String> {
    match continuity {
        Continuity::Same => None,
        Continuity::Restarted => {
            Some("LocalStack restarted: its rules died with the former instance".to_owned())
        }
        Continuity::Unknown => {
            Some("this LocalStack does not tell whether it restarted".to_owned())
        }
    }
}

fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn undo() -> LocalStackUndo {
        LocalStackUndo {
            endpoint: "http://h".to_owned(),
            session: Some("s1".to_owned()),
            rules: vec![
                json!({"service": "sqs", "description": "chaos:r-1"}),
                json!({"service": "sns", "description": "chaos:r-1"}),
            ],
            foreign: vec![json!({"service": "s3"})],
            latency: Some(LatencyUndo {
                set_ms: 800,
                former_ms: 5,
            }),
        }
    }

    fn sight(session: &str, services: &[&str], latency_ms: u64) -> Sight {
        let rule = |service: &&str| match *service {
            "s3" => json!({"service": "s3"}),
            ours => json!({"service": ours, "description": "chaos:r-1"}),
        };
        Sight {
            session: Some(session.to_owned()).filter(|text| !text.is_empty()),
            rules: services.iter().map(rule).collect(),
            latency_ms: Some(latency_ms),
            tags: Tags::Kept,
            latency_owner: LatencyOwner::Us,
        }
    }

    #[test]
    fn a_proof_counts_what_is_in_effect() {
        for (sight, injected, complete) in [
            (sight("s1", &["s3", "sqs", "sns"], 800), 3, true),
            (sight("s1", &["s3", "sqs"], 800), 2, false),
            (sight("s1", &["s3", "sqs", "sns"], 5), 2, false),
            (sight("s1", &["s3", "sqs", "sqs", "sns"], 800), 4, false),
            (sight("s1", &["s3", "sqs", "sqs"], 800), 2, false),
            (sight("s1", &["s3"], 5), 0, false),
            (sight("s2", &["sqs", "sns"], 800), 3, false),
            (sight("", &["s3", "sqs", "sns"], 800), 3, true),
        ] {
            let proof = sight.prove(&undo());
            let found = (proof.injected, proof.planned, proof.is_complete());
            assert_eq!(found, (injected, 3, complete), "{sight:?}");
        }
    }

    #[test]
    fn an_absence_names_what_is_left_and_what_others_changed() {
        let restart = "the restart took 1 rule of others along";
        let gone = r#"a rule of others is gone: {"service":"s3"}"#;
        let tampered = "the latency is 7 ms now, neither ours (800 ms) nor the one before (5 ms)";
        for (sight, remaining, changes, continuity) in [
            (sight("s1", &["s3"], 5), vec![], vec![], Continuity::Same),
            (
                sight("s1", &["s3", "sns"], 800),
                vec![
                    r#"rule {"description":"chaos:r-1","service":"sns"}"#,
                    "latency of 800 ms",
                ],
                vec![],
                Continuity::Same,
            ),
            (
                sight("s1", &[], 7),
                vec![],
                vec![gone, tampered],
                Continuity::Same,
            ),
            (
                sight("s2", &[], 0),
                vec![],
                vec![restart],
                Continuity::Restarted,
            ),
            (
                sight("", &[], 0),
                vec![],
                vec![restart],
                Continuity::Restarted,
            ),
            (sight("", &["s3"], 5), vec![], vec![], Continuity::Unknown),
        ] {
            let absence = Absence {
                remaining: remaining.into_iter().map(str::to_owned).collect(),
                foreign_changes: changes.into_iter().map(str::to_owned).collect(),
                continuity,
            };
            assert_eq!(sight.prove_absence(&undo()), absence, "{sight:?}");
        }
    }
}
