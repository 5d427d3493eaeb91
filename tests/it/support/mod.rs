//! The fakes and the real servers that tests start.

pub mod engine;
pub mod events;
pub mod journals;
pub mod sandbox;
pub mod target;
pub mod screen;
