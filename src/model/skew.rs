//! How far a server's clock and this machine's are apart, by the `Date` of an answer.
//!
//! Only what is sure counts: the answer was on its way for a while, and `Date` has whole seconds.

use jiff::fmt::rfc2822;
use jiff::{SignedDuration, Timestamp};

use super::problem::{Problem, ProblemKind};
use super::units::Span;

/// From here on a reader is told: samples and events of two machines no longer line up.
const WARNED_FROM: SignedDuration = SignedDuration::from_secs(2);

/// From here on no run starts: an approval that counts for minutes, and samples that are judged by
/// their age, mean nothing on clocks this far apart.
const REFUSED_FROM: SignedDuration = SignedDuration::from_secs(60);

/// `Date` has no fractions, so the clock says anything up to this much more.
const RESOLUTION: SignedDuration = SignedDuration::from_secs(1);

/// An answer of a server, as far as it tells the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldTime {
    /// Who answered: `Prometheus at http://…`.
    pub server: String,
    /// The header `Date`, as it came.
    pub date: String,
    /// The time here when the question was sent.
    pub asked: Timestamp,
    /// Until the answer's head was there.
    pub took: Span,
}

/// A clock that is surely not ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skew {
    server: String,
    /// At least so much; the server's is ahead where it is positive.
    at_least: SignedDuration,
    /// The most likely value.
    about: SignedDuration,
}

impl ToldTime {
    /// What surely lies between the two clocks; `None`: nothing, or the date cannot be read.
    pub fn skew(&self) -> Option<Skew> {
        let parser = rfc2822::DateTimeParser::new();
        let date: Timestamp = parser.parse_timestamp(self.date.trim()).ok()?;
        let took = SignedDuration::try_from(self.took.as_duration()).ok()?;
        // The server wrote it at some moment between question and answer, of a second that may have
        // been over but for an instant.
        let since_asked = date.duration_since(self.asked);
        let (least, most) = (since_asked - took, since_asked + RESOLUTION);
        let at_least = match (least.is_positive(), most.is_negative()) {
            (true, _) => least,
            (false, true) => most,
            (false, false) => return None,
        };
        Some(Skew {
            server: self.server.clone(),
            at_least,
            about: (least + most) / 2,
        })
    }
}

/// What follows from a skew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkewVerdict {
    /// Nothing.
    Fine,
    /// A reader is told.
    Warned(String),
    /// Nothing may start.
    Refused(Problem),
}

impl Skew {
    /// What follows.
    pub fn verdict(&self) -> SkewVerdict {
        let sure = self.at_least.abs();
        if sure < WARNED_FROM {
            SkewVerdict::Fine
        } else if sure < REFUSED_FROM {
            SkewVerdict::Warned(self.sentence())
        } else {
            let problem = Problem::new(
                ProblemKind::Refused,
                format!(
                    "{}; neither approvals nor samples could be judged",
                    self.sentence()
                ),
            );
            SkewVerdict::Refused(problem.hint("set the clock that is wrong (`timedatectl` shows this machine's; a virtual machine often loses time while it sleeps), then start again; nothing was injected"))
        }
    }

    /// Who, which way and how far.
    pub fn sentence(&self) -> String {
        let way = match self.about.is_positive() {
            true => "ahead of",
            false => "behind",
        };
        let about = self.about.abs();
        let seconds = about.as_secs() + i64::from(about.subsec_millis() >= 500);
        format!(
            "the clock of {} is {} {way} this machine's",
            self.server,
            Span::from_secs(seconds.unsigned_abs())
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(date: &str, asked: &str, took: Span) -> ToldTime {
        ToldTime {
            server: "LocalStack at http://h".to_owned(),
            date: date.to_owned(),
            asked: asked.parse().expect("a time"),
            took,
        }
    }

    fn verdict(told: &ToldTime) -> SkewVerdict {
        told.skew().map_or(SkewVerdict::Fine, |skew| skew.verdict())
    }

    #[test]
    fn only_what_is_sure_counts_and_is_told_with_its_direction_and_size() {
        const NOON: &str = "Mon, 30 Nov 2026 12:00:00 GMT";
        let quick = Span::from_millis(20);
        for (asked, took, words) in [
            ("2026-11-30T12:00:00.5Z", quick, None),
            // The second may have been over but for an instant.
            ("2026-11-30T12:00:02.9Z", quick, None),
            ("2026-11-30T12:00:03.1Z", quick, Some("is 3s behind")),
            ("2026-11-30T11:59:58.1Z", quick, None),
            ("2026-11-30T11:59:57.9Z", quick, Some("is 3s ahead of")),
            // A slow answer leaves more open, on the side that it was under way.
            ("2026-11-30T11:59:57.9Z", Span::from_secs(3), None),
            (
                "2026-11-30T11:59:50Z",
                Span::from_secs(4),
                Some("is 9s ahead of"),
            ),
            ("2026-11-30T12:00:42.5Z", quick, Some("is 42s behind")),
        ] {
            let told = told(NOON, asked, took);
            let expected = words.map_or(SkewVerdict::Fine, |words| {
                SkewVerdict::Warned(format!(
                    "the clock of LocalStack at http://h {words} this machine's"
                ))
            });
            assert_eq!(verdict(&told), expected, "{asked} {took}");
        }
        for asked in [
            "2026-11-30T12:01:02Z",
            "2026-11-30T11:58:59Z",
            "2020-01-01T00:00:00Z",
        ] {
            let SkewVerdict::Refused(problem) = verdict(&told(NOON, asked, quick)) else {
                panic!("{asked} is refused");
            };
            assert!(problem.message.contains("could be judged"), "{problem}");
        }
    }

    #[test]
    fn what_is_no_date_says_nothing() {
        for date in [
            "",
            "yesterday",
            "2026-11-30",
            "Mon, 99 Nov 2026 12:00:00 GMT",
        ] {
            let told = told(date, "2026-11-30T12:00:00Z", Span::ZERO);
            assert_eq!(told.skew(), None, "{date}");
        }
    }
}
