//! The exit code of a command that did what it was asked.

/// Why a command ends with something else than 0 although nothing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// A run ended with this code, and everything about it was said.
    Run(u8),
}

impl Exit {
    /// The code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Run(code) => code,
        }
    }
}
