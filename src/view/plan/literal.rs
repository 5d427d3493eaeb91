//! JSON that can be copied as it stands: broken only where white space means nothing.

use std::iter::once;

use super::super::text::columns;

/// JSON in lines of at most so many columns, broken after commas that are in no string; a part that
/// has no such comma is as long as it is.
pub(super) fn packed(json: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let (mut in_string, mut escaped) = (false, false);
    for letter in json.chars() {
        let piece = pieces.last_mut().expect("there is always one");
        piece.push(letter);
        match letter {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            ',' if !in_string => pieces.push(String::new()),
            _ => {}
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
        match lines.last_mut() {
            Some(line) if columns(line) + columns(&piece) <= width => line.push_str(&piece),
            Some(_) | None => lines.extend(once(piece)),
        }
    }
    lines
}
