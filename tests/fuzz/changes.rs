//! Changes of bytes that know no language but where words, numbers and lines are.

use std::ops::Range;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::input::NUMBERS;

/// Longer than the largest input of any target.
const LONGEST: usize = 4 << 20;

/// What is done to an input; places are shares of its length, so that they fit any.
#[derive(Debug, Clone)]
pub enum Change {
    /// One bit is turned.
    Flip(Index, u8),
    /// Something is put in.
    Insert(Index, &'static str),
    /// Something takes the place of a word.
    Word(Index, &'static str),
    /// Something takes the place of a number.
    Number(Index, &'static str),
    /// A part is lost.
    Cut(Index, usize),
    /// A part stands there several times.
    Repeat(Index, usize, usize),
    /// A part of another input is put in.
    Splice(Index, Index, usize, Index),
    /// A line is lost.
    LoseLine(Index),
    /// A line stands there several times.
    RepeatLine(Index, usize),
    /// Two lines change places.
    SwapLines(Index, Index),
    /// A line is indented otherwise.
    Indent(Index, &'static str),
    /// Brackets around nothing, so many deep.
    Nest(Index, &'static str, &'static str, usize),
    /// Every line end is another.
    LineEnds(&'static str),
    /// Everything behind this is lost.
    End(Index),
    /// A mark that some editors put in front.
    ByteOrderMark,
}

/// What opens something, and what closes it again.
const NESTS: &[(&str, &str)] = &[
    ("[", "]"),
    ("{a: ", "}"),
    ("{\"a\":", "}"),
    ("(", ")"),
    ("{", "}"),
    ("&a [", "]"),
    ("- ", ""),
    ("? ", ""),
    ("\"", "\""),
    ("*", "*"),
    ("${A:-", "}"),
    ("a,", ""),
    ("token:", ""),
    ("://u@", ""),
    ("<<: *a\n", ""),
];

/// No more of it than any input may be long: one change after the other would fill the memory.
fn repeated(part: &[u8], times: usize) -> Vec<u8> {
    let most = LONGEST / part.len().max(1);
    part.repeat(times.min(most))
}

impl Change {
    /// Any change, with pieces of a language.
    pub fn any(pieces: Vec<&'static str>) -> impl Strategy<Value = Self> {
        let piece = select(pieces);
        let at = any::<Index>;
        // Seldom very much of something: it takes as long as all other cases together.
        let times = || prop_oneof![20 => 2_usize..9, 4 => 9_usize..300, 1 => 300_usize..12_000];
        prop_oneof![
            4 => (at(), 0..8_u8).prop_map(|(at, bit)| Self::Flip(at, bit)),
            8 => (at(), piece.clone()).prop_map(|(at, piece)| Self::Insert(at, piece)),
            8 => (at(), piece).prop_map(|(at, piece)| Self::Word(at, piece)),
            8 => (at(), select(NUMBERS)).prop_map(|(at, number)| Self::Number(at, number)),
            3 => (at(), 1..200_usize).prop_map(|(at, length)| Self::Cut(at, length)),
            2 => (at(), 1..60_usize, times())
                .prop_map(|(at, length, times)| Self::Repeat(at, length, times)),
            3 => (at(), at(), 1..400_usize, at())
                .prop_map(|(other, from, length, to)| Self::Splice(other, from, length, to)),
            2 => at().prop_map(Self::LoseLine),
            2 => (at(), times()).prop_map(|(at, times)| Self::RepeatLine(at, times)),
            2 => (at(), at()).prop_map(|(one, other)| Self::SwapLines(one, other)),
            2 => (at(), select(&["\t", " ", "    ", "\u{a0}"][..]))
                .prop_map(|(at, by)| Self::Indent(at, by)),
            2 => (at(), select(NESTS), times())
                .prop_map(|(at, (open, close), deep)| Self::Nest(at, open, close, deep)),
            1 => select(&["\r\n", "\r", "\u{85}", "\u{2028}", "\0"][..]).prop_map(Self::LineEnds),
            2 => at().prop_map(Self::End),
            1 => Just(Self::ByteOrderMark),
        ]
    }

    fn apply(&self, input: &mut Vec<u8>, others: &[Vec<u8>]) {
        let place = |at: &Index, length: usize| at.index(length + 1);
        match self {
            Self::Flip(at, bit) if !input.is_empty() => {
                let at = at.index(input.len());
                input[at] ^= 1 << bit;
            }
            Self::Flip(..) => {}
            Self::Insert(at, piece) => put(input, place(at, input.len()), piece.as_bytes()),
            Self::Word(at, piece) => {
                replace(input, at, |byte| byte.is_ascii_alphanumeric(), piece);
            }
            Self::Number(at, number) => replace(input, at, |byte| byte.is_ascii_digit(), number),
            Self::Cut(at, length) => {
                let at = place(at, input.len());
                input.drain(at..(at + length).min(input.len()));
            }
            Self::Repeat(at, length, times) => {
                let at = place(at, input.len());
                let part = input[at..(at + length).min(input.len())].to_vec();
                put(input, at, &repeated(&part, *times));
            }
            Self::Splice(other, from, length, to) => {
                let other = other.get(others);
                let from = place(from, other.len());
                let part = &other[from..(from + length).min(other.len())];
                put(input, place(to, input.len()), part);
            }
            Self::LoseLine(at) => drop(input.drain(line(input, at))),
            Self::RepeatLine(at, times) => {
                let line = line(input, at);
                let part = repeated(&input[line.clone()], *times);
                put(input, line.end, &part);
            }
            Self::SwapLines(one, other) => {
                let (one, other) = (line(input, one), line(input, other));
                let (first, second) = if one.start <= other.start {
                    (one, other)
                } else {
                    (other, one)
                };
                if first.end <= second.start {
                    let (low, high) = (
                        input[first.clone()].to_vec(),
                        input[second.clone()].to_vec(),
                    );
                    input.splice(second, low);
                    input.splice(first, high);
                }
            }
            Self::Indent(at, by) => put(input, line(input, at).start, by.as_bytes()),
            Self::Nest(at, open, close, deep) => {
                let part = open.repeat(*deep) + &close.repeat(*deep);
                put(input, place(at, input.len()), part.as_bytes());
            }
            Self::LineEnds(end) => {
                let lines: Vec<_> = input.split(|byte| *byte == b'\n').collect();
                *input = lines.join(end.as_bytes());
            }
            Self::End(at) => input.truncate(place(at, input.len())),
            Self::ByteOrderMark => put(input, 0, "\u{feff}".as_bytes()),
        }
    }
}

/// An input with all of this done to it.
pub fn applied(seed: &[u8], changes: &[Change], others: &[Vec<u8>]) -> Vec<u8> {
    let mut input = seed.to_vec();
    for change in changes {
        change.apply(&mut input, others);
    }
    input
}

fn put(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}

/// Puts something in the place of one of the runs of such bytes, if there is any.
fn replace(input: &mut Vec<u8>, at: &Index, belongs: impl Fn(&u8) -> bool, piece: &str) {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for place in (0..input.len()).filter(|place| belongs(&input[*place])) {
        match runs.last_mut().filter(|run| run.end == place) {
            Some(run) => run.end += 1,
            None => runs.push(place..place + 1),
        }
    }
    if !runs.is_empty() {
        input.splice(at.get(&runs).clone(), piece.bytes());
    }
}

/// The line that a place is in, with its end.
fn line(input: &[u8], at: &Index) -> Range<usize> {
    let at = at.index(input.len() + 1);
    let ends = |part: &[u8]| part.iter().position(|byte| *byte == b'\n');
    let start = input[..at].iter().rposition(|byte| *byte == b'\n');
    let start = start.map_or(0, |newline| newline + 1);
    let end = ends(&input[at..]).map_or(input.len(), |newline| at + newline + 1);
    start..end
}
