//! The binary on a real pseudo-terminal: its controlling one, so that Ctrl-C goes the way that it
//! goes for a person, through the line discipline to the process group in front.
//!
//! Making it the controlling one takes a system call between fork and exec, which no safe Rust can
//! do; `setsid` of util-linux does it and then becomes the binary.
#![expect(clippy::unwrap_used, reason = "a test without a terminal has failed")]

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OutputModes, SpecialCodeIndex, Winsize, tcgetattr, tcsetwinsize,
};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant, sleep};

use super::process::{PATIENCE, Place, end_of};

/// What Ctrl-C and Ctrl-D send.
pub const CTRL_C: &str = "\u{3}";
pub const CTRL_D: &str = "\u{4}";
/// A key that comes before the question has put the terminal into its mode goes another way than a
/// person's, who needs longer than this.
const BEFORE_TYPING: Duration = Duration::from_millis(150);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);
/// Until what was drawn for another size has arrived.
const WHILE_RESIZED: Duration = Duration::from_millis(150);

/// A terminal of 80 columns and 24 rows with the binary in front.
pub struct Terminal {
    child: Child,
    controller: File,
    seen: Arc<Mutex<Vec<u8>>>,
    /// After so many bytes it became so large: columns and rows.
    sizes: Vec<(usize, (u16, u16))>,
    reading: JoinHandle<()>,
}

/// Whether there is no way here to give a process a terminal of its own. Says so, and what to
/// install; where every test has to run (`CHAOS_REQUIRE_E2E`), that is a failure.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test that is skipped says so, and CI may forbid it"
)]
pub fn is_missing() -> bool {
    let found = std::process::Command::new("setsid").arg("--help").output();
    if found.is_ok_and(|found| String::from_utf8_lossy(&found.stdout).contains("--ctty")) {
        return false;
    }
    let required = std::env::var_os("CHAOS_REQUIRE_E2E").is_some();
    assert!(!required, "`setsid --ctty` of util-linux is needed");
    eprintln!("skipped: no `setsid --ctty`, install util-linux");
    true
}

impl Terminal {
    /// Starts the binary.
    pub fn start(place: &Place, args: &[&str]) -> Self {
        Self::start_with(place, args, &[])
    }

    /// Starts the binary with more environment.
    pub fn start_with(place: &Place, args: &[&str], environment: &[(&str, &str)]) -> Self {
        let binary = env!("CARGO_BIN_EXE_chaos");
        Self::start_program(place, &[&[binary], args].concat(), environment)
    }

    /// Starts a shell that runs this script, in which `$0` is the binary.
    pub fn start_shell(place: &Place, script: &str) -> Self {
        let binary = env!("CARGO_BIN_EXE_chaos");
        Self::start_program(place, &["bash", "-c", script, binary], &[])
    }

    fn start_program(place: &Place, program: &[&str], environment: &[(&str, &str)]) -> Self {
        let (controller, user_side) = pair();
        let mut command = Command::new("setsid");
        command.arg("--ctty").args(program);
        place.surround(&mut command);
        command
            .envs(environment.iter().copied())
            .stdin(user_side.try_clone().unwrap())
            .stdout(user_side.try_clone().unwrap())
            .stderr(user_side);
        let child = command.spawn().unwrap();
        // It holds the user's side of the terminal, which must close with the process.
        drop(command);
        let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
        let reading = tokio::spawn(read(controller.try_clone().unwrap(), Arc::clone(&seen)));
        Self {
            child,
            controller,
            seen,
            sizes: vec![(0, (80, 24))],
            reading,
        }
    }

    /// Changes its size. What is on its way by then was meant for the old one, and is shown at that: a
    /// live view that sees another size draws nothing for longer than is waited here.
    pub async fn resizes(&mut self, columns: u16, rows: u16) {
        tcsetwinsize(&self.controller, size(columns, rows)).unwrap();
        sleep(WHILE_RESIZED).await;
        let shown = self.seen.lock().unwrap().len();
        self.sizes.push((shown, (columns, rows)));
    }

    /// What stands on the screen now, line by line, as a terminal shows it that folds nothing anew.
    pub fn screen(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        let mut parser = vt100::Parser::default();
        let ends = self.sizes.iter().skip(1).map(|(from, _)| *from);
        let ends = ends.chain([seen.len()]);
        for ((from, (columns, rows)), to) in self.sizes.iter().zip(ends) {
            let size = [*rows, *columns].map(|length| length.try_into().unwrap());
            parser.screen_mut().set_size(size[0], size[1]);
            parser.process(&seen[*from..to]);
        }
        parser
            .screen()
            .contents()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Waits until the screen has a line with this.
    pub async fn has_on_screen(&mut self, words: &str) {
        let begun = Instant::now();
        while !self.screen().iter().any(|line| line.contains(words)) {
            assert!(
                begun.elapsed() < PATIENCE,
                "`{words}` never came on the screen\n{}",
                self.screen().join("\n")
            );
            sleep(BETWEEN_LOOKS).await;
        }
    }

    /// The mode that the terminal is in.
    pub fn modes(&self) -> Modes {
        modes(&self.controller)
    }

    /// Sends the process a signal.
    pub fn signals(&self, signal: Signal) {
        let id = self.child.id().unwrap();
        kill_process(Pid::from_raw(id.cast_signed()).unwrap(), signal).unwrap();
    }

    /// Everything that was shown so far, escape codes included.
    pub fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    /// Waits until this was shown.
    pub async fn shows(&mut self, words: &str) {
        let begun = Instant::now();
        while !self.seen().contains(words) {
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() && begun.elapsed() < PATIENCE,
                "never showed `{words}` ({ended:?})\n{}",
                tail_of(&self.seen())
            );
            sleep(BETWEEN_LOOKS).await;
        }
    }

    /// Types this.
    pub async fn types(&mut self, keys: &str) {
        sleep(BEFORE_TYPING).await;
        self.writes(keys);
    }

    /// Sends this at once.
    pub fn writes(&mut self, keys: &str) {
        self.controller.write_all(keys.as_bytes()).unwrap();
    }

    /// Closes the terminal, as a person does who closes its window; returns how the process ended.
    pub async fn hangs_up(self) -> ExitStatus {
        let Self {
            mut child,
            controller,
            reading,
            ..
        } = self;
        // The reader holds the controlling side too, until it has gone.
        reading.abort();
        let _ = reading.await;
        drop(controller);
        end_of(&mut child, String::new).await
    }

    /// Waits for the end; returns how it ended and everything that was shown.
    pub async fn ended(self) -> (ExitStatus, String) {
        let (status, shown, _) = self.left().await;
        (status, shown)
    }

    /// The same, with the mode that the terminal was left in.
    pub async fn left(mut self) -> (ExitStatus, String, Modes) {
        let seen = Arc::clone(&self.seen);
        let text = || String::from_utf8_lossy(&seen.lock().unwrap()).into_owned();
        let status = end_of(&mut self.child, || tail_of(&text()).to_owned()).await;
        // Its side is closed, so that the reader sees the end.
        self.reading.await.unwrap();
        (status, text(), modes(&self.controller))
    }
}

/// The end of what was shown: a live view is redrawn ten times a second.
pub fn tail_of(shown: &str) -> &str {
    let start = shown.len().saturating_sub(3_000);
    let start = (start..shown.len()).find(|at| shown.is_char_boundary(*at));
    &shown[start.unwrap_or(0)..]
}

/// What a shell cares about in a terminal's mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modes {
    pub input: InputModes,
    pub output: OutputModes,
    pub local: LocalModes,
    /// How many bytes a read waits for, and how long.
    pub read: (u8, u8),
}

impl Modes {
    /// The same, with keys one by one and unechoed.
    pub fn with_keys(&self) -> Self {
        Self {
            local: self.local - LocalModes::ICANON - LocalModes::ECHO,
            read: (0, 0),
            ..self.clone()
        }
    }
}

/// The mode of a terminal.
pub fn modes(terminal: &impl AsFd) -> Modes {
    let found = tcgetattr(terminal).unwrap();
    let code = |index| found.special_codes[index];
    Modes {
        input: found.input_modes,
        output: found.output_modes,
        local: found.local_modes,
        read: (code(SpecialCodeIndex::VMIN), code(SpecialCodeIndex::VTIME)),
    }
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

/// The controlling side and the user's side.
pub fn pair() -> (File, File) {
    let controller: OwnedFd =
        openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let user_side = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(OFlags::NOCTTY.bits().cast_signed())
        .open(OsStr::from_bytes(name.as_bytes()))
        .unwrap();
    tcsetwinsize(&controller, size(80, 24)).unwrap();
    (File::from(controller), user_side)
}

/// Looks again and again: the safe way to be woken by a descriptor is not for terminals.
async fn read(mut controller: File, seen: Arc<Mutex<Vec<u8>>>) {
    fcntl_setfl(&controller, OFlags::NONBLOCK).unwrap();
    let mut chunk = [0; 8192];
    loop {
        match controller.read(&mut chunk) {
            Ok(count @ 1..) => seen.lock().unwrap().extend_from_slice(&chunk[..count]),
            Err(why) if why.kind() == ErrorKind::WouldBlock => sleep(BETWEEN_LOOKS).await,
            // The end is an error: EIO, once nobody has the user's side open.
            Ok(_) | Err(_) => return,
        }
    }
}
