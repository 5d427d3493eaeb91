//! Which of the rules in a list are ours, by an undo alone, and what became of those of others.

use serde_json::Value;

use super::matching::Relation;
use super::sameness::Meaning;
use crate::model::undo::LocalStackUndo;

/// A listed rule and what it means.
pub(super) struct Listed<'a> {
    pub(super) rule: &'a Value,
    pub(super) meaning: Meaning,
}

/// A list of rules, divided by owner, in list order.
pub(super) struct Division<'a> {
    all: Vec<(Owned, Listed<'a>)>,
}

/// Whose a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owned {
    ByUs,
    ByOthers,
}

impl<'a> Division<'a> {
    /// Divides what the server lists.
    ///
    /// Our tag makes a rule ours. A server that drops descriptions lists ours without it: on such a
    /// server (nothing in the list has a description) a rule without one that does what ours does,
    /// and that was not there before, is ours too, or it would stay in place for ever.
    pub(super) fn new(listed: &'a [Value], undo: &LocalStackUndo) -> Self {
        let wanted: Vec<Meaning> = undo.rules.iter().filter_map(Meaning::read).collect();
        let tag = wanted.iter().find_map(|rule| rule.description.clone());
        let all: Vec<Listed<'_>> = listed
            .iter()
            .filter_map(|rule| {
                let meaning = Meaning::read(rule)?;
                Some(Listed { rule, meaning })
            })
            .collect();
        let keeps_tags = all.iter().any(|entry| entry.meaning.description.is_some());
        let owned = |entry: &Listed<'_>| {
            let tagged = tag.is_some() && entry.meaning.description == tag;
            let untagged_twin = !keeps_tags
                && wanted.iter().any(|rule| rule.has_effect_of(&entry.meaning))
                && !undo.foreign.contains(entry.rule);
            match tagged || untagged_twin {
                true => Owned::ByUs,
                false => Owned::ByOthers,
            }
        };
        Self {
            all: all
                .into_iter()
                .map(|entry| (owned(&entry), entry))
                .collect(),
        }
    }

    fn of(&self, owner: Owned) -> impl Iterator<Item = &Listed<'a>> {
        self.all
            .iter()
            .filter(move |(owned, _)| *owned == owner)
            .map(|(_, entry)| entry)
    }

    pub(super) fn ours(&self) -> impl Iterator<Item = &Listed<'a>> {
        self.of(Owned::ByUs)
    }

    pub(super) fn theirs(&self) -> Vec<&'a Value> {
        self.of(Owned::ByOthers).map(|entry| entry.rule).collect()
    }

    /// How often a rule of ours stands in the list where it can match: not behind a rule of others
    /// that catches all its calls.
    pub(super) fn effective_copies(&self, wanted: &Meaning) -> usize {
        let mut copies = 0;
        for (owned, entry) in &self.all {
            match owned {
                Owned::ByUs if entry.meaning.has_effect_of(wanted) => copies += 1,
                Owned::ByUs => {}
                Owned::ByOthers => {
                    let relation = entry.meaning.matcher.relation_to(&wanted.matcher);
                    if matches!(relation, Relation::Same | Relation::Shadows) {
                        break;
                    }
                }
            }
        }
        copies
    }
}

/// What others changed between two looks at their rules, one line each.
pub(super) fn foreign_changes(before: &[Value], now: &[&Value]) -> Vec<String> {
    let before: Vec<&Value> = before.iter().collect();
    let gone = without(&before, now);
    let new = without(now, &before);
    let mut changes: Vec<String> = gone
        .iter()
        .map(|rule| format!("a rule of others is gone: {rule}"))
        .chain(
            new.iter()
                .map(|rule| format!("a rule of others is new: {rule}")),
        )
        .collect();
    if changes.is_empty() && before != now {
        changes.push("the rules of others stand in another order".to_owned());
    }
    changes
}

/// What of `left` is not in `right`, counted with repetitions.
fn without<'a>(left: &[&'a Value], right: &[&'a Value]) -> Vec<&'a Value> {
    let mut rest = right.to_vec();
    left.iter()
        .copied()
        .filter(|rule| match rest.iter().position(|other| other == rule) {
            Some(place) => {
                rest.swap_remove(place);
                false
            }
            None => true,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn undo(foreign: Vec<Value>) -> LocalStackUndo {
        LocalStackUndo {
            endpoint: "http://h".to_owned(),
            session: None,
            rules: vec![json!({"service": "sqs", "probability": 1.0, "description": "chaos:r-1"})],
            foreign,
            latency: None,
        }
    }

    fn ours(listed: &[Value], undo: &LocalStackUndo) -> Vec<Value> {
        let division = Division::new(listed, undo);
        division.ours().map(|entry| entry.rule.clone()).collect()
    }

    #[test]
    fn a_rule_is_ours_by_its_tag_or_where_tags_are_dropped_by_its_effect() {
        let tagged = json!({"service": "sqs", "description": "chaos:r-1"});
        let altered = json!({"service": "sns", "description": "chaos:r-1"});
        let other_run = json!({"service": "sqs", "description": "chaos:r-2"});
        let bare = json!({"service": "sqs"});
        let foreign = json!({"service": "s3"});
        for (listed, mine) in [
            (vec![tagged.clone()], vec![tagged.clone()]),
            (vec![altered.clone()], vec![altered]),
            (vec![other_run.clone()], vec![]),
            (vec![bare.clone(), foreign.clone()], vec![bare.clone()]),
            (vec![tagged.clone(), bare.clone()], vec![tagged]),
            (vec![other_run, bare.clone()], vec![]),
        ] {
            assert_eq!(ours(&listed, &undo(vec![])), mine, "{listed:?}");
        }
        assert_eq!(
            ours(std::slice::from_ref(&bare), &undo(vec![bare.clone()])),
            Vec::<Value>::new()
        );
    }

    #[test]
    fn a_rule_behind_a_broader_one_of_others_has_no_effect() {
        let mine = json!({"service": "sqs", "description": "chaos:r-1"});
        let broad = json!({"description": "everything"});
        let wanted = Meaning::read(&mine).expect("it is an object");
        for (listed, copies) in [
            (vec![mine.clone()], 1),
            (vec![mine.clone(), broad.clone()], 1),
            (vec![mine.clone(), mine.clone()], 2),
            (vec![broad, mine], 0),
            (vec![], 0),
        ] {
            let division = Division::new(&listed, &undo(vec![])).effective_copies(&wanted);
            assert_eq!(division, copies, "{listed:?}");
        }
    }

    #[test]
    fn changes_of_others_are_named() {
        let (a, b) = (json!({"service": "a"}), json!({"service": "b"}));
        for (now, changes) in [
            (vec![&a, &b], vec![]),
            (
                vec![&b, &a],
                vec!["the rules of others stand in another order"],
            ),
            (
                vec![&a],
                vec![r#"a rule of others is gone: {"service":"b"}"#],
            ),
            (
                vec![&a, &b, &b],
                vec![r#"a rule of others is new: {"service":"b"}"#],
            ),
        ] {
            assert_eq!(foreign_changes(&[a.clone(), b.clone()], &now), changes);
        }
    }
}
