//! The bottom of the live view: the keys, and what is open there: a question, a note that is being
//! typed, the list of the keys. Pure: keys go in, wishes come out.
//!
//! A slip must not abort: `a` asks first, and letters that come faster than fingers are (a paste) do
//! nothing but fill a note.

use super::keys::Key;
use super::terminal::Standing;

/// Keys that follow each other faster than this, in milliseconds, were not pressed one by one.
const BURST_MS: u64 = 30;

/// A longer note is cut, in letters.
const LONGEST_NOTE: usize = 2_000;

/// What a person wants from the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// That it ends.
    Abort,
    /// That this is written down.
    Note(String),
    /// That this very moment is marked as the one in which the alert fired.
    Mark,
    /// To be asked before the next step, or no longer, or, asked already, that it goes on.
    Pause,
}

/// Whether keys are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keyboard {
    /// They are not.
    #[default]
    Absent,
    /// They are.
    Live,
}

/// How the run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// With a block at the bottom that is redrawn.
    #[default]
    Bars,
    /// In plain lines.
    Lines,
}

/// What is open at the bottom.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Open {
    /// Nothing: the keys are named there.
    #[default]
    Nothing,
    /// What each key does.
    Help,
    /// Whether to abort.
    Abort,
    /// Whether to abort, or to go on in the other form.
    Leave,
    /// A note, as far as it is typed.
    Note(String),
}

/// The bottom of the live view.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Panel {
    keyboard: Keyboard,
    form: Form,
    open: Open,
    latest_ms: Option<u64>,
}

impl Panel {
    /// A panel whose keys are read.
    pub fn live() -> Self {
        Self {
            keyboard: Keyboard::Live,
            ..Self::default()
        }
    }

    /// The panel once it is known whether the keys are ours; `None`: as it is.
    pub fn seen_from(&self, standing: Standing) -> Option<Self> {
        let keyboard = match standing {
            Standing::Foreground => Keyboard::Live,
            Standing::Background => Keyboard::Absent,
        };
        (keyboard != self.keyboard).then(|| Self {
            keyboard,
            ..self.clone()
        })
    }

    /// Whether keys are read.
    pub fn keyboard(&self) -> Keyboard {
        self.keyboard
    }

    /// How the run is to be shown.
    pub fn form(&self) -> Form {
        self.form
    }

    /// What is open.
    pub fn open(&self) -> &Open {
        &self.open
    }

    /// Keys that arrived together, at this time of the run; returns what they mean.
    pub fn press(&mut self, keys: &[Key], at_ms: u64) -> Vec<Wish> {
        let mut wishes = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            let since = self.latest_ms.map(|latest| at_ms.saturating_sub(latest));
            let is_burst = place > 0 || since.is_some_and(|since| since < BURST_MS);
            self.latest_ms = Some(at_ms);
            let is_last = place + 1 == keys.len();
            wishes.extend(match std::mem::take(&mut self.open) {
                Open::Note(text) => self.type_note(text, *key, is_last),
                open if is_burst => {
                    self.open = open;
                    None
                }
                Open::Help if *key == Key::Letter('?') => None,
                Open::Nothing | Open::Help => self.command(*key),
                Open::Abort => self.confirm(*key),
                Open::Leave => self.leave(*key),
            });
        }
        wishes
    }

    fn command(&mut self, key: Key) -> Option<Wish> {
        match key {
            Key::Letter('a') => self.open = Open::Abort,
            Key::Letter('n') => self.open = Open::Note(String::new()),
            Key::Letter('m') => return Some(Wish::Mark),
            Key::Letter('p') => return Some(Wish::Pause),
            Key::Letter('q') => self.open = Open::Leave,
            Key::Letter('?') => self.open = Open::Help,
            Key::Letter(_)
            | Key::Enter
            | Key::Backspace
            | Key::WholeLine
            | Key::Word
            | Key::Escape => {}
        }
        None
    }

    /// The key that asked is no answer: one that is held down comes again and again.
    fn confirm(&mut self, key: Key) -> Option<Wish> {
        match key {
            Key::Letter('y' | 'Y') => return Some(Wish::Abort),
            Key::Letter('a') => self.open = Open::Abort,
            Key::Letter(_)
            | Key::Enter
            | Key::Backspace
            | Key::WholeLine
            | Key::Word
            | Key::Escape => {}
        }
        None
    }

    fn leave(&mut self, key: Key) -> Option<Wish> {
        match (key, self.form) {
            (Key::Letter('a'), _) => return Some(Wish::Abort),
            (Key::Letter('l'), Form::Bars) => self.form = Form::Lines,
            (Key::Letter('b'), Form::Lines) => self.form = Form::Bars,
            (_, _) => {}
        }
        None
    }

    /// A line end in the middle of what was pasted is a blank: it must not send half a note and take
    /// the rest for commands.
    fn type_note(&mut self, mut text: String, key: Key, is_last: bool) -> Option<Wish> {
        match key {
            Key::Escape => return None,
            Key::Enter if is_last => {
                let text = text.trim();
                return (!text.is_empty()).then(|| Wish::Note(text.to_owned()));
            }
            Key::Enter => add(&mut text, ' '),
            Key::Letter(letter) => add(&mut text, letter),
            Key::Backspace => {
                text.pop();
            }
            Key::WholeLine => text.clear(),
            Key::Word => {
                let kept = text.trim_end().rfind(' ').map_or(0, |blank| blank + 1);
                text.truncate(kept);
            }
        }
        self.open = Open::Note(text);
        None
    }
}

fn add(text: &mut String, letter: char) {
    if text.chars().count() < LONGEST_NOTE {
        text.push(letter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Key> {
        let key = |letter| match letter {
            '\n' => Key::Enter,
            '\u{1b}' => Key::Escape,
            '\u{7f}' => Key::Backspace,
            '\u{15}' => Key::WholeLine,
            '\u{17}' => Key::Word,
            letter => Key::Letter(letter),
        };
        text.chars().map(key).collect()
    }

    /// Pressed one by one, at a person's pace.
    fn pressed(panel: &mut Panel, text: &str) -> Vec<Wish> {
        let one = |key: Key| {
            let at_ms = panel.latest_ms.map_or(0, |latest| latest + 80);
            panel.press(&[key], at_ms)
        };
        keys(text).into_iter().flat_map(one).collect()
    }

    fn wishes(text: &str) -> Vec<Wish> {
        pressed(&mut Panel::live(), text)
    }

    fn note(text: &str) -> Wish {
        Wish::Note(text.to_owned())
    }

    #[test]
    fn keys_mean_what_the_help_says() {
        for (text, meant) in [
            ("m", vec![Wish::Mark]),
            ("p", vec![Wish::Pause]),
            ("ay", vec![Wish::Abort]),
            ("aaaa", vec![]),
            ("aay", vec![Wish::Abort]),
            ("an", vec![]),
            ("a\u{1b}", vec![]),
            ("a\n", vec![]),
            ("axy", vec![]),
            ("qa", vec![Wish::Abort]),
            ("q\u{1b}a", vec![]),
            ("?m", vec![Wish::Mark]),
            ("??m", vec![Wish::Mark]),
            ("zZ \n", vec![]),
            ("nam?q\n", vec![note("am?q")]),
            ("n\n", vec![]),
            ("n  \n", vec![]),
            ("nmm\u{1b}m", vec![Wish::Mark]),
            ("nab\u{7f}\u{7f}\u{7f}漢字\u{7f}\n", vec![note("漢")]),
            ("none two\u{17}three\n", vec![note("one three")]),
            ("none\u{15}two\n", vec![note("two")]),
        ] {
            assert_eq!(wishes(text), meant, "{text:?}");
        }
    }

    #[test]
    fn a_paste_is_no_command() {
        let mut panel = Panel::live();
        assert_eq!(panel.press(&keys("ayayayam"), 0), []);
        assert_eq!(panel.open(), &Open::Abort, "its first letter asks");
        assert_eq!(
            panel.press(&keys("y"), 10),
            [],
            "what comes at once is the paste"
        );
        assert_eq!(panel.press(&keys("y"), 10 + BURST_MS), [Wish::Abort]);
    }

    #[test]
    fn a_paste_into_a_note_stays_one_note() {
        let mut panel = Panel::live();
        assert_eq!(pressed(&mut panel, "n"), []);
        assert_eq!(panel.press(&keys("all\naway\ny"), 1_000), []);
        assert_eq!(panel.press(&keys("\n"), 1_001), [note("all away y")]);
        assert_eq!(
            panel.press(&keys("a"), 1_002),
            [],
            "and its end is no command"
        );
    }

    #[test]
    fn a_note_ends_somewhere() {
        let mut panel = Panel::live();
        pressed(&mut panel, "n");
        panel.press(&keys(&"x".repeat(3 * LONGEST_NOTE)), 1_000);
        let [Wish::Note(text)] = &panel.press(&keys("\n"), 2_000)[..] else {
            panic!("a note");
        };
        assert_eq!(text.len(), LONGEST_NOTE);
    }

    #[test]
    fn leaving_the_bars_leads_to_lines_and_back() {
        let mut panel = Panel::live();
        assert_eq!(pressed(&mut panel, "qbql"), []);
        assert_eq!((panel.form(), panel.open()), (Form::Lines, &Open::Nothing));
        assert_eq!(pressed(&mut panel, "qlqb"), []);
        assert_eq!(panel.form(), Form::Bars);
    }
}
