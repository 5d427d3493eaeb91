//! FIDO keys: signatures as such a key makes them, built here from keys of our own, and what their
//! flags byte says about the person.
//!
//! Such a key signs SHA-256(application) ‖ flags ‖ counter ‖ SHA-256(message) (PROTOCOL.u2f of OpenSSH).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chaos_gameday::model::approval::{Presence, SIGNATURE_NAMESPACE, SignatureFlaw};
use chaos_gameday::signing::{AllowedSigners, Recognised, Signed, verify};
use ed25519_dalek::Signer as _;
use sha2::{Digest as _, Sha256, Sha512};

use super::{Keys, at, keygen_is_missing, person, verifies_by_hand};

const APPLICATION: &str = "ssh:";
const MESSAGE: &[u8] = br#"{"digest":"sha256:00"}"#;

/// A length in four bytes, and the bytes: every string of the SSH protocol.
fn string(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    [&length.to_be_bytes(), bytes].concat()
}

/// A positive number as SSH writes it.
fn number(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(0);
    let bytes = &bytes[start..];
    let sign: &[u8] = if bytes[0] >= 0x80 { &[0] } else { &[] };
    string(&[sign, bytes].concat())
}

/// What the FIDO key is asked to sign.
fn asked(flags: u8, counter: u32, message: &[u8]) -> Vec<u8> {
    let blob = [
        b"SSHSIG".to_vec(),
        string(SIGNATURE_NAMESPACE.as_bytes()),
        string(b""),
        string(b"sha512"),
        string(&Sha512::digest(message)),
    ]
    .concat();
    [
        Sha256::digest(APPLICATION).to_vec(),
        vec![flags],
        counter.to_be_bytes().to_vec(),
        Sha256::digest(blob).to_vec(),
    ]
    .concat()
}

type Answer = dyn Fn(&[u8]) -> Vec<u8>;

/// A FIDO key: its type, its public half, and what it answers.
pub(crate) struct FidoKey {
    kind: &'static str,
    public: Vec<u8>,
    answer: Box<Answer>,
}

impl FidoKey {
    pub(crate) fn ed25519() -> Self {
        let kind = "sk-ssh-ed25519@openssh.com";
        let key = ed25519_dalek::SigningKey::from_bytes(&[7; 32]);
        let public = [
            string(kind.as_bytes()),
            string(key.verifying_key().as_bytes()),
            string(APPLICATION.as_bytes()),
        ];
        Self {
            kind,
            public: public.concat(),
            answer: Box::new(move |asked| key.sign(asked).to_bytes().to_vec()),
        }
    }

    pub(crate) fn ecdsa() -> Self {
        let kind = "sk-ecdsa-sha2-nistp256@openssh.com";
        let key = p256::ecdsa::SigningKey::from_slice(&[9; 32]).unwrap();
        let point = key.verifying_key().to_encoded_point(false);
        let public = [
            string(kind.as_bytes()),
            string(b"nistp256"),
            string(point.as_bytes()),
            string(APPLICATION.as_bytes()),
        ];
        let answer = move |asked: &[u8]| {
            let signature: p256::ecdsa::Signature = key.sign(asked);
            let (r, s) = signature.split_bytes();
            [number(&r), number(&s)].concat()
        };
        Self {
            kind,
            public: public.concat(),
            answer: Box::new(answer),
        }
    }

    pub(crate) fn line(&self, before: &str) -> String {
        format!("{before} {} {}\n", self.kind, STANDARD.encode(&self.public))
    }

    /// The armored signature of somebody who left these flags; `claimed` is what the file says.
    pub(crate) fn sign_claiming(&self, flags: u8, claimed: u8, message: &[u8]) -> String {
        let counter = 41_u32;
        let answer = (self.answer)(&asked(flags, counter, message));
        let signature = [
            string(self.kind.as_bytes()),
            string(&answer),
            vec![claimed],
            counter.to_be_bytes().to_vec(),
        ]
        .concat();
        let envelope = [
            b"SSHSIG".to_vec(),
            1_u32.to_be_bytes().to_vec(),
            string(&self.public),
            string(SIGNATURE_NAMESPACE.as_bytes()),
            string(b""),
            string(b"sha512"),
            string(&signature),
        ]
        .concat();
        let letters = STANDARD.encode(envelope);
        let lines: Vec<&str> = letters
            .as_bytes()
            .chunks(70)
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        format!(
            "-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n",
            lines.join("\n")
        )
    }

    pub(crate) fn sign(&self, flags: u8, message: &[u8]) -> String {
        self.sign_claiming(flags, flags, message)
    }
}

fn recognise(signers: &str, armored: &str) -> Result<Recognised, SignatureFlaw> {
    let signers = AllowedSigners::parse(signers).unwrap();
    let signed = Signed {
        message: MESSAGE,
        armored,
        at: at("2026-06-01T00:00:00Z"),
        by: &person("ann", "desk"),
    };
    verify(&signers, &signed)
}

#[test]
fn the_flags_of_a_fido_key_say_whether_somebody_was_there() {
    let missing = keygen_is_missing();
    let keys = Keys::new();
    for key in [FidoKey::ed25519(), FidoKey::ecdsa()] {
        let signers = key.line("ann@example.com");
        for (flags, presence) in [
            (0x00, Presence::Absent),
            (0x01, Presence::Touched),
            (0x04, Presence::Absent),
            (0x05, Presence::Verified),
            (0xC5, Presence::Verified),
        ] {
            let armored = key.sign(flags, MESSAGE);
            let found = recognise(&signers, &armored).expect(key.kind);
            assert_eq!(found.signer.presence, presence, "{} {flags:#x}", key.kind);
            assert_eq!(found.signer.key_type, key.kind);
            if !missing {
                assert!(verifies_by_hand(&keys, &signers, &armored, MESSAGE));
            }
        }
    }
}

#[test]
fn flags_cannot_be_written_in_afterwards() {
    for key in [FidoKey::ed25519(), FidoKey::ecdsa()] {
        let forged = key.sign_claiming(0x00, 0x05, MESSAGE);
        let found = recognise(&key.line("ann@example.com"), &forged);
        assert_eq!(found, Err(SignatureFlaw::Wrong), "{}", key.kind);
    }
}
