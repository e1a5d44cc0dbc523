//! The claim on merging a run's result, and what came of it (facts 2.8).

use super::ORDER;
use super::outcome::ZERO_TIME_NS;
use super::write::{self, Change, Expected, Receipt};
use crate::clock;
use crate::error::{Error, Result};
use crate::run::json::Json;
use crate::store::Store;
use crate::store::id::RunId;
use crate::stream::quote;

const MS_NS: i128 = 1_000_000;
/// The statuses of a merge; empty is the one of a run that nobody has begun to merge.
pub const STATUSES: [&str; 7] = ["", "pending", "merging", "merged", "skipped", "failed", "conflicted"];

/// Claims the merge of a run: sets it to merging with a token, the time in milliseconds, later than that of a claim which is
/// taken over. A claim from before `stale_before` may be. Returns the receipt and the token.
///
/// # Errors
/// [`crate::error::Kind::Conflict`] when somebody else has it, or it is merged.
pub fn claim(
    store: &Store,
    run: &RunId,
    stale_before: Option<i128>,
    expected: &Expected,
) -> Result<(Receipt, String)> {
    let mut token = String::new();
    let receipt = write::change(store, run, expected, |document, _, _| {
        let status = document.text_of("merge_status").into_owned();
        let since = document.text_of("merge_claimed_at").into_owned();
        // Since when a claim is held that says it in words nobody understands, nobody knows: it is live.
        let claimed = match clock::parse_rfc3339(&since) {
            None if !since.is_empty() => Some(i128::MAX),
            parsed => parsed.filter(|ns| *ns > ZERO_TIME_NS),
        };
        let may_be_claimed = match &*status {
            "" | "pending" | "failed" | "skipped" | "conflicted" => true,
            "merging" => claimed.is_none_or(|ns| stale_before.is_some_and(|limit| ns < limit)),
            _ => false,
        };
        if !may_be_claimed {
            let since = claimed.map_or_else(String::new, |_| format!(" since {}", quote::name(since.as_bytes())));
            let why = format!("its merge is {}{since}", quote::name(status.as_bytes()));
            return Err(write::conflict(document, &why));
        }
        let now_ns = i128::from(clock::now_ns()) / MS_NS * MS_NS;
        // Only a token that is taken over must be older; one that was given up does not count.
        let stolen = claimed.filter(|ns| status == "merging" && *ns < i128::MAX);
        let token_ns = stolen.map_or(now_ns, |ns| now_ns.max((ns / MS_NS + 1) * MS_NS));
        token = clock::rfc3339(u64::try_from(token_ns).unwrap_or(u64::MAX));
        document.set_in_order("merge_status", Json::string("merging"), ORDER);
        document.set_in_order("merge_claimed_at", Json::string(&token), ORDER);
        Ok(Change::Made)
    })?;
    Ok((receipt, token))
}

/// What came of a merge. All of it is written; what is empty is taken out.
#[derive(Debug, Clone, Default)]
pub struct Merge {
    /// One of [`STATUSES`], but for `merging`.
    pub status: String,
    /// The branch it went into.
    pub merged_into: String,
    /// The commit that it made there.
    pub merged_commit: String,
    /// `squash` or `merge`.
    pub strategy: String,
    /// The message that a conflict waits with.
    pub pending_message: String,
    /// The branch that a conflict waits for.
    pub pending_into: String,
}

/// Writes what came of a merge, and lets go of the claim, if the merge still is in one of `statuses` and has `token`.
///
/// # Errors
/// [`crate::error::Kind::Conflict`] when it is not, [`crate::error::Kind::Usage`] for a status that is none, or an empty set.
pub fn update(
    store: &Store,
    run: &RunId,
    statuses: &[String],
    token: Option<&str>,
    merge: &Merge,
    expected: &Expected,
) -> Result<Receipt> {
    let known = |status: &str| STATUSES.contains(&status);
    if statuses.is_empty() {
        return Err(Error::usage("no merge status is expected").hint("name at least one with --expect"));
    }
    if let Some(odd) = statuses.iter().find(|status| !known(status)) {
        return Err(Error::usage(format!("no merge status is called {}", quote::name(odd.as_bytes()))));
    }
    if merge.status == "merging" || !known(&merge.status) {
        return Err(Error::usage(format!("a merge does not end as {}", quote::name(merge.status.as_bytes())))
            .hint("'run-record claim-merge' sets merging; a merge ends as merged, skipped, failed, conflicted or pending"));
    }
    let token_ns = token.map(|token| {
        clock::parse_rfc3339(token).ok_or_else(|| Error::usage("the token is not what 'claim-merge' printed"))
    });
    let token_ns = token_ns.transpose()?;
    write::change(store, run, expected, |document, _, _| {
        let status = document.text_of("merge_status").into_owned();
        if !statuses.contains(&status) {
            let why = format!("its merge is {}", quote::name(status.as_bytes()));
            return Err(write::conflict(document, &why));
        }
        let claimed = document.text_of("merge_claimed_at").into_owned();
        if token_ns.is_some() && token_ns != clock::parse_rfc3339(&claimed) {
            let why = format!("somebody else claimed its merge at {}", quote::name(claimed.as_bytes()));
            return Err(write::conflict(document, &why));
        }
        for (key, text) in [
            ("merge_status", &merge.status),
            ("merged_into", &merge.merged_into),
            ("merged_commit", &merge.merged_commit),
            ("merge_strategy", &merge.strategy),
            ("pending_merge_message", &merge.pending_message),
            ("pending_merge_into", &merge.pending_into),
        ] {
            if text.is_empty() {
                document.remove(key);
            } else {
                document.set_in_order(key, Json::string(text), ORDER);
            }
        }
        document.remove("merge_claimed_at");
        Ok(Change::Made)
    })
}
