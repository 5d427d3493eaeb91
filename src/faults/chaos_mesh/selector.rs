//! A selector of Chaos Mesh, read: which lists to ask an API server for, and what to look at in each pod.
//! Fields and their meaning are those of `PodSelectorSpec` (Chaos Mesh 2.8.3); all of them must hold.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::kubernetes::ObjectPath;
use crate::model::problem::{Problem, ProblemKind};

/// Fields of a pod by which an API server can select.
const FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.nominatedNodeName",
    "status.phase",
    "status.podIP",
];

/// A selector, with everything that it leaves open filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selector {
    /// Each once.
    pub(super) namespaces: BTreeSet<String>,
    /// As an API server takes it: `app=cart,tier in (web,api)`; empty: whatever its labels.
    pub(super) labels: String,
    /// The same for fields.
    pub(super) fields: String,
    /// Annotations that a pod must have.
    pub(super) annotations: BTreeMap<String, String>,
    /// Nodes by name.
    pub(super) nodes: Vec<String>,
    /// Nodes by their labels, as an API server takes it; empty: none are named so.
    pub(super) node_labels: String,
    /// Phases, `!` before one that is not meant; empty: any.
    phases: Vec<String>,
    /// Pods by name, each with its namespace: where there are any, nothing else counts.
    pub(super) pods: Vec<(String, String)>,
}

impl Selector {
    /// Reads the `selector` of a spec; `namespace` is that of the object.
    ///
    /// # Errors
    /// Something that is no selector, named by its field.
    pub(super) fn read(namespace: &str, selector: &Value) -> Result<Self, Problem> {
        let Some(fields) = selector.as_object().filter(|fields| !fields.is_empty()) else {
            return Err(wrong("selector", "is empty: it would pick every pod").hint(
                "name what is meant: `labelSelectors: {app: …}`, or `namespaces: […]` for all pods of some",
            ));
        };
        let mut read = Self::default();
        let mut labels = Vec::new();
        for (name, value) in fields {
            match name.as_str() {
                "namespaces" => read.namespaces = texts(name, value)?.into_iter().collect(),
                "labelSelectors" => labels.extend(equalities(name, value)?),
                "expressionSelectors" => labels.extend(expressions(value)?),
                "annotationSelectors" => read.annotations = text_map(name, value)?,
                "fieldSelectors" => read.fields = field_selector(value)?,
                "nodes" => read.nodes = texts(name, value)?,
                "nodeSelectors" => read.node_labels = equalities(name, value)?.join(","),
                "podPhaseSelectors" => read.phases = texts(name, value)?,
                "pods" => read.pods = named_pods(value)?,
                _ => return Err(wrong("selector", &format!("has no field `{name}`"))),
            }
        }
        read.labels = labels.join(",");
        if read.namespaces.is_empty() {
            // As the webhook fills it in.
            read.namespaces.insert(namespace.to_owned());
        }
        Ok(read)
    }

    /// Every namespace that it looks into.
    pub(super) fn places(&self) -> BTreeSet<&str> {
        match self.pods.is_empty() {
            true => self.namespaces.iter().map(String::as_str).collect(),
            false => self.pods.iter().map(|(place, _)| place.as_str()).collect(),
        }
    }

    /// Whether pods of this phase are meant.
    pub(super) fn wants_phase(&self, phase: &str) -> bool {
        let (unwanted, wanted): (Vec<&str>, Vec<&str>) = self
            .phases
            .iter()
            .map(String::as_str)
            .partition(|phase| phase.starts_with('!'));
        let excluded = unwanted.iter().any(|other| &other[1..] == phase);
        !excluded && (wanted.is_empty() || wanted.contains(&phase))
    }

    /// The list of pods of this phase in a namespace, on one node if one is named: metadata only.
    pub(super) fn list(&self, namespace: &str, phase: &str, node: Option<&str>) -> ObjectPath {
        let mut fields = vec![format!("status.phase={phase}")];
        fields.extend(node.map(|node| format!("spec.nodeName={node}")));
        if !self.fields.is_empty() {
            fields.push(self.fields.clone());
        }
        let path = ObjectPath::of("v1", "pods").within(namespace).metadata();
        let path = path.asking("fieldSelector", &fields.join(","));
        match self.labels.is_empty() {
            true => path,
            false => path.asking("labelSelector", &self.labels),
        }
    }

    /// What it asks of annotations, which no API server looks at.
    pub(super) fn has_annotations(&self, metadata: &Value) -> bool {
        let found = &metadata["annotations"];
        let mut wanted = self.annotations.iter();
        wanted.all(|(name, value)| found[name.as_str()].as_str() == Some(value))
    }

    /// What it says, for a person who wonders why nothing was found.
    pub(super) fn words(&self) -> String {
        let mut words = Vec::new();
        if !self.labels.is_empty() {
            words.push(format!("`{}`", self.labels));
        }
        if !self.fields.is_empty() {
            words.push(format!("`{}`", self.fields));
        }
        words.extend(
            self.annotations
                .iter()
                .map(|(name, value)| format!("annotation `{name}: {value}`")),
        );
        if !self.nodes.is_empty() {
            words.push(format!("node {}", self.nodes.join(", ")));
        }
        if !self.node_labels.is_empty() {
            words.push(format!("nodes `{}`", self.node_labels));
        }
        if !self.phases.is_empty() {
            words.push(format!("phase {}", self.phases.join(", ")));
        }
        words.join(" and ")
    }
}

fn wrong(field: &str, what: &str) -> Problem {
    Problem::new(ProblemKind::Invalid, format!("`{field}` {what}"))
}

fn texts(name: &str, value: &Value) -> Result<Vec<String>, Problem> {
    let texts = value.as_array().and_then(|items| {
        let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
        texts.collect::<Option<Vec<String>>>()
    });
    texts.ok_or_else(|| wrong(&format!("selector.{name}"), "is no list of texts"))
}

fn text_map(name: &str, value: &Value) -> Result<BTreeMap<String, String>, Problem> {
    let map = value.as_object().and_then(|fields| {
        let pairs = fields
            .iter()
            .map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
        pairs.collect::<Option<BTreeMap<String, String>>>()
    });
    map.ok_or_else(|| wrong(&format!("selector.{name}"), "is no map of texts"))
}

fn equalities(name: &str, value: &Value) -> Result<Vec<String>, Problem> {
    let map = text_map(name, value)?.into_iter();
    Ok(map.map(|(key, value)| format!("{key}={value}")).collect())
}

fn expressions(value: &Value) -> Result<Vec<String>, Problem> {
    let all = value.as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().enumerate().map(expression).collect()
}

fn expression((index, value): (usize, &Value)) -> Result<String, Problem> {
    let place = format!("selector.expressionSelectors[{index}]");
    let key = value["key"]
        .as_str()
        .ok_or_else(|| wrong(&place, "has no `key`"))?;
    let values = match value.get("values").filter(|values| !values.is_null()) {
        None => Vec::new(),
        Some(given) => texts(&format!("expressionSelectors[{index}].values"), given)?,
    };
    let values = values.join(",");
    match value["operator"].as_str() {
        Some("In") => Ok(format!("{key} in ({values})")),
        Some("NotIn") => Ok(format!("{key} notin ({values})")),
        Some("Exists") => Ok(key.to_owned()),
        Some("DoesNotExist") => Ok(format!("!{key}")),
        Some(_) | None => Err(wrong(
            &place,
            "has no `operator` of In, NotIn, Exists, DoesNotExist",
        )),
    }
}

fn field_selector(value: &Value) -> Result<String, Problem> {
    let map = text_map("fieldSelectors", value)?;
    if let Some(name) = map.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        let message = format!("knows no field `{name}` of a pod");
        let hint = format!("pods are selected by {}", FIELDS.join(", "));
        return Err(wrong("selector.fieldSelectors", &message).hint(hint));
    }
    let pairs = map.into_iter();
    let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={value}")).collect();
    Ok(pairs.join(","))
}

fn named_pods(value: &Value) -> Result<Vec<(String, String)>, Problem> {
    let empty = Map::new();
    let places = value.as_object().unwrap_or(&empty);
    let mut pods = BTreeSet::new();
    for (place, names) in places {
        for name in texts(&format!("pods.{place}"), names)? {
            pods.insert((place.clone(), name));
        }
    }
    Ok(pods.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(selector: Value) -> Selector {
        Selector::read("shop", &selector).unwrap()
    }

    #[test]
    fn labels_and_expressions_are_one_question() {
        let selector = read(json!({
            "labelSelectors": {"app": "cart"},
            "expressionSelectors": [
                {"key": "tier", "operator": "In", "values": ["web", "api"]},
                {"key": "old", "operator": "DoesNotExist"},
            ],
            "fieldSelectors": {"spec.nodeName": "n1"},
        }));
        assert_eq!(
            selector.list("shop", "Running", None).uri(),
            "/api/v1/namespaces/shop/pods?fieldSelector=status.phase%3DRunning%2Cspec.nodeName%3Dn1&labelSelector=tier+in+%28web%2Capi%29%2C%21old%2Capp%3Dcart"
        );
    }

    #[test]
    fn the_objects_namespace_counts_where_none_is_named() {
        let own = read(json!({"labelSelectors": {"app": "cart"}}));
        assert_eq!(own.places().into_iter().collect::<Vec<_>>(), ["shop"]);
        let twice = read(json!({"namespaces": ["b", "a", "b"]}));
        assert_eq!(twice.places().into_iter().collect::<Vec<_>>(), ["a", "b"]);
        let named = read(json!({"namespaces": ["a"], "pods": {"c": ["p", "p"]}}));
        assert_eq!(named.pods, [("c".to_owned(), "p".to_owned())]);
        assert_eq!(named.places().into_iter().collect::<Vec<_>>(), ["c"]);
    }

    #[test]
    fn phases_are_wanted_or_unwanted() {
        let only = read(json!({"podPhaseSelectors": ["Pending"]}));
        assert!(!only.wants_phase("Running"));
        let not = read(json!({"podPhaseSelectors": ["!Running"]}));
        assert!(!not.wants_phase("Running") && not.wants_phase("Pending"));
        assert!(read(json!({"nodes": ["n"]})).wants_phase("Running"));
    }

    #[test]
    fn what_is_no_selector_is_named() {
        for (selector, words) in [
            (json!({}), "`selector` is empty: it would pick every pod"),
            (json!(null), "`selector` is empty: it would pick every pod"),
            (json!({"labels": {}}), "`selector` has no field `labels`"),
            (
                json!({"labelSelectors": {"app": 1}}),
                "`selector.labelSelectors` is no map of texts",
            ),
            (
                json!({"fieldSelectors": {"spec.hostname": "x"}}),
                "`selector.fieldSelectors` knows no field `spec.hostname` of a pod",
            ),
            (
                json!({"expressionSelectors": [{"key": "a", "operator": "Is"}]}),
                "`selector.expressionSelectors[0]` has no `operator` of In, NotIn, Exists, DoesNotExist",
            ),
        ] {
            let problem = Selector::read("shop", &selector).unwrap_err();
            assert_eq!(problem.message, words);
        }
    }
}
