//! Reads an environment: what proves it, and what is allowed in it.

use std::collections::BTreeMap;

use super::approval::{self, PERMISSIONS};
use super::{ReadFile, at, calendar, lists};
use crate::model::pattern::Pattern;
use crate::model::units::{Percent, Span};
use crate::plan::decode::Cursor;
use crate::plan::fields::Fields;
use crate::policy::built_in;
use crate::policy::document::{
    BlastRadius, Environment, KubernetesProof, Limits, LocalStackProof, Proof,
};

pub(in crate::policy) const DEFAULTS_KEYS: &[&str] = &[
    "approval",
    "limits",
    "gates",
    "blastRadius",
    "sameDose",
    "windows",
    "freezes",
    "unattended",
];
pub(in crate::policy) const ENVIRONMENT_KEYS: &[&str] = &[
    "proof",
    "traffic",
    "approval",
    "limits",
    "gates",
    "blastRadius",
    "sameDose",
    "windows",
    "freezes",
    "unattended",
];
pub(in crate::policy) const PROOF_KEYS: &[&str] = &["kubernetes", "localstack"];
pub(in crate::policy) const KUBERNETES_KEYS: &[&str] =
    &["contexts", "clusterUids", "apiHosts", "namespaceLabels"];
pub(in crate::policy) const LOCALSTACK_KEYS: &[&str] = &["hosts"];
pub(in crate::policy) const TRAFFIC_KEYS: &[&str] = &["hosts"];
pub(in crate::policy) const LIMITS_KEYS: &[&str] = &["hold", "latency", "baseline", "trafficRate"];
pub(in crate::policy) const GATES_KEYS: &[&str] = &["atLeast"];
pub(in crate::policy) const BLAST_RADIUS_KEYS: &[&str] = &["ceiling", "ladder", "notOlderThan"];
pub(in crate::policy) const SAME_DOSE_KEYS: &[&str] = &["atMost"];

const MILLISECOND: Span = Span::from_millis(1);
const AN_HOUR: Span = Span::from_secs(3_600);
const A_DAY: Span = Span::from_secs(86_400);
const A_YEAR: Span = Span::from_secs(366 * 86_400);
/// As many as an experiment may ask for.
const MOST_RATE: f64 = 10_000.0;
const MOST_GATES: u32 = 100;
const MOST_RUNS: u32 = 1_000;

const SOME_PROOF: &str = "proof: {kubernetes: {clusterUids: [\"…\"]}}` or `proof: {localstack: {hosts: [\"localstack.example.com:4566\"]}}";

/// What an environment does not say itself.
pub(super) fn defaults(cursor: &Cursor<'_>, files: ReadFile<'_>) -> Option<Environment> {
    let fields = cursor.fields(DEFAULTS_KEYS)?;
    Some(rules(&fields, built_in::defaults(), files))
}

/// The environment of this name.
pub(super) fn read(
    cursor: &Cursor<'_>,
    name: &str,
    defaults: &Environment,
    files: ReadFile<'_>,
) -> Option<Environment> {
    let fields = cursor.fields(ENVIRONMENT_KEYS)?;
    let proof = match fields.optional("proof") {
        Some(cursor) => proof(&cursor),
        None if fields.has("proof") => None,
        None => {
            cursor.report(
                format!("nothing proves that a plan is about `{name}` and no other environment"),
                format!("add `{SOME_PROOF}`"),
            );
            None
        }
    };
    let traffic_hosts = at(
        &fields,
        "traffic",
        defaults.traffic_hosts.clone(),
        |cursor| {
            let fields = cursor.fields(TRAFFIC_KEYS)?;
            lists::hosts(&fields.required("hosts", "hosts: [loopback]")?)
        },
    );
    let rules = rules(&fields, defaults.clone(), files);
    Some(Environment {
        proof: proof.unwrap_or_default(),
        traffic_hosts,
        approval: approval::settled(&fields, rules.approval, cursor),
        ..rules
    })
}

fn rules(fields: &Fields<'_>, base: Environment, files: ReadFile<'_>) -> Environment {
    let Environment {
        proof,
        traffic_hosts,
        ..
    } = base;
    Environment {
        proof,
        traffic_hosts,
        approval: at(fields, "approval", base.approval.clone(), |cursor| {
            approval::read(cursor, &base.approval, files)
        }),
        limits: limits(fields, &base.limits),
        blast_radius: blast_radius(fields, base.blast_radius),
        same_dose_at_most: at(fields, "sameDose", base.same_dose_at_most, |cursor| {
            let fields = cursor.fields(SAME_DOSE_KEYS)?;
            let most = fields.required("atMost", "atMost: 3")?;
            most.whole(1..=MOST_RUNS).map(Some)
        }),
        windows: at(fields, "windows", base.windows, calendar::windows),
        freezes: at(fields, "freezes", base.freezes, calendar::freezes),
        unattended: at(fields, "unattended", base.unattended, |cursor| {
            cursor.word(PERMISSIONS)
        }),
    }
}

fn proof(cursor: &Cursor<'_>) -> Option<Proof> {
    let fields = cursor.fields(PROOF_KEYS)?;
    if fields.all().next().is_none() {
        cursor.report("`proof` proves nothing", format!("write `{SOME_PROOF}`"));
        return None;
    }
    Some(Proof {
        kubernetes: at(&fields, "kubernetes", None, |cursor| {
            kubernetes(cursor).map(Some)
        }),
        localstack: at(&fields, "localstack", None, |cursor| {
            let fields = cursor.fields(LOCALSTACK_KEYS)?;
            let hosts = fields.required("hosts", "hosts: [\"localstack.example.com:4566\"]")?;
            let hosts = lists::some_hosts(&hosts)?;
            Some(Some(LocalStackProof { hosts }))
        }),
    })
}

fn kubernetes(cursor: &Cursor<'_>) -> Option<KubernetesProof> {
    let fields = cursor.fields(KUBERNETES_KEYS)?;
    if fields.all().next().is_none() {
        cursor.report(
            "`kubernetes` proves nothing",
            "add `clusterUids: [\"…\"]`: `kubectl get namespace kube-system -o jsonpath='{.metadata.uid}'` prints it",
        );
        return None;
    }
    Some(KubernetesProof {
        contexts: at(&fields, "contexts", Vec::new(), lists::some_patterns),
        cluster_uids: at(&fields, "clusterUids", Vec::new(), |cursor| {
            cursor.items()?;
            lists::each(cursor, |item| Some(item.line()?.to_lowercase()))
        }),
        api_hosts: at(&fields, "apiHosts", Vec::new(), lists::some_hosts),
        namespace_labels: at(&fields, "namespaceLabels", BTreeMap::new(), labels),
    })
}

fn labels(cursor: &Cursor<'_>) -> Option<BTreeMap<String, Pattern>> {
    let fields = cursor.free_fields()?;
    if fields.all().next().is_none() {
        cursor.report(
            "`namespaceLabels` names no label",
            "add one: `stage: staging`",
        );
    }
    let mut found = BTreeMap::new();
    for (key, value) in fields.all() {
        if let Some(pattern) = value.parsed_text() {
            found.insert(key.to_owned(), pattern);
        }
    }
    Some(found)
}

fn limits(fields: &Fields<'_>, base: &Limits) -> Limits {
    let base = Limits {
        least_gates: at(fields, "gates", base.least_gates, |cursor| {
            let fields = cursor.fields(GATES_KEYS)?;
            let least = fields.required("atLeast", "atLeast: 1")?;
            usize::try_from(least.whole(1..=MOST_GATES)?).ok()
        }),
        ..base.clone()
    };
    at(fields, "limits", base.clone(), |cursor| {
        let fields = cursor.fields(LIMITS_KEYS)?;
        Some(Limits {
            longest_hold: at(&fields, "hold", base.longest_hold, |cursor| {
                cursor.span(MILLISECOND..=A_DAY)
            }),
            longest_latency: at(&fields, "latency", base.longest_latency, |cursor| {
                cursor.span(MILLISECOND..=AN_HOUR)
            }),
            shortest_baseline: at(&fields, "baseline", base.shortest_baseline, |cursor| {
                cursor.span(Span::ZERO..=A_DAY)
            }),
            highest_traffic_rate: at(
                &fields,
                "trafficRate",
                base.highest_traffic_rate,
                |cursor| cursor.number(0.0..=MOST_RATE),
            ),
            least_gates: base.least_gates,
        })
    })
}

fn blast_radius(fields: &Fields<'_>, base: BlastRadius) -> BlastRadius {
    at(fields, "blastRadius", base.clone(), |cursor| {
        let fields = cursor.fields(BLAST_RADIUS_KEYS)?;
        let ceiling = at(&fields, "ceiling", base.ceiling, share);
        // Rungs from further up that a lower ceiling leaves no use for go without a word.
        let inherited = base.ladder.iter().copied();
        let inherited = inherited.filter(|rung| *rung <= ceiling).collect();
        Some(BlastRadius {
            ceiling,
            ladder: at(&fields, "ladder", inherited, |cursor| {
                ladder(cursor, ceiling)
            }),
            not_older_than: at(&fields, "notOlderThan", base.not_older_than, |cursor| {
                cursor.span(AN_HOUR..=A_YEAR)
            }),
        })
    })
}

/// A share that is not nothing.
fn share(cursor: &Cursor<'_>) -> Option<Percent> {
    let share: Percent = cursor.parsed()?;
    if share.as_ratio() > 0.0 {
        return Some(share);
    }
    let name = cursor.name();
    cursor.report(
        format!("{name} is 0%, which lets nothing be touched"),
        "write a larger share",
    );
    None
}

fn ladder(cursor: &Cursor<'_>, ceiling: Percent) -> Option<Vec<Percent>> {
    let mut rungs: Vec<Percent> = Vec::new();
    for item in cursor.any_items()? {
        let Some(rung) = share(&item) else { continue };
        if let Some(below) = rungs.last().filter(|below| **below >= rung) {
            item.report(
                format!("the ladder does not rise from {below} to {rung}"),
                "write the narrowest rung first",
            );
        } else if rung > ceiling {
            item.report(
                format!("the rung {rung} is above the ceiling of {ceiling}"),
                "raise `ceiling`, or take the rung away",
            );
        }
        rungs.push(rung);
    }
    Some(rungs)
}
