//! The program's own source text, seen as code: comments and literals blanked, test items cut out,
//! every `crate::` and `super::` path resolved. Enough of a reader for rules about structure; no parser.

use std::fs;
use std::path::{Path, PathBuf};

/// One file under `src/`.
pub struct SourceFile {
    /// Its path from `src/` on, as in `run/step.rs`.
    pub name: String,
    /// As written.
    pub text: String,
    /// Without comments, literals and test items; every byte that is left is where it was.
    pub code: String,
}

/// The repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file under `src/`, in the order of their names.
pub fn all() -> Vec<SourceFile> {
    let src = root().join("src");
    let mut paths = Vec::new();
    collect(&src, &mut paths);
    paths.sort();
    let files: Vec<_> = paths.iter().map(|path| read(&src, path)).collect();
    assert!(files.len() > 50, "the sources are not where they were");
    files
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources are readable") {
        let path = entry.expect("the sources are readable").path();
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push(path);
        }
    }
}

fn read(src: &Path, path: &Path) -> SourceFile {
    let text = fs::read_to_string(path).expect("the sources are readable");
    let name = path.strip_prefix(src).expect("collected from there");
    SourceFile {
        name: name.to_string_lossy().into_owned(),
        code: without_test_items(&blanked(&text)),
        text,
    }
}

impl SourceFile {
    /// The file's place in the house: the first part of its module path, `main` and `lib` for these.
    pub fn folder(&self) -> &str {
        let first = self.name.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// Whether the file is a test module of its own.
    pub fn is_test(&self) -> bool {
        self.name.ends_with("/tests.rs") || self.name.contains("/tests/")
    }

    /// The module path, as in `[run, step]`.
    fn module(&self) -> Vec<&str> {
        let stem = self.name.trim_end_matches(".rs");
        let parts: Vec<_> = stem.split('/').collect();
        match parts.as_slice() {
            ["lib" | "main"] => Vec::new(),
            [above @ .., "mod"] => above.to_vec(),
            whole => whole.to_vec(),
        }
    }

    /// Every path into the crate, from the crate's root on: `policy::AdmittedPlan`.
    pub fn crate_paths(&self) -> Vec<String> {
        let module = self.module();
        let mut found = Vec::new();
        for at in words(&self.code, "crate") {
            tree(&self.code[at + "crate".len()..], "", &mut found);
        }
        for at in words(&self.code, "super") {
            let before = &self.code[..at];
            if before.ends_with("super::") || before.ends_with("(in ") {
                continue;
            }
            let mut rest = &self.code[at..];
            let mut ups = 0;
            while let Some(after) = rest.strip_prefix("super") {
                ups += 1;
                rest = after;
                match after.strip_prefix("::") {
                    Some(next) if next.starts_with("super") => rest = next,
                    Some(_) | None => break,
                }
            }
            let stays = module.len().saturating_sub(ups);
            tree(rest, &module[..stays].join("::"), &mut found);
        }
        found.sort();
        found.dedup();
        found
    }

    /// Every function's name, line and length in lines, from `fn` to its closing brace.
    pub fn functions(&self) -> Vec<(String, usize, usize)> {
        words(&self.code, "fn")
            .into_iter()
            .filter_map(|at| function(&self.code, at))
            .collect()
    }
}

fn function(code: &str, at: usize) -> Option<(String, usize, usize)> {
    let name: String = code[at + 2..]
        .trim_start()
        .chars()
        .take_while(|letter| is_word(*letter))
        .collect();
    if name.is_empty() {
        return None;
    }
    let open = at + code[at..].find(['{', ';'])?;
    if code[open..].starts_with(';') {
        return None;
    }
    let close = open + matching_brace(&code[open..])?;
    let line = code[..at].matches('\n').count() + 1;
    Some((name, line, code[at..close].matches('\n').count() + 1))
}

/// The position after the brace that closes the first one.
fn matching_brace(code: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in code.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Follows `::a::{b, c::d}` and keeps each whole path.
fn tree(rest: &str, so_far: &str, found: &mut Vec<String>) {
    let mut path = so_far.to_owned();
    let mut rest = rest;
    while let Some(after) = rest.strip_prefix("::") {
        let after = after.trim_start();
        if let Some(group) = after.strip_prefix('{') {
            let end = matching_brace(after).unwrap_or(after.len());
            for branch in branches(&group[..end - 2]) {
                tree(&format!("::{}", branch.trim()), &path, found);
            }
            return;
        }
        let end = after.find(|letter| !is_word(letter)).unwrap_or(after.len());
        if end == 0 {
            break;
        }
        if !path.is_empty() {
            path.push_str("::");
        }
        path.push_str(&after[..end]);
        rest = &after[end..];
    }
    if !path.is_empty() {
        found.push(path);
    }
}

/// Splits at the commas that stand in no inner group.
fn branches(group: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut begin = 0;
    let mut all = Vec::new();
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                all.push(&group[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    all.push(&group[begin..]);
    all.retain(|branch| !branch.trim().is_empty());
    all
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Where a whole word stands.
pub fn words(code: &str, word: &str) -> Vec<usize> {
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(|at| {
            let before = code[..*at].chars().next_back();
            let after = code[at + word.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
        .collect()
}

/// Comments, texts and characters become blanks; lines stay lines.
fn blanked(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = literal_or_comment(rest, code.chars().next_back());
        if length == 0 {
            code.push(letter);
            rest = &rest[letter.len_utf8()..];
            continue;
        }
        let (skipped, after) = rest.split_at(length);
        code.extend(skipped.chars().map(|letter| match letter {
            '\n' => '\n',
            _ => ' ',
        }));
        rest = after;
    }
    code
}

/// How long the comment or literal is that begins here; 0 if none does.
fn literal_or_comment(rest: &str, before: Option<char>) -> usize {
    let to = |end: &str, from: usize| {
        rest[from..]
            .find(end)
            .map_or(rest.len(), |at| from + at + end.len())
    };
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return to("*/", 2);
    }
    if rest.starts_with('"') {
        return quoted(rest, '"');
    }
    if rest.starts_with('r') && !before.is_some_and(is_word) || rest.starts_with("br") {
        let raw = rest.trim_start_matches('b').trim_start_matches('r');
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let from = rest.len() - raw.len() + hashes + 1;
            return to(&format!("\"{}", "#".repeat(hashes)), from);
        }
    }
    if let Some(inner) = rest.strip_prefix('\'') {
        let mut inner = inner.chars();
        return match (inner.next(), inner.next()) {
            (Some('\\'), _) => quoted(rest, '\''),
            (Some(one), Some('\'')) => one.len_utf8() + 2,
            // A lifetime.
            (Some(_) | None, _) => 0,
        };
    }
    0
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Blanks every item under `#[cfg(test)]`.
fn without_test_items(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        let item = &rest[at..];
        let body = item.find(['{', ';']).unwrap_or(item.len());
        let end = if item[body..].starts_with('{') {
            body + matching_brace(&item[body..]).unwrap_or(item.len() - body)
        } else {
            (body + 1).min(item.len())
        };
        kept.extend(item[..end].chars().filter(|letter| *letter == '\n'));
        rest = &item[end..];
    }
    kept.push_str(rest);
    kept
}

#[test]
fn paths_are_found_through_groups_supers_and_expressions() {
    let text = "use crate::{model::{ids::RunId, units}, plan};\nuse super::super::wording;\n\
                fn f() { let _ = (\"crate::no\", 'c', crate::view::Speed::MAX); } // crate::no\n\
                #[cfg(test)]\nmod tests { use crate::sandbox; }\n";
    let file = SourceFile {
        name: "report/text/steps.rs".to_owned(),
        text: text.to_owned(),
        code: without_test_items(&blanked(text)),
    };
    assert_eq!(
        file.crate_paths(),
        [
            "model::ids::RunId",
            "model::units",
            "plan",
            "report::wording",
            "view::Speed::MAX"
        ]
    );
    assert_eq!(file.functions(), [("f".to_owned(), 3, 1)]);
}
