//! Reads when a run may begin: windows by days and hours, freezes by dates.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use crate::plan::decode::Cursor;
use crate::plan::fields::Fields;
use crate::plan::words::nearest;
use crate::policy::document::{DayOfWeek, Freeze, Window};

pub(in crate::policy) const WINDOW_KEYS: &[&str] = &["days", "from", "to", "timeZone"];
pub(in crate::policy) const FREEZE_KEYS: &[&str] = &["from", "to", "timeZone", "reason"];
pub(in crate::policy) const DAYS: &[(&str, DayOfWeek)] = &[
    ("mon", DayOfWeek::Mon),
    ("tue", DayOfWeek::Tue),
    ("wed", DayOfWeek::Wed),
    ("thu", DayOfWeek::Thu),
    ("fri", DayOfWeek::Fri),
    ("sat", DayOfWeek::Sat),
    ("sun", DayOfWeek::Sun),
];

/// The windows, each once; none: a run may begin at any time.
pub(super) fn windows(cursor: &Cursor<'_>) -> Option<Vec<Window>> {
    let mut all = all_of(cursor, window)?;
    all.sort_by(|one, other| one.sort_key().cmp(&other.sort_key()));
    all.dedup();
    Some(all)
}

/// The freezes, each once, the first first.
pub(super) fn freezes(cursor: &Cursor<'_>) -> Option<Vec<Freeze>> {
    let mut all = all_of(cursor, freeze)?;
    all.sort_by(|one, other| one.sort_key().cmp(&other.sort_key()));
    all.dedup();
    Some(all)
}

fn all_of<'t, T>(cursor: &Cursor<'t>, read: impl Fn(&Cursor<'t>) -> Option<T>) -> Option<Vec<T>> {
    Some(cursor.any_items()?.iter().filter_map(read).collect())
}

impl Window {
    fn sort_key(&self) -> (Vec<DayOfWeek>, Time, Time, &str) {
        (self.days.clone(), self.from, self.to, &self.time_zone)
    }
}

impl Freeze {
    fn sort_key(&self) -> (Date, Date, &str, Option<&str>) {
        (self.from, self.to, &self.time_zone, self.reason.as_deref())
    }
}

fn window(cursor: &Cursor<'_>) -> Option<Window> {
    let fields = cursor.fields(WINDOW_KEYS)?;
    let days = match fields.optional("days") {
        Some(cursor) => days(&cursor),
        None => Some(DAYS.iter().map(|(_, day)| *day).collect()),
    };
    let from = fields.required("from", "from: \"09:00\"");
    let from = from.and_then(|cursor| time(&cursor));
    let to = fields.required("to", "to: \"16:00\"");
    let end = to.as_ref().and_then(time);
    let time_zone = time_zone(&fields);
    let (from, end) = (from?, end?);
    if from == end && from != Time::midnight() {
        let message = format!("the window begins and ends at {}", shown(from));
        let help = "write when it ends; for whole days, `from: \"00:00\"` and `to: \"00:00\"`";
        to?.report(message, help);
        return None;
    }
    Some(Window {
        days: days?,
        from,
        to: end,
        time_zone: time_zone?,
    })
}

/// A time as the document has it.
fn shown(time: Time) -> String {
    format!("{:02}:{:02}", time.hour(), time.minute())
}

fn days(cursor: &Cursor<'_>) -> Option<Vec<DayOfWeek>> {
    let items = cursor.items()?;
    let mut days: Vec<DayOfWeek> = items.iter().filter_map(|item| item.word(DAYS)).collect();
    days.sort_unstable();
    days.dedup();
    Some(days)
}

fn time(cursor: &Cursor<'_>) -> Option<Time> {
    let text = cursor.raw().unwrap_or_default();
    let digits = |text: &str| -> Option<i8> {
        let plain = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse().ok()).flatten()
    };
    let time = text
        .split_once(':')
        .and_then(|(hour, minute)| Time::new(digits(hour)?, digits(minute)?, 0, 0).ok());
    if time.is_none() {
        let help = match text {
            "24:00" => "write `\"00:00\"`, which is the end of the day too",
            _ => "write hours and minutes, from `\"00:00\"` to `\"23:59\"`",
        };
        let name = cursor.name();
        cursor.report(format!("{name} is no time of the day"), help);
    }
    time
}

fn freeze(cursor: &Cursor<'_>) -> Option<Freeze> {
    let fields = cursor.fields(FREEZE_KEYS)?;
    let from = fields.required("from", "from: 2026-12-20");
    let first = from.as_ref().and_then(date);
    let to = fields.required("to", "to: 2027-01-06");
    let last = to.as_ref().and_then(date);
    let time_zone = time_zone(&fields);
    let reason = fields.optional("reason").map(|cursor| cursor.line());
    if let (Some(first), Some(last), Some(cursor)) = (first, last, &to)
        && first > last
    {
        cursor.report_with(
            format!("the freeze ends on {last}, before it begins"),
            "write the first day under `from` and the last under `to`",
            from.as_ref().map(|from| (from, "it begins here")),
        );
        return None;
    }
    Some(Freeze {
        from: first?,
        to: last?,
        time_zone: time_zone?,
        reason: match reason {
            Some(reason) => Some(reason?.to_owned()),
            None => None,
        },
    })
}

fn date(cursor: &Cursor<'_>) -> Option<Date> {
    let text = cursor.raw().unwrap_or_default();
    // The parser takes shorter forms too, and times behind the date.
    let date = Some(text).filter(|text| text.len() == "2026-12-20".len());
    let date = date.and_then(|text| text.parse().ok());
    if date.is_none() {
        let name = cursor.name();
        cursor.report(
            format!("{name} is no date"),
            "write year, month and day: `2026-12-20`",
        );
    }
    date
}

/// The IANA name of a time zone, in its own spelling.
fn time_zone(fields: &Fields<'_>) -> Option<String> {
    let cursor = fields.required("timeZone", "timeZone: Europe/Berlin")?;
    let text = cursor.line()?;
    let zone = TimeZone::get(text).ok();
    let name = zone.as_ref().and_then(TimeZone::iana_name);
    if name.is_none() {
        cursor.report(format!("there is no time zone `{text}`"), zone_help(text));
    }
    name.map(str::to_owned)
}

fn zone_help(text: &str) -> String {
    const EXAMPLES: &str =
        "write an IANA name such as `Europe/Berlin`, `America/New_York` or `UTC`";
    let known: Vec<String> = jiff::tz::db()
        .available()
        .map(|name| name.to_string())
        .collect();
    let city = text.to_lowercase().replace(' ', "_");
    let of_city = known.iter().find(|name| {
        let last = name.rsplit('/').next().unwrap_or_default();
        last.to_lowercase() == city
    });
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    match of_city
        .map(String::as_str)
        .or_else(|| nearest(text, &names))
    {
        Some(name) => format!("did you mean `{name}`? {EXAMPLES}"),
        None => EXAMPLES.to_owned(),
    }
}
