//! A program of the user's as a metric source: argv without a shell, one number from its output.
//!
//! What it prints is a bare number in base units (a ratio, seconds, or a count), alone or at a path
//! in JSON. Nothing printed, or nothing at the path, is no data; anything else that is no number, an
//! exit code other than 0, and a time-out mean that the source is down.

mod number;
mod output;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use futures_util::future::BoxFuture;

use super::{CommandMetric, Metric, MetricSource};
use crate::model::problem::Problem;
use crate::model::rehearsal::Rehearsal;
use crate::model::sample::Reading;
use crate::model::slo::Slo;
use crate::model::traffic::TrafficSummary;
use crate::model::units::Span;
use output::{Output, Trouble};

/// The program name that means this very binary.
const OURSELVES: &str = "chaos";

pub(super) struct Command {
    this_program: PathBuf,
}

impl Command {
    pub(super) fn new(this_program: &Path) -> Self {
        Self {
            this_program: this_program.to_owned(),
        }
    }

    async fn measure(&self, metric: &CommandMetric) -> Reading {
        let Some((program, arguments)) = metric.argv.split_first() else {
            let why = "the command is empty".to_owned();
            return Reading::SourceDown { why };
        };
        let mut command = if program == OURSELVES {
            tokio::process::Command::new(&self.this_program)
        } else {
            tokio::process::Command::new(program)
        };
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own, so that whatever it starts can be ended with it, and so that a
            // Ctrl-C at the terminal is ours alone.
            .process_group(0)
            .kill_on_drop(true);
        match output::collect(&mut command, metric.timeout).await {
            Ok(output) => judge(program, metric, &output),
            Err(trouble) => Reading::SourceDown {
                why: words(program, metric, &trouble),
            },
        }
    }
}

fn judge(program: &str, metric: &CommandMetric, output: &Output) -> Reading {
    if output.status.success() {
        return number::reading(&output.stdout, metric.json.as_deref());
    }
    let mut why = format!("`{program}` {}", ending(output.status));
    if let Some(line) = &output.last_words {
        why.push_str(": ");
        why.push_str(line);
    }
    Reading::SourceDown { why }
}

fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}

fn words(program: &str, metric: &CommandMetric, trouble: &Trouble) -> String {
    match trouble {
        Trouble::NotStarted(why) if why.kind() == ErrorKind::NotFound => {
            format!("`{program}` is not found")
        }
        Trouble::NotStarted(why) if why.kind() == ErrorKind::PermissionDenied => {
            format!("`{program}` is not executable")
        }
        Trouble::NotStarted(why) => format!("`{program}` cannot be started: {why}"),
        Trouble::Lost(why) => format!("`{program}` cannot be waited for: {why}"),
        Trouble::TooSlow => format!("`{program}` did not end within {}", metric.timeout),
        Trouble::TooMuch => format!("`{program}` printed more than 1 MiB"),
    }
}

impl MetricSource for Command {
    fn start(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn read<'a>(&'a self, metric: &'a Metric) -> BoxFuture<'a, Reading> {
        Box::pin(async {
            let Metric::Command(metric) = metric else {
                let why = format!("`{}` is no command", metric.words());
                return Reading::SourceDown { why };
            };
            self.measure(metric).await
        })
    }

    fn rehearse<'a>(
        &'a self,
        slo: &'a Slo,
        _metric: &'a Metric,
        _over: Span,
    ) -> BoxFuture<'a, Rehearsal> {
        Box::pin(async {
            super::not_before_the_run(slo, "the program is started only while a run lasts")
        })
    }

    fn stop(&self) -> BoxFuture<'_, Option<TrafficSummary>> {
        Box::pin(async { None })
    }
}
