//! What some ways to forget would free, once a prune followed.

use std::collections::HashMap;
use std::time::Duration;

use super::{Census, contents, history};
use crate::act::forget::{self, Intent, Policy, Request};
use crate::error::Result;
use crate::history::History;
use crate::store::Store;
use crate::store::id::{ObjectId, RunId};
use crate::tree::rules::TextGlob;

/// One way to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The options of `wt-forget` that do it.
    pub options: &'static str,
    /// Snapshots that would go.
    pub snapshots: usize,
    /// Bytes that a prune would free then.
    pub bytes: u64,
}

const DAY: Duration = Duration::from_secs(24 * 3600);

/// What `wt-forget` would free in a run for some common choices.
///
/// # Errors
/// As [`forget::plan`].
pub fn choices(store: &Store, run: &RunId, census: &Census) -> Result<Vec<Choice>> {
    let history = history(store, run)?;
    let keep = |policy: Policy| Request { policy, ..Request::default() };
    let all = |mut request: Request| -> Result<Request> {
        request.drop_labels = vec![TextGlob::named("*")?];
        Ok(request)
    };
    let banks = ["rewind-backup:*", "pre-restore:*", "bank:*"];
    let drop_banks = Request {
        drop_labels: banks.iter().map(|glob| TextGlob::named(glob)).collect::<Result<_>>()?,
        ..Request::default()
    };
    let last = |count| keep(Policy { last: Some(count), ..Policy::default() });
    let within = |days| keep(Policy { within: Some(DAY * days), ..Policy::default() });
    let gates = keep(Policy { gates: true, ..Policy::default() });
    [
        ("--drop-labels 'rewind-backup:*' --drop-labels 'pre-restore:*' --drop-labels 'bank:*'", drop_banks),
        ("--keep-last 100 --drop-labels '*'", all(last(100))?),
        ("--keep-last 10 --drop-labels '*'", all(last(10))?),
        ("--keep-last 1 --drop-labels '*'", all(last(1))?),
        ("--keep-within 30d --drop-labels '*'", all(within(30))?),
        ("--keep-within 7d --drop-labels '*'", all(within(7))?),
        ("--keep-within 1d --drop-labels '*'", all(within(1))?),
        ("--keep-gates --drop-labels '*'", all(gates)?),
    ]
    .into_iter()
    .map(|(options, request)| measure(&history, census, options, &request))
    .collect()
}

fn measure(history: &History, census: &Census, options: &'static str, request: &Request) -> Result<Choice> {
    let gone = forget::plan(history, request, Intent::Look)?.gone;
    let mut dropped: HashMap<ObjectId, (u64, u32)> = HashMap::new();
    for gone in &gone {
        for (id, size) in contents(&history.manifest(&gone.id)?) {
            let (known, count) = dropped.entry(id).or_default();
            *known = size.max(*known);
            *count += 1;
        }
    }
    let freed = dropped.iter().filter(|(id, (_, count))| *count >= census.count(**id));
    let bytes = freed.map(|(_, (size, _))| *size).fold(0, u64::saturating_add);
    Ok(Choice { options, snapshots: gone.len(), bytes })
}
