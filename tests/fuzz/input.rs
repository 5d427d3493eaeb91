//! Makes inputs: bytes, texts, words in any order, and real input with something done to it.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::changes::{self, Change};
use super::structure::{self, Remake};

/// What a target's inputs are made of.
#[derive(Debug, Clone)]
pub struct Corpus {
    /// Real input.
    pub seeds: Vec<Vec<u8>>,
    /// Words and signs of its language.
    pub words: &'static [&'static str],
    /// Inputs are cut there.
    pub largest: usize,
    /// What stands between parts that are each a document of its own; empty: nothing does.
    pub between: &'static [u8],
}

/// Signs that mean something in more than one language, and letters that are seldom what they seem.
const SIGNS: &[&str] = &[
    "",
    " ",
    "\n",
    "\r\n",
    "\t",
    "\0",
    ":",
    ": ",
    "- ",
    ",",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "'",
    "\\",
    "/",
    "#",
    "%",
    "&a ",
    "*a",
    "<<: ",
    "!x ",
    "${",
    "}",
    "$${",
    "|",
    ">",
    "=",
    "~",
    "null",
    "true",
    "-",
    "+",
    ".",
    "\u{feff}",
    "\u{85}",
    "\u{2028}",
    "\u{202e}",
    "ü",
    "漢",
    "🦀",
    "e\u{301}",
    "\u{1b}[2J",
    "\u{7f}",
    "\u{ffff}",
    "---\n",
    "...\n",
];

/// Numbers at the edges of what holds them.
pub const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "0.1",
    "00",
    "1e308",
    "1e309",
    "-1e999",
    "5e-324",
    "1e-400",
    "NaN",
    "Infinity",
    "127",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "0x10",
    "1_000",
    "1.5",
    "١",
    "99999999999999999999999999999999999999999999999999999999999999999999999999999999",
];

/// Any input.
pub fn inputs(corpus: Corpus) -> impl Strategy<Value = Vec<u8>> {
    let Corpus {
        seeds,
        words,
        largest,
        between,
    } = corpus;
    assert!(!seeds.is_empty(), "there is something to change");
    let structures: Vec<_> = seeds
        .iter()
        .filter_map(|seed| structure::of(seed, between))
        .collect();
    let seeds = Arc::new(seeds);
    let structures = Arc::new(structures);
    let pieces: Vec<&'static str> = words.iter().chain(SIGNS).chain(NUMBERS).copied().collect();
    let soup = vec(select(pieces.clone()), 0..40).prop_map(|pieces| pieces.concat().into_bytes());
    let bytes = vec(any::<u8>(), 0..400);
    let text = "\\PC{0,120}".prop_map(String::into_bytes);
    let changed = (any::<Index>(), vec(Change::any(pieces.clone()), 1..7)).prop_map({
        let seeds = Arc::clone(&seeds);
        move |(seed, all)| {
            let seed: &Vec<u8> = seed.get(&seeds);
            changes::applied(seed, &all, &seeds)
        }
    });
    let remade = (any::<Index>(), vec(Remake::any(pieces), 1..7)).prop_map(move |(seed, all)| {
        match structures.as_slice() {
            [] => seed.get::<Vec<u8>>(&seeds).clone(),
            some => structure::remade(seed.get(some), &all, between),
        }
    });
    let any = prop_oneof![
        1 => bytes,
        1 => text,
        2 => soup,
        8 => changed,
        6 => remade,
    ];
    any.prop_map(move |mut input| {
        input.truncate(largest);
        input
    })
}
