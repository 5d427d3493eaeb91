//! The binary as a person or a script starts it: a process of its own, in a folder of its own, with
//! an environment that is the same on every machine.
#![expect(clippy::unwrap_used, reason = "a test that cannot start it has failed")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chaos_gameday::journal::Store;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

/// Longer than any run of a test, also on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Files by their path, with their bytes.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A working folder, a home, a state folder and one for locks, all gone with their handle.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["work", "runtime"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    /// A new place with these files in it.
    pub fn with(files: &Files) -> Self {
        let place = Self::new();
        for (path, bytes) in files {
            let path = place.folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        place
    }

    /// Every file in it.
    pub fn files(&self) -> Files {
        files_in(self.folder.path(), Path::new(""))
    }

    /// A path in the folder that commands are started in.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Where the locks are; a folder of its own, as all scripted servers tell the same session.
    pub fn runtime(&self) -> PathBuf {
        self.folder.path().join("runtime")
    }

    pub fn store(&self) -> Store {
        Store::open(self.state()).unwrap()
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// Everything in the working folder, sorted.
    pub fn listing(&self) -> Vec<String> {
        names_in(&self.path(""))
    }

    /// The command, not yet started.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chaos"));
        command.args(args);
        self.surround(&mut command);
        command
    }

    /// The same surroundings for another program that starts the binary.
    pub fn surround(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home())
            .env("CHAOS_STATE_DIR", self.state())
            .env("CHAOS_LOCK_DIR", self.runtime())
            .env("USER", "tester")
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .current_dir(self.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
    }

    /// Starts it, at once, and waits for its end.
    pub fn chaos(&self, args: &[&str]) -> impl Future<Output = Ended> + use<> {
        self.start(args).ended()
    }

    /// Starts it.
    pub fn start(&self, args: &[&str]) -> Running {
        Running::of(self.command(args))
    }
}

/// Every file below this path of a folder, with its path in the folder.
pub fn files_in(folder: &Path, below: &Path) -> Files {
    let mut files = Files::new();
    for name in names_in(&folder.join(below)) {
        let path = below.join(name);
        if folder.join(&path).is_dir() {
            files.extend(files_in(folder, &path));
        } else {
            let bytes = std::fs::read(folder.join(&path)).unwrap();
            files.insert(path, bytes);
        }
    }
    files
}

/// The names in a folder, sorted.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A process under way.
pub struct Running {
    child: Child,
    stdout: Heard,
    stderr: Heard,
}

impl Running {
    pub fn of(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stdout = child.stdout.take().map_or_else(Heard::nothing, Heard::from);
        let stderr = child.stderr.take().map_or_else(Heard::nothing, Heard::from);
        Self {
            child,
            stdout,
            stderr,
        }
    }

    /// Waits until one of its streams has said this so many times.
    pub async fn says_times(&mut self, words: &str, times: usize) {
        let begun = Instant::now();
        while self.stderr.text().matches(words).count() < times
            && self.stdout.text().matches(words).count() < times
        {
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() && begun.elapsed() < PATIENCE,
                "never said `{words}` {times} times ({ended:?})\n{}\n{}",
                self.stdout.text(),
                self.stderr.text()
            );
            sleep(BETWEEN_LOOKS).await;
        }
    }

    /// Waits until one of its streams has said this.
    pub async fn says(&mut self, words: &str) {
        self.says_times(words, 1).await;
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(pid_of(&self.child), signal).unwrap();
    }

    /// Waits for its end.
    pub async fn ended(mut self) -> Ended {
        let status = end_of(&mut self.child, || self.stderr.text()).await;
        Ended {
            status,
            stdout: self.stdout.all().await,
            stderr: self.stderr.all().await,
        }
    }
}

pub fn pid_of(child: &Child) -> Pid {
    let id = child.id().expect("it has not ended");
    Pid::from_raw(id.cast_signed()).expect("a process id is positive")
}

/// Waits for the end of a process; one that has none is killed with its handle.
pub async fn end_of(child: &mut Child, heard: impl Fn() -> String) -> ExitStatus {
    match timeout(PATIENCE, child.wait()).await {
        Ok(status) => status.unwrap(),
        Err(_) => panic!("no end after {PATIENCE:?}; it said:\n{}", heard()),
    }
}

/// What came out of a stream so far.
struct Heard {
    bytes: Arc<Mutex<Vec<u8>>>,
    reading: Option<JoinHandle<()>>,
}

impl Heard {
    fn nothing() -> Self {
        Self {
            bytes: Arc::default(),
            reading: None,
        }
    }

    fn from(mut stream: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let bytes: Arc<Mutex<Vec<u8>>> = Arc::default();
        let kept = Arc::clone(&bytes);
        let reading = tokio::spawn(async move {
            let mut chunk = [0; 8192];
            while let Ok(count @ 1..) = stream.read(&mut chunk).await {
                kept.lock().unwrap().extend_from_slice(&chunk[..count]);
            }
        });
        Self {
            bytes,
            reading: Some(reading),
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    async fn all(mut self) -> String {
        if let Some(reading) = self.reading.take() {
            reading.await.unwrap();
        }
        self.text()
    }
}

/// A process that ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        let shown = format!("{}\n{}", self.stdout, self.stderr);
        assert_eq!(self.status.code(), Some(code), "{}:\n{shown}", self.status);
        self
    }

    /// Asserts that stderr has these words.
    #[track_caller]
    pub fn tells(self, words: &str) -> Self {
        assert!(
            self.stderr.contains(words),
            "no `{words}` in\n{}",
            self.stderr
        );
        self
    }

    /// Asserts that stdout has these words.
    #[track_caller]
    pub fn prints(self, words: &str) -> Self {
        assert!(
            self.stdout.contains(words),
            "no `{words}` in\n{}",
            self.stdout
        );
        self
    }

    /// stdout as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(why) => panic!("{why} in\n{}", self.stdout),
        }
    }
}
