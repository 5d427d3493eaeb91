//! One changed byte in a stored approval voids it, wherever it is.

use chaos_gameday::model::approval::SealedApproval;
use chaos_gameday::policy::Scales;

use super::counting::{Ground, NOW};
use super::{at, keygen_is_missing};

/// Whether a text still makes an approval that counts.
fn counts(ground: &Ground, text: &str) -> bool {
    let Ok(sealed) = SealedApproval::from_text(text) else {
        return false;
    };
    let scales = Scales::new(&ground.stored, &ground.policy, &[], &[], at(NOW));
    scales.expect("a known environment").weigh(&sealed).is_ok()
}

/// Every byte as another one: each by its lowest bit, and every seventh by all 255.
fn assert_every_byte_matters(ground: &Ground, text: &str, from_text: impl Fn(&str) -> String) {
    let bytes = text.as_bytes();
    for place in 0..bytes.len() {
        let masks = if place % 40 == 0 { 1..=255 } else { 1..=1 };
        for mask in masks {
            let mut changed = bytes.to_vec();
            changed[place] ^= mask;
            let Ok(changed) = String::from_utf8(changed) else {
                continue;
            };
            assert!(
                !counts(ground, &from_text(&changed)),
                "byte {place} ^ {mask:#x} of {text}"
            );
        }
    }
}

#[tokio::test]
async fn one_changed_byte_anywhere_in_a_typed_approval_voids_it() {
    let ground = Ground::confirmed().await;
    let text = SealedApproval::seal(ground.yes("ann"), None).to_text();
    assert!(counts(&ground, &text));
    assert_every_byte_matters(&ground, &text, str::to_owned);
}

#[tokio::test]
async fn one_changed_byte_anywhere_in_a_signed_approval_voids_it() {
    if keygen_is_missing() {
        return;
    }
    let ground = Ground::signed("").await;
    let sealed = ground.signed_yes("ann");
    let text = sealed.to_text();
    assert!(counts(&ground, &text));
    assert_every_byte_matters(&ground, &text, str::to_owned);
}

#[tokio::test]
async fn one_changed_byte_of_what_was_said_or_of_its_signature_voids_it_though_sealed_anew() {
    if keygen_is_missing() {
        return;
    }
    let ground = Ground::signed("").await;
    let sealed = ground.signed_yes("ann");
    let signature = sealed.signature.clone().unwrap();
    let said = sealed.approval.canonical();
    assert_every_byte_matters(&ground, &said, |changed| {
        let approval = serde_json::from_str(changed).ok();
        let resealed = approval.filter(|approval| *approval != sealed.approval);
        let resealed = resealed.map(|it| SealedApproval::seal(it, Some(signature.clone())));
        resealed.map_or(String::new(), |it| it.to_text())
    });
    assert_every_byte_matters(&ground, &signature.armored, |changed| {
        let mut signature = signature.clone();
        signature.armored = changed.to_owned();
        SealedApproval::seal(sealed.approval.clone(), Some(signature)).to_text()
    });
}
