//! A query that is answered from our own samples, and what keeps it from ever being answered.

use promql_parser::parser::Expr;

use super::super::promql;
use super::selector::Selector;
use crate::model::problem::Problem;
use crate::model::units::Span;

/// How far back queries may look; whatever is older is not kept.
pub(super) const LONGEST_REACH: Span = Span::from_secs(3_600);

/// A query, read.
pub(super) struct Query {
    pub(super) expression: Expr,
    pub(super) selectors: Vec<Selector>,
}

/// Why a query can never be answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Flaw {
    pub(super) why: String,
    pub(super) way_out: String,
}

impl Flaw {
    /// Both, for where there is one line.
    pub(super) fn in_one_line(&self) -> String {
        format!("{}; {}", self.why, self.way_out)
    }
}

impl From<Problem> for Flaw {
    fn from(problem: Problem) -> Self {
        Self {
            why: problem.message,
            way_out: problem
                .hint
                .unwrap_or_else(|| "correct the query".to_owned()),
        }
    }
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// It is no PromQL, is outside the subset, or looks back too far.
    pub(super) fn read(text: &str) -> Result<Self, Flaw> {
        let expression = promql::parse(text).map_err(|unreadable| unreadable.problem)?;
        promql::check(&expression).map_err(|problems| {
            let why: Vec<_> = problems.iter().map(|one| one.message.as_str()).collect();
            let way_out = problems.iter().find_map(|one| one.hint.clone());
            Flaw {
                why: why.join("; "),
                way_out: way_out.unwrap_or_else(|| {
                    "write it with what the subset has, or read it from a Prometheus".to_owned()
                }),
            }
        })?;
        let selectors = Selector::all(&expression);
        if let Some(far) = selectors.iter().find(|one| one.reach > LONGEST_REACH) {
            return Err(Flaw {
                why: format!(
                    "`{}` looks back {}, and pages are kept for {LONGEST_REACH} at most",
                    far.written, far.reach
                ),
                way_out: "shorten its range, or read it from a Prometheus".to_owned(),
            });
        }
        Ok(Self {
            expression,
            selectors,
        })
    }

    /// The longest range in brackets; `None`: every selector takes the latest sample alone.
    pub(super) fn longest_range(&self) -> Option<Span> {
        self.selectors.iter().filter_map(|one| one.range).max()
    }

    /// Why pages that are read so often can never answer it: a rate needs two samples within its
    /// range, and one that is shorter than two intervals holds them by luck.
    pub(super) fn too_short(&self, every: Span) -> Option<Flaw> {
        let enough = |least: usize| {
            let intervals = u64::try_from(least).unwrap_or(u64::MAX);
            Span::from_millis(every.as_millis().saturating_mul(intervals))
        };
        let short = self.selectors.iter().find_map(|one| {
            let range = one.range.filter(|range| *range < enough(one.least))?;
            Some((one, range))
        });
        let (selector, range) = short?;
        let samples = match selector.least {
            1 => "a sample",
            _ => "the two samples that a rate needs",
        };
        Some(Flaw {
            why: format!(
                "`{}[{range}]` does not always hold {samples}: pages are read every {every}",
                selector.written
            ),
            way_out: format!(
                "make the range {} or longer, or `every` shorter",
                enough(selector.least)
            ),
        })
    }
}
