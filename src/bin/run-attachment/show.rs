//! `run-attachment list` and `open`.

use std::path::{Path, PathBuf};

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{Cli, Status, input};
use workspacetrack::error::Result;
use workspacetrack::run::attachment;
use workspacetrack::run::json::Json;
use workspacetrack::store::component::Component;
use workspacetrack::store::fsio::staged::Staged;
use workspacetrack::store::layout;

#[derive(Args)]
pub(crate) struct ListOptions {
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn list(options: &ListOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.run_to_read(&options.run)?;
    let mut status = Status::Done;
    for (name, sidecar) in attachment::list(&store, &run)? {
        match sidecar {
            Err(error) => status = cli.left_out(format_args!("attachment {name}"), &error),
            Ok(json) if cli.json() => cli.out.line(json.compact().as_bytes()),
            Ok(json) => {
                let size = json.get("size").map(Json::compact).unwrap_or_default();
                let called = match json.text_of("uploaded_as") {
                    called if called.is_empty() => json.text_of("original_filename"),
                    called => called,
                };
                let fields = [name.as_str(), &size, &json.text_of("mime"), &json.text_of("created_at"), &called]
                    .map(|field| cli.field(field));
                cli.out.line(fields.join("\t").as_bytes());
            }
        }
    }
    Ok(status)
}

#[derive(Args)]
pub(crate) struct OpenOptions {
    /// The attachment
    name: String,
    /// Write to a file, which is whole or not there [default: standard output]
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn open(options: &OpenOptions, cli: &mut Cli) -> Result<Status> {
    let name = Component::named("attachment name", &options.name)?;
    let (store, run) = cli.run_to_read(&options.run)?;
    let content = attachment::open(&store, &run, &name)?;
    let Some(path) = &options.output else {
        content.copy(&mut cli.out)?;
        return Ok(Status::Done);
    };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let mut staged =
        Staged::begin(path.parent().unwrap_or(Path::new("/")), layout::TEMP_PREFIX).map_err(input::misnamed)?;
    content.copy(&mut staged)?;
    staged.flush(store.durability())?;
    staged.publish(&path, store.durability()).map_err(input::misnamed)?;
    Ok(Status::Done)
}
