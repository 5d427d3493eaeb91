//! What is weak about when a run may begin.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::Advice;
use crate::policy::calendar::{Calendar, Standing};
use crate::policy::document::{Environment, Freeze};

/// Whoever plans for later than this does not plan.
const A_YEAR: SignedDuration = SignedDuration::from_hours(366 * 24);

pub(super) fn times(place: &str, environment: &Environment, now: Timestamp) -> Vec<Advice> {
    let over = environment
        .freezes
        .iter()
        .filter(|freeze| is_over(freeze, now));
    let over = over.map(|freeze| {
        Advice::new(
            format!("{place}.freezes"),
            format!("the freeze from {} to {} is over", freeze.from, freeze.to),
            "take it away, or write the next one",
        )
    });
    over.chain(shut(place, environment, now)).collect()
}

fn is_over(freeze: &Freeze, now: Timestamp) -> bool {
    TimeZone::get(&freeze.time_zone)
        .is_ok_and(|zone| now.to_zoned_datetime(zone).date() > freeze.to)
}

/// No run may begin for very long.
fn shut(place: &str, environment: &Environment, now: Timestamp) -> Option<Advice> {
    let calendar = Calendar::of(&environment.windows, &environment.freezes).ok()?;
    if calendar.at(now) == Standing::Open {
        return None;
    }
    let opening = calendar.next_opening(now);
    if let Some(opening) = &opening
        && opening.timestamp().duration_since(now) <= A_YEAR
    {
        return None;
    }
    let until = opening.map_or("at all".to_owned(), |opening| {
        format!("before {}", opening.date())
    });
    Some(Advice::new(
        format!("{place}.freezes"),
        format!("no run may begin in it {until}"),
        "end the freeze sooner, or take the environment away until then",
    ))
}
