//! Lists what a snapshot holds.

use std::process::ExitCode;

use workspacetrack::cli::args::{HistoryArgs, ZeroOutArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::history::coverage::{Gap, Selection};
use workspacetrack::history::json;
use workspacetrack::history::manifest::{Entry, Manifest, Node};
use workspacetrack::store::hash;
use workspacetrack::stream::record::{Content, EntryKind, Record};
use workspacetrack::stream::wire::{self, Header, RulesMark};

static PAGE: Page = Page {
    name: "wt-ls-manifest",
    about: "list what a snapshot holds",
    synopsis: &["[-z] [--end] [--records | --gaps] SNAPSHOT"],
    description: "Reads a manifest, verifies all of it, and lists the regular files in it, sorted by bytes. A manifest with one bad \
        path, hash or duplicate is rejected whole.",
    output: "One path an item. With `--records`, files, links, empty directories and gaps as records, which \
        wt-write-manifest(1) reads again. With `--gaps`, the reason, a tab and the path.",
    exit: &[(0, "done"), (2, "no such snapshot"), (4, "the manifest is damaged")],
    environment: &["WT_WORKSPACE", "WT_STORE", "WT_RUN", "ITERION_HOME"],
    examples: &[Example { text: "The files of the newest snapshot:", script: "wt-ls-manifest --run demo HEAD" }],
    see_also: &["wt-log(1)", "wt-diff(1)", "wt-cat-object(1)", "wt-stream(5)"],
    effect: Effect::Reads,
};

#[derive(clap::Args)]
struct Args {
    #[command(flatten)]
    history: HistoryArgs,
    #[command(flatten)]
    zero: ZeroOutArgs,
    /// Close the list with an empty item
    #[arg(long, conflicts_with = "records")]
    end: bool,
    /// Write records of all kinds
    #[arg(long, conflicts_with_all = ["gaps", "json"])]
    records: bool,
    /// List what was there and was not captured
    #[arg(long)]
    gaps: bool,
    /// HEAD, HEAD~n, an id, a label, or the beginning of an id
    #[arg(value_name = "SNAPSHOT")]
    snapshot: String,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let history = cli.env.history(&args.history)?;
    let id = history.resolve(&history.index()?, &args.snapshot)?;
    let manifest = history.manifest(&id)?;
    if args.records {
        write_records(&args, cli, &manifest);
        return Ok(Status::Done);
    }
    let framing = args.zero.framing();
    if args.gaps {
        manifest.gaps.iter().for_each(|gap| write_gap(&args, cli, gap));
    } else {
        for (entry, hash, size) in manifest.files() {
            if cli.json() {
                write_file_json(cli, entry, &hash.to_string(), size);
            } else {
                cli.out.item(&framing.encode(entry.path.as_bytes()), framing.end());
            }
        }
    }
    if args.end {
        cli.out.item(b"", framing.end());
    }
    Ok(Status::Done)
}

fn write_gap(args: &Args, cli: &mut Cli, gap: &Gap) {
    let mut name = gap.path.as_bytes().to_vec();
    if gap.hides_subtree {
        name.push(b'/');
    }
    if cli.json() {
        let mut line = vec![b'{'];
        json::push_display_name(&mut line, "path", &name);
        json::push_key(&mut line, "reason");
        json::push_string(&mut line, gap.reason.as_str());
        line.push(b'}');
        cli.out.line(&line);
    } else {
        let mut item = format!("{}\t", gap.reason.as_str()).into_bytes();
        item.extend_from_slice(&args.zero.framing().encode(&name));
        cli.out.item(&item, args.zero.framing().end());
    }
}

fn write_file_json(cli: &mut Cli, entry: &Entry, hash: &str, size: u64) {
    let mut line = vec![b'{'];
    json::push_display_name(&mut line, "path", entry.path.as_bytes());
    json::push_key(&mut line, "hash");
    json::push_string(&mut line, hash);
    json::push_key(&mut line, "mode");
    json::push_number(&mut line, entry.mode);
    json::push_key(&mut line, "size");
    json::push_number(&mut line, size);
    line.push(b'}');
    cli.out.line(&line);
}

fn write_records(args: &Args, cli: &mut Cli, manifest: &Manifest) {
    let framing = args.zero.framing();
    let rules = match &manifest.coverage.selection {
        Selection::Rules { source, id } => Some(RulesMark { source: source.clone(), id: *id }),
        Selection::Listed | Selection::Original => None,
    };
    let header = Header {
        root: manifest.workspace.clone(),
        rules,
        cap_bytes: manifest.coverage.cap_bytes,
        ..Header::default()
    };
    let mut records: Vec<Record> = manifest.entries.iter().map(entry_record).collect();
    records.extend(manifest.gaps.iter().map(gap_record));
    records.sort_by(|a, b| a.path.cmp(&b.path));
    let mut out = Vec::new();
    header.write(&mut out, framing);
    records.iter().for_each(|record| record.write(&mut out, framing));
    wire::write_end(&mut out, framing);
    cli.out.write(&out);
}

fn entry_record(entry: &Entry) -> Record {
    let (content, size) = match &entry.node {
        Node::File { hash, size } => (Content::Object(*hash), Some(*size)),
        Node::Link { target } => (Content::Object(hash::of_bytes(target)), Some(target.len() as u64)),
        Node::Dir => (Content::Unknown, None),
    };
    let path = entry.path.clone();
    Record {
        kind: entry.node.kind(),
        mode: entry.mode,
        content,
        size,
        mtime_ns: None,
        ctime_ns: None,
        inode: None,
        path,
    }
}

fn gap_record(gap: &Gap) -> Record {
    Record {
        kind: if gap.hides_subtree { EntryKind::Dir } else { EntryKind::File },
        mode: 0,
        content: Content::Gap(gap.reason.clone()),
        size: None,
        mtime_ns: None,
        ctime_ns: None,
        inode: None,
        path: gap.path.clone(),
    }
}
