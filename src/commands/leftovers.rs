//! Rules with this tool's tag on the LocalStacks that runs were on: what is over is undone by its own
//! record, what is unknown here only at a person's word.

use std::collections::BTreeSet;

use futures_util::future::join_all;

use super::attending::Attending;
use super::cleaning;
use super::recover::Meant;
use crate::cli::RecoverArgs;
use crate::clients::Clients;
use crate::error::Failure;
use crate::faults::{self, Tagged};
use crate::journal::{RunEntry, Store};
use crate::model::problem::{Problem, ProblemKind};
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
    done.unreachable = silent
        .into_iter()
        .map(|(endpoint, problem)| format!("{endpoint}: {}", problem.message))
        .collect();
    let found = found.into_iter().map(|(endpoint, tagged)| Found {
        run: tagged.run.parse().ok().and_then(|id| store.run(&id)),
        endpoint,
        tagged,
    });
    let wanted = |found: &Found| args.runs.is_empty() || is_named(found, meant);
    let found: Vec<Found> = found.filter(wanted).collect();
    refuse_unheard_of(meant, &found)?;
    let may = may_take_out_unknown(attending, args, &found)?;
    for one in found {
        let named = is_named(&one, meant);
        let unknown_may_go = match named {
            true => Answer::Yes,
            false => may,
        };
        let leftover = take_out(attending, one, unknown_may_go).await?;
        cleaning::show_leftover(attending.desk, &leftover, args.cleaning.output);
        if leftover.is_left() && leftover.whose == Whose::Unknown {
            hint(attending, &leftover);
        }
        done.leftovers.push(leftover);
    }
    Ok(())
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
    let worlds = runs.iter().filter_map(RunEntry::brief);
    let worlds = worlds.flat_map(|brief| brief.worlds);
    let known = worlds
        .filter(|world| world.platform == "localstack")
        .map(|world| world.endpoint);
    let typed = args.endpoints.iter();
    let typed = typed.map(|url| url.trim_end_matches('/').to_owned());
    Ok(known.chain(typed).collect())
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
    let is_typed = |endpoint: &String| {
        let mut typed = args.endpoints.iter();
        typed.any(|url| url.trim_end_matches('/') == endpoint)
    };
    for (endpoint, problem) in silent {
        match is_typed(endpoint) {
            true => printer.error(problem),
            false => printer.detail(&problem.message),
        }
    }
    let others = silent.iter().filter(|(endpoint, _)| !is_typed(endpoint));
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

async fn take_out(
    attending: &mut Attending<'_>,
    one: Found,
    unknown_may_go: Answer,
) -> Result<Leftover, Failure> {
    let rules = one.tagged.rules.clone();
    let leftover = |whose: Whose, left| Leftover {
        endpoint: one.endpoint.clone(),
        run: one.tagged.run.clone(),
        whose,
        found: rules.clone(),
        left,
    };
    let Some(run) = &one.run else {
        let left = match unknown_may_go {
            Answer::No => rules.clone(),
            Answer::Yes => {
                let clients = attending.clients;
                faults::remove_tagged(&one.endpoint, clients, &one.tagged).await?
            }
        };
        return Ok(leftover(Whose::Unknown, left));
    };
    if run.attendance()?.is_somebody() {
        return Ok(leftover(Whose::Live, rules.clone()));
    }
    attending.undo_again(run, &one.endpoint, &rules).await?;
    let now = faults::tagged(&one.endpoint, attending.clients).await?;
    let now = now.into_iter().find(|now| now.run == one.tagged.run);
    let left = now.map_or_else(Vec::new, |now| now.rules);
    Ok(leftover(Whose::Over, left))
}

fn hint(attending: &Attending<'_>, leftover: &Leftover) {
    let words = format!(
        "nobody here knows {}: if it is over, `chaos recover {} --endpoint {}` takes these rules out",
        leftover.run, leftover.run, leftover.endpoint
    );
    attending.desk.printer.warn(&sanitise(&words));
}
