//! The evidence on disk: the journal of a run, and the store of plans, approvals and runs. Beside it
//! the locks of runs under way.
//!
//! The journal is the truth about a run and is written before anybody is shown anything. Imports
//! nothing but `model`; every path is handed in.

mod abort_request;
mod disk;
mod finding;
mod following;
mod history;
mod line;
mod locks;
mod medium;
pub mod reader;
mod room;
mod single_use;
pub mod store;
mod syncing;
mod tail;
pub mod writer;
mod writing;

pub use crate::model::attendance::Writer;
pub use abort_request::{AbortRequest, Asked};
pub use finding::{Break, Flaw, JournalEnd, Recorded, Torn, Verification};
pub use following::Following;
pub use history::Remembered;
pub use line::{FORMAT, Header, LONGEST_LINE};
pub use locks::{Attempt, Held, Lock, Locks, runs_under_way};
pub use medium::Medium;
pub use reader::{Entries, Entry, read, read_from, verify};
pub use room::{Room, Wanted};
pub use single_use::Use;
pub use store::{Approvals, RunEntry, RunFolder, Store};
pub use tail::{End, LastWord, Tail, last_word};
pub use writer::Journal;
pub use writing::{Wanted as WantedWriting, Writing};
