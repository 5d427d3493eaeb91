//! What a terminal sends, as keys: letters whole, whatever bytes they come in, and everything that
//! begins with an escape passed over, so that an arrow key is no command.

/// A key that somebody pressed, or a letter of what somebody pasted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A letter that is no control character.
    Letter(char),
    /// Return.
    Enter,
    /// Takes the last letter back.
    Backspace,
    /// Ctrl-U: takes the whole line back.
    WholeLine,
    /// Ctrl-W: takes the last word back.
    Word,
    /// Escape by itself, or Ctrl-D.
    Escape,
}

/// Turns bytes into keys; remembers what is not whole yet.
#[derive(Debug, Default)]
pub struct Decoder {
    within: Within,
    letter: Vec<u8>,
}

/// What the bytes so far have begun.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Within {
    #[default]
    Nothing,
    /// After an escape: a key by itself, or the beginning of a sequence.
    Escape,
    /// Control sequence, `ESC [`: arrows, function keys, reports.
    Sequence(Parameters),
    /// One more byte belongs to it: `ESC O`.
    Single,
    /// A string of the terminal's own, up to BEL or `ESC \`.
    Text,
    /// In such a string, after an escape.
    EndOfText,
}

/// Whether a control sequence has had a byte yet: the Linux console says `ESC [ [ A` for F1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameters {
    None,
    Some,
}

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

impl Decoder {
    /// The keys that these bytes complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Key> {
        bytes.iter().filter_map(|byte| self.take(*byte)).collect()
    }

    /// Nothing has followed for a while: an escape that stands alone was a key.
    pub fn idle(&mut self) -> Option<Key> {
        self.is_waiting().then(|| {
            self.within = Within::Nothing;
            Key::Escape
        })
    }

    /// Whether time decides what the last byte was.
    pub fn is_waiting(&self) -> bool {
        self.within == Within::Escape
    }

    fn take(&mut self, byte: u8) -> Option<Key> {
        match (self.within, byte) {
            (Within::Nothing, _) => return self.plain(byte),
            (Within::Escape, ESCAPE) => return Some(Key::Escape),
            (Within::Escape, b'[') => self.within = Within::Sequence(Parameters::None),
            (Within::Escape, b'O') => self.within = Within::Single,
            (Within::Escape, b']' | b'P' | b'X' | b'^' | b'_') => self.within = Within::Text,
            (Within::Sequence(Parameters::None), b'[') => self.within = Within::Single,
            (Within::Sequence(_), 0x40..=0x7e) => self.within = Within::Nothing,
            (Within::Sequence(_), ESCAPE) => self.within = Within::Escape,
            (Within::Sequence(_), _) => self.within = Within::Sequence(Parameters::Some),
            (Within::Text, BELL) => self.within = Within::Nothing,
            (Within::Text, ESCAPE) => self.within = Within::EndOfText,
            (Within::Text, _) => {}
            // A letter with Alt is a key of its own, and none of ours.
            (Within::Escape | Within::Single | Within::EndOfText, _) => {
                self.within = Within::Nothing;
            }
        }
        None
    }

    fn plain(&mut self, byte: u8) -> Option<Key> {
        match byte {
            0x80.. => return self.part_of_letter(byte),
            _ => self.letter.clear(),
        }
        match byte {
            ESCAPE => {
                self.within = Within::Escape;
                None
            }
            b'\r' | b'\n' => Some(Key::Enter),
            0x08 | 0x7f => Some(Key::Backspace),
            0x15 => Some(Key::WholeLine),
            0x17 => Some(Key::Word),
            0x04 => Some(Key::Escape),
            b' '..=b'~' => Some(Key::Letter(char::from(byte))),
            _ => None,
        }
    }

    /// Bytes that never become a letter are dropped.
    fn part_of_letter(&mut self, byte: u8) -> Option<Key> {
        let begins = byte >= 0xc0;
        if begins {
            self.letter.clear();
        } else if self.letter.is_empty() {
            return None;
        }
        self.letter.push(byte);
        match std::str::from_utf8(&self.letter) {
            Ok(text) => {
                let letter = text.chars().next().filter(|letter| !letter.is_control());
                self.letter.clear();
                letter.map(Key::Letter)
            }
            Err(why) => {
                if why.error_len().is_some() {
                    self.letter.clear();
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn letters(text: &str) -> Vec<Key> {
        text.chars().map(Key::Letter).collect()
    }

    #[test]
    fn bytes_become_keys() {
        for (bytes, keys) in [
            ("aé漢🦀".as_bytes(), letters("aé漢🦀")),
            (b"\r\n", vec![Key::Enter, Key::Enter]),
            (b"\x7f\x08", vec![Key::Backspace, Key::Backspace]),
            (
                b"\x15\x17\x04",
                vec![Key::WholeLine, Key::Word, Key::Escape],
            ),
            // Ctrl-A, Tab, Ctrl-L and NUL are nobody's.
            (b"\x01\t\x0c\0", vec![]),
            // Arrows, Home, F1 three ways, a mouse report, Shift-Tab.
            (
                b"\x1b[A\x1bOA\x1b[1;5C\x1b[H\x1bOP\x1b[11~\x1b[[A\x1b[<0;1;1M\x1b[Z",
                vec![],
            ),
            // A report of a colour, and one that ends by the string terminator.
            (b"\x1b]11;rgb:0/0/0\x07\x1bP1$r0m\x1b\\q", letters("q")),
            // Alt-a.
            (b"\x1ban", letters("n")),
            // Not UTF-8: a lone continuation, a cut letter, an overlong one.
            (b"\x80a\xe6\xbcb\xc0\xafc", letters("abc")),
        ] {
            assert_eq!(Decoder::default().feed(bytes), keys, "{bytes:?}");
        }
    }

    #[test]
    fn an_escape_is_a_key_only_when_nothing_follows() {
        let mut decoder = Decoder::default();
        assert_eq!(
            (decoder.feed(b"\x1b"), decoder.is_waiting()),
            (vec![], true)
        );
        assert_eq!((decoder.idle(), decoder.idle()), (Some(Key::Escape), None));
        assert_eq!(decoder.feed(b"\x1b"), []);
        assert_eq!(decoder.feed(b"[B"), []);
        assert_eq!((decoder.feed(b"y"), decoder.idle()), (letters("y"), None));
        assert_eq!(decoder.feed(b"\x1b\x1b"), [Key::Escape]);
        assert_eq!(decoder.idle(), Some(Key::Escape));
    }

    proptest! {
        #[test]
        fn how_the_bytes_are_cut_does_not_matter(text in "\\PC{0,20}", cut in 0_usize..80) {
            let bytes = text.as_bytes();
            let cut = cut.min(bytes.len());
            let mut decoder = Decoder::default();
            let mut keys = decoder.feed(&bytes[..cut]);
            keys.extend(decoder.feed(&bytes[cut..]));
            prop_assert_eq!(keys, letters(&text));
        }
    }
}
