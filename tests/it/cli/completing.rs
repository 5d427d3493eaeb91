//! Completions, as a shell asks for them: the registered script sets some variables, starts the
//! binary with the words so far, and reads candidates.

use super::after_a_run;
use crate::support::process::{Place, Running};

/// What bash offers at the end of these words, the last of which is under the cursor.
async fn offered(place: &Place, words: &[&str]) -> Vec<String> {
    let mut command = place.command(&["--", "chaos"]);
    command
        .args(words)
        .env("COMPLETE", "bash")
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "false");
    let ended = Running::of(command).ended().await.exits(0);
    assert_eq!(ended.stderr, "");
    ended.stdout.lines().map(str::to_owned).collect()
}

/// The candidates that are no flags.
async fn named(place: &Place, words: &[&str]) -> Vec<String> {
    let mut offered = offered(place, words).await;
    offered.retain(|word| !word.starts_with('-'));
    offered
}

#[tokio::test]
async fn a_shell_is_offered_experiments_plans_and_runs() {
    let (place, _) = after_a_run().await;
    let place = &place;
    place.write("notes.yaml", "kind: Shopping\n");
    place.write("readme.md", "kind: Experiment\n");
    std::fs::create_dir(place.path("more")).unwrap();
    place.write("more/second.yml", "kind: Experiment\n");
    place.write(
        "chaos-policy.yaml",
        "# not a kind: Experiment\nkind: Policy\n",
    );
    let plan = place.store().plans().unwrap()[0].to_string();
    let run = place.store().find_run("last").unwrap().id.to_string();

    assert_eq!(
        named(place, &["plan", ""]).await,
        ["more/", "stream-down.yaml"]
    );
    for words in [&["policy", "check", ""][..], &["plan", "--policy", ""]] {
        let offered = named(place, words).await;
        assert_eq!(offered, ["chaos-policy.yaml", "more/"], "{words:?}");
    }
    assert_eq!(named(place, &["plan", "more/"]).await, ["more/second.yml"]);
    assert_eq!(named(place, &["approve", ""]).await, [plan.as_str()]);
    assert_eq!(named(place, &["run", "p-"]).await, [plan.as_str()]);
    assert_eq!(named(place, &["run", "s"]).await, ["stream-down.yaml"]);
    for command in ["report", "replay"] {
        assert_eq!(named(place, &[command, ""]).await, ["last", run.as_str()]);
    }
    assert_eq!(named(place, &["show", "r-"]).await, [run.as_str()]);
    assert_eq!(named(place, &["show", "p-"]).await, [plan.as_str()]);
    assert_eq!(named(place, &["completions", "z"]).await, ["zsh"]);
    assert_eq!(
        offered(place, &["replay", "last", "--vi"]).await,
        ["--view"]
    );
    assert_eq!(named(place, &["comp"]).await, ["completions"]);
}

#[tokio::test]
async fn completing_in_an_empty_place_is_silent_and_makes_nothing() {
    let place = Place::new();
    for command in ["plan", "run", "approve", "show", "report", "replay"] {
        assert_eq!(
            named(&place, &[command, ""]).await,
            Vec::<String>::new(),
            "{command}"
        );
    }
    std::fs::write(place.state(), "no folder").unwrap();
    assert_eq!(named(&place, &["report", ""]).await, Vec::<String>::new());
    assert_eq!(place.listing(), Vec::<String>::new());
}

#[tokio::test]
async fn each_shell_gets_a_script_that_asks_this_binary() {
    let place = Place::new();
    for (shell, words) in [
        ("bash", "complete -o nospace"),
        ("zsh", "#compdef chaos"),
        ("fish", "complete --keep-order"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion:arg-completer[chaos]"),
    ] {
        let script = place.chaos(&["completions", shell]).await.exits(0);
        let script = script.prints(words).prints("COMPLETE");
        assert_eq!(script.stderr, "", "{shell}");
        let build = env!("CARGO_MANIFEST_DIR");
        assert!(
            !script.stdout.contains(build),
            "{shell}: a path of the build"
        );
    }
}
