//! Where a query went wrong. The parser tells what, at best, and never where; so it is asked again
//! about beginnings of the query until the first one is found that nothing could make good.

use std::ops::Range;

use promql_parser::parser::{self, token::T_STRING};

use super::reading::{Token, tokens};

/// Longer queries are not searched: the search parses the query some hundred times.
const LONGEST_SEARCHED: usize = 4 * 1024;

/// How many tokens to either side the borders of a part without meaning are looked for.
const MOST_STEPS: usize = 64;

/// What the parser says of a text that is no sentence of the language, and nothing else.
const UNGRAMMATICAL: &str = "invalid promql query";

/// What can follow the beginning of a query at the deepest open bracket, and what can follow once
/// that is closed: enough to complete every beginning of every query.
const NEXT: &[&str] = &[
    "", "x", "(x)", "(x) (x)", "(x) x", "(1) x", "x=\"\"", "=\"\"", "\"\"", "5m", "1", "()",
];
const AFTER_CLOSING: &[&str] = &["", "(x)", "x"];

/// What is wrong with a query, and where.
pub(super) struct Fault {
    pub(super) words: String,
    pub(super) range: Option<Range<usize>>,
}

/// Finds the place of what the parser complains of.
pub(super) fn of(query: &str, complaint: &str) -> Fault {
    let range = match tokens(query) {
        Err(_) => of_letters(query, complaint),
        Ok(_) if query.len() > LONGEST_SEARCHED => None,
        Ok(tokens) if complaint == UNGRAMMATICAL => return of_grammar(query, &tokens),
        Ok(tokens) => of_meaning(query, &tokens, complaint),
    };
    Fault {
        words: complaint.to_owned(),
        range,
    }
}

/// The lexer stopped: at a bracket or a string that nothing ends, or at a sign that cannot be.
fn of_letters(query: &str, complaint: &str) -> Option<Range<usize>> {
    if [
        "unclosed",
        "unterminated",
        "unexpected end",
        "not terminated",
    ]
    .iter()
    .any(|word| complaint.contains(word))
    {
        let open = Open::after(query);
        let start = open.string.or(open.brackets.last().map(|(at, _)| *at))?;
        return Some(start..start + 1);
    }
    let borders: Vec<_> = query.char_indices().map(|(at, _)| at).collect();
    let stops = |at: &usize| matches!(tokens(&query[..*at]), Err(words) if words == complaint);
    let beyond = borders.partition_point(|at| !stops(at));
    let start = *borders.get(beyond.checked_sub(1)?)?;
    Some(start..borders.get(beyond).copied().unwrap_or(query.len()))
}

/// The first token with which no query can go on; the end where the query could go on.
fn of_grammar(query: &str, tokens: &[Token]) -> Fault {
    let good = |token: &Token| {
        let beginning = &query[..token.range.end];
        any_completion(beginning, |complaint| complaint != Some(UNGRAMMATICAL))
    };
    match tokens.get(tokens.partition_point(good)) {
        Some(token) => Fault {
            words: format!("`{}` cannot stand here", &query[token.range.clone()]),
            range: Some(token.range.clone()),
        },
        None => {
            let end = query.trim_end().len();
            Fault {
                words: "it ends before it is complete".to_owned(),
                range: Some(end..end),
            }
        }
    }
}

/// The shortest part that gives the same complaint.
fn of_meaning(query: &str, tokens: &[Token], complaint: &str) -> Option<Range<usize>> {
    let same = |text: &str| any_completion(text, |words| words == Some(complaint));
    let count = tokens.partition_point(|token| !same(&query[..token.range.end]));
    let last = tokens.get(count)?;
    if last.kind == T_STRING {
        return Some(last.range.clone());
    }
    let mut starts = tokens[..=count].iter().rev().take(MOST_STEPS);
    let first = starts.find(|token| same(&query[token.range.start..last.range.end]));
    let start = first.unwrap_or(last).range.start;
    // So far it may be half an expression; it is shown whole.
    let mut ends = tokens[count..].iter().take(MOST_STEPS);
    let whole = |token: &&Token| {
        let part = &query[start..token.range.end];
        parser::parse(part).is_err_and(|words| words == complaint)
    };
    Some(start..ends.find(whole).unwrap_or(last).range.end)
}

/// Whether a completion of this beginning of a query gets such a complaint (`None`: it is read).
fn any_completion(beginning: &str, is_such: impl Fn(Option<&str>) -> bool) -> bool {
    let open = Open::after(beginning);
    let mut closing = open.brackets.iter().rev().map(|(_, close)| *close);
    let nearest = closing.next();
    let others: String = closing.collect();
    let after: &[&str] = match nearest {
        Some(_) => AFTER_CLOSING,
        None => &[""],
    };
    NEXT.iter().any(|next| {
        after.iter().any(|after| {
            let nearest = nearest.map(String::from).unwrap_or_default();
            let whole = format!("{beginning} {next}{nearest} {after}{others}");
            is_such(parser::parse(&whole).err().as_deref()) && parser::lexer(&whole).is_ok()
        })
    })
}

/// What is still open at the end of a text.
#[derive(Default)]
struct Open {
    /// Where each bracket stands, and what closes it; the innermost last.
    brackets: Vec<(usize, char)>,
    /// Where the string begins that has no end.
    string: Option<usize>,
}

impl Open {
    fn after(text: &str) -> Self {
        let mut open = Self::default();
        let mut letters = text.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '(' => open.brackets.push((at, ')')),
                '{' => open.brackets.push((at, '}')),
                '[' => open.brackets.push((at, ']')),
                ')' | '}' | ']' => {
                    open.brackets.pop();
                }
                '#' => {
                    letters.find(|(_, letter)| matches!(letter, '\n' | '\r'));
                }
                '"' | '\'' | '`' => {
                    if !string_ends(&mut letters, letter) {
                        open.string = Some(at);
                    }
                }
                _ => {}
            }
        }
        open
    }
}

/// Goes on to the quote that ends the string; whether there is one.
fn string_ends(letters: &mut std::str::CharIndices<'_>, quote: char) -> bool {
    while let Some((_, letter)) = letters.next() {
        if letter == quote {
            return true;
        }
        if letter == '\\' {
            letters.next();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::metrics::promql::parse;

    /// The message, and the query with the place marked.
    fn complaint(query: &str) -> String {
        let unreadable = parse(query).expect_err(query);
        let message = unreadable.problem.message;
        match unreadable.range {
            Some(range) => {
                let (before, rest) = query.split_at(range.start);
                let (place, after) = rest.split_at(range.len());
                format!("{before}⟦{place}⟧{after}: {message}")
            }
            None => format!("{query}: {message}"),
        }
    }

    #[test]
    fn what_is_no_promql_is_marked_where_it_goes_wrong() {
        let queries = [
            "sum(rate(x[1m])",
            "sum(rate(x[1m])))",
            "x{code=\"5..}",
            "x{code=5}",
            "x{code}",
            "x{code=~\"(\"}",
            "1 + ",
            "1 + + )",
            "rate(x[5 minutes])",
            "rate(x[5m)",
            "rate(x)",
            "sum(rate(x)) / 2",
            "sum by code (x)",
            "sum(x) by (code",
            "x > 1 y",
            "1 > 2",
            "nosuch(x)",
            "1 + nosuch(x) + nosuch(y)",
            "clamp_min(x)",
            "x and 1",
            "{}",
            "é",
            "x ! y",
            "x[1e30]",
            "x offset -inf",
            "\n  ",
            "histogram_quantile(x, 0.9)",
            "x{a=\"b\",,c=\"d\"}",
            "x =~ \"y\"",
            "'unended",
            "(x # }",
        ];
        insta::assert_snapshot!(queries.map(complaint).join("\n"));
    }
}
