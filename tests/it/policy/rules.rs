//! What each rule says: one row a case.

use chaos_gameday::faults::Fault;
use chaos_gameday::model::approval::Exception;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::plan::Plan;
use chaos_gameday::policy::{self, Attendance, OwnSandbox, Policy, Severity};

use super::case::{
    Case, LOCALSTACK, cluster, experiment, failing, on_cluster, on_localstack, ran, resolve,
    staging, whole,
};

const NOTHING: &[&str] = &[];

fn local(document: String) -> Case {
    Case::of(document, policy::built_in())
}

/// Asserts what a rule says in each of the cases.
fn assert_all(rule: &str, rows: Vec<(&str, Case, &[&str])>) {
    for (what, case, expected) in rows {
        assert_eq!(case.said(rule), expected, "{rule}: {what}");
    }
}

fn proven_by(proof: &str) -> Policy {
    staging(&format!("proof: {{kubernetes: {{{proof}}}}}"))
}

#[test]
fn a_localstack_is_proven_by_its_host() {
    let elsewhere = |policy| {
        let on = LOCALSTACK.replace("127.0.0.1", "stack.example.com");
        Case::of(experiment(&on, &failing(&[1.0])), policy)
    };
    let with = |hosts: &str| staging(&format!("proof: {{localstack: {{hosts: [{hosts}]}}}}"));
    assert_all(
        "environment",
        vec![
            (
                "its host",
                Case::of(on_localstack(&[1.0]), staging("")),
                NOTHING,
            ),
            (
                "its host and port",
                elsewhere(with("\"stack.example.com:4566\"")),
                NOTHING,
            ),
            ("a pattern", elsewhere(with("\"*.example.com\"")), NOTHING),
            (
                "another port",
                elsewhere(with("\"stack.example.com:4567\"")),
                &[
                    "deny on.localstack.endpoint: nothing proves that `http://stack.example.com:4566` is environment `staging`, which is `stack.example.com:4567`",
                ],
            ),
            (
                "no proof for LocalStacks",
                Case::of(on_localstack(&[1.0]), proven_by("contexts: [x]")),
                &[
                    "deny on.localstack.endpoint: nothing proves that a LocalStack is environment `staging`",
                ],
            ),
            (
                "a fault whose endpoint is not that of the document",
                Case::of(on_localstack(&[1.0]), staging("")).once(|plan| {
                    let Fault::LocalStack(fault) = &mut plan.experiment.steps[0].fault else {
                        panic!("another fault");
                    };
                    fault.endpoint = "http://10.0.0.7:4566".to_owned();
                }),
                &[
                    "deny steps[0].fault.localstack: nothing proves that `http://10.0.0.7:4566` is environment `staging`, which is `loopback`",
                ],
            ),
            (
                "a resolved step that is not that of the document",
                Case::of(on_localstack(&[1.0]), staging("")).once(|plan| {
                    resolve(plan);
                    plan.steps[0].prepared.world.endpoint = "http://10.0.0.7:4566".to_owned();
                }),
                &[
                    "deny steps[0].fault.localstack: nothing proves that `http://10.0.0.7:4566` is environment `staging`, which is `loopback`",
                ],
            ),
            (
                "an unknown environment",
                local(on_localstack(&[1.0])),
                &["deny environment: policy `built-in` knows no environment `staging`"],
            ),
        ],
    );
}

fn known(plan: &mut Plan) {
    resolve(plan);
    plan.cluster = Some(cluster());
}

#[test]
fn a_cluster_is_proven_by_everything_that_is_given() {
    let cluster = |proof: &str| Case::of(on_cluster("10%"), proven_by(proof));
    let nobody = ": nothing proves that this is environment `staging`";
    let all = "contexts: [staging-eu], clusterUids: [\"7c9e\"], apiHosts: [\"*.staging.example.com\"], namespaceLabels: {env: staging}";
    let wrong = "contexts: [other-*], clusterUids: [\"0000\"], apiHosts: [\"api.example.com\"], namespaceLabels: {env: test, team: \"*\"}";
    let rows: Vec<(&str, Case, Vec<String>)> = vec![
        ("all of it holds", cluster(all).once(known), vec![]),
        (
            "one is enough",
            cluster("clusterUids: [\"7c9e\"]").once(known),
            vec![],
        ),
        ("a draft goes by its document", cluster(all), vec![]),
        (
            "a draft with the wrong context",
            cluster("contexts: [other-*]"),
            vec![format!(
                "deny on.kubernetes.context: context `staging-eu` is not `other-*`{nobody}"
            )],
        ),
        (
            "a cluster that nobody asked",
            cluster("clusterUids: [\"7c9e\"]").once(resolve),
            vec![format!(
                "deny on.kubernetes: nobody has asked the cluster who it is{nobody}"
            )],
        ),
        (
            "a cluster that nobody asked, at the last moment",
            cluster("clusterUids: [\"7c9e\"]").running("2026-03-04T11:00:00Z"),
            vec![format!(
                "deny on.kubernetes: nobody has asked the cluster who it is{nobody}"
            )],
        ),
        (
            "none of it holds",
            cluster(wrong).once(known),
            vec![
                format!(
                    "deny on.kubernetes.context: context `staging-eu` is not `other-*`{nobody}"
                ),
                format!("deny on.kubernetes: the cluster has uid `7c9e`, not `0000`{nobody}"),
                format!(
                    "deny on.kubernetes: the API server is `https://api.staging.example.com:6443`, not `api.example.com`{nobody}"
                ),
                format!(
                    "deny on.kubernetes.namespace: namespace `checkout` has the label `env=staging`, not `env=test`{nobody}"
                ),
                format!(
                    "deny on.kubernetes.namespace: namespace `checkout` has no label `team=*`{nobody}"
                ),
            ],
        ),
        (
            "a context of the document that is not the one that was resolved",
            cluster("contexts: [staging-eu]").once(|plan| {
                known(plan);
                plan.cluster = plan.cluster.take().map(|mut cluster| {
                    cluster.context = Some("prod-eu".to_owned());
                    cluster
                });
            }),
            vec![format!(
                "deny on.kubernetes.context: context `prod-eu` is not `staging-eu`{nobody}"
            )],
        ),
        (
            "no context at all",
            cluster("contexts: [staging-eu]").once(|plan| {
                known(plan);
                plan.cluster = plan.cluster.take().map(|mut cluster| {
                    cluster.context = None;
                    cluster
                });
            }),
            vec![format!(
                "deny on.kubernetes.context: chaos runs in the cluster itself, where there is no context{nobody}"
            )],
        ),
        (
            "no proof for clusters",
            Case::of(
                on_cluster("10%"),
                staging("proof: {localstack: {hosts: [loopback]}}"),
            ),
            vec![
                "deny on.kubernetes: nothing proves that a cluster is environment `staging`"
                    .to_owned(),
            ],
        ),
    ];
    for (what, case, expected) in rows {
        assert_eq!(case.said("environment"), expected, "{what}");
    }
}

#[test]
fn traffic_and_pages_go_where_they_may_and_nothing_goes_where_it_must_not() {
    let to = |host: &str, policy| {
        let document = on_localstack(&[1.0]).replace("127.0.0.1:7700", host);
        Case::of(document, policy)
    };
    let denied = |host: &str| whole("", &format!("deniedHosts: [\"{host}\"]"));
    assert_all(
        "hosts",
        vec![
            ("this machine", to("127.0.0.1:7700", staging("")), NOTHING),
            (
                "elsewhere",
                to("shop.example.com", staging("")),
                &[
                    "deny metrics.traffic.url: `http://shop.example.com/orders` may not be asked in environment `staging`, only `loopback` may",
                ],
            ),
            (
                "elsewhere, where that is allowed",
                to(
                    "shop.example.com",
                    staging("traffic: {hosts: [\"*.example.com\"]}"),
                ),
                NOTHING,
            ),
            (
                "a LocalStack that is denied everywhere",
                Case::of(on_localstack(&[1.0]), denied("127.0.0.1:4566")),
                &[
                    "deny on.localstack.endpoint: `http://127.0.0.1:4566` is denied in every environment by policy `ours` (`127.0.0.1:4566`)",
                ],
            ),
            (
                "an API server that is denied everywhere",
                Case::of(on_cluster("10%"), denied("*.staging.example.com")).once(known),
                &[
                    "deny on.kubernetes: `https://api.staging.example.com:6443` is denied in every environment by policy `ours` (`*.staging.example.com`)",
                ],
            ),
        ],
    );
}

#[test]
fn production_is_denied_until_it_is_named_and_then_wants_a_name_typed() {
    let smells = |what: &str, mark: &str| format!("`{what}` smells of production (`{mark}`)");
    let named = |by: &str| {
        whole(
            "proof: {kubernetes: {contexts: [\"*\"]}}",
            &format!("production: {{{by}}}"),
        )
    };
    let on = |context: &str, namespace: &str| {
        on_cluster("10%")
            .replace("staging-eu", context)
            .replace("checkout", namespace)
    };
    let labelled = |value: &'static str| {
        on_cluster("10%").replace(
            "name: orders",
            &format!("name: orders, labels: {{{value}}}"),
        )
    };
    let rows: Vec<(&str, Case, Vec<String>)> = vec![
        (
            "nothing of it",
            Case::of(on_cluster("10%"), named("words: [prod]")),
            vec![],
        ),
        (
            "a context",
            Case::of(on("eu-prod-1", "checkout"), named("words: [prod]")),
            vec![format!(
                "deny on.kubernetes.context: {}",
                smells("eu-prod-1", "prod")
            )],
        ),
        (
            "a namespace, by a pattern",
            Case::of(on("eu", "shop-p"), named("patterns: [\"*-p\"]")),
            vec![format!(
                "deny on.kubernetes.namespace: {}",
                smells("shop-p", "*-p")
            )],
        ),
        (
            "a label, by its key and value",
            Case::of(labelled("tier: gold"), named("patterns: [\"tier=gold\"]")),
            vec![format!(
                "deny metadata.labels.tier: {}",
                smells("tier=gold", "tier=gold")
            )],
        ),
        (
            "a label that says that it is",
            Case::of(
                labelled("production: \"true\""),
                named("words: [production]"),
            ),
            vec![format!(
                "deny metadata.labels.production: {}",
                smells("production=true", "production")
            )],
        ),
        (
            "a label that says that it is not",
            Case::of(
                labelled("production: \"false\""),
                named("words: [production]"),
            ),
            vec![],
        ),
        (
            "what the cluster says of itself",
            Case::of(on_cluster("10%"), named("words: [prod, production]")).once(|plan| {
                known(plan);
                plan.cluster = plan.cluster.take().map(|mut cluster| {
                    cluster.api_server = "https://prod.example.com:6443".to_owned();
                    let label = ("production".to_owned(), "true".to_owned());
                    cluster.namespace_labels.extend([label]);
                    cluster
                });
            }),
            vec![
                format!(
                    "deny on.kubernetes: {}",
                    smells("https://prod.example.com:6443", "prod")
                ),
                format!(
                    "deny on.kubernetes.namespace: {}",
                    smells("production=true", "production")
                ),
            ],
        ),
        (
            "a context that the policy names",
            Case::of(
                on("eu-prod-1", "checkout"),
                named("words: [prod], named: [\"eu-prod-*\"]"),
            ),
            vec![format!(
                "require on.kubernetes.context: {}, and policy `ours` names it",
                smells("eu-prod-1", "prod")
            )],
        ),
        (
            "a context that is named, a namespace that is not",
            Case::of(
                on("eu-prod-1", "live"),
                named("words: [prod, live], named: [\"eu-prod-*\"]"),
            ),
            vec![
                format!(
                    "require on.kubernetes.context: {}, and policy `ours` names it",
                    smells("eu-prod-1", "prod")
                ),
                format!("deny on.kubernetes.namespace: {}", smells("live", "live")),
            ],
        ),
        (
            "a host that the policy names",
            Case::of(
                on_localstack(&[1.0]).replace("127.0.0.1:4566", "stack.prod.example.com:4566"),
                named("words: [prod], named: [stack.prod.example.com]"),
            ),
            vec![format!(
                "require on.localstack.endpoint: {}, and policy `ours` names it",
                smells("http://stack.prod.example.com:4566", "prod")
            )],
        ),
    ];
    for (what, case, expected) in rows {
        assert_eq!(case.said("production"), expected, "{what}");
        for found in case.of_rule("production") {
            let exception = (found.severity == Severity::Require).then_some(Exception::Production);
            assert_eq!(found.exception, exception, "{what}");
        }
    }
}

#[test]
fn protected_namespaces_are_left_alone_wherever_they_are_named() {
    let with = |selector: &str| {
        let document = on_cluster("10%").replace("labelSelectors: {app: cart}", selector);
        Case::of(document, whole("", "protectedNamespaces: [\"kube-*\"]"))
    };
    let place = "steps[0].fault.chaosMesh.NetworkChaos.selector";
    let said = |place: String, namespace: &str| {
        format!("deny {place}: namespace `{namespace}` is protected by policy `ours` (`kube-*`)")
    };
    let rows: Vec<(&str, Case, Vec<String>)> = vec![
        ("another", with("namespaces: [shop]"), vec![]),
        (
            "the experiment's own",
            Case::of(
                on_cluster("10%").replace("namespace: checkout", "namespace: kube-system"),
                staging(""),
            ),
            vec!["deny on.kubernetes.namespace: namespace `kube-system` is protected by policy `ours` (`kube-system`)".to_owned()],
        ),
        (
            "one that a selector names",
            with("namespaces: [shop, kube-system]"),
            vec![said(format!("{place}.namespaces[1]"), "kube-system")],
        ),
        (
            "one whose pods are named",
            with("pods: {kube-public: [a]}"),
            vec![said(format!("{place}.pods.kube-public"), "kube-public")],
        ),
        (
            "the one that was resolved",
            with("namespaces: [shop]").once(|plan| {
                known(plan);
                plan.cluster = plan.cluster.take().map(|mut cluster| {
                    cluster.namespace = "kube-system".to_owned();
                    cluster
                });
            }),
            vec![said("on.kubernetes.namespace".to_owned(), "kube-system")],
        ),
    ];
    for (what, case, expected) in rows {
        assert_eq!(case.said("protected-namespaces"), expected, "{what}");
    }
}

#[test]
fn figures_stay_within_bounds() {
    let with = |limits: &str| {
        let policy = staging(&format!("limits: {{{limits}}}"));
        Case::of(on_cluster("10%"), policy)
    };
    assert_all(
        "figures",
        vec![
            (
                "just as long",
                with("hold: 30s, latency: 300ms, trafficRate: 10"),
                NOTHING,
            ),
            (
                "too long",
                with("hold: 29s"),
                &["deny steps[0].hold: a hold of 30s is longer than 29s"],
            ),
            (
                "too late",
                with("latency: 299ms"),
                &[
                    "deny steps[0].fault.chaosMesh.NetworkChaos.delay.latency: a latency of 300ms is longer than 299ms",
                ],
            ),
            (
                "too much",
                with("trafficRate: 9"),
                &["deny metrics.traffic.rate: 10 requests a second are more than 9"],
            ),
            (
                "too short",
                with("baseline: 11s"),
                &["deny baseline.for: a baseline of 10s is shorter than 11s"],
            ),
        ],
    );
}

#[test]
fn no_dose_is_wider_than_the_ceiling() {
    let ceiling = || staging("blastRadius: {ceiling: 50%}");
    let wide = "is wider than 50%, the ceiling of environment `staging`";
    let latency = on_localstack(&[0.5]).replace(
        "          - {service: kinesis, operation: PutRecord, probability: 0.5}",
        "          - {service: kinesis}\n        latency: 2s",
    );
    let rows: Vec<(&str, Case, Vec<String>)> = vec![
        (
            "just as wide",
            Case::of(on_localstack(&[0.5]), ceiling()),
            vec![],
        ),
        (
            "wider",
            Case::of(on_localstack(&[0.1, 0.51]), ceiling()),
            vec![format!(
                "deny steps[1].fault.localstack.faults[0].probability: a dose of 51% {wide}"
            )],
        ),
        (
            "a rung of several",
            Case::of(on_cluster("[10%, 25%, 75%]"), ceiling()),
            vec![format!(
                "deny steps[0].blastRadius[2]: a dose of 75% {wide}"
            )],
        ),
        (
            "a latency, which knows no smaller dose",
            Case::of(latency, ceiling()),
            vec![format!(
                "deny steps[0].fault.localstack.latency: a dose of 100% {wide}"
            )],
        ),
    ];
    for (what, case, expected) in rows {
        assert_eq!(case.said("blast-radius"), expected, "{what}");
    }
}

fn laddered() -> Policy {
    staging("blastRadius: {ladder: [10%, 25%, 50%], notOlderThan: 30d}")
}

#[test]
fn a_rung_wants_a_run_that_held_at_the_one_below() {
    use Outcome::{Aborted, Deviated, Held};
    let stream = |shares: &[f64], runs| Case::of(on_localstack(shares), laddered()).after(runs);
    let other_place = || {
        let mut run = ran("stream", "25%", 1, Held);
        run.environment = "test".to_owned();
        run
    };
    let wants = |share: &str, below: &str, why: &str| {
        format!(
            "require steps[0].fault.localstack.faults[0].probability: a dose of {share} wants a run of this fault that held at {below} or more in environment `staging`: {why}"
        )
    };
    let none = "none is known here, nor where the plan was made";
    let rows: Vec<(&str, Case, Vec<String>)> = vec![
        ("the lowest rung", stream(&[0.1], vec![]), vec![]),
        ("below the lowest rung", stream(&[0.05], vec![]), vec![]),
        (
            "just above it",
            stream(&[0.11], vec![]),
            vec![wants("11%", "10%", none)],
        ),
        (
            "the second",
            stream(&[0.25], vec![]),
            vec![wants("25%", "10%", none)],
        ),
        (
            "the second after the first",
            stream(&[0.25], vec![ran("stream", "10%", 1, Held)]),
            vec![],
        ),
        (
            "the second after a wider one",
            stream(&[0.25], vec![ran("stream", "50%", 1, Held)]),
            vec![],
        ),
        (
            "the third after the second",
            stream(&[0.5], vec![ran("stream", "25%", 1, Held)]),
            vec![],
        ),
        (
            "the third after the first",
            stream(&[0.5], vec![ran("stream", "10%", 1, Held)]),
            vec![wants("50%", "25%", none)],
        ),
        (
            "the third after what is between two rungs",
            stream(&[0.5], vec![ran("stream", "24.9%", 1, Held)]),
            vec![wants("50%", "25%", none)],
        ),
        (
            "above the last after the last",
            stream(&[1.0], vec![ran("stream", "50%", 1, Held)]),
            vec![],
        ),
        (
            "another fault",
            stream(&[0.25], vec![ran("other", "10%", 1, Held)]),
            vec![wants("25%", "10%", none)],
        ),
        (
            "another environment",
            stream(&[0.25], vec![other_place()]),
            vec![wants("25%", "10%", none)],
        ),
        (
            "a run that did not hold",
            stream(&[0.25], vec![ran("stream", "10%", 1, Deviated)]),
            vec![wants(
                "25%",
                "10%",
                "none held, the last was r-stream-1 (deviated)",
            )],
        ),
        (
            "a run that held, and one that was aborted since",
            stream(
                &[0.25],
                vec![
                    ran("stream", "10%", 1, Aborted),
                    ran("stream", "10%", 2, Held),
                ],
            ),
            vec![],
        ),
        (
            "a run that is just young enough",
            stream(&[0.25], vec![ran("stream", "10%", 30, Held)]),
            vec![],
        ),
        (
            "a run that is too old",
            stream(&[0.25], vec![ran("stream", "10%", 31, Held)]),
            vec![wants(
                "25%",
                "10%",
                "r-stream-31 held, but 31d ago, and no more than 30d count",
            )],
        ),
        (
            "a run that is too old when it begins",
            stream(&[0.25], vec![ran("stream", "10%", 30, Held)]).running("2026-03-04T10:00:01Z"),
            vec![wants(
                "25%",
                "10%",
                "r-stream-30 held, but 30d ago, and no more than 30d count",
            )],
        ),
        (
            "rung by rung in one plan",
            stream(&[0.1, 0.25, 0.5], vec![]),
            vec![],
        ),
        (
            "the first rung left out in one plan",
            stream(&[0.25, 0.5], vec![]),
            vec![wants("25%", "10%", none)],
        ),
        (
            "no ladder",
            Case::of(on_localstack(&[1.0]), staging("")),
            vec![],
        ),
        (
            "rungs of a cluster",
            Case::of(on_cluster("[10%, 25%, 50%]"), laddered()),
            vec![],
        ),
        (
            "a run in a cluster",
            Case::of(on_cluster("25%"), laddered()).after(vec![ran("cart", "10%", 1, Held)]),
            vec![],
        ),
    ];
    for (what, case, expected) in rows {
        assert_eq!(case.said("ladder"), expected, "{what}");
        for found in case.of_rule("ladder") {
            assert_eq!(found.exception, Some(Exception::SkippedRung), "{what}");
        }
    }
}

#[test]
fn a_plan_carries_the_run_that_filled_its_rung_to_another_machine() {
    let carrying = |spoil| Case::of(on_localstack(&[0.25]), laddered()).once(spoil);
    let held = || carrying(|plan| plan.history.runs = vec![ran("stream", "10%", 1, Outcome::Held)]);
    let deviated =
        || carrying(|plan| plan.history.runs = vec![ran("stream", "10%", 1, Outcome::Deviated)]);
    assert_eq!(held().said("ladder"), [""; 0]);
    assert_eq!(deviated().said("ladder").len(), 1);
    // A machine that knows the run goes by what it knows.
    let known = vec![ran("stream", "10%", 1, Outcome::Deviated)];
    assert_eq!(held().after(known).said("ladder").len(), 1);
}

#[test]
fn a_skipped_rung_names_the_one_that_comes_next() {
    let way = |document: String, runs| {
        let case = Case::of(document, laddered()).after(runs);
        let found = case.of_rule("ladder");
        found.last().map(|found| found.way_out.clone())
    };
    let next = |written: &str| {
        Some(format!(
            "{written} comes next: run that first, or put it into this plan before this dose; the rungs are 10%, 25%, 50%"
        ))
    };
    let held = |share| vec![ran("stream", share, 1, Outcome::Held)];
    assert_eq!(
        way(on_localstack(&[0.5]), vec![]),
        next("`probability: 0.1`")
    );
    assert_eq!(
        way(on_localstack(&[0.5]), held("10%")),
        next("`probability: 0.25`")
    );
    assert_eq!(
        way(on_cluster("[10%, 50%]"), vec![]),
        next("`blastRadius: 25%`")
    );
    let latency = on_localstack(&[0.5]).replace(
        "        faults:\n          - {service: kinesis, operation: PutRecord, probability: 0.5}",
        "        latency: 2s",
    );
    let whole = "it touches everything and knows no smaller dose, so that only an approval can let it be run";
    assert_eq!(way(latency, vec![]), Some(whole.to_owned()));
}

#[test]
fn what_held_again_and_again_proves_nothing_new() {
    use Outcome::{Aborted, Deviated, Held, Refused};
    let policy = || staging("sameDose: {atMost: 3}");
    let runs = |outcomes: &[Outcome]| {
        let days = 1..;
        let all = outcomes.iter().zip(days);
        all.map(|(outcome, days)| ran("stream", "25%", days, *outcome))
            .collect::<Vec<_>>()
    };
    let again = |shares: &[f64], runs| Case::of(on_localstack(shares), policy()).after(runs);
    let with = |share: &str| {
        let mut all = runs(&[Held, Held, Held]);
        all[0] = ran("stream", share, 1, Held);
        all
    };
    let stale = |held: u32| {
        vec![format!(
            "require steps[0].fault.localstack.faults[0].probability: the last {held} runs of this fault in environment `staging` held at 25%: one more at this dose proves nothing new"
        )]
    };
    let rows: Vec<(&str, Case, Vec<String>)> = vec![
        ("never run", again(&[0.25], vec![]), vec![]),
        ("two greens", again(&[0.25], runs(&[Held, Held])), vec![]),
        (
            "three greens",
            again(&[0.25], runs(&[Held, Held, Held])),
            stale(3),
        ),
        ("four greens", again(&[0.25], runs(&[Held; 4])), stale(4)),
        ("a wider dose", again(&[0.5], runs(&[Held; 4])), vec![]),
        ("a narrower dose", again(&[0.1], runs(&[Held; 4])), vec![]),
        (
            "a wider dose at the end of the plan",
            again(&[0.25, 0.5], runs(&[Held; 4])),
            vec![],
        ),
        (
            "a red among them",
            again(&[0.25], runs(&[Held, Held, Deviated, Held])),
            vec![],
        ),
        (
            "aborted and refused ones among them",
            again(&[0.25], runs(&[Held, Aborted, Held, Refused, Held])),
            stale(3),
        ),
        (
            "another dose among them",
            again(&[0.25], with("50%")),
            vec![],
        ),
        (
            "another fault",
            again(&[0.25], vec![ran("other", "25%", 1, Held); 4]),
            vec![],
        ),
        (
            "no such rule",
            Case::of(on_localstack(&[0.25]), staging("")).after(runs(&[Held; 9])),
            vec![],
        ),
    ];
    for (what, case, expected) in rows {
        assert_eq!(case.said("same-dose"), expected, "{what}");
        for found in case.of_rule("same-dose") {
            assert_eq!(found.exception, Some(Exception::SameDose), "{what}");
        }
    }
}

#[test]
fn the_way_on_from_a_dose_is_the_next_rung() {
    let way = |share: f64, lines: &str| {
        let percent = format!("{}%", share * 100.0);
        let runs = vec![ran("stream", &percent, 1, Outcome::Held); 3];
        let policy = staging(&format!("sameDose: {{atMost: 3}}\n{lines}"));
        let case = Case::of(on_localstack(&[share]), policy).after(runs);
        case.of_rule("same-dose").remove(0).way_out
    };
    let ladder = "blastRadius: {ladder: [10%, 25%, 50%], ceiling: 75%}";
    assert_eq!(
        way(0.25, ladder),
        "go on to `probability: 0.5`, or break something else"
    );
    assert_eq!(
        way(0.5, ladder),
        "go on to `probability: 0.75`, or break something else"
    );
    assert_eq!(
        way(0.75, ladder),
        "break something else: this dose is as wide as it may be"
    );
}

#[test]
fn a_person_is_there_where_one_is_wanted() {
    let case = |unattended: &str, attendance| Case {
        attendance,
        ..Case::of(
            on_localstack(&[1.0]),
            staging(&format!("unattended: {unattended}")),
        )
    };
    let message = "environment: in environment `staging` no run begins without a person at a terminal, and nobody is there now";
    let (warn, deny) = (format!("warn {message}"), format!("deny {message}"));
    let now = "2026-03-04T10:00:00Z";
    assert_all(
        "unattended",
        vec![
            (
                "a person",
                case("denied", Attendance::Person).running(now),
                NOTHING,
            ),
            (
                "nobody, where that may be",
                case("allowed", Attendance::Nobody).running(now),
                NOTHING,
            ),
            (
                "nobody, while it is planned",
                case("denied", Attendance::Nobody),
                &[&warn],
            ),
            (
                "nobody",
                case("denied", Attendance::Nobody).running(now),
                &[&deny],
            ),
        ],
    );
}

#[test]
fn a_policy_that_others_may_write_is_told() {
    let open = |paths: &[&str]| {
        let open_to_others = paths.iter().map(|path| (*path).to_owned()).collect();
        let policy = Policy {
            open_to_others,
            ..staging("")
        };
        Case::of(on_localstack(&[1.0]), policy)
    };
    let said = |path: &str| {
        format!(
            "warn environment: others than its owner may write {path}, and so decide what policy `ours` allows"
        )
    };
    let (file, folder) = (said("/x/chaos-policy.yaml"), said("/x"));
    assert_all(
        "writable-policy",
        vec![
            ("its owner alone", open(&[]), NOTHING),
            ("a file", open(&["/x/chaos-policy.yaml"]), &[&file]),
            (
                "a file and its folder",
                open(&["/x", "/x/chaos-policy.yaml"]),
                &[&folder, &file],
            ),
            (
                "also when a run begins",
                open(&["/x"]).running("2026-03-04T10:00:00Z"),
                &[&folder],
            ),
        ],
    );
}

#[test]
fn an_approval_is_wanted_as_the_policy_says() {
    let wants = |approval: &str| {
        let policy = staging(&format!("approval: {{{approval}}}"));
        Case::of(on_localstack(&[1.0]), policy)
    };
    assert_all(
        "approval",
        vec![
            ("none", wants("mode: none"), NOTHING),
            (
                "one",
                wants("mode: confirm, expiresAfter: 10m"),
                &[
                    "require environment: environment `staging` wants a person's approval, typed at a terminal; it counts for 10m",
                ],
            ),
            (
                "two of some, for one run",
                wants(
                    "mode: confirm, count: 2, approvers: [ada, ben], requester: denied, singleUse: true",
                ),
                &[
                    "require environment: environment `staging` wants the approvals of 2 persons (`ada` or `ben`), not that of whoever made the plan, typed at a terminal, for one run; it counts for 30m",
                ],
            ),
            (
                "one from the sandbox's own process, under a policy that wants it",
                Case {
                    sandbox: Some(OwnSandbox {
                        app_url: "http://127.0.0.1:7700".to_owned(),
                        aws_url: "http://127.0.0.1:4566".to_owned(),
                    }),
                    ..wants("mode: confirm")
                },
                &[
                    "require environment: environment `staging` wants a person's approval, typed at a terminal; it counts for 30m",
                ],
            ),
        ],
    );
}

#[test]
fn the_built_in_policy_teaches_how_to_get_another() {
    let on = LOCALSTACK.replace("127.0.0.1", "10.0.0.7");
    let document = experiment(&on, &failing(&[1.0])).replace("staging", "local");
    let elsewhere = document.replace("127.0.0.1:7700", "shop.example.com");
    let cluster = on_cluster("10%").replace("environment: staging", "environment: local");
    for document in [on_localstack(&[1.0]), elsewhere, cluster] {
        let denied = local(document).findings().into_iter();
        let denied: Vec<_> = denied
            .filter(|found| found.severity == Severity::Deny)
            .collect();
        assert!(!denied.is_empty());
        for found in denied {
            for line in [
                "only this machine",
                "chaos init",
                "--policy FILE",
                "chaos-policy.yaml",
            ] {
                assert!(found.way_out.contains(line), "{found:?}");
            }
        }
    }
    let kind = on_cluster("10%").replace("environment: staging", "environment: local");
    for (context, expected) in [("kind-test", 0), ("minikube", 0), ("gke_x", 1)] {
        let case = local(kind.replace("context: staging-eu", &format!("context: {context}")));
        assert_eq!(case.of_rule("environment").len(), expected, "{context}");
    }
}
