//! What a shell asks for while somebody types: the real binary, in a folder of hostile names.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use crate::harness::Target;
use crate::input::Corpus;

/// Longer arguments and more of them no shell can hand over.
const LONGEST: usize = 8 << 10;

#[test]
fn a_shell_gets_candidates_or_nothing_and_never_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.yaml"), "kind: Experiment\n").expect("a writable folder");
    fs::write(folder.path().join("b.yml"), [0xff; 5_000]).expect("a writable folder");
    let hostile = folder.path().join(OsStr::from_bytes(b"\xff\x1b[2J.yaml"));
    fs::write(hostile, "kind: Experiment\n").expect("a writable folder");
    let seeds: [&[u8]; 5] = [
        b"plan\n",
        b"run\n-",
        b"plan\n--var\nA=",
        b"show\nr-",
        b"policy\ncheck\n./",
    ];
    Target {
        name: "completions",
        corpus: Corpus {
            seeds: seeds.map(<[u8]>::to_vec).into(),
            words: &[
                "plan\n",
                "run\n",
                "--",
                "-o\n",
                "--var-file\n",
                "../",
                "/dev/",
                "/proc/self/",
                "~",
                "p-",
                "r-",
                "last",
            ],
            largest: LONGEST,
            between: b"",
        },
        cases: 8,
        holds: &|input| {
            let bare: Vec<u8> = input.iter().copied().filter(|byte| *byte != 0).collect();
            let words: Vec<_> = bare
                .split(|byte| *byte == b'\n')
                .map(OsStr::from_bytes)
                .collect();
            let ended = Command::new(env!("CARGO_BIN_EXE_chaos"))
                .args(["--", "chaos"])
                .args(&words)
                .current_dir(folder.path())
                .env_clear()
                .env("CHAOS_STATE_DIR", folder.path())
                .env("COMPLETE", "bash")
                .env("_CLAP_IFS", "\n")
                .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
                .env("_CLAP_COMPLETE_COMP_TYPE", "9")
                .env("_CLAP_COMPLETE_SPACE", "false")
                .stdin(Stdio::null())
                .output()
                .expect("it starts");
            let said = String::from_utf8_lossy(&ended.stderr);
            assert!(
                ended.status.success() && said.is_empty(),
                "{}: {said}",
                ended.status
            );
        },
    }
    .run();
}
