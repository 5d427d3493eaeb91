//! Runs a target: first what was found before, then cases from a seed, as many as it is told or for as
//! long as it is told.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use tokio::time::Instant;

use super::corpus;
use super::input::{self, Corpus};
use super::watch::{self, Cost};

/// How many targets there are: the time that is given is shared between them.
const TARGETS: u32 = 17;

/// Cases are made in batches from one seed each.
const BATCH: u32 = 20;

/// Changing a longer one would take the time of many cases.
const LONGEST_SEED: usize = 16 << 10;

/// The seed of the default run, so that it finds the same today and tomorrow.
const FIXED_SEED: u64 = 6;

/// One at a time: what a case costs is read off the whole process.
static TURN: Mutex<()> = Mutex::new(());

/// Something that reads input from outside.
pub struct Target<'c> {
    /// Its name, and that of its folder of fixtures.
    pub name: &'static str,
    /// What is changed.
    pub corpus: Corpus,
    /// Cases of a default run.
    pub cases: u32,
    /// What must hold of any input; it panics where it does not.
    pub holds: &'c dyn Fn(&[u8]),
}

/// How long to go on.
enum Until {
    Cases(u32),
    Time(Duration),
}

/// The slowest case and the largest, and how many there were.
#[derive(Default)]
struct Tally {
    cases: u32,
    slowest: Cost,
    largest: Cost,
}

impl Target<'_> {
    /// Tries everything.
    pub fn run(mut self) {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let began = Instant::now();
        let found = corpus::folder(&format!("tests/fixtures/fuzz/{}", self.name));
        for (name, input) in &found {
            let cost = watch::watched(self.name, input, || (self.holds)(input));
            let excess = cost.excess(input.len());
            assert!(excess.is_none(), "{name}: {}", excess.unwrap_or_default());
        }
        let short = found.into_iter().map(|(_, input)| input);
        let short = short.filter(|input| input.len() <= LONGEST_SEED);
        self.corpus.seeds.extend(short);
        let (until, seed) = wishes(self.cases);
        let strategy = input::inputs(self.corpus.clone());
        let mut tally = Tally::default();
        let mut batch = 0;
        loop {
            let left = match until {
                Until::Cases(cases) => cases.saturating_sub(tally.cases).min(BATCH),
                Until::Time(time) if began.elapsed() < time => BATCH,
                Until::Time(_) => 0,
            };
            if left == 0 {
                break;
            }
            self.batch(&strategy, (seed, batch), left, &mut tally);
            batch += 1;
        }
        self.tell(&tally, began.elapsed());
    }

    fn batch(
        &self,
        strategy: &impl Strategy<Value = Vec<u8>>,
        (seed, batch): (u64, u64),
        cases: u32,
        tally: &mut Tally,
    ) {
        let mut runner = runner(seed, batch, cases);
        let costs = Mutex::new(std::mem::take(tally));
        let ended = runner.run(strategy, |input| {
            let cost = watch::watched(self.name, &input, || (self.holds)(&input));
            let mut tally = costs.lock().unwrap_or_else(PoisonError::into_inner);
            tally.take(cost);
            match cost.excess(input.len()) {
                Some(why) => Err(TestCaseError::fail(why)),
                None => Ok(()),
            }
        });
        *tally = costs.into_inner().unwrap_or_else(PoisonError::into_inner);
        match ended {
            Ok(()) => {}
            Err(TestError::Fail(why, input)) => {
                let path = watch::keep(self.name, &input);
                panic!(
                    "{why}\n{}: {} (seed {seed}, batch {batch})\nonce it is mended, move it to tests/fixtures/fuzz/{}/",
                    self.name,
                    path.display(),
                    self.name
                );
            }
            Err(TestError::Abort(why)) => panic!("{}: {why}", self.name),
        }
    }

    #[expect(clippy::print_stdout, reason = "what was tried is what one asks for")]
    fn tell(&self, tally: &Tally, took: Duration) {
        println!(
            "{:<16} {:>9} cases in {:>6.1} s, the slowest {:>7.1} ms, the largest {:>6.1} MiB",
            self.name,
            tally.cases,
            took.as_secs_f64(),
            tally.slowest.cpu.as_secs_f64() * 1_000.0,
            tally.largest.memory as f64 / f64::from(1 << 20),
        );
    }
}

impl Tally {
    fn take(&mut self, cost: Cost) {
        self.cases += 1;
        if cost.cpu > self.slowest.cpu {
            self.slowest = cost;
        }
        if cost.memory > self.largest.memory {
            self.largest = cost;
        }
    }
}

fn runner(seed: u64, batch: u64, cases: u32) -> TestRunner {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_time: 30_000,
        max_shrink_iters: 3_000,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&batch.to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// `CHAOS_FUZZ_SECONDS`: for so long, all targets together, from a seed that nobody has seen.
/// `CHAOS_FUZZ_SEED`: from this one.
#[expect(
    clippy::disallowed_methods,
    reason = "it is for whoever types `make fuzz`"
)]
fn wishes(cases: u32) -> (Until, u64) {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<u64>().expect("a whole number"))
    };
    let seed = number("CHAOS_FUZZ_SEED");
    match number("CHAOS_FUZZ_SECONDS") {
        Some(seconds) => (
            Until::Time(Duration::from_secs(seconds) / TARGETS),
            seed.unwrap_or_else(rand::random),
        ),
        None => (Until::Cases(cases), seed.unwrap_or(FIXED_SEED)),
    }
}

#[test]
fn every_folder_of_fixtures_belongs_to_a_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let folders = fs::read_dir(root.join("fixtures/fuzz")).expect("a folder of fixtures");
    let sources = corpus::sources(&root.join("fuzz/targets"));
    let named = sources.matches("\n    Target {\n").count();
    assert_eq!(u32::try_from(named), Ok(TARGETS), "targets share the time");
    for folder in folders {
        let name = folder.expect("a readable folder").file_name();
        let name = name.to_string_lossy();
        let wanted = format!("name: \"{name}\"");
        assert!(sources.contains(&wanted), "nothing replays {name}");
    }
}
