//! The manual page of `run-show`.

use workspacetrack::cli::Page;
use workspacetrack::cli::page::{Effect, Example};

pub(crate) static PAGE: Page = Page {
    name: "run-show",
    about: "show on one screen how a run stands and what to do next",
    synopsis: &["[--events N] [--brief] [--watch] RUN"],
    description: "\
For a person on call. Shows what the files of a run say together: its status, since when, and the cause; whether somebody executes it; who acts on its outcome; what may be done next, with \
the commands for it; the questions that wait for an answer; a table of its nodes; the last events; its newest snapshots, and the banks from which something can be brought back; \
what it has deployed; its worktree and merge; the runs that it belongs to.

The commands under WHAT TO DO name the run, and the store if an option named it, so they can be pasted. `ENGINE` in them stands for the engine's own command. \
Answers are to be filled in for the three dots. What may be resumed, and how, follows from the status alone, see run-store(7).

A node has a row for each branch, with the status of its last iteration, how many there were, when the first one began, how long they took \
together, who served it last, and what it has spent. A deployment is shown as the run reports it in the outputs of its nodes; a trace and its commit count only for the delivery that they follow, \
and a delivery goes with a rewind of its node.

A directory that holds a history and no document is shown as such. What cannot be read is named at the end, and the rest is shown all the same. Nothing is changed. With `--watch` it is shown again whenever events, document or the decisions about outcomes have changed, \
until it is interrupted; on a terminal the screen is redrawn.

Nodes, sums, deployment and the number of events follow from the whole log of events, which is read once; a watch goes on where it has read to. With `--brief` they are left out, and the log is read \
from its end as far as the last events reach; what is damaged before them is not noticed.",
    output: "\
The screen. Lines are cut at the width of the terminal, or at `COLUMNS` if that is set, but for commands. Control characters, and those that are not seen, are masked.

With `--json`, one object on a line: `run`, `store`, members of run.json by their names, `revision`, `liveness` (`verdict` and `detail` as run-reconcile(1) says them) or `lock`, `route` (the decision about the present outcome as run-route(1) keeps it, and its `standing`: live, lapsed, failed, exhausted or succeeded; where its file is another program's, `standing` foreign and the `reason`), `posture` with \
`summary` and `next` (a list of `why` and `command`), `checkpoint`, `pending` (the open interactions), `messages_pending`, `totals`, `nodes` and `deployment` (not with `--brief`), `events` with `last`, `count` (not with `--brief`) and `last_seq`, `tree`, `work`, \
`snapshots` with `head`, `count`, `newest` and `banks`, and `problems`.",
    exit: &[
        (0, "done"),
        (2, "no such run, or it was deleted"),
        (3, "shown, but something could not be read and was named"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_WORKSPACE", "ITERION_HOME", "HOME"],
    examples: &[
        Example {
            text: "How a run stands:",
            script: "run-record create --run review-1 --workflow review\nrun-record fail --resumable --error 'no answer' --code TIMEOUT --run review-1\nrun-show review-1",
        },
        Example {
            text: "The first command that it proposes:",
            script: "run-record create --run review-2\nrun-record fail --resumable --run review-2\nrun-show review-2 --json | sed 's/.*\"next\":\\[{\"why\":\"[^\"]*\",\"command\":\"\\([^\"]*\\)\".*/\\1/'",
        },
    ],
    see_also: &["run-store(7)", "run-record(1)", "run-events(1)", "run-reconcile(1)", "run-route(1)", "wt-log(1)"],
    effect: Effect::Reads,
};
