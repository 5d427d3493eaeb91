//! How the text report writes numbers, times and words from outside.

use jiff::Timestamp;

use crate::model::remark::SinceFault;
use crate::model::units::Span;

/// Text from outside, on one line and unable to steer a terminal: control characters and those that
/// hide or reorder text are shown as their code.
pub(super) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => cleaned.push(' '),
            hidden if is_hidden(hidden) => cleaned.extend(hidden.escape_unicode()),
            plain => cleaned.push(plain),
        }
    }
    cleaned
}

fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Words as a sentence: a capital letter first, a full stop last.
pub(super) fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase);
    let mut sentence: String = first.into_iter().flatten().chain(letters).collect();
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

/// A length of time as a person says it: `812ms`, `7.5s`, `1m30s`, `2h5m`.
pub(super) fn length(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => Span::from_millis(milliseconds).to_string(),
        1_000..60_000 => match milliseconds % 1_000 / 100 {
            0 => format!("{}s", milliseconds / 1_000),
            tenths => format!("{}.{tenths}s", milliseconds / 1_000),
        },
        _ => Span::from_millis(milliseconds / 1_000 * 1_000).to_string(),
    }
}

/// How long after its request an answer came: `after 4ms`, `in under 1 ms`.
pub(super) fn after(milliseconds: u64) -> String {
    match milliseconds {
        0 => "in under 1 ms".to_owned(),
        _ => format!("after {}", length(milliseconds)),
    }
}

/// How long after the fault something happened.
pub(super) fn since_fault(since: Option<SinceFault>) -> String {
    match since {
        None => "before any fault was in".to_owned(),
        Some(since) => format!(
            "{} after the fault of step {} went in",
            length(since.after_ms),
            since.step + 1
        ),
    }
}

/// A place on the run's clock: `T+00:10.1`, `T+1:02:03.4`.
pub(super) fn offset(at_ms: u64) -> String {
    let (seconds, tenths) = (at_ms / 1_000, at_ms % 1_000 / 100);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    let seconds = seconds % 60;
    match hours {
        0 => format!("T+{minutes:02}:{seconds:02}.{tenths}"),
        _ => format!("T+{hours}:{minutes:02}:{seconds:02}.{tenths}"),
    }
}

/// A date and time in UTC: `2026-03-14 09:30:00 UTC`.
pub(super) fn date_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// A time of day in UTC: `09:30:00`.
pub(super) fn time_of_day(time: Timestamp) -> String {
    time.strftime("%H:%M:%S").to_string()
}

/// `1 reading`, `2 readings`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_can_steer_a_terminal_or_hide() {
        let hostile = "a\u{1b}[2Jb\r\nc\u{202e}d\u{200b}\u{9b}\u{7f}\u{e0041}e";
        assert_eq!(
            clean(hostile),
            r"a\u{1b}[2Jb\u{d} c\u{202e}d\u{200b}\u{9b}\u{7f}\u{e0041}e"
        );
        assert_eq!(clean("größer, 東京, < 1 %"), "größer, 東京, < 1 %");
    }

    #[test]
    fn lengths_read_like_the_durations_of_a_document() {
        let told = [0, 4, 999, 1_000, 7_549, 59_999, 60_000, 90_500, 7_500_000].map(length);
        assert_eq!(
            told,
            [
                "0s", "4ms", "999ms", "1s", "7.5s", "59.9s", "1m", "1m30s", "2h5m"
            ]
        );
    }

    #[test]
    fn offsets_grow_by_hours_only_when_needed() {
        assert_eq!(
            [0, 10_107, 3_723_400].map(offset),
            ["T+00:00.0", "T+00:10.1", "T+1:02:03.4"]
        );
    }
}
