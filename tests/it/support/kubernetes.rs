//! A real control plane on loopback: etcd and kube-apiserver, with certificates of their own and RBAC,
//! gone with their handle and with this process, however it ends.
//!
//! `scripts/kube-binaries` builds the programs. There is no controller: whatever one would do, a test
//! does itself.
#![expect(clippy::unwrap_used, reason = "a test that cannot start it has failed")]

use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use chaos_gameday::clients::{Clients, KubeContext, KubeconfigFiles};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{MutexGuard, OnceCell};

use super::process::Place;

const READY_WITHIN: Duration = Duration::from_secs(90);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// The programs that have to be there.
const PROGRAMS: [&str; 2] = ["etcd", "kube-apiserver"];

/// Runs a program, tells its process id, and kills it as soon as nobody holds the other end of its
/// standard input any more: also when the tests were killed themselves.
const WATCHED: &str = r#"log=$1; shift; "$@" >>"$log" 2>&1 & echo $!; cat >/dev/null; kill -KILL $! 2>/dev/null; wait"#;

/// Whether a program is missing here. Says so, and what to do; where every test has to run
/// (`CHAOS_REQUIRE_E2E`), that is a failure.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub fn is_missing() -> bool {
    let Some(name) = PROGRAMS.iter().find(|name| program(name).is_none()) else {
        return false;
    };
    assert!(
        !is_in_full(),
        "the program `{name}` is needed: scripts/kube-binaries builds it"
    );
    eprintln!(
        "skipped: no `{name}`, build it with scripts/kube-binaries (needs Go), or set KUBE_BIN_DIR"
    );
    true
}

/// Whether every test has to run, and in full (`CHAOS_REQUIRE_E2E`). Where it is not set, as while one
/// works, races are shorter, and what takes half a minute is left out.
#[expect(
    clippy::disallowed_methods,
    reason = "CI says by its environment what it forbids to skip"
)]
pub fn is_in_full() -> bool {
    std::env::var_os("CHAOS_REQUIRE_E2E").is_some()
}

/// `KUBE_BIN_DIR`, then `PATH`, then where scripts/kube-binaries puts it.
#[expect(
    clippy::disallowed_methods,
    reason = "where programs are is a matter of the environment"
)]
fn program(name: &str) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let mut folders: Vec<PathBuf> = variable("KUBE_BIN_DIR")
        .map(PathBuf::from)
        .into_iter()
        .collect();
    let path = variable("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")));
    folders.extend(cache.map(|cache| cache.join("chaos-kube")));
    let mut places = folders.into_iter().map(|folder| folder.join(name));
    places.find(|place| place.is_file())
}

/// A program under watch.
struct Watched {
    shell: Child,
    pid: String,
}

impl Watched {
    fn start(folder: &Path, name: &str, flags: &[String]) -> Self {
        let mut shell = Command::new("sh")
            .args(["-c", WATCHED, "sh"])
            .arg(folder.join(format!("{name}.log")))
            .arg(program(name).unwrap())
            .args(flags)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut told = std::io::BufReader::new(shell.stdout.take().unwrap());
        let mut pid = String::new();
        std::io::BufRead::read_line(&mut told, &mut pid).unwrap();
        Self {
            shell,
            pid: pid.trim().to_owned(),
        }
    }

    fn is_alive(&self) -> bool {
        let asked = Command::new("kill")
            .args(["-0", &self.pid])
            .stderr(Stdio::null())
            .status();
        asked.unwrap().success()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// A running control plane.
pub struct ControlPlane {
    folder: TempDir,
    etcd_port: u16,
    port: u16,
    api: Mutex<Option<Watched>>,
    _etcd: Watched,
}

/// Who asks.
#[derive(Debug, Clone)]
pub enum User {
    /// Everything is allowed.
    Admin,
    /// Whoever has this token.
    Token(String),
}

impl ControlPlane {
    /// One for every test that breaks nothing but its own namespaces.
    pub fn shared() -> &'static Self {
        // What is static is never dropped: its programs end with this process, its folder with them.
        static SHARED: OnceLock<ControlPlane> = OnceLock::new();
        SHARED.get_or_init(|| {
            let plane = Self::start();
            plane.remove_folder_at_the_end();
            plane
        })
    }

    /// Another one, for one test at a time: the next finds it running, with what was made in it.
    pub async fn lent() -> MutexGuard<'static, Self> {
        static LENT: OnceCell<tokio::sync::Mutex<ControlPlane>> = OnceCell::const_new();
        let start = || async {
            let started = tokio::task::spawn_blocking(|| {
                let plane = Self::start();
                plane.remove_folder_at_the_end();
                plane
            });
            tokio::sync::Mutex::new(started.await.unwrap())
        };
        let plane = LENT.get_or_init(start).await.lock().await;
        let is_up = plane
            .api
            .lock()
            .unwrap()
            .as_ref()
            .is_some_and(Watched::is_alive);
        if is_up {
            // Its last tenant may have failed while it was frozen.
            plane.signal_api("CONT");
        } else {
            assert!(plane.start_api(), "it starts again");
        }
        plane
    }

    fn start() -> Self {
        // Another process may take a port in between; then it is tried again.
        let mut said = String::new();
        for _ in 0..3 {
            let folder = tempfile::tempdir().unwrap();
            certificates(folder.path());
            let (etcd_port, etcd) = etcd(folder.path());
            let plane = Self {
                folder,
                etcd_port,
                port: free_port(),
                api: Mutex::new(None),
                _etcd: etcd,
            };
            if plane.start_api() {
                return plane;
            }
            let log = std::fs::read_to_string(plane.folder.path().join("kube-apiserver.log"));
            said = log.unwrap_or_default();
        }
        panic!("kube-apiserver did not become ready:\n{said}")
    }

    /// Starts the API server, again on the port that it had; whether it becomes ready.
    pub fn start_api(&self) -> bool {
        let file = |name: &str| self.folder.path().join(name).display().to_string();
        let flags = [
            format!("--etcd-servers=http://127.0.0.1:{}", self.etcd_port),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", self.port),
            format!("--tls-cert-file={}", file("server.pem")),
            format!("--tls-private-key-file={}", file("server.key")),
            format!("--client-ca-file={}", file("ca.pem")),
            format!("--cert-dir={}", file("generated")),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            format!("--service-account-key-file={}", file("accounts.pub")),
            format!(
                "--service-account-signing-key-file={}",
                file("accounts.key")
            ),
            "--service-cluster-ip-range=10.96.0.0/24".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            "--endpoint-reconciler-type=none".to_owned(),
            // There is nobody to make accounts for pods.
            "--disable-admission-plugins=ServiceAccount".to_owned(),
        ];
        let api = Watched::start(self.folder.path(), "kube-apiserver", &flags);
        *self.api.lock().unwrap() = Some(api);
        std::thread::scope(|scope| scope.spawn(|| self.becomes_ready()).join().unwrap())
    }

    /// Kills the API server, as a machine that dies does.
    pub fn kill_api(&self) {
        self.api.lock().unwrap().take();
    }

    /// Freezes or thaws the API server: `STOP`, `CONT`.
    pub fn signal_api(&self, signal: &str) {
        let api = self.api.lock().unwrap();
        let pid = &api.as_ref().unwrap().pid;
        let sent = Command::new("kill")
            .args(["-s", signal, pid])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    fn becomes_ready(&self) -> bool {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let begun = tokio::time::Instant::now();
            let context = self.context(&User::Admin).await;
            while begun.elapsed() < READY_WITHIN {
                if !self.api.lock().unwrap().as_ref().unwrap().is_alive() {
                    return false;
                }
                // The second is made by the server itself, a moment after it is ready.
                let paths = [
                    "/readyz",
                    "/api/v1/namespaces/kube-system",
                    "/api/v1/namespaces/default",
                ];
                let mut ready = 0;
                for path in paths {
                    let request = http::Request::get(path).body(Vec::new()).unwrap();
                    let answer = context.client().request_text(request);
                    let answer = tokio::time::timeout(Duration::from_secs(2), answer).await;
                    ready += usize::from(matches!(answer, Ok(Ok(_))));
                }
                if ready == paths.len() {
                    return true;
                }
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
            false
        })
    }

    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// The certificate that its own is issued by.
    pub fn ca(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// The text of a kubeconfig with one context of this name, which is the current one.
    pub fn kubeconfig(&self, context: &str, namespace: Option<&str>, user: &User) -> String {
        let file = |name: &str| self.folder.path().join(name);
        let user = match user {
            User::Admin => json!({
                "client-certificate": file("admin.pem"),
                "client-key": file("admin.key"),
            }),
            User::Token(token) => json!({"token": token}),
        };
        let cluster = json!({"server": self.url(), "certificate-authority": self.ca()});
        kubeconfig(context, namespace, &cluster, &user)
    }

    /// From now on this is the current context of whoever works in a place.
    pub fn log_in(&self, place: &Place, context: &str, user: &User) {
        let folder = place.home().join(".kube");
        std::fs::create_dir_all(&folder).unwrap();
        let text = self.kubeconfig(context, None, user);
        std::fs::write(folder.join("config"), text).unwrap();
    }

    /// The client that the program itself would have.
    pub async fn context(&self, user: &User) -> KubeContext {
        self.clients("test", user)
            .await
            .kubernetes(None)
            .await
            .unwrap()
    }

    /// Clients that know it as a context of this name.
    pub async fn clients(&self, context: &str, user: &User) -> Clients {
        clients_of(&self.kubeconfig(context, None, user)).await
    }

    /// Sends a request as the administrator. `body` null: none.
    pub async fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        let request = request_of(method, path, body);
        let context = self.context(&User::Admin).await;
        let answer = context.client().request(request).await;
        answer.unwrap_or_else(|why| panic!("{method} {path}: {why:?}"))
    }

    pub async fn create_namespace(&self, name: &str, labels: Value) -> Value {
        let metadata = json!({"name": name, "labels": labels});
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
        self.request("POST", "/api/v1/namespaces", &namespace).await
    }

    /// Deletes a namespace, and finishes what the controller of namespaces would.
    pub async fn delete_namespace(&self, name: &str) {
        let path = format!("/api/v1/namespaces/{name}");
        let mut left = self.request("DELETE", &path, &Value::Null).await;
        left["spec"]["finalizers"] = json!([]);
        self.request("PUT", &format!("{path}/finalize"), &left)
            .await;
    }

    /// A service account of a namespace that is allowed so much: a name, or none, with each rule.
    pub async fn account(&self, namespace: &str, name: &str, rules: &Value) -> User {
        let here = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
        let metadata = json!({"name": name});
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata});
        self.request("POST", &here, &account).await;
        let wanted =
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
        let token = self
            .request("POST", &format!("{here}/{name}/token"), &wanted)
            .await;
        self.allow(namespace, name, rules).await;
        User::Token(token["status"]["token"].as_str().unwrap().to_owned())
    }

    async fn allow(&self, namespace: &str, account: &str, rules: &Value) {
        let rbac = "/apis/rbac.authorization.k8s.io/v1";
        let metadata = json!({"name": format!("{namespace}-{account}")});
        let version = "rbac.authorization.k8s.io/v1";
        let role = json!({"apiVersion": version, "kind": "ClusterRole", "metadata": metadata, "rules": rules});
        self.request("POST", &format!("{rbac}/clusterroles"), &role)
            .await;
        let binding = json!({
            "apiVersion": version, "kind": "ClusterRoleBinding", "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": metadata["name"]},
            "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": account}],
        });
        self.request("POST", &format!("{rbac}/clusterrolebindings"), &binding)
            .await;
    }

    /// Whoever waits for the end of this process's standard input to it removes the folder.
    fn remove_folder_at_the_end(&self) {
        let script = "cat >/dev/null; rm -rf \"$1\"";
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script, "sh"])
            .arg(self.folder.path())
            .stdin(Stdio::piped());
        static WAITING: OnceLock<Child> = OnceLock::new();
        WAITING.get_or_init(|| shell.spawn().unwrap());
    }
}

/// A request to an API server. `body` null: none.
pub fn request_of(method: &str, path: &str, body: &Value) -> http::Request<Vec<u8>> {
    let body = match body.is_null() {
        true => Vec::new(),
        false => body.to_string().into_bytes(),
    };
    let kind = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", kind)
        .body(body)
        .unwrap()
}

/// Clients that know the current context of a kubeconfig of this text, which is read at once.
pub async fn clients_of(kubeconfig: &str) -> Clients {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(kubeconfig.as_bytes()).unwrap();
    let files = KubeconfigFiles::exactly(file.path().to_owned());
    let clients = Clients::new().unwrap().with_kubeconfig(files);
    clients.kubernetes(None).await.unwrap();
    clients
}

/// A kubeconfig with one context, which is the current one.
pub fn kubeconfig(context: &str, namespace: Option<&str>, cluster: &Value, user: &Value) -> String {
    let mut chosen = json!({"cluster": "here", "user": "we"});
    if let Some(namespace) = namespace {
        chosen["namespace"] = json!(namespace);
    }
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": cluster}],
        "users": [{"name": "we", "user": user}],
        "contexts": [{"name": context, "context": chosen}],
        "current-context": context,
    })
    .to_string()
}

fn etcd(folder: &Path) -> (u16, Watched) {
    let (port, peers) = (free_port(), free_port());
    let flags = [
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls=http://127.0.0.1:{port}"),
        format!("--advertise-client-urls=http://127.0.0.1:{port}"),
        format!("--listen-peer-urls=http://127.0.0.1:{peers}"),
        format!("--initial-advertise-peer-urls=http://127.0.0.1:{peers}"),
        format!("--initial-cluster=default=http://127.0.0.1:{peers}"),
        "--unsafe-no-fsync".to_owned(),
        "--log-level=error".to_owned(),
    ];
    (port, Watched::start(folder, "etcd", &flags))
}

fn certificates(folder: &Path) {
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
        .distinguished_name
        .push(DnType::CommonName, "test authority");
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    write("ca.pem", issuer.pem());
    let hosts = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
    let mut server = CertificateParams::new(hosts).unwrap();
    server
        .distinguished_name
        .push(DnType::CommonName, "kube-apiserver");
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let mut admin = CertificateParams::new(Vec::new()).unwrap();
    admin.distinguished_name.push(DnType::CommonName, "admin");
    admin
        .distinguished_name
        .push(DnType::OrganizationName, "system:masters");
    admin.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    for (name, params) in [("server", server), ("admin", admin)] {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        write(&format!("{name}.pem"), certificate.pem());
        write(&format!("{name}.key"), key.serialize_pem());
    }
    let accounts = KeyPair::generate().unwrap();
    write("accounts.key", accounts.serialize_pem());
    write("accounts.pub", accounts.public_key_pem());
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}
