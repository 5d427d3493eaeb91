//! Everything that decides how output looks, as plain values: the flag, the environment, the
//! streams. Nothing here reads a variable; whoever reads them hands them in.

use std::io::{self, IsTerminal};

use super::theme::{Colour, Glyphs};

/// What `--color` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// As the terminal and the environment suggest.
    #[default]
    Auto,
    /// Also into a pipe.
    Always,
    /// Not even on a terminal.
    Never,
}

/// What the environment says about output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Environment {
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// `CLICOLOR_FORCE` is set and not `0`.
    pub clicolor_force: bool,
    /// `TERM` is `dumb`.
    pub term_dumb: bool,
    /// `CI` is set: nobody sits here, whatever the streams look like.
    pub ci: bool,
    /// The locale names a character set other than UTF-8.
    pub ascii_locale: bool,
}

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Loudness {
    /// `-q`: results, and what nobody may miss.
    Quiet,
    /// As it comes.
    #[default]
    Normal,
    /// `-v`: every detail.
    Verbose,
}

/// What a stream is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// A terminal.
    Terminal,
    /// A pipe, a file, nothing.
    Other,
}

impl Device {
    fn of(stream: &impl IsTerminal) -> Self {
        if stream.is_terminal() {
            Self::Terminal
        } else {
            Self::Other
        }
    }
}

/// What the three streams are connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Devices {
    /// Standard input.
    pub stdin: Device,
    /// Standard output.
    pub stdout: Device,
    /// Standard error.
    pub stderr: Device,
}

impl Devices {
    /// Those of this process.
    pub fn of_this_process() -> Self {
        Self {
            stdin: Device::of(&io::stdin()),
            stdout: Device::of(&io::stdout()),
            stderr: Device::of(&io::stderr()),
        }
    }

    /// No terminal anywhere.
    pub const NONE: Self = Self {
        stdin: Device::Other,
        stdout: Device::Other,
        stderr: Device::Other,
    };

    /// A terminal everywhere.
    pub const TERMINAL: Self = Self {
        stdin: Device::Terminal,
        stdout: Device::Terminal,
        stderr: Device::Terminal,
    };
}

/// How large the terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Whatever it says each time that it is asked, so that a resize is seen.
    Ask,
    /// These columns and rows.
    Fixed(u16, u16),
}

/// One of the two streams that are written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Data.
    Stdout,
    /// Talk.
    Stderr,
}

/// Everything that decides how output looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// `--color`.
    pub choice: ColorChoice,
    /// The environment.
    pub environment: Environment,
    /// `-q`, `-v`.
    pub loudness: Loudness,
    /// What the streams are.
    pub devices: Devices,
    /// How large the terminal is.
    pub size: Size,
}

impl Setup {
    /// No terminal, no wishes: what a pipe gets.
    pub const PIPE: Self = Self {
        choice: ColorChoice::Auto,
        environment: Environment {
            no_color: false,
            clicolor_force: false,
            term_dumb: false,
            ci: false,
            ascii_locale: false,
        },
        loudness: Loudness::Normal,
        devices: Devices::NONE,
        size: Size::Fixed(80, 24),
    };

    /// Whether a stream gets colours: the flag beats the environment, the environment the terminal.
    pub fn colour(&self, stream: Stream) -> Colour {
        let environment = self.environment;
        let wanted = match self.choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if environment.no_color => false,
            ColorChoice::Auto if environment.clicolor_force => true,
            ColorChoice::Auto => !environment.term_dumb && self.device(stream) == Device::Terminal,
        };
        if wanted { Colour::On } else { Colour::Off }
    }

    /// The letters that may be used.
    pub fn glyphs(&self) -> Glyphs {
        if self.environment.term_dumb || self.environment.ascii_locale {
            Glyphs::Ascii
        } else {
            Glyphs::Unicode
        }
    }

    /// What a stream is connected to.
    pub fn device(&self, stream: Stream) -> Device {
        match stream {
            Stream::Stdout => self.devices.stdout,
            Stream::Stderr => self.devices.stderr,
        }
    }
}
