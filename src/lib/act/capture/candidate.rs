//! The manifest that a stream describes.

use crate::error::{Error, Kind, Result};
use crate::history::coverage::{Coverage, Gap, Selection};
use crate::history::manifest::{Entry, Manifest, Node};
use crate::store::id::{ObjectId, SnapshotId};
use crate::store::pool::Pool;
use crate::stream::quote;
use crate::stream::record::{Content, EntryKind, Record};
use crate::stream::recordset::RecordSet;
use crate::tree::rules::{HardReason, RULES_ENGINE};

/// The manifest that the stream describes; its id is a placeholder until it is published.
pub(super) fn of(pool: &Pool, set: &RecordSet, head: Option<&Manifest>, label: Option<String>) -> Result<Manifest> {
    let mut entries = Vec::with_capacity(set.records.len());
    let mut gaps = Vec::new();
    for record in &set.records {
        if let Some(reason) = record.path.components().find_map(HardReason::of_name) {
            return Err(Error::usage(format!(
                "path {} is never versioned ({reason})",
                quote::name(record.path.as_bytes())
            ))
            .hint("leave it out of the records"));
        }
        match &record.content {
            Content::Gap(reason) => gaps.push(Gap {
                path: record.path.clone(),
                reason: reason.clone(),
                hides_subtree: record.hides_subtree(),
            }),
            _ => entries.push(entry(pool, head, record)?),
        }
    }
    let selection = match &set.header.rules {
        Some(rules) => Selection::Rules { source: rules.source.clone(), id: rules.id },
        None => Selection::Listed,
    };
    Ok(Manifest {
        id: SnapshotId::new(0, 0),
        parent: head.map(|head| head.id.clone()),
        label,
        created_at: String::new(),
        entries,
        gaps,
        coverage: Coverage {
            selection,
            engine: RULES_ENGINE.to_owned(),
            cap_bytes: set.header.cap_bytes,
            all_kinds: true,
        },
        workspace: set.header.root.clone(),
    })
}

fn entry(pool: &Pool, head: Option<&Manifest>, record: &Record) -> Result<Entry> {
    let node = match (record.kind, &record.content) {
        (EntryKind::Dir, _) => Node::Dir,
        (EntryKind::File, Content::Object(hash)) => Node::File {
            hash: *hash,
            size: match record.size {
                Some(size) => size,
                None => pool.size_of(*hash)?.ok_or_else(|| missing(*hash, record))?,
            },
        },
        (EntryKind::Link, Content::Object(id)) => Node::Link { target: link_target(pool, head, record, *id)? },
        _ => {
            return Err(Error::usage(format!("path {} is not hashed", quote::name(record.path.as_bytes())))
                .hint("put 'wt-hash-object -w --stdin-records' before this command"));
        }
    };
    Ok(Entry { path: record.path.clone(), node, mode: record.mode })
}

/// The target text stands in the pool; where head has the same link it need not be read.
fn link_target(pool: &Pool, head: Option<&Manifest>, record: &Record, id: ObjectId) -> Result<Vec<u8>> {
    if let Some(Entry { node: Node::Link { target }, .. }) = head.and_then(|head| head.entry(&record.path))
        && crate::store::hash::of_bytes(target) == id
    {
        return Ok(target.clone());
    }
    let target = pool.read(id)?;
    if target.is_empty() || target.contains(&0) {
        return Err(Error::new(
            Kind::Damaged,
            format!("object {id} is not the target of a link, as {} says", quote::name(record.path.as_bytes())),
        ));
    }
    Ok(target)
}

fn missing(id: ObjectId, record: &Record) -> Error {
    Error::new(Kind::Damaged, format!("object {id} of {} is not in the pool", quote::name(record.path.as_bytes())))
        .hint("run 'wt-hash-object -w' over the records and write the manifest from its output")
}
