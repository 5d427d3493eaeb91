//! docs/policy-rules.md: every rule with what it prints, made from the rules themselves.

use std::fmt::Write as _;

use chaos_gameday::metrics::{Access, Auth, BearerToken};
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::rehearsal::{Now, Rehearsal};
use chaos_gameday::model::sample::{Reading, SloState};
use chaos_gameday::model::slo::Reaction;
use chaos_gameday::plan::Plan;
use chaos_gameday::policy::{self, Attendance, Moment, OwnSandbox, Policy, RULES, Severity};

use super::case::{
    Case, cluster, experiment, failing, on_cluster, on_localstack, ran, resolve, staging, whole,
};
use crate::support::sources::root;

const PAGE: &str = "docs/policy-rules.md";

const HEAD: &str = "# The rules of a policy

Every rule, what it is for, and what it prints: at 80 columns, as `chaos plan` does, or as `chaos run`
does where the run is about to begin. This page is made from the rules: `make docs` writes it again,
and a test compares. What other rules say of the same plan is left out.

| severity | what it means |
|---|---|
| `deny` | the plan cannot run: `chaos plan` and `chaos run` end with exit code 3 |
| `require` | it runs only once a person has approved it (exit code 4 until then); where the finding says what to allow, the approval has to allow it by name |
| `warn` | a reader should know |

All rules are asked while a plan is made and once more when its run is about to begin, with the runs
that this state folder knows by then.

## What counts as the same fault, and as a run that held

Two faults are the same where nothing tells them apart but their dose and the address of their
platform: another operation, another error code or another latency is another fault. The dose of rules
on LocalStack is the highest `probability` among them, and of a latency, which touches every call, 100%;
the dose of a fault in a cluster is its blast radius.

A run counts where it was: in the environment of its plan. Of each journal only the head and the tail
are read, so that long runs cost no more than short ones; what ran the same fault in the same
environment is then read whole, and counts only if every line of it is what was written: that costs a
few milliseconds for a run of minutes, about two seconds for one of a million events, each time that a plan is
made, looked at or run. Where the environment has neither `ladder` nor `sameDose`, none is read. A run
that goes on, died, is damaged, or was recorded before journals told doses counts for nothing. A
plan carries what was known where it was made, so that whoever approves or runs it elsewhere judges by the
same runs and by their own.

For `ladder`, a run at the rung or above it counts, and so does an earlier step or rung of the same
plan: each is judged before the next goes in. For `same-dose`, only runs that held count; one that
deviated or got stuck, or another dose, begins the row anew, and one that was refused or aborted, or
that could not judge, says nothing either way.

## Windows and freezes

They are what the clock on the wall says in their time zone. A window over midnight belongs to the day
on which it begins. An hour that the clocks skip in spring is in no window; one that they repeat in
autumn is in its window twice. A freeze is whole days, the last one included. Only the beginning of a
run counts: one that begins in its window may end after it.
";

/// What a rule says in one case.
struct Example {
    rule: &'static str,
    /// The case, as a sentence.
    when: &'static str,
    /// What the policy says about it, as it stands in its file.
    policy: &'static str,
    case: Case,
}

fn example(rule: &'static str, when: &'static str, policy: &'static str, case: Case) -> Example {
    Example {
        rule,
        when,
        policy,
        case,
    }
}

/// An example under a policy with these lines about its environment `staging`.
fn under(rule: &'static str, when: &'static str, lines: &'static str, document: String) -> Example {
    example(rule, when, lines, Case::of(document, staging(lines)))
}

fn built_in() -> Policy {
    policy::built_in()
}

fn known(plan: &mut Plan) {
    resolve(plan);
    plan.cluster = Some(cluster());
}

fn targets() -> Vec<Example> {
    let on = "localstack: {endpoint: \"http://stack.example.com:4566\"}";
    let elsewhere = experiment(on, &failing(&[1.0]));
    let locally = elsewhere.replace("environment: staging", "environment: local");
    let proof = "proof: {localstack: {hosts: [\"stack.example.com:4567\"]}}";
    let cluster_proof = "proof:\n  kubernetes:\n    contexts: [\"staging-*\"]\n    clusterUids: [0b2c]\n    namespaceLabels: {env: test}";
    let traffic = on_localstack(&[1.0]).replace("127.0.0.1:7700", "shop.example.com");
    let denied = "deniedHosts: [\"*.example.com\"]";
    vec![
        example(
            "environment",
            "Without a policy, under the built-in one, an environment that it does not know.",
            "",
            Case::of(on_localstack(&[1.0]), built_in()),
        ),
        example(
            "environment",
            "Without a policy, a LocalStack elsewhere.",
            "",
            Case::of(locally, built_in()),
        ),
        under(
            "environment",
            "Another LocalStack than that of the environment.",
            proof,
            elsewhere.clone(),
        ),
        example(
            "environment",
            "A cluster that is not the one that the environment is.",
            cluster_proof,
            Case::of(on_cluster("10%"), staging(cluster_proof)).once(known),
        ),
        under(
            "hosts",
            "Traffic to somebody else.",
            "traffic: {hosts: [loopback]}",
            traffic,
        ),
        example(
            "hosts",
            "A host that is denied whatever the environment.",
            denied,
            Case::of(
                elsewhere,
                whole(
                    "proof: {localstack: {hosts: [\"stack.example.com\"]}}",
                    denied,
                ),
            ),
        ),
    ]
}

fn secrets_and_sandboxes() -> Vec<Example> {
    let prometheus = |url: &str| {
        on_localstack(&[1.0]).replace("slos:", &format!("  prometheus: {{url: \"{url}\"}}\nslos:"))
    };
    let mut own = Case::of(
        prometheus("http://127.0.0.1:9090").replace("environment: staging", "environment: sandbox"),
        built_in(),
    );
    own.sandbox = Some(OwnSandbox {
        app_url: "http://127.0.0.1:7700".to_owned(),
        aws_url: "http://127.0.0.1:4566".to_owned(),
    });
    let open = Case::of(prometheus("http://prometheus.example.com"), staging("")).once(|plan| {
        let spec = plan.experiment.metrics.prometheus.as_mut();
        spec.expect("a Prometheus").access = Access {
            auth: Some(Auth::Bearer(BearerToken::File("/token".into()))),
            ..Access::default()
        };
    });
    vec![
        example("credentials", "A token on its way in the open.", "", open),
        example(
            "own-sandbox",
            "`chaos run --sandbox`, with a Prometheus that cannot know that sandbox.",
            "",
            own,
        ),
    ]
}

fn production() -> Vec<Example> {
    let document = on_cluster("10%").replace("staging-eu", "eu-prod-1");
    let proof = "proof: {kubernetes: {contexts: [eu-prod-1]}}";
    let named = "production: {named: [eu-prod-1]}";
    let system = on_cluster("10%").replace("namespace: checkout", "namespace: kube-system");
    vec![
        example(
            "production",
            "Something that smells of production.",
            "",
            Case::of(document.clone(), staging(proof)),
        ),
        example(
            "production",
            "The same, where the policy names it.",
            named,
            Case::of(document, whole(proof, named)),
        ),
        example(
            "protected-namespaces",
            "A namespace that keeps the cluster alive.",
            "protectedNamespaces: [\"kube-*\"]",
            Case::of(system, whole("", "protectedNamespaces: [\"kube-*\"]")),
        ),
    ]
}

fn doses() -> Vec<Example> {
    let ladder = "blastRadius: {ladder: [10%, 25%, 50%], notOlderThan: 30d}";
    let after = |days, outcome| {
        let runs = vec![ran("stream", "25%", days, outcome)];
        Case::of(on_localstack(&[0.5]), staging(ladder)).after(runs)
    };
    let three = "blastRadius: {ladder: [10%, 25%, 50%]}\nsameDose: {atMost: 3}";
    let greens = (1..4).map(|days| ran("stream", "25%", days, Outcome::Held));
    vec![
        under(
            "figures",
            "A hold that is too long.",
            "limits: {hold: 20s}",
            on_localstack(&[1.0]),
        ),
        under(
            "blast-radius",
            "A rung above the ceiling.",
            "blastRadius: {ceiling: 50%}",
            on_cluster("[10%, 75%]"),
        ),
        under(
            "ladder",
            "Half of everything at once, and nothing was run before.",
            ladder,
            on_localstack(&[0.5]),
        ),
        example(
            "ladder",
            "The run at the rung below did not hold.",
            ladder,
            after(1, Outcome::Deviated),
        ),
        example(
            "ladder",
            "It held too long ago.",
            ladder,
            after(45, Outcome::Held),
        ),
        example(
            "same-dose",
            "The fault held three times at the same dose: three greens are no proof.",
            three,
            Case::of(on_localstack(&[0.25]), staging(three)).after(greens.collect()),
        ),
    ]
}

fn rehearsed(plan: &mut Plan, now: Now) {
    plan.rehearsals = vec![Rehearsal {
        slo: "errors".to_owned(),
        now,
        past: None,
        freshness: None,
        warnings: Vec::new(),
    }];
}

fn gates() -> Vec<Example> {
    let patient = on_localstack(&[1.0]).replace("for: 5s", "for: 30s");
    let flawed = Case::of(on_localstack(&[1.0]), staging("")).once(|plan| {
        let why = "the query answers with 2 series where one is needed".to_owned();
        let way_out = "wrap it in `sum(…)`, `max(…)` or another aggregation".to_owned();
        rehearsed(plan, Now::Flawed { why, way_out });
    });
    let breaching = Case::of(on_localstack(&[1.0]), staging("")).once(|plan| {
        assert_eq!(plan.experiment.slos[0].slo.on_breach, Reaction::Rollback);
        let (reading, state) = (Reading::Value(0.031), SloState::Breaching);
        rehearsed(plan, Now::Read { reading, state });
    });
    vec![
        under(
            "gates",
            "Fewer SLOs that can end the run than the policy wants.",
            "gates: {atLeast: 2}",
            on_localstack(&[1.0]),
        ),
        under(
            "gates",
            "An SLO whose patience is as long as the hold.",
            "gates: {atLeast: 1}",
            patient,
        ),
        example("rehearsal", "An SLO that can never be judged.", "", flawed),
        example(
            "rehearsal",
            "An SLO that is breaching now. If it still is when the run begins, the run ends after its baseline, with exit code 3 and nothing injected.",
            "",
            breaching,
        ),
    ]
}

fn times() -> Vec<Example> {
    let windows = "windows:\n  - {days: [mon, tue, wed, thu], from: \"09:00\", to: \"16:00\", timeZone: Europe/Berlin}\nfreezes:\n  - {from: 2026-12-20, to: 2027-01-06, timeZone: Europe/Berlin, reason: the year ends}";
    let case = || Case::of(on_localstack(&[1.0]), staging(windows));
    let mut planned = case();
    planned.moment = Moment::Planning(super::case::at("2026-03-06T10:00:00Z"));
    let nobody = |case: Case| Case {
        attendance: Attendance::Nobody,
        ..case
    };
    let open = Policy {
        open_to_others: vec!["/team/chaos-policy.yaml".to_owned()],
        ..staging("")
    };
    let alone = "unattended: denied";
    let unattended = || nobody(Case::of(on_localstack(&[1.0]), staging(alone)));
    vec![
        example(
            "change-window",
            "A plan that is made on a Friday.",
            windows,
            planned,
        ),
        example(
            "change-window",
            "`chaos run` on that Friday.",
            windows,
            case().running("2026-03-06T10:00:00Z"),
        ),
        example(
            "change-window",
            "`chaos run` on Christmas Eve.",
            windows,
            case().running("2026-12-24T10:00:00Z"),
        ),
        example(
            "writable-policy",
            "A file that the whole team may write.",
            "",
            Case::of(on_localstack(&[1.0]), open),
        ),
        example(
            "unattended",
            "A plan that is made by a script.",
            alone,
            unattended(),
        ),
        example(
            "unattended",
            "`chaos run` by a script.",
            alone,
            unattended().running("2026-03-04T10:00:00Z"),
        ),
    ]
}

fn approvals() -> Vec<Example> {
    let two = "approval: {count: 2, approvers: [ada, ben, cleo], distinctFromRequester: true}";
    vec![
        under(
            "approval",
            "What a policy wants that says nothing about it.",
            "",
            on_localstack(&[1.0]),
        ),
        under(
            "approval",
            "Two of three, and nobody approves a plan of their own.",
            two,
            on_localstack(&[1.0]),
        ),
    ]
}

fn examples() -> Vec<Example> {
    [
        targets(),
        secrets_and_sandboxes(),
        production(),
        doses(),
        gates(),
        times(),
        approvals(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn page() -> String {
    let examples = examples();
    let mut page = HEAD.to_owned();
    for rule in RULES {
        let weights: Vec<_> = rule
            .severities
            .iter()
            .map(|one| format!("`{}`", one.word()))
            .collect();
        let (name, purpose) = (rule.name, rule.purpose);
        write!(
            page,
            "\n## `{name}`\n\nSo that {purpose}: {}.\n",
            weights.join(", ")
        )
        .expect("a String");
        for example in examples.iter().filter(|example| example.rule == name) {
            write!(page, "\n{}\n", example.when).expect("a String");
            if !example.policy.is_empty() {
                write!(page, "\n```yaml\n{}\n```\n", example.policy).expect("a String");
            }
            write!(page, "\n```text\n{}\n```\n", example.case.printed(name)).expect("a String");
        }
    }
    page
}

/// Whether the page is to be written instead of compared.
#[expect(
    clippy::disallowed_methods,
    reason = "settings.rs is the home of what the program is told, and this is no program"
)]
fn is_asked_to_write() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

#[test]
fn the_page_of_the_rules_is_what_the_rules_make() {
    let (path, made) = (root().join(PAGE), page());
    if is_asked_to_write() {
        std::fs::write(&path, &made).expect("a writable page");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == made,
        "{PAGE} is not what the rules make: `make docs` writes it again"
    );
}

#[test]
fn every_rule_shows_everything_that_it_can_weigh() {
    let examples = examples();
    for rule in RULES {
        let shown = examples.iter().filter(|example| example.rule == rule.name);
        let mut shown: Vec<Severity> = shown
            .flat_map(|example| example.case.of_rule(rule.name))
            .map(|found| found.severity)
            .collect();
        shown.sort_unstable();
        shown.dedup();
        assert_eq!(shown, rule.severities, "{}", rule.name);
    }
}

#[test]
fn what_is_printed_fits_the_page() {
    for example in examples() {
        let printed = example.case.printed(example.rule);
        assert!(!printed.is_empty(), "{}", example.when);
        for line in printed.lines() {
            assert!(line.chars().count() <= 80, "{}: {line}", example.when);
        }
    }
}
