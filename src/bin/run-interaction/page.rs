//! The manual page of `run-interaction`.

use workspacetrack::cli::Page;
use workspacetrack::cli::page::{Effect, Example};

pub(crate) static PAGE: Page = Page {
    name: "run-interaction",
    about: "ask people, answer, and list what is still to be answered",
    synopsis: &[
        "ask NODE QUESTIONS [--kind KIND] [--id ID | --iteration N] [--tenant ID] [--no-event] [--while-running] [--run ID]",
        "answer ID ANSWERS [--no-event] [--while-running] [--run ID]",
        "turn ID companion|human [--content TEXT] [--verdict JSON] [--expect N] [--reopen] [--no-event] [--while-running] [--run ID]",
        "retire ID [--run ID]",
        "show ID [POINTER] [--run ID]",
        "list [--pending | --answered] [--async] [--node ID] [--run ID]",
    ],
    description: "\
An interaction is a question of a run to people and their answer: the file `interactions/ID.json` in the run's directory. A \
run that waits for one has its id and questions in the checkpoint of run.json too.

THE FORMAT. A JSON object, indented by two spaces, with `id`, `run_id`, `node_id`, `kind`, `requested_at`, `answered_at`, \
`questions` (an object), `answers` (an object), `turns`, `tenant_id` and `retired_at`; what is empty is left out, other \
members are kept. An interaction is open until it has `answered_at` or `retired_at`. The kinds are: `blocking`, written by \
leaving the member out, where the run waits and the answers become the output of the node; `async`, where the run goes on; \
`await`, where the run waits for answers to earlier async questions, whose ids the questions hold; and `recovery`, where the \
run waits after a failure and any answer only says that the node may be executed again.

`ask` makes an interaction. Its id is RUN_NODE, or RUN_NODE_N in iteration N above 0, or what `--id` says. The same question \
again is a success as long as it is open; another one with that id is a conflict. The event is `human_input_requested`. It \
does not pause the run: who asks a question that is not async does that next, with `run-record pause --interaction ID`.

`answer` stores the answers. It is done once: of many who answer at the same time one wins, and all others end in 6 and \
change nothing. Where the file of an interaction is lost that the run waits for, it is made anew from the checkpoint. An answer whose writer was killed before its event was written is completed by the same answer given again. \
The event is `interaction_answered` for async questions, else `human_answers_recorded`.

`turn` appends to the conversation of a review: who, what, when. With `--expect N` it is appended only behind N others, so \
that the command can be run again. `--reopen` takes back the answer of an interaction that has one, for a review that goes \
into another round. The event is `review_turn`; its member `turn` counts from 1.

`retire` says that nobody wants an answer any more; it may be said again.

An event goes with the change; it is appended after it, so that who hears of it finds it. When the event cannot be appended \
the change stays, the program warns and ends in 3, and the same command again adds what is missing, a `turn` with the `--expect` that the warning names. \
`--no-event` appends none. Without `--while-running` nothing is done while a process that did not start this one holds the engine lock `.lock`, \
since such an engine numbers the events itself.

All writers of the run's documents hold `.write.lock`, refuse a run that was deleted and one whose `format_version` is newer \
than this program, make files with mode 0600 and directories with 0700, and flush what they write. run.json need not exist. \
Answers and turns also hold `interactions/.answer.lock`, and wait 2 s for it.",
    output: "\
Writers: one line of JSON with `id`, `state` (open, answered, retired), `new` (false where nothing had to be done), `turns` \
and `event`, the number of the event.

`show`: the document as it is stored; with `--json` in one line.

`list`: id, state, kind, node and time of the question, separated by TAB; with `--json` the documents, one a line. By id, or, \
with `--pending`, `--answered` or `--async`, the oldest question first.",
    exit: &[
        (2, "usage, something named that is not there, or a run that was deleted"),
        (3, "written, but the event is missing; list: something could not be read and was named"),
        (4, "what is there is no interaction"),
        (5, "the run has a newer format"),
        (6, "answered, retired or taken by somebody else, a lock was not had in time, or an engine executes the run"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_WORKSPACE", "WT_FSYNC", "WT_LOCK_WAIT", "ITERION_HOME", "HOME"],
    examples: &[
        Example {
            text: "Ask, see what is open, answer.",
            script: "run-interaction ask --run demo review '{\"approved\":\"Ship?\"}'\nrun-interaction list --run demo --pending\nrun-interaction answer --run demo demo_review '{\"approved\":true}'",
        },
        Example {
            text: "A second answer does not win.",
            script: "run-interaction ask --run demo publish '{\"approved\":\"Ship?\"}' >/dev/null\nrun-interaction answer --run demo demo_publish '{\"approved\":true}' >/dev/null\nrun-interaction answer --run demo demo_publish '{\"approved\":false}' || test $? = 6\nrun-interaction show --run demo demo_publish /answers",
        },
        Example {
            text: "A review in two turns.",
            script: "run-interaction ask --run demo design '{\"approved\":\"Ship?\"}' >/dev/null\nrun-interaction turn --run demo demo_design companion --content 'Run the smoke test.'\nrun-interaction turn --run demo demo_design human --content Passed. --expect 1",
        },
    ],
    see_also: &["run-record(1)", "run-events(1)", "run-event-types(7)", "wt-store(5)"],
    effect: Effect::Changes,
};
