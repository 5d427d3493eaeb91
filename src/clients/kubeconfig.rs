//! Kubeconfigs: which files count, which context of them is meant, and what it says about its cluster.
//! kubectl's rules, except that no cluster is ever guessed: without a context there is none.

use std::path::{Path, PathBuf};

use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use serde::{Deserialize, Serialize};

use crate::model::problem::{Problem, ProblemKind};

/// No kubeconfig is larger; a hundred clusters with their certificates take less than a MiB.
const LARGEST: u64 = 16 * 1024 * 1024;
/// Whoever wants none names this.
const NONE: &str = "/dev/null";
/// More contexts than these are not listed; the nearest is named.
const MOST_LISTED: usize = 8;

/// Where kubeconfigs are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KubeconfigFiles {
    /// In order: of two that say something about the same, the first counts.
    paths: Vec<PathBuf>,
    presence: Presence,
}

/// Whether a file has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Presence {
    Required,
    Optional,
}

impl Default for KubeconfigFiles {
    fn default() -> Self {
        Self::any_of(Vec::new())
    }
}

impl KubeconfigFiles {
    /// This file, which has to be there.
    pub fn exactly(path: PathBuf) -> Self {
        Self {
            paths: vec![path],
            presence: Presence::Required,
        }
    }

    /// Those of these files that are there: a list often names files of other machines.
    pub fn any_of(paths: Vec<PathBuf>) -> Self {
        Self {
            paths,
            presence: Presence::Optional,
        }
    }

    /// What they say together; `None`: none of them is there.
    fn read(&self) -> Result<Option<Kubeconfig>, Problem> {
        let mut merged: Option<Kubeconfig> = None;
        for path in &self.paths {
            if self.presence == Presence::Optional && !path.exists() {
                continue;
            }
            let place = path.display();
            refuse_endless(path)?;
            let read = Kubeconfig::read_from(path).map_err(|why| unreadable(&place, why))?;
            let both = match merged {
                Some(first) => first.merge(read).map_err(|why| unreadable(&place, why))?,
                None => read,
            };
            merged = Some(both);
        }
        Ok(merged)
    }

    /// The files, for a sentence.
    fn named(&self) -> String {
        let names: Vec<String> = self
            .paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        match names.as_slice() {
            [] => "any kubeconfig".to_owned(),
            names => names.join(", "),
        }
    }
}

/// A cluster that was found, and by what.
pub(super) struct Chosen {
    /// The context's name; `None`: the cluster that this process runs in.
    pub(super) context: Option<String>,
    /// What the credential plugin is called, where there is one.
    pub(super) plugin: Option<String>,
    /// Whether the kubeconfig itself names a proxy.
    pub(super) proxy: Proxy,
    /// What it says.
    pub(super) config: Config,
}

/// Where the word on a proxy comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proxy {
    /// The cluster's `proxy-url`.
    OfTheCluster,
    /// The variables of the environment, if they say anything.
    OfTheEnvironment,
}

/// Finds the cluster of a context; `None`: the current one.
///
/// # Errors
/// No kubeconfig and no cluster around this process; no such context; a context that cannot be used.
pub(super) async fn choose(
    files: &KubeconfigFiles,
    wanted: Option<&str>,
) -> Result<Chosen, Problem> {
    let Some(kubeconfig) = files.read()? else {
        return in_cluster(files, wanted);
    };
    let current = kubeconfig.current_context.clone();
    let current = current.filter(|name| !name.is_empty());
    let Some(name) = wanted.map(str::to_owned).or(current) else {
        return Err(no_current(&kubeconfig, files));
    };
    let named = kubeconfig.contexts.iter().find(|known| known.name == name);
    let Some(context) = named.and_then(|named| named.context.clone()) else {
        return Err(unknown(&name, &kubeconfig, files));
    };
    let user = context.user.as_deref().filter(|user| !user.is_empty());
    let known = user.and_then(|user| {
        kubeconfig
            .auth_infos
            .iter()
            .find(|known| known.name == user)
    });
    if let (Some(user), None) = (user, known) {
        let message = format!(
            "context `{name}` names the user `{user}`, whom {} does not know",
            files.named()
        );
        return Err(unusable(message, &name));
    }
    let plugin = known.and_then(|known| known.auth_info.as_ref()?.exec.as_ref()?.command.clone());
    let cluster = kubeconfig
        .clusters
        .iter()
        .find(|known| known.name == context.cluster);
    let proxy = cluster.and_then(|known| known.cluster.as_ref()?.proxy_url.clone());
    let proxy = match proxy.filter(|url| !url.is_empty()) {
        Some(_) => Proxy::OfTheCluster,
        None => Proxy::OfTheEnvironment,
    };
    let options = KubeConfigOptions {
        context: Some(name.clone()),
        ..KubeConfigOptions::default()
    };
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .map_err(|why| {
            let message = format!(
                "context `{name}` of {} cannot be used: {why}",
                files.named()
            );
            unusable(message, &name)
        })?;
    without_line_break(&mut config);
    Ok(Chosen {
        context: Some(name),
        plugin,
        proxy,
        config,
    })
}

/// kubectl takes a token's file without the blanks around it, the client library with them, which no
/// header may hold. Such a file was saved by a person: whatever keeps a token fresh writes none, so it
/// need not be read again.
fn without_line_break(config: &mut Config) {
    let credentials = &mut config.auth_info;
    let (Some(file), None) = (&credentials.token_file, &credentials.token) else {
        return;
    };
    let is_file = std::fs::metadata(file).is_ok_and(|found| found.is_file());
    // One that cannot be read is told of by whoever needs it.
    let read = is_file
        .then(|| std::fs::read_to_string(file).ok())
        .flatten();
    if let Some(text) = read.filter(|text| text.trim() != text) {
        credentials.token = Some(text.trim().to_owned().into());
    }
}

/// The cluster that this process runs in, as a pod.
fn in_cluster(files: &KubeconfigFiles, wanted: Option<&str>) -> Result<Chosen, Problem> {
    if let Some(name) = wanted {
        let message = format!(
            "there is no kubeconfig to find context `{name}` in: {} does not exist",
            files.named()
        );
        return Err(Problem::new(ProblemKind::Absent, message)
            .hint("name one with --kubeconfig or KUBECONFIG"));
    }
    let config = Config::incluster().map_err(|why| {
        let message = format!(
            "no cluster is known here: {} does not exist, and this is no pod of a cluster ({why})",
            files.named()
        );
        Problem::new(ProblemKind::Absent, message)
            .hint("name a kubeconfig with --kubeconfig or KUBECONFIG")
    })?;
    Ok(Chosen {
        context: None,
        plugin: None,
        proxy: Proxy::OfTheEnvironment,
        config,
    })
}

fn no_current(kubeconfig: &Kubeconfig, files: &KubeconfigFiles) -> Problem {
    Problem::new(
        ProblemKind::Absent,
        format!(
            "no context is named, and {} has no current one",
            files.named()
        ),
    )
    .hint(match listed(kubeconfig) {
        Some(names) => format!("name one with --context: {names}"),
        None => {
            "name one with --context, or choose it with `kubectl config use-context`".to_owned()
        }
    })
}

fn unknown(name: &str, kubeconfig: &Kubeconfig, files: &KubeconfigFiles) -> Problem {
    let names = kubeconfig
        .contexts
        .iter()
        .map(|context| context.name.as_str());
    let nearest = super::nearest(name, names);
    let hint = match (nearest, listed(kubeconfig)) {
        (Some(nearest), _) => format!("the nearest is `{nearest}`"),
        (None, Some(names)) => format!("it has {names}"),
        (None, None) if kubeconfig.contexts.is_empty() => "it has no context at all".to_owned(),
        (None, None) => "`kubectl config get-contexts` lists them".to_owned(),
    };
    let message = format!("there is no context `{name}` in {}", files.named());
    Problem::new(ProblemKind::Absent, message).hint(hint)
}

/// All contexts, if they are few.
fn listed(kubeconfig: &Kubeconfig) -> Option<String> {
    let names: Vec<String> = kubeconfig
        .contexts
        .iter()
        .map(|context| format!("`{}`", context.name))
        .collect();
    (1..=MOST_LISTED)
        .contains(&names.len())
        .then(|| names.join(", "))
}

fn unusable(message: String, context: &str) -> Problem {
    Problem::new(ProblemKind::Invalid, message).hint(format!(
        "`kubectl --context {context} version` goes by the same file"
    ))
}

/// A pipe would wait for its writer, a device may never end. What is not there, or no file for another
/// reason, is left to whoever reads it.
fn refuse_endless(path: &Path) -> Result<(), Problem> {
    let Ok(found) = std::fs::metadata(path) else {
        return Ok(());
    };
    let kind = found.file_type();
    let why = if kind.is_file() && found.len() > LARGEST {
        format!("it has more than {} MiB", LARGEST / (1024 * 1024))
    } else if kind.is_file() || kind.is_dir() || path == Path::new(NONE) {
        return Ok(());
    } else {
        "it is no file, but a pipe or a device".to_owned()
    };
    let message = format!("the kubeconfig {} cannot be used: {why}", path.display());
    Err(Problem::new(ProblemKind::Invalid, message).hint(
        "name a file with --kubeconfig or KUBECONFIG; what a command prints has to be saved first",
    ))
}

fn unreadable(place: &impl std::fmt::Display, why: KubeconfigError) -> Problem {
    let why = if let KubeconfigError::ReadConfig(why, _) = &why {
        why.to_string()
    } else if let KubeconfigError::Parse(why) = &why {
        // The reader would quote the lines around the error, which may hold a token.
        let place = why.location();
        let place = place.map(|at| format!(" (line {}, column {})", at.line(), at.column()));
        format!("it is no YAML of a kubeconfig{}", place.unwrap_or_default())
    } else {
        why.to_string()
    };
    Problem::new(
        ProblemKind::Invalid,
        format!("the kubeconfig {place} cannot be used: {why}"),
    )
    .hint("`kubectl config view` goes by the same file; KUBECONFIG and --kubeconfig name others")
}
