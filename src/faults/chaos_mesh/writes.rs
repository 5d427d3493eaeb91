//! The only requests that change something in a cluster: one POST, one DELETE for it, and a nudge where
//! the deletion hangs.

use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::Injection;
use super::{WRITE_WITHIN, answers};
use crate::clients::KubeContext;
use crate::kubernetes::{self, ObjectPath, Reply, Verb};
use crate::model::chaos_mesh::{ChaosMeshUndo, GROUP_VERSION, RUN_LABEL};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::request::{Exchange, Request};
use crate::model::units::Span;

/// An annotation that means nothing to Chaos Mesh: any change of the metadata makes its controller look
/// again at once, which between two of its own attempts may wait a quarter of an hour.
const NUDGE: &str = "chaos-gameday/nudge";

/// Creates the object, exactly as the undo has it, with strict field validation.
pub(super) async fn inject(context: &KubeContext, undo: &ChaosMeshUndo) -> Injection {
    let path = collection(undo).asking("fieldValidation", "Strict");
    let mut sending = Sending::to(context);
    let reply = sending
        .send(Verb::Create, &path, undo.create_request())
        .await;
    let result = match reply {
        Ok(reply) => created(context, undo, &path, &reply).await,
        Err(problem) => Err(problem),
    };
    sending.over(result)
}

async fn created(
    context: &KubeContext,
    undo: &ChaosMeshUndo,
    path: &ObjectPath,
    reply: &Reply,
) -> Result<(), Problem> {
    if reply.status.is_success() {
        return Ok(());
    }
    if reply.status == StatusCode::CONFLICT {
        return is_ours_already(context, undo).await;
    }
    let message = reply.body["message"].as_str().unwrap_or_default();
    let mut problem = match answers::webhooks_down(context, message) {
        Some(problem) => problem,
        None => kubernetes::refused(context, Verb::Create, path, reply),
    };
    // It said no: whatever comes later, this request put nothing in. A gateway does not know.
    let knows = !matches!(
        reply.status,
        StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT | StatusCode::SERVICE_UNAVAILABLE
    );
    if knows && problem.kind == ProblemKind::Unreachable {
        problem.kind = ProblemKind::Unexpected;
    }
    Err(problem)
}

/// An object of the name is there: an earlier attempt of ours, or somebody else's.
async fn is_ours_already(context: &KubeContext, undo: &ChaosMeshUndo) -> Result<(), Problem> {
    let there = kubernetes::get(context, &path_of(undo)).await?;
    if there.as_ref().is_some_and(|there| is_ours(undo, there)) {
        return Ok(());
    }
    let message = format!("{} is there already, and is not of this run", undo.shown());
    Err(Problem::new(ProblemKind::Conflict, message)
        .hint("it was left alone; look whose it is, and run again: another run has another name"))
}

/// Deletes the object, if it is there and is ours; waits for nothing. One that is being deleted already
/// is nudged.
pub(super) async fn revert(context: &KubeContext, undo: &ChaosMeshUndo) -> Injection {
    let mut sending = Sending::to(context);
    let path = path_of(undo);
    let there = match kubernetes::get(context, &path).await {
        Ok(Some(there)) if is_ours(undo, &there) => there,
        // Gone, or somebody else's: what is ours is not there.
        Ok(_) => return sending.over(Ok(())),
        Err(problem) => return sending.over(Err(problem)),
    };
    let result = match there["metadata"]["deletionTimestamp"].is_null() {
        true => sending.delete(undo, &path, &there).await,
        false => sending.nudge(undo, &path, &there).await,
    };
    sending.over(result)
}

/// Where its kind is made.
pub(super) fn collection(undo: &ChaosMeshUndo) -> ObjectPath {
    ObjectPath::of(GROUP_VERSION, &undo.plural).within(&undo.namespace)
}

/// Where the object is.
pub(super) fn path_of(undo: &ChaosMeshUndo) -> ObjectPath {
    collection(undo).named(&undo.name)
}

impl ChaosMeshUndo {
    /// The literal request that puts it in.
    pub(super) fn create_request(&self) -> Request {
        let path = collection(self).asking("fieldValidation", "Strict");
        Request {
            method: "POST".to_owned(),
            url: format!("{}{}", self.server, path.uri()),
            body: Some(self.object.clone()),
        }
    }

    /// The literal request that takes it out.
    pub(super) fn delete_request(&self) -> Request {
        Request {
            method: "DELETE".to_owned(),
            url: format!("{}{}", self.server, path_of(self).uri()),
            body: Some(
                json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}),
            ),
        }
    }
}

/// Whether an object of its name is the one that this undo is about: our run's label stands on it.
pub(super) fn is_ours(undo: &ChaosMeshUndo, there: &Value) -> bool {
    let label = |object: &Value| {
        object["metadata"]["labels"][RUN_LABEL]
            .as_str()
            .map(str::to_owned)
    };
    label(there).is_some() && label(there) == label(&undo.object)
}

/// What is sent, and what came of it.
struct Sending<'a> {
    context: &'a KubeContext,
    exchanges: Vec<Exchange>,
}

impl<'a> Sending<'a> {
    fn to(context: &'a KubeContext) -> Self {
        Self {
            context,
            exchanges: Vec::new(),
        }
    }

    fn over(self, result: Result<(), Problem>) -> Injection {
        Injection {
            exchanges: self.exchanges,
            result,
        }
    }

    async fn send(
        &mut self,
        verb: Verb,
        path: &ObjectPath,
        request: Request,
    ) -> Result<Reply, Problem> {
        let begun = Instant::now();
        let body = request.body.clone();
        let reply = kubernetes::send(self.context, verb, path, body.as_ref(), WRITE_WITHIN).await;
        self.exchanges.push(Exchange {
            request,
            status: reply.as_ref().ok().map(|reply| reply.status.as_u16()),
            took_ms: Span::of(begun.elapsed()).as_millis(),
            request_id: reply.as_ref().ok().and_then(|reply| reply.audit_id.clone()),
        });
        reply
    }

    async fn delete(
        &mut self,
        undo: &ChaosMeshUndo,
        path: &ObjectPath,
        there: &Value,
    ) -> Result<(), Problem> {
        let mut request = undo.delete_request();
        if let Some(body) = &mut request.body {
            // Another one that takes its name meanwhile is not touched.
            body["preconditions"] = json!({"uid": there["metadata"]["uid"]});
        }
        let reply = self.send(Verb::Delete, path, request).await?;
        match reply.status {
            status if status.is_success() => Ok(()),
            StatusCode::NOT_FOUND => Ok(()),
            _ => Err(kubernetes::refused(
                self.context,
                Verb::Delete,
                path,
                &reply,
            )),
        }
    }

    async fn nudge(
        &mut self,
        undo: &ChaosMeshUndo,
        path: &ObjectPath,
        there: &Value,
    ) -> Result<(), Problem> {
        // Another one each time, as each change makes it.
        let nudge = &there["metadata"]["resourceVersion"];
        let patch = json!({"metadata": {"annotations": {NUDGE: nudge}}});
        let request = Request {
            method: "PATCH".to_owned(),
            url: undo.delete_request().url,
            body: Some(patch),
        };
        // It is being deleted, whatever comes of this: webhooks that are down refuse it, and a role may.
        let _ = self.send(Verb::Patch, path, request).await?;
        Ok(())
    }
}
