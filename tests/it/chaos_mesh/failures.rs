//! Runs on a cluster whose Chaos Mesh misbehaves: each ends in the documented outcome.
