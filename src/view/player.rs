//! Plays recorded events through any view, in real or scaled time: honest time, long silences
//! included, so that a played-back run feels like the run.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::model::event::Record;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::state::RunState;

use super::View;

/// How often the view is told the time while nothing happens.
const TICK: Duration = Duration::from_millis(100);

/// The factors that make sense to watch.
const FACTORS: std::ops::RangeInclusive<f64> = 0.01..=10_000.0;

/// How fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// So many times as fast as it happened.
    Times(f64),
    /// Without any waiting.
    Max,
}

impl Default for Speed {
    fn default() -> Self {
        Self::Times(1.0)
    }
}

impl FromStr for Speed {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        if text == "max" {
            return Ok(Self::Max);
        }
        let number = text.strip_suffix('x').unwrap_or(text);
        number
            .parse()
            .ok()
            .filter(|factor| FACTORS.contains(factor))
            .map(Self::Times)
            .ok_or_else(|| {
                Problem::new(ProblemKind::Invalid, format!("`{text}` is no speed"))
                    .hint("write a factor from 0.01 to 10000, such as `0.5` or `10`, or `max`")
            })
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times(factor) => write!(formatter, "{factor}"),
            Self::Max => formatter.write_str("max"),
        }
    }
}

/// A recorded run and the speed to play it at.
#[derive(Debug, Clone)]
pub struct Player {
    records: Vec<Record>,
    speed: Speed,
}

impl Player {
    /// Will play these events.
    pub fn new(records: Vec<Record>, speed: Speed) -> Self {
        Self { records, speed }
    }

    /// Plays to the end and closes the view. Dropping the future stops it anywhere.
    pub async fn play(&self, view: &mut dyn View) -> RunState {
        let mut state = RunState::default();
        let began = Instant::now();
        for record in &self.records {
            if let Speed::Times(factor) = self.speed {
                wait_until(record.elapsed_ms, (began, factor), view, &state).await;
            }
            state.apply(record);
            view.show(record, &state);
        }
        view.finish(&state);
        state
    }
}

/// Waits for a time of the run, ticking. Short sleeps, so that no recorded time, however absurd,
/// overflows a clock.
async fn wait_until(
    due_ms: u64,
    (began, factor): (Instant, f64),
    view: &mut dyn View,
    state: &RunState,
) {
    loop {
        let now_ms = began.elapsed().as_secs_f64() * 1_000.0 * factor;
        let missing_ms = due_ms as f64 - now_ms;
        if missing_ms <= 0.0 {
            return;
        }
        // Sleeps have a grain of a millisecond; a shorter one would end too early again and again.
        let real_s = (missing_ms / factor / 1_000.0).clamp(0.001, TICK.as_secs_f64());
        let is_tick = real_s >= TICK.as_secs_f64();
        sleep(Duration::from_secs_f64(real_s)).await;
        if is_tick {
            let now_ms = began.elapsed().as_secs_f64() * 1_000.0 * factor;
            view.tick((now_ms as u64).min(due_ms), state);
        }
    }
}
