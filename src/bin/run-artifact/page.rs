//! The manual page of `run-artifact`.

use workspacetrack::cli::Page;
use workspacetrack::cli::page::{Effect, Example};

pub(crate) static PAGE: Page = Page {
    name: "run-artifact",
    about: "write, read and list what the nodes of a run published",
    synopsis: &[
        "write NODE DATA [--version N] [--label TEXT]... [--contract JSON] [--publish NAME] [--no-event] [--while-running] [--run ID]",
        "read NODE VERSION [POINTER] [--run ID]",
        "latest NODE [POINTER] [--run ID]",
        "list [NODE] [--run ID]",
        "labels NODE [VERSION] [--run ID]",
        "reindex [--run ID]",
        "files-dir [--shared] [--run ID]",
        "files [-z] [--run ID]",
        "file PATH [--run ID]",
    ],
    description: "\
An artifact is what a node of a run published: the file `artifacts/NODE/VERSION.json` in the run's directory. Versions count \
from 0, one up for each publication.

THE FORMAT. A JSON object, indented by two spaces, with `run_id`, `node_id`, `version`, `data` (an object), `labels` (texts, \
left out where there are none), `contract` (an object, left out where there is none) and `written_at`. Times are RFC 3339 in \
UTC. Other members are kept and printed. The member `artifact_index` of run.json holds the highest version of each node; it \
saves a look into the directory and is never needed.

`write` writes DATA as the next version: one above everything that is known, in the directory, in the index and in the \
counter of the checkpoint. Of many who write at the same time each gets its own. With `--version` that one is written. What \
was published does not change: a version that is there with the same data, labels and contract is a success and keeps its \
`written_at`, other content a conflict. So a command with `--version` can be run again after a crash. The index is brought up \
to date; when that fails the artifact stays and the program ends in 3. With `--publish` the event `artifact_written` tells of \
it.

An event goes with the change; it is appended after it, so that who hears of it finds it. When the event cannot be appended \
the change stays, the program warns and ends in 3, and the same command again adds what is missing, with the `--version` that the warning names where it gave none. \
`--no-event` appends none. Without `--while-running` nothing is done while a process that did not start this one holds the engine lock `.lock`, \
since such an engine numbers the events itself.

`latest` is the version that the index names, if it can be read, else the highest number in the directory. POINTER is a JSON \
pointer such as `/data/summary`. `list` goes by number and not by text, and shows when each version was written by its own \
word. `reindex` makes the index say what the directories hold.

`artifact_files/` holds files that tools wrote, perhaps from a sandbox, and so nothing in it is trusted. `files-dir` makes \
sure that it is a real directory: a link in its place is removed, not what it points to, and a file there is an error. Its \
mode becomes 0700, or 0775 with `--shared` for a sandbox with another user. `files` lists regular files below it. `file` \
gives out one of them; no link is followed in any component, a backslash counts as a slash, and every path that it does not \
give out looks as if it were not there.

All writers of the run's documents hold `.write.lock`, refuse a run that was deleted and one whose `format_version` is newer \
than this program, make files with mode 0600 and directories with 0700, and flush what they write. run.json need not exist.",
    output: "\
`write` and `reindex`: one line of JSON. `write`: `node_id`, `version`, `new` (false where it was there already), \
`written_at` and `event`, the number of the event.

`read` and `latest`: the document as it is stored; with `--json` in one line.

`list`: node, version, time and labels, separated by TAB; with `--json` an object a line. `labels`: a label a line. `files`: \
a path a line, quoted as git quotes, with `-z` ended by NUL.",
    exit: &[
        (2, "usage, something named that is not there, or a run that was deleted"),
        (3, "written, but the index or the event is missing; list: something could not be read and was named"),
        (4, "damaged: what is there is no artifact, or something else is in the place of artifact_files"),
        (5, "the run has a newer format"),
        (6, "the version is there with other content, a lock was not had in time, or an engine executes the run"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_WORKSPACE", "WT_FSYNC", "WT_LOCK_WAIT", "ITERION_HOME", "HOME"],
    examples: &[
        Example {
            text: "Publish twice and read the latest.",
            script: "run-artifact write --run demo plan '{\"summary\":\"two steps\"}'\nrun-artifact write --run demo plan '{\"summary\":\"three steps\"}' --label final\nrun-artifact latest --run demo plan /data/summary",
        },
        Example {
            text: "Publish a given version, as often as need be, and tell of it once.",
            script: "for try in 1 2; do\n    echo '{\"ok\":true}' | run-artifact write --run demo check - --version 0 --publish verdict\ndone\nrun-events cat --run demo --type artifact_written",
        },
        Example {
            text: "See what a tool left behind.",
            script: "run-artifact files-dir --run demo >/dev/null\nrun-artifact files --run demo",
        },
    ],
    see_also: &["run-record(1)", "run-events(1)", "wt-store(5)"],
    effect: Effect::Changes,
};
