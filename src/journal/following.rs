//! What somebody else adds to a journal, while he does.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::disk;
use super::line::ReadLine;
use crate::model::event::Record;
use crate::model::problem::Problem;

/// A place in a journal that moves on with what is read.
#[derive(Debug)]
pub struct Following {
    path: PathBuf,
    /// Bytes of the whole lines that were read.
    read: u64,
}

impl Following {
    /// From the first line on.
    pub fn of(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            read: 0,
        }
    }

    /// The records that came since. Lines that are none are passed over; one that is not whole yet
    /// comes with the next news.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn news(&mut self) -> Result<Vec<Record>, Problem> {
        let cannot = |why| disk::cannot("read", &self.path, &why);
        let mut file = disk::open_file(&self.path)?;
        let text = behind(&mut file, self.read).map_err(cannot)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |last| last + 1);
        self.read += whole as u64;
        let lines = text[..whole].split(|byte| *byte == b'\n');
        let records = lines.filter_map(|line| {
            let line = serde_json::from_slice::<ReadLine>(line).ok()?;
            Some(line.split().0)
        });
        Ok(records.collect())
    }
}

fn behind(file: &mut File, read: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    if file.metadata()?.len() > read {
        file.seek(SeekFrom::Start(read))?;
        file.read_to_end(&mut text)?;
    }
    Ok(text)
}
