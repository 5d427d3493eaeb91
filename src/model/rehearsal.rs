//! What an SLO's source says before any fault is in: now, and over the last hours.

use serde::{Deserialize, Serialize};

use super::judgement::{Judge, Trip, Verdict};
use super::sample::{Reading, SloState};
use super::slo::Slo;
use super::units::Span;

/// Into so many parts a history is cut at most.
pub const MOST_PARTS: u64 = 60;

/// The rehearsal of one SLO.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rehearsal {
    /// The SLO's name.
    pub slo: String,
    /// What it reads now.
    pub now: Now,
    /// What it would have done; `None`: its source keeps no past, or was not asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub past: Option<Past>,
    /// How late its data is; `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freshness: Option<Freshness>,
    /// What its source warned of while it answered; one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What an SLO reads before the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Now {
    /// It was read.
    Read {
        /// What came back.
        reading: Reading,
        /// The state that it would be judged to be in.
        state: SloState,
    },
    /// Its source can be read only while a run lasts.
    NotYet {
        /// Why.
        why: String,
    },
    /// As it stands it can never be judged, however long one waits.
    Flawed {
        /// Why.
        why: String,
        /// What to change.
        way_out: String,
    },
}

impl Now {
    /// The value, if there is one.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Read { reading, .. } => match reading {
                Reading::Value(value) => Some(*value),
                Reading::NoData { .. } | Reading::SourceDown { .. } => None,
            },
            Self::NotYet { .. } | Self::Flawed { .. } => None,
        }
    }

    /// Whether it was read, and there was no value.
    pub fn reads_nothing(&self) -> bool {
        match self {
            Self::Read { .. } => self.value().is_none(),
            Self::NotYet { .. } | Self::Flawed { .. } => false,
        }
    }
}

/// What an SLO would have done over the past with no fault in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Past {
    /// How far back it was looked.
    pub over: Span,
    /// Time between two of the values that were looked at.
    pub step: Span,
    /// How often it would have tripped by a breach.
    pub trips: u64,
    /// How long it was past its patience, all trips together.
    pub tripped: Span,
    /// How long its objective was missed, patience or not.
    pub breaching: Span,
    /// How long it had no value.
    pub blind: Span,
    /// How often it would have tripped by blindness, once it had a value: what is older than the data
    /// is no blindness of a run's.
    #[serde(default)]
    pub blind_trips: u64,
    /// What came back where one series was needed and several came (two series that differ in `pod`);
    /// those times count as blind. `None`: there never were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambiguous: Option<String>,
    /// The lowest and the highest value; `None`: there was none.
    pub range: Option<(f64, f64)>,
    /// The past in at most 60 equal parts, oldest first: the worst value of each, `None` where there
    /// was none.
    pub history: Vec<Option<f64>>,
}

impl Past {
    /// Judges values of the past as a run judges its readings.
    ///
    /// They come oldest first, each with its milliseconds since the beginning of the time that is
    /// looked at, about a `step` apart; one that is not finite is none. Each stands until the next
    /// one comes, for a step at most, and never beyond the end; one that comes at the very end stands
    /// for no time, but it may trip.
    pub fn of(
        slo: &Slo,
        over: Span,
        step: Span,
        values: impl IntoIterator<Item = (u64, Option<f64>)>,
    ) -> Self {
        let mut fold = Fold::new(slo, over, step);
        let mut values = values.into_iter().peekable();
        while let Some((at_ms, value)) = values.next() {
            let next_ms = values.peek().map_or(u64::MAX, |(next_ms, _)| *next_ms);
            let until_ms = next_ms
                .min(at_ms.saturating_add(step.as_millis()))
                .min(over.as_millis());
            let stands_ms = until_ms.saturating_sub(at_ms);
            fold.take(at_ms, stands_ms, value.filter(|value| value.is_finite()));
        }
        fold.past
    }

    /// The same with the value that it has now: the last point that was looked at may be a whole step
    /// old, and what has just moved has moved.
    #[must_use]
    pub fn reaching(self, value: f64) -> Self {
        let range = self
            .range
            .map(|(lowest, highest)| (lowest.min(value), highest.max(value)));
        Self { range, ..self }
    }

    /// Whether it had more than one value: an SLO that never moves cannot fail.
    pub fn moved(&self) -> bool {
        self.range.is_some_and(|(lowest, highest)| lowest < highest)
    }

    /// For how long it had a value.
    pub fn seen(&self) -> Span {
        Span::from_millis(self.over.as_millis().saturating_sub(self.blind.as_millis()))
    }
}

/// A past that is being made.
struct Fold<'a> {
    slo: &'a Slo,
    judge: Judge,
    past: Past,
}

impl<'a> Fold<'a> {
    fn new(slo: &'a Slo, over: Span, step: Span) -> Self {
        let steps = over.as_millis() / step.as_millis().max(1);
        // No part is shorter than a step, or it would look blind that is only between two values.
        let parts = steps.clamp(1, MOST_PARTS) as usize;
        Self {
            slo,
            judge: Judge::default(),
            past: Past {
                over,
                step,
                trips: 0,
                tripped: Span::ZERO,
                breaching: Span::ZERO,
                blind: Span::ZERO,
                blind_trips: 0,
                ambiguous: None,
                range: None,
                history: vec![None; parts],
            },
        }
    }

    fn take(&mut self, at_ms: u64, stands_ms: u64, value: Option<f64>) {
        let reading = value.map_or_else(
            || Reading::NoData { why: String::new() },
            Reading::from_number,
        );
        let verdict = self.judge.observe(self.slo, at_ms, &reading);
        self.count(&verdict, stands_ms);
        let Some(value) = value else { return };
        let (lowest, highest) = self.past.range.unwrap_or((value, value));
        self.past.range = Some((lowest.min(value), highest.max(value)));
        let objective = self.slo.objective;
        let part = self.part_at(at_ms);
        if part.is_none_or(|worst| objective.is_worse(value, worst)) {
            *part = Some(value);
        }
    }

    fn count(&mut self, verdict: &Verdict, stands_ms: u64) {
        let past = &mut self.past;
        past.trips += u64::from(verdict.trip == Some(Trip::Breach));
        let had_a_value = past.range.is_some();
        past.blind_trips += u64::from(had_a_value && verdict.trip == Some(Trip::Blind));
        match verdict.state {
            SloState::Ok => {}
            SloState::Breaching => {
                lengthen(&mut past.breaching, stands_ms);
                if verdict.streak_ms >= self.slo.patience.as_millis() {
                    lengthen(&mut past.tripped, stands_ms);
                }
            }
            SloState::NoData | SloState::SourceDown => lengthen(&mut past.blind, stands_ms),
        }
    }

    fn part_at(&mut self, at_ms: u64) -> &mut Option<f64> {
        let parts = self.past.history.len();
        let over_ms = u128::from(self.past.over.as_millis().max(1));
        let part = u128::from(at_ms) * parts as u128 / over_ms;
        let last = parts - 1;
        &mut self.past.history[usize::try_from(part).map_or(last, |part| part.min(last))]
    }
}

fn lengthen(span: &mut Span, by_ms: u64) {
    *span = Span::from_millis(span.as_millis().saturating_add(by_ms));
}

/// How late the data behind an SLO is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Freshness {
    /// Age of the newest sample behind it.
    pub newest: Option<Span>,
    /// Time between two samples behind it.
    pub interval: Option<Span>,
    /// The longest range that its query looks back over (`[30s]`).
    pub window: Option<Span>,
    /// A range that never holds two samples; `None`: none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starved: Option<Starved>,
}

/// A range that is shorter than the time between two samples of what it looks at: it mostly holds
/// none, and never the two that a rate needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Starved {
    /// The range.
    pub window: Span,
    /// The time between two samples.
    pub interval: Span,
}

impl Freshness {
    /// How late a change can be seen: until the next sample is taken, and until the range that the
    /// query looks back over is full of it. `None`: unknown.
    pub fn lateness(&self) -> Option<Span> {
        let waited = self.interval.max(self.newest)?;
        let window = self.window.unwrap_or_default();
        let lateness = waited.as_millis().saturating_add(window.as_millis());
        Some(Span::from_millis(lateness))
    }
}
