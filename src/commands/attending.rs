//! Being there while one run ends: asking it to, waiting for whoever ends it, or ending it. What
//! `abort` and `recover` share.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::Desk;
use crate::clients::Clients;
use crate::error::Failure;
use crate::faults;
use crate::guardian::{Attempt, Audience, Ending, end_process};
use crate::journal::{AbortRequest, Following, RunEntry, Writer};
use crate::model::attendance::Attendance;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::state::RunState;
use crate::model::takeover::Rescuer;
use crate::report::{Deed, RunEnd};
use crate::run::{Clock, Settlement};
use crate::session::Signals;
use crate::view::{self, LineView, View};

/// Between two looks at a run that somebody else ends.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// A run that is asked to end begins to within this, or hangs.
const REACTS_WITHIN: Duration = Duration::from_secs(5);
/// A run that ends says something at least so often, unless its platform is slow.
const QUIET_AT_MOST: Duration = Duration::from_secs(60);
/// So many requests follow each other without a word in between, each up to its own time-out.
const REQUESTS_IN_SILENCE: u32 = 12;

/// Whoever ends runs.
pub(super) struct Attending<'a> {
    pub(super) desk: &'a Desk,
    pub(super) clients: &'a Clients,
    pub(super) undo_within: Duration,
    pub(super) by: Rescuer,
    /// What came of signals while nothing could be cut short.
    pub(super) signals: Signals,
    /// The first failure to write evidence.
    pub(super) evidence: Option<Problem>,
}

/// How one look at a run that somebody else ends went.
enum Sight {
    GoesOn,
    /// Nobody is at work on it any more.
    Over,
    Hangs(Writer),
}

impl<'a> Attending<'a> {
    /// Asks a live run to end; one that is not live needs no asking.
    pub(super) fn ask(&self, run: &RunEntry) -> Result<(), Problem> {
        match run.attendance()? {
            Attendance::Nobody => Ok(()),
            Attendance::Unknown | Attendance::Writer(_) => {
                let request = AbortRequest {
                    by: self.desk.settings.person.clone(),
                    at: Clock::wall(),
                };
                request.leave(&run.folder())
            }
        }
    }

    /// Stays until the run has ended, or nothing more can be done. Idempotent.
    pub(super) async fn end(&mut self, run: &RunEntry) -> Result<RunEnd, Failure> {
        let mut why = None;
        let mut waited = false;
        loop {
            match self.attempt(run, why.clone()).await? {
                Attempt::NeverBegan => {
                    let state = RunState::default();
                    return Ok(RunEnd::of(run.id.clone(), Deed::NeverBegan, &state));
                }
                Attempt::HadEnded(state) => {
                    let did = match waited {
                        true => Deed::Waited,
                        false => Deed::HadEnded,
                    };
                    return Ok(RunEnd::of(run.id.clone(), did, &state));
                }
                Attempt::Ended(settlement) => return Ok(self.ended(run, &settlement)),
                Attempt::Held(_) => {
                    waited = true;
                    why = self.wait(run).await?;
                }
            }
        }
    }

    /// Takes out what was found in place of a run that is over, by what it recorded itself.
    pub(super) async fn undo_again(
        &mut self,
        run: &RunEntry,
        endpoint: &str,
        rules: &[Value],
    ) -> Result<RunEnd, Failure> {
        let seen = rules.iter().map(|rule| format!("rule {rule}")).collect();
        let attempt = self
            .ending(run, None)
            .undo_again(endpoint, seen, audience(self.desk));
        Ok(match self.uncut(attempt).await? {
            Attempt::Ended(settlement) => self.ended(run, &settlement),
            Attempt::NeverBegan | Attempt::HadEnded(_) | Attempt::Held(_) => {
                RunEnd::of(run.id.clone(), Deed::LeftAlone, &RunState::default())
            }
        })
    }

    fn ended(&mut self, run: &RunEntry, settlement: &Settlement) -> RunEnd {
        if let Some(problem) = &settlement.evidence {
            self.evidence.get_or_insert_with(|| problem.clone());
        }
        RunEnd::of(run.id.clone(), Deed::TookOver, &settlement.state)
    }

    async fn attempt(&mut self, run: &RunEntry, why: Option<String>) -> Result<Attempt, Failure> {
        let attempt = self.ending(run, why).attempt(audience(self.desk));
        self.uncut(attempt).await
    }

    fn ending<'r>(&self, run: &'r RunEntry, why: Option<String>) -> Ending<'r>
    where
        'a: 'r,
    {
        Ending {
            run,
            clients: self.clients,
            undo_within: self.undo_within,
            by: self.by,
            writer: Writer {
                rescuer: Some(self.by),
                person: self.desk.settings.person.clone(),
                pid: std::process::id(),
                since: Clock::wall(),
            },
            why,
        }
    }

    /// Nothing cuts it short: a signal is only heard.
    async fn uncut(
        &mut self,
        attempt: impl Future<Output = Result<Attempt, Problem>>,
    ) -> Result<Attempt, Failure> {
        tokio::pin!(attempt);
        loop {
            tokio::select! {
                done = &mut attempt => return Ok(done?),
                name = self.signals.next() => self.desk.printer.warn(&format!(
                    "{name} does not cut an undo short; it ends by itself"
                )),
            }
        }
    }

    /// Waits until nobody is at work on the run, and shows what is done meanwhile. Returns why it has
    /// to be ended by somebody else, where its process had to be ended.
    async fn wait(&mut self, run: &RunEntry) -> Result<Option<String>, Failure> {
        let mut watch = Watch::begin(self.desk, run);
        loop {
            let pause = sleep(BETWEEN_LOOKS);
            tokio::select! {
                () = pause => {}
                name = self.signals.next() => {
                    self.desk.printer.insist(&format!(
                        "{name}: no longer waiting; whoever is at work on {} goes on", run.id
                    ));
                    return Err(Failure::Left(name));
                }
            }
            match watch.look()? {
                Sight::GoesOn => {}
                Sight::Over => return Ok(None),
                Sight::Hangs(writer) => {
                    let why = format!(
                        "process {} gave no answer to {} and was ended",
                        writer.pid, self.by
                    );
                    self.desk.printer.warn(&why);
                    let here = &self.desk.settings.person;
                    end_process(run.folder().path(), &writer, here)?;
                    watch.until_let_go(&writer).await?;
                    return Ok(Some(why));
                }
            }
        }
    }
}

/// Shows each record as one line.
fn audience(desk: &Desk) -> Audience {
    let mut lines = LineView::new(desk.printer.clone());
    Box::new(move |record, state| lines.show(record, state))
}

/// One run under the eyes of somebody who wants it to end.
struct Watch<'a> {
    desk: &'a Desk,
    run: &'a RunEntry,
    following: Following,
    state: RunState,
    lines: LineView,
    begun: Instant,
    heard: Instant,
    /// Who was last said to be at work.
    told: Option<Attendance>,
}

impl<'a> Watch<'a> {
    fn begin(desk: &'a Desk, run: &'a RunEntry) -> Self {
        let mut following = Following::of(&run.journal);
        let mut state = RunState::default();
        // What cannot be read now is news later.
        for record in following.news().unwrap_or_default() {
            state.apply(&record);
        }
        Self {
            desk,
            run,
            following,
            state,
            lines: LineView::new(desk.printer.clone()),
            begun: Instant::now(),
            heard: Instant::now(),
            told: None,
        }
    }

    fn look(&mut self) -> Result<Sight, Problem> {
        let attendance = self.run.attendance()?;
        // After the lock was looked at: whoever had let go by then had written all he wrote.
        self.hear()?;
        self.tell(&attendance);
        Ok(match attendance {
            Attendance::Nobody => Sight::Over,
            Attendance::Unknown => Sight::GoesOn,
            // Nobody takes a takeover over.
            Attendance::Writer(writer) if writer.rescuer.is_some() => Sight::GoesOn,
            Attendance::Writer(writer) => match self.hangs() {
                true => Sight::Hangs(writer),
                false => Sight::GoesOn,
            },
        })
    }

    fn hear(&mut self) -> Result<(), Problem> {
        for record in self.following.news()? {
            self.state.apply(&record);
            self.lines.show(&record, &self.state);
            self.heard = Instant::now();
        }
        Ok(())
    }

    fn tell(&mut self, attendance: &Attendance) {
        if *attendance != Attendance::Nobody && self.told.as_ref() != Some(attendance) {
            let words = format!("{}: {}; waiting", self.run.id, attendance.sentence());
            self.desk.printer.talk(&view::sanitise(&words));
            self.told = Some(attendance.clone());
        }
    }

    /// It neither began to end in time nor says what it does.
    fn hangs(&self) -> bool {
        match is_to_react(&self.state) {
            true => self.begun.elapsed() >= REACTS_WITHIN,
            false => self.heard.elapsed() >= quiet_at_most(&self.state),
        }
    }

    /// Its lock goes with the process, which may take a moment.
    async fn until_let_go(&mut self, writer: &Writer) -> Result<(), Problem> {
        let given_up = Instant::now() + REACTS_WITHIN;
        while self.run.attendance()? == Attendance::Writer(writer.clone()) {
            if Instant::now() >= given_up {
                let message = format!("{writer} was killed and does not go");
                let hint = "a process that waits for a disk cannot be ended; mend that first";
                return Err(Problem::new(ProblemKind::Conflict, message).hint(hint));
            }
            sleep(BETWEEN_LOOKS).await;
        }
        self.hear()
    }
}

/// Whether a run that is asked to end has still to begin with it. One whose end stands in its journal has
/// only its last words to say, however slowly they are read.
fn is_to_react(state: &RunState) -> bool {
    state.endings.is_empty() && state.outcome.is_none()
}

/// How long a run that ends may be silent: its undo is told once all of its requests were answered.
fn quiet_at_most(state: &RunState) -> Duration {
    let undos = state.in_place().filter_map(|(_, step)| step.undo.as_ref());
    let limits = undos.map(|undo| faults::write_limit(undo).as_duration());
    let slowest = limits.max().unwrap_or_default();
    QUIET_AT_MOST.max(slowest * REQUESTS_IN_SILENCE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::decision::Cause;
    use crate::model::outcome::Outcome;
    use crate::model::state::StepRecord;
    use crate::model::undo::{LatencyUndo, LocalStackUndo, Undo};

    #[test]
    fn a_run_whose_end_is_written_is_not_taken_for_one_that_hangs() {
        let mut state = RunState::default();
        assert!(is_to_react(&state));
        state.outcome = Some(Outcome::Held);
        assert!(!is_to_react(&state));
        state.outcome = None;
        let by = "sam".to_owned();
        state.endings.push(Cause::Aborted { by });
        assert!(!is_to_react(&state));
    }

    #[test]
    fn an_undo_whose_requests_all_take_their_time_is_waited_for() {
        let mut state = RunState::default();
        assert_eq!(quiet_at_most(&state), QUIET_AT_MOST);
        let undo = LocalStackUndo {
            endpoint: "http://h".to_owned(),
            session: None,
            rules: Vec::new(),
            foreign: Vec::new(),
            latency: Some(LatencyUndo {
                set_ms: 30_000,
                former_ms: 0,
            }),
        };
        state.steps.push(StepRecord {
            undo: Some(Undo::LocalStack(undo)),
            injecting_at_ms: Some(1),
            ..StepRecord::default()
        });
        assert_eq!(quiet_at_most(&state), Duration::from_secs(12 * 40));
    }
}
