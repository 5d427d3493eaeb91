//! A run begins when changes are allowed: within a window, and in no freeze.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Facts, Found};
use crate::policy::calendar::{Calendar, Standing};
use crate::policy::document::{DayOfWeek, Environment, Freeze, Window};

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let Some(environment) = facts.environment() else {
        return Vec::new();
    };
    let calendar = match Calendar::of(&environment.windows, &environment.freezes) {
        Ok(calendar) => calendar,
        Err(zone) => return vec![unknown_zone(facts, zone)],
    };
    let now = facts.now();
    let closed = match calendar.at(now) {
        Standing::Open => return Vec::new(),
        Standing::Outside => outside(&environment.windows),
        Standing::Frozen(freeze) => frozen(freeze),
    };
    let message = format!(
        "no run begins in environment `{}` at {}: {closed}",
        facts.environment_name(),
        on_the_clock(now, first_zone(environment)),
    );
    let way_out = match calendar.next_opening(now) {
        Some(opening) => format!(
            "run it from {} on ({} UTC)",
            on_the_clock(opening.timestamp(), opening.time_zone().iana_name()),
            opening.timestamp().strftime("%Y-%m-%d %H:%M"),
        ),
        None => "no window opens again: the policy has to name another".to_owned(),
    };
    vec![Found {
        severity: facts.weight_of_now(),
        ..Found::deny("environment", message, way_out)
    }]
}

fn unknown_zone(facts: &Facts<'_>, zone: &str) -> Found {
    Found::deny(
        "environment",
        format!(
            "policy `{}` names the time zone `{zone}`, which is none",
            facts.policy.name
        ),
        "correct the policy: a time zone is written as `Europe/Berlin` or `UTC`",
    )
}

fn outside(windows: &[Window]) -> String {
    let windows: Vec<String> = windows.iter().map(written).collect();
    format!("its windows are {}", windows.join("; "))
}

fn frozen(freeze: &Freeze) -> String {
    let Freeze {
        from,
        to,
        time_zone,
        reason,
    } = freeze;
    let reason = reason.as_ref();
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    format!("changes are frozen from {from} to {to}, {time_zone}{reason}")
}

/// `mon, tue 09:00-16:00 Europe/Berlin`
fn written(window: &Window) -> String {
    let days: Vec<String> = window.days.iter().map(|day| day_name(*day)).collect();
    format!(
        "{} {}-{} {}",
        days.join(", "),
        window.from.strftime("%H:%M"),
        window.to.strftime("%H:%M"),
        window.time_zone
    )
}

fn day_name(day: DayOfWeek) -> String {
    format!("{day:?}").to_lowercase()
}

fn first_zone(environment: &Environment) -> Option<&str> {
    let windows = environment.windows.iter().map(|window| &window.time_zone);
    let freezes = environment.freezes.iter().map(|freeze| &freeze.time_zone);
    windows.chain(freezes).next().map(String::as_str)
}

/// `Mon 2026-03-02 09:00 Europe/Berlin`
fn on_the_clock(moment: Timestamp, zone: Option<&str>) -> String {
    let name = zone.unwrap_or("UTC");
    let zone = TimeZone::get(name).unwrap_or(TimeZone::UTC);
    let moment = moment.to_zoned_datetime(zone);
    format!("{} {name}", moment.strftime("%a %Y-%m-%d %H:%M"))
}
