//! A look into a file of allowed signers (`ALLOWED SIGNERS` in ssh-keygen(1)): which keys in it may
//! sign an approval at all. Who signed what is found out elsewhere.

use crate::model::approval::SIGNATURE_NAMESPACE;
use crate::model::pattern::Pattern;

/// What a key is called in front of its letters.
const KINDS: &[&str] = &["ssh-", "ecdsa-", "sk-"];

/// The kinds of the keys that may sign an approval, in order.
pub(super) fn kinds_of_keys(text: &str) -> Vec<String> {
    text.lines().filter_map(kind_of_key).collect()
}

fn kind_of_key(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with('#') {
        return None;
    }
    let words = words(line);
    let is_kind = |word: &String| KINDS.iter().any(|kind| word.starts_with(kind));
    // Principals, then options where there are some, then the key.
    let at = words.iter().skip(1).position(is_kind)? + 1;
    let options = words[1..at].join(",");
    may_sign(&options).then(|| words[at].clone())
}

/// A key without `namespaces` may sign for every one.
fn may_sign(options: &str) -> bool {
    let small = options.to_ascii_lowercase();
    let Some(start) = small.find("namespaces=\"") else {
        return true;
    };
    let list = &options[start + "namespaces=\"".len()..];
    let list = list.split('"').next().unwrap_or_default();
    list.split(',').any(|pattern| {
        let pattern = pattern.trim().parse::<Pattern>();
        pattern.is_ok_and(|pattern| pattern.matches(SIGNATURE_NAMESPACE))
    })
}

/// The words of a line; a blank between quotes ends none.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        quoted ^= letter == '"';
        match words.last_mut() {
            Some(word) if quoted || !letter.is_whitespace() => word.push(letter),
            Some(word) if !word.is_empty() => words.push(String::new()),
            Some(_) | None => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::kinds_of_keys;

    #[test]
    fn a_key_counts_unless_it_is_kept_for_something_else() {
        for (line, kinds) in [
            ("alice ssh-ed25519 AAAA comment", &["ssh-ed25519"][..]),
            ("# alice ssh-ed25519 AAAA", &[]),
            ("", &[]),
            ("alice", &[]),
            (
                "alice namespaces=\"chaos-approval@v1\" ssh-rsa AAAA",
                &["ssh-rsa"],
            ),
            (
                "alice namespaces=\"git, chaos-*\" ssh-rsa AAAA",
                &["ssh-rsa"],
            ),
            ("alice namespaces=\"git\" ssh-rsa AAAA", &[]),
            (
                "\"a b\",c cert-authority,namespaces=\"git\" sk-ssh-ed25519@openssh.com AAAA",
                &[],
            ),
            (
                "*@example.com sk-ssh-ed25519@openssh.com AAAA",
                &["sk-ssh-ed25519@openssh.com"],
            ),
        ] {
            assert_eq!(kinds_of_keys(line), kinds, "{line}");
        }
    }
}
