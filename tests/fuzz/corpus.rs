//! Real input: what the examples and the fixtures hold.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Names and bytes of the files of a folder, by name; none where there is no such folder.
pub fn folder(folder: &str) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(root().join(folder)) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    let named = paths.into_iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = fs::read(&path).expect("a readable file");
        match name.ends_with(RECIPE) {
            true => (name.into_owned(), made_by(&bytes)),
            false => (name.into_owned(), bytes),
        }
    });
    named.collect()
}

/// How the name of a file ends that says how an input is made: `[[text, times], …]`, where `{n}` is the
/// number of the repetition. A megabyte of the same would only fill the repository.
const RECIPE: &str = ".recipe";

fn made_by(recipe: &[u8]) -> Vec<u8> {
    let parts: Vec<(String, usize)> = serde_json::from_slice(recipe).expect("a recipe");
    let parts = parts.iter().flat_map(|(text, times)| {
        (0..*times).map(move |number| text.replace("{n}", &number.to_string()))
    });
    parts.collect::<String>().into_bytes()
}

/// The bytes of the files of a folder whose names end like this.
pub fn files(of: &str, ending: &str) -> Vec<Vec<u8>> {
    let found = folder(of);
    let found = found.into_iter().filter(|(name, _)| name.ends_with(ending));
    let found: Vec<_> = found.map(|(_, bytes)| bytes).collect();
    assert!(!found.is_empty(), "no {ending} in {of}");
    found
}

/// One file.
pub fn file(path: &str) -> Vec<u8> {
    fs::read(root().join(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
}

/// The text of all files of a folder.
pub fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("a folder of sources");
    let texts = entries.map(|entry| {
        let path = entry.expect("a readable folder").path();
        fs::read_to_string(path).expect("a readable source")
    });
    texts.collect()
}
