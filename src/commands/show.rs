//! `chaos show`: one plan with its approvals, or one run.

use super::Desk;
use super::planning::{self, Judged};
use super::policies;
use super::report;
use crate::cli::{Form, ShowArgs};
use crate::error::Failure;
use crate::exit::Exit;
use crate::journal::{self, JournalEnd, RunEntry};
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::StoredPlan;
use crate::policy::{self, Moment};
use crate::run::Clock;
use crate::view::plan as shown;

pub(super) fn show(desk: &Desk, args: &ShowArgs) -> Result<Exit, Failure> {
    if args.what.starts_with("p-") {
        if args.verify {
            return Err(Failure::Problem(
                Problem::new(
                    ProblemKind::Invalid,
                    "`--verify` checks the journal of a run",
                )
                .hint("a plan is checked whenever it is read: one changed byte voids it"),
            ));
        }
        return show_plan(desk, args);
    }
    let store = desk.store()?;
    let entry = match store.find_run(&args.what) {
        Ok(entry) => entry,
        // A part of an id does not say what it is a part of.
        Err(_) if !args.verify && store.load_plan(&args.what).is_ok() => {
            return show_plan(desk, args);
        }
        Err(problem) => return Err(problem.into()),
    };
    if args.verify {
        verify(desk, &entry, args.output)
    } else {
        report::show(desk, &report::of(&entry)?, args.output);
        Ok(Exit::Done)
    }
}

fn show_plan(desk: &Desk, args: &ShowArgs) -> Result<Exit, Failure> {
    let store = desk.store()?;
    let (id, text) = store.load_plan(&args.what)?;
    let stored = StoredPlan::from_text(&text)?;
    if args.output == Form::Json {
        desk.printer.data(text.trim_end());
        return Ok(Exit::Done);
    }
    let policy = policies::of_plan(desk, &args.policy, &stored.plan)?;
    let history = planning::history(desk)?;
    let findings = planning::judge(
        &stored.plan,
        &Judged {
            policy: &policy,
            sandbox: None,
            history: &history,
            attendance: planning::attendance(desk),
            moment: Moment::Planning,
        },
    );
    if let Err(refusal) = policy::made_under(&stored, &policy) {
        Failure::from(refusal).show(&desk.printer);
    }
    shown::show(&desk.printer, &stored, &findings);
    let approvals = store.approvals(&id)?;
    shown::show_approvals(&desk.printer, &stored, &approvals.readable, Clock::wall());
    for problem in &approvals.damaged {
        desk.printer.error(problem);
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
