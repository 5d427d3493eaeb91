//! Experiments: load, resolve against the world, digest.

pub mod document;
