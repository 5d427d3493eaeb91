//! Clusters: which one a context means, who it says it is, and the lock of its namespaces. Odd answers
//! come from a scripted server, everything else from a real API server.
#![expect(clippy::unwrap_used, reason = "a test that cannot ask has failed")]

mod answers;
mod before;
mod contexts;
mod identity;
mod locks;
mod races;
mod runs;

use std::sync::atomic::{AtomicUsize, Ordering};

/// A name for a namespace that no other test has.
fn unique(what: &str) -> String {
    static COUNTED: AtomicUsize = AtomicUsize::new(0);
    format!("{what}-{}", COUNTED.fetch_add(1, Ordering::Relaxed))
}
