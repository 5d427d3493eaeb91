//! The built-in policy: one row a case, and the only way to an admitted plan.

mod calendar;
mod case;
mod page;
mod random;
mod rules;

use chaos_gameday::faults::{Fault, LocalStackFault};
use chaos_gameday::metrics::{
    Access, Auth, BearerToken, CommandMetric, Metric, PrometheusSpec, ScrapeSpec, ScrapeTarget,
    TrafficSpec,
};
use chaos_gameday::model::approval::{Approval, ApprovalFlaw, ApprovalMode, SealedApproval};
use chaos_gameday::model::ids::Digest;
use chaos_gameday::model::secret::SecretText;
use chaos_gameday::model::slo::Reaction;
use chaos_gameday::model::units::Span;
use chaos_gameday::plan::document::LocalStackWorld;
use chaos_gameday::plan::{Plan, StoredPlan};
use chaos_gameday::policy::{
    self, Admission, AdmittedPlan, Facts, OwnSandbox, RULES, Refusal, Severity,
};
use jiff::Timestamp;

use crate::support::engine::{Scene, person_at_desk};

const AWS: &str = "http://127.0.0.1:7701";
const APP: &str = "http://127.0.0.1:5500";

/// A plan that the built-in policy has nothing against, on the sandbox's ports.
async fn decent() -> Plan {
    let mut plan = Scene::healthy().plan(policy::built_in().identity()).await;
    plan.experiment.on.localstack = Some(LocalStackWorld {
        endpoint: AWS.to_owned(),
        region: None,
    });
    plan.experiment.metrics.traffic = Some(traffic(&format!("{APP}/orders")));
    plan.steps[0].prepared.world.endpoint = AWS.to_owned();
    plan
}

fn traffic(url: &str) -> TrafficSpec {
    TrafficSpec {
        url: url.to_owned(),
        method: "GET".to_owned(),
        headers: std::collections::BTreeMap::new(),
        body: None,
        rate: 10.0,
        timeout: Span::from_secs(1),
        max_in_flight: 10,
        window: Span::from_secs(5),
    }
}

fn prometheus(url: &str) -> Option<PrometheusSpec> {
    Some(PrometheusSpec {
        url: url.to_owned(),
        timeout: Span::from_secs(5),
        access: Access::default(),
    })
}

fn pages(url: &str) -> Option<ScrapeSpec> {
    Some(ScrapeSpec {
        targets: vec![ScrapeTarget {
            url: url.to_owned(),
            labels: std::collections::BTreeMap::new(),
        }],
        every: Span::from_secs(1),
        timeout: Span::from_secs(1),
        access: Access::default(),
    })
}

fn token() -> Access {
    Access {
        auth: Some(Auth::Bearer(BearerToken::File("/token".into()))),
        ..Access::default()
    }
}

fn header(name: &str, text: &str) -> Access {
    Access {
        headers: [(name.to_owned(), SecretText::new(text))].into(),
        ..Access::default()
    }
}

fn own_sandbox() -> OwnSandbox {
    OwnSandbox {
        app_url: APP.to_owned(),
        aws_url: AWS.to_owned(),
    }
}

/// `severity rule place` of every finding.
fn findings(plan: &Plan, sandbox: Option<&OwnSandbox>) -> Vec<String> {
    let policy = policy::built_in();
    let facts = Facts {
        sandbox,
        ..Facts::about(plan, &policy)
    };
    policy::evaluate(&facts)
        .into_iter()
        .map(|found| format!("{} {} {}", found.severity.word(), found.rule, found.place))
        .collect()
}

#[tokio::test]
async fn each_rule_denies_its_own_case_and_points_at_its_place() {
    type Spoil = fn(&mut Plan);
    let rows: &[(&str, Spoil, &[&str])] = &[
        ("nothing wrong", |_| {}, &[]),
        (
            "an unknown environment",
            |plan| plan.experiment.environment = "staging".to_owned(),
            &["deny environment environment"],
        ),
        (
            "a LocalStack elsewhere",
            |plan| {
                plan.experiment.on.localstack = Some(LocalStackWorld {
                    endpoint: "http://10.0.0.7:4566".to_owned(),
                    region: None,
                });
            },
            &["deny environment on.localstack.endpoint"],
        ),
        (
            "traffic to elsewhere",
            |plan| plan.experiment.metrics.traffic = Some(traffic("https://shop.example.com/")),
            &["deny hosts metrics.traffic.url"],
        ),
        (
            "a page elsewhere",
            |plan| plan.experiment.metrics.scrape = pages("https://shop.example.com/metrics"),
            &["deny hosts metrics.scrape.targets[0].url"],
        ),
        (
            "a Prometheus elsewhere, which is only read",
            |plan| plan.experiment.metrics.prometheus = prometheus("http://prom.example.com"),
            &[],
        ),
        (
            "a token that travels in the open",
            |plan| {
                plan.experiment.metrics.prometheus =
                    prometheus("http://prom.example.com").map(|spec| PrometheusSpec {
                        access: token(),
                        ..spec
                    });
            },
            &["deny credentials metrics.prometheus.url"],
        ),
        (
            "a secret header that travels in the open",
            |plan| {
                plan.experiment.metrics.scrape =
                    pages("http://10.0.0.7/metrics").map(|spec| ScrapeSpec {
                        access: header("x-key", "${secret:KEY}"),
                        ..spec
                    });
            },
            &[
                "deny hosts metrics.scrape.targets[0].url",
                "deny credentials metrics.scrape.targets[0].url",
            ],
        ),
        (
            "a token on a way that nobody else can read",
            |plan| {
                let with_token = |spec| PrometheusSpec {
                    access: token(),
                    ..spec
                };
                plan.experiment.metrics.prometheus =
                    prometheus("https://prom.example.com").map(with_token);
            },
            &[],
        ),
        (
            "the Prometheus of production",
            |plan| plan.experiment.metrics.prometheus = prometheus("https://prom.prod.example.com"),
            &["deny production metrics.prometheus.url"],
        ),
        (
            "the tenant of production, and a page that says it is",
            |plan| {
                plan.experiment.metrics.prometheus =
                    prometheus("http://127.0.0.1:9090").map(|spec| PrometheusSpec {
                        access: header("X-Scope-OrgID", "shop-prod"),
                        ..spec
                    });
                let mut spec = pages(&format!("{APP}/live/metrics")).expect("pages");
                let label = ("env".to_owned(), "production".to_owned());
                spec.targets[0].labels.extend([label]);
                plan.experiment.metrics.scrape = Some(spec);
            },
            &[
                "deny production metrics.prometheus.headers.X-Scope-OrgID",
                "deny production metrics.scrape.targets[0].url",
                "deny production metrics.scrape.targets[0].labels.env",
            ],
        ),
        (
            "a metric whose name only sounds like production",
            |plan| plan.experiment.slos[0].metric = Metric::Prometheus("live_orders".to_owned()),
            &[],
        ),
        (
            "a label that smells of production",
            |plan| {
                let label = ("tier".to_owned(), "eu-prod-1".to_owned());
                plan.experiment.labels.extend([label]);
            },
            &["deny production metadata.labels.tier"],
        ),
        (
            "a header that names production",
            |plan| {
                let mut spec = traffic(&format!("{APP}/orders"));
                let header = ("host".to_owned(), "shop.production.example.com".to_owned());
                spec.headers.extend([header]);
                plan.experiment.metrics.traffic = Some(spec);
            },
            &["deny production metrics.traffic.headers.host"],
        ),
        (
            "a command that asks production",
            |plan| {
                plan.experiment.slos[0].metric = Metric::Command(CommandMetric {
                    argv: ["curl", "https://api.prod.example.com"]
                        .map(str::to_owned)
                        .to_vec(),
                    json: None,
                    timeout: Span::from_secs(1),
                });
            },
            &["deny production slos[0].command"],
        ),
        (
            "a hold of an hour",
            |plan| plan.experiment.steps[0].hold = Span::from_secs(3_600),
            &["deny figures steps[0].hold"],
        ),
        (
            "a latency of a minute",
            |plan| {
                plan.experiment.steps[0].fault = Fault::LocalStack(LocalStackFault {
                    endpoint: AWS.to_owned(),
                    faults: Vec::new(),
                    latency: Some(Span::from_secs(60)),
                });
            },
            &["deny figures steps[0].fault.localstack.latency"],
        ),
        (
            "no baseline to speak of",
            |plan| plan.experiment.baseline = Span::from_millis(10),
            &["deny figures baseline.for"],
        ),
        (
            "traffic like a load test",
            |plan| {
                plan.experiment.metrics.traffic = Some(TrafficSpec {
                    rate: 5_000.0,
                    ..traffic(&format!("{APP}/orders"))
                });
            },
            &["deny figures metrics.traffic.rate"],
        ),
        (
            "no SLO that could end the run",
            |plan| plan.experiment.slos[0].slo.on_breach = Reaction::Record,
            &["deny gates slos"],
        ),
    ];
    for (case, spoil, expected) in rows {
        let mut plan = decent().await;
        spoil(&mut plan);
        // No Prometheus fits a sandbox of one's own, which is a rule by itself.
        let own = plan.experiment.metrics.prometheus.is_none();
        assert_eq!(
            findings(&plan, own.then(own_sandbox).as_ref())
                .into_iter()
                .filter(|found| found.starts_with("deny"))
                .collect::<Vec<_>>(),
            *expected,
            "{case}"
        );
    }
}

#[tokio::test]
async fn gates_that_can_hardly_judge_are_warned_about() {
    let own = own_sandbox();
    let mut patient = decent().await;
    patient.experiment.slos[0].slo.patience = Span::from_secs(10);
    assert_eq!(findings(&patient, Some(&own)), ["warn gates slos[0].for"]);
    let mut rare = decent().await;
    rare.experiment.slos[0].slo.every = Span::from_secs(10);
    assert_eq!(findings(&rare, Some(&own)), ["warn gates slos[0].every"]);
}

#[tokio::test]
async fn only_the_sandbox_of_this_process_needs_no_approval() {
    let approval = vec!["require approval environment".to_owned()];
    let none: Vec<String> = Vec::new();
    let own = own_sandbox();
    assert_eq!(findings(&decent().await, Some(&own)), none);
    assert_eq!(findings(&decent().await, None), approval);

    let mut elsewhere = decent().await;
    elsewhere.steps[0].prepared.world.endpoint = "http://127.0.0.1:4566".to_owned();
    assert_eq!(findings(&elsewhere, Some(&own)), approval);

    let mut other_traffic = decent().await;
    other_traffic.experiment.metrics.traffic = Some(traffic("http://127.0.0.1:55001/orders"));
    assert_eq!(findings(&other_traffic, Some(&own)), approval);

    for url in ["http://127.0.0.1:9090", "https://prom.example.com"] {
        let mut read = decent().await;
        read.experiment.metrics.prometheus = prometheus(url);
        let expected = [
            "deny own-sandbox metrics.prometheus",
            "require approval environment",
        ];
        assert_eq!(findings(&read, Some(&own)), expected, "{url}");
        assert_eq!(findings(&read, None), approval, "{url}");
    }
    for (url, expected) in [
        (format!("{APP}/metrics"), &none),
        ("http://127.0.0.1:55001/metrics".to_owned(), &approval),
    ] {
        let mut scraped = decent().await;
        scraped.experiment.metrics.scrape = pages(&url);
        assert_eq!(findings(&scraped, Some(&own)), *expected, "{url}");
    }

    for (argv, expected) in [
        (vec!["chaos", "sandbox", "status", "--url", APP], &none),
        (vec!["chaos", "run", "p-0000000000"], &approval),
        (vec!["rm", "-rf", "/srv"], &approval),
    ] {
        let mut program = decent().await;
        program.experiment.slos[0].metric = Metric::Command(CommandMetric {
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            json: None,
            timeout: Span::from_secs(1),
        });
        assert_eq!(findings(&program, Some(&own)), *expected, "{argv:?}");
    }
}

#[test]
fn rules_have_names_of_their_own_and_say_what_they_are_for() {
    let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), RULES.len());
    assert!(RULES.iter().all(|rule| !rule.purpose.is_empty()));
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn approval(stored: &StoredPlan) -> Approval {
    let times = [at("2026-01-01T10:00:00Z"), at("2026-01-01T10:30:00Z")];
    policy::answer(stored, &person_at_desk(), ApprovalMode::Typed, times)
}

/// Why the plan is not admitted at noon of that day's 10:10, or nothing.
async fn refusal(approvals: impl Fn(&StoredPlan) -> Vec<Approval>) -> Option<Refusal> {
    let stored = StoredPlan::lock(decent().await).expect("a plan");
    let approvals = approvals(&stored);
    admitted(stored, None, &approvals).err()
}

/// Why each approval does not count.
fn flaws(refusal: Option<Refusal>) -> Vec<ApprovalFlaw> {
    let Some(Refusal::Unapproved(standing)) = refusal else {
        panic!("{refusal:?}");
    };
    let flaws = standing.said.into_iter().filter_map(|said| said.flaw);
    flaws.collect()
}

/// What the built-in policy makes of it at 10:10 of that day.
fn admitted(
    stored: StoredPlan,
    sandbox: Option<&OwnSandbox>,
    approvals: &[Approval],
) -> Result<AdmittedPlan, Refusal> {
    let sealed = approvals.iter().cloned();
    let sealed: Vec<_> = sealed.map(|one| SealedApproval::seal(one, None)).collect();
    let (policy, person) = (policy::built_in(), person_at_desk());
    let by = Admission {
        sandbox,
        approvals: &sealed,
        ..Admission::by(&policy, at("2026-01-01T10:10:00Z"), &person)
    };
    policy::admit(stored, by)
}

#[tokio::test]
async fn an_approval_counts_for_its_digest_and_its_time_only() {
    assert_eq!(refusal(|stored| vec![approval(stored)]).await, None);
    assert_eq!(flaws(refusal(|_| Vec::new()).await), []);
    let other = refusal(|stored| {
        vec![Approval {
            digest: Digest::of(b"another plan"),
            ..approval(stored)
        }]
    });
    assert_eq!(flaws(other.await), [ApprovalFlaw::OtherDigest]);
    let expired = refusal(|stored| {
        vec![Approval {
            expires_at: at("2026-01-01T10:10:00Z"),
            ..approval(stored)
        }]
    });
    let at_ten_past = at("2026-01-01T10:10:00Z");
    assert_eq!(
        flaws(expired.await),
        [ApprovalFlaw::Expired { at: at_ten_past }]
    );
    let early = refusal(|stored| {
        vec![Approval {
            approved_at: at("2026-01-01T10:20:00Z"),
            ..approval(stored)
        }]
    });
    assert_eq!(flaws(early.await), [ApprovalFlaw::FromTheFuture]);
    let endless = refusal(|stored| {
        vec![Approval {
            expires_at: at("2036-01-01T10:10:00Z"),
            ..approval(stored)
        }]
    });
    assert_eq!(flaws(endless.await), [ApprovalFlaw::TooLong]);
}

#[tokio::test]
async fn a_machine_cannot_write_itself_a_yes() {
    let forged = refusal(|stored| {
        vec![Approval {
            mode: ApprovalMode::NotNeeded,
            ..approval(stored)
        }]
    });
    assert_eq!(flaws(forged.await), [ApprovalFlaw::NobodysAnswer]);
}

#[tokio::test]
async fn a_plan_made_under_other_rules_is_refused() {
    let mut plan = decent().await;
    plan.policy.digest = Digest::of(b"laxer rules");
    let stored = StoredPlan::lock(plan).expect("a plan");
    let yes = approval(&stored);
    let refused = admitted(stored, None, &[yes]);
    assert!(matches!(refused, Err(Refusal::OtherPolicy { .. })));
}

#[tokio::test]
async fn a_denied_plan_is_refused_though_it_was_approved() {
    let mut plan = decent().await;
    plan.experiment.environment = "production".to_owned();
    let stored = StoredPlan::lock(plan).expect("a plan");
    let yes = approval(&stored);
    let refused = admitted(stored, Some(&own_sandbox()), &[yes]);
    let Err(Refusal::Denied(findings)) = refused else {
        panic!("{refused:?}");
    };
    assert!(
        findings
            .iter()
            .all(|found| found.severity == Severity::Deny)
    );
}

#[tokio::test]
async fn a_plan_is_admitted_by_its_own_facts_only() {
    // Admission takes no facts of another plan; this one's deny it, at home in the sandbox or not.
    let mut denied = decent().await;
    denied.experiment.environment = "production".to_owned();
    let stored = StoredPlan::lock(denied).expect("a plan that can be written");
    let admitted = admitted(stored, Some(&own_sandbox()), &[]);
    assert!(admitted.is_err(), "a denied plan got in");
}

#[tokio::test]
async fn a_command_that_asks_elsewhere_is_not_held_by_the_sandbox() {
    let mut plan = decent().await;
    plan.experiment.slos[0].metric = Metric::Command(CommandMetric {
        argv: ["chaos", "sandbox", "status", "http://10.0.0.7/delete?x="]
            .map(str::to_owned)
            .to_vec(),
        json: None,
        timeout: Span::from_secs(1),
    });
    assert!(!own_sandbox().holds(&plan));
}
