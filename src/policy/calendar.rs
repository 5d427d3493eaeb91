//! When a run may begin: windows and freezes, by the clocks of their time zones.
//!
//! A window is what the clock on the wall says. An hour that the clocks skip in spring is in no window,
//! an hour that they repeat in autumn is in its window twice.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, ZonedDateTime};

use super::document::{Freeze, Window};

/// Windows and freezes of an environment, with their time zones found.
pub(super) struct Calendar<'a> {
    windows: Vec<(&'a Window, TimeZone)>,
    freezes: Vec<(&'a Freeze, TimeZone)>,
}

/// Whether a run may begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Standing<'a> {
    /// It may.
    Open,
    /// It is in no window.
    Outside,
    /// It is in a freeze.
    Frozen(&'a Freeze),
}

/// Days in which every window comes round, even where the clocks skip one of its weeks.
const DAYS_AHEAD: i64 = 15;

impl<'a> Calendar<'a> {
    /// Finds the time zones.
    ///
    /// # Errors
    /// The name of one that nobody knows.
    pub(super) fn of(windows: &'a [Window], freezes: &'a [Freeze]) -> Result<Self, &'a str> {
        let mut calendar = Self {
            windows: Vec::new(),
            freezes: Vec::new(),
        };
        let zone = |name: &'a str| TimeZone::get(name).map_err(|_| name);
        for window in windows {
            calendar.windows.push((window, zone(&window.time_zone)?));
        }
        for freeze in freezes {
            calendar.freezes.push((freeze, zone(&freeze.time_zone)?));
        }
        Ok(calendar)
    }

    /// Whether a run may begin at this moment.
    pub(super) fn at(&self, now: Timestamp) -> Standing<'a> {
        let mut freezes = self.freezes.iter();
        let frozen = freezes.find(|(freeze, zone)| {
            let today = now.to_zoned_datetime(zone.clone()).date();
            (freeze.from..=freeze.to).contains(&today)
        });
        if let Some((freeze, _)) = frozen {
            return Standing::Frozen(freeze);
        }
        let mut windows = self.windows.iter();
        let open =
            windows.any(|(window, zone)| holds(window, &now.to_zoned_datetime(zone.clone())));
        match open || self.windows.is_empty() {
            true => Standing::Open,
            false => Standing::Outside,
        }
    }

    /// The first moment from now on at which a run may begin, by the clock that says so; `None`: not
    /// within the years that a calendar knows.
    pub(super) fn next_opening(&self, now: Timestamp) -> Option<ZonedDateTime> {
        let ends = self.freezes.iter().filter_map(|(freeze, zone)| {
            let day_after = freeze.to.tomorrow().ok()?;
            day_after.to_zoned_datetime(zone.clone()).ok()
        });
        let ends: Vec<ZonedDateTime> = ends.filter(|end| end.timestamp() > now).collect();
        // What is closed opens where a window begins or where a freeze ends, and a window that a freeze
        // covers begins again within days of the freeze's end.
        let from = ends.iter().map(ZonedDateTime::timestamp).chain([now]);
        let mut openings: Vec<ZonedDateTime> = from
            .flat_map(|from| self.windows_from(from))
            .chain(ends.iter().cloned())
            .filter(|opening| opening.timestamp() > now)
            .collect();
        openings.sort_by_key(ZonedDateTime::timestamp);
        let mut openings = openings.into_iter();
        let first = openings.find(|opening| self.at(opening.timestamp()) == Standing::Open)?;
        Some(self.on_a_clock_of_ours(first))
    }

    /// Where the windows begin in the days after a moment.
    fn windows_from(&self, from: Timestamp) -> Vec<ZonedDateTime> {
        let beginnings = self.windows.iter().flat_map(|(window, zone)| {
            let today = from.to_zoned_datetime(zone.clone()).date();
            let days = (0..DAYS_AHEAD).filter_map(move |day| today.checked_add(day.days()).ok());
            let days = days.filter(|day| is_on(window, *day));
            days.flat_map(|day| beginnings(day.to_datetime(window.from), zone))
        });
        beginnings.collect()
    }

    /// A freeze may end in another time zone than the windows are in.
    fn on_a_clock_of_ours(&self, opening: ZonedDateTime) -> ZonedDateTime {
        let mut zones = self.windows.iter().map(|(_, zone)| zone);
        match zones.next() {
            Some(zone) => opening.timestamp().to_zoned_datetime(zone.clone()),
            None => opening,
        }
    }
}

/// Both moments at which the clock says this, where it says it twice.
fn beginnings(time: DateTime, zone: &TimeZone) -> Vec<ZonedDateTime> {
    let ambiguous = || zone.to_ambiguous_timestamp(time);
    let both = [ambiguous().earlier(), ambiguous().later()];
    let both = both.into_iter().flatten();
    both.map(|moment| moment.to_zoned_datetime(zone.clone()))
        .collect()
}

fn is_on(window: &Window, day: Date) -> bool {
    let mut days = window.days.iter();
    days.any(|one| one.weekday() == day.weekday())
}

fn holds(window: &Window, now: &ZonedDateTime) -> bool {
    let (today, time) = (now.date(), now.time());
    if window.from < window.to {
        return is_on(window, today) && (window.from..window.to).contains(&time);
    }
    // Over midnight: it began today, or yesterday and is not over.
    let yesterday = today.yesterday().ok();
    let began_yesterday = yesterday.is_some_and(|day| is_on(window, day));
    (is_on(window, today) && time >= window.from) || (began_yesterday && time < window.to)
}
