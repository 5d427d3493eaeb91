//! What a task said that panicked.

use std::any::Any;

use tokio::task::JoinError;

/// The words of a panic.
pub fn said(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    said.unwrap_or("it did not say why").to_owned()
}

/// Its own words: the number of the task, which tokio tells too, means nothing to anybody and is
/// another one each time.
pub fn last_words(died: JoinError) -> String {
    match died.try_into_panic() {
        Ok(panic) => said(&*panic),
        Err(_) => "it was cut off".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_words_of_a_panic_are_told_without_the_number_of_its_task() {
        let quiet = |said: fn() -> Box<dyn std::any::Any + Send>| async move {
            let task = tokio::spawn(async move { std::panic::resume_unwind(said()) });
            last_words(task.await.expect_err("it panics"))
        };
        assert_eq!(quiet(|| Box::new("fixed")).await, "fixed");
        assert_eq!(quiet(|| Box::new("made".to_owned())).await, "made");
        assert_eq!(quiet(|| Box::new(7)).await, "it did not say why");
        let cut = tokio::spawn(std::future::pending::<()>());
        cut.abort();
        assert_eq!(
            last_words(cut.await.expect_err("it is cut off")),
            "it was cut off"
        );
    }
}
