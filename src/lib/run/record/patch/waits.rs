//! `await_answers_waits`: nodes that wait for answers while the run goes on (facts 2.11).

use super::entries::each;
use super::{Subject, write};
use crate::clock;
use crate::error::Result;
use crate::run::json::Json;
use crate::run::record::{preserve, schema::WAIT, status};
use crate::run::status::Status;
use crate::stream::quote;

/// Adds waits, only while the run is running, and clears those that are `null`, always.
pub(super) fn set(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    each(subject, &value, |subject, token, stored, given| {
        let shown = quote::name(token.as_bytes());
        if token.is_empty() || token.contains(['.', '$', '\0']) {
            return Err(subject.wrong(&format!("has a token {shown} that is empty or has a dot, '$' or NUL")));
        }
        if status(subject.document) != Some(Status::Running) {
            return Err(write::refused(subject.document, "only a running run waits without pausing"));
        }
        let has_node = !given.text_of("node_id").is_empty();
        let has_end = clock::parse_rfc3339(&given.text_of("until")).is_some();
        if !has_node || !has_end {
            return Err(subject
                .wrong(&format!("has a wait {shown} without node or end"))
                .hint("give {\"node_id\": \"...\", \"until\": \"2026-01-31T12:00:00Z\"}"));
        }
        Ok(Some(match stored {
            Some(stored) => preserve::merge(stored, given.clone(), WAIT),
            None => given.clone(),
        }))
    })
}
