//! The words of the domain: pure data and pure functions.
//!
//! Nothing here waits, reads a file, looks at a clock or knows a terminal; everybody may import it
//! and it imports nobody.

pub mod approval;
pub mod attendance;
pub mod brief;
pub mod chaos_mesh;
pub mod cluster;
pub mod decision;
pub mod event;
pub mod history;
pub mod holder;
pub mod ids;
pub mod judgement;
pub mod localstack;
pub mod lock;
pub mod outcome;
pub mod pattern;
pub mod phase;
pub mod problem;
pub mod rehearsal;
pub mod remark;
pub mod request;
pub mod sample;
pub mod secret;
pub mod skew;
pub mod slo;
pub mod state;
pub mod takeover;
pub mod target;
pub mod traffic;
pub mod undo;
pub mod units;
