//! Named setters: members of run.json that change while a run lives, each with its own rule (facts 1.2-1.4, 2.4).
//!
//! A setter is a name and a JSON value. Members that are objects by node, loop, token or key are changed entry by entry, and
//! an entry whose value is `null` is taken out; other members are replaced, and `null` takes them out. Members that follow
//! from others, or belong to another command, have no setter.

mod entries;
mod lists;
mod retry;
mod values;
mod waits;

use super::write::{self, Change, Expected, Receipt};
use crate::error::{Error, Result};
use crate::run::json::Json;
use crate::store::Store;
use crate::store::id::RunId;
use crate::stream::quote;

/// What a setter works on.
struct Subject<'d> {
    document: &'d mut Json,
    /// The name of the setter, which is mostly that of the member.
    name: &'static str,
    now: &'d str,
}

impl Subject<'_> {
    fn stored(&self) -> Option<&Json> {
        self.document.get(self.name)
    }

    /// Sets the member, or takes it out where the value says nothing.
    fn put(&mut self, value: Json) {
        if value.is_zero() {
            self.document.remove(self.name);
        } else {
            self.document.set_in_order(self.name, value, super::ORDER);
        }
    }

    fn wrong(&self, what: &str) -> Error {
        Error::usage(format!("{} {what}", self.name))
    }
}

type Setter = fn(&mut Subject<'_>, Json) -> Result<()>;

/// The setters: name, what it takes, how it sets.
pub const SETTERS: &[(&str, &str, SetterFn)] = &[
    (
        "await_answers_waits",
        "live waits by token: {\"node_id\", \"until\"}; only while running",
        SetterFn(waits::set),
    ),
    ("base_commit", "text", SetterFn(values::text)),
    ("budget", "the effective caps", SetterFn(values::budget)),
    ("budget_overrides", "caps of the launch, replayed on a resume", SetterFn(values::budget)),
    ("budget_raises", "caps raised meanwhile, absolute, by cap", SetterFn(entries::raises)),
    (
        "cred_stamp",
        "{\"fingerprints\", \"tiers\"}: the credentials in use; ends llm_idle_since",
        SetterFn(lists::cred_stamp),
    ),
    ("final_branch", "text", SetterFn(values::text)),
    ("final_branch_error", "text", SetterFn(values::text)),
    ("final_commit", "text", SetterFn(values::text)),
    ("llm_idle_since", "a time", SetterFn(values::time)),
    ("loop_overrides", "extra grants by loop: a number, or \"+N\" for N more", SetterFn(entries::grants)),
    ("name", "the name for people", SetterFn(values::text)),
    ("nodes_served", "who served a node, by node; an entry is replaced as a whole", SetterFn(entries::served)),
    ("output_corrections", "episodes by key; null retires one into the history", SetterFn(entries::corrections)),
    ("permission_grants", "rules by node, added to those there are", SetterFn(entries::permissions)),
    ("queue_msg_id", "text", SetterFn(values::text)),
    ("repo_root", "text", SetterFn(values::text)),
    ("resume_requires_explicit", "true after a rewind; only while not running", SetterFn(values::explicit)),
    ("retry_state", "members of the retry; attempts never get fewer", SetterFn(retry::set)),
    ("runner_id", "text", SetterFn(values::text)),
    ("runner_version", "text", SetterFn(values::text)),
    ("skipped_cred_reopens_at", "a time", SetterFn(values::time)),
    ("started_at", "a time", SetterFn(values::time)),
    ("subbot_children", "run ids by key", SetterFn(entries::children)),
    ("watched_issue_ids", "issues to add, in the order first seen", SetterFn(lists::watched_issues)),
    ("watcher_cursors", "cursors by watcher", SetterFn(entries::cursors)),
    ("work_dir", "text", SetterFn(values::text)),
    ("worktree", "true or false", SetterFn(values::flag)),
    ("worktree_reclaimed", "true or false", SetterFn(values::flag)),
];

/// How a setter sets.
pub struct SetterFn(Setter);

/// Who changes a member that has no setter.
const ELSEWHERE: [(&[&str], &str); 6] = [
    (
        &[
            "status",
            "error",
            "failure_code",
            "end_reason",
            "continuation_state",
            "outcome_seq",
            "finished_at",
            "queued_at",
        ],
        "'run-record set-status' changes it",
    ),
    (&["checkpoint"], "'run-record checkpoint save' changes it"),
    (
        &[
            "merge_status",
            "merge_claimed_at",
            "merged_into",
            "merged_commit",
            "merge_strategy",
            "pending_merge_message",
            "pending_merge_into",
        ],
        "'run-record claim-merge' and 'update-merge' change it",
    ),
    (&["cred_fingerprints", "credential_tiers"], "set it by cred_stamp"),
    (&["artifact_index", "attachments"], "it follows from the files of the run"),
    (&["id", "format_version", "cas_version", "created_at", "updated_at"], "it is the store's own"),
];

/// One setting: the setter's name and the value.
#[derive(Debug, Clone)]
pub struct Setting {
    name: &'static str,
    value: Json,
}

impl Setting {
    /// A setting by the name of its setter.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`], saying who changes a member that has no setter.
    pub fn named(name: &str, value: Json) -> Result<Self> {
        if let Some((name, ..)) = SETTERS.iter().find(|(known, ..)| *known == name) {
            return Ok(Self { name, value });
        }
        let shown = quote::name(name.as_bytes());
        let hint = ELSEWHERE.iter().find(|(members, _)| members.contains(&name)).map_or_else(
            || {
                let all: Vec<_> = SETTERS.iter().map(|(name, ..)| *name).collect();
                format!("there are {}; 'run-record save' puts a whole document in place", all.join(", "))
            },
            |(_, hint)| (*hint).to_owned(),
        );
        Err(Error::usage(format!("no setter is called {shown}")).hint(hint))
    }
}

/// Carries out settings in their order, in one write.
///
/// # Errors
/// As [`write::change`], and what a setter refuses; nothing is written then.
pub fn patch(store: &Store, run: &RunId, settings: Vec<Setting>, expected: &Expected) -> Result<Receipt> {
    write::change(store, run, expected, |document, now, _| {
        let before = document.clone();
        for Setting { name, value } in settings {
            if let Some((.., SetterFn(set))) = SETTERS.iter().find(|(known, ..)| *known == name) {
                set(&mut Subject { document, name, now }, value)?;
            }
        }
        Ok(if *document == before { Change::None } else { Change::Made })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_is_set_in_one_place() {
        for (name, ..) in SETTERS {
            assert!(*name == "cred_stamp" || super::super::ORDER.contains(name), "{name}");
            assert!(!ELSEWHERE.iter().any(|(members, _)| members.contains(name)), "{name}");
        }
        assert!(SETTERS.is_sorted_by_key(|(name, ..)| *name));
    }
}
