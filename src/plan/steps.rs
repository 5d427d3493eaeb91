//! Reads the steps and the faults in them.

use super::decode::Cursor;
use super::document::{Step, Worlds, Written};
use super::fields::{Fields, Refused};
use super::gauges::report_doubles;
use super::words::suggestion;
use crate::faults::{self, ChaosMeshFault, Fault, LocalStackFault};
use crate::model::localstack::{FaultError, FaultRule};
use crate::model::units::{Percent, Span};

pub(super) const STEP_KEYS: &[&str] = &["name", "fault", "blastRadius", "hold"];
pub(super) const FAULT_KEYS: &[&str] = &["localstack", "chaosMesh"];
pub(super) const LOCALSTACK_FAULT_KEYS: &[&str] = &["faults", "latency"];
pub(super) const RULE_KEYS: &[&str] = &["region", "service", "operation", "probability", "error"];
pub(super) const ERROR_KEYS: &[&str] = &["statusCode", "code"];
/// The kinds of Chaos Mesh 2.x that break something.
pub(super) const CHAOS_KINDS: &[&str] = &[
    "AWSChaos",
    "AzureChaos",
    "BlockChaos",
    "DNSChaos",
    "GCPChaos",
    "HTTPChaos",
    "IOChaos",
    "JVMChaos",
    "KernelChaos",
    "NetworkChaos",
    "PhysicalMachineChaos",
    "PodChaos",
    "StressChaos",
    "TimeChaos",
];

const MILLISECOND: Span = Span::from_millis(1);
const A_DAY: Span = Span::from_secs(24 * 3_600);

/// The steps of a document; `on` is `None` when it could not be read, which has been told already.
pub(super) fn read(cursor: &Cursor<'_>, on: Option<&Worlds>) -> Option<Vec<Step>> {
    let items = cursor.items()?;
    let steps = items.iter().enumerate();
    let steps: Vec<_> = steps
        .filter_map(|(index, item)| step(item, index, on))
        .collect();
    report_doubles(&items);
    (steps.len() == items.len()).then(|| {
        let mut steps = steps.concat();
        for (position, step) in steps.iter_mut().enumerate() {
            let same = |written: &Written| written.step == position && written.rung.is_none();
            step.written = step.written.filter(|written| !same(written));
        }
        steps
    })
}

/// One step, or one for each rung of its blast radius: each is judged before the next goes in.
fn step(cursor: &Cursor<'_>, index: usize, on: Option<&Worlds>) -> Option<Vec<Step>> {
    let fields = cursor.fields(STEP_KEYS)?;
    let name = fields
        .required("name", "name: what happens")
        .and_then(|cursor| cursor.line());
    let fault = fields
        .required(
            "fault",
            "fault: {localstack: {faults: [{service: kinesis}]}}",
        )
        .and_then(|cursor| fault(&cursor, &fields, on));
    let hold = fields
        .required("hold", "hold: 30s")
        .and_then(|cursor| cursor.span(MILLISECOND..=A_DAY));
    let (name, (fault, rungs), hold) = (name?.to_owned(), fault?, hold?);
    let step = Step {
        name,
        fault,
        hold,
        written: Some(Written {
            step: index,
            rung: None,
        }),
    };
    if rungs.len() < 2 {
        return Some(vec![step]);
    }
    let climbing = rungs.into_iter().enumerate();
    Some(
        climbing
            .map(|(rung, share)| at_rung(&step, rung, share))
            .collect(),
    )
}

fn at_rung(step: &Step, rung: usize, share: Percent) -> Step {
    let mut step = step.clone();
    step.name = format!("{} ({share})", step.name);
    if let Some(written) = &mut step.written {
        written.rung = Some(rung);
    }
    if let Fault::ChaosMesh(fault) = &mut step.fault {
        fault.blast_radius = share;
    }
    step
}

/// The fault, and the rungs that it climbs by; none: it has one dose.
fn fault(
    cursor: &Cursor<'_>,
    step: &Fields<'_>,
    on: Option<&Worlds>,
) -> Option<(Fault, Vec<Percent>)> {
    let fields = cursor.fields(FAULT_KEYS)?;
    match fields.one_of(FAULT_KEYS, "localstack: {faults: [{service: kinesis}]}")? {
        ("localstack", cursor) => {
            if let Some(radius) = step.optional("blastRadius") {
                radius.report(
                    "a fault on LocalStack has no blast radius",
                    "its dose is the `probability` of each rule: `probability: 0.1` fails a tenth of the requests",
                );
            }
            let fault = localstack(&cursor, on)?;
            Some((Fault::LocalStack(fault), Vec::new()))
        }
        (_, cursor) => {
            let (fault, rungs) = chaos_mesh(&cursor, step, on)?;
            Some((Fault::ChaosMesh(fault), rungs))
        }
    }
}

fn chaos_mesh(
    cursor: &Cursor<'_>,
    step: &Fields<'_>,
    on: Option<&Worlds>,
) -> Option<(ChaosMeshFault, Vec<Percent>)> {
    if on.is_some_and(|on| on.kubernetes.is_none()) {
        cursor.report(
            "this breaks something in a cluster, and `on` names none",
            "add `on: {kubernetes: {context: …, namespace: …}}`",
        );
    }
    // No default: what an unwritten dose would do to every pod should be written.
    let radius = step.required("blastRadius", "blastRadius: 10%");
    let radius = radius.and_then(|cursor| rungs(&cursor));
    let (kind, spec) = chaos_object(cursor)?;
    let rungs = radius?;
    let fault = ChaosMeshFault {
        context: None,
        namespace: None,
        chaos_kind: kind,
        spec,
        blast_radius: *rungs.first()?,
        hold: Span::ZERO,
        position: 0,
    };
    Some((fault, rungs))
}

fn localstack(cursor: &Cursor<'_>, on: Option<&Worlds>) -> Option<LocalStackFault> {
    let world = on.and_then(|on| on.localstack.as_ref());
    if on.is_some() && world.is_none() {
        cursor.report(
            "this breaks a LocalStack, and `on` names none",
            "add `on: {localstack: {endpoint: \"http://127.0.0.1:4566\"}}`",
        );
    }
    let fields = cursor.fields(LOCALSTACK_FAULT_KEYS)?;
    if fields.all().next().is_none() {
        cursor.report(
            "this breaks nothing",
            "add `faults: [{service: kinesis}]` or `latency: 800ms`, or both",
        );
        return None;
    }
    let region = world.and_then(|world| world.region.as_deref());
    let faults = fields.optional("faults").map(|cursor| {
        let items = cursor.items()?;
        let rules: Vec<_> = items.iter().filter_map(|item| rule(item, region)).collect();
        (rules.len() == items.len()).then_some(rules)
    });
    let latency = fields
        .optional("latency")
        .map(|cursor| cursor.span(MILLISECOND..=A_DAY));
    let fault = LocalStackFault {
        endpoint: world
            .map(|world| world.endpoint.clone())
            .unwrap_or_default(),
        faults: match faults {
            Some(faults) => faults?,
            None => Vec::new(),
        },
        latency: match latency {
            Some(latency) => Some(latency?),
            None => None,
        },
    };
    // What the platform would refuse, or quietly misread, is told together with all the rest.
    for finding in faults::lint(&fault) {
        cursor.report_below(&finding.path, finding.problem);
    }
    Some(fault)
}

/// The Chaos API has this field, and it is how we know our rules from others'.
const DESCRIPTION: Refused = Refused {
    key: "description",
    message: "a rule cannot have a `description`: chaos writes its own tag there",
    help: "make it a comment: `# …`",
};

fn rule(cursor: &Cursor<'_>, region: Option<&str>) -> Option<FaultRule> {
    let fields = cursor.fields_but(RULE_KEYS, &[DESCRIPTION])?;
    let text = |key: &str| {
        fields
            .optional(key)
            .and_then(|cursor| cursor.line())
            .map(str::to_owned)
    };
    let probability = fields
        .optional("probability")
        .and_then(|cursor| probability(&cursor));
    let error = fields
        .optional("error")
        .and_then(|cursor| fault_error(&cursor));
    Some(FaultRule {
        region: text("region").or_else(|| region.map(str::to_owned)),
        service: text("service"),
        operation: text("operation"),
        probability: probability.unwrap_or(1.0),
        error: error.unwrap_or_default(),
    })
}

fn probability(cursor: &Cursor<'_>) -> Option<f64> {
    if let Some(percent) = cursor.raw().and_then(|text| text.parse::<Percent>().ok()) {
        cursor.report(
            format!("`probability` is a number, not the percentage `{percent}`"),
            format!("write `probability: {}`", percent.as_ratio()),
        );
        return None;
    }
    cursor.number(0.0..=1.0)
}

fn fault_error(cursor: &Cursor<'_>) -> Option<FaultError> {
    let fields = cursor.fields(ERROR_KEYS)?;
    let status = fields
        .optional("statusCode")
        .and_then(|cursor| cursor.whole(400..=599));
    let code = fields.optional("code").and_then(|cursor| cursor.line());
    let mut error = FaultError::default();
    if let Some(status) = status {
        error.status_code = u16::try_from(status).expect("at most 599 by its range");
    }
    if let Some(code) = code {
        error.code = code.to_owned();
    }
    Some(error)
}

fn chaos_object(cursor: &Cursor<'_>) -> Option<(String, serde_json::Value)> {
    let fields = cursor.free_fields()?;
    let mut all = fields.all();
    let (Some((kind, spec)), None) = (all.next(), all.next()) else {
        cursor.report(
            "`chaosMesh` holds exactly one kind",
            "write `NetworkChaos: {…}`; a second fault goes into a step of its own",
        );
        return None;
    };
    if !CHAOS_KINDS.contains(&kind) {
        spec.report(
            format!("Chaos Mesh has no kind `{kind}` that breaks something"),
            suggestion(kind, CHAOS_KINDS, "its kinds are"),
        );
        return None;
    }
    let no_fields = spec.free_fields()?.all().next().is_none();
    if no_fields {
        spec.report(
            format!("`{kind}` has an empty spec"),
            "write the fields of the kind's `spec`, as Chaos Mesh documents them",
        );
        return None;
    }
    Some((kind.to_owned(), spec.json()?))
}

/// One share or several, each larger than the one before.
fn rungs(cursor: &Cursor<'_>) -> Option<Vec<Percent>> {
    let cursors = if cursor.is_list() {
        cursor.items()?
    } else {
        vec![cursor.clone()]
    };
    let mut rungs: Vec<Percent> = Vec::new();
    for cursor in &cursors {
        let rung: Percent = cursor.parsed()?;
        if rung.as_ratio() == 0.0 {
            cursor.report(
                "a blast radius of 0% breaks nothing",
                "write more than `0%`",
            );
            return None;
        }
        if rungs.last().is_some_and(|last| *last >= rung) {
            cursor.report(
                format!("the rung {rung} is not larger than the one before"),
                "write the rungs in rising order: `[10%, 25%, 50%]`",
            );
            return None;
        }
        rungs.push(rung);
    }
    Some(rungs)
}
