//! Which calls a rule matches, and what two rules have in common. The first rule that matches wins;
//! whether one that loses its dice roll lets the next one try is not documented, so nothing of ours
//! is built on rules that overlap.

use std::fmt;

use crate::model::localstack::FaultRule;

/// The calls that a rule matches; `None` matches every one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Matcher {
    pub(super) region: Option<String>,
    pub(super) service: Option<String>,
    pub(super) operation: Option<String>,
}

/// What an earlier rule does to a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// No call matches both.
    Apart,
    /// Both match the very same calls.
    Same,
    /// The earlier one matches every call that the later one matches, and more.
    Shadows,
    /// Some calls match both.
    Overlaps,
}

impl From<&FaultRule> for Matcher {
    fn from(rule: &FaultRule) -> Self {
        Self {
            region: rule.region.clone(),
            service: rule.service.clone(),
            operation: rule.operation.clone(),
        }
    }
}

impl Matcher {
    fn fields(&self) -> [Option<&str>; 3] {
        [&self.region, &self.service, &self.operation].map(|field| field.as_deref())
    }

    /// What this rule does to one that stands later in the list.
    pub(super) fn relation_to(&self, later: &Self) -> Relation {
        let pairs = self.fields().into_iter().zip(later.fields());
        let mut relation = Relation::Same;
        for (mine, theirs) in pairs {
            relation = match (mine, theirs) {
                (None, None) => relation,
                // How the server treats case is not documented: equal but for case may be equal.
                (Some(a), Some(b)) if a.eq_ignore_ascii_case(b) => relation,
                (Some(_), Some(_)) => return Relation::Apart,
                (None, Some(_)) => relation.and_broader(),
                (Some(_), None) => Relation::Overlaps,
            };
        }
        relation
    }
}

impl Relation {
    fn and_broader(self) -> Self {
        match self {
            Self::Same | Self::Shadows => Self::Shadows,
            Self::Apart | Self::Overlaps => self,
        }
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [region, service, operation] = self.fields();
        match (service, operation) {
            (Some(service), Some(operation)) => write!(formatter, "{service}:{operation}")?,
            (Some(service), None) => write!(formatter, "every {service} operation")?,
            (None, Some(operation)) => write!(formatter, "{operation} of every service")?,
            (None, None) => formatter.write_str("every AWS call")?,
        }
        match region {
            Some(region) => write!(formatter, " in {region}"),
            None => formatter.write_str(" in every region"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(text: &str) -> Matcher {
        let mut fields = text
            .split(' ')
            .map(|field| (field != "-").then(|| field.to_owned()));
        Matcher {
            region: fields.next().flatten(),
            service: fields.next().flatten(),
            operation: fields.next().flatten(),
        }
    }

    #[test]
    fn relations_of_an_earlier_rule_to_a_later_one() {
        for (earlier, later, relation) in [
            ("eu-1 sqs Send", "eu-1 sqs Send", Relation::Same),
            ("eu-1 SQS Send", "eu-1 sqs send", Relation::Same),
            ("- - -", "- - -", Relation::Same),
            ("- - -", "eu-1 sqs Send", Relation::Shadows),
            ("eu-1 sqs -", "eu-1 sqs Send", Relation::Shadows),
            ("eu-1 sqs Send", "eu-1 sqs -", Relation::Overlaps),
            ("eu-1 - Send", "- sqs Send", Relation::Overlaps),
            ("- sqs -", "eu-1 - Send", Relation::Overlaps),
            ("eu-1 sqs Send", "eu-2 sqs Send", Relation::Apart),
            ("eu-1 - -", "eu-2 sqs Send", Relation::Apart),
            ("- sqs Send", "- sns Send", Relation::Apart),
            ("- sqs Send", "- sqs Receive", Relation::Apart),
        ] {
            let found = matcher(earlier).relation_to(&matcher(later));
            assert_eq!(found, relation, "{earlier} before {later}");
        }
    }

    #[test]
    fn matchers_read_as_words() {
        for (text, words) in [
            ("eu-1 sqs Send", "sqs:Send in eu-1"),
            ("- sqs -", "every sqs operation in every region"),
            ("- - Send", "Send of every service in every region"),
            ("- - -", "every AWS call in every region"),
        ] {
            assert_eq!(matcher(text).to_string(), words);
        }
    }
}
