//! Targets on which a former fault left something that keeps every other from going in (Chaos Mesh
//! 2.8, seen on a running controller): found before the fault, with the cure.

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde_json::Value;

use super::AT_ONCE;
use super::kinds::KINDS;
use crate::clients::KubeContext;
use crate::kubernetes::{self, ObjectPath};
use crate::model::chaos_mesh::{GROUP_VERSION, TargetPod};
use crate::model::problem::{Problem, ProblemKind};

/// Looks at the internal objects (`podnetworkchaos`, …) of the targets, each named as its pod. Returns
/// warnings: what may not be looked at.
///
/// # Errors
/// A poisoned target, with the pod, the source and the cure; no answer.
pub(super) async fn check(
    context: &KubeContext,
    internal: &str,
    targets: &[TargetPod],
) -> Result<Vec<String>, Problem> {
    let looks: Vec<_> = targets
        .iter()
        .map(|target| look(context, internal, target))
        .collect();
    let looks = stream::iter(looks).buffered(AT_ONCE);
    match looks.try_collect::<Vec<()>>().await {
        Ok(_) => Ok(Vec::new()),
        Err(problem) if problem.kind == ProblemKind::Refused => Ok(vec![format!(
            "whether a former fault left something on the targets was not looked at: {}",
            problem.message
        )]),
        Err(problem) => Err(problem),
    }
}

async fn look(context: &KubeContext, internal: &str, target: &TargetPod) -> Result<(), Problem> {
    let path = ObjectPath::of(GROUP_VERSION, internal)
        .within(&target.namespace)
        .named(&target.name);
    let Some(object) = kubernetes::get(context, &path).await? else {
        return Ok(());
    };
    if let Some(message) = failed(&object) {
        return Err(poisoned(
            context,
            internal,
            target,
            &format!("says `{message}`"),
        ));
    }
    for source in sources(&object) {
        if !is_there(context, internal, &source).await? {
            let what = format!("holds an entry of {source}, which is no more");
            return Err(poisoned(context, internal, target, &what));
        }
    }
    Ok(())
}

fn failed(object: &Value) -> Option<&str> {
    object["status"]["failedMessage"]
        .as_str()
        .filter(|message| !message.is_empty())
}

/// `ns/name` of the objects that entries come from: `source` of `tcs`, `ipsets`, `iptables`, `actions`,
/// `rules`.
pub(super) fn sources(object: &Value) -> Vec<String> {
    let mut sources: Vec<String> = Vec::new();
    let lists = object["spec"].as_object().into_iter().flatten();
    for (_, list) in lists {
        for entry in list.as_array().into_iter().flatten() {
            if let Some(source) = entry["source"].as_str()
                && !sources.iter().any(|known| known == source)
            {
                sources.push(source.to_owned());
            }
        }
    }
    sources
}

async fn is_there(context: &KubeContext, internal: &str, source: &str) -> Result<bool, Problem> {
    let Some((namespace, name)) = source.split_once('/') else {
        return Ok(true);
    };
    let kinds = KINDS.iter().filter(|row| row.internal == Some(internal));
    for kind in kinds {
        let path = ObjectPath::of(GROUP_VERSION, kind.plural)
            .within(namespace)
            .named(name)
            .metadata();
        if kubernetes::get(context, &path).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn poisoned(context: &KubeContext, internal: &str, target: &TargetPod, what: &str) -> Problem {
    let TargetPod {
        namespace, name, ..
    } = target;
    let message = format!(
        "pod {namespace}/{name} takes no fault of this kind any more: its {internal} {what}"
    );
    let which = context
        .name()
        .map_or(String::new(), |context| format!(" --context {context}"));
    let hint = format!(
        "`kubectl{which} -n {namespace} delete {internal}.chaos-mesh.org {name}` cures it, and lets deletions that hang on it come to their end"
    );
    Problem::new(ProblemKind::Conflict, message).hint(hint)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sources_are_found_in_every_list_once() {
        let object = json!({"spec": {
            "tcs": [{"source": "shop/a"}, {"source": "shop/a"}],
            "ipsets": [{"source": "shop/b"}],
            "iptables": null,
            "action": "x",
        }});
        assert_eq!(sources(&object), ["shop/b", "shop/a"]);
        assert_eq!(sources(&json!({"spec": {}})), Vec::<String>::new());
    }

    #[test]
    fn a_rest_of_a_former_fault_is_harmless() {
        let rest = json!({"spec": {"tcs": []}, "status": {"observedGeneration": 4}});
        assert_eq!(failed(&rest), None);
        assert_eq!(failed(&json!({"status": {"failedMessage": ""}})), None);
        assert_eq!(
            failed(&json!({"status": {"failedMessage": "x"}})),
            Some("x")
        );
    }
}
