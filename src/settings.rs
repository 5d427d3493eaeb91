//! Flag, then environment, then default: every value with its source. The one home of environment
//! reads.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the one home of environment reads"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::model::approval::Person;
use crate::model::pattern::Pattern;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::secret::{Secret, Secrets};
use crate::view::{ColorChoice, Devices, Environment, Loudness, Setup, Size};

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Typed, or an environment variable that the flag names in its help.
    Flag,
    /// An environment variable.
    Environment(&'static str),
    /// Nobody said anything.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => formatter.write_str("as you said"),
            Self::Environment(name) => write!(formatter, "from {name}"),
            Self::Default => formatter.write_str("by default"),
        }
    }
}

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Its source.
    pub origin: Origin,
}

/// What was typed.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// `--state-dir`.
    pub state_dir: Option<PathBuf>,
    /// `-q`, `-v`.
    pub loudness: Loudness,
    /// `--color`.
    pub color: ColorChoice,
}

/// Everything that a command needs to know about where it runs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where plans, approvals and runs are kept.
    /// A command that keeps nothing does not mind that there is none.
    pub state_dir: Result<Setting<PathBuf>, Problem>,
    /// Where the locks of runs are: one folder for every state folder of this user.
    pub lock_dir: Setting<PathBuf>,
    /// How output looks.
    pub setup: Setup,
    /// Who is at work.
    pub person: Person,
    /// Where this user's own files are; `None`: HOME is not set.
    pub home: Option<PathBuf>,
    /// What `${secret:NAME}` stands for.
    pub secrets: Secrets,
    /// Kubeconfigs, those that are not there included; of two that say the same the first counts.
    pub kubeconfigs: Vec<PathBuf>,
}

impl Settings {
    /// Reads the environment once.
    pub fn new(wishes: &Wishes) -> Self {
        Self {
            state_dir: state_dir(wishes.state_dir.clone()),
            lock_dir: lock_dir(),
            setup: setup(wishes),
            person: person(),
            home: variable("HOME").map(PathBuf::from),
            secrets: secrets(),
            kubeconfigs: kubeconfigs(),
        }
    }
}

/// How output looks; cannot fail, so that even an error about the settings can be shown well.
pub fn setup(wishes: &Wishes) -> Setup {
    Setup {
        choice: wishes.color,
        environment: environment(),
        loudness: wishes.loudness,
        devices: Devices::of_this_process(),
        size: Size::Ask,
    }
}

/// An environment variable that is set to something.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Where the state is, without a flag: for completions, which see no flags.
pub fn default_state_dir() -> Option<Setting<PathBuf>> {
    let from = |name: &'static str, below: &str| {
        let base = PathBuf::from(variable(name)?);
        // The XDG specification: a relative path is invalid and is ignored.
        base.is_absolute().then(|| Setting {
            value: base.join(below),
            origin: Origin::Environment(name),
        })
    };
    let named = variable("CHAOS_STATE_DIR").map(|value| Setting {
        value: PathBuf::from(value),
        origin: Origin::Environment("CHAOS_STATE_DIR"),
    });
    let home = || {
        from("HOME", ".local/state/chaos").map(|setting| Setting {
            origin: Origin::Default,
            ..setting
        })
    };
    named
        .or_else(|| from("XDG_STATE_HOME", "chaos"))
        .or_else(home)
}

fn state_dir(flag: Option<PathBuf>) -> Result<Setting<PathBuf>, Problem> {
    let typed = flag.map(|value| Setting {
        value,
        origin: Origin::Flag,
    });
    typed.or_else(default_state_dir).ok_or_else(|| {
        Problem::new(
            ProblemKind::Evidence,
            "there is no place to keep plans and runs: HOME is not set",
        )
        .hint("name one with --state-dir or CHAOS_STATE_DIR")
    })
}

/// One place for each user of this machine, whatever a shell's other variables say: locks that two
/// shells keep in two places lock nothing.
fn lock_dir() -> Setting<PathBuf> {
    let named = variable("CHAOS_LOCK_DIR").map(PathBuf::from);
    if let Some(value) = named.filter(|path| path.is_absolute()) {
        return Setting {
            value,
            origin: Origin::Environment("CHAOS_LOCK_DIR"),
        };
    }
    let user = rustix::process::geteuid().as_raw();
    Setting {
        value: PathBuf::from(format!("/tmp/chaos-{user}/locks")),
        origin: Origin::Default,
    }
}

/// `KUBECONFIG`, a list like `PATH`, or the one place that kubectl looks at without it.
fn kubeconfigs() -> Vec<PathBuf> {
    if let Some(list) = variable("KUBECONFIG") {
        let paths = std::env::split_paths(&list);
        return paths.filter(|path| !path.as_os_str().is_empty()).collect();
    }
    let home = variable("HOME").map(PathBuf::from);
    home.map(|home| home.join(".kube/config"))
        .into_iter()
        .collect()
}

fn environment() -> Environment {
    let text = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned());
    let locale = text("LC_ALL")
        .or_else(|| text("LC_CTYPE"))
        .or_else(|| text("LANG"));
    Environment {
        no_color: variable("NO_COLOR").is_some(),
        clicolor_force: text("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
        term_dumb: text("TERM").is_some_and(|value| value == "dumb"),
        ci: variable("CI").is_some(),
        ascii_locale: locale.is_some_and(|name| {
            let name = name.to_lowercase();
            !(name.contains("utf-8") || name.contains("utf8"))
        }),
    }
}

fn person() -> Person {
    let user = ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| variable(name))
        .map(|value| value.to_string_lossy().into_owned());
    Person {
        user: user.unwrap_or_else(|| format!("uid-{}", rustix::process::getuid().as_raw())),
        host: rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned(),
    }
}

/// What begins the names of the variables that hold secrets: a document can reach only those that
/// somebody named so, and no other secret of the shell.
const SECRET_PREFIX: &str = "CHAOS_SECRET_";
const FILE_SUFFIX: &str = "_FILE";

/// What the shell has for variables of documents.
#[derive(Debug, Clone, Default)]
pub struct ShellVariables {
    /// What documents may have, by name.
    pub allowed: BTreeMap<String, String>,
    /// Names of what they may not have.
    pub withheld: BTreeSet<String>,
}

/// Reads the variables of the shell for documents: only those that one of these patterns names, and
/// never one that holds a secret. One that is set to nothing is not set.
pub fn shell_variables(allowed: &[Pattern]) -> ShellVariables {
    let mut found = ShellVariables::default();
    for (name, value) in std::env::vars_os() {
        let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) else {
            continue;
        };
        if value.is_empty() || name.starts_with(SECRET_PREFIX) {
            continue;
        }
        if allowed.iter().any(|pattern| pattern.matches(&name)) {
            found.allowed.insert(name, value);
        } else {
            found.withheld.insert(name);
        }
    }
    found
}

fn secrets() -> Secrets {
    let mut found = BTreeMap::new();
    for (name, value) in std::env::vars_os() {
        let Some(name) = name
            .to_str()
            .and_then(|name| name.strip_prefix(SECRET_PREFIX))
        else {
            continue;
        };
        match name.strip_suffix(FILE_SUFFIX) {
            Some(name) if !name.is_empty() => {
                found.insert(name.to_owned(), secret_in(Path::new(&value)));
            }
            Some(_) | None => {
                let secret = value.into_string().map(Secret::new);
                let secret = secret.map_err(|_| no_text(name));
                found.entry(name.to_owned()).or_insert(secret);
            }
        }
    }
    Secrets::new(found)
}

/// The content of a file, without the line break at its end.
fn secret_in(path: &Path) -> Result<Secret, Problem> {
    let content = std::fs::read_to_string(path).map_err(|why| {
        Problem::new(
            ProblemKind::Absent,
            format!("the secret in {} cannot be read: {why}", path.display()),
        )
        .hint("name a file that this user can read and that holds the secret alone")
    })?;
    Ok(Secret::new(content.trim_end_matches(['\r', '\n'])))
}

fn no_text(name: &str) -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        format!("{SECRET_PREFIX}{name} does not hold text in UTF-8"),
    )
}
