//! [`last_start`]: what the log says of the last time a node began.

use std::collections::HashMap;
use std::ops::ControlFlow;

use serde_json::value::RawValue;

use super::event::string;
use super::lines::Tail;
use super::scan::{Found, Scan};
use super::source;
use crate::error::Result;
use crate::store::id::RunId;
use crate::store::{Store, layout};

/// The last start of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    /// The kind of the node, or empty.
    pub kind: String,
    /// Whether neither its end nor that of the run follows.
    pub is_open: bool,
}

/// Reads the log of a run; `None` where it does not say that the node began. Damage is passed over: this only explains.
///
/// # Errors
/// [`crate::error::Kind::Io`], [`crate::error::Kind::Damaged`] for a log that is no file.
pub fn last_start(store: &Store, run: &RunId, node: &str) -> Result<Option<Start>> {
    let Some(file) = source::open(&layout::events(store.root(), run))? else { return Ok(None) };
    let mut last: Option<Start> = None;
    let _ = Scan::whole(file).run(Tail::Emit, |found| {
        if let Found::Event(event, _) = found {
            match (&*event.kind, event.node_id == node) {
                ("node_started", true) => {
                    let data = event.data.as_ref().map(|data| data.get()).unwrap_or_default();
                    let data: HashMap<String, &RawValue> = serde_json::from_str(data).unwrap_or_default();
                    let kind = data.get("kind").and_then(|kind| string(kind)).unwrap_or_default().into_owned();
                    last = Some(Start { kind, is_open: true });
                }
                ("node_finished", true)
                | ("run_finished" | "run_failed" | "run_cancelled" | "run_interrupted" | "run_rewound", _) => {
                    if let Some(start) = &mut last {
                        start.is_open = false;
                    }
                }
                _ => {}
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(last)
}
