//! A plan as a person reads it: what is touched, what is sent, how it ends, what undoes it, what the
//! policy says, what to type next.

mod course;
mod credentials;
mod denied;
mod differences;
mod explain;
mod head;
mod literal;
mod next;
mod rehearsal;
mod ruling;
mod steps;

pub use denied::{insist_findings, talk_denied, undenied};
pub use differences::{insist_differences_from, insist_drift, show_differences};
pub use explain::explain;

use super::printer::Printer;
use super::sanitise::sanitise;
use super::setup::Stream;
use super::text::{columns, hung, left};
use super::theme::{Colour, Glyphs, Tone};
use crate::plan::{Difference, StoredPlan};
use crate::policy::{Finding, Policy, Standing};

/// A plan, and what is said about it.
#[derive(Debug, Clone, Copy)]
pub struct Sheet<'a> {
    /// The plan.
    pub stored: &'a StoredPlan,
    /// The policy that it is judged by.
    pub policy: &'a Policy,
    /// What the policy finds.
    pub findings: &'a [Finding],
    /// What was said about it; `None`: nobody can have said anything yet.
    pub standing: Option<&'a Standing>,
}

/// The plan as data.
pub fn show(printer: &Printer, sheet: &Sheet<'_>) {
    let page = Page::on(printer, Stream::Stdout);
    let mut lines = page.plan(sheet);
    lines.extend(page.next(sheet));
    printer.data(&lines.join("\n"));
}

/// The plan as talk, on the way to a run.
pub fn talk(printer: &Printer, sheet: &Sheet<'_>) {
    let page = Page::on(printer, Stream::Stderr);
    for line in page.plan(sheet) {
        printer.talk(&line);
    }
}

/// The plan to a person who is about to be asked for a yes; shown even when quiet.
pub fn insist(printer: &Printer, sheet: &Sheet<'_>) {
    let page = Page::on(printer, Stream::Stderr);
    for line in page.plan(sheet) {
        printer.insist(&line);
    }
}

/// What differs from the plan of the run that is repeated.
pub fn talk_differences(printer: &Printer, differences: &[Difference]) {
    let (places, others): (Vec<_>, Vec<_>) = differences
        .iter()
        .partition(|difference| difference.is_an_address());
    if others.is_empty() && places.is_empty() {
        printer.talk("the same plan as then, in the same world");
        return;
    }
    printer.talk("what differs from the run that is repeated:");
    if !places.is_empty() {
        printer.talk("  addresses and sessions: it is another instance (-v names each)");
        for difference in places {
            printer.detail(&format!("  {}", sanitise(&difference.to_string())));
        }
    }
    let others: Vec<Difference> = others.into_iter().cloned().collect();
    for line in Page::on(printer, Stream::Stderr).differences(&others) {
        printer.talk(&line);
    }
}

/// Narrower pages are not laid out for.
const NARROWEST: usize = 40;
/// Wider lines are hard to read.
const WIDEST: usize = 120;

struct Page {
    width: usize,
    colour: Colour,
    glyphs: Glyphs,
}

impl Page {
    fn on(printer: &Printer, stream: Stream) -> Self {
        Self {
            width: printer.size().0.clamp(NARROWEST, WIDEST),
            colour: printer.setup().colour(stream),
            glyphs: printer.setup().glyphs(),
        }
    }

    fn heading(&self, text: &str) -> String {
        Tone::Strong.paint(text, self.colour)
    }

    /// Words broken at blanks, each line behind the same indent. What is between two backticks stays
    /// whole where a line has room for it: it may be there to be copied. A longer word stands alone.
    fn wrapped(&self, indent: usize, text: &str) -> Vec<String> {
        self.hung(indent, indent, text)
    }

    /// The same with another indent from the second line on.
    fn hung(&self, first: usize, rest: usize, text: &str) -> Vec<String> {
        let words: Vec<String> = text.split_whitespace().map(sanitise).collect();
        let line = format!("{}{}", " ".repeat(first), words.join(" "));
        let lines = hung(&line, self.width, rest);
        match lines.iter().all(|line| columns(line) <= self.width) {
            true => lines,
            false => self.broken(first, rest, &words),
        }
    }

    /// The same without a thought for backticks.
    fn broken(&self, first: usize, rest: usize, words: &[String]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = " ".repeat(first);
        let mut begins = true;
        for word in words {
            if !begins && columns(&line) + 1 + columns(word) > self.width {
                lines.push(std::mem::replace(&mut line, " ".repeat(rest)));
                begins = true;
            }
            if !begins {
                line.push(' ');
            }
            line.push_str(word);
            begins = false;
        }
        lines.push(line);
        lines
    }

    /// A label of fixed width and its text.
    fn labelled(&self, indent: usize, label: &str, text: &str) -> Vec<String> {
        const LABEL: usize = 10;
        let column = indent + LABEL;
        let mut lines = self.hung(column, column, text);
        if let Some(head) = lines.first_mut() {
            let rest = head.split_off(column.min(head.len()));
            *head = format!("{}{}{rest}", " ".repeat(indent), left(label, LABEL));
        }
        lines
    }

    /// Several texts below one label.
    fn listed(&self, indent: usize, label: &str, texts: &[String]) -> Vec<String> {
        let labels = std::iter::once(label).chain(std::iter::repeat(""));
        let lines = labels.zip(texts);
        lines
            .flat_map(|(label, text)| self.labelled(indent, label, text))
            .collect()
    }

    fn section(&self, title: &str) -> Vec<String> {
        let title = self.glyphs.adapt(sanitise(title));
        vec![String::new(), self.heading(&title)]
    }

    fn plan(&self, sheet: &Sheet<'_>) -> Vec<String> {
        let stored = sheet.stored;
        let mut lines = self.head(sheet);
        lines.extend(self.steps(stored));
        lines.extend(self.course(stored));
        lines.extend(self.slos(stored));
        lines.extend(self.ruling(sheet));
        lines.extend(self.who_says_yes(sheet));
        lines.push(String::new());
        lines.push(format!("digest {}", stored.digest));
        lines
    }
}
