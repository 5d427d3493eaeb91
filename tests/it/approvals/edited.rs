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

/// From place to place at which all 255 other bytes are tried.
const OFTEN: usize = 20;
/// The same where a signature is checked each time.
const SELDOM: usize = 400;

/// Every byte as another one, by its lowest bit and by another mask, and some by all 255.
fn assert_every_byte_matters(
    ground: &Ground,
    text: &str,
    (all_at, from_text): (usize, impl Fn(&str) -> String),
) {
    let bytes = text.as_bytes();
    let mut tried = 0;
    for place in 0..bytes.len() {
        // Steps through all masks that keep a text of ASCII one, from place to place.
        let other = u8::try_from(place * 41 % 126 + 2).unwrap();
        let masks = if place % all_at == 0 {
            (1..=255).collect()
        } else {
            // Checking a signature takes long: every other place then gets the one or the other.
            match (all_at == SELDOM, place % 2) {
                (true, 0) => vec![1],
                (true, _) => vec![other],
                (false, _) => vec![1, other],
            }
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
    assert!(tried >= bytes.len(), "{tried} of {}", bytes.len());
}

/// A byte more or less at each place, or at some, so far apart.
fn assert_no_byte_is_too_many(ground: &Ground, text: &str, every: usize) {
    let places = (0..=text.len()).step_by(every);
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
    assert_every_byte_matters(&ground, &text, (OFTEN, str::to_owned));
    assert_no_byte_is_too_many(&ground, &text, 1);
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
    assert_every_byte_matters(&ground, &text, (SELDOM, str::to_owned));
    assert_no_byte_is_too_many(&ground, &text, 5);
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
    assert_every_byte_matters(
        &ground,
        &said,
        (SELDOM, |changed: &str| {
            let approval = serde_json::from_str(changed).ok();
            let resealed = approval.filter(|approval| *approval != sealed.approval);
            let resealed = resealed.map(|it| SealedApproval::seal(it, Some(signature.clone())));
            resealed.map_or(String::new(), |it| it.to_text())
        }),
    );
    assert_every_byte_matters(
        &ground,
        &signature.armored,
        (SELDOM, |changed: &str| {
            let mut signature = signature.clone();
            signature.armored = changed.to_owned();
            SealedApproval::seal(sealed.approval.clone(), Some(signature)).to_text()
        }),
    );
}
