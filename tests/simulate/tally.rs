//! The command line of the simulation: which seeds are run, on how many threads, and what is said.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::director;
use crate::oracle::Verdict;
use crate::schedule::Schedule;
use crate::sim::Tracing;

/// Seeds that once broke a law; run every time.
const KNOWN: &str = include_str!("seeds.txt");
/// So many more where nobody says how many.
const USUAL: u64 = 200;
/// At most so many seeds that break a law are shown.
const MOST_SHOWN: usize = 5;

/// What is to be run.
enum Wanted {
    One(u64),
    Count(u64),
    Seconds(u64),
    Nothing,
}

/// What came of all schedules.
#[derive(Default)]
struct Tally {
    schedules: u64,
    ends: HashSet<u64>,
    outcomes: BTreeMap<String, u64>,
    reached: BTreeMap<String, u64>,
    broken: BTreeMap<u64, Vec<String>>,
}

pub fn main() -> ExitCode {
    let (wanted, first) = arguments();
    match wanted {
        Wanted::Nothing => ExitCode::SUCCESS,
        Wanted::One(seed) => one(seed),
        Wanted::Count(count) => many(first, Some(count), None),
        Wanted::Seconds(seconds) => many(first, None, Some(Duration::from_secs(seconds))),
    }
}

/// `--seed N`, `--count N`, `--seconds N`, `--from N`; a filter that names other tests runs nothing here.
fn arguments() -> (Wanted, u64) {
    let mut wanted = Wanted::Count(USUAL);
    let mut first = 0;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let next = arguments.next().and_then(|text| text.parse().ok());
            next.unwrap_or_else(|| panic!("{argument} needs a number"))
        };
        match argument.as_str() {
            "--seed" => wanted = Wanted::One(number()),
            "--count" => wanted = Wanted::Count(number()),
            "--seconds" => wanted = Wanted::Seconds(number()),
            "--from" => first = number(),
            "--list" => wanted = Wanted::Nothing,
            other if !other.starts_with('-') && !"simulate".contains(other) => {
                wanted = Wanted::Nothing;
            }
            _ => {}
        }
    }
    (wanted, first)
}

fn one(seed: u64) -> ExitCode {
    let schedule = Schedule::of(seed);
    println!("{schedule:#?}");
    let verdict = director::run(schedule, Tracing::On);
    println!("{}", verdict.trace);
    for violation in &verdict.violations {
        println!("VIOLATED: {violation}");
    }
    println!("{:?}", verdict.outcome);
    match verdict.violations.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn known() -> Vec<u64> {
    let lines = KNOWN.lines().filter(|line| !line.starts_with('#'));
    let words = lines.filter_map(|line| line.split_whitespace().next());
    words.map(|word| word.parse().expect("a seed")).collect()
}

fn many(first: u64, count: Option<u64>, within: Option<Duration>) -> ExitCode {
    let begun = Instant::now();
    let known = known();
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let all = Mutex::new(Tally::default());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let seed_of = |place: u64| match known.get(usize::try_from(place).unwrap_or(usize::MAX)) {
        Some(seed) => Some(*seed),
        None => {
            let place = place - known.len() as u64;
            count
                .is_none_or(|count| place < count)
                .then_some(first + place)
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut tally = Tally::default();
                while !stop.load(Ordering::Relaxed) {
                    let Some(seed) = seed_of(next.fetch_add(1, Ordering::Relaxed)) else {
                        break;
                    };
                    tally.take(seed, run_twice(seed));
                    let late = within.is_some_and(|within| begun.elapsed() >= within);
                    if late || tally.broken.len() >= MOST_SHOWN {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                all.lock().expect("no thread panics").add(tally);
            });
        }
    });
    let tally = all.into_inner().expect("no thread panics");
    tally.show(begun.elapsed(), threads);
    match tally.broken.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// The same seed leads to the same journal, byte for byte.
fn run_twice(seed: u64) -> Verdict {
    let mut verdict = director::run(Schedule::of(seed), Tracing::Off);
    if seed.is_multiple_of(8) {
        let again = director::run(Schedule::of(seed), Tracing::Off);
        if again.journal != verdict.journal {
            let differs = first_difference(&verdict.journal, &again.journal);
            let what = format!("the same seed leads to another journal: {differs}");
            verdict.violations.push(what);
        }
    }
    verdict
}

fn first_difference(one: &[u8], other: &[u8]) -> String {
    let (one, other) = (String::from_utf8_lossy(one), String::from_utf8_lossy(other));
    let differ = one
        .lines()
        .zip(other.lines())
        .find(|(left, right)| left != right);
    match differ {
        Some((left, right)) => format!("{left}\nand\n{right}"),
        None => "one of them is longer".to_owned(),
    }
}

impl Tally {
    fn take(&mut self, seed: u64, verdict: Verdict) {
        self.schedules += 1;
        self.ends.insert(verdict.end);
        let outcome = match verdict.outcome {
            Some(outcome) => outcome.word(),
            None => "no record",
        };
        *self.outcomes.entry(outcome.to_owned()).or_default() += 1;
        for word in verdict.reached {
            *self.reached.entry(word).or_default() += 1;
        }
        if !verdict.violations.is_empty() {
            self.broken.insert(seed, verdict.violations);
        }
    }

    fn add(&mut self, other: Self) {
        self.schedules += other.schedules;
        self.ends.extend(other.ends);
        self.broken.extend(other.broken);
        for (word, count) in other.outcomes {
            *self.outcomes.entry(word).or_default() += count;
        }
        for (word, count) in other.reached {
            *self.reached.entry(word).or_default() += count;
        }
    }

    fn show(&self, took: Duration, threads: usize) {
        let each = self.schedules as f64 / took.as_secs_f64();
        println!(
            "{} schedules in {:.1} s on {threads} threads: {each:.0} a second; {} distinct ends",
            self.schedules,
            took.as_secs_f64(),
            self.ends.len()
        );
        for (word, count) in &self.outcomes {
            println!("  {count:>9}  {word}");
        }
        let kinds: BTreeSet<&str> = self
            .reached
            .keys()
            .filter_map(|word| word.split(' ').next())
            .collect();
        for kind in kinds {
            let words = self
                .reached
                .iter()
                .filter(|(word, _)| word.split(' ').next() == Some(kind));
            let words: Vec<String> = words
                .map(|(word, count)| {
                    format!("{} {count}", word.split(' ').nth(1).unwrap_or_default())
                })
                .collect();
            println!("  {kind}: {}", words.join(", "));
        }
        for (seed, violations) in self.broken.iter().take(MOST_SHOWN) {
            let verdict = director::run(Schedule::of(*seed), Tracing::On);
            println!("\nseed {seed} breaks a law (`cargo test --test simulate -- --seed {seed}`):");
            println!("{}", verdict.trace);
            for violation in violations {
                println!("VIOLATED: {violation}");
            }
        }
    }
}
