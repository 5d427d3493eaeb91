//! The locks of runs under way.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use chaos_gameday::journal::Locks;
use chaos_gameday::model::problem::ProblemKind;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn a_lock_is_held_by_one_handle_until_it_is_dropped() {
    let folder = folder();
    let locks = || Locks::open(folder.path().join("chaos/locks")).expect("a folder of ours");
    let (one, other) = (locks(), locks());
    let target = "localstack at localhost:4566";
    let held = one.take(target).expect("a lock file").expect("a free lock");
    assert!(other.take(target).expect("a lock file").is_none());
    assert!(other.take("another").expect("a lock file").is_some());
    drop(held);
    assert!(other.take(target).expect("a lock file").is_some());
    for below in ["chaos", "chaos/locks"] {
        let found = fs::metadata(folder.path().join(below)).expect("it was made");
        assert_eq!(found.permissions().mode() & 0o777, 0o700, "{below}");
    }
}

#[test]
fn of_many_threads_exactly_one_gets_the_lock() {
    let folder = folder();
    let locks = Locks::open(folder.path().join("locks")).expect("a folder of ours");
    let taken: Vec<_> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| locks.take("target")))
            .collect();
        tries
            .into_iter()
            .map(|one| one.join().expect("no panic"))
            .collect()
    });
    let held = taken.iter().filter(|lock| matches!(lock, Ok(Some(_))));
    assert_eq!(held.count(), 1);
}

#[test]
fn locks_are_kept_in_no_folder_of_another_user() {
    let folder = folder();
    let path = folder.path().join("chaos");
    fs::create_dir(&path).expect("space");
    // Only root can give a folder away; everybody else finds one of root's at hand.
    let (path, owner) = match chown(&path, Some(12_345), None) {
        Ok(()) => (path, 12_345),
        Err(_) => ("/".into(), 0),
    };
    let problem = Locks::open(path.clone()).expect_err("a refusal");
    assert_eq!(problem.kind, ProblemKind::Refused);
    let start = format!(
        "the locks cannot be kept in {}: it belongs to user {owner}, not to you (",
        path.display()
    );
    assert!(problem.message.starts_with(&start), "{problem}");
}

#[test]
fn locks_are_kept_in_no_folder_that_somebody_else_could_exchange() {
    let folder = folder();
    let elsewhere = folder.path().join("elsewhere");
    let link = folder.path().join("link");
    fs::create_dir(&elsewhere).expect("space");
    symlink(&elsewhere, &link).expect("space");
    for (path, place) in [(link.clone(), &link), (link.join("locks"), &link)] {
        let problem = Locks::open(path).expect_err("a refusal");
        assert_eq!(problem.kind, ProblemKind::Refused);
        let words = format!(
            "the locks cannot be kept in {}: it is no folder",
            place.display()
        );
        assert_eq!(problem.message, words);
        assert!(
            problem
                .hint
                .is_some_and(|hint| hint.contains("CHAOS_LOCK_DIR"))
        );
    }
}
