//! Where a query went wrong. The parser tells what, at best, and never where; so it is asked again
//! about beginnings of the query until the first one is found that nothing could make good.

use std::ops::Range;

use promql_parser::parser::{
    self,
    token::{T_EQL_REGEX, T_NEQ_REGEX, T_STRING},
};

use super::letters::{Mark, marks};
use super::reading::{Token, tokens};

/// What the parser says of a pattern that is none, or one that is too large.
const ILLEGAL_PATTERN: &str = "illegal regex";

/// What it says of a selector that finds everything, which a pattern can make of it.
const EVERYTHING: &str = "must contain at least one non-empty matcher";

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
        Ok(tokens) if complaint.starts_with(ILLEGAL_PATTERN) => {
            of_pattern(query, &tokens, complaint)
        }
        Ok(tokens) if complaint.contains(EVERYTHING) => of_meaning(query, &tokens, complaint),
        Ok(tokens) => {
            let query = &without_patterns(query, &tokens);
            if complaint == UNGRAMMATICAL {
                return of_grammar(query, &tokens);
            }
            of_meaning(query, &tokens, complaint)
        }
    };
    Fault {
        words: complaint.to_owned(),
        range,
    }
}

/// The lexer stopped: at a bracket that nothing closes, or at a sign that cannot be.
fn of_letters(query: &str, complaint: &str) -> Option<Range<usize>> {
    let incomplete = ["unclosed", "unexpected end"];
    if incomplete.iter().any(|word| complaint.contains(word)) {
        let (start, _) = *open_brackets(query).last()?;
        return Some(start..start + 1);
    }
    let borders: Vec<_> = query.char_indices().map(|(at, _)| at).collect();
    let stops = |at: &usize| matches!(tokens(&query[..*at]), Err(words) if words == complaint);
    let beyond = borders.partition_point(|at| !stops(at));
    let start = *borders.get(beyond.checked_sub(1)?)?;
    Some(start..borders.get(beyond).copied().unwrap_or(query.len()))
}

/// The first pattern that by itself gives the same complaint. Each is asked about once: the parser
/// compiles every pattern that it reads, and a large one takes a tenth of a second.
fn of_pattern(query: &str, tokens: &[Token], complaint: &str) -> Option<Range<usize>> {
    let pairs = tokens.windows(2);
    let mut patterns = pairs
        .filter(|pair| is_match_operator(&pair[0]))
        .map(|pair| pair[1].range.clone());
    patterns.find(|pattern| {
        let alone = format!("x{{x=~{}}}", &query[pattern.clone()]);
        parser::parse(&alone).is_err_and(|words| words == complaint)
    })
}

/// The query with texts in place of its patterns, letter for letter, so that no pattern is compiled
/// again and again: what is wrong with it stays where it is.
fn without_patterns(query: &str, tokens: &[Token]) -> String {
    let mut plain = query.to_owned();
    for token in tokens.iter().filter(|token| is_match_operator(token)) {
        let sign = match token.kind == T_EQL_REGEX {
            true => "= ",
            false => "!=",
        };
        if token.range.len() == sign.len() {
            plain.replace_range(token.range.clone(), sign);
        }
    }
    plain
}

fn is_match_operator(token: &Token) -> bool {
    matches!(token.kind, T_EQL_REGEX | T_NEQ_REGEX)
}

/// The first token with which no query can go on; the end where the query could go on.
fn of_grammar(query: &str, tokens: &[Token]) -> Fault {
    let good = |token: &Token| verdicts(&query[..token.range.end]).next().is_some();
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
    // Whatever follows: a completion may well have the same fault by itself.
    let same = |text: &str| {
        let mut verdicts = verdicts(text).peekable();
        verdicts.peek().is_some() && verdicts.all(|words| words.as_deref() == Some(complaint))
    };
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

/// What the parser says of each sentence that this beginning of a query can be completed to; `None`:
/// nothing.
fn verdicts(beginning: &str) -> impl Iterator<Item = Option<String>> {
    let open = open_brackets(beginning);
    let mut closing = open.iter().rev().map(|(_, close)| *close);
    let nearest = closing.next().map(String::from);
    let others: String = closing.collect();
    let after: &[&str] = match nearest {
        Some(_) => AFTER_CLOSING,
        None => &[""],
    };
    let nearest = nearest.unwrap_or_default();
    let pairs = NEXT
        .iter()
        .flat_map(move |next| after.iter().map(move |after| (next, after)));
    pairs.filter_map(move |(next, after)| {
        let whole = format!("{beginning} {next}{nearest} {after}{others}");
        let complaint = parser::parse(&whole).err();
        let is_sentence = complaint.as_deref() != Some(UNGRAMMATICAL)
            && (complaint.is_none() || parser::lexer(&whole).is_ok());
        is_sentence.then_some(complaint)
    })
}

/// The brackets that are open at the end of a text, with what closes them; the innermost last.
fn open_brackets(text: &str) -> Vec<(usize, char)> {
    let mut open = Vec::new();
    for (at, mark) in marks(text) {
        match mark {
            Mark::Opening(close) => open.push((at, close)),
            Mark::Closing => {
                open.pop();
            }
            Mark::Text { .. } | Mark::Unended => {}
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::promql::parse;

    /// The query with the place marked, and the message.
    fn complaint(query: &str) -> (String, String) {
        let unreadable = parse(query).expect_err(query);
        let message = unreadable.problem.message;
        let marked = match unreadable.range {
            Some(range) => {
                let (before, rest) = query.split_at(range.start);
                let (place, after) = rest.split_at(range.len());
                format!("{before}⟦{place}⟧{after}")
            }
            None => query.to_owned(),
        };
        let bare = message.strip_prefix("this is no PromQL: ");
        (marked, bare.unwrap_or(&message).to_owned())
    }

    /// The place of each, between `⟦` and `⟧`, and what is said.
    const COMPLAINTS: &[(&str, &str)] = &[
        ("sum⟦(⟧rate(x[1m])", "unclosed left parenthesis"),
        ("sum(rate(x[1m]))⟦)⟧", "unexpected right parenthesis ')'"),
        ("x{code=⟦\"⟧5..}", "the string that begins here has no end"),
        ("x{code=⟦5⟧}", "unexpected character inside braces: '5'"),
        (
            "x⟦{code}⟧",
            "invalid label matcher, expected label matching operator after 'code'",
        ),
        ("x{code=~⟦\"(\"⟧}", "illegal regex for ("),
        ("1 +⟦⟧ ", "it ends before it is complete"),
        ("1 + + ⟦)⟧", "unexpected right parenthesis ')'"),
        (
            "rate(x[5 ⟦m⟧inutes])",
            "unexpected character inside brackets: 'm'",
        ),
        ("rate(x[5m⟦)⟧", "unexpected character inside brackets: ')'"),
        (
            "⟦rate(x)⟧",
            "expected type matrix in call to function 'rate', got vector",
        ),
        (
            "sum(⟦rate(x)⟧) / 2",
            "expected type matrix in call to function 'rate', got vector",
        ),
        ("sum by ⟦code⟧ (x)", "`code` cannot stand here"),
        ("sum(x) by ⟦(⟧code", "unclosed left parenthesis"),
        ("x > 1 ⟦y⟧", "`y` cannot stand here"),
        (
            "⟦1 > 2⟧",
            "comparisons between scalars must use BOOL modifier",
        ),
        ("⟦nosuch(x)⟧", "unknown function with name 'nosuch'"),
        (
            "1 + ⟦nosuch(x)⟧ + nosuch(y)",
            "unknown function with name 'nosuch'",
        ),
        (
            "⟦clamp_min(x)⟧",
            "expected 2 argument(s) in call to 'clamp_min', got 1",
        ),
        (
            "⟦x and 1⟧",
            "set operator 'and' not allowed in binary scalar expression",
        ),
        (
            "⟦{}⟧",
            "vector selector must contain at least one non-empty matcher",
        ),
        ("⟦é⟧", "unexpected character: 'é'"),
        ("x !⟦ ⟧y", "unexpected character after '!': ' '"),
        ("x[⟦1e30⟧]", "`1e30` is no length of time"),
        ("x offset -⟦inf⟧", "`inf` is no length of time"),
        (
            "⟦histogram_quantile(x, 0.9)⟧",
            "expected type scalar in call to function 'histogram_quantile', got vector",
        ),
        ("x{a=\"b\",⟦,⟧c=\"d\"}", "`,` cannot stand here"),
        ("x =⟦~⟧ \"y\"", "unexpected character after '=': '~'"),
        ("⟦'⟧unended", "the string that begins here has no end"),
        ("⟦(⟧x # }", "unclosed left parenthesis"),
        ("", "the query is empty"),
        ("x{a=~⟦`\\d(`⟧}", "illegal regex for \\d("),
    ];

    #[test]
    fn what_is_no_promql_is_marked_where_it_goes_wrong() {
        for (marked, message) in COMPLAINTS {
            let query = marked.replace(['⟦', '⟧'], "");
            let expected = ((*marked).to_owned(), (*message).to_owned());
            assert_eq!(complaint(&query), expected);
        }
    }

    #[test]
    fn a_fault_is_not_looked_for_in_its_like() {
        let sound = "sum(rate(x[5m])) + abs(x{a=~\"b\"}) - ".repeat(5);
        for fault in ["rate(x)", "abs(1)", "nosuch(x)", "x{a=~\"(\"}"] {
            let whole = format!("{sound}{fault} + x");
            let place = parse(&whole).expect_err(fault).range.expect(fault);
            assert!(place.start >= sound.len(), "{fault} at {place:?}");
            assert!(
                place.end <= sound.len() + fault.len(),
                "{fault} at {place:?}"
            );
        }
    }

    #[test]
    fn patterns_are_compiled_once_or_twice_and_not_in_the_search() {
        // Each takes the parser a tenth of a second, and the search asks it some hundred times.
        let large = "x{a=~\"((a{30}){30}){60}\"}";
        for (fault, place) in [
            ("x{a!~\"(\"}", "\"(\""),
            ("rate(x)", "rate(x)"),
            ("x by", "by"),
        ] {
            let query = format!("{large} + {large} + {large} + {fault}");
            let begun = tokio::time::Instant::now();
            let range = parse(&query).expect_err(fault).range.expect(fault);
            assert_eq!(&query[range], place, "{fault}");
            let took = begun.elapsed();
            assert!(took < std::time::Duration::from_secs(10), "{took:?}");
        }
    }

    /// Every rule of the grammar that can be left half done.
    const SENTENCES: &[&str] = &[
        "sum by (a, b) (rate(x{c=~\"d\", e!=\"f\",}[5m] offset -1h)) / on (a) group_left (g) y",
        "avg(x) without (a,) >= bool ignoring () -z ^ 2 and (a unless b or c)",
        "topk(3, x @ 1.5) + max_over_time(y[1h:5m] @ end()) + z[1h:] offset 5m",
        "label_replace(x, \"a\", 'b', `c`, \"d\") * on () group_right () {__name__=\"y\"}",
        "x + fill (1) y - fill_left (-1) fill_right (+2) z",
        "{\"a.b\", \"c.d\"=\"e\"} atan2 time() == 1 != +3",
        "histogram_quantile(scalar(x @ start()), sum by (le) (y{a=\"b\" or c=\"d\"}))",
    ];

    #[test]
    fn no_beginning_of_a_sentence_is_taken_for_a_mistake() {
        for sentence in SENTENCES {
            let tokens = tokens(sentence).expect(sentence);
            for token in &tokens {
                let beginning = &sentence[..token.range.end];
                assert_ne!(verdicts(beginning).next(), None, "{beginning}");
            }
        }
    }
}
