//! Real kills: a real run on a real sandbox, ended at random points, and the sandbox's own list of
//! rules as the judge of what is left.
//!
//! `cargo test --test kills` ends a few; `make kills N=200` as many as are asked for, one for each
//! core at a time, and holds the guardian to its two seconds, for which the machine must have time. Every
//! kill follows from `--seed` and its number alone, as far as clocks allow; a failure prints both.
//!
//! `-- --every` does kill -9 and each signal in each phase, and goes on until each was hit.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test of its own, which tells its figures"
)]

mod aim;
mod drill;
mod judge;
mod proxy;
mod table;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use tokio::time::Instant;

use aim::{Aim, Blow, EVERY_BLOW, EVERY_PHASE};
use chaos_gameday::model::phase::Phase;
use table::Table;

/// Waiting takes most of a drill, so there may be more of them than cores.
const JOBS_PER_CORE: usize = 3;
/// How long a fault may stay in after a kill, on a machine that has other things to do.
const WITHIN_MS: u64 = 10_000;
const DEFAULT_DRILLS: u64 = 8;

/// What was asked for.
struct Wish {
    drills: u64,
    seed: u64,
    jobs: usize,
    within: Duration,
    only: Option<u64>,
    every: bool,
}

/// `None`: the filter of `cargo test NAME` is about other tests, or a list of tests is wanted.
fn wish() -> Option<Wish> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut wish = Wish {
        drills: DEFAULT_DRILLS,
        seed: 1,
        jobs: JOBS_PER_CORE * cores,
        within: Duration::from_millis(WITHIN_MS),
        only: None,
        every: false,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || -> u64 {
            let value = args.next().unwrap_or_default();
            value
                .parse()
                .unwrap_or_else(|_| panic!("{arg} takes a number, not `{value}`"))
        };
        match arg.as_str() {
            "--drills" => wish.drills = number(),
            "--seed" => wish.seed = number(),
            "--jobs" => wish.jobs = usize::try_from(number()).unwrap_or(usize::MAX).max(1),
            "--within-ms" => wish.within = Duration::from_millis(number()),
            "--only" => wish.only = Some(number()),
            "--every" => wish.every = true,
            "--list" => return None,
            "--test-threads" | "--format" | "--skip" => drop(args.next()),
            flag if flag.starts_with('-') => {}
            filter if "kills".contains(filter) => {}
            _ => return None,
        }
    }
    Some(wish)
}

fn main() -> ExitCode {
    let Some(wish) = wish() else {
        return ExitCode::SUCCESS;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(all(wish))
}

/// A drill, by its number.
type Numbered = (u64, Aim);

/// How often each kind of blow is tried on each phase before it counts as one that cannot be hit.
const ROUNDS: u64 = 8;

async fn all(wish: Wish) -> ExitCode {
    let begun = Instant::now();
    let dice = |number: u64| {
        ChaCha8Rng::seed_from_u64(wish.seed.wrapping_mul(1_000_003).wrapping_add(number))
    };
    let mut table = Table::default();
    let missed = if wish.every {
        every(&wish, &mut table, dice).await
    } else {
        let numbers = match wish.only {
            Some(number) => number..number + 1,
            None => 0..wish.drills,
        };
        let aims = numbers.map(|number| (number, Aim::of(number, &mut dice(number))));
        drill_all(aims.collect(), &wish, &mut table).await;
        Vec::new()
    };
    println!("{table}");
    for (blow, phase) in &missed {
        println!("{} never found a run in {}", blow.words(), phase.word());
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("{seconds:.1} s, seed {}", wish.seed);
    match table.is_clean() && missed.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Each blow in each phase. Clocks decide what a blow finds, so what was not found is tried again;
/// returns what never was.
async fn every(
    wish: &Wish,
    table: &mut Table,
    dice: impl Fn(u64) -> ChaCha8Rng,
) -> Vec<(Blow, Phase)> {
    let cells = EVERY_BLOW
        .iter()
        .flat_map(|blow| EVERY_PHASE.iter().map(|phase| (*blow, *phase)));
    let mut missed: Vec<(Blow, Phase)> = cells.collect();
    let mut number = 0;
    for _ in 0..ROUNDS {
        let aims = missed.iter().map(|(blow, phase)| {
            number += 1;
            (number, Aim::at(*blow, *phase, &mut dice(number)))
        });
        drill_all(aims.collect(), wish, table).await;
        missed.retain(|(blow, phase)| table.hits(blow.words(), phase.word()) == 0);
        if missed.is_empty() || !table.is_clean() {
            break;
        }
    }
    missed
}

async fn drill_all(aims: Vec<Numbered>, wish: &Wish, table: &mut Table) {
    let clients = Arc::new(chaos_gameday::clients::Clients::new().unwrap());
    let (seed, within) = (wish.seed, wish.within);
    let drills = aims.into_iter().map(|(number, aim)| {
        let clients = Arc::clone(&clients);
        async move {
            let drilled = tokio::spawn(drill::drill(aim.clone(), within, clients)).await;
            let result = drilled.unwrap_or_else(|died| Err(format!("the drill died: {died}")));
            (number, aim, result)
        }
    });
    let mut drilled = stream::iter(drills).buffer_unordered(wish.jobs);
    while let Some((number, aim, result)) = drilled.next().await {
        match result {
            Ok(found) => table.take(&aim, &found),
            Err(why) => {
                eprintln!("\nFAILED --seed {seed} --only {number}: {aim:?}\n{why}\n");
                table.fail();
            }
        }
    }
}
