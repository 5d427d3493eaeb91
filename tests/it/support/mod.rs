//! The fakes and the real servers that tests start.

pub mod localstack;
pub mod sandbox;
