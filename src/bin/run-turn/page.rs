//! The manual page of `run-turn`.

use workspacetrack::cli::Page;
use workspacetrack::cli::page::{Effect, Example};

pub(crate) static PAGE: Page = Page {
    name: "run-turn",
    about: "keep what the agents of a run did turn by turn",
    synopsis: &[
        "write NODE ITERATION TURN DOCUMENT [--messages JSON] [--run ID]",
        "read NODE ITERATION TURN [--messages] [--run ID]",
        "latest NODE [--messages] [--run ID]",
        "list [NODE] [--run ID]",
    ],
    description: "\
A turn is one exchange between an agent and its model: the file `turns/NODE/ITERATION/TURN.json` in the run's directory, and \
beside it `TURN.messages.json`, the conversation up to then. All three numbers count from 0.

THE FORMAT. A JSON object, indented by two spaces, with `run_id`, `node_id`, `loop_iter`, `turn_index`, `backend`, `model`, \
`finish_reason`, `tool_calls`, `text_digest`, `usage`, `session_id`, `terminated_background`, `messages_ref`, `git_ref` and \
`written_at`; what is not given is left out, other members are kept. The conversation is a JSON value that belongs to the \
backend. `turns/NODE/index.json` holds the latest turn once more. It is never read here; each `write` makes it true again, also where it was lost or damaged, and leaves one alone that is no turn.

`write` writes a turn, and with `--messages` its conversation, before it. Where the turn is and when it was written is set by \
the program. A turn may be written again: a node that is executed anew counts from 0; a conversation of the old one goes with \
it.

`latest` is the highest turn of the highest iteration that has one.

All writers of the run's documents hold `.write.lock`, refuse a run that was deleted and one whose `format_version` is newer \
than this program, make files with mode 0600 and directories with 0700, and flush what they write. run.json need not exist.",
    output: "\
`write`: one line of JSON with `node_id`, `loop_iter`, `turn_index` and `written_at`.

`read` and `latest`: the document as it is stored, with `--json` in one line; with `--messages` the bytes of the \
conversation, without anything added.

`list`: node, iteration, turn, time and model, separated by TAB; with `--json` the documents, one a line.",
    exit: &[
        (2, "usage, something named that is not there, or a run that was deleted"),
        (3, "list: something could not be read and was named"),
        (4, "what is there is no turn"),
        (5, "the run has a newer format"),
        (6, "a lock was not had in time"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_WORKSPACE", "WT_FSYNC", "WT_LOCK_WAIT", "ITERION_HOME", "HOME"],
    examples: &[
        Example {
            text: "Two turns, and the conversation after the second.",
            script: "run-turn write --run demo fix 0 0 '{\"backend\":\"claw\"}'\nrun-turn write --run demo fix 0 1 '{\"backend\":\"claw\"}' --messages '[{\"role\":\"user\"}]'\nrun-turn list --run demo\nrun-turn latest --run demo fix --messages",
        },
    ],
    see_also: &["wt-store(5)"],
    effect: Effect::Changes,
};
