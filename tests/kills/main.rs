//! Real kills: a real run on a real sandbox, ended at random points, and the sandbox's own list of
//! rules as the judge of what is left.
//!
//! `cargo test --test kills` ends a few; `make kills N=200` as many as are asked for, one for each
//! core at a time, and holds the guardian to its two seconds, for which the machine must have time. Every
//! kill follows from `--seed` and its number alone, as far as clocks allow; a failure prints both.
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

use aim::Aim;
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

async fn all(wish: Wish) -> ExitCode {
    let begun = Instant::now();
    let numbers: Vec<u64> = match wish.only {
        Some(number) => vec![number],
        None => (0..wish.drills).collect(),
    };
    let clients = Arc::new(chaos_gameday::clients::Clients::new().unwrap());
    let (seed, within) = (wish.seed, wish.within);
    let drills = numbers.into_iter().map(|number| {
        let clients = Arc::clone(&clients);
        async move {
            let mut dice =
                ChaCha8Rng::seed_from_u64(seed.wrapping_mul(1_000_003).wrapping_add(number));
            let aim = Aim::of(number, &mut dice);
            let drilled = tokio::spawn(drill::drill(aim.clone(), within, clients)).await;
            let result = drilled.unwrap_or_else(|died| Err(format!("the drill died: {died}")));
            (number, aim, result)
        }
    });
    let mut drilled = stream::iter(drills).buffer_unordered(wish.jobs);
    let mut table = Table::default();
    while let Some((number, aim, result)) = drilled.next().await {
        match result {
            Ok(found) => table.take(&aim, &found),
            Err(why) => {
                eprintln!("\nFAILED --seed {seed} --only {number}: {aim:?}\n{why}\n");
                table.fail();
            }
        }
    }
    println!("{table}");
    println!("{:.1} s, seed {seed}", begun.elapsed().as_secs_f64());
    match table.is_clean() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
