//! Text → experiment, with every problem of the text at once.

use std::collections::BTreeMap;

use super::decode::Cursor;
use super::document::Experiment;
use super::experiment;
use super::fields::Fields;
use super::hidden::Hidden;
use super::problems::{DocumentError, Found, Problems};
use super::source::{LARGEST, Source, forbidden_character};
use super::tree::{Node, Spans};
use super::variables::{UsedVariable, Variables};
use super::words::{listed, suggestion};
use super::{parse, substitute};

/// The version that this build reads.
pub(crate) const API_VERSION: &str = "chaos/v1";

/// The kinds of document there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    /// What to break and which SLOs must hold.
    Experiment,
    /// Experiments in order, with people.
    GameDay,
    /// What is allowed where.
    Policy,
}

const KINDS: &[DocumentKind] = &[
    DocumentKind::Experiment,
    DocumentKind::GameDay,
    DocumentKind::Policy,
];

impl DocumentKind {
    /// The word after `kind:`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Experiment => "Experiment",
            Self::GameDay => "GameDay",
            Self::Policy => "Policy",
        }
    }

    /// What to do with a document of this kind where another one was wanted.
    fn next_move(self) -> &'static str {
        match self {
            Self::Experiment => "`chaos plan FILE` takes it",
            Self::GameDay => "name one of the experiments that it lists",
            Self::Policy => {
                "`chaos policy check FILE` reads it; name an experiment here, and its policy with `--policy`"
            }
        }
    }
}

/// An experiment that loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// What it says.
    pub experiment: Experiment,
    /// The variables that were filled in.
    pub used: BTreeMap<String, UsedVariable>,
    /// Where everything stands in the text.
    pub spans: Spans,
}

/// Reads an experiment.
///
/// # Errors
/// Everything that is wrong in the document, each with its place.
pub fn load_experiment(source: &Source, variables: &Variables) -> Result<Loaded, DocumentError> {
    let filling = Filling::From(variables);
    let (document, used) = load_document(source, filling, |root, problems| {
        let fields = check_kind(
            &Cursor::root(root, source.body(), problems),
            DocumentKind::Experiment,
        )?;
        experiment::read(&fields)
    })?;
    Ok(Loaded {
        experiment: document.0,
        used,
        spans: Spans::new(document.1),
    })
}

type Read<T> = ((T, Node), BTreeMap<String, UsedVariable>);

/// What becomes of `${NAME}` in a document.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Filling<'v> {
    /// It is filled from these.
    From(&'v Variables),
    /// It is refused: the document means the same whoever reads it, and in whatever shell.
    Refused,
}

/// Reads a document of any kind: `read` gets the tree with its variables filled in, and returns
/// `None` only after it has written down a problem.
pub(crate) fn load_document<T>(
    source: &Source,
    filling: Filling<'_>,
    read: impl FnOnce(&Node, &Problems) -> Option<T>,
) -> Result<Read<T>, DocumentError> {
    let problems = Problems::default();
    let text = source.body();
    let tree = is_text(text, &problems)
        .then(|| parse::parse(text, &problems))
        .flatten();
    let Some(mut root) = tree else {
        problems.hide(Hidden::in_text(text));
        return Err(problems.into_error(source));
    };
    let used = match filling {
        Filling::From(variables) => substitute::fill(&mut root, text, variables, &problems),
        Filling::Refused => {
            substitute::refuse(&mut root, text, &problems);
            BTreeMap::new()
        }
    };
    problems.hide(Hidden::in_tree(&root, text));
    match read(&root, &problems) {
        Some(document) if problems.is_empty() => Ok(((document, root), used)),
        Some(_) | None => Err(problems.into_error(source)),
    }
}

/// A source may come from somewhere else than `read_source`, so the limits are checked here too.
fn is_text(text: &str, problems: &Problems) -> bool {
    if text.len() as u64 > LARGEST {
        problems.add(Found {
            message: "the document is larger than 1 MiB".to_owned(),
            help: Some("is it the right file? an experiment has a few thousand bytes".to_owned()),
            ..Found::default()
        });
        return false;
    }
    let forbidden = forbidden_character(text);
    if let Some((offset, character)) = forbidden {
        problems.add(Found {
            message: format!("YAML allows no character U+{:04X}", u32::from(character)),
            help: Some("take it out".to_owned()),
            place: Some(offset..offset + character.len_utf8()),
            ..Found::default()
        });
    }
    forbidden.is_none()
}

/// Checks `apiVersion` and `kind`. `None`: it is another document altogether, so that nothing
/// useful could be said about the rest of it.
pub(crate) fn check_kind<'t>(root: &Cursor<'t>, wanted: DocumentKind) -> Option<Fields<'t>> {
    let fields = root.free_fields()?;
    let raw = |key: &str| {
        fields
            .all()
            .find(|(found, _)| *found == key)
            .and_then(|(_, value)| value.raw())
    };
    let kind = raw("kind").unwrap_or_default();
    let foreign = raw("apiVersion").filter(|version| !version.starts_with("chaos/"));
    if foreign.is_some_and(|version| report_foreign(&fields, version, kind)) {
        return None;
    }
    if is_stranger(&fields) {
        report_stranger(&fields);
        return None;
    }
    let known = KINDS.iter().find(|known| known.word() == kind).copied();
    if let Some(other) = known.filter(|known| *known != wanted) {
        fields.required("kind", "kind: …")?.report(
            format!("this is {}, not {}", article(other), article(wanted)),
            other.next_move(),
        );
        return None;
    }
    let version = fields.required("apiVersion", &format!("apiVersion: {API_VERSION}"));
    if let Some(version) = version.filter(|version| version.raw() != Some(API_VERSION)) {
        let found = version.raw().unwrap_or("something else");
        version.report(
            format!("this build reads `{API_VERSION}`, not `{found}`"),
            format!("write `apiVersion: {API_VERSION}`"),
        );
    }
    let kind = fields.required("kind", &format!("kind: {}", wanted.word()));
    if let Some(kind) = kind.filter(|_| known.is_none()) {
        let words: Vec<_> = KINDS.iter().map(|kind| kind.word()).collect();
        let found = kind.raw().unwrap_or_default();
        kind.report(
            format!("there is no kind of document `{found}`"),
            suggestion(found, &words, "the kinds are"),
        );
    }
    Some(fields)
}

fn article(kind: DocumentKind) -> String {
    match kind {
        DocumentKind::Experiment => "an Experiment".to_owned(),
        DocumentKind::GameDay | DocumentKind::Policy => format!("a {}", kind.word()),
    }
}

/// Whether nothing at all says that it is one of ours.
fn is_stranger(fields: &Fields<'_>) -> bool {
    ["apiVersion", "kind", "metadata", "slos", "steps"]
        .iter()
        .all(|key| !fields.has(key))
}

fn report_stranger(fields: &Fields<'_>) {
    // Chaos Toolkit's program is called `chaos` too, so its files will be given to us.
    let message = if fields.has("method") && fields.has("title") {
        "this is a Chaos Toolkit experiment, not one of our documents"
    } else {
        "this is none of our documents: it has neither `apiVersion` nor `kind`"
    };
    let help = format!(
        "ours begin with `apiVersion: {API_VERSION}` and a `kind`; `chaos init` writes one"
    );
    fields.cursor().report(message, help);
}

/// Whether it is a manifest for a cluster.
fn report_foreign(fields: &Fields<'_>, version: &str, kind: &str) -> bool {
    let Some(cursor) = fields.optional("apiVersion") else {
        return false;
    };
    if version.starts_with("chaos-mesh.org/") {
        cursor.report(
            format!("this is a Chaos Mesh manifest (`{kind}`), not one of our documents"),
            format!(
                "in an experiment, its `spec` goes under `fault: {{chaosMesh: {{{kind}: …}}}}` of a step; `chaos init` writes the rest"
            ),
        );
        return true;
    }
    // `chaos/v1` misspelt is not taken for somebody else's.
    let ours = KINDS.iter().any(|known| known.word() == kind);
    let group = version.split('/').next().unwrap_or_default();
    let looks_like_kubernetes = !kind.is_empty()
        && !ours
        && (matches!(group, "v1" | "apps" | "batch") || group.contains('.'));
    if looks_like_kubernetes {
        let kinds: Vec<_> = KINDS.iter().map(|kind| kind.word()).collect();
        cursor.report(
            format!("this is a Kubernetes manifest (`{kind}`), not one of our documents"),
            format!(
                "our documents have `apiVersion: {API_VERSION}` and one of the kinds {}",
                listed(&kinds)
            ),
        );
    }
    looks_like_kubernetes
}
