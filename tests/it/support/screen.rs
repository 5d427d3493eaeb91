//! A printer whose output stays in memory, and one whose reader has gone away.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use chaos_gameday::view::{Printer, Setup};

/// What was written so far.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    stdout: Arc<Mutex<Vec<u8>>>,
    stderr: Arc<Mutex<Vec<u8>>>,
}

impl Captured {
    /// To standard output.
    pub fn stdout(&self) -> String {
        text(&self.stdout)
    }

    /// To standard error.
    pub fn stderr(&self) -> String {
        text(&self.stderr)
    }
}

/// A printer and what it writes.
pub fn captured(setup: Setup) -> (Printer, Captured) {
    let seen = Captured::default();
    let stdout = Box::new(Sink(seen.stdout.clone()));
    let stderr = Box::new(Sink(seen.stderr.clone()));
    (Printer::writing_to(setup, stdout, stderr), seen)
}

/// A printer each of whose writes fails like this.
pub fn failing(setup: Setup, kind: io::ErrorKind) -> Printer {
    Printer::writing_to(setup, Box::new(Broken(kind)), Box::new(Broken(kind)))
}

fn text(bytes: &Mutex<Vec<u8>>) -> String {
    let bytes = bytes.lock().expect("no writer panics").clone();
    String::from_utf8(bytes).expect("only text is written")
}

struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no writer panics").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Broken(io::ErrorKind);

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(self.0.into())
    }
}
