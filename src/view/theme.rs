//! Words, glyphs and colours, in one place. A colour never says anything that a word or a mark does
//! not say too.

use console::Style;

use crate::model::outcome::Outcome;
use crate::model::phase::Phase;
use crate::model::sample::SloState;

/// Whether escape codes for colours may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// They may.
    On,
    /// They may not.
    Off,
}

/// The letters that a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    /// All of Unicode.
    Unicode,
    /// Only ASCII is safe.
    Ascii,
}

/// Our own marks beyond ASCII with their stand-ins; one column each, so that widths stay the same.
const STAND_INS: &[(char, char)] = &[
    ('·', '|'),
    ('…', '~'),
    ('–', '-'),
    ('→', '>'),
    ('━', '#'),
    ('─', '-'),
    ('╌', '?'),
    ('▁', '_'),
    ('▂', '.'),
    ('▃', ':'),
    ('▄', '='),
    ('▅', '+'),
    ('▆', 'x'),
    ('▇', '%'),
    ('█', '#'),
];

impl Glyphs {
    /// The text with our own marks as this terminal can show them.
    pub fn adapt(self, text: String) -> String {
        let stand_in = |letter: char| {
            let found = STAND_INS.iter().find(|(mark, _)| *mark == letter);
            found.map_or(letter, |(_, stand_in)| *stand_in)
        };
        match self {
            Self::Unicode => text,
            Self::Ascii => text.chars().map(stand_in).collect(),
        }
    }
}

/// How a piece of text is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    Plain,
    /// Read this first.
    Strong,
    /// Only for those who look for it.
    Quiet,
    /// As hoped.
    Good,
    /// Look here.
    Caution,
    /// Not as hoped.
    Bad,
}

impl Tone {
    /// The text in this tone's colour, if colours are on.
    pub fn paint(self, text: &str, colour: Colour) -> String {
        if colour == Colour::Off || text.is_empty() {
            return text.to_owned();
        }
        let style = match self {
            Self::Plain => return text.to_owned(),
            Self::Strong => Style::new().bold(),
            Self::Quiet => Style::new().dim(),
            Self::Good => Style::new().green(),
            Self::Caution => Style::new().yellow(),
            Self::Bad => Style::new().red().bold(),
        };
        style.force_styling(true).apply_to(text).to_string()
    }
}

/// The tone of an outcome.
pub fn outcome_tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Held => Tone::Good,
        Outcome::Deviated | Outcome::Stuck => Tone::Bad,
        Outcome::Refused | Outcome::Aborted | Outcome::Inconclusive => Tone::Caution,
    }
}

/// The tone of an SLO's state; `None`: not read yet.
pub fn state_tone(state: Option<SloState>) -> Tone {
    match state {
        None => Tone::Quiet,
        Some(SloState::Ok) => Tone::Good,
        Some(SloState::Breaching) => Tone::Bad,
        Some(SloState::NoData | SloState::SourceDown) => Tone::Caution,
    }
}

/// The mark before an SLO's name.
pub fn state_mark(state: Option<SloState>) -> &'static str {
    match state {
        None | Some(SloState::Ok) => " ",
        Some(SloState::Breaching) => "!",
        Some(SloState::NoData | SloState::SourceDown) => "?",
    }
}

/// The state in words.
pub fn state_word(state: Option<SloState>) -> &'static str {
    state.map_or("not read yet", SloState::word)
}

/// The tone of a phase.
pub fn phase_tone(phase: Phase) -> Tone {
    match phase {
        Phase::Injecting | Phase::Confirming | Phase::Observing => Tone::Caution,
        Phase::Stuck => Tone::Bad,
        Phase::Preflight
        | Phase::Baseline
        | Phase::Between
        | Phase::AwaitingGo
        | Phase::Preparing
        | Phase::Undoing
        | Phase::Verifying
        | Phase::Recovering
        | Phase::Settled => Tone::Strong,
    }
}
