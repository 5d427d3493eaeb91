//! `chaos man`: man pages from the same words as `--help`.

use clap::CommandFactory as _;

use super::Desk;
use crate::cli::{Cli, ManArgs};
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::problem::{Problem, ProblemKind};

pub(super) fn man(desk: &Desk, args: &ManArgs) -> Result<Exit, Failure> {
    let pages = pages()?;
    if let Some(folder) = &args.out {
        for (name, page) in &pages {
            let path = folder.join(name);
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&path, page))
                .map_err(|why| cannot_write(&path, &why))?;
        }
        desk.printer
            .success(&format!("{} pages in {}", pages.len(), folder.display()));
        return Ok(Exit::Done);
    }
    let wanted = match &args.command {
        Some(command) => format!("chaos-{command}.1"),
        None => "chaos.1".to_owned(),
    };
    let page = pages.iter().find(|(name, _)| *name == wanted);
    let (_, page) = page.ok_or_else(|| {
        let command = args.command.as_deref().unwrap_or_default();
        Problem::new(
            ProblemKind::Invalid,
            format!("there is no command `{command}`"),
        )
        .hint("`chaos --help` lists the commands")
    })?;
    desk.printer.data(page.trim_end());
    Ok(Exit::Done)
}

/// Every page with its file name: one for `chaos`, one for each verb, one for each verb's verb.
fn pages() -> Result<Vec<(String, String)>, Failure> {
    let mut root = Cli::command();
    root.build();
    let mut pages = Vec::new();
    add(&mut pages, &root, "chaos")?;
    Ok(pages)
}

fn add(
    pages: &mut Vec<(String, String)>,
    command: &clap::Command,
    name: &str,
) -> Result<(), Failure> {
    let typed = name.replace('-', " ");
    let titled = command
        .clone()
        .display_name(name.to_owned())
        .bin_name(typed);
    pages.push((format!("{name}.1"), page(titled)?));
    for below in command.get_subcommands() {
        add(pages, below, &format!("{name}-{}", below.get_name()))?;
    }
    Ok(())
}

fn page(command: clap::Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command)
        // Without it every page would be signed by the verb instead of the program.
        .source(concat!("chaos ", env!("CARGO_PKG_VERSION")))
        .render(&mut text)
        .map_err(|why| Failure::Bug(format!("a man page cannot be made: {why}")))?;
    String::from_utf8(text).map_err(|why| Failure::Bug(format!("a man page is no text: {why}")))
}

fn cannot_write(path: &std::path::Path, why: &std::io::Error) -> Failure {
    Failure::Problem(
        Problem::new(
            ProblemKind::Invalid,
            format!("{} cannot be written: {why}", path.display()),
        )
        .hint("name a folder that you may write to"),
    )
}
