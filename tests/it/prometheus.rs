//! Against a real Prometheus: `prometheus` of Debian, started by the tests themselves.

use crate::support::prometheus::{Prometheus, is_missing};

#[tokio::test]
async fn a_real_server_starts_and_answers() {
    if is_missing() {
        return;
    }
    let server = Prometheus::start("  []").await;
    assert_eq!(
        server.query("vector(1) + 1", None).await["result"][0]["value"][1],
        "2"
    );
}
