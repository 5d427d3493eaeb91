//! The fakes and the real servers that tests start.

pub mod apiserver;
pub mod chaos_mesh;
pub mod delays;
pub mod engine;
pub mod events;
pub mod examples;
pub mod gate;
pub mod guardian;
pub mod journals;
pub mod kubernetes;
pub mod localstack;
pub mod pages;
pub mod panicky;
pub mod process;
pub mod prometheus;
pub mod pty;
pub mod sandbox;
pub mod screen;
pub mod sources;
pub mod target;
