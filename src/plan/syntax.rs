//! What to say when a text is no YAML: the parser knows where, this knows the usual reasons.

use super::problems::Found;

/// The problem for a place where the parser gave up.
pub(super) fn error(text: &str, at: usize, why: &str) -> Found {
    Found {
        message: format!("this is no YAML: {why}"),
        help: Some(syntax_help(why, line_around(text, at)).to_owned()),
        place: Some(at..at + 1),
        ..Found::default()
    }
}

fn line_around(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    text[start..].lines().next().unwrap_or_default()
}

/// The next move for the mistakes that people make most.
fn syntax_help(why: &str, line: &str) -> &'static str {
    let indent = &line[..line.len() - line.trim_start().len()];
    let value = line
        .split_once(": ")
        .map_or("", |(_, value)| value.trim_start());
    if why.contains("unknown anchor") || why.contains("anchor or alias") {
        "mark what it repeats with `&name`, further up; a text that starts with `*` goes in quotes"
    } else if indent.contains('\t') {
        "YAML is indented with spaces: replace the tab"
    } else if line.contains("${") && line.contains(['{', '[']) && flow_before_variable(line) {
        "inside `{…}` and `[…]` a variable has to stand in quotes: `\"${NAME}\"`"
    } else if value.starts_with(['>', '|', '@', '`', '%', '&', '*', '!']) {
        "put the value in quotes: it starts with a character that means something to YAML"
    } else if why.contains("mapping values") && value.contains(": ") {
        "put the value in quotes: it holds a colon and a space"
    } else {
        "check the indentation, the quotes and the brackets of this line and the one above"
    }
}

fn flow_before_variable(line: &str) -> bool {
    line.split("${")
        .next()
        .is_some_and(|before| before.contains(['{', '[']))
}
