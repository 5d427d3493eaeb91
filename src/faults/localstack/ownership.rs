//! Which of the rules in a list are ours, by an undo and what was seen of the server's way with tags,
//! and what became of those of others.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::matching::Relation;
use super::memory::Tags;
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

impl Listed<'_> {
    /// Whether some call matches both.
    fn overlaps(&self, wanted: &Meaning) -> bool {
        self.meaning.matcher.relation_to(&wanted.matcher) != Relation::Apart
    }
}

/// Whose a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owned {
    ByUs,
    /// It does what ours does and has no description, on a server whose way with tags nobody saw.
    PerhapsByUs,
    ByOthers,
}

impl<'a> Division<'a> {
    /// Divides what the server lists.
    ///
    /// Our tag makes a rule ours. A server that drops descriptions lists ours without it: only where it
    /// was seen to do so, a rule without one that does what ours does, and that was not there before,
    /// is ours too. Where nothing tells, such a rule is nobody's to remove, and no proof of absence.
    pub(super) fn new(listed: &'a [Value], undo: &LocalStackUndo, seen: Tags) -> Self {
        let wanted = Wanted::of(undo);
        let all: Vec<Listed<'_>> = listed
            .iter()
            .filter_map(|rule| {
                let meaning = Meaning::read(rule)?;
                Some(Listed { rule, meaning })
            })
            .collect();
        let tags = match (seen, shown(listed.iter().chain(&undo.foreign))) {
            // It dropped ours and keeps another's: nothing is certain there.
            (Tags::Dropped, Tags::Kept) => Tags::Unknown,
            (_, Tags::Kept) => Tags::Kept,
            (seen, Tags::Unknown | Tags::Dropped) => seen,
        };
        let foreign: HashSet<String> = undo.foreign.iter().map(Value::to_string).collect();
        let owned = |entry: &Listed<'_>| {
            if wanted.tags(&entry.meaning) {
                return Owned::ByUs;
            }
            let twin =
                wanted.has_twin(&entry.meaning) && !foreign.contains(&entry.rule.to_string());
            match (twin, tags) {
                (true, Tags::Dropped) => Owned::ByUs,
                (true, Tags::Unknown) => Owned::PerhapsByUs,
                (true, Tags::Kept) | (false, _) => Owned::ByOthers,
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

    pub(super) fn perhaps_ours(&self) -> impl Iterator<Item = &Listed<'a>> {
        self.of(Owned::PerhapsByUs)
    }

    pub(super) fn theirs(&self) -> Vec<&'a Value> {
        self.of(Owned::ByOthers).map(|entry| entry.rule).collect()
    }

    /// How often a rule of ours stands in the list where it does all that was planned: not behind a
    /// rule of others that catches any of its calls.
    pub(super) fn effective_copies(&self, wanted: &Meaning) -> usize {
        let ahead = self.all.iter().take_while(|(owned, entry)| match owned {
            Owned::ByUs => true,
            Owned::ByOthers | Owned::PerhapsByUs => !entry.overlaps(wanted),
        });
        let copies = ahead
            .filter(|(owned, entry)| *owned == Owned::ByUs && entry.meaning.has_effect_of(wanted));
        copies.count()
    }

    /// A rule of another run that catches calls of this rule of ours, and stands before it.
    pub(super) fn ahead_of(&self, wanted: &Meaning) -> Option<&Listed<'a>> {
        let mut before = self.all.iter().take_while(|(owned, entry)| {
            *owned != Owned::ByUs || !entry.meaning.has_effect_of(wanted)
        });
        let of_another_run = before.find(|(owned, entry)| {
            *owned == Owned::ByOthers && entry.meaning.owner().is_some() && entry.overlaps(wanted)
        });
        of_another_run.map(|(_, entry)| entry)
    }
}

/// The rules of an undo, read.
struct Wanted {
    rules: Vec<Meaning>,
}

impl Wanted {
    fn of(undo: &LocalStackUndo) -> Self {
        let rules = undo.rules.iter().filter_map(Meaning::read).collect();
        Self { rules }
    }

    /// Whether it carries our tag, whatever it does.
    fn tags(&self, rule: &Meaning) -> bool {
        rule.description.is_some()
            && self
                .rules
                .iter()
                .any(|ours| ours.description == rule.description)
    }

    /// Whether it does what one of ours does and says nothing of its owner.
    fn has_twin(&self, rule: &Meaning) -> bool {
        rule.description.is_none() && self.rules.iter().any(|ours| ours.is_within(rule))
    }
}

/// What a list alone shows of a server's way with tags: whoever keeps one keeps ours.
pub(super) fn shown<'a>(listed: impl IntoIterator<Item = &'a Value>) -> Tags {
    let mut rules = listed.into_iter().filter_map(Meaning::read);
    match rules.any(|rule| rule.description.is_some()) {
        true => Tags::Kept,
        false => Tags::Unknown,
    }
}

/// What the lists right before and right after our PATCH show of the server's way with tags.
pub(super) fn shown_by_patch(before: &[Value], after: &[Value], undo: &LocalStackUndo) -> Tags {
    let (before, listed): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
    let wanted = Wanted::of(undo);
    let mut new = without(&listed, &before)
        .into_iter()
        .filter_map(Meaning::read);
    match shown(before.into_iter().chain(after)) {
        Tags::Unknown if new.any(|rule| wanted.has_twin(&rule)) => Tags::Dropped,
        shown @ (Tags::Unknown | Tags::Kept | Tags::Dropped) => shown,
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
    // By their text, whose keys are sorted: a server may list more rules than can be compared one by one.
    let mut rest: HashMap<String, usize> = HashMap::new();
    for rule in right {
        *rest.entry(rule.to_string()).or_default() += 1;
    }
    left.iter()
        .copied()
        .filter(|rule| match rest.get_mut(&rule.to_string()) {
            Some(copies) if *copies > 0 => {
                *copies -= 1;
                false
            }
            Some(_) | None => true,
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

    /// The places of our rules in the list, and of those that may be ours.
    fn ours(listed: &[Value], undo: &LocalStackUndo, seen: Tags) -> (Vec<usize>, Vec<usize>) {
        let division = Division::new(listed, undo, seen);
        let place = |entry: &Listed<'_>| {
            let mut all = listed.iter();
            all.position(|rule| std::ptr::eq(rule, entry.rule))
                .expect("a division lends from its list")
        };
        (
            division.ours().map(place).collect(),
            division.perhaps_ours().map(place).collect(),
        )
    }

    #[test]
    fn a_rule_is_ours_by_its_tag_or_where_ours_was_seen_to_lose_it_by_its_effect() {
        use Tags::{Dropped, Kept, Unknown};
        let tagged = json!({"service": "sqs", "description": "chaos:r-1"});
        let altered = json!({"service": "sns", "description": "chaos:r-1"});
        let other_run = json!({"service": "sqs", "description": "chaos:r-2"});
        let bare = json!({"service": "sqs"});
        let foreign = json!({"service": "s3"});
        for (listed, seen, mine, perhaps) in [
            (vec![&tagged], Unknown, vec![0], vec![]),
            (vec![&altered], Unknown, vec![0], vec![]),
            (vec![&other_run], Unknown, vec![], vec![]),
            (vec![&tagged, &bare], Unknown, vec![0], vec![]),
            (vec![&other_run, &bare], Unknown, vec![], vec![]),
            (vec![&bare, &foreign], Dropped, vec![0], vec![]),
            (vec![&bare, &foreign], Kept, vec![], vec![]),
            (vec![&bare, &foreign], Unknown, vec![], vec![0]),
            (vec![&bare, &other_run], Dropped, vec![], vec![0]),
        ] {
            let listed: Vec<Value> = listed.into_iter().cloned().collect();
            let found = ours(&listed, &undo(vec![]), seen);
            assert_eq!(found, (mine, perhaps), "{listed:?} {seen:?}");
        }
        let none = (vec![], vec![]);
        let there_before = undo(vec![bare.clone()]);
        assert_eq!(
            ours(std::slice::from_ref(&bare), &there_before, Dropped),
            none
        );
        let tags_are_kept = undo(vec![json!({"description": "theirs"})]);
        assert_eq!(ours(&[bare], &tags_are_kept, Unknown), none);
    }

    #[test]
    fn only_a_rule_that_came_with_our_patch_shows_that_tags_are_dropped() {
        let tagged = json!({"service": "sqs", "description": "chaos:r-1"});
        let bare = json!({"service": "sqs"});
        let other = json!({"service": "s3"});
        let described = json!({"service": "s3", "description": "theirs"});
        for (before, after, shown) in [
            (vec![], vec![&bare], Tags::Dropped),
            (vec![&bare], vec![&bare, &bare], Tags::Dropped),
            (vec![&bare], vec![&bare], Tags::Unknown),
            (vec![], vec![&other], Tags::Unknown),
            (vec![], vec![&tagged, &bare], Tags::Kept),
            (vec![&described], vec![&bare], Tags::Kept),
        ] {
            let [before, after] =
                [before, after].map(|list| list.into_iter().cloned().collect::<Vec<Value>>());
            let found = shown_by_patch(&before, &after, &undo(vec![]));
            assert_eq!(found, shown, "{before:?} {after:?}");
        }
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
            let division =
                Division::new(&listed, &undo(vec![]), Tags::Unknown).effective_copies(&wanted);
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
