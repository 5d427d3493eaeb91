//! The clock of an API server, by which locks lapse, beside this machine's.

use jiff::Timestamp;
use tokio::time::Instant;

use super::asking::{Resource, Verb, ask_within};
use crate::clients::{Clients, TIME_WITHIN};
use crate::model::cluster::Cluster;
use crate::model::skew::ToldTime;
use crate::model::units::Span;

/// What the API server of a cluster says of the time, whatever else it answers; `now` is when it is
/// asked. `None`: it says nothing.
pub async fn told_time(clients: &Clients, cluster: &Cluster, now: Timestamp) -> Option<ToldTime> {
    let begun = Instant::now();
    let context = clients.kubernetes(cluster.context.as_deref()).await.ok()?;
    let what = (Verb::Get, &Resource::Version);
    let reply = ask_within(&context, what, None, TIME_WITHIN).await.ok()?;
    Some(ToldTime {
        server: format!("the API server {}", context.server()),
        date: reply.clock?.date(),
        asked: now,
        took: Span::of(begun.elapsed()),
    })
}
