//! A page of plain text, 80 columns wide: what is put on it is cleaned and wrapped here, so that no
//! caller can forget to.

use console::measure_text_width as width_of;

use super::wording::clean;

const WIDTH: usize = 80;
const INDENT: usize = 2;
/// Blanks between two columns.
const GAP: usize = 2;
/// Where the text of an entry begins.
const LABEL: usize = 14;

/// A page under construction.
#[derive(Default)]
pub(super) struct Page {
    text: String,
}

impl Page {
    /// The finished page.
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// An empty line.
    pub(super) fn gap(&mut self) {
        self.text.push('\n');
    }

    /// A line with something at both ends.
    pub(super) fn banner(&mut self, left: &str, right: &str) {
        let right = clean(right);
        let left = shortened(&clean(left), WIDTH.saturating_sub(width_of(&right) + 2));
        let space = WIDTH.saturating_sub(width_of(&left) + width_of(&right));
        self.push(&format!("{left}{}{right}", " ".repeat(space)));
    }

    /// The title of a part, after an empty line.
    pub(super) fn heading(&mut self, title: &str) {
        self.gap();
        self.push(&shortened(&clean(title), WIDTH));
    }

    /// A sentence, wrapped.
    pub(super) fn sentence(&mut self, text: &str) {
        for line in wrapped(&clean(text), WIDTH) {
            self.push(&line);
        }
    }

    /// A label and its text, wrapped beside it.
    pub(super) fn entry(&mut self, label: &str, text: &str) {
        let room = WIDTH - INDENT - LABEL;
        let mut label = label;
        for line in wrapped(&clean(text), room) {
            self.push(&format!("  {label:<LABEL$}{line}"));
            label = "";
        }
    }

    /// A label with several texts under one another.
    pub(super) fn entries<'a>(&mut self, label: &str, texts: impl IntoIterator<Item = &'a String>) {
        let mut label = label;
        for text in texts {
            self.entry(label, text);
            label = "";
        }
    }

    /// Something after a mark of its own width, wrapped beside it.
    pub(super) fn item(&mut self, mark: &str, text: &str) {
        let start = INDENT + width_of(mark) + 1;
        let mut mark = mark.to_owned();
        for line in wrapped(&clean(text), WIDTH - start) {
            self.push(&format!("  {mark} {line}"));
            mark = " ".repeat(start - INDENT - 1);
        }
    }

    /// A line that a person copies: never wrapped, however long it is.
    pub(super) fn literal(&mut self, line: &str) {
        self.push(&format!("    {}", clean(line)));
    }

    /// Rows of cells under one another. Where a line is too long the gaps give way, then the widest
    /// columns.
    pub(super) fn table(&mut self, rows: &[Vec<String>]) {
        let rows = cleaned(rows);
        let mut widths = widths_of(&rows);
        let gap = if line_of(&widths, GAP) <= WIDTH {
            GAP
        } else {
            1
        };
        fit(&mut widths, gap);
        for row in &rows {
            let cells = row.iter().zip(&widths);
            let cells: Vec<String> = cells.map(|(cell, width)| padded(cell, *width)).collect();
            self.push(&format!("  {}", cells.join(&" ".repeat(gap))));
        }
    }

    /// Whether a table of these rows shows every cell whole, with gaps as wide as they should be.
    pub(super) fn has_room_for(rows: &[Vec<String>]) -> bool {
        line_of(&widths_of(&cleaned(rows)), GAP) <= WIDTH
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}

fn cleaned(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let clean_row = |row: &Vec<String>| row.iter().map(|cell| clean(cell)).collect();
    rows.iter().map(clean_row).collect()
}

fn widths_of(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| width_of(cell)).max().unwrap_or(0)
    };
    (0..columns).map(widest).collect()
}

/// The width of a line with these columns.
fn line_of(widths: &[usize], gap: usize) -> usize {
    INDENT + widths.iter().sum::<usize>() + gap * widths.len().saturating_sub(1)
}

/// Makes the widest columns narrower until the line fits.
fn fit(widths: &mut [usize], gap: usize) {
    while line_of(widths, gap) > WIDTH {
        let widest = widths.iter().copied().max().unwrap_or(0);
        match widths.iter_mut().find(|width| **width == widest) {
            Some(width) if *width > 1 => *width -= 1,
            Some(_) | None => return,
        }
    }
}

fn padded(text: &str, width: usize) -> String {
    let text = shortened(text, width);
    let space = width.saturating_sub(width_of(&text));
    format!("{text}{}", " ".repeat(space))
}

/// The text, or as much of its start as fits with an ellipsis.
fn shortened(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        kept.push(letter);
        if width_of(&kept) >= width {
            kept.pop();
            break;
        }
    }
    kept.push('…');
    kept
}

/// Lines of at most this width, broken at spaces; a longer word is broken where it must be.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        for piece in pieces(word, width) {
            let space = usize::from(!line.is_empty());
            if width_of(&line) + space + width_of(&piece) > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&piece);
        }
    }
    lines.push(line);
    lines
}

fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for letter in word.chars() {
        let wide = width_of(letter.encode_utf8(&mut [0; 4]));
        if used + wide > width {
            pieces.push(String::new());
            used = 0;
        }
        pieces
            .last_mut()
            .expect("there is a piece from the start")
            .push(letter);
        used += wide;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_broken_and_wide_letters_count_double() {
        assert_eq!(wrapped("ab cdefgh i", 4), ["ab", "cdef", "gh i"]);
        assert_eq!(wrapped("東京タワー", 4), ["東京", "タワ", "ー"]);
        assert_eq!(wrapped("", 4), [""]);
    }

    #[test]
    fn a_table_that_is_too_wide_gives_way_in_its_widest_column() {
        let mut page = Page::default();
        page.table(&[
            vec!["x".repeat(100), "1".to_owned()],
            vec!["y".to_owned(), "2".to_owned()],
        ]);
        let text = page.finish();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(width_of(lines[0]), 80);
        assert!(lines[0].ends_with("… 1"));
        assert!(lines[1].starts_with("  y   ") && lines[1].ends_with("  2"));
        assert_eq!(width_of(lines[1]), 80);
    }
}
