//! What was said about a plan, for a person and as data.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::printer::Printer;
use super::sanitise::sanitise;
use super::text::clock_time;
use crate::model::approval::Verdict;
use crate::policy::{Halt, Said, Standing};

/// What was said about a plan as data, a line each, under one for the plan.
pub fn list(printer: &Printer, name: &str, standing: &Standing) {
    printer.data(&sanitise(&format!("{} {name}", standing.plan)));
    for line in lines(standing) {
        let folded = printer.folded(&format!("  {}", sanitise(&line)), 4);
        printer.data(&folded.join("\n"));
    }
}

/// Every answer to a plan, a line each, and what is missing.
pub(super) fn lines(standing: &Standing) -> Vec<String> {
    let mut lines: Vec<String> = standing.said.iter().map(answer).collect();
    if standing.said.is_empty() {
        lines.push("approved by nobody yet".to_owned());
    }
    let (count, needed) = (standing.count(), standing.needed);
    lines.push(match missing(standing) {
        Some(missing) => format!("{count} of {needed} approvals: {missing}"),
        None => format!("{count} of {needed} approvals: it may run"),
    });
    lines
}

/// What keeps the plan from running; `None`: nothing that is known. What passes by itself is said only
/// of a plan that is approved.
pub fn missing(standing: &Standing) -> Option<String> {
    let deniers = standing.denials.iter().map(|no| no.approver.to_string());
    // Whoever says no twice is one person.
    let deniers: Vec<String> = deniers.collect::<BTreeSet<_>>().into_iter().collect();
    let halt = standing.halt.as_ref();
    if halt == Some(&Halt::OtherPolicy) {
        return Some("made under another policy: it does not run".to_owned());
    }
    match standing.needed - standing.count() {
        _ if !deniers.is_empty() => Some(format!("the no of {} stands", deniers.join(", "))),
        0 => halt.and_then(|halt| match halt {
            Halt::OtherPolicy => None,
            Halt::Now(why) => Some(format!("refused now, {why}")),
        }),
        1 => Some("one more person is missing".to_owned()),
        more => Some(format!("{more} more persons are missing")),
    }
}

fn answer(said: &Said) -> String {
    let approval = &said.approval;
    let reason = approval.reason.as_ref().map(|why| format!(": {why}"));
    let at = clock_time(approval.approved_at);
    let by = &approval.approver;
    let what = match (approval.verdict, &said.flaw) {
        (Verdict::No, None) => format!("denied by {by} at {at}"),
        (Verdict::No, Some(flaw)) => format!("denied by {by} at {at}; it {flaw}"),
        (Verdict::Yes, flaw) => {
            let until = clock_time(approval.expires_at);
            let flaw = flaw.as_ref().map(|flaw| format!("it {flaw}"));
            let fate = flaw.unwrap_or_else(|| "counts".to_owned());
            // Whose key it was is proven; the name beside it is what somebody said.
            let key = said.signer.as_ref();
            let key = key.map_or(String::new(), |signer| format!(", signed by {signer}"));
            format!("approved by {by} at {at}, until {until}{key}; {fate}")
        }
    };
    let allowed: String = approval
        .exceptions
        .iter()
        .map(|exception| format!(" (allows {})", exception.word()))
        .collect();
    format!("{what}{allowed}{}", reason.unwrap_or_default())
}

/// The same as data.
pub fn json(name: &str, standing: &Standing) -> Value {
    let said = standing.said.iter().map(|said| {
        let approval = &said.approval;
        json!({
            "approver": approval.approver,
            "mode": approval.mode,
            "signer": said.signer,
            "verdict": approval.verdict,
            "approvedAt": approval.approved_at,
            "expiresAt": approval.expires_at,
            "reason": approval.reason,
            "exceptions": approval.exceptions,
            "counts": said.flaw.is_none(),
            "flaw": said.flaw.as_ref().map(ToString::to_string),
        })
    });
    json!({
        "plan": standing.plan,
        "experiment": name,
        "needed": standing.needed,
        "count": standing.count(),
        "missing": missing(standing),
        "answers": said.collect::<Vec<_>>(),
    })
}
