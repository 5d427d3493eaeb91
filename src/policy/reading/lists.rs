//! Lists whose order means nothing: two policies that differ only in it are the same.

use std::fmt::Display;

use super::{HostPattern, Pattern};
use crate::plan::decode::Cursor;

/// Patterns; none is fine.
pub(super) fn patterns(cursor: &Cursor<'_>) -> Option<Vec<Pattern>> {
    each(cursor, Cursor::parsed_text)
}

/// Patterns, at least one.
pub(super) fn some_patterns(cursor: &Cursor<'_>) -> Option<Vec<Pattern>> {
    cursor.items()?;
    patterns(cursor)
}

/// Hosts; none is fine.
pub(super) fn hosts(cursor: &Cursor<'_>) -> Option<Vec<HostPattern>> {
    each(cursor, Cursor::parsed_text)
}

/// Hosts, at least one.
pub(super) fn some_hosts(cursor: &Cursor<'_>) -> Option<Vec<HostPattern>> {
    cursor.items()?;
    hosts(cursor)
}

/// The items of a list, each by its reader; a wrong one has been told.
pub(super) fn each<'t, T: Display>(
    cursor: &Cursor<'t>,
    read: impl Fn(&Cursor<'t>) -> Option<T>,
) -> Option<Vec<T>> {
    let items = cursor.any_items()?;
    Some(set(items.iter().filter_map(read).collect()))
}

/// Each once, in the order of the alphabet.
pub(super) fn set<T: Display>(mut all: Vec<T>) -> Vec<T> {
    all.sort_by_cached_key(ToString::to_string);
    all.dedup_by_key(|one| one.to_string());
    all
}
