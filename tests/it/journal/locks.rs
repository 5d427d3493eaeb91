//! The locks of runs under way.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

use chaos_gameday::journal::{Attempt, Locks};
use chaos_gameday::model::approval::Person;
use chaos_gameday::model::holder::Holder;
use chaos_gameday::model::problem::ProblemKind;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// This process, as a run.
pub fn holder() -> Holder {
    Holder {
        person: Person {
            user: "ann".to_owned(),
            host: "desk".to_owned(),
        },
        since: "2026-11-30T12:01:33Z".parse().expect("a time"),
        plan: "p-3a1fd9bca3".parse().expect("an id"),
        experiment: "redis-latency".parse().expect("a name"),
        run: None,
        state: PathBuf::from("/state"),
        pid: std::process::id(),
    }
}

#[test]
fn a_lock_is_held_by_one_handle_until_it_is_dropped() {
    let folder = folder();
    let locks = || Locks::open(folder.path().join("chaos/locks")).expect("a folder of ours");
    let (one, other) = (locks(), locks());
    let target = "localstack at localhost:4566";
    let take = |locks: &Locks, name: &str| locks.take(name, &holder()).expect("a lock file");
    let held = take(&one, target).taken().expect("a free lock");
    assert!(take(&other, target).taken().is_none());
    assert!(take(&other, "another").taken().is_some());
    drop(held);
    assert!(take(&other, target).taken().is_some());
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
            .map(|_| scope.spawn(|| locks.take("target", &holder())))
            .collect();
        tries
            .into_iter()
            .map(|one| one.join().expect("no panic"))
            .collect()
    });
    let held = taken
        .iter()
        .filter(|lock| matches!(lock, Ok(Attempt::Taken(_))));
    assert_eq!(held.count(), 1);
}

/// What somebody who meets this held lock is told of its holder, with this in its file.
fn told(locks: &Locks, file: &Path, content: &[u8]) -> Option<Holder> {
    fs::write(file, content).expect("space");
    match locks.take("target", &holder()).expect("a lock file") {
        Attempt::Held(held) => held.holder,
        Attempt::Taken(_) => panic!("two have the lock"),
    }
}

#[test]
fn whatever_stands_in_its_file_a_held_lock_is_held_and_a_free_one_is_free() {
    let folder = folder();
    let locks = Locks::open(folder.path().join("locks")).expect("a folder of ours");
    let file = folder.path().join("locks/target.lock");
    let lock = locks
        .take("target", &holder())
        .expect("a lock file")
        .taken();
    let lock = lock.expect("a free lock");
    let written = fs::read(&file).expect("a lock file");
    assert_eq!(told(&locks, &file, &written), Some(holder()));

    let dead = Holder {
        pid: 4_194_304,
        ..holder()
    };
    let line = serde_json::to_vec(&dead).expect("a line");
    assert_eq!(
        told(&locks, &file, &line),
        Some(dead),
        "the last word there is"
    );
    let huge = [written.as_slice(), &[b' '; 8 * 1024]].concat();
    let hostile = String::from_utf8_lossy(&written).replace("p-3a1f", "p-../");
    for nonsense in [
        b"".as_slice(),
        &written[..20],
        &huge,
        b"\xff\x00",
        hostile.as_bytes(),
    ] {
        assert_eq!(told(&locks, &file, nonsense), None, "{nonsense:?}");
    }

    fs::write(&file, &written).expect("space");
    drop(lock);
    assert_eq!(
        fs::read(&file).expect("a lock file"),
        b"",
        "nobody holds it"
    );
    fs::write(&file, &written).expect("space");
    let again = locks.take("target", &holder()).expect("a lock file");
    assert!(
        again.taken().is_some(),
        "what stands there locks nobody out"
    );
}

#[test]
fn a_run_is_named_once_it_has_begun() {
    let folder = folder();
    let locks = Locks::open(folder.path().join("locks")).expect("a folder of ours");
    let lock = locks
        .take("target", &holder())
        .expect("a lock file")
        .taken();
    let begun = Holder {
        run: "r-20261130-120133-500ab".parse().ok(),
        ..holder()
    };
    lock.as_ref().expect("a free lock").tell(&begun);
    let Attempt::Held(held) = locks.take("target", &holder()).expect("a lock file") else {
        panic!("two have the lock");
    };
    assert_eq!(held.holder, Some(begun));
}

#[test]
fn a_lock_whose_file_was_removed_or_exchanged_is_known_to_lock_nobody_out() {
    let folder = folder();
    let locks = Locks::open(folder.path().join("locks")).expect("a folder of ours");
    let file = folder.path().join("locks/target.lock");
    let lock = locks
        .take("target", &holder())
        .expect("a lock file")
        .taken();
    let lock = lock.expect("a free lock");
    assert_eq!(lock.check(), Ok(()));
    fs::remove_file(&file).expect("it is there");
    assert_eq!(
        lock.check().map_err(|why| why.kind),
        Err(ProblemKind::Conflict)
    );
    File::create(&file).expect("space");
    assert_eq!(
        lock.check().map_err(|why| why.kind),
        Err(ProblemKind::Conflict)
    );
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
