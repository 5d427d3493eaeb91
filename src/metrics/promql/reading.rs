//! From the text of a query to its syntax tree, within limits that keep the tree shallow enough for
//! every function that walks it.

use std::ops::Range;

use lrpar::{Lexeme, Lexer};
use promql_parser::parser::token::{
    T_ADD, T_COLON, T_EOF, T_LEFT_BRACE, T_LEFT_BRACKET, T_LEFT_PAREN, T_NUMBER, T_OFFSET,
    T_RIGHT_BRACE, T_RIGHT_BRACKET, T_RIGHT_PAREN, T_SUB, TokenId, TokenType,
};
use promql_parser::parser::{self, Expr};
use promql_parser::util::parse_str_radix;

use super::functions::{FUNCTIONS, Function};
use super::letters::{Mark, Respelled, marks};
use super::place;
use crate::model::problem::{Problem, ProblemKind};

/// The longest query, in bytes.
const LONGEST: usize = 16 * 1024;
/// How deep brackets may stand in each other.
const DEEPEST: usize = 64;
/// How many operators a query may have: each can be one more level of the tree.
const MOST_OPERATORS: usize = 200;
/// The longest range or offset that is written as a bare number of seconds: more than a thousand
/// years, and far from what overflows.
const LONGEST_SECONDS: f64 = 1e11;

/// Why a query cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// What is wrong.
    pub problem: Problem,
    /// The bytes of the query that are at fault; empty and at the end where something is missing.
    /// Always on the borders of characters. `None`: the query as a whole.
    pub range: Option<Range<usize>>,
}

/// A word or sign of the query.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenId,
    pub(super) range: Range<usize>,
}

/// Reads a query: any PromQL that the parser knows, which is more than can be answered here.
///
/// # Errors
/// It is no PromQL, or it is beyond what anybody writes: longer than 16 KiB, brackets more than 64
/// deep, more than 200 operators.
pub fn parse(query: &str) -> Result<Expr, Unreadable> {
    if query.trim().is_empty() {
        return Err(invalid("the query is empty".to_owned(), None)
            .hint("write the PromQL expression that is to be read"));
    }
    if query.len() > LONGEST {
        let message = format!(
            "the query is {} bytes long, more than {LONGEST}",
            query.len()
        );
        return Err(invalid(message, None).hint(SHORTER));
    }
    let mut marks = marks(query).into_iter();
    if let Some((at, _)) = marks.find(|(_, mark)| *mark == Mark::Unended) {
        let message = format!("{NO_PROMQL}: the string that begins here has no end");
        return Err(invalid(message, Some(at..at + 1)));
    }
    let respelled = Respelled::new(query);
    read(&respelled.text).map_err(|unreadable| Unreadable {
        range: unreadable.range.map(|range| respelled.written(range)),
        ..unreadable
    })
}

fn read(query: &str) -> Result<Expr, Unreadable> {
    within_limits(query, &tokens(query).unwrap_or_default())?;
    parser::parse(query).map_err(|words| {
        let found = place::of(query, &words);
        let unreadable = invalid(format!("{NO_PROMQL}: {}", found.words), found.range);
        match way_out(&found.words) {
            Some(hint) => unreadable.hint(&hint),
            None => unreadable,
        }
    })
}

/// What to do about the commonest mistakes, by the parser's words.
fn way_out(words: &str) -> Option<String> {
    if words.contains("expected type matrix") {
        return Some("say how far to look back, in brackets after the selector: `[1m]`".to_owned());
    }
    let (_, name) = words.split_once("unknown function with name '")?;
    let (name, _) = name.split_once('\'')?;
    let near = |function: &Function| strsim::damerau_levenshtein(name, function.name);
    let nearest = FUNCTIONS.iter().min_by_key(|function| near(function))?;
    (near(nearest) <= 2).then(|| format!("did you mean `{}`?", nearest.name))
}

const NO_PROMQL: &str = "this is no PromQL";
const SHORTER: &str =
    "let Prometheus work it out in a recording rule, and read the series that this gives";

/// The words and signs of a query; the lexer's complaint where it has one.
pub(super) fn tokens(query: &str) -> Result<Vec<Token>, String> {
    let lexer = parser::lexer(query)?;
    let lexemes = lexer.iter().flatten();
    let tokens = lexemes.map(|lexeme| Token {
        kind: lexeme.tok_id(),
        range: lexeme.span().start()..lexeme.span().end(),
    });
    Ok(tokens.filter(|token| token.kind != T_EOF).collect())
}

/// Looks at the tokens before the parser does: its tree is walked by functions that call
/// themselves, and a length of time that no `Duration` can hold would end the program.
fn within_limits(query: &str, tokens: &[Token]) -> Result<(), Unreadable> {
    let mut depth = 0_usize;
    let mut operators = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            T_LEFT_PAREN | T_LEFT_BRACE | T_LEFT_BRACKET => depth += 1,
            T_RIGHT_PAREN | T_RIGHT_BRACE | T_RIGHT_BRACKET => depth = depth.saturating_sub(1),
            kind if TokenType::new(kind).is_operator() => operators += 1,
            _ => {}
        }
        let place = Some(token.range.clone());
        if depth > DEEPEST {
            let message = format!("brackets stand in each other more than {DEEPEST} deep");
            return Err(invalid(message, place).hint(SHORTER));
        }
        if operators > MOST_OPERATORS {
            let message = format!("the query has more than {MOST_OPERATORS} operators");
            return Err(invalid(message, place).hint(SHORTER));
        }
        if token.kind == T_NUMBER && is_time(&tokens[..index]) {
            let text = &query[token.range.clone()];
            let seconds = parse_str_radix(text).unwrap_or_default();
            if !(0.0..=LONGEST_SECONDS).contains(&seconds) {
                let message = format!("`{text}` is no length of time");
                return Err(invalid(message, place).hint("write it with its unit, such as `5m`"));
            }
        }
    }
    Ok(())
}

/// Whether a number after these tokens is a length of time.
fn is_time(before: &[Token]) -> bool {
    let signs = before.iter().rev();
    let mut kinds = signs.map(|token| token.kind);
    match kinds.next() {
        Some(T_LEFT_BRACKET | T_COLON | T_OFFSET) => true,
        Some(T_ADD | T_SUB) => kinds.next() == Some(T_OFFSET),
        _ => false,
    }
}

fn invalid(message: String, range: Option<Range<usize>>) -> Unreadable {
    Unreadable {
        problem: Problem::new(ProblemKind::Invalid, message),
        range,
    }
}

impl Unreadable {
    fn hint(self, hint: &str) -> Self {
        Self {
            problem: self.problem.hint(hint),
            ..self
        }
    }
}
