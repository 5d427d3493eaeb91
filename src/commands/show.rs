//! `chaos show`: one plan with its approvals, or one run.

use std::collections::BTreeMap;

use super::Desk;
use super::approvals;
use super::planning;
use super::plans::{self, Found};
use super::policies;
use super::report;
use crate::cli::{Form, ShowArgs};
use crate::error::Failure;
use crate::exit::Exit;
use crate::journal::{self, JournalEnd, RunEntry};
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::StoredPlan;
use crate::policy::{self, Finding, Policy, Scales, Severity, Standing};
use crate::run::Clock;
use crate::view::plan::{self as shown, Sheet};

pub(super) fn show(desk: &Desk, args: &ShowArgs) -> Result<Exit, Failure> {
    if let Some(found) = plans::find_unless_a_run(desk, &args.what)? {
        return match args.verify {
            true => Err(nothing_to_verify().into()),
            false => show_plan(desk, args, &found),
        };
    }
    if args.explain {
        let found = plans::find(desk, &args.what)?;
        return show_plan(desk, args, &found);
    }
    let entry = match desk.store()?.find_run(&args.what) {
        Ok(entry) => entry,
        // A part of an id does not say what it is a part of.
        Err(problem) if args.verify => return Err(problem.into()),
        Err(problem) => {
            let found = plans::find(desk, &args.what).map_err(|_| problem)?;
            return show_plan(desk, args, &found);
        }
    };
    if args.verify {
        verify(desk, &entry, args.output)
    } else {
        report::show(desk, &report::of(&entry)?, args.output);
        Ok(Exit::Done)
    }
}

fn nothing_to_verify() -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        "`--verify` checks the journal of a run",
    )
    .hint("a plan is checked whenever it is read: one changed byte voids it")
}

fn show_plan(desk: &Desk, args: &ShowArgs, found: &Found) -> Result<Exit, Failure> {
    let stored = &found.stored;
    if args.output == Form::Json {
        desk.printer.data(found.text.trim_end());
        return Ok(Exit::Done);
    }
    let file = found.file.as_deref();
    let policy = match policies::of_plan(desk, &args.policy, &stored.plan, file) {
        Ok(policy) => policy,
        // What the plan does can be read all the same.
        Err(failure) => {
            failure.show(&desk.printer);
            return show_unjudged(desk, args, stored);
        }
    };
    let (mut findings, history) = planning::looked_at(desk, &stored.plan, &policy)?;
    if let Err(refusal) = policy::made_under(stored, &policy) {
        Failure::from(refusal).show(&desk.printer);
        findings.insert(0, other_policy(&policy));
    }
    let store = desk.store()?;
    let used = store.used()?;
    let given = approvals::kept(desk, &store, &stored.id)?;
    let scales = Scales::new(stored, &policy, &findings, &used, Clock::wall());
    let standing = scales.map(|scales| Standing {
        halt: approvals::halt(stored, &policy, &history),
        ..Standing::of(&scales, &given)
    });
    if args.explain {
        shown::explain(&desk.printer, stored, &findings, standing.as_ref());
        return Ok(Exit::Done);
    }
    let sheet = Sheet {
        stored,
        policy: &policy,
        findings: &findings,
        standing: standing.as_ref(),
    };
    shown::show(&desk.printer, &sheet);
    Ok(Exit::Done)
}

/// What a run would be refused for first of all.
fn other_policy(now: &Policy) -> Finding {
    Finding {
        rule: "policy".to_owned(),
        severity: Severity::Deny,
        place: "environment".to_owned(),
        message: format!(
            "it was made under another policy than `{}` as it is now, so that it does not run",
            now.name
        ),
        way_out: "make a new plan with `chaos plan`".to_owned(),
        exception: None,
    }
}

/// A plan whose policy cannot be had.
fn show_unjudged(desk: &Desk, args: &ShowArgs, stored: &StoredPlan) -> Result<Exit, Failure> {
    let policy = &stored.plan.policy.name;
    let findings = [Finding {
        rule: "environment".to_owned(),
        severity: Severity::Deny,
        place: "environment".to_owned(),
        message: format!("policy `{policy}` cannot be read, so that nothing allows this plan"),
        way_out: "name its file with `--policy FILE`, or make a new plan with `chaos plan`"
            .to_owned(),
        exception: None,
    }];
    match args.explain {
        true => shown::explain(&desk.printer, stored, &findings, None),
        false => {
            // All that is known of it is its name.
            let policy = Policy {
                name: policy.clone(),
                environments: BTreeMap::new(),
                ..policy::built_in()
            };
            let sheet = Sheet {
                stored,
                policy: &policy,
                findings: &findings,
                standing: None,
            };
            shown::show(&desk.printer, &sheet);
        }
    }
    Ok(Exit::Done)
}

/// Checks the journal; what is wrong with it is data, and the exit code says so.
fn verify(desk: &Desk, entry: &RunEntry, form: Form) -> Result<Exit, Failure> {
    let found = journal::verify(&entry.journal)?;
    let end = journal::read(&entry.journal)
        .map(|recorded| recorded.end)
        .ok();
    let mut lines: Vec<String> = found.breaks.iter().map(ToString::to_string).collect();
    let whole = lines.is_empty();
    if let Some(torn) = &found.torn {
        lines.push(format!(
            "line {}: {} (a crash leaves this; tolerated)",
            torn.line, torn.why
        ));
    }
    if matches!(end, Some(JournalEnd::Open)) {
        lines.push(
            "it ends without the end of the run: the run goes on, it died, or lines are missing"
                .to_owned(),
        );
    }
    let journal = entry.journal.display();
    match form {
        Form::Text => {
            desk.printer
                .data(&format!("{journal}: {} records", found.records));
            for line in &lines {
                desk.printer.data(line);
            }
            if whole {
                desk.printer.data("the chain of hashes is whole");
            }
        }
        Form::Json => desk.printer.data(
            &serde_json::json!({
                "journal": journal.to_string(),
                "records": found.records,
                "whole": whole,
                "findings": lines,
            })
            .to_string(),
        ),
    }
    if whole {
        return Ok(Exit::Done);
    }
    Err(Failure::Problem(
        Problem::new(
            ProblemKind::Evidence,
            format!("the journal of {} was changed or damaged", entry.id),
        )
        .hint("what it says from the first bad line on is no evidence"),
    ))
}
