//! `chaos sandbox`: the practice environment, until Ctrl-C.

use super::Desk;
use super::run::version;
use crate::cli::{SandboxArgs, SandboxCommand};
use crate::clients::Clients;
use crate::error::Failure;
use crate::exit::Exit;
use crate::sandbox::{DEFAULT_APP_PORT, DEFAULT_AWS_PORT, Sandbox, SandboxSettings, status};
use crate::session;

pub(super) async fn sandbox(desk: &Desk, args: &SandboxArgs) -> Result<Exit, Failure> {
    if let Some(SandboxCommand::Status { url }) = &args.command {
        let figures = status(url, &Clients::new()?).await?;
        desk.printer.data(&figures.to_string());
        return Ok(Exit::Done);
    }
    let settings = SandboxSettings {
        app: version(args.app),
        app_port: args.app_port,
        aws_port: args.aws_port,
        seed: args.seed,
    };
    let sandbox = Sandbox::start(settings).await?;
    for line in [
        format!("the {} order pipeline is up", version(args.app)),
        format!("  orders     {}/orders", sandbox.app_url()),
        format!("  figures    {}/status and /metrics", sandbox.app_url()),
        format!(
            "  Chaos API  {}/_localstack/chaos/faults",
            sandbox.aws_url()
        ),
        format!(
            "break it from another terminal: chaos run examples/stream-down.yaml{}",
            elsewhere(args, &sandbox)
        ),
        "Ctrl-C stops it".to_owned(),
    ] {
        desk.printer.talk(&line);
    }
    session::until_told_to_stop().await?;
    sandbox.stop().await;
    desk.printer.talk("stopped");
    Ok(Exit::Done)
}

/// What a document has to be told when the ports are not the usual ones.
fn elsewhere(args: &SandboxArgs, sandbox: &Sandbox) -> String {
    if (args.app_port, args.aws_port) == (DEFAULT_APP_PORT, DEFAULT_AWS_PORT) {
        return String::new();
    }
    format!(
        " --var SANDBOX_APP={} --var SANDBOX_AWS={}",
        sandbox.app_url(),
        sandbox.aws_url()
    )
}
