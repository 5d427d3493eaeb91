//! Processes that can be killed and stopped: whatever one does runs behind its gate.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::schedule::{Doom, How, Place, When};

/// Which part a process plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `chaos run`
    Run,
    /// Its guardian.
    Guardian,
    /// `chaos abort`
    Abort,
    /// `chaos recover`
    Recover,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Condition {
    Runs,
    Stopped,
    Dead,
}

/// One process.
#[derive(Debug)]
pub struct Life {
    pub id: u32,
    pub role: Role,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    condition: Condition,
    wakers: Vec<Waker>,
    passed: [u64; Place::COUNT],
    dooms: Vec<Doom>,
}

thread_local! {
    /// Whose code is being polled.
    static CURRENT: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The process whose code runs now.
pub fn current() -> Option<u32> {
    CURRENT.get()
}

impl Life {
    pub fn new(id: u32, role: Role, dooms: Vec<Doom>) -> Arc<Self> {
        Arc::new(Self {
            id,
            role,
            inner: Mutex::new(Inner {
                condition: Condition::Runs,
                wakers: Vec::new(),
                passed: [0; Place::COUNT],
                dooms,
            }),
        })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_dead(&self) -> bool {
        self.inner().condition == Condition::Dead
    }

    pub fn is_stopped(&self) -> bool {
        self.inner().condition == Condition::Stopped
    }

    /// What is due at this place, by how often it was passed.
    pub fn pass(&self, place: Place) -> Vec<How> {
        let mut inner = self.inner();
        if inner.condition == Condition::Dead {
            return Vec::new();
        }
        let passed = inner.passed[place as usize];
        inner.passed[place as usize] += 1;
        let is_due = |doom: &Doom| doom.when == When::Passing(place, passed);
        inner
            .dooms
            .iter()
            .filter(|doom| is_due(doom))
            .map(|doom| doom.how)
            .collect()
    }

    /// What is due at some time, in milliseconds of the schedule.
    pub fn timed(&self) -> Vec<(u64, How)> {
        let inner = self.inner();
        let timed = inner.dooms.iter().filter_map(|doom| match doom.when {
            When::At(ms) => Some((ms, doom.how)),
            When::Passing(..) => None,
        });
        timed.collect()
    }

    pub fn die(&self) {
        self.become_(Condition::Dead);
    }

    pub fn stop(&self) {
        if !self.is_dead() {
            self.become_(Condition::Stopped);
        }
    }

    pub fn go_on(&self) {
        if !self.is_dead() {
            self.become_(Condition::Runs);
        }
    }

    fn become_(&self, condition: Condition) {
        let wakers = {
            let mut inner = self.inner();
            inner.condition = condition;
            std::mem::take(&mut inner.wakers)
        };
        for waker in wakers {
            waker.wake();
        }
    }
}

/// Runs only while its process does; `None` once that is dead.
pub struct Gate<F: Future> {
    life: Arc<Life>,
    inner: Option<Pin<Box<F>>>,
}

impl<F: Future> Gate<F> {
    pub fn new(life: &Arc<Life>, inner: F) -> Self {
        Self {
            life: Arc::clone(life),
            inner: Some(Box::pin(inner)),
        }
    }
}

impl<F: Future> Future for Gate<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let condition = {
            let mut inner = self.life.inner();
            if !inner
                .wakers
                .iter()
                .any(|one| one.will_wake(context.waker()))
            {
                inner.wakers.push(context.waker().clone());
            }
            inner.condition
        };
        match condition {
            Condition::Stopped => return Poll::Pending,
            Condition::Dead => {
                self.inner = None;
                return Poll::Ready(None);
            }
            Condition::Runs => {}
        }
        let id = self.life.id;
        let Some(inner) = self.inner.as_mut() else {
            return Poll::Ready(None);
        };
        let polled = {
            let _as = As::process(id);
            inner.as_mut().poll(context)
        };
        if self.life.is_dead() {
            self.inner = None;
            return Poll::Ready(None);
        }
        polled.map(Some)
    }
}

/// Whoever runs is this process, until this is dropped: also by a panic.
struct As(Option<u32>);

impl As {
    fn process(id: u32) -> Self {
        Self(CURRENT.replace(Some(id)))
    }
}

impl Drop for As {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// The same for what somebody waits for who is dead too then: it never ends.
pub async fn behind<F: Future>(life: &Arc<Life>, inner: F) -> F::Output {
    match Gate::new(life, inner).await {
        Some(output) => output,
        None => std::future::pending().await,
    }
}
