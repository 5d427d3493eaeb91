//! What a platform would refuse, or quietly misread, found before anything is asked of it, and
//! underlined in the document.

use super::load::Loaded;
use super::problems::DocumentError;
use super::source::Source;
use crate::faults::{self, Fault};

/// Checks the faults of every step by the rules of their platforms.
///
/// # Errors
/// Every finding at its place.
pub fn lint(source: &Source, loaded: &Loaded) -> Result<(), DocumentError> {
    let mut findings = Vec::new();
    for (index, step) in loaded.experiment.steps.iter().enumerate() {
        let found = match &step.fault {
            Fault::LocalStack(fault) => faults::lint(fault),
            Fault::ChaosMesh(_) | Fault::Simulated(_) => Vec::new(),
        };
        findings.extend(found.into_iter().map(|finding| {
            let place = format!("steps[{index}].fault.localstack.{}", finding.path);
            (place.trim_end_matches('.').to_owned(), finding.problem)
        }));
    }
    if findings.is_empty() {
        return Ok(());
    }
    Err(DocumentError::at_places(source, &loaded.spans, findings))
}
