//! Words for messages: lists of what is known, and the known word that somebody probably meant.

/// Longer texts are not compared with the known words: nobody meant them.
const LONGEST_TYPO: usize = 64;

/// Words for a sentence: `` `a`, `b`, `c` ``.
pub(crate) fn listed(words: &[&str]) -> String {
    words
        .iter()
        .map(|word| format!("`{word}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The known word that somebody probably meant.
pub(crate) fn nearest<'w>(text: &str, known: &[&'w str]) -> Option<&'w str> {
    if text.len() > LONGEST_TYPO {
        return None;
    }
    let bare = |word: &str| word.replace(['_', '-', ' '], "").to_lowercase();
    let wanted = bare(text);
    known
        .iter()
        .map(|word| (strsim::damerau_levenshtein(&wanted, &bare(word)), *word))
        .filter(|(distance, word)| *distance <= (word.len().min(wanted.len()) / 3).min(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// The next move for an unknown word.
pub(crate) fn suggestion(text: &str, known: &[&str], intro: &str) -> String {
    match nearest(text, known) {
        Some(word) => format!("did you mean `{word}`? {intro} {}", listed(known)),
        None => format!("{intro} {}", listed(known)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_another_word_finds_none() {
        let known = ["onBreach", "onNoData", "for", "query", "maxInFlight"];
        for (slip, word) in [
            ("onbreach", Some("onBreach")),
            ("on_no_data", Some("onNoData")),
            ("max-in-flight", Some("maxInFlight")),
            ("qurey", Some("query")),
            ("fro", Some("for")),
            ("threshold", None),
            ("", None),
        ] {
            assert_eq!(nearest(slip, &known), word, "{slip}");
        }
    }
}
