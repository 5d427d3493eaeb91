//! Rules with this tool's tag on the LocalStacks that runs were on: what is over is undone by its own
//! record, what is unknown here only at a person's word.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::Value;

use super::attending::Attending;
use super::cleaning;
use super::recover::Meant;
use crate::cli::RecoverArgs;
use crate::clients::Clients;
use crate::error::Failure;
use crate::faults::{self, Tagged};
use crate::journal::{RunEntry, Store, runs_under_way};
use crate::model::ids::RunId;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::request::WorldIdentity;
use crate::plan::StoredPlan;
use crate::report::{Cleaning, Leftover, Whose};
use crate::view::prompt::{self, Answer};
use crate::view::sanitise;

/// So many places are asked at once.
const AT_ONCE: usize = 16;

/// One run's rules in one place.
struct Found {
    endpoint: String,
    tagged: Tagged,
    run: Option<RunEntry>,
}

/// Looks everywhere, shows what was found, and takes out what may be.
pub(super) async fn clean(
    attending: &mut Attending<'_>,
    store: &Store,
    (args, meant): (&RecoverArgs, &Meant),
    done: &mut Cleaning,
) -> Result<(), Failure> {
    let endpoints = endpoints(store, args, meant)?;
    let (found, silent) = look(attending.clients, &endpoints).await;
    say_silent(attending, args, &silent);
    for (endpoint, problem) in silent {
        if is_typed(args, &endpoint) {
            done.unseen.push(endpoint.clone());
        }
        let words = format!("{endpoint}: {}", problem.message);
        done.unreachable.push(words);
    }
    let found = found.into_iter().map(|(endpoint, tagged)| Found {
        run: tagged.run.parse().ok().and_then(|id| store.run(&id)),
        endpoint,
        tagged,
    });
    let wanted = |found: &Found| args.runs.is_empty() || is_named(found, meant);
    let found: Vec<Found> = found.filter(wanted).collect();
    refuse_unheard_of(meant, &found)?;
    let under_way = runs_under_way(&attending.desk.settings.lock_dir.value)?;
    let (live, found): (Vec<Found>, Vec<Found>) = found
        .into_iter()
        .partition(|one| one.run.is_none() && one.is_one_of(&under_way));
    for one in live {
        show(attending, args, one.left_alone(), done);
    }
    let may = may_take_out_unknown(attending, args, &found)?;
    for one in found {
        let may_go = match (is_named(&one, meant), &one.run) {
            (true, _) => Answer::Yes,
            (false, None) => may,
            (false, Some(_)) => Answer::No,
        };
        let leftover = take_out(attending, one, may_go).await?;
        if leftover.is_left() && may_go == Answer::No {
            hint(attending, &leftover);
        }
        show(attending, args, leftover, done);
    }
    Ok(())
}

fn show(attending: &Attending<'_>, args: &RecoverArgs, leftover: Leftover, done: &mut Cleaning) {
    cleaning::show_leftover(attending.desk, &leftover, args.cleaning.output);
    done.leftovers.push(leftover);
}

impl Found {
    fn is_one_of(&self, runs: &BTreeSet<RunId>) -> bool {
        runs.iter().any(|run| run.as_str() == self.tagged.run)
    }

    /// A run that keeps its state elsewhere holds the lock of a target on this machine.
    fn left_alone(self) -> Leftover {
        Leftover {
            endpoint: self.endpoint,
            run: self.tagged.run,
            whose: Whose::Live,
            left: self.tagged.rules.clone(),
            found: self.tagged.rules,
        }
    }
}

/// Every LocalStack that a run was on, or the named runs, and those that were typed.
fn endpoints(
    store: &Store,
    args: &RecoverArgs,
    meant: &Meant,
) -> Result<BTreeSet<String>, Problem> {
    let runs = match args.runs.is_empty() || !meant.unknown.is_empty() {
        true => store.runs()?,
        false => meant.runs.clone(),
    };
    let worlds = runs.iter().flat_map(worlds);
    let known = worlds
        .filter(|world| world.platform == "localstack")
        .map(|world| world.endpoint);
    let typed = args.endpoints.iter();
    let typed = typed.map(|url| url.trim_end_matches('/').to_owned());
    Ok(known.chain(typed).collect())
}

/// Where a run was to go, by its journal, and by its plan where that was lost.
fn worlds(run: &RunEntry) -> Vec<WorldIdentity> {
    if let Some(brief) = run.brief() {
        // A sandbox that the run's process carried is no more once that is gone.
        let own = brief.own_sandbox;
        let mut worlds = brief.worlds;
        worlds.retain(|world| own.as_ref() != Some(&world.endpoint));
        return worlds;
    }
    let plan = run
        .plan_text()
        .and_then(|text| StoredPlan::from_text(&text));
    plan.map_or_else(|_| Vec::new(), |stored| stored.plan.worlds())
}

type Silent = Vec<(String, Problem)>;

async fn look(clients: &Clients, endpoints: &BTreeSet<String>) -> (Vec<(String, Tagged)>, Silent) {
    let (mut found, mut silent) = (Vec::new(), Vec::new());
    let endpoints: Vec<&String> = endpoints.iter().collect();
    for some in endpoints.chunks(AT_ONCE) {
        let asked = some
            .iter()
            .map(|endpoint| faults::tagged(endpoint, clients));
        for (endpoint, answer) in some.iter().zip(join_all(asked).await) {
            match answer {
                Ok(all) => found.extend(all.into_iter().map(|one| ((*endpoint).clone(), one))),
                Err(problem) => silent.push(((*endpoint).clone(), problem)),
            }
        }
    }
    (found, silent)
}

/// A place that was typed has to be told; of the others most are sandboxes that are no more.
fn say_silent(attending: &Attending<'_>, args: &RecoverArgs, silent: &Silent) {
    let printer = &attending.desk.printer;
    for (endpoint, problem) in silent {
        match is_typed(args, endpoint) {
            true => printer.error(problem),
            false => printer.detail(&problem.message),
        }
    }
    let others = silent.iter();
    let others = others.filter(|(endpoint, _)| !is_typed(args, endpoint));
    let others = others.count();
    if others > 0 {
        let places = match others {
            1 => "1 place of earlier runs gave".to_owned(),
            count => format!("{count} places of earlier runs gave"),
        };
        printer.talk(&format!(
            "{places} no answer (-v names them): not looked at for rules"
        ));
    }
}

fn is_typed(args: &RecoverArgs, endpoint: &str) -> bool {
    let mut typed = args.endpoints.iter();
    typed.any(|url| url.trim_end_matches('/') == endpoint)
}

fn is_named(found: &Found, meant: &Meant) -> bool {
    let known = meant.runs.iter().map(|run| run.id.as_str());
    let unknown = meant.unknown.iter().map(|id| id.as_str());
    known.chain(unknown).any(|id| id == found.tagged.run)
}

/// Whoever names a run that neither the store nor any LocalStack knows has misspelt it.
fn refuse_unheard_of(meant: &Meant, found: &[Found]) -> Result<(), Problem> {
    let unheard = meant
        .unknown
        .iter()
        .find(|id| !found.iter().any(|one| one.tagged.run == id.as_str()));
    match unheard {
        None => Ok(()),
        Some(id) => Err(Problem::new(
            ProblemKind::Invalid,
            format!("there is no run `{id}` here, and none of its rules was found"),
        )
        .hint("`chaos runs` lists the runs; `--endpoint URL` looks on another LocalStack")),
    }
}

/// Whether the rules of runs that are not known here may go: a run elsewhere may be under way.
fn may_take_out_unknown(
    attending: &Attending<'_>,
    args: &RecoverArgs,
    found: &[Found],
) -> Result<Answer, Problem> {
    let unknown: Vec<&Found> = found.iter().filter(|one| one.run.is_none()).collect();
    if !args.all || unknown.is_empty() {
        return Ok(Answer::No);
    }
    if args.yes {
        return Ok(Answer::Yes);
    }
    let printer = &attending.desk.printer;
    for one in &unknown {
        for rule in &one.tagged.rules {
            printer.insist(&sanitise(&format!("{}  {rule}", one.endpoint)));
        }
    }
    let question = format!(
        "take out the rules of {} runs that are not known here? One may be under way elsewhere",
        unknown.len()
    );
    prompt::confirm(printer, &question, Answer::No)
}

/// `may_go`: whether rules may be taken out that no record of their run undoes.
async fn take_out(
    attending: &mut Attending<'_>,
    one: Found,
    may_go: Answer,
) -> Result<Leftover, Failure> {
    let found = one.tagged.rules.clone();
    let (whose, left) = match &one.run {
        None => (Whose::Unknown, found.clone()),
        Some(run) => match undone(attending, run, &one).await {
            Ok(Some(left)) => (Whose::Over, left),
            Ok(None) => (Whose::Live, found.clone()),
            // One that cannot be undone is no reason to leave the others in.
            Err(Failure::Problem(problem)) => {
                attending.desk.printer.error(&problem);
                (Whose::Over, found.clone())
            }
            Err(failure) => return Err(failure),
        },
    };
    let left = match (whose, may_go) {
        (Whose::Live, _) | (_, Answer::No) => left,
        (Whose::Unknown | Whose::Over, Answer::Yes) if left.is_empty() => left,
        (Whose::Unknown | Whose::Over, Answer::Yes) => exactly(attending, &one, left).await,
    };
    Ok(Leftover {
        endpoint: one.endpoint,
        run: one.tagged.run,
        whose,
        found,
        left,
    })
}

/// What is left after the run's own record was followed; `None`: somebody is at work on it.
async fn undone(
    attending: &mut Attending<'_>,
    run: &RunEntry,
    one: &Found,
) -> Result<Option<Vec<Value>>, Failure> {
    if run.attendance()?.is_somebody() {
        return Ok(None);
    }
    let Found {
        endpoint, tagged, ..
    } = one;
    attending.undo_again(run, endpoint, &tagged.rules).await?;
    let now = faults::tagged(endpoint, attending.clients).await?;
    let now = now.into_iter().find(|now| now.run == tagged.run);
    Ok(Some(now.map_or_else(Vec::new, |now| now.rules)))
}

/// What is left after these rules and no others were removed.
async fn exactly(attending: &Attending<'_>, one: &Found, left: Vec<Value>) -> Vec<Value> {
    let removed = faults::remove_tagged(&one.endpoint, attending.clients, &one.tagged).await;
    removed.unwrap_or_else(|problem| {
        attending.desk.printer.error(&problem);
        left
    })
}

fn hint(attending: &Attending<'_>, leftover: &Leftover) {
    let Leftover { endpoint, run, .. } = leftover;
    let words = match (run.parse::<RunId>(), leftover.whose) {
        // Whatever stands in a tag is no part of a command.
        (Err(_), _) => format!(
            "no run is called `{run}`: if nobody needs them, `chaos recover --all --endpoint {endpoint}` \
             takes these rules out"
        ),
        (Ok(run), Whose::Unknown) => format!(
            "nobody here knows {run}: if it is over, `chaos recover {run} --endpoint {endpoint}` takes \
             these rules out"
        ),
        (Ok(run), Whose::Live) => format!("{run} is under way: `chaos abort {run}` ends it"),
        (Ok(run), Whose::Over) => format!(
            "the record of {run} does not take them out: `chaos recover {run} --endpoint {endpoint}` \
             removes exactly these rules"
        ),
    };
    attending.desk.printer.warn(&sanitise(&words));
}
