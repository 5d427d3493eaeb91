//! Faults, and the traffic that measures them, stay on this machine.

use super::{Facts, Found};

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let experiment = &facts.plan.experiment;
    let endpoint = experiment
        .on
        .localstack
        .as_ref()
        .map(|world| &world.endpoint);
    let traffic = experiment.metrics.traffic.as_ref().map(|spec| &spec.url);
    let mut found = Vec::new();
    for (place, url) in [
        ("on.localstack.endpoint", endpoint),
        ("metrics.traffic.url", traffic),
    ] {
        let Some(url) = url else { continue };
        if !is_loopback(url) {
            found.push(Found::deny(
                place,
                format!("`{url}` is not on this machine"),
                "the built-in policy lets only loopback addresses be touched: 127.0.0.1, [::1], localhost",
            ));
        }
    }
    found
}

/// Whether the host of a URL is this machine by its very name; nothing is looked up, since a name
/// that resolves to loopback here may resolve to something else a moment later.
fn is_loopback(url: &str) -> bool {
    match url::Url::parse(url).as_ref().map(url::Url::host) {
        Ok(Some(url::Host::Ipv4(address))) => address.is_loopback(),
        Ok(Some(url::Host::Ipv6(address))) => address.is_loopback(),
        Ok(Some(url::Host::Domain(name))) => name == "localhost" || name.ends_with(".localhost"),
        Ok(None) | Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_this_machine_is_local() {
        for (url, local) in [
            ("http://127.0.0.1:4566", true),
            ("http://127.9.9.9:4566", true),
            ("http://[::1]:4566", true),
            ("http://localhost:4566", true),
            ("http://shop.localhost/x", true),
            ("http://localhost.localstack.cloud:4566", false),
            ("http://10.0.0.1:4566", false),
            ("http://localhost.evil.example", false),
            ("http://127.0.0.1.evil.example", false),
            ("http://127.0.0.1@evil.example", false),
            ("http://0x7f000001", true),
            ("http://[::ffff:10.0.0.1]", false),
            ("file:///etc/passwd", false),
            ("nonsense", false),
        ] {
            assert_eq!(is_loopback(url), local, "{url}");
        }
    }
}
