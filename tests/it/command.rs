//! Programs as metric sources, with real processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chaos_gameday::clients::Clients;
use chaos_gameday::metrics::{CommandMetric, Metric, MetricSpecs, SourceSetup, Sources, WallClock};
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::secret::Secrets;
use chaos_gameday::model::units::Span;
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::time::Instant;

/// Long enough for any machine, short enough for a test that waits for it.
const PATIENT: Span = Span::from_secs(20);
const SHORT: Span = Span::from_millis(400);

fn metric(argv: &[&str], json: Option<&str>, timeout: Span) -> Metric {
    Metric::Command(CommandMetric {
        argv: argv.iter().map(|&word| word.to_owned()).collect(),
        json: json.map(str::to_owned),
        timeout,
    })
}

fn shell(script: &str) -> Metric {
    metric(&["/bin/sh", "-c", script], None, PATIENT)
}

async fn read_as(this_program: &str, metric: &Metric) -> Reading {
    let setup = SourceSetup {
        clients: Clients::new().expect("clients can be made"),
        secrets: Secrets::default(),
        tag: "run-1".to_owned(),
        this_program: PathBuf::from(this_program),
        clock: WallClock::set_to(Timestamp::UNIX_EPOCH),
    };
    let source = Sources::new(&MetricSpecs::default(), &setup)
        .expect("no secret is needed")
        .source_for(metric)
        .expect("commands need no declaration");
    source.read(metric).await
}

async fn read(metric: &Metric) -> Reading {
    read_as("/no/such/chaos", metric).await
}

fn down(why: &str) -> Reading {
    Reading::SourceDown {
        why: why.to_owned(),
    }
}

/// The process whose id a script wrote into this file.
async fn process_in(file: &Path) -> u32 {
    let begun = Instant::now();
    loop {
        if let Some(pid) = fs::read_to_string(file)
            .ok()
            .and_then(|text| text.trim().parse().ok())
        {
            return pid;
        }
        assert!(begun.elapsed() < Duration::from_secs(8), "no pid written");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn is_alive(pid: u32) -> bool {
    // A zombie is dead: only its parent has yet to notice.
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .is_some_and(|it| it.starts_with(" Z"))
    })
}

async fn assert_dies(pid: u32) {
    let begun = Instant::now();
    while is_alive(pid) {
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "process {pid} outlives its reading"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A script with a grandchild that would run for long, whose id stands in the file.
fn with_grandchild(directory: &TempDir, rest: &str) -> (Metric, PathBuf) {
    let file = directory.path().join("pid");
    let script = format!("sleep 300 & echo $! > {}; {rest}", file.display());
    (metric(&["/bin/sh", "-c", &script], None, SHORT), file)
}

#[tokio::test]
async fn the_number_that_a_program_prints_is_the_reading() {
    assert_eq!(read(&shell("echo 42.5")).await, Reading::Value(42.5));
}

#[tokio::test]
async fn arguments_reach_the_program_as_they_are() {
    let metric = metric(
        &["/bin/echo", r#"{"a": ["$HOME; 1", 7]}"#],
        Some("$.a[1]"),
        PATIENT,
    );
    assert_eq!(read(&metric).await, Reading::Value(7.0));
}

#[tokio::test]
async fn chaos_means_this_very_binary() {
    let metric = metric(&["chaos", "3"], None, PATIENT);
    assert_eq!(read_as("/bin/echo", &metric).await, Reading::Value(3.0));
}

#[tokio::test]
async fn a_program_has_no_input_to_wait_for() {
    assert_eq!(read(&shell("wc -c")).await, Reading::Value(0.0));
}

#[tokio::test]
async fn a_failing_program_is_down_with_its_last_words() {
    for (script, why) in [
        (
            "echo 1; echo first >&2; printf '\\033[31mno \\tqueue\\033[0m\\a\\n\\n' >&2; exit 3",
            "`/bin/sh` exited with 3: no  queue",
        ),
        ("echo 1; exit 1", "`/bin/sh` exited with 1"),
        ("kill -9 $$", "`/bin/sh` was killed by signal 9"),
        (
            "yes error | head -n 100000 >&2; exit 2",
            "`/bin/sh` exited with 2: error",
        ),
    ] {
        assert_eq!(read(&shell(script)).await, down(why), "{script}");
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_started_says_why() {
    let directory = TempDir::new().expect("a temporary folder");
    let file = directory.path().join("script");
    fs::write(&file, "#!/bin/sh\necho 1\n").expect("a file can be written");
    let file = file.display().to_string();
    for (argv, why) in [
        (
            &["no-such-program-here"][..],
            "`no-such-program-here` is not found".to_owned(),
        ),
        (&[file.as_str()][..], format!("`{file}` is not executable")),
        (&[][..], "the command is empty".to_owned()),
    ] {
        assert_eq!(read(&metric(argv, None, PATIENT)).await, down(&why));
    }
}

#[tokio::test]
async fn endless_output_is_cut_and_its_program_ended() {
    let directory = TempDir::new().expect("a temporary folder");
    let file = directory.path().join("pid");
    let script = format!("trap '' PIPE; echo $$ > {}; exec yes", file.display());
    let begun = Instant::now();
    assert_eq!(
        read(&shell(&script)).await,
        down("`/bin/sh` printed more than 1 MiB")
    );
    assert!(begun.elapsed() < PATIENT.as_duration());
    assert_dies(process_in(&file).await).await;
}

#[tokio::test]
async fn endless_complaints_are_no_trouble() {
    let metric = metric(
        &["/bin/sh", "-c", "head -c 5000000 /dev/zero >&2; echo 4"],
        None,
        PATIENT,
    );
    assert_eq!(read(&metric).await, Reading::Value(4.0));
}

#[tokio::test]
async fn a_time_out_ends_the_program_and_all_that_it_started() {
    let directory = TempDir::new().expect("a temporary folder");
    let (metric, file) = with_grandchild(&directory, "trap '' TERM INT HUP; wait");
    let begun = Instant::now();
    assert_eq!(
        read(&metric).await,
        down("`/bin/sh` did not end within 400ms")
    );
    assert!(begun.elapsed() < Duration::from_secs(3));
    assert_dies(process_in(&file).await).await;
}

#[tokio::test]
async fn a_grandchild_that_holds_the_output_neither_delays_the_reading_nor_outlives_it() {
    let directory = TempDir::new().expect("a temporary folder");
    let (metric, file) = with_grandchild(&directory, "echo 5");
    assert_eq!(read(&metric).await, Reading::Value(5.0));
    assert_dies(process_in(&file).await).await;
}

#[tokio::test]
async fn a_reading_that_is_given_up_ends_its_program() {
    let directory = TempDir::new().expect("a temporary folder");
    let file = directory.path().join("pid");
    let script = format!("sleep 300 & echo $! > {}; wait", file.display());
    let metric = shell(&script);
    let pid = tokio::select! {
        reading = read(&metric) => panic!("{reading:?}"),
        pid = process_in(&file) => pid,
    };
    assert_dies(pid).await;
}
