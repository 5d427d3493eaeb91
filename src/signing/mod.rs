//! SSH signatures: who may sign, whether a signature is theirs, and having one made.
//!
//! Reading and checking is pure. Signing is done by the real `ssh-keygen`, so that agents, passphrases
//! and keys that want a touch work as everywhere else. Knows nothing of plans and policies: it is
//! handed bytes, names and a time.

mod envelope;
mod keygen;
mod options;
mod signers;
mod verify;

pub use keygen::{fingerprint_of, sign};
pub use options::KeyWish;
pub use signers::{AbleSigner, AllowedSigners, SignersProblem};
pub use verify::{Recognised, Signed, verify};
