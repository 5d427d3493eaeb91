//! Questions to a person at a terminal. Without one nothing is read: no terminal means no.
//!
//! These calls block. Ctrl-C answers no: while a question is open it must not end the process, which
//! would leave the terminal without its cursor.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{Confirm, Input, Select};

use crate::model::problem::{Problem, ProblemKind};

use super::printer::Printer;
use super::sanitise::sanitise;
use super::setup::Stream;
use super::theme::Colour;

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Yes,
    /// No, or nothing.
    No,
}

/// Asks for a yes that cannot slip out of a finger: only typing `expected` counts.
///
/// # Errors
/// There is no person at a terminal, or the terminal failed.
pub fn ask_typed_name(printer: &Printer, expected: &str, prompt: &str) -> Result<Answer, Problem> {
    need_person(printer, prompt)?;
    printer.insist(&sanitise(prompt));
    let shown = format!(
        "Type `{}` to agree, anything else to refuse",
        sanitise(expected)
    );
    let typed = Input::<String>::with_theme(&*theme(printer))
        .with_prompt(shown)
        .allow_empty(true)
        .interact_text();
    Ok(answered(typed)?.map_or(Answer::No, |typed| typed_name(expected, &typed)))
}

/// Whether what was typed is the name that was asked for.
pub fn typed_name(expected: &str, typed: &str) -> Answer {
    if !expected.is_empty() && typed.trim() == expected {
        Answer::Yes
    } else {
        Answer::No
    }
}

/// Asks yes or no; `default` is what Enter means. Without a person: no.
///
/// # Errors
/// The terminal failed.
pub fn confirm(printer: &Printer, prompt: &str, default: Answer) -> Result<Answer, Problem> {
    if !printer.has_person() {
        return Ok(Answer::No);
    }
    survive_interrupts()?;
    let said = Confirm::with_theme(&*theme(printer))
        .with_prompt(sanitise(prompt))
        .default(default == Answer::Yes)
        .interact_opt();
    let said = answered(said)?.flatten();
    Ok(if said == Some(true) {
        Answer::Yes
    } else {
        Answer::No
    })
}

/// Asks for a line of text; Enter takes the default. `None`: cancelled.
///
/// # Errors
/// There is no person at a terminal, or the terminal failed.
pub fn input_with_default(
    printer: &Printer,
    prompt: &str,
    default: &str,
) -> Result<Option<String>, Problem> {
    need_person(printer, prompt)?;
    let typed = Input::<String>::with_theme(&*theme(printer))
        .with_prompt(sanitise(prompt))
        .default(default.to_owned())
        .interact_text();
    answered(typed)
}

/// Asks for one of these; the first one is offered. `None`: cancelled.
///
/// # Errors
/// There is no person at a terminal, nothing to choose from, or the terminal failed.
pub fn select(
    printer: &Printer,
    prompt: &str,
    choices: &[String],
) -> Result<Option<usize>, Problem> {
    need_person(printer, prompt)?;
    if choices.is_empty() {
        let message = format!("{}: there is nothing to choose from", sanitise(prompt));
        return Err(Problem::new(ProblemKind::Absent, message));
    }
    let chosen = Select::with_theme(&*theme(printer))
        .with_prompt(sanitise(prompt))
        .items(choices.iter().map(|choice| sanitise(choice)))
        .default(0)
        .interact_opt();
    Ok(answered(chosen)?.flatten())
}

fn need_person(printer: &Printer, prompt: &str) -> Result<(), Problem> {
    if printer.has_person() {
        return survive_interrupts();
    }
    Err(Problem::new(
        ProblemKind::Refused,
        format!("nobody can be asked here: {}", sanitise(prompt)),
    )
    .hint("a question needs a terminal on standard input and standard error, and no CI"))
}

/// The terminal raises SIGINT on Ctrl-C besides telling us; a handler that does nothing lets the
/// question be answered instead. It stays: whoever asks has nothing long to do afterwards, and a run
/// listens to signals itself.
fn survive_interrupts() -> Result<(), Problem> {
    let nobody_looks = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, nobody_looks)
        .map(|_| ())
        .map_err(|why| {
            Problem::new(
                ProblemKind::Unexpected,
                format!("SIGINT cannot be handled here: {why}"),
            )
        })
}

fn theme(printer: &Printer) -> Box<dyn Theme> {
    match printer.setup().colour(Stream::Stderr) {
        Colour::On => Box::new(ColorfulTheme::default()),
        Colour::Off => Box::new(SimpleTheme),
    }
}

/// Ctrl-C and the end of the input are no answer; the cursor that a menu hid is given back.
fn answered<T>(said: dialoguer::Result<T>) -> Result<Option<T>, Problem> {
    let why = match said {
        Ok(said) => return Ok(Some(said)),
        Err(dialoguer::Error::IO(why)) => why,
    };
    // It was hidden, if at all, on this terminal; one that is gone needs no cursor.
    let terminal = console::Term::stderr();
    let _ = terminal.show_cursor();
    let is_no_answer = matches!(
        why.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::UnexpectedEof
    );
    if is_no_answer {
        // The question still stands on the line; what follows begins below it.
        let _ = terminal.write_line("");
        return Ok(None);
    }
    Err(Problem::new(
        ProblemKind::Unreachable,
        format!("the terminal failed: {why}"),
    ))
}
