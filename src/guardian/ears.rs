//! The guardian's end of the pipe: lines as they come, silence, and the end.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::time::Instant;

/// No run says more in a line.
const LONGEST_LINE: usize = 1024 * 1024;

/// What is heard.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// A line, without its end.
    Line(String),
    /// Nothing, for as long as was waited.
    Silence,
    /// Nobody holds the other end any more.
    Closed,
}

/// Listens to a pipe, one line at a time.
pub(super) struct Ears<'a> {
    pipe: BorrowedFd<'a>,
    /// What came and was not handed on yet.
    pending: Vec<u8>,
}

impl<'a> Ears<'a> {
    pub(super) fn on(pipe: BorrowedFd<'a>) -> Self {
        Self {
            pipe,
            pending: Vec::new(),
        }
    }

    /// The next line, or what there is instead. A signal that breaks the waiting off makes it no
    /// longer and no shorter.
    ///
    /// # Errors
    /// The pipe cannot be read, or somebody who is no run writes to it.
    pub(super) fn next(&mut self, within: Duration) -> io::Result<Heard> {
        let until = Instant::now() + within;
        loop {
            if let Some(line) = self.line() {
                return Ok(Heard::Line(line));
            }
            if self.pending.len() > LONGEST_LINE {
                return Err(io::Error::other("a line without an end"));
            }
            if !self.is_anything_there(until)? {
                return Ok(Heard::Silence);
            }
            let mut piece = [0; 512];
            match rustix::io::read(self.pipe, &mut piece) {
                Ok(0) => return Ok(Heard::Closed),
                Ok(length) => self.pending.extend_from_slice(&piece[..length]),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(why) => return Err(why.into()),
            }
        }
    }

    fn line(&mut self) -> Option<String> {
        let end = self.pending.iter().position(|byte| *byte == b'\n')?;
        let mut line: Vec<u8> = self.pending.drain(..=end).collect();
        line.pop();
        Some(String::from_utf8_lossy(&line).into_owned())
    }

    /// Waits for something to read; the end of the pipe is something too.
    fn is_anything_there(&self, until: Instant) -> io::Result<bool> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
            let mut looked_at = [PollFd::from_borrowed_fd(self.pipe, PollFlags::IN)];
            match poll(&mut looked_at, Some(&timeout)) {
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(why) => return Err(why.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsFd as _;

    use super::*;

    const NOW: Duration = Duration::ZERO;
    /// A process that another test starts has the writer's end too, until it becomes another program.
    const SOON: Duration = Duration::from_secs(60);

    #[test]
    fn lines_come_one_by_one_however_they_were_written() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut ears = Ears::on(reader.as_fd());
        assert_eq!(ears.next(NOW).unwrap(), Heard::Silence);
        writer.write_all(b"one\ntw").unwrap();
        assert_eq!(ears.next(NOW).unwrap(), Heard::Line("one".to_owned()));
        assert_eq!(ears.next(NOW).unwrap(), Heard::Silence);
        writer.write_all(b"o\nrest").unwrap();
        drop(writer);
        assert_eq!(ears.next(NOW).unwrap(), Heard::Line("two".to_owned()));
        assert_eq!(ears.next(SOON).unwrap(), Heard::Closed);
        assert_eq!(ears.next(NOW).unwrap(), Heard::Closed);
    }

    #[test]
    fn a_line_without_an_end_is_not_kept() {
        let (reader, mut writer) = io::pipe().unwrap();
        let writing = std::thread::spawn(move || {
            let chunk = [b'x'; 4096];
            while writer.write_all(&chunk).is_ok() {}
        });
        let mut ears = Ears::on(reader.as_fd());
        let endless = ears.next(Duration::from_secs(60)).unwrap_err();
        assert_eq!(endless.to_string(), "a line without an end");
        drop(reader);
        writing.join().unwrap();
    }
}
