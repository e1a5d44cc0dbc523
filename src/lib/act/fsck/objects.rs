//! The pool: every object is what its name says, and everything that is named is there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Depth, Progress, Report, Severity};
use crate::error::{Error, Kind, Result};
use crate::history::manifest;
use crate::store::hash;
use crate::store::id::ObjectId;
use crate::store::pool::{Found, Pool};
use crate::store::{Store, layout, read_document};
use crate::stream::quote;

/// Hashing threads: beyond that the disk is the limit.
const THREADS_MAX: usize = 16;

/// Everything that manifests and pins name.
#[derive(Default)]
pub(super) struct Named {
    sources: Vec<Source>,
    objects: HashMap<ObjectId, (Option<u64>, usize)>,
    contradictions: Vec<(ObjectId, u64, u64, usize)>,
}

struct Source {
    path: PathBuf,
    is_pin: bool,
}

impl Named {
    /// A manifest that is about to be read.
    pub(super) fn source(&mut self, path: &Path) -> usize {
        self.sources.push(Source { path: path.to_owned(), is_pin: false });
        self.sources.len() - 1
    }

    /// A pin that is about to be read.
    pub(super) fn pin_source(&mut self, path: &Path) -> usize {
        self.sources.push(Source { path: path.to_owned(), is_pin: true });
        self.sources.len() - 1
    }

    pub(super) fn add(&mut self, id: ObjectId, size: Option<u64>, source: usize) {
        let known = self.objects.entry(id).or_insert((size, source));
        match (known.0, size) {
            (Some(a), Some(b)) if a != b => self.contradictions.push((id, a, b, source)),
            (None, Some(_)) => *known = (size, source),
            _ => {}
        }
    }

    fn source_of(&self, source: usize) -> Option<&Source> {
        self.sources.get(source)
    }
}

pub(super) fn check(
    store: &Store,
    named: &Named,
    only_named: bool,
    depth: Depth,
    report: &mut Report,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<()> {
    let pool = Pool::open(store)?;
    let mut present: HashMap<ObjectId, u64> = HashMap::new();
    if let Some(pool) = &pool {
        let skip = |id| only_named && !named.objects.contains_key(&id);
        pool.survey(&skip, &mut |found| note(store, found, only_named, &mut present, report))?;
        report.objects = present.len();
    }
    for (id, (size, source)) in &named.objects {
        let found = present.get(id).copied();
        if found.is_none() || (size.is_some() && found != *size) {
            report_unlike(store, named, (*id, *size), *source, found, report);
            present.remove(id);
        }
    }
    for (id, a, b, source) in &named.contradictions {
        if let Some(source) = named.source_of(*source) {
            let detail = format!("it says that object {id} has {b} bytes, another one says {a}");
            report.add(Severity::Error, "size-differs", &source.path, detail, "nothing mends a manifest");
        }
    }
    if let Some(pool) = pool.filter(|_| depth == Depth::Full) {
        for (id, error) in verify_all(&pool, &present.into_iter().collect::<Vec<_>>(), progress) {
            let size = named.objects.get(&id).and_then(|(size, _)| *size);
            let who = named.objects.get(&id).map(|(_, source)| whose(named, id, *source)).unwrap_or_default();
            let code = if error.kind() == Kind::Damaged { "object-damaged" } else { "object-unreadable" };
            let detail = match error.kind() {
                Kind::Damaged => format!("its bytes are not those of its name{who}"),
                _ => format!("{error}{who}"),
            };
            report.add_object(Severity::Error, code, (id, size), layout::object(store.root(), id), detail);
        }
    }
    Ok(())
}

fn note(store: &Store, found: Found, only_named: bool, present: &mut HashMap<ObjectId, u64>, report: &mut Report) {
    match found {
        Found::Object { id, size, mode, .. } => {
            present.insert(id, size);
            if mode & 0o077 != 0 {
                report.check_mode_bits(&layout::object(store.root(), id), mode);
            }
        }
        Found::Shard { .. } | Found::Temp { .. } | Found::Stranger(_) if only_named => {}
        Found::Shard { shard, mode, .. } => {
            report.check_mode_bits(&layout::pool(store.root()).join(hex::encode([shard])), mode);
        }
        Found::Temp { name, .. } => {
            use std::os::unix::ffi::OsStrExt;
            let path = layout::pool(store.root()).join(std::ffi::OsStr::from_bytes(&name));
            report.add(
                Severity::Note,
                "temp",
                path,
                "left by a killed program",
                "wt-prune removes it when it is old",
            );
        }
        Found::Stranger(path) => {
            report.add(Severity::Warning, "stranger", path, "not ours; no command touches it", "nothing to do");
        }
        Found::Unreadable(error) => {
            let path = error.path().unwrap_or(store.root()).to_owned();
            report.add(Severity::Error, "unreadable", path, error.to_string(), "make it readable");
        }
    }
}

fn report_unlike(
    store: &Store,
    named: &Named,
    wanted: (ObjectId, Option<u64>),
    source: usize,
    found: Option<u64>,
    report: &mut Report,
) {
    let (id, size) = wanted;
    let Some(by) = named.source_of(source) else { return };
    // Forgotten and pruned while we looked.
    if found.is_none() && std::fs::symlink_metadata(&by.path).is_err() {
        return;
    }
    let path = layout::object(store.root(), id);
    let who = whose(named, id, source);
    let severity = if by.is_pin { Severity::Warning } else { Severity::Error };
    match (found, size) {
        (Some(found), Some(size)) => {
            let detail = format!("it has {found} bytes and not {size}{who}");
            report.add_object(severity, "object-damaged", wanted, path, detail);
        }
        _ => report.add_object(severity, "object-missing", wanted, path, format!("it is not there{who}")),
    }
}

/// Which path of which snapshot needs an object.
fn whose(named: &Named, id: ObjectId, source: usize) -> String {
    let Some(source) = named.source_of(source) else { return String::new() };
    let shown = quote::path(&source.path);
    let Some(manifest) = read_document(&source.path).ok().and_then(|bytes| manifest::parse(&bytes).ok()) else {
        return format!(", listed in {shown}");
    };
    let entry = manifest.entries.iter().find(|entry| match &entry.node {
        manifest::Node::File { hash, .. } => *hash == id,
        manifest::Node::Link { target } => hash::of_bytes(target) == id,
        manifest::Node::Dir => false,
    });
    match entry {
        Some(entry) => format!(", needed for {} in {shown}", quote::name(entry.path.as_bytes())),
        None => format!(", needed for the ignore rules in {shown}"),
    }
}

/// Hashes objects on all cores; returns those that are wrong.
fn verify_all(
    pool: &Pool,
    objects: &[(ObjectId, u64)],
    progress: &(dyn Fn(Progress) + Sync),
) -> Vec<(ObjectId, Error)> {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let work = || {
        while let Some((id, _)) = objects.get(next.fetch_add(1, Ordering::Relaxed)) {
            progress(Progress { done: next.load(Ordering::Relaxed).min(objects.len()), all: objects.len() });
            match pool.verify(*id) {
                Ok(_) => {}
                // Swept meanwhile; had anybody needed it, it could not have been.
                Err(_) if matches!(pool.size_of(*id), Ok(None)) => {}
                Err(error) => {
                    wrong.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((*id, error));
                }
            }
        }
    };
    let threads = crate::store::process::threads(THREADS_MAX);
    std::thread::scope(|scope| {
        for _ in 1..threads.min(objects.len()) {
            scope.spawn(work);
        }
        work();
    });
    wrong.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}
