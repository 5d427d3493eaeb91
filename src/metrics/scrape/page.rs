//! A page of samples, in the Prometheus text format 0.0.4 or in OpenMetrics 1.0.
//!
//! Own code, since a page that is half understood must not be half judged: prometheus-parse and
//! prometheus-scrape pass over every line that they cannot read, cut label values at commas and know
//! no OpenMetrics; openmetrics-parser is under the LGPL. As in Prometheus, one line that cannot be
//! read spoils the page. Names in quotes (UTF-8 names) are not read: nobody sends them unasked.

mod line;
#[cfg(test)]
mod tests;

use super::super::series::Labels;
use crate::model::problem::{Problem, ProblemKind};
use line::{Cursor, Met};

/// A page with more samples is refused.
const MOST_SAMPLES: usize = 200_000;

/// The last line of every OpenMetrics page; without it the page was cut off.
const END: &str = "# EOF";

/// How a page is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Prometheus text format 0.0.4: timestamps in milliseconds, comments anywhere.
    Text,
    /// OpenMetrics 1.0: timestamps in seconds, an end that shows.
    OpenMetrics,
}

/// One line of a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    /// The labels, and the name as `__name__`; none of them empty.
    pub(super) labels: Labels,
    /// The value; may be NaN or infinite.
    pub(super) value: f64,
    /// Milliseconds since 1970, if the page says when.
    pub(super) at_ms: Option<i64>,
}

impl Format {
    /// What a `Content-Type` announces. Whatever is not OpenMetrics is taken for the text format:
    /// many small servers send files without any type of their own.
    pub(super) fn announced_by(content_type: &str) -> Self {
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        if essence.eq_ignore_ascii_case("application/openmetrics-text") {
            Self::OpenMetrics
        } else {
            Self::Text
        }
    }
}

/// Reads a page.
///
/// # Errors
/// The first line that breaks the format, by its number; an OpenMetrics page that was cut off; more
/// samples than we take.
pub(super) fn read(page: &[u8], format: Format) -> Result<Vec<Sample>, Problem> {
    let text = std::str::from_utf8(page).map_err(|why| {
        let before = &page[..why.valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        flawed(line, "it is no UTF-8")
    })?;
    let mut samples = Vec::new();
    let mut ended = false;
    let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    for (index, line) in lines.enumerate() {
        if ended {
            return Err(flawed(index + 1, "something follows `# EOF`"));
        }
        if format == Format::OpenMetrics && line == END {
            ended = true;
            continue;
        }
        let met = Cursor::new(line, format).line();
        match met.map_err(|what| flawed(index + 1, &what))? {
            Met::Nothing => {}
            Met::Sample(sample) => samples.push(sample),
        }
        if samples.len() > MOST_SAMPLES {
            let message = format!("the page has more than {MOST_SAMPLES} samples");
            return Err(Problem::new(ProblemKind::Unexpected, message));
        }
    }
    if format == Format::OpenMetrics && !ended {
        let message = "the page was cut off: it does not end with `# EOF`";
        return Err(Problem::new(ProblemKind::Unexpected, message));
    }
    Ok(samples)
}

fn flawed(line: usize, what: &str) -> Problem {
    Problem::new(ProblemKind::Unexpected, format!("line {line}: {what}"))
}
