//! What one case may cost: processor time and memory. A case that takes more than it may of either
//! without ever ending is ended by a thread that watches, which writes the input down first.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

use super::MEMORY;

/// A case that takes less is in order whatever its size. Debug builds are an order of magnitude slower.
const ALWAYS: Duration = Duration::from_secs(if cfg!(debug_assertions) { 8 } else { 2 });
/// What each byte of the input may add to that.
const FOR_EACH_BYTE: Duration = Duration::from_micros(if cfg!(debug_assertions) { 40 } else { 10 });
/// A case that does nothing for so long waits for something that never comes.
const WAITS_FOREVER: Duration = Duration::from_secs(60);

/// What any case may hold at once, and what each byte of its input may add to that.
const MEMORY_ALWAYS: usize = 64 << 20;
const MEMORY_FOR_EACH_BYTE: usize = 100;
/// Beyond it the machine would suffer, not the test.
const MEMORY_OF_THE_MACHINE: usize = 2 << 30;

const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// A case under way.
struct Running {
    target: &'static str,
    input: Vec<u8>,
    cpu: Duration,
    since: Instant,
}

static RUNNING: Mutex<Option<Running>> = Mutex::new(None);
static WATCHER: Once = Once::new();

/// What a case took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// Processor time of the whole process: cases run one at a time.
    pub cpu: Duration,
    /// Most bytes held at once, beyond what was held before.
    pub memory: usize,
}

impl Cost {
    /// What is too much about it for an input of so many bytes.
    pub fn excess(&self, length: usize) -> Option<String> {
        let memory = MEMORY_ALWAYS + MEMORY_FOR_EACH_BYTE * length;
        if self.memory > memory {
            let held = self.memory;
            return Some(format!(
                "{length} bytes made it hold {held} bytes, more than {memory}"
            ));
        }
        let cpu = time_for(length);
        (self.cpu > cpu).then(|| format!("{length} bytes took {:?}, more than {cpu:?}", self.cpu))
    }
}

fn time_for(length: usize) -> Duration {
    ALWAYS + FOR_EACH_BYTE * u32::try_from(length).unwrap_or(u32::MAX)
}

/// Does something with an input under watch.
pub fn watched(target: &'static str, input: &[u8], work: impl FnOnce()) -> Cost {
    WATCHER.call_once(|| drop(thread::spawn(watch)));
    let cpu = cpu_time();
    *running() = Some(Running {
        target,
        input: input.to_vec(),
        cpu,
        since: Instant::now(),
    });
    let _over = Over;
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    work();
    Cost {
        cpu: cpu_time().saturating_sub(cpu),
        memory: MEMORY.peak_usage().saturating_sub(before),
    }
}

/// Ends the watch over a case, also where it panics.
struct Over;

impl Drop for Over {
    fn drop(&mut self) {
        *running() = None;
    }
}

fn running() -> MutexGuard<'static, Option<Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn cpu_time() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(spent).expect("no process has spent less than nothing")
}

/// Keeps an input where whoever looks for it finds it.
pub fn keep(target: &str, input: &[u8]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("fuzz")
        .join(target);
    fs::create_dir_all(&folder).expect("a writable target folder");
    let path = folder.join(format!("{:016x}", hash(input)));
    fs::write(&path, input).expect("a writable target folder");
    path
}

/// FNV-1a: a name that is the same for the same input.
fn hash(input: &[u8]) -> u64 {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    input.iter().fold(0xcbf2_9ce4_8422_2325, fold)
}

/// A thread cannot be ended from outside, so the process is.
#[expect(
    clippy::print_stderr,
    reason = "the process ends, and somebody has to know why"
)]
fn watch() {
    loop {
        thread::sleep(BETWEEN_LOOKS);
        let running = running();
        let Some(case) = running.as_ref() else {
            continue;
        };
        let spent = cpu_time().saturating_sub(case.cpu);
        let held = MEMORY.current_usage();
        let too_long = spent > time_for(case.input.len()) * 4;
        if too_long || held > MEMORY_OF_THE_MACHINE || case.since.elapsed() > WAITS_FOREVER {
            let path = keep(case.target, &case.input);
            let (target, path) = (case.target, path.display());
            eprintln!(
                "{target}: after {spent:?} of processor time, with {held} bytes, no end of {path}"
            );
            std::process::abort();
        }
    }
}
