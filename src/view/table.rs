//! Lists: a table that fits the terminal, and plain columns in a pipe, one row a line and never
//! cut, so that other tools can read them.

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, ContentArrangement, Row, Table};

use super::printer::Printer;
use super::sanitise::sanitise;
use super::setup::{Device, Stream};
use super::theme::{Colour, Tone};

/// The rows under their headings, ready for `Printer::data`.
pub fn list(printer: &Printer, headings: &[&str], rows: &[Vec<String>]) -> String {
    let setup = printer.setup();
    let on_terminal = setup.device(Stream::Stdout) == Device::Terminal;
    let mut table = Table::new();
    table.load_style(NOTHING).force_no_tty();
    if on_terminal {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        let width = u16::try_from(printer.size().0).unwrap_or(u16::MAX);
        table.set_width(width);
    } else {
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    let upper = headings
        .iter()
        .map(|heading| Cell::new(heading.to_uppercase()));
    table.set_header(Row::from(upper.collect::<Vec<_>>()));
    for row in rows {
        table.add_row(row.iter().map(|text| sanitise(text)).collect::<Vec<_>>());
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let colour = setup.colour(Stream::Stdout);
    finish(&table, setup.glyphs(), colour)
}

/// Trailing blanks go; the heading is set off by weight alone.
fn finish(table: &Table, glyphs: super::theme::Glyphs, colour: Colour) -> String {
    let mut lines = table.lines().map(|line| line.trim_end().to_owned());
    let heading = lines.next().unwrap_or_default();
    let heading = Tone::Strong.paint(&heading, colour);
    let lines: Vec<String> = std::iter::once(heading).chain(lines).collect();
    glyphs.adapt(lines.join("\n"))
}
