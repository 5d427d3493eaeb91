//! What is weak about what is taken for production.

use super::Advice;
use crate::model::pattern::Pattern;
use crate::plan::tree::key_path;
use crate::policy::document::Policy;
use crate::policy::rules::production_mark;

pub(super) fn production(policy: &Policy) -> Vec<Advice> {
    let production = &policy.production;
    if production.words.is_empty() && production.patterns.is_empty() {
        return vec![Advice::new(
            "production",
            "nothing is taken for production, whatever it is called",
            "take `words` away, which brings the usual ones back",
        )];
    }
    let environments = policy.environments.keys();
    let shut = environments.filter_map(|name| {
        let mark = production_mark(name, production)?;
        let named = production.named.iter().any(|named| named.matches(name));
        (!named).then(|| {
            Advice::new(
                key_path("environments", name),
                format!("its name smells of production (`{mark}`): every plan in it is denied"),
                format!("give it another name, or write `production: {{named: [\"{name}\"]}}`"),
            )
        })
    });
    shut.chain(production.named.iter().filter_map(everything))
        .collect()
}

/// Names that nobody has thought of are production's too.
fn everything(named: &Pattern) -> Option<Advice> {
    let letters = named.as_str().chars();
    let only_stars = letters.clone().all(|letter| letter == '*') && letters.count() > 0;
    only_stars.then(|| {
        Advice::new(
            "production.named",
            format!(
                "`{named}` names everything: whatever smells of production is only asked about"
            ),
            "name what is meant, one by one",
        )
    })
}
