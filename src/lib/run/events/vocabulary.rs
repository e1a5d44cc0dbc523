//! The event types that are known, by family, and the keys of their data that tell most (run-event-types(7)).
//!
//! The vocabulary is open: what is not in this table passes through everywhere, and is shown by its own keys.

/// What a type is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// The life of the run.
    Run,
    /// Nodes, branches, edges, budget and artifacts.
    Graph,
    /// Language models, delegation and tools.
    Model,
    /// The review gate.
    Review,
    /// Sandbox and network.
    Sandbox,
    /// Browser and preview.
    Browser,
    /// Messages of the operator.
    Message,
    /// Worktrees.
    Worktree,
}

impl Family {
    /// The heading in run-event-types(7).
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Run => "Run lifecycle and control",
            Self::Graph => "Graph, budget and artifacts",
            Self::Model => "Models, delegation and tools",
            Self::Review => "Review gate",
            Self::Sandbox => "Sandbox and network",
            Self::Browser => "Browser and preview",
            Self::Message => "Operator messages",
            Self::Worktree => "Worktree",
        }
    }
}

/// The family of a type and the keys of its data, the telling ones first.
#[must_use]
pub fn lookup(kind: &str) -> Option<(Family, &'static str)> {
    VOCABULARY
        .iter()
        .find_map(|(family, types)| types.iter().find(|(name, _)| *name == kind).map(|(_, keys)| (*family, *keys)))
}

/// What becomes of a run by an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It executes from here on.
    Opens,
    /// It stands still from here on, and may go on.
    Stops,
    /// It has ended, although it may be resumed.
    Ends,
}

/// What an event of this type does to the run's execution (facts 3.6); `None` for most.
#[must_use]
pub fn turn(kind: &str) -> Option<Turn> {
    match kind {
        "run_started" | "run_resumed" => Some(Turn::Opens),
        "run_paused" | "run_interrupted" => Some(Turn::Stops),
        "run_finished" | "run_failed" | "run_cancelled" => Some(Turn::Ends),
        _ => None,
    }
}

/// The types of one family: name and keys, divided by blanks.
type Types = &'static [(&'static str, &'static str)];

/// All known types.
pub const VOCABULARY: &[(Family, Types)] = &[
    (Family::Run, RUN),
    (Family::Graph, GRAPH),
    (Family::Model, MODEL),
    (Family::Review, REVIEW),
    (Family::Sandbox, SANDBOX),
    (Family::Browser, BROWSER),
    (Family::Message, MESSAGE),
    (Family::Worktree, WORKTREE),
];

const RUN: Types = &[
    ("run_started", "workflow_hash engine_version engine_commit launched_by_version loops"),
    ("run_paused", "reason"),
    ("human_input_requested", "interaction_id async questions"),
    ("human_answers_recorded", "interaction_id answers"),
    ("interaction_answered", "interaction_id node_id async"),
    ("run_resumed", "receipt_id"),
    ("run_resume_override", "workflow_changed bundle_changed"),
    ("run_auto_resumed", "attempt max code delay_ms reason"),
    ("run_retry_scheduled", "code reason retry_after attempt max_attempts reset_source"),
    ("run_retry_skipped", "reason code error"),
    ("usage_cap", "window family percent cap mode stopped resets_at"),
    ("run_workspace_reset", "reason repo_url repo_sha"),
    ("run_workspace_bank_restored", "restored source ref head base from base_moved reason error"),
    ("run_workspace_checkpoint", "ref commit error"),
    ("run_bank_attempt", "ref commit error"),
    ("run_bank_refused", "ref commit error"),
    ("run_bank_superseded", "ref commit error"),
    ("run_redelivery_deferred", "reason delay_seconds delivery max_deliver error"),
    ("run_delivery_exhausted", "reason delivered parked error"),
    ("run_steered", "command target delta applied effective operator"),
    ("run_health", "kind reason axis budget_pct"),
    (
        "run_rewound",
        "to_node from_node files_restore_scope files_scope_count files_skip_reason dropped_nodes tombstoned_artifacts \
         orphaned_child_runs promoted_from files_reverted files_ref files_revert_commit files_backup_ref \
         files_overwritten files_overwritten_paths files_left_in_place files_left_in_place_paths files_undecided files_undecided_paths receipt",
    ),
    ("run_snapshot_restored", "files_ref files_backup_ref files_restore_scope complete"),
    ("run_finished", ""),
    ("run_failed", "error code resumable phase hint interrupted"),
    ("run_cancelled", "reason"),
    ("run_interrupted", "reason source"),
    ("run_status_forced", "from to revision"),
];

const GRAPH: Types = &[
    ("branch_started", ""),
    ("branch_finished", "error join_node"),
    ("branch_abandoned", "router reason mode grace_period"),
    ("node_started", "kind iteration iteration_path mode"),
    ("node_recovery", "action code"),
    ("node_verified_action", "rung postcondition_met policy"),
    ("node_finished", "_tokens _cost_usd _in_sandbox _on_cycle output"),
    ("edge_selected", "from to condition negated expression loop iteration"),
    ("join_ready", "strategy branches_total failed_branches terminal_join"),
    ("budget_warning", "dimension used limit"),
    ("budget_exceeded", "dimension used limit hard_limit"),
    ("budget_exit_grace", "dimension used limit"),
    ("usage_progress", "tokens used model"),
    ("artifact_written", "publish version"),
    ("plan_written", "seq count node_id iteration"),
    ("run_attachment_published", "attachment_name mime source"),
];

const MODEL: Types = &[
    ("llm_request", "model message_count tool_count reasoning_effort"),
    ("llm_prompt", "user_message system_prompt"),
    ("llm_retry", "attempt delay_ms error status_code"),
    (
        "llm_step_finished",
        "step input_tokens output_tokens finish_reason tool_calls cache_read_tokens cache_write_tokens response_text",
    ),
    ("assistant_text", "text iteration"),
    ("llm_compacted", "before_messages after_messages removed_message_count"),
    ("tool_started", "tool tool_use_id input_size input_preview input_ref"),
    ("tool_called", "tool duration_ms tool_use_id input_size output_size output_preview output_ref"),
    ("tool_error", "tool error duration_ms tool_use_id input_size"),
    ("delegate_started", "backend declared_model"),
    (
        "delegate_finished",
        "backend effective_model duration_ms tokens exit_code raw_output_len parse_fallback formatting_pass_used \
         context_window max_output_tokens context_used",
    ),
    ("delegate_error", "backend error effective_model duration_ms tokens exit_code"),
    ("delegate_retry", "backend attempt delay_ms error"),
    ("delegate_stall", "backend tool idle_ms outcome recovered model"),
    (
        "model_fallback",
        "reason from_model to_model from_backend to_backend from_provider to_provider attempts error fallback_index \
         cooldown cooldown_until",
    ),
    ("model_drift", "declared_model effective_model backend"),
    ("model_served_via_facade", "declared_model effective_model fingerprint backend"),
    ("session_degraded", "backend reason error session_id"),
    ("persist_session_degraded", "reason"),
    ("mcp_server_degraded", "server source error"),
    ("skills_injected", "skills origin"),
];

const REVIEW: Types = &[
    ("review_turn", "interaction_id role turn"),
    ("review_verdict", "decision confidence blockers"),
    ("review_merged", "final_commit merged_into strategy"),
];

const SANDBOX: Types = &[
    ("sandbox_skipped", "driver mode reason"),
    ("sandbox_shared", "driver workspace parent_run"),
    ("sandbox_started", "driver mode source image has_post_create"),
    ("sandbox_claw_routed_via_runner", ""),
    ("sandbox_host_state_mounted", "enabled source mounts"),
    ("sandbox_user_remap", "uid gid reason"),
    ("sandbox_uid_mismatch_warning", "spec_user host_uid"),
    ("sandbox_devbox_provisioned", "target sources configs bin_dirs path errors"),
    ("sandbox_workspace_export_failed", "driver error"),
    ("network_blocked", "host reason run_id"),
    ("sandbox_build_started", "driver dockerfile context"),
    ("sandbox_build_finished", "driver target duration_ms"),
    ("sandbox_build_failed", "driver error"),
    ("sandbox_scratch_banked", "banked bytes"),
    ("sandbox_scratch_restored", "restored bytes"),
];

const BROWSER: Types = &[
    ("preview_url_available", "url kind scope source"),
    ("browser_screenshot", "attachment_name url source tool_call_id"),
    ("browser_session_started", "session_id node_id"),
    ("browser_session_ended", "session_id"),
];

const MESSAGE: Types = &[
    ("user_message_queued", "text id status queued_at"),
    ("user_message_delivered", "id text status delivered_at"),
    ("user_message_consumed", "id text status consumed_at"),
    ("user_message_cancelled", "id text status cancelled_at"),
];

const WORKTREE: Types = &[("worktree_branch_failed", "reason branch sha")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_is_listed_twice_and_alert_is_not_listed() {
        let mut names: Vec<&str> =
            VOCABULARY.iter().flat_map(|(_, types)| types.iter().map(|(name, _)| *name)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(lookup("alert").is_none());
        assert_eq!(lookup("run_paused"), Some((Family::Run, "reason")));
    }

    #[test]
    fn the_manual_page_lists_every_type() {
        let page = include_str!("../../../../man/run-event-types.7");
        for (family, types) in VOCABULARY {
            assert!(page.contains(family.title()), "{}", family.title());
            for (name, _) in *types {
                assert!(page.contains(&format!(".It Sy {name}\n")), "{name}");
            }
        }
    }
}
