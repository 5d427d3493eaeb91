//! From a document to a locked plan and its findings: what `plan`, `run` and `replay` share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::Desk;
use crate::cli::{ClusterArgs, RehearsalArgs};
use crate::clients::{Clients, KubeconfigFiles};
use crate::error::Failure;
use crate::metrics::{SourceSetup, Sources, WallClock};
use crate::model::history::{History, Subject};
use crate::model::ids::{Digest, RunId};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::units::Span;
use crate::plan::document::Experiment;
use crate::plan::{
    self, DocumentError, DocumentSource, Loaded, Plan, Resolution, Source, Spans, StoredPlan,
    UsedVariable, Variables, load_experiment, parse_flag, read_source, read_variable_file,
    rehearse, resolve, unusable_secrets,
};
use crate::policy::{self, Attendance, Facts, Finding, Moment, OwnSandbox, Policy, Severity};
use crate::run::Clock;
use crate::sandbox::Sandbox;
use crate::settings;
use crate::view::plan::{self as shown, Sheet};

/// A locked plan, and what the policy says about it.
#[derive(Clone)]
pub(super) struct Planned {
    pub(super) stored: StoredPlan,
    pub(super) findings: Vec<Finding>,
    pub(super) policy: Policy,
}

impl Planned {
    /// As it is shown; what was said about it is not looked up.
    pub(super) fn sheet(&self) -> Sheet<'_> {
        Sheet {
            stored: &self.stored,
            policy: &self.policy,
            findings: &self.findings,
            standing: None,
        }
    }

    /// Whether a person has to say yes.
    pub(super) fn needs_approval(&self) -> bool {
        let mut all = self.findings.iter();
        all.any(|finding| finding.severity == Severity::Require)
    }
}

/// Nothing, or the denial with every finding that denies.
pub(super) fn undenied(findings: &[Finding]) -> Result<(), Failure> {
    let denied: Vec<Finding> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Deny)
        .cloned()
        .collect();
    if denied.is_empty() {
        return Ok(());
    }
    Err(Failure::Denied(denied))
}

/// What the policy says about a plan, unless it denies it: then what was planned is told, and the
/// denial has each finding at its place in the document, and how to go on.
fn admissible(
    desk: &Desk,
    plan: &Plan,
    facts: &Judged<'_>,
    draft: &Draft<'_>,
    spans: &Spans,
) -> Result<Vec<Finding>, Failure> {
    let findings = judge(plan, facts);
    let mut way_out = Vec::new();
    // A draft says only what its document says; what it might be warned about is not known yet.
    if !plan.steps.is_empty() {
        way_out.extend(shown::undenied(&desk.printer, &findings));
    }
    way_out.extend(policy::way_out(&draft.policy.name, &plan.experiment));
    let file = &draft.source.name;
    let next = format!("next: change {file} or the policy, then plan again");
    way_out.extend([String::new(), next]);
    match Failure::denied_at(draft.source, spans, &findings, way_out) {
        Some(denied) => {
            shown::talk_denied(&desk.printer, plan);
            Err(denied)
        }
        None => Ok(findings),
    }
}

/// Whether the SLOs are asked what they read before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Now, and over so much of the past.
    Back(Span),
    /// Not at all: what was approved was seen with it.
    Nowhere,
}

impl Look {
    /// Long enough for what comes and goes with the hours, short enough for any server to answer.
    const USUALLY: Span = Span::from_secs(6 * 3_600);

    /// What was typed.
    pub(super) fn asked(args: &RehearsalArgs) -> Self {
        Self::Back(args.rehearse.unwrap_or(Self::USUALLY))
    }
}

/// Where a plan comes from.
pub(super) struct Draft<'a> {
    pub(super) source: &'a Source,
    pub(super) policy: Policy,
    pub(super) variables: Variables,
    pub(super) sandbox: Option<&'a OwnSandbox>,
    pub(super) replay_of: Option<RunId>,
    pub(super) look: Look,
    pub(super) cluster: Named,
}

/// Context and namespace that were named outside of the document, and count instead of its own.
#[derive(Debug, Clone, Default)]
pub(super) struct Named {
    pub(super) context: Option<String>,
    pub(super) namespace: Option<String>,
}

impl Named {
    /// What was typed.
    pub(super) fn typed(args: &ClusterArgs) -> Self {
        Self {
            context: args.context.clone(),
            namespace: args.namespace.clone().map(String::from),
        }
    }

    /// What was typed, else what a plan was made with.
    pub(super) fn typed_or_planned(args: &ClusterArgs, plan: &Plan) -> Self {
        let typed = Self::typed(args);
        let planned = plan.experiment.on.kubernetes.clone();
        let (context, namespace) = planned.map_or((None, None), |on| (on.context, on.namespace));
        Self {
            context: typed.context.or(context),
            namespace: typed.namespace.or(namespace),
        }
    }

    /// Writes it into an experiment, so that the plan has it.
    fn write(self, experiment: &mut Experiment) -> Result<(), Problem> {
        let Self { context, namespace } = self;
        match (&mut experiment.on.kubernetes, &context, &namespace) {
            (None, None, None) => Ok(()),
            (None, _, _) => Err(Problem::new(
                ProblemKind::Invalid,
                "the experiment names no cluster, so there is nothing that --context or --namespace could choose",
            )
            .hint("add `on: {kubernetes: {}}` to it, or leave the flags out")),
            (Some(on), _, _) => {
                on.context = context.or(on.context.take());
                on.namespace = namespace.or(on.namespace.take());
                experiment.place_faults();
                Ok(())
            }
        }
    }
}

/// The clients of whoever undoes: a run's own record names its context, the person's kubeconfigs have it.
pub(super) fn own_clients(desk: &Desk) -> Result<Clients, Problem> {
    let files = KubeconfigFiles::any_of(desk.settings.kubeconfigs.clone());
    Ok(Clients::new()?.with_kubeconfig(files))
}

/// The clients of a command that may reach a cluster.
pub(super) fn clients(desk: &Desk, args: &ClusterArgs) -> Result<Clients, Problem> {
    match &args.kubeconfig {
        Some(file) => Ok(Clients::new()?.with_kubeconfig(KubeconfigFiles::exactly(file.clone()))),
        None => own_clients(desk),
    }
}

/// Loads, resolves, rehearses and judges; writes nothing anywhere.
pub(super) async fn make(
    desk: &Desk,
    clients: &Clients,
    draft: Draft<'_>,
) -> Result<Planned, Failure> {
    let loaded = load_experiment(draft.source, &with_the_shell(&draft))?;
    no_secret_in(desk, &loaded.used)?;
    let history = history(desk, &loaded.experiment, &draft.policy)?;
    let facts = Judged {
        policy: &draft.policy,
        sandbox: draft.sandbox,
        history: &history,
        attendance: attendance(desk),
        moment: Moment::Planning(Clock::wall()),
    };
    let source = DocumentSource {
        name: draft.source.name.clone(),
        text: draft.source.text.clone(),
        digest: Digest::of(draft.source.text.as_bytes()),
    };
    let with = Resolution {
        requester: desk.settings.person.clone(),
        now: Clock::wall(),
        policy: draft.policy.identity(),
        replay_of: draft.replay_of.clone(),
    };
    let Loaded {
        mut experiment,
        used,
        spans,
    } = loaded;
    draft.cluster.clone().write(&mut experiment)?;
    let unresolved = Plan {
        history: history.newest(),
        ..plan::draft(experiment, source, used, with)
    };
    // What the document alone forbids is forbidden before anybody is asked anything.
    admissible(desk, &unresolved, &facts, &draft, &spans)?;
    let missing = unusable_secrets(&unresolved.experiment.metrics, &desk.settings.secrets);
    if !missing.is_empty() {
        let error = DocumentError::at_places(draft.source, &spans, missing);
        return Err(Failure::Document(Box::new(error)));
    }
    let plan = resolve(unresolved, clients).await?;
    let plan = match draft.look {
        Look::Nowhere => plan,
        Look::Back(over) => rehearsed(desk, clients, plan, over).await?,
    };
    let findings = admissible(desk, &plan, &facts, &draft, &spans)?;
    Ok(Planned {
        stored: StoredPlan::lock(plan)?,
        findings,
        policy: draft.policy,
    })
}

/// Plans and journals show the variables that were used, so that none may have the value of a secret.
fn no_secret_in(desk: &Desk, used: &BTreeMap<String, UsedVariable>) -> Result<(), Problem> {
    for (name, variable) in used {
        if let Some(secret) = desk.settings.secrets.name_of(&variable.value) {
            let message = format!(
                "the variable `{name}` has the value of the secret `{secret}`, and plans and journals show variables"
            );
            return Err(Problem::new(ProblemKind::Invalid, message).hint(format!(
                "where a secret may stand, write `${{secret:{secret}}}`; nowhere else may its value go"
            )));
        }
    }
    Ok(())
}

/// The variables of a draft, and those of the shell that the policy lets fill a document.
fn with_the_shell(draft: &Draft<'_>) -> Variables {
    let shell = settings::shell_variables(&draft.policy.environment_variables);
    let variables = draft.variables.clone().with_environment(shell.allowed);
    variables.withholding(shell.withheld, &draft.policy.name)
}

/// The plan with what its SLOs read before the run.
async fn rehearsed(
    desk: &Desk,
    clients: &Clients,
    plan: Plan,
    over: Span,
) -> Result<Plan, Failure> {
    let setup = source_setup(desk, "rehearsal".to_owned(), clients)?;
    let sources = Sources::new(&plan.experiment.metrics, &setup)?;
    let told = format!("rehearsing the SLOs over {over} of the past");
    desk.printer.detail(&told);
    let runs_in_past = runs_since(desk, over)?;
    let plan = Plan {
        runs_in_past,
        ..plan
    };
    Ok(rehearse(plan, &sources, over).await?)
}

/// The runs of this state folder that began within this much of the past, newest first.
fn runs_since(desk: &Desk, over: Span) -> Result<Vec<RunId>, Failure> {
    let milliseconds = i64::try_from(over.as_millis()).unwrap_or(i64::MAX);
    let since = Clock::wall().checked_sub(SignedDuration::from_millis(milliseconds));
    let since = since.unwrap_or(Timestamp::MIN);
    let runs = desk.store()?.runs()?.into_iter().map(|entry| entry.id);
    let began_since = |run: &RunId| run.began().is_some_and(|began| began >= since);
    Ok(runs.filter(began_since).collect())
}

/// What the sources of a rehearsal or of a run need; `tag` names either.
pub(super) fn source_setup(
    desk: &Desk,
    tag: String,
    clients: &Clients,
) -> Result<SourceSetup, Failure> {
    let this_program = std::env::current_exe().map_err(|why| {
        Problem::new(
            ProblemKind::Unexpected,
            format!("this program's own path cannot be found: {why}"),
        )
    })?;
    Ok(SourceSetup {
        clients: clients.clone(),
        tag,
        secrets: desk.settings.secrets.clone(),
        this_program,
        clock: WallClock::set_to(Clock::wall()),
    })
}

/// What a plan is judged by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged<'a> {
    pub(super) policy: &'a Policy,
    pub(super) sandbox: Option<&'a OwnSandbox>,
    pub(super) history: &'a History,
    pub(super) attendance: Attendance,
    pub(super) moment: Moment,
}

/// What the policy says about a plan.
pub(super) fn judge(plan: &Plan, by: &Judged<'_>) -> Vec<Finding> {
    policy::evaluate(&Facts {
        sandbox: by.sandbox,
        history: by.history,
        attendance: by.attendance,
        moment: by.moment,
        ..Facts::about(plan, by.policy)
    })
}

/// What was run before of the faults of this experiment, as far as this state folder knows and where
/// the policy wants to know.
pub(super) fn history(
    desk: &Desk,
    experiment: &Experiment,
    policy: &Policy,
) -> Result<History, Failure> {
    let environment = policy.environment(&experiment.environment);
    if !environment.is_some_and(policy::Environment::looks_back) {
        return Ok(History::default());
    }
    let doses = experiment.steps.iter().flat_map(|step| step.fault.doses());
    let subject = Subject {
        environment: experiment.environment.clone(),
        faults: doses.map(|dose| dose.fault).collect(),
    };
    let remembered = desk.store()?.history(&subject)?;
    for run in remembered.damaged {
        desk.printer.warn(&format!(
            "{run} counts for nothing here: its journal is damaged (`chaos show {run} --verify`)"
        ));
    }
    Ok(remembered.history)
}

/// What the policy says about a plan that was made before, as somebody looks at it here and now; and
/// what was run before.
pub(super) fn looked_at(
    desk: &Desk,
    plan: &Plan,
    policy: &Policy,
) -> Result<(Vec<Finding>, History), Failure> {
    let history = history(desk, &plan.experiment, policy)?;
    let findings = judge(
        plan,
        &Judged {
            policy,
            sandbox: None,
            history: &history,
            attendance: attendance(desk),
            moment: Moment::Planning(Clock::wall()),
        },
    );
    Ok((findings, history))
}

/// Whether a person can be asked.
pub(super) fn attendance(desk: &Desk) -> Attendance {
    match desk.printer.has_person() {
        true => Attendance::Person,
        false => Attendance::Nobody,
    }
}

/// The variables that were typed.
pub(super) fn variables(
    mut variables: Variables,
    flags: &[String],
    files: &[PathBuf],
) -> Result<Variables, Failure> {
    for file in files {
        let source = read_source(file)?;
        variables = variables.with_file(&source.name, read_variable_file(&source)?);
    }
    for flag in flags {
        let (name, value) = parse_flag(flag)?;
        variables = variables.with_flag(name, value);
    }
    Ok(variables)
}

/// Where the addresses of a sandbox of this process's own are said to come from.
pub(super) const SANDBOX_SOURCE: &str = "--sandbox";

/// What a sandbox of this process's own fills in, as if it had been written to a file.
pub(super) fn sandbox_variables(sandbox: Option<&Sandbox>) -> Variables {
    let Some(sandbox) = sandbox else {
        return Variables::default();
    };
    let values = [
        ("SANDBOX_APP", sandbox.app_url()),
        ("SANDBOX_AWS", sandbox.aws_url()),
    ];
    let values = values.map(|(name, url)| (name.to_owned(), url.to_owned()));
    Variables::default().with_file(SANDBOX_SOURCE, values.into_iter().collect())
}

/// The facts about a sandbox that rules may look at.
pub(super) fn own(sandbox: &Sandbox) -> OwnSandbox {
    OwnSandbox {
        app_url: sandbox.app_url().to_owned(),
        aws_url: sandbox.aws_url().to_owned(),
    }
}

/// Reads an experiment's file.
pub(super) fn experiment(file: &Path) -> Result<Source, Failure> {
    Ok(read_source(file)?)
}
