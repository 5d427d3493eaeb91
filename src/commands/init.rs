//! `chaos init`: an experiment that `plan` accepts, guided by questions or by flags.

use std::path::{Path, PathBuf};

use super::{Desk, new_file, policies};
use crate::cli::InitArgs;
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::template::{Answers, AskedQuery, text};
use crate::plan::{DocumentError, Source, Variables, load_experiment};
use crate::policy::{Environment, FirstPolicy, first_policy};
use crate::sandbox::{DEFAULT_APP_PORT, DEFAULT_AWS_PORT};
use crate::view::prompt;

/// Where a LocalStack listens unless it was told otherwise.
const LOCALSTACK: &str = "http://127.0.0.1:4566";

/// Where a Prometheus listens unless it was told otherwise.
const PROMETHEUS: &str = "http://127.0.0.1:9090";
/// Most queries of an SLO are shares of what went wrong.
const OBJECTIVE: &str = "< 1%";
/// What stands for "no query" where one is asked for.
const NO_QUERY: &str = "none";

pub(super) fn init(desk: &Desk, args: &InitArgs) -> Result<Exit, Failure> {
    if let Some(file) = &args.file {
        new_file::can_be(file)?;
    }
    let answers = if desk.printer.has_person() && !args.yes {
        ask(desk, args)?
    } else {
        let answers = from_flags(args, place_of(args));
        check(&answers)?;
        answers
    };
    let file = file_of(args, &answers);
    new_file::write(&file, &text(&answers))?;
    desk.printer.success(&format!("wrote {}", file.display()));
    if !args.no_policy {
        write_policy(desk, &file, &answers)?;
    }
    let file = file.display();
    let next = if answers.is_for_the_sandbox() && is_of_the_sandbox(&answers.traffic) {
        format!("next: chaos run --sandbox {file}")
    } else {
        format!("next: chaos plan {file}")
    };
    if let (Some(url), None) = (&args.prometheus, &answers.asked) {
        let words = format!("{url} is not asked anything in it: give it a query with --query");
        desk.printer.talk(&words);
    }
    desk.printer.talk(&next);
    Ok(Exit::Done)
}

/// Writes a policy that allows the experiment beside it, unless there is one already.
fn write_policy(desk: &Desk, experiment: &Path, answers: &Answers) -> Result<(), Failure> {
    if let Some(found) = policies::upwards(experiment)? {
        let policy = policies::read(&found)?;
        let environment = answers.environment();
        let knows = match policy.environment(environment) {
            Some(known) if proves(known, answers) => String::new(),
            Some(_) => format!(
                ", and nothing in it proves that {} is environment `{environment}`",
                answers.endpoint
            ),
            None => format!(", and it knows no environment `{environment}`"),
        };
        let found = found.display();
        desk.printer.talk(&format!(
            "policy {found} applies{knows}; `chaos policy check {found}` shows what it allows"
        ));
        return Ok(());
    }
    let file = experiment.with_file_name(policies::FILE);
    let about = FirstPolicy {
        environment: answers.environment(),
        endpoint: &answers.endpoint,
        traffic: &answers.traffic,
    };
    new_file::write(&file, &first_policy(&about))?;
    let words = format!(
        "wrote {}: what may be broken where, and that a person has to say yes",
        file.display()
    );
    desk.printer.success(&words);
    Ok(())
}

/// Whether a policy takes the LocalStack for one of this environment. The sandbox is on this machine,
/// wherever its variables put it.
fn proves(environment: &Environment, answers: &Answers) -> bool {
    let hosts = environment.proof.localstack.iter();
    let mut hosts = hosts.flat_map(|proof| &proof.hosts);
    hosts.any(|host| answers.is_for_the_sandbox() || host.matches(&answers.endpoint))
}

fn file_of(args: &InitArgs, answers: &Answers) -> PathBuf {
    let by_name = || PathBuf::from(format!("{}.yaml", answers.name));
    args.file.clone().unwrap_or_else(by_name)
}

/// Where the fault goes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The embedded sandbox.
    Sandbox,
    /// A LocalStack of the user's.
    LocalStack,
}

/// Whoever names a LocalStack, or watches something that is not the sandbox, does not practise.
fn place_of(args: &InitArgs) -> Place {
    match (&args.endpoint, &args.traffic) {
        (None, None) => Place::Sandbox,
        (None, Some(traffic)) if is_of_the_sandbox(traffic) => Place::Sandbox,
        (Some(_), _) | (None, Some(_)) => Place::LocalStack,
    }
}

fn sandbox_app() -> String {
    format!("http://127.0.0.1:{DEFAULT_APP_PORT}")
}

/// Whether a URL is one of the sandbox's application, at its usual port or wherever a run puts it.
fn is_of_the_sandbox(url: &str) -> bool {
    let rest = url.strip_prefix(&sandbox_app());
    url.starts_with("${SANDBOX_APP")
        || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn from_flags(args: &InitArgs, place: Place) -> Answers {
    let mut answers = match place {
        Place::LocalStack => {
            Answers::for_localstack(args.endpoint.as_deref().unwrap_or(LOCALSTACK))
        }
        Place::Sandbox => Answers::for_the_sandbox(
            &sandbox_app(),
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
    answers.asked = args.query.as_ref().map(|query| AskedQuery {
        url: args
            .prometheus
            .clone()
            .unwrap_or_else(|| PROMETHEUS.to_owned()),
        query: query.clone(),
        objective: args
            .objective
            .clone()
            .unwrap_or_else(|| OBJECTIVE.to_owned()),
    });
    answers.probability = args.probability.unwrap_or(answers.probability);
    answers.hold = args.hold.unwrap_or(answers.hold);
    answers.name = answers.default_name();
    given(&args.name, &mut answers.name);
    answers.hypothesis = answers.default_hypothesis();
    given(&args.hypothesis, &mut answers.hypothesis);
    answers
}

/// What is written must load: a bad answer is told now, not at the next command. The document is not
/// quoted, for nobody has it yet.
fn check(answers: &Answers) -> Result<(), Problem> {
    let source = Source {
        name: "the experiment".to_owned(),
        text: text(answers),
    };
    load_experiment(&source, &Variables::default())
        .map(|_| ())
        .map_err(|error| told(&error))
}

fn told(error: &DocumentError) -> Problem {
    let mut messages: Vec<&str> = Vec::new();
    for problem in error.problems() {
        if !messages.contains(&problem.message.as_str()) {
            messages.push(&problem.message);
        }
    }
    let problem = Problem::new(ProblemKind::Invalid, messages.join("; "));
    match error
        .problems()
        .iter()
        .find_map(|found| found.help.as_ref())
    {
        Some(help) => problem.hint(help),
        None => problem,
    }
}

/// The questions that a person is being asked, and what is known so far.
struct Interview<'a> {
    desk: &'a Desk,
    known: InitArgs,
    place: Place,
}

/// Puts an answer where it belongs.
type Put = fn(&mut InitArgs, String) -> Result<(), Problem>;

impl Interview<'_> {
    fn proposed(&self) -> Answers {
        from_flags(&self.known, self.place)
    }

    /// Asks until the answer is one that makes a document.
    fn ask(&mut self, words: &str, default: &str, put: Put) -> Result<(), Failure> {
        loop {
            let typed = prompt::input_with_default(&self.desk.printer, words, default)?;
            let mut tried = self.known.clone();
            let put = put(&mut tried, typed.ok_or_else(cancelled)?);
            let answers = from_flags(&tried, self.place);
            let accepted = put
                .and_then(|()| check(&answers))
                .and_then(|()| new_file::can_be(&file_of(&tried, &answers)));
            match accepted {
                Ok(()) => {
                    self.known = tried;
                    return Ok(());
                }
                Err(problem) => self.desk.printer.error(&problem),
            }
        }
    }

    fn ask_place(&mut self) -> Result<(), Failure> {
        let places = [
            "the embedded sandbox, to practise",
            "a LocalStack on this machine",
        ];
        let places = places.map(str::to_owned);
        let question = "Where should the fault go in?";
        let chosen = prompt::select(&self.desk.printer, question, &places)?;
        if chosen.ok_or_else(cancelled)? == 0 {
            self.place = Place::Sandbox;
            return Ok(());
        }
        self.place = Place::LocalStack;
        self.ask("Base URL of the LocalStack", LOCALSTACK, |known, typed| {
            known.endpoint = Some(typed);
            Ok(())
        })
    }

    /// The operation that is offered belongs to the service that is offered with it.
    fn ask_operation(&mut self, offered: &Answers) -> Result<(), Failure> {
        let answers = self.proposed();
        let operation = if answers.service == offered.service {
            offered.operation.clone()
        } else {
            answers.operation
        };
        let operation = operation.unwrap_or_else(|| "all".to_owned());
        let question = "Which operation? (`all` for every one)";
        self.ask(question, &operation, |known, typed| {
            known.operation = Some(typed).filter(|operation| operation != "all");
            Ok(())
        })
    }
}

/// Whoever has a Prometheus is asked what it should be asked.
fn ask_query(interview: &mut Interview<'_>, args: &InitArgs) -> Result<(), Failure> {
    if args.prometheus.is_some() && args.query.is_none() {
        let question = "Which PromQL query must hold too? (`none` for none)";
        interview.ask(question, NO_QUERY, |known, typed| {
            known.query = Some(typed).filter(|query| query != NO_QUERY);
            Ok(())
        })?;
    }
    if interview.known.query.is_some() && args.objective.is_none() {
        interview.ask("What must its value be?", OBJECTIVE, |known, typed| {
            known.objective = Some(typed);
            Ok(())
        })?;
    }
    Ok(())
}

/// One question for each flag that was not given.
fn ask(desk: &Desk, args: &InitArgs) -> Result<Answers, Failure> {
    let mut interview = Interview {
        desk,
        known: args.clone(),
        place: place_of(args),
    };
    if !args.no_policy {
        let words =
            "writes an experiment, and beside it a policy that allows it, unless one applies there";
        desk.printer.talk(words);
    }
    // No later answer would mend a bad flag.
    check(&interview.proposed())?;
    if args.endpoint.is_none() {
        interview.ask_place()?;
    }
    let offered = interview.proposed();
    if args.service.is_none() {
        interview.ask(
            "Which AWS service fails?",
            &offered.service,
            |known, typed| {
                known.service = Some(typed);
                Ok(())
            },
        )?;
    }
    if args.operation.is_none() {
        interview.ask_operation(&offered)?;
    }
    if args.traffic.is_none() {
        let question = "Which URL shows the effect?";
        interview.ask(question, &offered.traffic, |known, typed| {
            known.traffic = Some(typed);
            Ok(())
        })?;
    }
    ask_query(&mut interview, args)?;
    if args.hold.is_none() {
        let hold = offered.hold.to_string();
        interview.ask("How long does the fault stay in?", &hold, |known, typed| {
            known.hold = Some(typed.trim().parse()?);
            Ok(())
        })?;
    }
    if args.name.is_none() {
        let name = interview.proposed().name;
        interview.ask("Name of the experiment", &name, |known, typed| {
            known.name = Some(typed);
            Ok(())
        })?;
    }
    if args.hypothesis.is_none() {
        let claim = interview.proposed().hypothesis;
        interview.ask("What do you claim?", &claim, |known, typed| {
            known.hypothesis = Some(typed);
            Ok(())
        })?;
    }
    Ok(interview.proposed())
}

fn cancelled() -> Problem {
    Problem::new(ProblemKind::Refused, "cancelled").hint("nothing was written")
}
