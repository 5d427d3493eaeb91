//! Hostile input for everything that reads what comes from outside: bytes that nobody wrote, and real
//! documents, journals and answers with something done to them.
//!
//! Each target says what must hold for any input; the harness adds what holds for all: no panic, no
//! hang, no more memory than a multiple of the input. What was found once stands under
//! `tests/fixtures/fuzz/<target>/` and is always tried first. `make fuzz` goes on for as long as it is
//! told to, with seeds that nobody has seen.

mod changes;
mod corpus;
mod documents;
mod harness;
mod input;
mod schema;
mod server;
mod structure;
mod targets;
mod watch;

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;
