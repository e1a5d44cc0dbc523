//! The statuses of a run, what each allows, and which may follow which (facts 2.1, 2.2).

use std::fmt;

use crate::error::{Error, Result};
use crate::stream::quote;

/// What a run is doing, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Accepted and not begun.
    Queued,
    /// An engine executes it, or is expected to.
    Running,
    /// A question waits for answers.
    PausedWaitingHuman,
    /// Paused by an operator or a spending cap, and after a rewind.
    PausedOperator,
    /// Reached its end.
    Finished,
    /// Failed for good.
    Failed,
    /// Failed, and may go on.
    FailedResumable,
    /// Interrupted by a person.
    Cancelled,
}

impl Status {
    /// All, in the order of the facts.
    pub const ALL: [Self; 8] = [
        Self::Queued,
        Self::Running,
        Self::PausedWaitingHuman,
        Self::PausedOperator,
        Self::Finished,
        Self::Failed,
        Self::FailedResumable,
        Self::Cancelled,
    ];

    /// The status with this text. An unknown one is tolerated on read and allows nothing.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Reads a status that somebody named.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`], listing those that there are.
    pub fn named(text: &str) -> Result<Self> {
        Self::parse(text).ok_or_else(|| {
            let all = Self::ALL.map(Self::as_str).join(", ");
            Error::usage(format!("no status is called {}", quote::name(text.as_bytes())))
                .hint(format!("they are {all}"))
        })
    }

    /// The text in run.json.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::PausedWaitingHuman => "paused_waiting_human",
            Self::PausedOperator => "paused_operator",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::FailedResumable => "failed_resumable",
            Self::Cancelled => "cancelled",
        }
    }

    /// An episode has ended: `finished_at`, `outcome_seq`, and the run may be deleted.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::FailedResumable | Self::Cancelled)
    }

    /// The run stands still on purpose.
    #[must_use]
    pub fn is_paused(self) -> bool {
        matches!(self, Self::PausedWaitingHuman | Self::PausedOperator)
    }

    /// Terminal for who polls, and still resumable.
    #[must_use]
    pub fn is_terminal_but_resumable(self) -> bool {
        matches!(self, Self::FailedResumable | Self::Cancelled)
    }

    /// An operator may resume it.
    #[must_use]
    pub fn may_be_resumed(self) -> bool {
        self.is_paused() || self.is_terminal_but_resumable()
    }

    /// A resume needs answers.
    #[must_use]
    pub fn needs_answers(self) -> bool {
        self == Self::PausedWaitingHuman
    }

    /// A machine may resume it unasked.
    #[must_use]
    pub fn may_resume_itself(self) -> bool {
        self == Self::FailedResumable
    }

    /// It may be cancelled.
    #[must_use]
    pub fn may_be_cancelled(self) -> bool {
        matches!(
            self,
            Self::Queued | Self::Running | Self::PausedWaitingHuman | Self::PausedOperator | Self::FailedResumable
        )
    }

    /// It takes up a launch slot and a credential slot.
    #[must_use]
    pub fn holds_slot(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }

    /// It may carry `failure_code` and `end_reason`.
    #[must_use]
    pub fn may_carry_cause(self) -> bool {
        matches!(self, Self::Failed | Self::FailedResumable | Self::Cancelled)
    }

    /// It may carry the pause pointer of the checkpoint.
    #[must_use]
    pub fn may_carry_pause_pointer(self) -> bool {
        matches!(self, Self::Queued | Self::PausedWaitingHuman | Self::PausedOperator)
    }

    /// Operators may send it messages.
    #[must_use]
    pub fn accepts_messages(self) -> bool {
        self.may_be_cancelled()
    }

    /// It may be rewound; a failed one only if it kept a checkpoint.
    #[must_use]
    pub fn may_be_rewound(self) -> bool {
        !matches!(self, Self::Running | Self::Finished)
    }

    /// A runner's verdict may overwrite it.
    #[must_use]
    pub fn takes_verdict(self) -> bool {
        matches!(self, Self::Queued | Self::Running | Self::FailedResumable)
    }

    /// Clean-up takes it unless told otherwise.
    #[must_use]
    pub fn is_pruned_by_default(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::Cancelled)
    }

    /// Whether `to` may follow this (the graph of facts 2.2). A rewrite of the same status is allowed everywhere.
    #[must_use]
    pub fn may_become(self, to: Self) -> bool {
        use Status::{
            Cancelled, Failed, FailedResumable, Finished, PausedOperator, PausedWaitingHuman, Queued, Running,
        };
        if self == to {
            return true;
        }
        match self {
            Queued => matches!(to, Running | Cancelled | Failed | FailedResumable | PausedOperator),
            Running => {
                matches!(to, PausedWaitingHuman | PausedOperator | Finished | Failed | FailedResumable | Cancelled)
            }
            PausedWaitingHuman => matches!(to, Running | Queued | Cancelled | PausedOperator),
            PausedOperator => matches!(to, Running | Queued | Cancelled),
            FailedResumable => matches!(to, Running | Queued | Cancelled | Failed | PausedOperator),
            Cancelled => matches!(to, Running | Queued | PausedOperator),
            Failed => to == PausedOperator,
            Finished => false,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of facts 2.1, a letter a status: Q R PH PO FI FA FR CA.
    #[test]
    fn predicates_are_those_of_the_table() {
        type Predicate = fn(Status) -> bool;
        let table: [(&str, Predicate, &str); 15] = [
            ("terminal", Status::is_terminal, "----XXXX"),
            ("paused", Status::is_paused, "--XX----"),
            ("terminal but resumable", Status::is_terminal_but_resumable, "------XX"),
            ("operator may resume", Status::may_be_resumed, "--XX--XX"),
            ("needs answers", Status::needs_answers, "--X-----"),
            ("machine may resume", Status::may_resume_itself, "------X-"),
            ("may be cancelled", Status::may_be_cancelled, "XXXX--X-"),
            ("holds slot", Status::holds_slot, "XX------"),
            ("may carry cause", Status::may_carry_cause, "-----XXX"),
            ("may carry pause pointer", Status::may_carry_pause_pointer, "X-XX----"),
            ("accepts messages", Status::accepts_messages, "XXXX--X-"),
            ("rewindable", Status::may_be_rewound, "X-XX-XXX"),
            ("takes verdict", Status::takes_verdict, "XX----X-"),
            ("pruned by default", Status::is_pruned_by_default, "----XX-X"),
            ("known", |status| Status::parse(status.as_str()) == Some(status), "XXXXXXXX"),
        ];
        for (name, predicate, row) in table {
            let got: String =
                Status::ALL.into_iter().map(|status| if predicate(status) { 'X' } else { '-' }).collect();
            assert_eq!(got, row, "{name}");
        }
        assert_eq!(Status::parse("Running"), None);
    }

    #[test]
    fn the_graph_is_that_of_the_facts() {
        for (from, row) in Status::ALL.into_iter().zip([
            "XX-X-XXX", // queued
            "-XXXXXXX", // running
            "XXXX---X", // paused_waiting_human
            "XX-X---X", // paused_operator
            "----X---", // finished
            "---X-X--", // failed
            "XX-X-XXX", // failed_resumable
            "XX-X---X", // cancelled
        ]) {
            let got: String =
                Status::ALL.into_iter().map(|to| if from.may_become(to) { 'X' } else { '-' }).collect();
            assert_eq!(got, row, "{from}");
        }
    }
}
