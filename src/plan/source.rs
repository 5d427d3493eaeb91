//! Reads a document's text from a file that may be anything: a folder, a pipe, 50 MB of zeros.
//!
//! Nothing here blocks, and nothing larger than [`LARGEST`], or [`LARGEST_PLAN`], is ever read.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use crate::model::problem::{Problem, ProblemKind};

const MEBIBYTE: u64 = 1024 * 1024;

/// The largest document in bytes; an experiment has a few thousand.
pub const LARGEST: u64 = MEBIBYTE;

/// The largest plan in bytes: it holds its document, what was made of it and what is sent for it.
pub const LARGEST_PLAN: u64 = 64 * MEBIBYTE;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A document's text and what to call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path as the reader typed it.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// The text without a byte order mark; every place in a document counts from here.
    pub(crate) fn body(&self) -> &str {
        self.text
            .strip_prefix(BYTE_ORDER_MARK)
            .unwrap_or(&self.text)
    }
}

/// Reads a document's file.
///
/// # Errors
/// What the path is instead of a readable UTF-8 text file of at most [`LARGEST`] bytes.
pub fn read_source(path: &Path) -> Result<Source, Problem> {
    let name = path.display().to_string();
    let bytes = read_limited(&name, open(path)?, LARGEST)?;
    let text = decode_text(&name, bytes)?;
    Ok(Source {
        name,
        text: text.trim_start_matches(BYTE_ORDER_MARK).to_owned(),
    })
}

/// How a plan begins that was printed as YAML.
pub(super) const YAML_HEAD: &str = "digest: sha256:";

/// Reads a file that may be a plan's, byte for byte: nothing is left out that would void it. `None`: it
/// opens like no JSON object and like no plan that was printed as YAML, or is no text.
///
/// # Errors
/// What the path is instead of a readable file of at most [`LARGEST_PLAN`] bytes.
pub fn read_locked(path: &Path) -> Result<Option<String>, Problem> {
    let name = path.display().to_string();
    let mut file = open(path)?;
    let mut head = [0; 256];
    let read = file.read(&mut head);
    let read = read.map_err(|why| unreadable(&name, &why))?;
    let head = &head[..read];
    // A document of another kind is not read on: it has a smaller limit of its own.
    let opens = String::from_utf8_lossy(head);
    let opens = opens.trim_start_matches(BYTE_ORDER_MARK).trim_start();
    if !opens.starts_with('{') && !opens.starts_with(YAML_HEAD) {
        return Ok(None);
    }
    let mut bytes = head.to_vec();
    bytes.extend(read_limited(&name, file, LARGEST_PLAN)?);
    Ok(String::from_utf8(bytes).ok())
}

/// Opens a regular file; a pipe would wait for ever, a device may never end.
fn open(path: &Path) -> Result<File, Problem> {
    let name = path.display().to_string();
    // Looked at before it is opened: opening some devices already does something.
    let metadata = std::fs::metadata(path).map_err(|why| unreadable(&name, &why))?;
    check_kind(&name, &metadata)?;
    let file = OpenOptions::new()
        .read(true)
        // The path may have become a pipe meanwhile; opening one would wait for a writer.
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .map_err(|why| unreadable(&name, &why))?;
    let metadata = file.metadata().map_err(|why| unreadable(&name, &why))?;
    check_kind(&name, &metadata)?;
    Ok(file)
}

fn check_kind(name: &str, metadata: &Metadata) -> Result<(), Problem> {
    let kind = metadata.file_type();
    let what = if kind.is_dir() {
        return Err(
            invalid(format!("`{name}` is a folder, not a document")).hint(format!(
                "name a file in it: `{}/….yaml`",
                name.trim_end_matches('/')
            )),
        );
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        return Ok(());
    };
    Err(invalid(format!("`{name}` is {what}, not a file"))
        .hint("save the document to a file first: a plan has to name what it was made from"))
}

fn read_limited(name: &str, file: File, largest: u64) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    file.take(largest + 1)
        .read_to_end(&mut bytes)
        .map_err(|why| unreadable(name, &why))?;
    if bytes.len() as u64 <= largest {
        return Ok(bytes);
    }
    Err(invalid(format!(
        "`{name}` is too large for a document: more than {} MiB",
        largest / MEBIBYTE
    ))
    .hint("is it the right file? an experiment has a few thousand bytes"))
}

fn decode_text(name: &str, bytes: Vec<u8>) -> Result<String, Problem> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(invalid(format!("`{name}` is UTF-16 text"))
            .hint(format!("convert it: `iconv -f UTF-16 -t UTF-8 {name}`")));
    }
    let text = String::from_utf8(bytes).map_err(|why| {
        let valid = why.utf8_error().valid_up_to();
        let line = 1 + count_lines(&why.as_bytes()[..valid]);
        invalid(format!(
            "`{name}` is no UTF-8 text: byte {valid}, on line {line}"
        ))
        .hint("save the file as UTF-8")
    })?;
    match forbidden_character(&text) {
        None => Ok(text),
        Some((offset, character)) => Err(forbidden(name, &text, offset, character)),
    }
}

/// The first character that YAML does not allow in a document. Control characters would also reach
/// the terminal of whoever reads the error.
pub(crate) fn forbidden_character(text: &str) -> Option<(usize, char)> {
    text.char_indices().find(|(_, character)| {
        character.is_control() && !matches!(character, '\t' | '\n' | '\r' | '\u{85}')
    })
}

fn forbidden(name: &str, text: &str, offset: usize, character: char) -> Problem {
    let line = 1 + count_lines(&text.as_bytes()[..offset]);
    let what = match character {
        '\0' => "a NUL byte".to_owned(),
        other => format!("the control character U+{:04X}", u32::from(other)),
    };
    invalid(format!(
        "`{name}` is no YAML text: {what} at byte {offset}, on line {line}"
    ))
    .hint("take it out; inside double quotes it can be written as an escape such as `\\x1b`")
}

fn count_lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

fn unreadable(name: &str, why: &io::Error) -> Problem {
    if why.kind() == io::ErrorKind::NotFound {
        return invalid(format!("there is no file `{name}`"))
            .hint("check the path; `chaos init` writes a first experiment");
    }
    if why.kind() == io::ErrorKind::PermissionDenied {
        return invalid(format!("`{name}` may not be read: permission denied"))
            .hint(format!("`ls -l {name}` shows who may"));
    }
    invalid(format!("`{name}` cannot be read: {why}")).hint("check the path and the disk it is on")
}

fn invalid(message: String) -> Problem {
    Problem::new(ProblemKind::Invalid, message)
}
