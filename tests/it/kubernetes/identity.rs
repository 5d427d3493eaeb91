//! Who a real cluster says it is, to whom.

use chaos_gameday::kubernetes::identify;
use chaos_gameday::model::problem::ProblemKind;
use serde_json::json;

use super::unique;
use crate::support::kubernetes::{ControlPlane, User, clients_of, is_missing, kubeconfig};

#[tokio::test]
async fn a_cluster_and_its_namespace_say_who_they_are() {
    if is_missing() {
        return;
    }
    let plane = ControlPlane::shared();
    let name = unique("shop");
    let made = plane
        .create_namespace(&name, json!({"team": "payments"}))
        .await;
    let clients = plane.clients("kind-test", &User::Admin).await;
    let cluster = identify(&clients, Some("kind-test"), Some(&name))
        .await
        .expect("an identity");
    assert_eq!(cluster.context.as_deref(), Some("kind-test"));
    assert_eq!(cluster.api_server, plane.url());
    assert!(cluster.version.starts_with("v1."), "{}", cluster.version);
    assert_eq!(cluster.namespace_uid, made["metadata"]["uid"]);
    assert_eq!(cluster.namespace_labels["team"], "payments");
    let system = plane
        .request("GET", "/api/v1/namespaces/kube-system", &json!(null))
        .await;
    assert_eq!(cluster.uid, system["metadata"]["uid"]);

    let itself = identify(&clients, None, Some("kube-system"))
        .await
        .expect("an identity");
    assert_eq!(itself.namespace_uid, cluster.uid);
    let current = identify(&clients, None, None).await.expect("an identity");
    assert_eq!(current.namespace, "default");
}

#[tokio::test]
async fn a_namespace_that_was_deleted_and_made_again_is_another_one() {
    if is_missing() {
        return;
    }
    let plane = ControlPlane::shared();
    let name = unique("shop");
    let clients = plane.clients("kind-test", &User::Admin).await;
    plane.create_namespace(&name, json!({})).await;
    let before = identify(&clients, None, Some(&name))
        .await
        .expect("an identity");
    plane.delete_namespace(&name).await;
    let gone = identify(&clients, None, Some(&name))
        .await
        .expect_err("it is gone");
    assert_eq!(gone.kind, ProblemKind::Absent);
    plane.create_namespace(&name, json!({})).await;
    let after = identify(&clients, None, Some(&name))
        .await
        .expect("an identity");
    assert_ne!(after.namespace_uid, before.namespace_uid);
    assert_eq!(after.uid, before.uid);
}

#[tokio::test]
async fn a_typo_in_a_namespace_is_told_with_the_nearest() {
    if is_missing() {
        return;
    }
    let plane = ControlPlane::shared();
    let clients = plane.clients("kind-test", &User::Admin).await;
    let problem = identify(&clients, None, Some("defualt"))
        .await
        .expect_err("a typo");
    assert_eq!(problem.hint.as_deref(), Some("the nearest is `default`"));
}

#[tokio::test]
async fn an_account_that_may_not_look_is_told_which_permission_it_lacks() {
    if is_missing() {
        return;
    }
    let plane = ControlPlane::shared();
    let name = unique("shop");
    plane.create_namespace(&name, json!({})).await;
    let nothing = plane.account(&name, "nothing", &json!([])).await;
    let clients = plane.clients("kind-test", &nothing).await;
    let problem = identify(&clients, None, Some(&name))
        .await
        .expect_err("forbidden");
    assert_eq!(problem.kind, ProblemKind::Refused);
    let words = format!(
        "does not let us get namespaces/kube-system: namespaces \"kube-system\" is forbidden: User \"system:serviceaccount:{name}:nothing\" cannot get resource"
    );
    assert!(problem.message.contains(&words), "{problem}");

    let rule = json!([{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"], "resourceNames": ["kube-system", &name]}]);
    let enough = plane.account(&name, "enough", &rule).await;
    let clients = plane.clients("kind-test", &enough).await;
    identify(&clients, None, Some(&name))
        .await
        .expect("all that the hint asks for is enough");
    let other = identify(&clients, None, Some("default"))
        .await
        .expect_err("another namespace");
    assert!(
        other
            .message
            .contains("does not let us get namespaces/default"),
        "{other}"
    );
}

#[tokio::test]
async fn credentials_and_certificates_that_are_wrong_say_so() {
    if is_missing() {
        return;
    }
    let plane = ControlPlane::shared();
    let stranger = plane
        .clients("kind-test", &User::Token("guessed".to_owned()))
        .await;
    let problem = identify(&stranger, None, None)
        .await
        .expect_err("a stranger");
    assert_eq!(problem.kind, ProblemKind::Refused);
    assert!(
        problem
            .message
            .contains("does not accept our credentials (401"),
        "{problem}"
    );

    let token = json!({"token": "t"});
    // Without an authority of its own, the kubeconfig means those that this machine trusts.
    let strange = json!({"server": plane.url()});
    let clients = clients_of(&kubeconfig("kind-test", None, &strange, &token)).await;
    let problem = identify(&clients, None, None)
        .await
        .expect_err("another authority");
    assert_eq!(problem.kind, ProblemKind::Refused);
    assert!(
        problem
            .message
            .contains("the issuer of its certificate is not the one"),
        "{problem}"
    );

    let named = json!({"server": plane.url(), "certificate-authority": plane.ca(), "tls-server-name": "api.example"});
    let clients = clients_of(&kubeconfig("kind-test", None, &named, &token)).await;
    let problem = identify(&clients, None, None)
        .await
        .expect_err("another name");
    assert!(
        problem
            .message
            .ends_with("its certificate is for another name"),
        "{problem}"
    );
}
