//! The only writer to stdout and stderr. stdout is data, stderr is talk.
//!
//! It is told what it writes to and what the environment says; it reads neither variables nor a
//! clock. A closed pipe is remembered and swallowed; any other failure to write data is kept for
//! `outcome`.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::problem::{Problem, ProblemKind};

use super::sanitise::{sanitise, scrub};
use super::setup::{Device, Loudness, Setup, Size, Stream};
use super::text::{columns, hung};
use super::theme::Tone;

/// How much further in a text goes on in its second line.
const CONTINUED: usize = 2;
/// No terminal is laid out for that is narrower.
const NARROWEST: usize = 20;

/// The writer; clones write to the same streams.
#[derive(Clone)]
pub struct Printer {
    setup: Setup,
    streams: Arc<Mutex<Streams>>,
}

struct Streams {
    stdout: Box<dyn Write + Send>,
    stderr: Box<dyn Write + Send>,
    closed: bool,
    failure: Option<io::Error>,
}

impl fmt::Debug for Printer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Printer")
            .field("setup", &self.setup)
            .finish_non_exhaustive()
    }
}

impl Printer {
    /// Writes to this process's streams.
    pub fn new(setup: Setup) -> Self {
        Self::writing_to(setup, Box::new(io::stdout()), Box::new(io::stderr()))
    }

    /// Writes elsewhere: tests, and output into a file.
    pub fn writing_to(
        setup: Setup,
        stdout: Box<dyn Write + Send>,
        stderr: Box<dyn Write + Send>,
    ) -> Self {
        let streams = Streams {
            stdout,
            stderr,
            closed: false,
            failure: None,
        };
        Self {
            setup,
            streams: Arc::new(Mutex::new(streams)),
        }
    }

    /// How output looks.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Columns and rows of the terminal that talk goes to; 80 × 24 where there is none.
    pub fn size(&self) -> (usize, usize) {
        match (self.setup.size, self.setup.devices.stderr) {
            (Size::Fixed(columns, rows), _) => (columns.into(), rows.into()),
            (Size::Ask, Device::Terminal) => {
                let (rows, columns) = console::Term::stderr().size();
                (columns.into(), rows.into())
            }
            (Size::Ask, Device::Other) => (80, 24),
        }
    }

    /// Somebody can be asked: a person at a terminal, and no CI.
    pub fn has_person(&self) -> bool {
        let devices = self.setup.devices;
        devices.stdin == Device::Terminal
            && devices.stderr == Device::Terminal
            && !self.setup.environment.ci
    }

    /// The terminal can redraw lines: a real one, and no CI log.
    pub fn can_redraw(&self) -> bool {
        let environment = self.setup.environment;
        self.setup.devices.stderr == Device::Terminal && !environment.ci && !environment.term_dumb
    }

    /// Data, to stdout, ended by a line break. Byte for byte into a pipe; on a terminal nothing that
    /// steers it passes.
    pub fn data(&self, text: &str) {
        let text = match self.setup.devices.stdout {
            Device::Terminal => scrub(text),
            Device::Other => text.to_owned(),
        };
        self.write(Stream::Stdout, &with_line_break(text));
    }

    /// Talk, to stderr; not when quiet.
    pub fn talk(&self, text: &str) {
        if self.setup.loudness > Loudness::Quiet {
            self.insist(text);
        }
    }

    /// Talk for those who asked for every detail.
    pub fn detail(&self, text: &str) {
        if self.setup.loudness == Loudness::Verbose {
            self.insist(text);
        }
    }

    /// Talk that is shown even when quiet.
    pub fn insist(&self, text: &str) {
        self.write(Stream::Stderr, &with_line_break(scrub(text)));
    }

    /// Something went as hoped.
    pub fn success(&self, text: &str) {
        let colour = self.setup.colour(Stream::Stderr);
        for line in self.folded(&sanitise(text), CONTINUED) {
            self.talk(&Tone::Good.paint(&line, colour));
        }
    }

    /// Something that a reader should know.
    pub fn warn(&self, text: &str) {
        if self.setup.loudness > Loudness::Quiet {
            self.labelled("", ("warning:", Tone::Caution), text);
        }
    }

    /// Something went wrong; shown even when quiet.
    pub fn error(&self, problem: &Problem) {
        self.labelled("", ("error:", Tone::Bad), &problem.message);
        if let Some(hint) = &problem.hint {
            self.labelled("  ", ("hint:", Tone::Strong), hint);
        }
    }

    fn labelled(&self, margin: &str, (label, tone): (&str, Tone), text: &str) {
        let head = tone.paint(label, self.setup.colour(Stream::Stderr));
        let indent = columns(margin) + columns(label) + 1;
        let text = format!("{margin}{head} {}", sanitise(text));
        self.insist(&self.folded(&text, indent).join("\n"));
    }

    /// Talk in lines as wide as the terminal, broken at blanks and hanging by so many columns; as it
    /// is where no terminal would break it.
    pub(super) fn folded(&self, text: &str, indent: usize) -> Vec<String> {
        match self.setup.devices.stderr {
            Device::Terminal => hung(text, self.size().0.max(NARROWEST), indent),
            Device::Other => vec![text.to_owned()],
        }
    }

    /// The reader of one of the streams went away; nothing more needs to be written.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Whether all data was written.
    ///
    /// # Errors
    /// A write to stdout failed for another reason than a closed pipe, such as a full disk.
    pub fn outcome(&self) -> Result<(), Problem> {
        // Somebody is still writing where nobody reads: there is no answer, and no reason to wait.
        let Ok(streams) = self.streams.try_lock() else {
            return Ok(());
        };
        match &streams.failure {
            None => Ok(()),
            Some(why) => Err(Problem::new(
                ProblemKind::Evidence,
                format!("standard output could not be written: {why}"),
            )
            .hint("free some space or write elsewhere, then ask for it again")),
        }
    }

    /// Bytes for the terminal, escape codes and all: only for drawing the live view.
    pub(super) fn draw(&self, sequence: &str) {
        self.write(Stream::Stderr, sequence);
    }

    fn write(&self, stream: Stream, text: &str) {
        let mut streams = self.lock();
        let writer = match stream {
            Stream::Stdout => &mut streams.stdout,
            Stream::Stderr => &mut streams.stderr,
        };
        let written = writer
            .write_all(text.as_bytes())
            .and_then(|()| writer.flush());
        match written {
            Ok(()) => {}
            Err(why) if why.kind() == io::ErrorKind::BrokenPipe => streams.closed = true,
            // Talk that cannot be shown must not stop a run that has a fault in place.
            Err(why) => {
                if stream == Stream::Stdout {
                    streams.failure.get_or_insert(why);
                }
            }
        }
    }

    /// A panic elsewhere while writing leaves nothing half-done that matters here.
    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn with_line_break(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
