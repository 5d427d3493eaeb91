//! Answers that mean the same wherever they are met.

use crate::clients::KubeContext;
use crate::model::problem::{Problem, ProblemKind};

/// The problem that Chaos Mesh's webhooks are down, if this is what a server says of them: nothing was
/// written then, and nothing can be until they answer (`failurePolicy: Fail`).
pub(super) fn webhooks_down(context: &KubeContext, message: &str) -> Option<Problem> {
    let (_, webhook) = message.split_once("failed calling webhook ")?;
    let name = webhook.trim_start_matches('"').split('"').next()?;
    let why = message.rsplit_once(": ").map_or("", |(_, why)| why);
    let words = format!(
        "the webhook {name} of Chaos Mesh does not answer the API server {}: {why}",
        context.server()
    );
    Some(Problem::new(ProblemKind::Unreachable, words).hint(
        "look at the pods of chaos-controller-manager, and whether the API server may reach port 10250 of them",
    ))
}
