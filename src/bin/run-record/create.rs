//! `run-record create`: make a run.

use std::ffi::OsString;

use clap::Args;
use workspacetrack::cli::args::{RunArgs, StoreArgs, WorkspaceArgs};
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::run::record::create::{self, Creation};
use workspacetrack::run::record::{fresh, launch_env};
use workspacetrack::store::id::RunId;

use crate::shared;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    members: MembersArgs,
    /// The run that it is a child of
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// The node of the parent that waits for it
    #[arg(long, value_name = "ID", requires = "parent", default_value = "", hide_default_value = true)]
    parent_node: String,
    /// Its id [default: one is made]
    #[arg(long, value_name = "ID")]
    run: Option<OsString>,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

/// What a run begins with.
#[derive(Args)]
pub(crate) struct MembersArgs {
    /// The declared workflow
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    workflow: String,
    /// Launch inputs, a JSON object; @FILE reads it from a file, - from standard input
    #[arg(long, value_name = "JSON")]
    inputs: Option<String>,
    /// Let it wait in a queue instead of running
    #[arg(long)]
    queued: bool,
    /// The source file
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    file: String,
    /// The bot it is for
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    bot: String,
    /// The build that launches it
    #[arg(long, value_name = "VERSION", default_value = "", hide_default_value = true)]
    iterion_version: String,
    /// More members of the document, a JSON object
    #[arg(long, value_name = "JSON")]
    launch: Option<String>,
}

impl MembersArgs {
    pub(crate) fn creation(&self, cli: &Cli) -> Result<Creation> {
        Ok(Creation {
            workflow_name: self.workflow.clone(),
            inputs: shared::object_if_given("inputs", self.inputs.as_deref())?,
            launch_env: launch_env::of(cli.env.variables()),
            iterion_version: self.iterion_version.clone(),
            is_queued: self.queued,
            file_path: self.file.clone(),
            bot_id: self.bot.clone(),
            launch: shared::object_if_given("launch", self.launch.as_deref())?,
            ..Creation::default()
        })
    }
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    let store = cli.env.store(&options.store, &cli.env.workspace_path(&options.workspace))?;
    // WT_RUN names the run that somebody works in, and that is there already.
    let run = match options.run.clone() {
        Some(run) => cli.env.run(&RunArgs { run: Some(run) })?,
        None => fresh::generate()?,
    };
    let parent = match &options.parent {
        Some(parent) => Some((RunId::named(parent)?, options.parent_node.clone())),
        None => None,
    };
    let creation = Creation { parent, ..options.members.creation(cli)? };
    let receipt = create::create(&store, &run, &creation)?;
    Ok(shared::tell(&receipt, cli))
}
