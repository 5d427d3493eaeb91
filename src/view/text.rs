//! Widths and lengths: fitting words into columns, and times as people read them.

use crate::model::units::Span;

/// Columns that the text takes on a terminal; colours take none.
pub fn columns(text: &str) -> usize {
    console::measure_text_width(text)
}

/// The text, cut with `…` where it is wider.
pub fn fit(text: &str, width: usize) -> String {
    if width == 0 {
        return String::new();
    }
    console::truncate_str(text, width, "…").into_owned()
}

/// Exactly this many columns, text to the left.
pub fn left(text: &str, width: usize) -> String {
    let text = fit(text, width);
    let filler = width.saturating_sub(columns(&text));
    format!("{text}{}", " ".repeat(filler))
}

/// Exactly this many columns, text to the right.
pub fn right(text: &str, width: usize) -> String {
    let text = fit(text, width);
    let filler = width.saturating_sub(columns(&text));
    format!("{}{text}", " ".repeat(filler))
}

/// The text in lines that fit, broken at blanks; from the second line on behind so many blanks.
///
/// A word, and whatever stands between two backticks, stays whole even where it is too wide: it may
/// be there to be copied.
pub fn hung(text: &str, width: usize, indent: usize) -> Vec<String> {
    if columns(text) <= width {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut begins = true;
    for unit in units(text) {
        let taken = columns(&line) + 1 + columns(&unit);
        // What fits nowhere gains nothing from a line of its own.
        let fits_below = indent + columns(&unit) <= width || columns(&line) >= width;
        if !begins && taken > width && fits_below && !line.trim().is_empty() {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            begins = true;
        }
        if !begins {
            line.push(' ');
        }
        line.push_str(&unit);
        begins = false;
    }
    lines.push(line);
    lines
        .iter()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// The words of a text; those between two backticks are one.
fn units(text: &str) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    let mut ahead = text.matches('`').count();
    let mut is_open = false;
    for word in text.split(' ') {
        let ticks = word.matches('`').count();
        ahead -= ticks;
        match units.last_mut() {
            Some(unit) if is_open => {
                unit.push(' ');
                unit.push_str(word);
            }
            Some(_) | None => units.push(word.to_owned()),
        }
        if ticks % 2 == 1 {
            is_open = !is_open && ahead > 0;
        }
    }
    units
}

/// The run's clock: `T+00:16`, `T+1:02:03`.
pub fn clock(elapsed_ms: u64) -> String {
    let seconds = elapsed_ms / 1_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours == 0 {
        format!("T+{minutes:02}:{seconds:02}")
    } else {
        format!("T+{hours}:{minutes:02}:{seconds:02}")
    }
}

/// The run's clock to a tenth of a second: `T+00:12.3`.
pub fn fine_clock(elapsed_ms: u64) -> String {
    format!("{}.{}", clock(elapsed_ms), elapsed_ms / 100 % 10)
}

/// A measured length of time: `4ms`, `5.1s`, `1m30s`.
pub fn length(milliseconds: u64) -> String {
    let (seconds, tenth) = (milliseconds / 1_000, milliseconds / 100 % 10);
    match (milliseconds, tenth) {
        (0..1_000, _) => format!("{milliseconds}ms"),
        (1_000..60_000, 0) => format!("{seconds}s"),
        (1_000..60_000, _) => format!("{seconds}.{tenth}s"),
        (60_000.., _) => whole_seconds(milliseconds),
    }
}

/// How long an answer took: `4ms`, `under 1 ms`.
pub fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0 => "under 1 ms".to_owned(),
        _ => length(milliseconds),
    }
}

/// A running length of time, in whole seconds so that it counts calmly: `4s`, `1m30s`.
pub fn whole_seconds(milliseconds: u64) -> String {
    Span::from_secs(milliseconds / 1_000).to_string()
}

/// UTC to the second.
pub fn clock_time(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// `1 rule`, `2 rules`.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{count} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_are_cut_by_columns_not_by_bytes() {
        assert_eq!(fit("漢字漢字", 5), "漢字…");
        assert_eq!(columns(&left("漢字漢字", 6)), 6);
        assert_eq!(left("ab", 4), "ab  ");
        assert_eq!(right("abcdef", 4), "abc…");
        assert_eq!(fit("abc", 0), "");
    }

    #[test]
    fn lines_break_at_blanks_and_what_may_be_copied_stays_whole() {
        let told = |text: &str, width| hung(text, width, 4).join("\n");
        assert_eq!(told("one two", 7), "one two");
        assert_eq!(told("one two three", 9), "one two\n    three");
        assert_eq!(
            told("please say `chaos plan x.yaml` once more", 24),
            "please say\n    `chaos plan x.yaml`\n    once more"
        );
        assert_eq!(
            told("it is `far too wide for that` anyway", 16),
            "it is `far too wide for that`\n    anyway"
        );
        assert_eq!(told("a lone ` breaks", 10), "a lone `\n    breaks");
        assert_eq!(
            told("\u{1b}[31mred\u{1b}[0m two", 7),
            "\u{1b}[31mred\u{1b}[0m two"
        );
    }

    #[test]
    fn times_read_as_people_say_them() {
        assert_eq!(clock(16_999), "T+00:16");
        assert_eq!(clock(3_723_000), "T+1:02:03");
        assert_eq!(fine_clock(12_345), "T+00:12.3");
        assert_eq!(length(4), "4ms");
        assert_eq!(length(5_149), "5.1s");
        assert_eq!(length(5_000), "5s");
        assert_eq!(length(90_400), "1m30s");
        assert_eq!(whole_seconds(4_999), "4s");
    }
}
