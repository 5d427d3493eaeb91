//! Signed approvals over the binary: asked for at a terminal, made by the real `ssh-keygen`, carried as
//! files, used once.

use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::Scene;
use crate::approvals::{keygen_is_missing, make_key};
use crate::support::process::{Ended, Place, Running, names_in};
use crate::support::pty::{self, CTRL_C, Terminal};

const QUESTION: &str = "anything else to refuse";

/// A scene whose policy wants signatures, and the key of bob.
pub(super) struct Signed {
    pub(super) scene: Scene,
    pub(super) policy: PathBuf,
    pub(super) key: PathBuf,
}

impl Signed {
    pub(super) async fn new(rules: &str, passphrase: &str) -> Self {
        let scene = Scene::new().await;
        let key = scene.place.path("bob");
        make_key(&key, "ed25519", passphrase);
        let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
        scene
            .place
            .write("allowed_signers", &format!("bob@example.com {public}"));
        let policy = scene.place.write(
            "signed.yaml",
            &format!(
                "apiVersion: chaos/v1\nkind: Policy\nmetadata: {{name: signed}}\nenvironments:\n  local:\n    proof: {{localstack: {{hosts: [loopback]}}}}\n    approval: {{mode: signed, signers: allowed_signers{rules}}}\n"
            ),
        );
        Self { scene, policy, key }
    }

    fn as_user(&self, place: &Place, user: &str, args: &[&str]) -> Command {
        let mut command = place.command(args);
        command.env("USER", user).env("CHAOS_POLICY", &self.policy);
        command
    }

    pub(super) async fn run(&self, place: &Place, user: &str, args: &[&str]) -> Ended {
        Running::of(self.as_user(place, user, args)).ended().await
    }

    /// The id of a plan that ann made.
    async fn planned(&self, place: &Place) -> String {
        let planned = self
            .run(place, "ann", &["plan", "-q", "stream-down.yaml"])
            .await;
        planned.exits(0).stdout.trim().to_owned()
    }

    /// Approves at a terminal as bob.
    pub(super) async fn approve(
        &self,
        place: &Place,
        plan: &str,
        more: &[&str],
        keys: &str,
    ) -> (Option<i32>, String) {
        let key = self.key.to_str().unwrap();
        let args = [&["approve", plan, "--key", key], more].concat();
        let policy = self.policy.to_str().unwrap();
        let environment = [("USER", "bob"), ("CHAOS_POLICY", policy)];
        let mut terminal = Terminal::start_with(place, &args, &environment);
        terminal.shows(QUESTION).await;
        terminal.types(keys).await;
        let (status, shown) = terminal.ended().await;
        (status.code(), shown)
    }
}

#[tokio::test]
async fn where_a_typed_name_would_do_a_key_that_is_known_signs_and_counts() {
    if pty::is_missing() || keygen_is_missing() {
        return;
    }
    let signed = Signed::new("", "").await;
    let policy = std::fs::read_to_string(&signed.policy).unwrap();
    let policy = policy.replace("mode: signed", "mode: confirm");
    std::fs::write(&signed.policy, policy).unwrap();
    let place = &signed.scene.place;
    let args = ["plan", "stream-down.yaml", "--out", "plan.json"];
    signed.run(place, "ann", &args).await.exits(0);
    let (code, shown) = signed
        .approve(place, "plan.json", &["--out", "yes.json"], "stream-down\r")
        .await;
    assert_eq!(code, Some(0), "{shown}");
    let text = std::fs::read_to_string(place.path("yes.json")).unwrap();
    assert!(text.contains("BEGIN SSH SIGNATURE"), "{text}");
    let shown = signed.run(place, "ann", &["show", "plan.json"]).await;
    shown
        .exits(0)
        .prints("approved by bob@")
        .prints("signed by bob@example.com")
        .prints("1 of 1 approvals: it may run");
    // A key that nobody knows signs nothing, and the typed name counts.
    std::fs::write(place.path("allowed_signers"), "# nobody\n").unwrap();
    let args = ["plan", "stream-down.yaml", "--out", "other.json"];
    signed.run(place, "ann", &args).await.exits(0);
    let (code, shown) = signed
        .approve(
            place,
            "other.json",
            &["--out", "typed.json"],
            "stream-down\r",
        )
        .await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("not signed"), "{shown}");
    let text = std::fs::read_to_string(place.path("typed.json")).unwrap();
    assert!(!text.contains("BEGIN SSH SIGNATURE"), "{text}");
}

#[tokio::test]
async fn planned_by_one_signed_by_another_and_run_by_a_third_with_nothing_but_files() {
    if pty::is_missing() || keygen_is_missing() {
        return;
    }
    let signed = Signed::new(", requester: denied, singleUse: true", "").await;
    let (ann, bob, carol) = (&signed.scene.place, Place::new(), Place::new());
    let plan = ann.path("plan.json");
    let out = plan.to_str().unwrap();
    let args = ["plan", "stream-down.yaml", "--out", out];
    signed.run(ann, "ann", &args).await.exits(0);
    let (theirs, last) = (bob.path("plan.json"), carol.path("plan.json"));
    std::fs::copy(&plan, &theirs).unwrap();
    std::fs::copy(&plan, &last).unwrap();
    let early = signed.run(&carol, "carol", &["run", "plan.json"]).await;
    early.exits(4).tells("needs a person's approval");
    let (code, shown) = signed
        .approve(
            &bob,
            "plan.json",
            &["--reason", "looked at it"],
            "stream-down\r",
        )
        .await;
    assert_eq!(code, Some(0), "{shown}");
    let file = bob.path("plan.bob.approval.json");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("BEGIN SSH SIGNATURE"), "{text}");
    let edited = carol.write("edited.json", &text.replace("looked", "cooked"));
    std::fs::copy(&file, carol.path("approval.json")).unwrap();
    let edited = ["run", "plan.json", "--approval", edited.to_str().unwrap()];
    let refused = signed.run(&carol, "carol", &edited).await.exits(8);
    refused.tells("edited.json: the approval of p-");
    let args = ["run", "plan.json", "--approval", "approval.json"];
    let ran = signed.run(&carol, "carol", &args).await.exits(0);
    ran.tells("signed by bob@example.com, ssh-ed25519 SHA256:")
        .tells("looked at it");
    let report = signed.run(&carol, "carol", &["report", "last"]).await;
    report.exits(0).prints("by bob@example.com, ssh-ed25519");
    let list = signed.run(&carol, "carol", &["approve", "--list"]).await;
    list.exits(0).prints("signed by bob@example.com");
    let again = signed.run(&carol, "carol", &args).await.exits(4);
    again
        .tells("error: the approval of bob@")
        .tells("counts once and was used by r-");
    signed.scene.assert_clean();
}

#[tokio::test]
async fn nobody_walks_away_with_a_signature_that_does_not_count() {
    if pty::is_missing() || keygen_is_missing() {
        return;
    }
    let signed = Signed::new("", "").await;
    let place = &signed.scene.place;
    let plan = signed.planned(place).await;
    let other = place.path("other");
    make_key(&other, "ed25519", "");
    let approve = |key: &Path, environment: Vec<(&'static str, String)>| {
        let args = ["approve", &plan, "--key", key.to_str().unwrap()].map(str::to_owned);
        let policy = signed.policy.to_str().unwrap().to_owned();
        async move {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let mut all = vec![("CHAOS_POLICY", policy.as_str())];
            all.extend(
                environment
                    .iter()
                    .map(|(name, value)| (*name, value.as_str())),
            );
            let mut terminal = Terminal::start_with(place, &args, &all);
            if !all.iter().any(|(name, _)| *name == "ASKS_NOTHING") {
                terminal.shows(QUESTION).await;
                terminal.types("stream-down\r").await;
            }
            let (status, shown) = terminal.ended().await;
            // As it was before the terminal's width folded it.
            let words: Vec<&str> = shown.split_whitespace().collect();
            (status.code(), words.join(" "))
        }
    };
    let nothing = vec![("ASKS_NOTHING", "1".to_owned())];
    let (code, shown) = approve(&other, nothing).await;
    assert_eq!(code, Some(4), "{shown}");
    assert!(
        shown.contains("is no allowed signer of this policy"),
        "{shown}"
    );
    std::fs::remove_file(other.with_extension("pub")).unwrap();
    let (code, shown) = approve(&other, Vec::new()).await;
    assert_eq!(code, Some(4), "{shown}");
    assert!(shown.contains("which is no allowed signer"), "{shown}");
    // A path with nothing on it but what gives the binary its terminal.
    let bare = place.path("bare");
    std::fs::create_dir(&bare).unwrap();
    std::os::unix::fs::symlink("/usr/bin/setsid", bare.join("setsid")).unwrap();
    let bare = bare.to_str().unwrap().to_owned();
    let (code, shown) = approve(&signed.key, vec![("PATH", bare)]).await;
    assert_eq!(code, Some(3), "no program: {shown}");
    assert!(
        shown.contains("signing needs `ssh-keygen`, which is not found"),
        "{shown}"
    );
    let wrong = signed.approve(place, &plan, &[], "stream-up\r").await;
    let broken_off = signed.approve(place, &plan, &[], CTRL_C).await;
    assert_eq!((wrong.0, broken_off.0), (Some(4), Some(4)));
    assert_eq!(super::approvals(place, &plan), 0);
    let args = ["approve", &plan, "--key", "bob"];
    let machine = signed.run(place, "bob", &args).await;
    machine.exits(4).tells("there is no terminal");
}

#[tokio::test]
async fn a_passphrase_is_asked_at_the_terminal() {
    if pty::is_missing() || keygen_is_missing() {
        return;
    }
    let signed = Signed::new("", "open sesame").await;
    let place = &signed.scene.place;
    let plan = signed.planned(place).await;
    let key = signed.key.to_str().unwrap();
    for (answer, code, kept) in [(CTRL_C, 4, 0), ("open sesame\r", 0, 1)] {
        let environment = [
            ("USER", "bob"),
            ("CHAOS_POLICY", signed.policy.to_str().unwrap()),
        ];
        let args = ["approve", plan.as_str(), "--key", key];
        let mut terminal = Terminal::start_with(place, &args, &environment);
        terminal.shows(QUESTION).await;
        terminal.types("stream-down\r").await;
        terminal.shows("passphrase").await;
        terminal.types(answer).await;
        let (status, shown) = terminal.ended().await;
        assert_eq!(status.code(), Some(code), "{shown}");
        assert_eq!(super::approvals(place, &plan), kept, "{shown}");
    }
}

/// An agent of its own, which ends with it.
struct Agent {
    child: std::process::Child,
    socket: PathBuf,
}

impl Agent {
    /// Started, and holding this key.
    fn with(place: &Place, key: &Path) -> Self {
        let socket = place.path("agent");
        let mut command = std::process::Command::new("ssh-agent");
        command.arg("-D").arg("-a").arg(&socket);
        command.stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It listens once it has said where.
        let mut said = String::new();
        let out = child.stdout.as_mut().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut said).unwrap();
        let mut add = std::process::Command::new("ssh-add");
        add.arg("-q").arg(key).env("SSH_AUTH_SOCK", &socket);
        let added = add.output().unwrap();
        assert!(added.status.success(), "{said} {added:?}");
        Self { child, socket }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn a_key_that_only_an_agent_holds_signs_by_its_public_half() {
    if pty::is_missing() || keygen_is_missing() {
        return;
    }
    let signed = Signed::new("", "").await;
    let place = &signed.scene.place;
    let plan = signed.planned(place).await;
    let agent = Agent::with(place, &signed.key);
    std::fs::remove_file(&signed.key).unwrap();
    let folder = place.home().join(".ssh");
    std::fs::create_dir_all(&folder).unwrap();
    let public = folder.join("id_ed25519.pub");
    std::fs::copy(signed.key.with_extension("pub"), public).unwrap();
    let named = ["approve", &plan, "--key", "bob.pub"];
    let found = ["approve", plan.as_str()];
    let (socket, policy) = (agent.socket.display().to_string(), &signed.policy);
    let environment = [
        ("SSH_AUTH_SOCK", socket.as_str()),
        ("CHAOS_POLICY", policy.to_str().unwrap()),
    ];
    for args in [&named[..], &found] {
        let mut terminal = Terminal::start_with(place, args, &environment);
        terminal.shows(QUESTION).await;
        terminal.types("stream-down\r").await;
        let (status, shown) = terminal.ended().await;
        assert_eq!(status.code(), Some(0), "{shown}");
    }
    assert_eq!(super::approvals(place, &plan), 2);
    drop(agent);
    let mut terminal = Terminal::start_with(place, &named, &environment);
    terminal.shows(QUESTION).await;
    terminal.types("stream-down\r").await;
    let (status, shown) = terminal.ended().await;
    assert_eq!(status.code(), Some(4), "{shown}");
    assert!(shown.contains("did not sign with bob.pub"), "{shown}");
    assert_eq!(super::approvals(place, &plan), 2);
}

#[expect(
    clippy::disallowed_methods,
    reason = "the real program is found further down on the path that tests have"
)]
#[tokio::test]
async fn a_signer_that_dies_or_says_something_else_approves_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    if pty::is_missing() || keygen_is_missing() {
        return;
    }
    let signed = Signed::new("", "").await;
    let place = &signed.scene.place;
    let plan = signed.planned(place).await;
    let path = std::env::var("PATH").unwrap();
    for (name, script, words) in [
        ("killed", "kill -KILL $$", "it was interrupted"),
        ("deaf", "exec <&-; exit 0", "sign"),
        ("declined", "cat >/dev/null; exit 255", "it ended with 255"),
        ("silent", "cat >/dev/null", "is no SSH signature"),
        (
            "garbled",
            "cat >/dev/null; head -c 100 /dev/urandom",
            "sign",
        ),
        (
            "half",
            "real=$(cat | PATH=${PATH#*:} ssh-keygen \"$@\"); printf %s \"${real%?????}\"",
            "is no SSH signature",
        ),
        (
            "another",
            "(cat; echo) | PATH=${PATH#*:} ssh-keygen \"$@\"",
            "is not over what it says",
        ),
    ] {
        let folder = place.path(name);
        std::fs::create_dir(&folder).unwrap();
        let program = folder.join("ssh-keygen");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{path}", folder.display());
        let environment = [
            ("PATH", path.as_str()),
            ("CHAOS_POLICY", signed.policy.to_str().unwrap()),
        ];
        let args = ["approve", plan.as_str(), "--key", "bob"];
        let mut terminal = Terminal::start_with(place, &args, &environment);
        terminal.shows(QUESTION).await;
        terminal.types("stream-down\r").await;
        let (status, shown) = terminal.ended().await;
        assert_eq!(status.code(), Some(4), "{name}: {shown}");
        let shown: Vec<&str> = shown.split_whitespace().collect();
        let shown = shown.join(" ");
        assert!(shown.contains(words), "{name}: {shown}");
        assert!(shown.contains("hint:"), "{name}: {shown}");
    }
    assert_eq!(super::approvals(place, &plan), 0);
}

#[tokio::test]
async fn an_approval_can_be_checked_by_hand_as_the_page_says() {
    if pty::is_missing() || keygen_is_missing() {
        return;
    }
    let has_jq = std::process::Command::new("jq").arg("--version").output();
    if has_jq.is_err() {
        return;
    }
    let signed = Signed::new("", "").await;
    let place = &signed.scene.place;
    let out = ["plan", "stream-down.yaml", "--out", "plan.json"];
    signed.run(place, "ann", &out).await.exits(0);
    let why = ["--reason", "größer als 1 % \"oder\" \\ 日本 \u{7f}"];
    let approved = signed.approve(place, "plan.json", &why, "stream-down\r");
    let (code, shown) = approved.await;
    assert_eq!(code, Some(0), "{shown}");
    let text = std::fs::read_to_string(place.path("plan.bob.approval.json")).unwrap();
    assert!(text.contains("日本") && !text.contains('\u{7f}'), "{text}");
    let page = include_str!("../../../docs/approvals.md");
    let section = page.split("## Checking by hand").nth(1).unwrap();
    let recipe = section.split("```").nth(1).unwrap();
    for (more, good) in [("", true), ("printf x >> said\n", false)] {
        let (first, verify) = recipe.rsplit_once("ssh-keygen").unwrap();
        let script = format!("set -e\n{first}{more}ssh-keygen{verify}");
        let mut command = Command::new("bash");
        command.args(["-c", &script]).current_dir(place.path(""));
        let ended = command.output().await.unwrap();
        assert_eq!(ended.status.success(), good, "{script}: {ended:?}");
    }
}

#[tokio::test]
async fn a_no_needs_no_terminal_and_stops_the_plan() {
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&[]).await;
    let args = ["approve", plan.as_str(), "--deny", "--reason", "full queue"];
    let denied = scene.place.chaos(&args).await.exits(0);
    denied.tells("it does not run here until you say yes");
    let ended = scene.place.chaos(&["run", &plan]).await.exits(4);
    ended.tells(&format!("said no to plan {plan}: full queue"));
    let list = scene.place.chaos(&["approve", "--list"]).await.exits(0);
    list.prints(&plan)
        .prints("the no of tester@")
        .prints("full queue");
    let list = scene
        .place
        .chaos(&["approve", "--list", "-o", "json"])
        .await;
    let list = list.exits(0).json();
    assert_eq!(list[0]["plan"], plan.as_str());
    assert_eq!(list[0]["answers"][0]["counts"], true);
    assert_eq!(list[0]["answers"][1]["verdict"], "no");
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn of_two_runs_that_race_for_one_single_use_approval_one_wins() {
    if pty::is_missing() || keygen_is_missing() {
        return;
    }
    let signed = Signed::new(", singleUse: true", "").await;
    let place = &signed.scene.place;
    let plan = signed.planned(place).await;
    let (code, shown) = signed.approve(place, &plan, &[], "stream-down\r").await;
    assert_eq!(code, Some(0), "{shown}");
    let racing = (0..4).map(|number| {
        let locks = place.path(&format!("locks-{number}"));
        std::fs::create_dir(&locks).unwrap();
        let mut command = signed.as_user(place, "carol", &["run", &plan]);
        // As if each ran where the others' locks cannot be seen.
        command.env("CHAOS_LOCK_DIR", locks);
        Running::of(command)
    });
    let racing: Vec<Running> = racing.collect();
    let mut lost = 0;
    for run in racing {
        let ended = run.ended().await;
        if ended.status.code() == Some(4) {
            ended.tells("counts once and was used by r-");
            lost += 1;
        }
    }
    assert_eq!(lost, 3);
    let used = names_in(&place.state().join("used"));
    assert_eq!(used.len(), 1);
    std::fs::write(place.state().join("used").join(&used[0]), "nobody").unwrap();
    let again = signed.run(place, "carol", &["run", &plan]).await;
    again.exits(8).tells("was changed: it names no run");
    assert_eq!(names_in(&place.state().join("runs")).len(), 1);
}

#[tokio::test]
async fn an_approval_of_another_plan_or_for_no_plan_is_named() {
    let scene = Scene::new().await;
    let plan = scene.plan(&[]).await;
    let other = scene.approved_plan(&["HOLD=2s"]).await;
    let kept = scene
        .place
        .state()
        .join("approvals")
        .join(&other)
        .join("1.json");
    let kept = kept.to_str().unwrap();
    let run = scene.place.chaos(&["run", &plan, "--approval", kept]).await;
    run.exits(2).tells(&format!(
        "1.json: this approval is for plan {other}, not for {plan}"
    ));
    let run = scene
        .place
        .chaos(&["run", "stream-down.yaml", "--approval", kept]);
    run.await.exits(2).tells("an approval is for one plan");
}
