//! A Lease as an object: what it says about who holds it until when, and what it says once it is ours.
//! All times are those of the API server's clock, so that no two machines have to agree on theirs.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Holder, LeaseTiming, NAME};

/// The API server tells the time in whole seconds, and holders write it down as it told it: so much
/// later than it says does a Lease really lapse.
const GRACE: SignedDuration = SignedDuration::from_secs(2);

/// How a Lease stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nobody holds it.
    Free,
    /// We do.
    Ours,
    /// Somebody else does, as this sentence says.
    Held(String),
    /// Somebody else did and did not give it back, as this sentence says.
    Lapsed(String),
}

/// How a Lease stands by the server's clock.
pub(super) fn standing(object: &Value, us: &Holder, now: Timestamp) -> Standing {
    let spec = &object["spec"];
    let holder = spec["holderIdentity"].as_str().unwrap_or_default();
    if holder.is_empty() {
        return Standing::Free;
    }
    if holder == us.identity() {
        return Standing::Ours;
    }
    let (who, plan) = parts(holder);
    let since = time(&spec["acquireTime"]);
    let since = since.map_or(String::new(), |since| format!(" since {}", clock(since)));
    let plan = plan.map_or(String::new(), |plan| format!(" (plan {plan})"));
    let held = format!("{who}{since}{plan}");
    let seconds = spec["leaseDurationSeconds"].as_i64();
    let (Some(renewed), Some(seconds)) = (time(&spec["renewTime"]), seconds) else {
        // Made by hand, to keep everybody out.
        return Standing::Held(format!("held by {held}, without an end"));
    };
    let until = renewed.checked_add(SignedDuration::from_secs(seconds.max(0)));
    let until = until.unwrap_or(Timestamp::MAX);
    let age = now.duration_since(renewed).as_secs().max(0);
    if until.checked_add(GRACE).is_ok_and(|end| end <= now) {
        return Standing::Lapsed(format!(
            "it was held by {held}, last renewed {age} s ago, and lapsed at {}",
            clock(until)
        ));
    }
    Standing::Held(format!(
        "held by {held}, renewed {age} s ago; it counts until {} unless renewed",
        clock(until)
    ))
}

/// Who, and with which plan; another tool's identity is taken as it is.
fn parts(identity: &str) -> (&str, Option<&str>) {
    let mut words = identity.rsplitn(3, ' ');
    match (words.next(), words.next(), words.next()) {
        (Some(_), Some(plan), Some(who)) if plan.starts_with("p-") => (who, Some(plan)),
        _ => (identity, None),
    }
}

/// The Lease that is created.
pub(super) fn created(namespace: &str, us: &Holder, now: Timestamp, timing: &LeaseTiming) -> Value {
    let empty = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {},
    });
    let mut object = taken(&empty, us, now, timing);
    object["spec"]["leaseTransitions"] = json!(0);
    object
}

/// The same Lease, ours from now on. What others wrote into it besides stays.
pub(super) fn taken(object: &Value, us: &Holder, now: Timestamp, timing: &LeaseTiming) -> Value {
    let mut object = renewed(object, now);
    let transitions = object["spec"]["leaseTransitions"].as_i64().unwrap_or(0);
    object["spec"]["holderIdentity"] = json!(us.identity());
    object["spec"]["acquireTime"] = json!(written(now));
    object["spec"]["leaseDurationSeconds"] = json!(timing.duration.as_secs());
    object["spec"]["leaseTransitions"] = json!(transitions.saturating_add(1));
    object["metadata"]["labels"]["chaos-gameday/lock"] = json!("run");
    object
}

/// The same Lease, renewed.
pub(super) fn renewed(object: &Value, now: Timestamp) -> Value {
    let mut object = object.clone();
    object["spec"]["renewTime"] = json!(written(now));
    object
}

/// The same Lease, nobody's.
pub(super) fn given_back(object: &Value) -> Value {
    let mut object = object.clone();
    for field in [
        "holderIdentity",
        "acquireTime",
        "renewTime",
        "leaseDurationSeconds",
    ] {
        object["spec"][field] = Value::Null;
    }
    object
}

/// What has to be true of a Lease for it to be deleted: that it is still the one that we know.
pub(super) fn only_this(object: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {
            "uid": object["metadata"]["uid"],
            "resourceVersion": object["metadata"]["resourceVersion"],
        },
    })
}

fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// As `MicroTime` wants it.
fn written(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

fn clock(time: Timestamp) -> String {
    time.strftime("%H:%M:%S UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us() -> Holder {
        Holder::named("eve@two p-bbbbbbbbbb 2")
    }

    fn at(text: &str) -> Timestamp {
        format!("2026-11-30T{text}Z").parse().expect("a time")
    }

    fn anns() -> Value {
        let ann = Holder::named("ann@one p-aaaaaaaaaa 1");
        let lease = created("shop", &ann, at("12:01:33"), &LeaseTiming::default());
        renewed(&lease, at("12:01:37"))
    }

    #[test]
    fn whoever_holds_it_is_told_with_when_it_ends() {
        assert_eq!(
            standing(&anns(), &us(), at("12:01:41")),
            Standing::Held(
                "held by ann@one since 12:01:33 UTC (plan p-aaaaaaaaaa), renewed 4 s ago; it counts until 12:02:07 UTC unless renewed".to_owned()
            )
        );
    }

    #[test]
    fn it_lapses_past_its_time_and_the_seconds_that_clocks_leave_out() {
        let held = |now: &str| matches!(standing(&anns(), &us(), at(now)), Standing::Held(_));
        assert!(held("12:02:07"));
        assert!(held("12:02:08.999"));
        assert_eq!(
            standing(&anns(), &us(), at("12:02:09")),
            Standing::Lapsed(
                "it was held by ann@one since 12:01:33 UTC (plan p-aaaaaaaaaa), last renewed 32 s ago, and lapsed at 12:02:07 UTC".to_owned()
            )
        );
    }

    #[test]
    fn what_others_wrote_is_read_as_it_is() {
        let mut lease = anns();
        let now = at("12:00:00");
        lease["spec"]["holderIdentity"] = json!("release freeze, ask Bo");
        lease["spec"]["renewTime"] = Value::Null;
        lease["spec"]["acquireTime"] = json!("soon");
        let words = "held by release freeze, ask Bo, without an end";
        assert_eq!(
            standing(&lease, &us(), now),
            Standing::Held(words.to_owned())
        );
        lease["spec"]["renewTime"] = json!("9999-12-30T22:00:00.9Z");
        lease["spec"]["leaseDurationSeconds"] = json!(i64::MAX);
        assert!(matches!(standing(&lease, &us(), now), Standing::Held(_)));
        lease["spec"]["renewTime"] = json!("2026-11-30T11:00:00Z");
        lease["spec"]["leaseDurationSeconds"] = json!(-5);
        assert!(matches!(standing(&lease, &us(), now), Standing::Lapsed(_)));
        for nobody in [json!(""), Value::Null, json!(7)] {
            lease["spec"]["holderIdentity"] = nobody;
            assert_eq!(standing(&lease, &us(), now), Standing::Free);
        }
        assert_eq!(standing(&Value::Null, &us(), now), Standing::Free);
    }

    #[test]
    fn taking_it_counts_and_leaves_the_rest_alone() {
        let mut lease = anns();
        lease["metadata"]["annotations"]["note"] = json!("theirs");
        lease["metadata"]["resourceVersion"] = json!("7");
        let ours = taken(&lease, &us(), at("12:02:10"), &LeaseTiming::default());
        assert_eq!(standing(&ours, &us(), at("12:02:10")), Standing::Ours);
        assert_eq!(ours["spec"]["leaseTransitions"], 1);
        assert_eq!(ours["spec"]["acquireTime"], "2026-11-30T12:02:10.000000Z");
        assert_eq!(ours["metadata"]["annotations"]["note"], "theirs");
        assert_eq!(ours["metadata"]["resourceVersion"], "7");
        assert_eq!(
            standing(&given_back(&ours), &us(), at("12:02:10")),
            Standing::Free
        );
    }
}
