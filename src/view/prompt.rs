//! Questions to a person at a terminal. Without one nothing is read: no terminal means no.
//!
//! These calls block. Ctrl-C answers no: while a question is open it must not end the process, which
//! would leave the terminal without its cursor. At a question for a yes so do Ctrl-D and Escape.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use console::Key;
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{Input, Select};

use crate::model::problem::{Problem, ProblemKind};

use super::printer::Printer;
use super::sanitise::sanitise;
use super::setup::Stream;
use super::text::columns;
use super::theme::{Colour, Tone};

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
        "Type `{}` to agree, anything else to refuse:",
        sanitise(expected)
    );
    let shown = Tone::Strong.paint(&shown, printer.setup().colour(Stream::Stderr));
    printer.draw(&format!("{shown} "));
    let typed = read_line(printer);
    printer.draw("\r\n");
    let typed = answered(typed.map_err(dialoguer::Error::IO))?.flatten();
    Ok(typed.map_or(Answer::No, |typed| typed_name(expected, &typed)))
}

/// Columns that the marks around a prompt and its default take, with room for an answer.
const DECORATION: usize = 12;
/// What Ctrl-D sends.
const END_OF_INPUT: char = '\u{4}';
/// One letter back, blank, and back again.
const TAKE_BACK: &str = "\u{8} \u{8}";

/// A line, key by key; `None`: Ctrl-C, Ctrl-D or Escape. dialoguer's own input ignores
/// the one and, at the other, lets the process die before it can say what became of the question.
fn read_line(printer: &Printer) -> io::Result<Option<String>> {
    let terminal = console::Term::stderr();
    let mut typed = String::new();
    loop {
        let key = terminal.read_key_raw()?;
        if key == Key::Enter {
            return Ok(Some(typed));
        }
        if matches!(key, Key::CtrlC | Key::Escape | Key::Char(END_OF_INPUT)) {
            return Ok(None);
        }
        if key == Key::Backspace && typed.pop().is_some() {
            printer.draw(TAKE_BACK);
        }
        if let Key::Char(letter) = key
            && !letter.is_control()
        {
            typed.push(letter);
            printer.draw(letter.encode_utf8(&mut [0; 4]));
        }
    }
}

/// Asks for a line of text. `None`: nothing was typed, or Ctrl-C, Ctrl-D or Escape.
///
/// # Errors
/// There is no person at a terminal, or the terminal failed.
pub fn ask_line(printer: &Printer, prompt: &str) -> Result<Option<String>, Problem> {
    need_person(printer, prompt)?;
    let shown = format!("{}:", sanitise(prompt));
    let shown = Tone::Strong.paint(&shown, printer.setup().colour(Stream::Stderr));
    printer.draw(&format!("{shown} "));
    let typed = read_line(printer);
    printer.draw("\r\n");
    let typed = answered(typed.map_err(dialoguer::Error::IO))?.flatten();
    let typed = typed.map(|typed| typed.trim().to_owned());
    Ok(typed.filter(|typed| !typed.is_empty()))
}

/// Whether what was typed is the name that was asked for.
pub fn typed_name(expected: &str, typed: &str) -> Answer {
    if !expected.is_empty() && typed.trim() == expected {
        Answer::Yes
    } else {
        Answer::No
    }
}

/// Asks yes or no, until a line says which; `default` is what Enter alone means. Without a person: no.
///
/// # Errors
/// The terminal failed.
pub fn confirm(printer: &Printer, prompt: &str, default: Answer) -> Result<Answer, Problem> {
    if !printer.has_person() {
        return Ok(Answer::No);
    }
    let choices = match default {
        Answer::Yes => "[Y/n]",
        Answer::No => "[y/N]",
    };
    let question = format!("{} {choices}", sanitise(prompt));
    let question = Tone::Strong.paint(&question, printer.setup().colour(Stream::Stderr));
    loop {
        printer.draw(&format!("{question} "));
        let typed = read_line(printer);
        printer.draw("\r\n");
        let typed = answered(typed.map_err(dialoguer::Error::IO))?.flatten();
        let Some(typed) = typed else {
            return Ok(Answer::No);
        };
        if let Some(answer) = meant(&typed, default) {
            return Ok(answer);
        }
        printer.insist("please answer y or n");
    }
}

/// What a line that was typed means; `None`: nothing that could be a yes or a no.
fn meant(typed: &str, default: Answer) -> Option<Answer> {
    match typed.trim().to_ascii_lowercase().as_str() {
        "" => Some(default),
        "y" | "yes" => Some(Answer::Yes),
        "n" | "no" => Some(Answer::No),
        _ => None,
    }
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
    let (prompt, theme) = (sanitise(prompt), theme(printer));
    let input = Input::<String>::with_theme(&*theme).default(default.to_owned());
    if columns(&prompt) + columns(default) + DECORATION <= printer.size().0 {
        return answered(input.with_prompt(prompt).interact_text());
    }
    // A line that the terminal wraps is not wholly taken back once it is answered: the default and
    // the answer get lines of their own.
    let say = |line: String| printer.insist(&printer.folded(&line, 2).join("\n"));
    say(format!("Proposed: {}", sanitise(default)));
    let typed = input
        .with_prompt(format!("{prompt} (Enter: as proposed)"))
        .show_default(false)
        .report(false)
        .interact_text();
    let typed = answered(typed)?;
    if let Some(typed) = &typed {
        say(format!("{prompt} {}", sanitise(typed)));
    }
    Ok(typed)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_a_no_or_nothing_is_an_answer() {
        for (typed, answer) in [
            ("", Some(Answer::Yes)),
            ("y", Some(Answer::Yes)),
            (" YES ", Some(Answer::Yes)),
            ("N", Some(Answer::No)),
            ("no", Some(Answer::No)),
            ("quit", None),
            ("yn", None),
        ] {
            assert_eq!(meant(typed, Answer::Yes), answer, "{typed:?}");
        }
        assert_eq!(meant("", Answer::No), Some(Answer::No));
    }
}
