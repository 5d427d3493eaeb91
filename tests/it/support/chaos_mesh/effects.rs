//! What a fault does to its target, and how it is taken back.

use serde_json::{Value, json};

use super::cluster::Api;

const PAUSE_IMAGE: &str = "gcr.io/google-containers/pause:latest";

fn pod_of(record: &Value) -> (String, String) {
    let id = record["id"].as_str().unwrap();
    let mut parts = id.split('/').map(str::to_owned);
    (parts.next().unwrap(), parts.next().unwrap())
}

/// `ns/name` of an object: what its entries say that they come from.
fn source(object: &Value) -> String {
    let of = |name: &str| object["metadata"][name].as_str().unwrap().to_owned();
    format!("{}/{}", of("namespace"), of("name"))
}

/// Puts it in.
pub(super) async fn apply(
    api: &Api,
    plural: &str,
    object: &Value,
    record: &Value,
) -> Result<(), String> {
    let (namespace, name) = pod_of(record);
    let pod = api.pod(&namespace, &name).await;
    let pod = pod.ok_or_else(|| format!("pods \"{name}\" not found"))?;
    match (plural, object["spec"]["action"].as_str()) {
        ("podchaos", Some("pod-kill")) => {
            let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
            let grace = &object["spec"]["gracePeriod"];
            let grace = if grace.is_null() {
                json!(0)
            } else {
                grace.clone()
            };
            api.send("DELETE", &path, &json!({"gracePeriodSeconds": grace}))
                .await;
            Ok(())
        }
        ("podchaos", Some("pod-failure")) => {
            swap(api, object, &pod, |_, _| PAUSE_IMAGE.to_owned()).await;
            Ok(())
        }
        ("networkchaos", _) if record["selectorKey"] == "." => {
            entries(api, object, (&namespace, &name), |tcs, source| {
                tcs.push(json!({"source": source, "type": "netem"}));
            })
            .await
        }
        _ => Ok(()),
    }
}

/// Takes it out; a pod that is gone counts as recovered.
pub(super) async fn recover(
    api: &Api,
    plural: &str,
    object: &Value,
    record: &Value,
) -> Result<(), String> {
    let (namespace, name) = pod_of(record);
    let Some(pod) = api.pod(&namespace, &name).await else {
        return Ok(());
    };
    match (plural, object["spec"]["action"].as_str()) {
        ("podchaos", Some("pod-failure")) => {
            let annotations = pod["metadata"]["annotations"].clone();
            swap(api, object, &pod, |key, now| {
                annotations[key].as_str().unwrap_or(now).to_owned()
            })
            .await;
            Ok(())
        }
        ("networkchaos", _) if record["selectorKey"] == "." => {
            entries(api, object, (&namespace, &name), |tcs, source| {
                tcs.retain(|entry| entry["source"] != source);
            })
            .await
        }
        _ => Ok(()),
    }
}

/// Gives each container another image, and keeps the one before in an annotation.
async fn swap(api: &Api, object: &Value, pod: &Value, image: impl Fn(&str, &str) -> String) {
    let chaos = object["metadata"]["name"].as_str().unwrap();
    let mut containers = pod["spec"]["containers"].clone();
    let mut annotations = json!({});
    for container in containers.as_array_mut().unwrap() {
        let name = container["name"].as_str().unwrap();
        let key = format!("chaos-mesh-{chaos}-pod-failure-{name}-normal-image");
        assert!(key.len() <= 63, "`{key}` is too long for an annotation");
        let before = container["image"].as_str().unwrap().to_owned();
        let after = image(&key, &before);
        annotations[&key] = match after == PAUSE_IMAGE {
            true => json!(before),
            false => Value::Null,
        };
        container["image"] = json!(after);
    }
    let of = |name: &str| pod["metadata"][name].as_str().unwrap();
    let path = format!("/api/v1/namespaces/{}/pods/{}", of("namespace"), of("name"));
    let patch =
        json!({"metadata": {"annotations": annotations}, "spec": {"containers": containers}});
    api.send("PATCH", &path, &patch).await;
}

/// Changes the entries of a pod's PodNetworkChaos. One that failed fails for everybody.
async fn entries(
    api: &Api,
    object: &Value,
    (namespace, name): (&str, &str),
    change: impl Fn(&mut Vec<Value>, &str),
) -> Result<(), String> {
    let group = "/apis/chaos-mesh.org/v1alpha1";
    let all = format!("{group}/namespaces/{namespace}/podnetworkchaos");
    let one = format!("{all}/{name}");
    let found = api.get(&one).await;
    if let Some(why) = found
        .as_ref()
        .and_then(|found| found["status"]["failedMessage"].as_str())
    {
        return Err(why.to_owned());
    }
    let before = found
        .as_ref()
        .and_then(|found| found["spec"]["tcs"].as_array());
    let mut tcs = before.cloned().unwrap_or_default();
    change(&mut tcs, &source(object));
    let (method, path) = match found {
        Some(_) => ("PATCH", &one),
        None => ("POST", &all),
    };
    let body = json!({
        "apiVersion": "chaos-mesh.org/v1alpha1", "kind": "PodNetworkChaos",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"tcs": tcs},
    });
    match api.send(method, path, &body).await {
        Some(_) => Ok(()),
        None => Err("podnetworkchaos cannot be written".to_owned()),
    }
}
