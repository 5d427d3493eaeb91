//! What is still known, and what is not, where pages cannot be read: old samples and `or vector(0)` must
//! not stand in for them.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_page_that_cannot_be_read_blinds_what_only_it_can_tell() {
    let script = Script::new(&["orders_total 1", "orders_total 2\nqueue 7"]);
    let scraper = started(&script).await;
    a_second().await;
    assert_eq!(
        ask(&scraper, "sum(orders_total)").await,
        Reading::Value(3.0)
    );
    script.fail(1, "line 1: nonsense");
    a_second().await;
    let blind = down("http://cart/metrics: line 1: nonsense");
    for (query, expected) in [
        // The other page still tells of its own.
        ("sum(orders_total)", Reading::Value(1.0)),
        ("orders_total{instance=\"shop:80\"}", Reading::Value(1.0)),
        // Old samples, and what stands in for missing ones, are no answer.
        ("orders_total{instance=\"cart:80\"}", blind.clone()),
        ("queue", blind.clone()),
        ("max_over_time(queue[1m])", blind.clone()),
        ("queue or vector(0)", blind.clone()),
        ("sum(orders_total) + on () queue", blind.clone()),
        // Nothing found while a page is down.
        ("nowhere", blind.clone()),
        // What we know of ourselves is never blind.
        ("sum(up)", Reading::Value(1.0)),
        ("up{instance=\"cart:80\"}", Reading::Value(0.0)),
    ] {
        assert_eq!(ask(&scraper, query).await, expected, "{query}");
    }
    script.fail(0, "it answers 500");
    a_second().await;
    let first = down("http://shop/metrics: it answers 500");
    assert_eq!(ask(&scraper, "nowhere or vector(0)").await, first);
    assert_eq!(ask(&scraper, "rate(orders_total[1m])").await, first);
    script.set(1, "orders_total 2\nqueue 9");
    a_second().await;
    assert_eq!(ask(&scraper, "queue").await, Reading::Value(9.0));
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_no_longer_read_is_down_however_that_came_about() {
    let script = Script::new(&["a 1", "a 2"]);
    let scraper = started(&script).await;
    if let Life::Reading(loops) = &mut *scraper.life() {
        loops.abort_all();
    }
    sleep(5 * SECOND).await;
    assert_eq!(ask(&scraper, "sum(a)").await, Reading::Value(3.0));
    sleep(SECOND / 10).await;
    let silent = down("http://shop/metrics: it was last read 5s100ms ago");
    assert_eq!(ask(&scraper, "sum(a) or vector(0)").await, silent);
    assert_eq!(ask(&scraper, "sum(up)").await, Reading::Value(0.0));
}

#[tokio::test(start_paused = true)]
async fn a_page_that_was_never_read_may_have_what_nobody_else_has() {
    let script = Script::new(&["orders_total 1", ""]);
    script.fail(1, "it answers 503");
    let scraper = started(&script).await;
    let blind = down("http://cart/metrics: it answers 503");
    assert_eq!(ask(&scraper, "queue or vector(0)").await, blind);
    assert_eq!(ask(&scraper, "orders_total").await, Reading::Value(1.0));
}
