//! Where the values of `${NAME}` come from: flags, then files, then (with consent) the environment.
//!
//! The only file that names `serde_yaml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};

use super::source::Source;
use crate::model::problem::{Problem, ProblemKind};

/// Where the value of a variable came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, DeriveDeserialize)]
#[serde(rename_all = "camelCase")]
pub enum VariableSource {
    /// `--var NAME=value`.
    Flag,
    /// `--var-file`, with the file's path.
    File(String),
    /// The environment.
    Environment,
    /// `${NAME:-default}` in the document.
    Default,
}

impl fmt::Display for VariableSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => formatter.write_str("--var"),
            Self::File(file) => formatter.write_str(file),
            Self::Environment => formatter.write_str("environment"),
            Self::Default => formatter.write_str("default"),
        }
    }
}

/// A variable that a document used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, DeriveDeserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsedVariable {
    /// What was filled in.
    pub value: String,
    /// Where from.
    pub source: VariableSource,
}

/// The values that a document may use.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    flags: BTreeMap<String, String>,
    files: BTreeMap<String, UsedVariable>,
    environment: BTreeMap<String, String>,
    withheld: Option<Withheld>,
}

/// What is set in the shell and may not fill a document.
#[derive(Debug, Clone)]
struct Withheld {
    names: BTreeSet<String>,
    /// The name of the policy that gives no consent.
    policy: String,
}

impl Variables {
    /// Adds a `--var`; the last one of a name counts.
    #[must_use]
    pub fn with_flag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.flags.insert(name.into(), value.into());
        self
    }

    /// Adds the values of a `--var-file`; the last file that has a name counts.
    #[must_use]
    pub fn with_file(mut self, file: &str, values: BTreeMap<String, String>) -> Self {
        for (name, value) in values {
            let source = VariableSource::File(file.to_owned());
            self.files.insert(name, UsedVariable { value, source });
        }
        self
    }

    /// The variables that a stored plan was made with, so that it can be made again.
    pub fn recorded(used: &BTreeMap<String, UsedVariable>) -> Self {
        Self {
            files: used.clone(),
            ..Self::default()
        }
    }

    /// These, with others over them.
    #[must_use]
    pub fn overlaid(mut self, over: Self) -> Self {
        self.flags.extend(over.flags);
        self.files.extend(over.files);
        self.environment.extend(over.environment);
        self.withheld = over.withheld.or(self.withheld);
        self
    }

    /// Lets the environment fill what flags and files leave open. Call it only with the consent of
    /// the policy: what is in the environment of a shell is nobody's decision.
    #[must_use]
    pub fn with_environment(mut self, values: BTreeMap<String, String>) -> Self {
        self.environment = values;
        self
    }

    /// Says which names the environment has that this policy gives no consent for, so that whoever
    /// misses one is told.
    #[must_use]
    pub fn withholding(mut self, names: BTreeSet<String>, policy: &str) -> Self {
        self.withheld = Some(Withheld {
            names,
            policy: policy.to_owned(),
        });
        self
    }

    /// The policy that keeps the environment's value of this name from the document.
    pub(crate) fn withheld_by(&self, name: &str) -> Option<&str> {
        let withheld = self.withheld.as_ref()?;
        withheld
            .names
            .contains(name)
            .then_some(withheld.policy.as_str())
    }

    /// The value of a name, from the first place that has it.
    pub(crate) fn find(&self, name: &str) -> Option<UsedVariable> {
        let used = |source: VariableSource| {
            move |value: &String| UsedVariable {
                value: value.clone(),
                source,
            }
        };
        let flag = self.flags.get(name).map(used(VariableSource::Flag));
        let environment = || {
            self.environment
                .get(name)
                .map(used(VariableSource::Environment))
        };
        flag.or_else(|| self.files.get(name).cloned())
            .or_else(environment)
    }

    /// The names given by `--var`.
    pub(crate) fn flag_names(&self) -> impl Iterator<Item = &str> {
        self.flags.keys().map(String::as_str)
    }
}

/// Whether a text can be a variable's name.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a text can be a secret's name: it becomes a part of the name of an environment variable.
pub(crate) fn is_secret_name(text: &str) -> bool {
    is_name(text) && !text.contains(|c: char| c.is_ascii_lowercase())
}

/// Reads `NAME=value` of a `--var`.
///
/// # Errors
/// There is no `=`, or what stands before it is no name.
pub fn parse_flag(text: &str) -> Result<(String, String), Problem> {
    let (name, value) = text.split_once('=').ok_or_else(|| {
        invalid(format!("`--var {text}` has no value"))
            .hint("write `--var NAME=value`; an empty value is `--var NAME=`")
    })?;
    check_name(name)?;
    Ok((name.to_owned(), value.to_owned()))
}

fn check_name(name: &str) -> Result<(), Problem> {
    if is_name(name) {
        return Ok(());
    }
    Err(invalid(format!("`{name}` is no variable name"))
        .hint("use letters, digits and `_`, and no digit first"))
}

/// Reads a `--var-file`: a YAML map of names to scalars, each taken as it is written.
///
/// # Errors
/// What is no such map, with its place.
pub fn read_variable_file(source: &Source) -> Result<BTreeMap<String, String>, Problem> {
    let name = &source.name;
    if source.body().trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    let pairs: Pairs = serde_yaml::from_str(source.body()).map_err(|why| {
        invalid(format!("`{name}` is no file of variables: {why}"))
            .hint("write one `NAME: value` a line")
    })?;
    let mut values = BTreeMap::new();
    for (key, value) in pairs.0 {
        check_name(&key)?;
        if values.contains_key(&key) {
            return Err(invalid(format!("`{name}` has `{key}` twice")).hint("keep one of the two"));
        }
        values.insert(key, value);
    }
    Ok(values)
}

/// A short file may name a long value often, by aliases.
const MOST_TEXT: usize = 4 * 1024 * 1024;

/// A map of texts that keeps a name that comes twice, which a map type would swallow.
struct Pairs(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;

        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map of names to single values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs: Vec<(String, String)> = Vec::new();
                let mut length = 0;
                while let Some((name, value)) = map.next_entry::<String, String>()? {
                    length += name.len() + value.len();
                    if length > MOST_TEXT {
                        return Err(A::Error::custom(
                            "its aliases repeat more than 4 MiB of text",
                        ));
                    }
                    pairs.push((name, value));
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(PairsVisitor)
    }
}

fn invalid(message: String) -> Problem {
    Problem::new(ProblemKind::Invalid, message)
}

/// Any value as YAML; here since this is the only file that names `serde_yaml`.
///
/// # Errors
/// What `serde_yaml` says about a value that it cannot write.
pub(super) fn yaml_of(value: &impl Serialize) -> Result<String, String> {
    // Through JSON, so that variants are one-key maps as everywhere else and not YAML tags.
    let value = serde_json::to_value(value).map_err(|why| why.to_string())?;
    serde_yaml::to_string(&value).map_err(|why| why.to_string())
}
