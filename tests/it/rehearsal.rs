//! What SLOs read before the run and would have done over the past.

mod past;

use chaos_gameday::model::slo::{Reaction, Slo};
use chaos_gameday::model::units::Span;

fn span(text: &str) -> Span {
    text.parse().expect("a duration")
}

/// A gate `errors` with the objective `< 1`, read every second, blind after 30 s.
fn gate(patience: &str) -> Slo {
    Slo {
        name: "errors".to_owned(),
        reads: "script".to_owned(),
        objective: "< 1".parse().expect("an objective"),
        patience: span(patience),
        blind_patience: span("30s"),
        on_breach: Reaction::Rollback,
        on_no_data: Reaction::Rollback,
        every: span("1s"),
    }
}
