//! `chaos init`: an experiment that `plan` accepts, guided by questions or by flags.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::Desk;
use crate::cli::InitArgs;
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::units::Span;
use crate::plan::template::{Answers, text};
use crate::plan::{Source, Variables, load_experiment};
use crate::sandbox::{DEFAULT_APP_PORT, DEFAULT_AWS_PORT};
use crate::view::prompt;

pub(super) fn init(desk: &Desk, args: &InitArgs) -> Result<Exit, Failure> {
    let answers = if desk.printer.has_person() && !args.yes {
        ask(desk, args)?
    } else {
        from_flags(args)
    };
    let file = match &args.file {
        Some(file) => file.clone(),
        None => PathBuf::from(format!("{}.yaml", answers.name)),
    };
    let source = Source {
        name: file.display().to_string(),
        text: text(&answers),
    };
    // What is written must load: a bad answer is told now, underlined, not at the next command.
    load_experiment(&source, &Variables::default())?;
    write_new(&file, &source.text)?;
    desk.printer.success(&format!("wrote {}", file.display()));
    if answers.is_for_the_sandbox() {
        desk.printer
            .talk(&format!("next: chaos run --sandbox {}", file.display()));
    } else {
        desk.printer
            .talk(&format!("next: chaos plan {}", file.display()));
    }
    Ok(Exit::Done)
}

fn from_flags(args: &InitArgs) -> Answers {
    let mut answers = match &args.endpoint {
        Some(endpoint) => Answers::for_localstack(endpoint),
        None => Answers::for_the_sandbox(
            &format!("http://127.0.0.1:{DEFAULT_APP_PORT}"),
            &format!("http://127.0.0.1:{DEFAULT_AWS_PORT}"),
        ),
    };
    let given = |value: &Option<String>, slot: &mut String| {
        if let Some(value) = value {
            slot.clone_from(value);
        }
    };
    given(&args.region, &mut answers.region);
    given(&args.service, &mut answers.service);
    given(&args.traffic, &mut answers.traffic);
    if args.service.is_some() || args.operation.is_some() {
        answers.operation.clone_from(&args.operation);
    }
    answers.probability = args.probability.unwrap_or(answers.probability);
    answers.hold = args.hold.unwrap_or(answers.hold);
    answers.name = format!("{}-fails", answers.service);
    given(&args.name, &mut answers.name);
    answers.hypothesis = answers.default_hypothesis();
    given(&args.hypothesis, &mut answers.hypothesis);
    answers
}

/// One question for each flag that was not given.
fn ask(desk: &Desk, args: &InitArgs) -> Result<Answers, Failure> {
    let mut known = args.clone();
    if known.endpoint.is_none() {
        let places = [
            "the embedded sandbox, to practise",
            "a LocalStack on this machine",
        ];
        let places = places.map(str::to_owned);
        let place = prompt::select(&desk.printer, "Where should the fault go in?", &places)?;
        if place.ok_or_else(cancelled)? == 1 {
            known.endpoint = Some(question(
                desk,
                "Base URL of the LocalStack",
                "http://127.0.0.1:4566",
            )?);
        }
    }
    let defaults = from_flags(&known);
    let fill = |slot: &mut Option<String>, words: &str, default: &str| -> Result<(), Failure> {
        if slot.is_none() {
            *slot = Some(question(desk, words, default)?);
        }
        Ok(())
    };
    fill(
        &mut known.service,
        "Which AWS service fails?",
        &defaults.service,
    )?;
    let operation = defaults.operation.unwrap_or_else(|| "all".to_owned());
    fill(
        &mut known.operation,
        "Which operation? (`all` for every one)",
        &operation,
    )?;
    known.operation = known.operation.filter(|operation| operation != "all");
    fill(
        &mut known.traffic,
        "Which URL shows the effect?",
        &defaults.traffic,
    )?;
    if known.hold.is_none() {
        let hold = question(
            desk,
            "How long does the fault stay in?",
            &defaults.hold.to_string(),
        )?;
        known.hold = Some(hold.parse::<Span>()?);
    }
    let named = from_flags(&known);
    fill(&mut known.name, "Name of the experiment", &named.name)?;
    fill(
        &mut known.hypothesis,
        "What do you claim?",
        &named.hypothesis,
    )?;
    Ok(from_flags(&known))
}

fn question(desk: &Desk, words: &str, default: &str) -> Result<String, Failure> {
    let typed = prompt::input_with_default(&desk.printer, words, default)?;
    Ok(typed.ok_or_else(cancelled)?)
}

fn cancelled() -> Problem {
    Problem::new(ProblemKind::Refused, "cancelled").hint("nothing was written")
}

/// Nothing is ever overwritten.
fn write_new(file: &Path, text: &str) -> Result<(), Failure> {
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(file)
        .and_then(|mut open| open.write_all(text.as_bytes()));
    written.map_err(|why| {
        Failure::Problem(
            Problem::new(
                ProblemKind::Invalid,
                format!("{} cannot be written: {why}", file.display()),
            )
            .hint("name another file; nothing is ever overwritten"),
        )
    })
}
