//! What the SLOs read before the run: whether they can be judged at all, can fail, stay quiet while no
//! fault is in, and are quick enough for the holds.

use super::{Facts, Found};
use crate::metrics::Metric;
use crate::model::ids::RunId;
use crate::model::rehearsal::{Freshness, Now, Past, Rehearsal, Starved};
use crate::model::sample::{Reading, SloState};
use crate::model::slo::{Reaction, Slo};
use crate::model::units::Span;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let holds = Holds::of(facts);
    let slos = facts.plan.experiment.slos.iter().enumerate();
    let seen = slos.filter_map(|(index, gauged)| {
        Some(Seen {
            index,
            slo: &gauged.slo,
            metric: &gauged.metric,
            rehearsal: facts.plan.rehearsal(&gauged.slo.name)?,
            runs: &facts.plan.runs_in_past,
        })
    });
    let seen: Vec<_> = seen.collect();
    let mut found = flaws(&seen);
    found.extend(outages(&seen));
    found.extend(seen.iter().flat_map(|one| one.findings(holds.as_ref())));
    found
}

/// What can never be judged ends every run that it may end; an SLO that is only recorded spoils none.
/// Each reason once: one server that lets nobody in may be that of fifty SLOs.
fn flaws(seen: &[Seen<'_>]) -> Vec<Found> {
    let reasons = by_reason(seen, |one| {
        let (why, way_out) = one.flaw()?;
        Some((why, way_out, one.ends_runs()))
    });
    let found = reasons.iter().map(|((why, way_out, ends_runs), those)| {
        let message = format!("{} can never be judged: {why}", names(those));
        let place = those[0].at_metric();
        if *ends_runs {
            Found::deny(place, message, *way_out)
        } else {
            Found::warn(place, message, *way_out)
        }
    });
    found.collect()
}

/// Sources that are down, each reason once.
fn outages(seen: &[Seen<'_>]) -> Vec<Found> {
    let reasons = by_reason(seen, Seen::outage);
    let found = reasons.iter().map(|(why, those)| {
        Found::warn(
            those[0].at_metric(),
            format!("the source of {} is down now: {why}", names(those)),
            "see that it answers before the run, which is blind without it",
        )
    });
    found.collect()
}

/// Those that have a reason, at least one to each, in their order.
fn by_reason<'s, R: PartialEq>(
    seen: &'s [Seen<'s>],
    reason: impl Fn(&'s Seen<'s>) -> Option<R>,
) -> Vec<(R, Vec<&'s Seen<'s>>)> {
    let mut reasons: Vec<(R, Vec<&Seen<'_>>)> = Vec::new();
    for one in seen {
        let Some(why) = reason(one) else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, those)) => those.push(one),
            None => reasons.push((why, vec![one])),
        }
    }
    reasons
}

/// Names that are listed, at most.
const MOST_NAMES: usize = 3;

/// `a`, `b`, `c` and 4 more.
fn names(those: &[&Seen<'_>]) -> String {
    let shown = those.iter().take(MOST_NAMES);
    let shown: Vec<_> = shown.map(|one| format!("`{}`", one.slo.name)).collect();
    match those.len().saturating_sub(MOST_NAMES) {
        0 => match shown.split_last() {
            Some((last, others)) if !others.is_empty() => {
                format!("{} and {last}", others.join(", "))
            }
            Some(_) | None => shown.join(", "),
        },
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The shortest and the longest hold of a step.
struct Holds {
    shortest: Span,
    longest: Span,
}

impl Holds {
    fn of(facts: &Facts<'_>) -> Option<Self> {
        let holds = || facts.plan.experiment.steps.iter().map(|step| step.hold);
        Some(Self {
            shortest: holds().min()?,
            longest: holds().max()?,
        })
    }
}

/// An SLO and what was seen of it.
struct Seen<'a> {
    index: usize,
    slo: &'a Slo,
    metric: &'a Metric,
    rehearsal: &'a Rehearsal,
    /// Runs that began in the time that was looked at.
    runs: &'a [RunId],
}

impl Seen<'_> {
    fn findings(&self, holds: Option<&Holds>) -> Vec<Found> {
        let past = self.rehearsal.past.as_ref();
        let freshness = self.rehearsal.freshness.as_ref();
        let mut found: Vec<Found> = self.now(past).into_iter().collect();
        found.extend(past.and_then(|past| self.ambiguity(past)));
        found.extend(past.and_then(|past| self.trips(past)));
        found.extend(past.and_then(|past| self.blindness(past)));
        found.extend(past.and_then(|past| self.stillness(past)));
        if let (Some(freshness), Some(holds), true) = (freshness, holds, self.slo.is_gate()) {
            found.extend(self.lateness(freshness, holds));
            found.extend(self.coarseness(freshness));
            found.extend(self.emptiness(freshness));
        }
        found
    }

    fn at(&self, key: &str) -> String {
        format!("slos[{}].{key}", self.index)
    }

    /// Where the document says what is read.
    fn at_metric(&self) -> String {
        self.at(match self.metric {
            Metric::Traffic(_) => "traffic",
            Metric::Command(_) => "command",
            Metric::Prometheus(_) | Metric::Scrape(_) | Metric::Simulated(_) => "query",
        })
    }

    fn now(&self, past: Option<&Past>) -> Option<Found> {
        match &self.rehearsal.now {
            Now::NotYet { .. } | Now::Flawed { .. } => None,
            Now::Read { reading, state } => match reading {
                Reading::Value(value) => self.breach(*value, *state),
                Reading::NoData { why } => Some(self.no_data(why, past)),
                Reading::SourceDown { .. } => None,
            },
        }
    }

    /// Why it can never be judged, if it cannot, and the way out.
    fn flaw(&self) -> Option<(&str, &str)> {
        match &self.rehearsal.now {
            Now::Flawed { why, way_out } => Some((why, way_out)),
            Now::NotYet { .. } | Now::Read { .. } => None,
        }
    }

    fn ends_runs(&self) -> bool {
        self.slo.is_gate() || self.slo.on_no_data == Reaction::Rollback
    }

    fn breach(&self, value: f64, state: SloState) -> Option<Found> {
        if state != SloState::Breaching || !self.slo.is_gate() {
            return None;
        }
        let objective = self.slo.objective;
        Some(Found::warn(
            self.at("objective"),
            format!(
                "`{}` is breaching now: {} against {objective}, so the baseline will not hold",
                self.slo.name,
                objective.unit().show(value)
            ),
            "wait until it holds before the run, or give it another objective",
        ))
    }

    /// Why its source is down now, if it is.
    fn outage(&self) -> Option<&str> {
        match &self.rehearsal.now {
            Now::Read { reading, .. } => match reading {
                Reading::SourceDown { why } => Some(why),
                Reading::Value(_) | Reading::NoData { .. } => None,
            },
            Now::NotYet { .. } | Now::Flawed { .. } => None,
        }
    }

    fn no_data(&self, why: &str, past: Option<&Past>) -> Found {
        let never = past.filter(|past| past.range.is_none());
        let nor = never.map_or(String::new(), |past| {
            format!(", nor had it any in the last {}", past.over)
        });
        Found::warn(
            self.at_metric(),
            format!("`{}` has no data now ({why}){nor}", self.slo.name),
            self.way_to_data(),
        )
    }

    fn way_to_data(&self) -> &'static str {
        match self.metric {
            Metric::Prometheus(query) | Metric::Scrape(query) if !query.contains("vector(") => {
                "if it needs traffic, see that there is some before the run; where no series means none of it, add `or vector(0)`"
            }
            Metric::Prometheus(_)
            | Metric::Scrape(_)
            | Metric::Traffic(_)
            | Metric::Command(_)
            | Metric::Simulated(_) => {
                "see what it should read, and that there is traffic, before the run"
            }
        }
    }

    fn trips(&self, past: &Past) -> Option<Found> {
        if past.trips == 0 || !self.slo.is_gate() {
            return None;
        }
        let times = times(past.trips);
        let (faults, way_out) = match self.runs {
            [] => (
                " with no fault in".to_owned(),
                "give it more patience (`for`) or another objective: as it is, a run may end by what its fault did not do",
            ),
            [run, others @ ..] => (
                format!(
                    ", in which {} had faults in",
                    with_others(run, others.len())
                ),
                "see whether it trips outside of these runs too; then give it more patience (`for`) or another objective",
            ),
        };
        Some(Found::warn(
            self.at("for"),
            format!(
                "`{}` would have tripped {times} ({}) in the last {}{faults}",
                self.slo.name, past.tripped, past.over
            ),
            way_out,
        ))
    }

    /// Several series now are a flaw; several at times are a run that is blind at those.
    fn ambiguity(&self, past: &Past) -> Option<Found> {
        let several = past.ambiguous.as_ref()?;
        Some(Found::warn(
            self.at_metric(),
            format!(
                "`{}` was not one number all the time in the last {}, but at times {several}: a run is blind then",
                self.slo.name, past.over
            ),
            "wrap the query in `sum(…)`, `max(…)` or another aggregation",
        ))
    }

    /// What ends a run for want of data with no fault in. One that has none now, or too much of it at
    /// times, has been told already.
    fn blindness(&self, past: &Past) -> Option<Found> {
        let ends_runs = self.slo.on_no_data == Reaction::Rollback;
        let told = past.ambiguous.is_some() || self.rehearsal.now.reads_nothing();
        if past.blind_trips == 0 || !ends_runs || told {
            return None;
        }
        Some(Found::warn(
            self.at_metric(),
            format!(
                "`{}` had no data for {} or longer {} in the last {} with no fault in, which would have ended a run",
                self.slo.name,
                self.slo.blind_patience,
                times(past.blind_trips),
                past.over
            ),
            "see why it comes and goes; where no series means none of it, add `or vector(0)`; or give it a longer `noDataFor`",
        ))
    }

    fn stillness(&self, past: &Past) -> Option<Found> {
        let (value, _) = past.range.filter(|_| !past.moved())?;
        if !self.slo.objective.holds(value) {
            return None;
        }
        let cannot = if self.slo.is_gate() {
            "an experiment against it cannot fail unless the fault moves it"
        } else {
            "it has nothing to record"
        };
        let time = match past.seen() {
            seen if seen == past.over => past.over.to_string(),
            seen => format!(
                "the {seen} of the last {} in which it had a value",
                past.over
            ),
        };
        Some(Found::warn(
            self.at_metric(),
            format!(
                "`{}` has not moved in {time}, always {}: {cannot}",
                self.slo.name,
                self.slo.objective.unit().show(value)
            ),
            "see that it counts what the fault will hit: it should move when that fails",
        ))
    }

    /// Data that is as late as the fault is long says nothing about it.
    fn lateness(&self, freshness: &Freshness, holds: &Holds) -> Option<Found> {
        let late = freshness.lateness()?;
        let (name, patience) = (&self.slo.name, self.slo.patience);
        if late >= holds.shortest {
            return Some(Found::warn(
                self.at_metric(),
                format!(
                    "a breach of `{name}` can be seen up to {late} late, the hold is {}",
                    holds.shortest
                ),
                "hold longer, look back over a shorter range, or scrape more often",
            ));
        }
        let told = Span::from_millis(late.as_millis().saturating_add(patience.as_millis()));
        // A patience as long as every hold is the rule `gates`'s business.
        let ends_none = told >= holds.longest && patience < holds.longest;
        ends_none.then(|| {
            Found::warn(
                self.at("for"),
                format!(
                    "a breach of `{name}` can be seen up to {late} late and has a patience of {patience}, no step holds longer than {}: it may end none in time",
                    holds.longest
                ),
                "hold longer, or give it less patience",
            )
        })
    }

    /// A range that is shorter than the time between two samples mostly holds none, and never the two
    /// that a rate needs; where `or vector(0)` stands for nothing, that reads as all being well.
    fn emptiness(&self, freshness: &Freshness) -> Option<Found> {
        let Starved { window, interval } = freshness.starved?;
        let enough = Span::from_millis(interval.as_millis().saturating_mul(2));
        Some(Found::deny(
            self.at_metric(),
            format!(
                "`{}` looks back {window}, and a new sample comes every {interval}: it never sees the two that a rate needs",
                self.slo.name
            ),
            format!("look back over two intervals or more (`[{enough}]`), or scrape more often"),
        ))
    }

    /// A sample that stands for longer than the patience trips an SLO all by itself.
    fn coarseness(&self, freshness: &Freshness) -> Option<Found> {
        let interval = freshness.interval?;
        let patience = self.slo.patience;
        let alone = patience > Span::ZERO && interval > patience;
        alone.then(|| {
            Found::warn(
                self.at("for"),
                format!(
                    "`{}` gets a new sample every {interval}, and its patience is {patience}: a single bad one trips it",
                    self.slo.name
                ),
                "give it the patience of two samples or more, or scrape more often",
            )
        })
    }
}

/// `run r-…`, `run r-… and one more`
fn with_others(run: &RunId, others: usize) -> String {
    match others {
        0 => format!("run {run}"),
        1 => format!("run {run} and one more"),
        others => format!("run {run} and {others} more"),
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}
