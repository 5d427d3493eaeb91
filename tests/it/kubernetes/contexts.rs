//! Which cluster a kubeconfig, or a list of them, means.

use std::path::PathBuf;

use chaos_gameday::clients::{Clients, KubeconfigFiles};
use chaos_gameday::model::problem::{Problem, ProblemKind};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::cli::experiment;
use crate::support::kubernetes::kubeconfig;
use crate::support::process::{Place, Running};

struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A kubeconfig whose one context, which is its current one, is of this server.
    fn with(self, name: &str, context: &str, server: &str) -> Self {
        let cluster = json!({"server": server});
        let text = kubeconfig(context, Some("shop"), &cluster, &json!({"token": "t"}));
        // Names are merged over all files, so each file has its own.
        let text = text.replace("\"here\"", &format!("\"{name}\""));
        self.written(name, &text)
    }

    fn written(self, name: &str, text: &str) -> Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    fn list(&self, names: &[&str]) -> Clients {
        let paths = names.iter().map(|name| self.path(name)).collect();
        Clients::new()
            .unwrap()
            .with_kubeconfig(KubeconfigFiles::any_of(paths))
    }

    fn exactly(&self, name: &str) -> Clients {
        let file = KubeconfigFiles::exactly(self.path(name));
        Clients::new().unwrap().with_kubeconfig(file)
    }

    /// The problem, with the folder's name left out.
    fn told(&self, problem: &Problem) -> String {
        let folder = format!("{}/", self.folder.path().display());
        format!("{problem}; {}", problem.hint.as_deref().unwrap_or("-")).replace(&folder, "")
    }
}

async fn server_of(clients: &Clients, context: Option<&str>) -> String {
    let found = clients.kubernetes(context).await.expect("a context");
    format!("{} {}", found.name().unwrap_or("-"), found.server())
}

#[tokio::test]
async fn of_a_list_the_first_file_says_what_is_current_and_all_of_them_what_there_is() {
    let folder = Folder::new()
        .with("one", "staging", "https://one.example:6443/")
        .with("two", "test", "https://ann:secret@two.example/k8s/");
    let clients = folder.list(&["missing", "one", "two"]);
    assert_eq!(
        server_of(&clients, None).await,
        "staging https://one.example:6443"
    );
    assert_eq!(
        server_of(&clients, Some("test")).await,
        "test https://two.example/k8s"
    );
    let current = clients.kubernetes(None).await.expect("a context");
    assert_eq!(current.namespace(), "shop");
}

#[tokio::test]
async fn a_context_that_is_not_there_is_told_with_the_nearest_or_with_all() {
    let folder = Folder::new().with("one", "staging-eu", "https://one.example");
    let clients = folder.list(&["one"]);
    let typo = clients
        .kubernetes(Some("stagin-eu"))
        .await
        .expect_err("no context");
    assert_eq!(typo.kind, ProblemKind::Absent);
    assert_eq!(
        folder.told(&typo),
        "there is no context `stagin-eu` in one; the nearest is `staging-eu`"
    );
    let other = clients
        .kubernetes(Some("qa"))
        .await
        .expect_err("no context");
    assert_eq!(
        folder.told(&other),
        "there is no context `qa` in one; it has `staging-eu`"
    );
}

#[tokio::test]
async fn without_a_kubeconfig_there_is_no_cluster() {
    let folder = Folder::new()
        .written("empty", "")
        .written("text", "kind: Config\n  x: [\n");
    let none = folder
        .list(&["missing"])
        .kubernetes(None)
        .await
        .expect_err("no cluster");
    let told = folder.told(&none);
    assert!(
        told.starts_with("no cluster is known here: missing does not exist, and this is no pod"),
        "{told}"
    );
    let named = folder
        .list(&["missing"])
        .kubernetes(Some("a"))
        .await
        .expect_err("no cluster");
    assert_eq!(
        folder.told(&named),
        "there is no kubeconfig to find context `a` in: missing does not exist; name one with --kubeconfig or KUBECONFIG"
    );
    let insisted = folder
        .exactly("missing")
        .kubernetes(None)
        .await
        .expect_err("no file");
    let told = folder.told(&insisted);
    assert!(
        told.starts_with("the kubeconfig missing cannot be used: No such file"),
        "{told}"
    );
    let empty = folder
        .exactly("empty")
        .kubernetes(None)
        .await
        .expect_err("no context");
    let told = folder.told(&empty);
    assert!(
        told.starts_with("no context is named, and empty has no current one"),
        "{told}"
    );
    let garbage = folder
        .exactly("text")
        .kubernetes(None)
        .await
        .expect_err("no YAML");
    let told = folder.told(&garbage);
    assert!(
        told.starts_with("the kubeconfig text cannot be used: it is no YAML of a kubeconfig"),
        "{told}"
    );
}

#[tokio::test]
async fn a_kubeconfig_that_never_ends_or_is_none_is_refused_at_once() {
    let folder = Folder::new()
        .written("bytes", "a\0b")
        .with("whole", "a", "https://one.example");
    std::fs::write(folder.path("latin"), b"clusters: \xff\xfe").unwrap();
    let huge = std::fs::File::create(folder.path("huge")).unwrap();
    huge.set_len(1 << 40).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.path("pipe"), 0o600.into()).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path("zero")).unwrap();
    std::fs::create_dir(folder.path("folder")).unwrap();
    for (name, words) in [
        ("bytes", "the kubeconfig bytes cannot be used"),
        ("latin", "the kubeconfig latin cannot be used"),
        ("huge", "huge cannot be used: it has more than 16 MiB"),
        (
            "pipe",
            "pipe cannot be used: it is no file, but a pipe or a device",
        ),
        (
            "zero",
            "zero cannot be used: it is no file, but a pipe or a device",
        ),
        ("folder", "the kubeconfig folder cannot be used"),
    ] {
        for clients in [folder.exactly(name), folder.list(&["whole", name])] {
            let problem = clients.kubernetes(None).await.expect_err(words);
            let told = folder.told(&problem);
            assert!(told.contains(words), "{told}");
            assert_eq!(problem.kind, ProblemKind::Invalid, "{told}");
        }
    }
    let none = Clients::new().unwrap();
    let none = none.with_kubeconfig(KubeconfigFiles::exactly("/dev/null".into()));
    let problem = none.kubernetes(None).await.expect_err("no context");
    assert!(problem.message.contains("no context is named"), "{problem}");
}

/// Editors end a file with a line break.
#[tokio::test]
async fn a_file_of_a_token_may_end_in_a_line_break() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let folder = Folder::new().written("token", "s3cret\n");
    let text = kubeconfig(
        "a",
        Some("shop"),
        &json!({"server": server}),
        &json!({"tokenFile": folder.path("token")}),
    );
    let folder = folder.written("config", &text);
    let clients = folder.exactly("config");
    let asking = tokio::spawn(async move {
        let context = clients.kubernetes(None).await.unwrap();
        let request = http::Request::get("/version").body(Vec::new()).unwrap();
        context.client().request_text(request).await
    });
    let (mut asking, mut bytes) = (asking, vec![0; 4096]);
    let mut heard = tokio::select! {
        accepted = listener.accept() => accepted.unwrap().0,
        failed = &mut asking => panic!("nothing was sent: {failed:?}"),
    };
    let length = heard.read(&mut bytes).await.unwrap();
    let request = String::from_utf8_lossy(&bytes[..length]).to_ascii_lowercase();
    asking.abort();
    assert!(
        request.contains("authorization: bearer s3cret\r\n"),
        "{request}"
    );
}

#[tokio::test]
async fn no_secret_of_a_broken_kubeconfig_is_quoted() {
    let text = "users:\n- name: a\n  user: {token: s3cret-token, exec: [}\n";
    let folder = Folder::new().written("broken", text);
    let problem = folder
        .exactly("broken")
        .kubernetes(None)
        .await
        .expect_err("no YAML");
    assert!(!folder.told(&problem).contains("s3cret"), "{problem}");
}

#[tokio::test]
async fn a_context_that_names_what_is_not_there_says_what() {
    let whole = kubeconfig(
        "a",
        None,
        &json!({"server": "https://one.example"}),
        &json!({}),
    );
    for (text, words) in [
        (
            whole.replace("\"user\":\"we\"", "\"user\":\"ghost\""),
            "names the user `ghost`, whom file does not know",
        ),
        (
            whole.replace("\"cluster\":\"here\"", "\"cluster\":\"ghost\""),
            "context `a` of file cannot be used: failed to load the cluster of context: ghost",
        ),
        (
            whole.replace("https://one.example", "not a url"),
            "context `a` of file cannot be used",
        ),
        (
            whole.replace(
                "\"server\":",
                "\"certificate-authority\":\"/none/ca.pem\",\"server\":",
            ),
            "/none/ca.pem",
        ),
    ] {
        assert_ne!(text, whole, "{words}");
        let folder = Folder::new().written("file", &text);
        let problem = folder
            .exactly("file")
            .kubernetes(None)
            .await
            .expect_err(words);
        assert_eq!(problem.kind, ProblemKind::Invalid);
        assert!(
            folder.told(&problem).contains(words),
            "{}",
            folder.told(&problem)
        );
    }
}

/// A kubeconfig whose credentials come from this script.
fn plugin(folder: Folder, script: &str) -> Folder {
    let exec = json!({
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "sh", "args": ["-c", script], "interactiveMode": "Never",
        "env": [{"name": "PLUGIN_SECRET", "value": "hunter2"}],
    });
    let cluster = json!({"server": "https://one.example"});
    let text = kubeconfig("a", None, &cluster, &json!({"exec": exec}));
    folder.written("file", &text)
}

#[tokio::test]
async fn a_plugin_is_asked_for_the_credentials_of_one_client_which_all_share() {
    let counted = Folder::new();
    let log = counted.path("log");
    let script = format!(
        r#"echo asked >> {}; echo '{{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {{"token": "t"}}}}'"#,
        log.display()
    );
    let folder = plugin(Folder::new(), &script);
    let clients = folder.exactly("file");
    clients.kubernetes(None).await.expect("credentials");
    let asked = std::fs::read_to_string(&log).unwrap();
    assert!(asked.starts_with("asked\n"), "{asked}");
    for context in [Some("a"), None] {
        clients.kubernetes(context).await.expect("credentials");
    }
    assert_eq!(std::fs::read_to_string(&log).unwrap(), asked);
}

#[tokio::test]
async fn a_plugin_that_fails_is_told_with_its_last_words_and_without_its_environment() {
    for (script, words) in [
        (
            "echo first >&2; echo 'log in first' >&2; exit 3",
            "its credential plugin `sh` failed (exit status: 3): log in first",
        ),
        (
            "echo '{token: hunter2'",
            "its credential plugin `sh` printed no ExecCredential",
        ),
    ] {
        let folder = plugin(Folder::new(), script);
        let problem = folder
            .exactly("file")
            .kubernetes(None)
            .await
            .expect_err("no token");
        let told = folder.told(&problem);
        assert!(told.contains(words), "{told}");
        assert!(!told.contains("hunter2"), "{told}");
    }
}

/// What a plan says of a cluster that can be reached through a proxy only, and what the proxy heard.
async fn through_a_proxy(server: &str, environment: &[(&str, &str)]) -> (String, String) {
    let proxy = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", proxy.local_addr().unwrap());
    let heard = tokio::spawn(async move {
        let (mut stream, _) = proxy.accept().await.unwrap();
        let mut bytes = vec![0; 1024];
        let count = stream.read(&mut bytes).await.unwrap();
        let refusal = b"HTTP/1.1 502 Bad Gateway\r\n\r\n";
        stream.write_all(refusal).await.unwrap();
        String::from_utf8_lossy(&bytes[..count])
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    });
    let place = Place::new();
    let text = experiment(
        "http://127.0.0.1:9",
        "http://127.0.0.1:9",
        "{service: kinesis}",
    );
    place.write(
        "game.yaml",
        &text.replacen("on:\n", "on:\n  kubernetes: {}\n", 1),
    );
    let file = kubeconfig(
        "kind-test",
        Some("shop"),
        &json!({"server": server}),
        &json!({}),
    );
    place.write("kubeconfig", &file);
    let mut command = place.command(&["plan", "game.yaml", "--kubeconfig", "kubeconfig"]);
    command
        .env("HTTPS_PROXY", &url)
        .envs(environment.iter().copied());
    let ended = Running::of(command).ended().await.exits(3);
    let heard = if heard.is_finished() {
        heard.await.unwrap()
    } else {
        heard.abort();
        "nothing".to_owned()
    };
    (ended.stderr, heard)
}

#[tokio::test]
async fn a_proxy_of_the_environment_is_used_unless_the_server_is_exempt_or_on_this_machine() {
    let far = "https://api.cluster.invalid:6443";
    let (said, heard) = through_a_proxy(far, &[]).await;
    assert_eq!(heard, "CONNECT api.cluster.invalid:6443 HTTP/1.1", "{said}");
    let (said, heard) = through_a_proxy(far, &[("NO_PROXY", ".cluster.invalid")]).await;
    assert_eq!(heard, "nothing", "{said}");
    assert!(said.contains("does not answer"), "{said}");
    let (said, heard) = through_a_proxy("https://127.0.0.1:9", &[]).await;
    assert_eq!(heard, "nothing", "{said}");
    assert!(said.contains("nothing listens there"), "{said}");
}
