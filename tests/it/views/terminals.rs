//! The mode of a terminal whose keys are read.

use std::io::{Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use chaos_gameday::view::{KeyMode, Standing};

use crate::support::pty;

#[test]
fn keys_come_one_by_one_and_the_rest_of_the_terminal_stays_as_it_was() {
    let (terminal, user_side) = pty::pair();
    let found = pty::modes(&terminal);
    let mut mode = KeyMode::of(user_side.try_clone().expect("a terminal").into());
    assert_eq!(pty::modes(&terminal), found, "not before it is asked for");
    assert_eq!(mode.take().ok(), Some(Standing::Foreground));
    assert_eq!(mode.take().ok(), Some(Standing::Foreground));
    assert_eq!(pty::modes(&terminal), found.with_keys());
    drop(mode);
    assert_eq!(pty::modes(&terminal), found);
}

#[test]
fn what_was_typed_before_is_no_key_and_where_there_is_none_nobody_waits() {
    let (mut terminal, mut user_side) = pty::pair();
    terminal.write_all(b"ay\nay").expect("somebody types");
    let mut mode = KeyMode::of(user_side.try_clone().expect("a terminal").into());
    mode.take().expect("it is a terminal");
    let mut bytes = [0; 16];
    // Another process that reads here may have been faster: this must come back.
    assert_eq!(user_side.read(&mut bytes).expect("it is a terminal"), 0);
    terminal.write_all(b"m").expect("somebody types");
    mode.take().expect("it is a terminal");
    assert_eq!(user_side.read(&mut bytes).expect("it is a terminal"), 1);
    assert_eq!(bytes[0], b'm', "a key is kept once keys are read");
}

#[test]
fn a_panic_gives_the_terminal_back() {
    let (terminal, user_side) = pty::pair();
    let found = pty::modes(&terminal);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut mode = KeyMode::of(user_side.try_clone().expect("a terminal").into());
        mode.take().expect("it is a terminal");
        assert_eq!(pty::modes(&terminal), found, "so it panics");
    }));
    assert!(panicked.is_err());
    assert_eq!(pty::modes(&terminal), found);
}

#[test]
fn what_is_no_terminal_has_no_keys() {
    let file = tempfile::tempfile().expect("a file");
    assert!(KeyMode::of(file.into()).take().is_err());
    let (terminal, user_side) = pty::pair();
    drop(terminal);
    assert!(KeyMode::of(user_side.into()).take().is_err(), "it hung up");
}
