//! The run's end of its guardian: posts one, gives it signs of life, and puts another in its place when
//! it dies or does not answer.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::charge::Charge;
use super::sentry::Sentry;
use super::words::Word;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::takeover::{GuardianNews, Standing};
use crate::model::units::Span;
use crate::run::{Guard, Input, Operator, beside};

/// How many guardians may take the place of one before them.
const REPLACEMENTS: u32 = 3;

/// Between two looks whether a sign was answered.
const LOOK: Duration = Duration::from_millis(500);

/// Looks in a row at a sign without an answer. Counted, not measured: while the machine sleeps, or the
/// run itself is stopped, nothing is counted.
const DEAF_AFTER: u32 = 10;

/// Where each guardian of a run writes what it does.
pub type OpenLog = Box<dyn Fn() -> Result<File, Problem> + Send + Sync>;

/// The post of a run's guardian.
pub struct Post {
    charge: Arc<Charge>,
    open_log: Arc<OpenLog>,
    news: Operator,
    line: Arc<Line>,
    keeper: Option<Keeper>,
}

/// The task that watches over the guardian.
struct Keeper {
    /// Dropped without a word: the guardian is to stay on its watch.
    parting: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Post {
    /// A post for this charge, not manned yet; what becomes of the guardian goes into the run's queue.
    pub fn new(charge: Charge, open_log: OpenLog, news: Operator) -> Self {
        Self {
            charge: Arc::new(charge),
            open_log: Arc::new(open_log),
            news,
            line: Arc::default(),
            keeper: None,
        }
    }
}

impl Guard for Post {
    fn start(&mut self) -> BoxFuture<'_, Result<Option<u32>, Problem>> {
        Box::pin(async move {
            let (sentry, pipe) = Sentry::post(&self.charge, (self.open_log)()?).await?;
            let pid = sentry.pid();
            self.line.connect(pipe);
            let (parting, parted) = oneshot::channel();
            let keeping = Keeping {
                charge: Arc::clone(&self.charge),
                open_log: Arc::clone(&self.open_log),
                news: self.news.clone(),
                line: Arc::clone(&self.line),
            };
            let task = beside(
                "the keeper of the guardian",
                self.news.clone(),
                keeping.keep(sentry, parted),
            );
            let task = tokio::spawn(task);
            self.keeper = Some(Keeper { parting, task });
            Ok(Some(pid))
        })
    }

    fn tell(&mut self, standing: Standing) -> Result<(), Problem> {
        self.line.say(standing)
    }

    fn dismiss(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let Some(keeper) = self.keeper.take() else {
                return;
            };
            // A keeper that is no more has lost its guardian before.
            let _ = keeper.parting.send(());
            let _ = keeper.task.await;
        })
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        // The guardian hears it at once, whenever the keeper's task may come to its end.
        self.line.cut();
    }
}

/// What carries signs of life to whoever is the guardian now.
#[derive(Default)]
struct Line {
    state: Mutex<LineState>,
}

struct LineState {
    /// `None`: there is no guardian at this moment.
    pipe: Option<OwnedFd>,
    /// For whoever comes next.
    standing: Standing,
    /// Signs that this guardian was given.
    signs: u64,
}

impl Default for LineState {
    fn default() -> Self {
        Self {
            pipe: None,
            standing: Standing::Clear,
            signs: 0,
        }
    }
}

impl Line {
    fn state(&self) -> MutexGuard<'_, LineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Signs go to this guardian from now on, first of all where the run stands.
    fn connect(&self, pipe: OwnedFd) {
        let mut state = self.state();
        state.pipe = Some(pipe);
        state.signs = 0;
        // One that cannot hear it has died since; its keeper finds out.
        let _ = state.say();
    }

    fn cut(&self) {
        self.state().pipe = None;
    }

    fn say(&self, standing: Standing) -> Result<(), Problem> {
        let mut state = self.state();
        state.standing = standing;
        state.say()
    }

    fn signs(&self) -> u64 {
        self.state().signs
    }

    /// The last word; nobody is spoken to after it.
    fn part(&self) {
        let pipe = self.state().pipe.take();
        if let Some(pipe) = pipe {
            let line = Word::Parting.to_line();
            // One that cannot hear it finds its end of the pipe closed, and the run settled.
            let _ = rustix::io::write(&pipe, line.as_bytes());
        }
    }
}

impl LineState {
    /// A line is shorter than what a pipe takes whole or not at all, and the pipe waits for nobody.
    fn say(&mut self) -> Result<(), Problem> {
        let Some(pipe) = &self.pipe else {
            return Err(nobody("it is just being replaced"));
        };
        let line = Word::Standing(self.standing).to_line();
        match rustix::io::write(pipe, line.as_bytes()) {
            Ok(_) => {
                self.signs += 1;
                Ok(())
            }
            Err(why) => Err(nobody(&why.to_string())),
        }
    }
}

fn nobody(why: &str) -> Problem {
    Problem::new(
        ProblemKind::Unexpected,
        format!("the guardian cannot be told where the run stands: {why}"),
    )
}

/// Watches over a guardian, and over those that take its place.
struct Keeping {
    charge: Arc<Charge>,
    open_log: Arc<OpenLog>,
    news: Operator,
    line: Arc<Line>,
}

impl Keeping {
    async fn keep(self, mut sentry: Sentry, mut parted: oneshot::Receiver<()>) {
        let mut replaced = 0;
        loop {
            let why = tokio::select! {
                why = self.until_amiss(&mut sentry) => why,
                parting = &mut parted => {
                    // Without a word the guardian is to stay on its watch: its pipe is closed.
                    if parting.is_ok() {
                        self.line.part();
                        sentry.leave().await;
                    }
                    return;
                }
            };
            self.line.cut();
            sentry.kill().await;
            if replaced == REPLACEMENTS {
                let why = format!("{why}, like {REPLACEMENTS} before it");
                return self.tell(GuardianNews::Lost { why });
            }
            match self.another().await {
                Ok((next, pipe)) => {
                    self.line.connect(pipe);
                    let pid = next.pid();
                    self.tell(GuardianNews::Replaced { pid, why });
                    sentry = next;
                    replaced += 1;
                }
                Err(problem) => {
                    let why = format!("{why}, and there is no other: {}", problem.message);
                    return self.tell(GuardianNews::Lost { why });
                }
            }
        }
    }

    async fn another(&self) -> Result<(Sentry, OwnedFd), Problem> {
        Sentry::post(&self.charge, (self.open_log)()?).await
    }

    /// Returns what is amiss, once something is.
    async fn until_amiss(&self, sentry: &mut Sentry) -> String {
        let (mut answered, mut deaf_for) = (0, 0);
        loop {
            match timeout(LOOK, sentry.answers()).await {
                Ok(0) => return "the guardian died".to_owned(),
                Ok(letters) => {
                    answered += letters;
                    deaf_for = 0;
                }
                Err(_) if self.line.signs() <= answered => deaf_for = 0,
                Err(_) => deaf_for += 1,
            }
            if deaf_for == DEAF_AFTER {
                let deaf = Span::of(LOOK * DEAF_AFTER);
                return format!("the guardian gave no answer for {deaf}");
            }
        }
    }

    fn tell(&self, news: GuardianNews) {
        // A run that takes no news any more has ended.
        let _ = self.news.send(Input::Guardian(news));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::run::operator;

    fn charge() -> Charge {
        let person = json!({"user": "ann", "host": "desk"});
        let charge = json!({
            "run": "r-20261130-165251-886c", "folder": "/runs/1", "journal": "/runs/1/journal.jsonl",
            "pid": 1, "undoWithin": "1m", "lockFolder": "/locks", "locks": [],
            "holder": {
                "person": person, "since": "2026-11-30T16:52:51Z", "plan": "p-886c886c886c",
                "experiment": "kinesis", "state": "/runs", "pid": 1,
            },
            "kubeconfigs": {"paths": [], "presence": "optional"},
        });
        serde_json::from_value(charge).unwrap()
    }

    /// An engine that hangs must fall silent, however well everything beside it does.
    #[tokio::test]
    async fn nobody_but_the_engine_gives_signs_of_life() {
        // It answers whatever it hears.
        let (mut sentry, pipe) = Sentry::that_is("cat").unwrap();
        let (news, _inputs) = operator();
        let keeping = Keeping {
            charge: Arc::new(charge()),
            open_log: Arc::new(Box::new(|| unreachable!("nobody takes its place"))),
            news,
            line: Arc::default(),
        };
        keeping.line.connect(pipe);
        keeping.line.say(Standing::Undoing).unwrap();
        let given = keeping.line.signs();
        let watched = timeout(LOOK * 3, keeping.until_amiss(&mut sentry)).await;
        assert!(watched.is_err(), "{watched:?}");
        assert_eq!(keeping.line.signs(), given);
        sentry.kill().await;
    }
}
