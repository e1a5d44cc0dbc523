//! The manual page of `run-record`.

use workspacetrack::cli::Page;
use workspacetrack::cli::page::{Effect, Example};

pub(crate) static PAGE: Page = Page {
    name: "run-record",
    about: "make, read, list and change the document of a run",
    synopsis: &[
        "create [--run ID] [--workflow NAME] [--inputs JSON] [--queued] [--file PATH] [--bot ID] [--parent ID [--parent-node ID]] [--launch JSON]",
        "get [POINTER] [--raw] [--run ID]",
        "list [--status STATUS,...] [--parent ID] [--issue ID] [--schedule ID] [--ids]",
        "set-status STATUS [--expect STATUS,...] [--error TEXT] [--code CODE] [--end-reason REASON] [--continuation STATE] [--force] [--run ID]",
        "save [--force] [--run ID]",
        "patch --set NAME=JSON... [--expect STATUS,...] [--run ID]",
        "patch --setters",
        "checkpoint get [POINTER] [--expand | --paused-node] [--raw] [--run ID]",
        "checkpoint save [--expect STATUS,...] [--run ID]",
        "pause [--checkpoint JSON] [--interaction ID [--questions JSON]] [--error TEXT] [--run ID]",
        "fail --resumable|--terminal [--checkpoint JSON] [--error TEXT] [--code CODE] [--continuation STATE] [--run ID]",
        "fail --queued-attempt TIME|--at-launch [--error TEXT] [--hint TEXT] [--run ID]",
        "claim-merge [--stale-before TIME] [--run ID]",
        "update-merge STATUS [--expect STATUS,...] [--token TIME] [--merged-into BRANCH] [--merged-commit COMMIT] [--run ID]",
        "delegate --fingerprint TEXT [--dry-run] [--workflow NAME] [--inputs JSON] [--queued] [--run ID]",
        "waits [--run ID]",
    ],
    description: "\
The record of a run is the file `run.json` in its directory. It says what the run is, where it stands, and from where it goes on: \
the checkpoint in it is all that a run is resumed from. The event log beside it, see run-events(1), only tells what happened.

THE FORMAT. One JSON object, indented by two spaces, without a newline at the end. `format_version` is 1. `id` is the name of the \
directory, `cas_version` the revision, one up for each write, 0 where it is missing. Times are RFC 3339 in UTC. A write changes the members that \
it is about, and `updated_at` and `cas_version`; every other member keeps its place and its text, also what no program here knows. A \
document with a newer `format_version` is read with a warning and never written. A key that is given twice is warned about on \
reading and refused on writing.

HOW IT IS WRITTEN. Under the lock `.write.lock` the document is read, changed and replaced by a whole new file, which is on the disk before the command says \
so; where a flush of the event log had failed that is made up for first. All that \
change a document which is there take `--expect-revision N`. Who expects something that is no longer so ends in 6, with the stored revision and status in the error, and \
nothing is written. A deleted run is written by nobody.

THE STATUSES. `queued`: accepted, not begun. `running`: an engine executes it. `paused_waiting_human`: a question waits for answers. \
`paused_operator`: paused by an operator or a spending cap, or rewound. `finished`: reached its end. `failed`: failed for good; its checkpoint \
is kept for an explicit rewind. `failed_resumable`: failed, and may be resumed without answers. `cancelled`: interrupted by a \
person, and may be resumed. The last four are terminal. What may follow: from `queued` all but `paused_waiting_human` and `finished`; from `running` all but `queued`; from \
`paused_waiting_human` `running`, `queued`, `cancelled`, `paused_operator`; from `paused_operator` `running`, `queued`, `cancelled`; from `failed_resumable` `running`, \
`queued`, `cancelled`, `failed`, `paused_operator`; from `cancelled` `running`, `queued`, `paused_operator`; from `failed` only `paused_operator`, with a \
checkpoint; from `finished` nothing. The same status may be written again. `--force` lets any status follow, to repair a run by hand, \
and first appends the event `run_status_forced` with `from`, `to` and `revision`.

What a status brings along, whoever writes it: `outcome_seq` counts the transitions into a terminal status, `finished_at` is set there and \
taken out elsewhere, `queued_at` is set by `queued`. `failure_code` and `end_reason` live on `failed`, `failed_resumable` and `cancelled`; they and `error` and `continuation_state` go with a \
transition that does not state them, and stay when the same status is written again. `running` clears `error`, `resume_requires_explicit` and the mark of a recovery in the checkpoint. The pause pointer of the \
checkpoint (`interaction_id`, `interaction_questions`) stays only in `queued` and the two pauses; nothing else of the checkpoint is touched. `await_answers_waits` end with any \
transition. `--continuation final` takes `retry_after` out of `retry_state`. The words that `failure_code` and `end_reason` may be are open. No failure code means that the cause is not known, no continuation that nobody knows who acts next.

`create` makes a run in one exclusive write. Without `--run` an id is made, a UUID of version 7; `WT_RUN` names the run for all other subcommands and not for this one. A chosen one has at most 128 ASCII letters, \
digits, dots, dashes and underscores; the family `pc<digits>_` is refused, newer programs keep it in another format. The document gets a name for people that follows from `--file` and id, \
and `launch_env`: the variables whose names begin with ITERION_ or RESCUE_, with `[redacted]` where name or value look like a secret. \
`--launch` gives more members. Of two who make the same id one gets 6, and the run stays as the other made it.

`get` prints the document, or what a JSON pointer names in it. In what is printed, not in the file, a missing name is filled in, and members that the status cannot carry \
and an old form of `fallback` are put right. `list` shows the runs of a store; damaged ones are among them, and what may be a run and cannot be reached. With `--parent`, `--issue` or `--schedule` it is in the order of creation, else \
by id; with `--newest` always the newest first, what cannot be read before all. `--limit N` leaves the first N.

`save` puts a document from standard input in the place of the stored one, if its `cas_version` is the stored one; it makes the run where there is none. Store-owned are \
and stay `outcome_seq`, `continuation_state`, `failure_code` (while the status is the same), `created_at`, a live merge claim, a stored `routing_policy` (a first one is taken while the stored status is `queued` or `running`), and the checkpoint of a document that has none. \
The `hash` of a first `routing_policy`, in `create` as well, is made where it is missing or empty, and one that is wrong is refused (2): it is the SHA-256 of the policy as compact JSON, its members in the order `version`, `success_when`, \
`block_when`, `merge_into`, `merge_strategy`, `allowed_actions` (sorted), `max_relaunches`, with `hash` empty or left out. That of a policy whose `version` is above 1 is taken as it is. \
Members that are not known stay although the submitted document lacks them, as far as what they belong to stays: a known object, an entry of a map, a record of a list whose known members are the same. \
Payloads such as `inputs` and `outputs` are exactly as submitted.

`patch` sets members by named setters, each with its own rule; `--setters` lists them. Several are one write. Members that are objects by node, token, loop or key are changed entry by entry, and \
`null` takes an entry out. `nodes_served` strips user, query and fragment from the address of a facade.

`checkpoint save` stores a checkpoint from standard input and leaves the status as it is. Bodies of artifacts that are in `outputs` or in the artifact's file as well are left out; \
`checkpoint get --expand` puts them back. `pause` and `fail` write status and checkpoint at once. `fail` leaves a cancelled run as it is and says nothing. With `--queued-attempt` it applies only to a run that is queued, and was not queued again since; \
with `--at-launch` the status is written, then the event `run_failed`; run again after a kill it makes up for what is missing.

EVENTS. `set-status`, `pause`, `fail`, `save` and the others append no event: whoever follows the log does not hear of the change, and where an engine would have told of it \
say so with, for instance, `run-events append --type run_finished --run ID`. Two append one: `--force`, where the status does not follow, and `fail --at-launch`. These two are refused (6) while a process that did not start this one \
holds the engine lock `.lock`, unless `--while-running` is given, and `--no-event` keeps the event back; nothing else here asks for that lock. \
`set-status running` is refused for a run in `paused_waiting_human` while the interaction that its checkpoint names is open: answer it with run-interaction(1) first.

`claim-merge` sets `merge_status` to `merging` and prints a token, which `update-merge` may ask for. `delegate` makes a worker for a failed run: its id follows from run, fingerprint and attempt, so that two who \
delegate at once make one. `waits` tells whether the run has a live wait or one of its synchronous children waits or is paused; what cannot be read counts as waiting.",
    output: "\
Writers print one line of JSON: `run`, `changed`, `revision`, `status`, and where they are set `outcome_seq`, `continuation_state`, `failure_code`, `event_seq`. \
`claim-merge` adds `token`; `delegate` prints `worker`, `delegation`, and `bot_origin` without what is only of this host, before them.

`get` and `checkpoint get`: the JSON, indented; with `--json` in one line; with `--raw` a text without quotes. `list`: a table; with `--json` a line of JSON a run, with `damage` where it cannot be read; \
with `--ids` an id a line. `waits`: an object with `waits`, `run` and `reason`.

With `--json` the error of a conflict or refusal carries the stored `revision` and `status`.",
    exit: &[
        (0, "done; waits: it does"),
        (1, "get: the pointer names nothing; checkpoint get: there is none; waits: it does not"),
        (2, "usage, a value that is wrong, or a run that is not there or was deleted"),
        (3, "done, but: a run cannot be read, a body cannot be rebuilt, an event is not on the disk, or the status cannot carry what was said"),
        (4, "a damaged document"),
        (5, "a status that does not follow, a run that waits for an answer, an id of a reserved family, a newer format, or fewer attempts than there were"),
        (6, "the run is not what was expected, is there already, or a lock was not had in time"),
        (7, "more input than is taken"),
        (8, "any other failure, such as a full disk"),
        (141, "standard output was closed"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_WORKSPACE", "WT_FSYNC", "WT_LOCK_WAIT", "ITERION_HOME", "HOME"],
    examples: &[
        Example {
            text: "Make a run, store a checkpoint, and finish.",
            script: "run-record create --run review-1 --workflow review --inputs '{\"scope\":\"src\"}'\nprintf '%s' '{\"node_id\":\"inspect\",\"outputs\":{\"inspect\":{\"ok\":true}}}' |\n    run-record checkpoint save --run review-1\nrun-record set-status finished --expect running --run review-1",
        },
        Example {
            text: "Pause for a person, and go on with the answer.",
            script: "run-record create --run review-2\nrun-record pause --run review-2 --checkpoint '{\"node_id\":\"gate\"}' \\\n    --interaction review-2_gate --questions '{\"ship\":\"Ship it?\"}'\nrun-record get /checkpoint/interaction_questions --run review-2\nrun-record set-status running --expect paused_waiting_human --run review-2",
        },
        Example {
            text: "Fail with a cause, and see which runs have failed.",
            script: "run-record create --run review-3\nrun-record fail --resumable --error 'the model did not answer' --code TIMEOUT --run review-3\nrun-record list --status failed,failed_resumable",
        },
        Example {
            text: "Change any member by hand: read, edit, put back. Somebody else's write in between makes it end in 6.",
            script: "run-record create --run review-4\nrun-record get --run review-4 |\n    sed 's/\"workflow_name\": \"\"/\"workflow_name\": \"review\"/' |\n    run-record save --run review-4",
        },
        Example {
            text: "Grant a loop three more rounds and watch an issue, in one write.",
            script: "run-record create --run review-5\nrun-record patch --set 'loop_overrides={\"retry\":\"+3\"}' --set 'watched_issue_ids=[\"ISSUE-7\"]' --run review-5",
        },
        Example {
            text: "Hand a failed run to a worker.",
            script: "run-record create --run review-6\nrun-record fail --terminal --code TOOL_FAILED_PERMANENT --run review-6\nrun-record delegate --run review-6 --fingerprint 'tool:make' --workflow repair",
        },
    ],
    see_also: &["run-events(1)", "run-interaction(1)", "run-event-types(7)", "wt-store(5)"],
    effect: Effect::Changes,
};
