//! Scripted series for tests and simulations of the engine.
