//! When a run may begin: exact instants around windows, freezes, midnights and changes of the clocks.

use super::case::{Case, on_localstack, staging};

/// What the rule says about a run that begins then.
fn at(lines: &str, now: &str) -> Option<(String, String)> {
    let case = Case::of(on_localstack(&[1.0]), staging(lines)).running(now);
    let mut found = case.of_rule("change-window");
    let found = found.pop()?;
    assert_eq!(found.severity.word(), "deny", "{now}");
    Some((found.message, found.way_out))
}

/// Asserts whether a run may begin at each of these instants: `None`, or when it may.
fn assert_all(lines: &str, rows: &[(&str, Option<&str>)]) {
    for (now, opens) in rows {
        let way_out = at(lines, now).map(|(_, way_out)| way_out);
        let expected = opens.map(|opens| format!("run it from {opens}"));
        assert_eq!(way_out, expected, "{lines} at {now}");
    }
}

#[test]
fn a_window_begins_to_the_second_and_ends_before_its_end() {
    assert_all(
        "windows: [{days: [mon, tue, wed, thu, fri], from: \"09:00\", to: \"16:00\", timeZone: Europe/Berlin}]",
        &[
            // Winter: an hour before UTC.
            (
                "2026-03-04T07:59:59Z",
                Some("Wed 2026-03-04 09:00 Europe/Berlin on (2026-03-04 08:00 UTC)"),
            ),
            ("2026-03-04T08:00:00Z", None),
            ("2026-03-04T14:59:59.999Z", None),
            (
                "2026-03-04T15:00:00Z",
                Some("Thu 2026-03-05 09:00 Europe/Berlin on (2026-03-05 08:00 UTC)"),
            ),
            // Over the weekend.
            (
                "2026-03-06T15:00:00Z",
                Some("Mon 2026-03-09 09:00 Europe/Berlin on (2026-03-09 08:00 UTC)"),
            ),
            // Over the weekend on which summer begins.
            (
                "2026-03-27T15:00:00Z",
                Some("Mon 2026-03-30 09:00 Europe/Berlin on (2026-03-30 07:00 UTC)"),
            ),
            (
                "2026-03-30T06:59:59Z",
                Some("Mon 2026-03-30 09:00 Europe/Berlin on (2026-03-30 07:00 UTC)"),
            ),
            ("2026-03-30T07:00:00Z", None),
        ],
    );
}

#[test]
fn a_window_over_midnight_belongs_to_the_day_on_which_it_begins() {
    assert_all(
        "windows: [{days: [fri], from: \"22:00\", to: \"02:00\", timeZone: UTC}]",
        &[
            (
                "2026-03-06T21:59:59Z",
                Some("Fri 2026-03-06 22:00 UTC on (2026-03-06 22:00 UTC)"),
            ),
            ("2026-03-06T22:00:00Z", None),
            ("2026-03-07T01:59:59Z", None),
            (
                "2026-03-07T02:00:00Z",
                Some("Fri 2026-03-13 22:00 UTC on (2026-03-13 22:00 UTC)"),
            ),
            // The night before belongs to Thursday.
            (
                "2026-03-06T01:00:00Z",
                Some("Fri 2026-03-06 22:00 UTC on (2026-03-06 22:00 UTC)"),
            ),
        ],
    );
}

#[test]
fn an_hour_that_the_clocks_skip_is_in_no_window() {
    // On 29 March the clocks of Berlin go from 02:00 to 03:00, at 01:00 UTC.
    assert_all(
        "windows: [{days: [sun], from: \"02:00\", to: \"03:00\", timeZone: Europe/Berlin}]",
        &[
            ("2026-03-22T01:30:00Z", None),
            (
                "2026-03-29T00:30:00Z",
                Some("Sun 2026-04-05 02:00 Europe/Berlin on (2026-04-05 00:00 UTC)"),
            ),
            (
                "2026-03-29T01:00:00Z",
                Some("Sun 2026-04-05 02:00 Europe/Berlin on (2026-04-05 00:00 UTC)"),
            ),
            (
                "2026-03-22T02:00:00Z",
                Some("Sun 2026-04-05 02:00 Europe/Berlin on (2026-04-05 00:00 UTC)"),
            ),
        ],
    );
    // A window that ends in the hour that is not there is shorter that day.
    assert_all(
        "windows: [{days: [sun], from: \"01:00\", to: \"02:30\", timeZone: Europe/Berlin}]",
        &[
            ("2026-03-29T00:59:59Z", None),
            (
                "2026-03-29T01:00:00Z",
                Some("Sun 2026-04-05 01:00 Europe/Berlin on (2026-04-04 23:00 UTC)"),
            ),
        ],
    );
}

#[test]
fn an_hour_that_the_clocks_repeat_is_in_its_window_twice() {
    // On 25 October the clocks of Berlin go from 03:00 back to 02:00, at 01:00 UTC.
    assert_all(
        "windows: [{days: [sun], from: \"02:15\", to: \"02:45\", timeZone: Europe/Berlin}]",
        &[
            (
                "2026-10-25T00:14:59Z",
                Some("Sun 2026-10-25 02:15 Europe/Berlin on (2026-10-25 00:15 UTC)"),
            ),
            ("2026-10-25T00:15:00Z", None),
            (
                "2026-10-25T00:45:00Z",
                Some("Sun 2026-10-25 02:15 Europe/Berlin on (2026-10-25 01:15 UTC)"),
            ),
            ("2026-10-25T01:15:00Z", None),
            (
                "2026-10-25T01:45:00Z",
                Some("Sun 2026-11-01 02:15 Europe/Berlin on (2026-11-01 01:15 UTC)"),
            ),
        ],
    );
}

#[test]
fn a_freeze_is_whole_days_in_its_own_time_zone() {
    let freeze = "freezes: [{from: 2026-12-20, to: 2027-01-06, timeZone: Asia/Kolkata, reason: the year ends}]";
    assert_all(
        freeze,
        &[
            ("2026-12-19T18:29:59Z", None),
            (
                "2026-12-19T18:30:00Z",
                Some("Thu 2027-01-07 00:00 Asia/Kolkata on (2027-01-06 18:30 UTC)"),
            ),
            (
                "2027-01-06T18:29:59Z",
                Some("Thu 2027-01-07 00:00 Asia/Kolkata on (2027-01-06 18:30 UTC)"),
            ),
            ("2027-01-06T18:30:00Z", None),
        ],
    );
    let (message, _) = at(freeze, "2026-12-24T12:00:00Z").expect("a finding");
    assert_eq!(
        message,
        "no run begins in environment `staging` at Thu 2026-12-24 17:30 Asia/Kolkata: changes are frozen from 2026-12-20 to 2027-01-06, Asia/Kolkata (the year ends)"
    );
}

#[test]
fn a_window_opens_once_no_freeze_covers_it() {
    assert_all(
        "windows:
  - {days: [mon], from: \"09:00\", to: \"10:00\", timeZone: Europe/Berlin}
  - {days: [thu], from: \"09:00\", to: \"10:00\", timeZone: America/New_York}
freezes:
  - {from: 2026-03-05, to: 2026-03-08, timeZone: Europe/Berlin}
  - {from: 2026-03-09, to: 2026-03-11, timeZone: Europe/Berlin}",
        &[
            // Freezes that follow each other cover Thursday and Monday; New York has summer already.
            (
                "2026-03-04T10:00:00Z",
                Some("Thu 2026-03-12 14:00 Europe/Berlin on (2026-03-12 13:00 UTC)"),
            ),
            ("2026-03-12T13:00:00Z", None),
        ],
    );
    // The end of a freeze is in the middle of a window.
    assert_all(
        "windows: [{days: [mon, tue], from: \"00:00\", to: \"00:00\", timeZone: UTC}]
freezes: [{from: 2026-03-02, to: 2026-03-02, timeZone: America/New_York}]",
        &[(
            "2026-03-02T12:00:00Z",
            Some("Tue 2026-03-03 05:00 UTC on (2026-03-03 05:00 UTC)"),
        )],
    );
}

#[test]
fn while_a_plan_is_made_it_is_only_a_warning() {
    let lines = "windows: [{days: [sat], from: \"09:00\", to: \"10:00\", timeZone: UTC}]";
    let case = Case::of(on_localstack(&[1.0]), staging(lines));
    assert_eq!(
        case.said("change-window"),
        [
            "warn environment: no run begins in environment `staging` at Wed 2026-03-04 10:00 UTC: its windows are sat 09:00-10:00 UTC"
        ]
    );
}

#[test]
fn a_time_zone_that_is_none_denies() {
    let mut case = Case::of(
        on_localstack(&[1.0]),
        staging("windows: [{days: [sat], from: \"09:00\", to: \"10:00\", timeZone: UTC}]"),
    );
    let environment = case.policy.environments.get_mut("staging");
    environment.expect("staging").windows[0].time_zone = "Mars/Base".to_owned();
    assert_eq!(
        case.said("change-window"),
        ["deny environment: policy `ours` names the time zone `Mars/Base`, which is none"]
    );
}
