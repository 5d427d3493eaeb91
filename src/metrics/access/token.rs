//! A bearer token in a file, read again for every request.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::model::secret::Secret;

/// Bytes of a token, at most; larger headers are refused by every server.
const LARGEST: u64 = 64 << 10;

/// The token, without the white space around it.
///
/// # Errors
/// The file cannot be read, or holds no token; one sentence that names it.
pub(super) async fn read(path: &Path) -> Result<Secret, String> {
    let path = path.to_owned();
    // A file on a slow disk must not hold up the other readings.
    let reading = tokio::task::spawn_blocking(move || token(&path));
    match reading.await {
        Ok(token) => token,
        Err(_) => Err("the token file was not read: this program ends".to_owned()),
    }
}

fn token(path: &Path) -> Result<Secret, String> {
    let shown = path.display();
    let bytes = contents(path, LARGEST)
        .map_err(|why| format!("the token file {shown} cannot be read: {why}"))?;
    let text =
        String::from_utf8(bytes).map_err(|_| format!("the token file {shown} holds no text"))?;
    match text.trim() {
        "" => Err(format!("the token file {shown} is empty")),
        token => Some(Secret::new(token))
            .filter(Secret::is_redactable)
            .ok_or_else(|| {
                format!("the token in {shown} is too short to be hidden in what a server says")
            }),
    }
}

/// A whole file that is not absurdly large. A pipe is none: it would be waited for, and be empty the
/// second time.
pub(super) fn contents(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no ordinary file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(largest + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        let limit = largest >> 10;
        return Err(io::Error::other(format!("it is larger than {limit} KiB")));
    }
    Ok(bytes)
}
