//! Which events, and in which form: the options that `cat` and `tail` share.

use clap::{Args, ValueEnum};
use workspacetrack::cli::Cli;
use workspacetrack::clock;
use workspacetrack::error::{Error, Result};
use workspacetrack::run::events::event::Event;
use workspacetrack::run::events::filter::Filter;
use workspacetrack::run::events::template::Template;
use workspacetrack::run::events::view::{self, Colour};

/// Which events.
#[derive(Args)]
pub(crate) struct Selection {
    /// Events with this number or a higher one
    #[arg(long, value_name = "SEQ")]
    pub(crate) from: Option<u64>,
    /// Events below this number
    #[arg(long, value_name = "SEQ")]
    pub(crate) to: Option<u64>,
    /// Events of a type; * and ? match anything (repeatable)
    #[arg(long = "type", value_name = "GLOB")]
    types: Vec<String>,
    /// Events of a node (repeatable)
    #[arg(long = "node", value_name = "ID")]
    nodes: Vec<String>,
    /// Events of a branch; main is also what has no branch (repeatable)
    #[arg(long = "branch", value_name = "ID")]
    branches: Vec<String>,
    /// Events since a time, 2026-01-31T12:00:00Z or 15m
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
}

impl Selection {
    pub(crate) fn filter(&self) -> Result<Filter> {
        let mut filter = Filter {
            from: self.from,
            to: self.to,
            types: self.types.clone(),
            nodes: self.nodes.clone(),
            branches: self.branches.clone(),
            since_ns: None,
        };
        if let Some(since) = &self.since {
            filter.set_since(since, clock::now_ns())?;
        }
        Ok(filter)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

/// In which form.
#[derive(Args)]
pub(crate) struct FormArgs {
    /// Fill in a template: '{seq} {time} {type} {node} {data.KEY}'
    #[arg(long, value_name = "TEMPLATE", conflicts_with_all = ["human", "color", "json"])]
    format: Option<String>,
    /// One line an event for a person, as on a terminal
    #[arg(long, conflicts_with = "json")]
    human: bool,
    /// Colours in the form for a person [default: auto]
    #[arg(long, value_name = "WHEN", value_enum)]
    color: Option<When>,
}

/// The form of the output.
pub(crate) enum Form {
    Raw,
    Human(Colour),
    Template(Template),
}

impl FormArgs {
    /// Raw lines, unless a person watches or something else is asked for.
    pub(crate) fn form(&self, cli: &Cli) -> Result<Form> {
        if let Some(template) = &self.format {
            return Template::parse(template).map(Form::Template);
        }
        let terminal = cli.out.is_terminal();
        if !self.human && (cli.json() || !terminal) {
            if self.color == Some(When::Always) {
                return Err(Error::usage("--color colours the form for a person").hint("add --human"));
            }
            return Ok(Form::Raw);
        }
        let colour = match self.color.unwrap_or(When::Auto) {
            When::Always => Colour::On,
            When::Auto if terminal && cli.env.get("NO_COLOR").is_none() => Colour::On,
            _ => Colour::Off,
        };
        Ok(Form::Human(colour))
    }
}

impl Form {
    pub(crate) fn print(&self, event: &Event<'_>, scratch: &mut Vec<u8>, cli: &mut Cli) {
        scratch.clear();
        match self {
            Self::Raw => return cli.out.line(event.line),
            Self::Human(colour) => view::append(event, *colour, scratch),
            Self::Template(template) => template.append(event, |text| cli.field(text), scratch),
        }
        cli.out.write(scratch);
    }
}
