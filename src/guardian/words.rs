//! What a run and its guardian say to each other once the charge was read: a line for each sign of
//! life, a letter for each answer.

use crate::model::takeover::Standing;

/// The guardian has read its charge, and nothing that ends the run ends it too.
pub const READY: &str = "ready\n";

/// The guardian took a sign in.
pub const ANSWER: &[u8] = b".";

/// What a run says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Where it stands.
    Standing(Standing),
    /// That it has ended.
    Parting,
}

impl Word {
    /// The line, with its end.
    pub fn to_line(self) -> String {
        match self {
            Self::Standing(Standing::Clear) => "clear\n".to_owned(),
            Self::Standing(Standing::In { at_most_ms }) => format!("in {at_most_ms}\n"),
            Self::Standing(Standing::Undoing) => "undoing\n".to_owned(),
            Self::Parting => "ended\n".to_owned(),
        }
    }

    /// Reads a line without its end; `None`: nobody of ours says that.
    pub fn of_line(line: &str) -> Option<Self> {
        let (word, figure) = line.split_once(' ').unwrap_or((line, ""));
        let standing = match (word, figure) {
            ("clear", "") => Standing::Clear,
            ("undoing", "") => Standing::Undoing,
            ("ended", "") => return Some(Self::Parting),
            ("in", figure) => Standing::In {
                at_most_ms: figure.parse().ok()?,
            },
            _ => return None,
        };
        Some(Self::Standing(standing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_comes_back_and_nothing_else_is_one() {
        for word in [
            Word::Standing(Standing::Clear),
            Word::Standing(Standing::In { at_most_ms: 61_000 }),
            Word::Standing(Standing::Undoing),
            Word::Parting,
        ] {
            let line = word.to_line();
            let line = line.strip_suffix('\n');
            assert_eq!(line.and_then(Word::of_line), Some(word));
        }
        for line in [
            "",
            "in",
            "in x",
            "in -1",
            "clear 1",
            "ended now",
            "CLEAR",
            "undoing\r",
        ] {
            assert_eq!(Word::of_line(line), None, "{line}");
        }
    }
}
