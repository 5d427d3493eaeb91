//! The sparkline of an SLO. The objective is its middle: values that meet it stay in one half of
//! the height, values that miss it in the other, so that a breach shows without any colour.

use crate::model::state::SloRecord;
use crate::model::units::Objective;

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Time without a value.
const NOTHING: char = '╌';

/// At most so much of the past is shown: the last minutes, and more where there is room for it.
const WINDOW_MS: u64 = 180_000;
const WIDE_WINDOW_MS: u64 = 600_000;

/// From so many columns on there is room.
const WIDE: usize = 60;

/// The last values in at most `width` columns, oldest first; a `╌` is time without a value.
pub fn sparkline(record: &SloRecord, width: usize) -> String {
    drawn(&buckets(record, width), record.slo.objective)
}

/// One value a column against an objective; a `╌` is time without a value.
pub fn drawn(columns: &[Option<f64>], objective: Objective) -> String {
    // Each half has a scale of its own: a breach that goes far must not press all that was good
    // against the objective.
    let farthest = |holds: bool| {
        let values = columns.iter().flatten().copied();
        values
            .filter(|value| objective.holds(*value) == holds)
            .map(|value| distance(objective, value))
            .fold(objective.threshold().abs(), f64::max)
    };
    let (good, bad) = (farthest(true), farthest(false));
    let letter = |value: &Option<f64>| match value {
        None => NOTHING,
        Some(value) if objective.holds(*value) => LEVELS[level(objective, *value, good)],
        Some(value) => LEVELS[level(objective, *value, bad)],
    };
    columns.iter().map(letter).collect()
}

/// The worst value of each column's stretch of time.
fn buckets(record: &SloRecord, width: usize) -> Vec<Option<f64>> {
    let every = record.slo.every.as_millis().max(1);
    let (Some((first, _)), Some(last), true) =
        (record.history.front(), record.latest_at_ms, width > 0)
    else {
        return Vec::new();
    };
    let window_ms = if width >= WIDE {
        WIDE_WINDOW_MS
    } else {
        WINDOW_MS
    };
    let span = last.saturating_sub(*first).min(window_ms);
    // Stretches are multiples of the cadence and stand on fixed marks, so that columns move along
    // but do not change while they do.
    let stretch = every * (span / every + 1).div_ceil(width as u64).max(1);
    let newest = last / stretch;
    let oldest = (last - span) / stretch;
    let oldest = oldest.max(newest.saturating_sub(width as u64 - 1));
    let mut columns = vec![None; (newest - oldest + 1) as usize];
    let mut before: Option<(u64, f64)> = None;
    for (at_ms, value) in &record.history {
        let bucket = at_ms / stretch;
        if let Some((former, kept)) = before
            && at_ms.saturating_sub(former) <= 2 * every
        {
            // A late reading may skip a mark; only a real gap stays one.
            for missed in (former / stretch + 1)..bucket {
                keep(&mut columns, missed, oldest, kept, record.slo.objective);
            }
        }
        keep(&mut columns, bucket, oldest, *value, record.slo.objective);
        before = Some((*at_ms, *value));
    }
    columns
}

fn keep(columns: &mut [Option<f64>], bucket: u64, oldest: u64, value: f64, objective: Objective) {
    let place = bucket.checked_sub(oldest);
    let Some(column) = place.and_then(|place| columns.get_mut(place as usize)) else {
        return;
    };
    if column.is_none_or(|so_far| objective.is_worse(value, so_far)) {
        *column = Some(value);
    }
}

fn distance(objective: Objective, value: f64) -> f64 {
    let distance = (value - objective.threshold()).abs();
    if distance.is_finite() {
        distance
    } else {
        f64::MAX
    }
}

/// The height, 0 to 7: 0 to 3 below the objective, 4 to 7 above it. Where both sides are bad (`==`)
/// a bad value stands above; what meets the objective stands below.
fn level(objective: Objective, value: f64, far: f64) -> usize {
    let threshold = objective.threshold();
    let high_is_bad = objective.is_worse(threshold + 1.0, threshold);
    let low_is_bad = objective.is_worse(threshold - 1.0, threshold);
    let holds = objective.holds(value);
    let share = if far > 0.0 {
        (distance(objective, value) / far).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let steps = (share * 3.0).round() as usize;
    if high_is_bad && low_is_bad && holds {
        return 0;
    }
    if high_is_bad != holds {
        4 + steps
    } else {
        3 - steps
    }
}
