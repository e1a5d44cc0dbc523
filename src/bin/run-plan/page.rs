//! The manual page of `run-plan`.

use workspacetrack::cli::Page;
use workspacetrack::cli::page::{Effect, Example};

pub(crate) static PAGE: Page = Page {
    name: "run-plan",
    about: "keep and show the todo lists of the agents of a run",
    synopsis: &[
        "write NODE TODOS [--iteration N] [--tool NAME] [--no-event] [--while-running] [--run ID]",
        "list [--run ID]",
        "show [SEQ] [--run ID]",
    ],
    description: "\
A plan is a snapshot of the todo list of an agent: the file `plans/SEQ.json` in the run's directory, where SEQ has four \
digits or more. Above 9999 the order of the names is no longer that of the numbers, which counts.

THE FORMAT. A JSON object, indented by two spaces, with `seq`, `node_id`, `iteration`, `tool` (left out where there is none), \
`ts` and `todos`, an array of objects with `content`, `status` (pending, in_progress or completed), and where they are given \
`active_form`, `priority` and `id`. Other members of a todo are kept.

`write` writes the todos as the next snapshot, from 1 on. Todos that are the same as in the snapshot before, whichever node \
wrote it, make no new one; so A, B and A again are three. The event is `plan_written`.

An event goes with the change; it is appended after it, so that who hears of it finds it. When the event cannot be appended \
the change stays, the program warns and ends in 3, and the same command again adds what is missing. `--no-event` appends \
none. Without `--while-running` nothing is done while a process that did not start this one holds the engine lock `.lock`, \
since such an engine numbers the events itself.

All writers of the run's documents hold `.write.lock`, refuse a run that was deleted and one whose `format_version` is newer \
than this program, make files with mode 0600 and directories with 0700, and flush what they write. run.json need not exist.",
    output: "\
`write`: one line of JSON with `seq`, `new` (false where the snapshot before has the same todos), `count` and `event`, the \
number of the event.

`list`: number, time, node and how much is done, separated by TAB; with `--json` the snapshots, one a line. `show`: the \
document as it is stored; with `--json` in one line.",
    exit: &[
        (2, "usage, something named that is not there, or a run that was deleted"),
        (3, "written, but the event is missing; list: something could not be read and was named"),
        (4, "what is there is no plan"),
        (5, "the run has a newer format"),
        (6, "a lock was not had in time, or an engine executes the run"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_WORKSPACE", "WT_FSYNC", "WT_LOCK_WAIT", "ITERION_HOME", "HOME"],
    examples: &[
        Example {
            text: "Two plans, the second one written twice.",
            script: "run-plan write --run demo fix '[{\"content\":\"find it\",\"status\":\"in_progress\"}]'\nfor try in 1 2; do\n    echo '[{\"content\":\"find it\",\"status\":\"completed\"}]' | run-plan write --run demo fix -\ndone\nrun-plan list --run demo",
        },
    ],
    see_also: &["run-events(1)", "wt-store(5)"],
    effect: Effect::Changes,
};
