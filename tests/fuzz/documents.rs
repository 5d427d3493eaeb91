//! What several targets make of a text.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use chaos_gameday::plan::{DocumentError, Source};
use chaos_gameday::view::{Printer, Setup};

/// A text as a document; what is no text is no document.
pub fn source(input: &[u8]) -> Option<Source> {
    let text = std::str::from_utf8(input).ok()?;
    Some(Source {
        name: "fuzz.yaml".to_owned(),
        text: text.to_owned(),
    })
}

/// An error of a document says what, what to do, and where in its text.
pub fn check_error(source: &Source, error: &DocumentError) {
    let body = source.text.strip_prefix('\u{feff}').unwrap_or(&source.text);
    assert!(!error.problems().is_empty(), "refused without a reason");
    for problem in error.problems() {
        let place = problem.offset..problem.offset + problem.length;
        assert!(body.get(place).is_some(), "{problem:?} points outside");
        assert!(!problem.message.is_empty(), "{problem:?} says nothing");
        assert!(problem.help.is_some(), "{problem:?} says no next move");
        check_shown(&problem.message);
    }
    assert!(!format!("{error:?}").is_empty());
    let theme = miette::GraphicalTheme::unicode_nocolor();
    let mut shown = String::new();
    miette::GraphicalReportHandler::new_themed(theme)
        .with_width(80)
        .render_report(&mut shown, error)
        .expect("a report can be written into a text");
    assert!(!shown.contains("Failed to read contents"), "{shown}");
}

/// What is shown cannot steer a terminal.
pub fn check_shown(text: &str) {
    let steers = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    assert!(!text.contains(steers), "{text:?} steers a terminal");
}

/// A printer, and what it wrote to both streams.
pub fn printer() -> (Printer, Written) {
    let written = Written::default();
    let [stdout, stderr] = [(); 2].map(|()| Box::new(written.clone()));
    (Printer::writing_to(Setup::PIPE, stdout, stderr), written)
}

/// What was written so far.
#[derive(Clone, Default)]
pub struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    /// As a text.
    pub fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8(bytes.clone()).expect("only text is written")
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
