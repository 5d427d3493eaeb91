//! The fakes and the real servers that tests start.

pub mod events;
pub mod screen;
