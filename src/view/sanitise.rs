//! Text from outside must not steer a terminal: names, URLs and messages pass here before they are
//! shown.
//!
//! Three grades: a single line of somebody else's words, whole texts of our own with colours in
//! them, and text that is to be copied or parsed and may therefore be escaped but not shortened.

use std::fmt::Write as _;

/// One line of somebody else's words: no control characters, no escape sequences, no characters
/// that reorder or hide text. Line breaks and tabs become spaces.
pub fn sanitise(text: &str) -> String {
    let stripped = console::strip_ansi_codes(text);
    let mut clean = String::with_capacity(stripped.len());
    for letter in stripped.chars() {
        match letter {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => clean.push(' '),
            hidden if steers_or_hides(hidden) => {}
            plain => clean.push(plain),
        }
    }
    clean
}

/// A text of our own for a terminal: line breaks and colours (SGR) stay, everything else that steers
/// goes. The last guard, for what was not sanitised piece by piece.
pub fn scrub(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = match colour_length(rest) {
            Some(length) => {
                clean.push_str(&rest[..length]);
                length
            }
            None => {
                if letter == '\n' || !steers_or_hides(letter) {
                    clean.push(letter);
                }
                letter.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    clean
}

/// JSON, or a command with JSON in it, whose unprintable characters are written as `\uXXXX`: the
/// same meaning, nothing that steers.
pub fn escape_unprintable(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for letter in json.chars() {
        if steers_or_hides(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                write!(escaped, "\\u{unit:04x}").expect("writing into a String cannot fail");
            }
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

/// The length of the colour sequence that the text begins with.
fn colour_length(text: &str) -> Option<usize> {
    let body = text.strip_prefix("\u{1b}[")?;
    let digits = body.len()
        - body
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
            .len();
    body[digits..].starts_with('m').then_some(digits + 3)
}

fn steers_or_hides(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            // Zero width and direction marks, embeddings, overrides and isolates.
            '\u{200b}'..='\u{200f}'
                | '\u{061c}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                // Presentation selectors make a width that no two terminals agree on.
                | '\u{fe00}'..='\u{fe0f}'
                // Tags: a second, invisible alphabet.
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_from_outside_become_one_harmless_line() {
        for (hostile, shown) in [
            ("plain · ünï", "plain · ünï"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("a\nb\tc\r", "a b c "),
            ("\u{202e}evil\u{2066}", "evil"),
            ("bell\u{7}del\u{7f}csi\u{9b}31m", "belldelcsi"),
        ] {
            assert_eq!(sanitise(hostile), shown, "{hostile:?}");
        }
    }

    #[test]
    fn colours_pass_the_last_guard_and_cursor_movements_do_not() {
        assert_eq!(
            scrub("\u{1b}[1;31mred\u{1b}[0m\n\u{1b}[2Jgone\u{1b}]0;t\u{7}"),
            "\u{1b}[1;31mred\u{1b}[0m\n[2Jgone]0;t"
        );
    }

    #[test]
    fn escaped_json_means_the_same() {
        let value = serde_json::json!({"name": "a\u{202e}b\u{9b}c\u{7f}d\u{e0041}"});
        let text = escape_unprintable(&value.to_string());
        assert_eq!(text, r#"{"name":"a\u202eb\u009bc\u007fd\udb40\udc41"}"#);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).ok(),
            Some(value)
        );
    }
}
