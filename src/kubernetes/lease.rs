//! The lock of a namespace: a `coordination.k8s.io/v1` Lease that a run holds and renews while it lasts,
//! so that no other run begins there, from whatever machine.
//!
//! It rests on the API server alone: a Lease changes hands only by a write that names the version which
//! was read (`resourceVersion`), so of two that want it at once one is refused; and all times are those
//! of the server's clock.

mod keeping;
mod record;

use std::time::Duration;

use http::StatusCode;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use super::answers;
use super::asking::{Reply, Resource, ServerClock, Verb, ask};
use crate::clients::{Clients, KubeContext};
use crate::model::approval::Person;
use crate::model::cluster::Cluster;
use crate::model::ids::PlanId;
use crate::model::lock::LockNews;
use crate::model::problem::{Problem, ProblemKind};
use keeping::Keeper;
use record::Standing;

/// The Lease's name: one for each namespace.
pub const NAME: &str = "chaos-run";

/// So often somebody else may be quicker before we give up.
const ATTEMPTS: usize = 5;

/// How long a Lease counts, and how often it is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTiming {
    /// After its last renewal; whole seconds, at least 1.
    pub duration: Duration,
    /// Between two renewals.
    pub renew_every: Duration,
    /// Between two attempts while renewing fails.
    pub retry_every: Duration,
}

impl Default for LeaseTiming {
    fn default() -> Self {
        Self {
            duration: Duration::from_secs(30),
            renew_every: Duration::from_secs(10),
            retry_every: Duration::from_secs(2),
        }
    }
}

/// Who holds a Lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    identity: String,
}

impl Holder {
    /// A person with a plan. Two processes that run one plan are two holders.
    pub fn new(person: &Person, plan: &PlanId) -> Self {
        let one_of_many: u64 = rand::random();
        Self {
            identity: format!("{person} {plan} {one_of_many:016x}"),
        }
    }

    #[cfg(test)]
    fn named(identity: &str) -> Self {
        Self {
            identity: identity.to_owned(),
        }
    }

    /// What stands in the Lease: `ann@laptop p-3f9c2ab4e1 8d1f…`.
    pub fn identity(&self) -> &str {
        &self.identity
    }
}

/// A Lease that is ours. Dropped, it is given back as well, but nobody waits for that.
#[derive(Debug)]
pub struct HeldLease {
    stop: oneshot::Sender<()>,
    keeper: JoinHandle<Result<(), Problem>>,
    news: Option<mpsc::UnboundedReceiver<LockNews>>,
    lost: watch::Receiver<Option<String>>,
}

impl HeldLease {
    /// What becomes of it: at most one `Lost`, and then nothing more. There is one receiver, for whoever
    /// asks first.
    pub fn news(&mut self) -> Option<mpsc::UnboundedReceiver<LockNews>> {
        self.news.take()
    }

    /// Whether it still counts.
    ///
    /// # Errors
    /// It was lost.
    pub fn still_counts(&self) -> Result<(), Problem> {
        match self.lost.borrow().as_deref() {
            None => Ok(()),
            Some(why) => Err(Problem::new(
                ProblemKind::Conflict,
                format!("the run lock was lost: {why}"),
            )
            .hint("nothing was injected; run it again")),
        }
    }

    /// Gives it back: the object is deleted, or, where that is not allowed, emptied. What is no longer
    /// ours is left alone.
    ///
    /// # Errors
    /// It could not be given back; it then lapses by itself.
    pub async fn release(self) -> Result<(), Problem> {
        // Whoever kept it may be gone already.
        let _ = self.stop.send(());
        self.keeper.await.map_err(|why| {
            Problem::new(
                ProblemKind::Unexpected,
                format!("the keeper of the run lock died: {why}"),
            )
        })?
    }
}

/// Where a Lease is, and on what terms.
#[derive(Debug, Clone)]
struct Seat {
    context: KubeContext,
    namespace: String,
    resource: Resource,
    holder: Holder,
    timing: LeaseTiming,
}

impl Seat {
    async fn ask(&self, verb: Verb, body: Option<&Value>) -> Result<Reply, Problem> {
        ask(&self.context, verb, &self.resource, body).await
    }

    fn refusal(&self, verb: Verb, reply: &Reply) -> Problem {
        answers::refusal(&self.context, (verb, &self.resource), reply)
    }

    fn clock(&self, reply: &Reply) -> Result<ServerClock, Problem> {
        reply.clock.ok_or_else(|| {
            answers::incomplete(
                &self.context,
                &self.resource,
                "the time (a `Date` header), by which locks lapse",
            )
        })
    }
}

/// Takes the Lease of a cluster's namespace: a new one, one that nobody holds, or one that lapsed. Every
/// permission that holding it needs is used once before this returns.
///
/// # Errors
/// Somebody else holds it; a permission is missing, which is named; the API server does not answer.
pub async fn take(
    clients: &Clients,
    cluster: &Cluster,
    holder: &Holder,
    timing: LeaseTiming,
) -> Result<HeldLease, Problem> {
    let seat = Seat {
        context: clients.kubernetes(cluster.context.as_deref()).await?,
        namespace: cluster.namespace.clone(),
        resource: Resource::Lease {
            namespace: cluster.namespace.clone(),
            name: NAME.to_owned(),
        },
        holder: holder.clone(),
        timing,
    };
    for _ in 0..ATTEMPTS {
        let found = seat.ask(Verb::Get, None).await?;
        let now = seat.clock(&found)?.now();
        let note = match found.status {
            StatusCode::NOT_FOUND => None,
            status if status.is_success() => match record::standing(&found.body, holder, now) {
                Standing::Held(how) => return Err(held(&seat.namespace, &how)),
                Standing::Lapsed(how) => Some(how),
                Standing::Free | Standing::Ours => None,
            },
            _ => return Err(seat.refusal(Verb::Get, &found)),
        };
        if let Some(keeper) = write(&seat, &found).await? {
            return Ok(kept(keeper, note));
        }
    }
    let message = format!(
        "the lock of namespace `{}` changes faster than it can be taken",
        seat.namespace
    );
    Err(Problem::new(ProblemKind::Conflict, message).hint("others want it too; try again"))
}

/// Makes the Lease ours in one write; `None`: somebody else was quicker.
async fn write(seat: &Seat, found: &Reply) -> Result<Option<Keeper>, Problem> {
    let now = seat.clock(found)?.now();
    let absent = found.status == StatusCode::NOT_FOUND;
    let (verb, body) = match absent {
        true => (
            Verb::Create,
            record::created(&seat.namespace, &seat.holder, now, &seat.timing),
        ),
        false => (
            Verb::Update,
            record::taken(&found.body, &seat.holder, now, &seat.timing),
        ),
    };
    let sent = tokio::time::Instant::now();
    let reply = seat.ask(verb, Some(&body)).await?;
    match reply.status {
        StatusCode::CONFLICT => return Ok(None),
        // Deleted just now.
        StatusCode::NOT_FOUND if !absent => return Ok(None),
        status if !status.is_success() => return Err(seat.refusal(verb, &reply)),
        _ => {}
    }
    let mut keeper = Keeper::new(seat.clone(), reply.body.clone(), seat.clock(&reply)?, sent);
    if absent {
        // Whoever may create one may not always renew it: that is found out now, not in ten seconds.
        keeper.prove().await?;
    }
    Ok(Some(keeper))
}

fn kept(mut keeper: Keeper, note: Option<String>) -> HeldLease {
    let (telling, news) = mpsc::unbounded_channel();
    let (losing, lost) = watch::channel(None);
    let (stop, stopped) = oneshot::channel();
    keeper.tell(telling, losing);
    if let Some(how) = note {
        keeper.warn(format!(
            "its former holder did not give it back: {how}; it is ours now"
        ));
    }
    HeldLease {
        stop,
        keeper: tokio::spawn(keeper.keep(stopped)),
        news: Some(news),
        lost,
    }
}

fn held(namespace: &str, how: &str) -> Problem {
    Problem::new(
        ProblemKind::Conflict,
        format!("another run is under way in namespace `{namespace}`: its lock is {how}"),
    )
    .hint(format!(
        "wait for its end; a lock that nobody renews lapses by itself. `kubectl -n {namespace} get lease {NAME}` shows it"
    ))
}
