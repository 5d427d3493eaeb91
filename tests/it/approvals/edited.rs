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

/// Every byte as another one, each by its lowest bit and by another mask, every fortieth by all 255.
fn assert_every_byte_matters(ground: &Ground, text: &str, from_text: impl Fn(&str) -> String) {
    let bytes = text.as_bytes();
    let mut tried = 0;
    for place in 0..bytes.len() {
        // Steps through all masks that keep a text of ASCII one, from place to place.
        let other = u8::try_from(place * 41 % 126 + 2).unwrap();
        let masks = if place % 40 == 0 {
            (1..=255).collect()
        } else {
            vec![1, other]
        };
        for mask in masks {
            let mut changed = bytes.to_vec();
            changed[place] ^= mask;
            let Ok(changed) = String::from_utf8(changed) else {
                continue;
            };
            tried += 1;
            assert!(
                !counts(ground, &from_text(&changed)),
                "byte {place} ^ {mask:#x} of {text}"
            );
        }
    }
    assert!(tried > 2 * bytes.len(), "{tried} of {}", bytes.len());
}

/// A byte more or less at each place.
fn assert_no_byte_is_too_many(ground: &Ground, text: &str) {
    let places = 0..=text.len();
    for place in places.filter(|place| text.is_char_boundary(*place)) {
        for more in [" ", "\n", "0", "\"", "\u{feff}"] {
            let changed = [&text[..place], more, &text[place..]].concat();
            assert!(!counts(ground, &changed), "{more:?} at {place} of {text}");
        }
        let mut less = text.to_owned();
        if place < less.len() {
            less.remove(place);
            assert!(!counts(ground, &less), "without {place} of {text}");
        }
    }
}

#[tokio::test]
async fn one_changed_byte_anywhere_in_a_typed_approval_voids_it() {
    let ground = Ground::confirmed().await;
    let text = SealedApproval::seal(ground.yes("ann"), None).to_text();
    assert!(counts(&ground, &text));
    assert_every_byte_matters(&ground, &text, str::to_owned);
    assert_no_byte_is_too_many(&ground, &text);
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
    assert_no_byte_is_too_many(&ground, &text);
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
