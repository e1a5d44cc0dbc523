//! What is known of run.json, as data: which members a struct has, which objects are maps, which arrays are lists of records
//! (facts 1). What is not described here is a value of which nothing is known: it is replaced as a whole.

/// The shape of a value.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A scalar, a list of scalars, or a payload whose content is nobody's business here.
    Value,
    /// An object whose members are known, in the order in which the original declares them.
    Struct(&'static [(&'static str, Shape)]),
    /// An object with any keys and values of one shape.
    Map(&'static Shape),
    /// An array of structs.
    Records(&'static Shape),
}

use Shape::{Map, Records, Struct, Value};

/// Declares the members of a struct that are all values.
macro_rules! values {
    ($($name:literal)+) => { Struct(&[$(($name, Value)),+]) };
}

/// run.json. Its members in order are [`super::ORDER`].
pub const RUN: Shape = Struct(&[
    ("format_version", Value),
    ("id", Value),
    ("name", Value),
    ("workflow_name", Value),
    ("workflow_hash", Value),
    ("artifact_compatibility_revision", Value),
    ("file_path", Value),
    ("workflow_source", Value),
    ("workflow_sources", Records(&values!["path" "text"])),
    ("source_hash", Value),
    ("bundle_path", Value),
    ("bundle_hash", Value),
    ("bundle_name", Value),
    ("bundle_version", Value),
    ("bundle_workflow", Value),
    ("bundle_display_name", Value),
    ("preset", Value),
    ("extra_skills", Value),
    ("status", Value),
    ("inputs", Value),
    ("iterion_version", Value),
    ("runner_version", Value),
    ("launch_env", Value),
    ("execution_context", EXECUTION_CONTEXT),
    (
        "admission",
        values!["decision" "phase" "code" "reason" "policy" "context_version" "workflow_revision" "checked_at"],
    ),
    (
        "source",
        values!["kind" "issue_id" "issue_identifier" "issue_title" "schedule_id" "schedule_name" "client_id"
            "conversation_id"],
    ),
    (
        "bot_origin",
        values!["kind" "project_id" "repo_url" "connection_id" "repo_root" "commit" "tree_hash" "workflow_path" "package"
            "install_source" "install_ref" "install_path" "dirty"],
    ),
    ("delegation", values!["source_run_id" "kind" "episode_fingerprint" "attempt"]),
    ("parent_run_id", Value),
    ("parent_node_id", Value),
    ("shard_index", Value),
    ("shard_count", Value),
    ("shard_label", Value),
    ("forked_from", Value),
    ("fork_anchor", values!["node_id" "loop_iter" "turn_index" "rewind_code"]),
    ("created_at", Value),
    ("updated_at", Value),
    ("finished_at", Value),
    ("error", Value),
    ("failure_code", Value),
    ("end_reason", Value),
    ("outcome_seq", Value),
    ("continuation_state", Value),
    ("resume_requires_explicit", Value),
    ("checkpoint", CHECKPOINT),
    ("deleted_at", Value),
    ("cas_version", Value),
    ("callback_url", Value),
    ("callback_token", Value),
    ("callback_answer_node", Value),
    ("budget", BUDGET),
    ("budget_overrides", BUDGET_OVERRIDES),
    ("budget_raises", values!["max_cost_usd" "max_tokens" "max_iterations" "max_duration"]),
    ("loop_overrides", Value),
    ("permission_mode", Value),
    ("permission_override", Value),
    ("permission_grants", Value),
    ("model_overrides", Records(&values!["selector" "backend" "model" "provider" "effort"])),
    ("fallback", Records(&values!["backend" "model" "provider"])),
    ("nodes_served", Map(&NODE_SERVED)),
    (
        "routing_policy",
        values!["version" "success_when" "block_when" "merge_into" "merge_strategy" "allowed_actions" "max_relaunches"
            "hash"],
    ),
    ("retry_policy", values!["usage_window" "max_attempts" "max_wait" "jitter" "sources"]),
    ("retry_state", RETRY_STATE),
    ("output_corrections", Map(&CORRECTION)),
    ("output_correction_history", Records(&CORRECTION)),
    ("watcher_cursors", Map(&CURSOR)),
    ("await_answers_waits", Map(&WAIT)),
    ("subbot_children", Value),
    ("watched_issue_ids", Value),
    ("cred_fingerprints", Value),
    ("credential_tiers", Value),
    ("skipped_cred_reopens_at", Value),
    ("llm_idle_since", Value),
    ("work_dir", Value),
    ("worktree", Value),
    ("worktree_reclaimed", Value),
    ("repo_root", Value),
    ("base_commit", Value),
    ("final_commit", Value),
    ("final_branch", Value),
    ("final_branch_error", Value),
    ("merged_into", Value),
    ("merged_commit", Value),
    ("merge_strategy", Value),
    ("auto_merge", Value),
    ("merge_status", Value),
    ("merge_claimed_at", Value),
    ("pending_merge_message", Value),
    ("pending_merge_into", Value),
    ("queued_at", Value),
    ("started_at", Value),
    ("runner_id", Value),
    ("queue_msg_id", Value),
    ("repo_url", Value),
    ("repo_sha", Value),
    ("project_path", Value),
    ("bot_id", Value),
    ("bot_source_tenant", Value),
    ("bot_source_tier", Value),
    ("key_overrides", Value),
    ("secret_overrides", Value),
    ("tenant_id", Value),
    ("owner_id", Value),
    ("attachments", Map(&values!["name" "original_filename" "mime" "size" "sha256" "created_at" "storage_ref"])),
    ("artifact_index", Value),
]);

const STORE_REF: Shape = values!["id" "kind" "namespace" "revision" "required"];

const EXECUTION_CONTEXT: Shape = Struct(&[
    ("version", Value),
    ("policy", Value),
    ("run_store", STORE_REF),
    ("business_stores", Records(&STORE_REF)),
    ("workspace", values!["mode" "declared_mode" "workspace_id" "declared_root"]),
    ("workflow", values!["workflow_revision" "workflow_root" "bundle_revision"]),
    ("lineage", values!["root_run_id" "parent_run_id" "parent_node_id"]),
    ("launch_surface", Value),
]);

/// The caps of `budget`.
pub const BUDGET: Shape =
    values!["max_cost_usd" "max_tokens" "warn_tokens" "max_iterations" "max_duration" "max_parallel_branches"];

/// The caps of `budget_overrides`.
pub const BUDGET_OVERRIDES: Shape = values!["max_cost_usd" "max_tokens" "warn_tokens" "max_iterations" "max_duration"
    "max_parallel_branches" "unlimited_workflow"];

/// An entry of `nodes_served`.
pub const NODE_SERVED: Shape =
    values!["backend" "model" "declared_model" "context_window" "max_output_tokens" "fingerprint"];

/// `retry_state`.
pub const RETRY_STATE: Shape =
    values!["retry_after" "scheduled_at" "reason" "code" "attempts" "last_error" "claimed_at"];

/// An episode of `output_corrections`.
pub const CORRECTION: Shape = values!["episode_id" "invocation_id" "node_id" "budget" "attempts" "status"
    "input_fingerprint" "last_output_fingerprint" "last_violation_fingerprint" "last_error" "started_at" "updated_at"
    "retired_at" "retired_reason"];

/// An entry of `watcher_cursors`.
pub const CURSOR: Shape = values!["watcher_id" "last_progress_fingerprint" "last_progress_at" "last_evaluation_at"
    "last_action" "last_trigger_fingerprint" "next_evaluation_at" "consecutive_no_progress" "progress_sequence"
    "intervention_sequence" "pending_intervention_id" "pending_intervention_trigger" "pending_intervention_sequence"
    "updated_at"];

/// An entry of `await_answers_waits`.
pub const WAIT: Shape = values!["node_id" "until"];

/// The checkpoint (facts 1.6).
pub const CHECKPOINT: Shape = Struct(&[
    ("node_id", Value),
    ("interaction_id", Value),
    ("outputs", Value),
    ("loop_counters", Value),
    ("round_robin_counters", Value),
    ("loop_previous_output", Value),
    ("loop_current_output", Value),
    ("loop_budget_marks", Value),
    ("loop_budget_marks_v", Value),
    ("artifact_versions", Value),
    ("artifacts", Value),
    ("artifact_owners", Value),
    ("artifacts_known", Value),
    ("artifact_revisions", Map(&REVISION)),
    ("artifact_revisions_known", Value),
    ("selected_incoming", Map(&Records(&EDGE))),
    ("vars", Value),
    ("interaction_questions", Value),
    ("backend_session_id", Value),
    ("backend_session_fingerprint", Value),
    ("backend_name", Value),
    ("backend_conversation", Value),
    ("backend_pending_tool_use_id", Value),
    ("backend_session_state_ref", Value),
    ("node_sessions", Map(&values!["backend" "session_id" "fingerprint" "state_ref" "conversation_ref"])),
    ("node_attempts", Value),
    ("recovery_pause", Value),
    ("recovery_code", Value),
    ("budget_tokens_used", Value),
    ("budget_cost_usd", Value),
    ("budget_unpriced_tokens", Value),
    ("budget_unpriced_nodes", Value),
    ("budget_iterations_used", Value),
    ("budget_elapsed_ns", Value),
    ("cost_usd_total", Value),
    ("fired_events", Value),
    ("parallel", PARALLEL),
]);

/// An entry of `artifact_revisions`.
pub const REVISION: Shape = values!["node_id" "version" "contract_logical_ref" "value_from_revision" "unverified"];

const EDGE: Shape = values!["from" "to" "condition" "negated" "expression" "else" "loop" "foreach"];

const PARALLEL: Shape = Struct(&[
    ("router_node_id", Value),
    ("invocation_key", Value),
    ("branches", Map(&BRANCH)),
    ("pending_branch_id", Value),
    ("pending_node_id", Value),
    ("pending_interaction_id", Value),
    ("pending_interaction_questions", Value),
    ("artifact_allocations", Value),
    ("next_artifact_version", Value),
]);

const BRANCH: Shape = Struct(&[
    ("branch_id", Value),
    ("start_node_id", Value),
    ("current_node_id", Value),
    ("outputs", Value),
    ("artifacts", Value),
    ("artifact_owners", Value),
    ("artifact_versions", Value),
    ("artifact_revisions", Map(&REVISION)),
    ("loop_counters", Value),
    ("loop_previous_output", Value),
    ("loop_current_output", Value),
    ("loop_budget_marks", Value),
    ("selected_incoming", Map(&Records(&EDGE))),
    ("join_node_id", Value),
    ("terminal_node_id", Value),
    ("completed", Value),
    ("terminated_at_done", Value),
    ("cost_usd", Value),
    ("resume_answers", Value),
    ("resume_answered", Value),
]);

impl Shape {
    /// The known members of a struct with their shapes; none of anything else.
    #[must_use]
    pub fn fields(self) -> &'static [(&'static str, Shape)] {
        match self {
            Struct(fields) => fields,
            _ => &[],
        }
    }

    /// The names of the known members, in order.
    #[must_use]
    pub fn order(self) -> Vec<&'static str> {
        self.fields().iter().map(|(name, _)| *name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_members_of_a_run_are_those_in_order() {
        assert_eq!(RUN.order(), super::super::ORDER);
    }
}
