//! The text of the page.

use workspacetrack::cli::page::{Effect, Example, Page};

pub(crate) static PAGE: Page = Page {
    name: "wt-rewind",
    about: "take back what a run did since a node began, and only that",
    synopsis: &[
        "[-C DIR] --run ID [-n] [--iter I] [--restore-scope SCOPE] [--protect PATH]... [--keep-edited] --node NODE",
        "[-C DIR] --run ID --list-snapshots",
        "[-C DIR] --run ID [-n] [--protect PATH]... --restore-snapshot SNAPSHOT",
    ],
    description: "Goes back to the boundary `pre:NODE:I` and restores the paths that the run changed since; what somebody else \
        changed while the run was parked stays. wt-authorship(1) says how that is told.\n\n\
        Everything is checked first. It is refused, and nothing is changed, while an engine holds the lock of the run, for a \
        run that is running or finished, if the node completed a later iteration than the last one before which anything \
        was captured, if it ran more than once under one iteration and `--iter` does not say that this is meant, and if \
        the history between does not tell who changed what.\n\n\
        Then the workspace is captured as `rewind-backup:NODE:n`, and the id of that bank is printed before the first change. \
        What the bank could not hold is not touched. At the end the command that undoes it is on standard error, unless nothing was changed, and \
        the event `run_rewound` in the log of the run.\n\n\
        A path is undecided if the run came back without having marked that it had stopped: then it may be debris of a \
        process that died, or somebody's edit. It is left and named, with the command that takes it back, too. So is what changed since \
        the newest boundary, if a node had begun there and no end of it is marked: after a crash, run-reconcile(1) brings the record \
        in order, and `wt-boundary fail NODE ITERATION`, given before anybody edits, says that all there is so far is the run's.\n\n\
        Of the run's record nothing is changed: where the run stands is for its engine to say. Without one, `run-record set-status \
        paused_operator`, `run-record patch --set resume_requires_explicit=true` and `run-record checkpoint save` do what \
        belongs to a rewind; they are named at the end, if there is a record.\n\n\
        `--restore-snapshot` is the larger operation: as wt-undo(1), it banks and then restores the whole tree of any \
        snapshot, whoever changed it; also of a finished run. No engine can begin to execute the run until it has ended.",
    output: "First `bank`, a tab and the id of the bank. Then what was restored, as wt-restore(1) prints it. Then word, tab and \
        path: `overwritten` for what somebody had changed since the newest boundary and was restored all the same; `left` \
        for somebody's changes that stay; `overlap` for what was restored and somebody else had changed, too, or may have, while \
        the run or one of its nodes was parked; `undecided` for what nobody can tell who changed it; `shared:RUN` for what was restored and another run had changed in this workspace, too; and \
        `gap:REASON` for what the boundary or the bank did not capture. With `--json`, an \
        object with `bank`, one for each restored path, and last an object `rewind` with all of it. With `--dry-run` the \
        same, without a bank.",
    exit: &[
        (0, "done, also if nothing had to be restored"),
        (2, "wrong usage, or nothing was captured before this node"),
        (3, "done, but a path could not be brought to its state and was left, or the event could not be appended"),
        (4, "a damaged manifest, object or index; nothing was changed"),
        (5, "refused, with the reason; nothing was changed"),
        (6, "a lock was not had in time; nothing was changed"),
        (7, "too many files to take a bank; nothing was changed"),
        (8, "an error of the system; some files may be restored and others not, each of them whole"),
    ],
    environment: &[
        "WT_WORKSPACE",
        "WT_STORE",
        "WT_RUN",
        "WT_FSYNC",
        "WT_LOCK_WAIT",
        "WT_LOCK_FD",
        "ITERION_HOME",
        "HOME",
        "ITERION_WORKSPACE_MAX_FILE_MB",
        "ITERION_WORKSPACE_TRACK",
    ],
    examples: &[
        Example {
            text: "A node works, somebody edits another file, and only the node's work is taken back:",
            script: "export WT_RUN=demo\nwt-boundary pre build\necho broken >src/main.c\nwt-boundary fail build\n\
                echo note >TODO\nwt-rewind --node build\ngrep main src/main.c\ncat TODO",
        },
        Example {
            text: "What would it do?",
            script: "wt-boundary --run demo pre build\nwt-rewind --run demo --node build --dry-run",
        },
    ],
    see_also: &[
        "wt-undo(1)",
        "wt-boundary(1)",
        "wt-authorship(1)",
        "wt-restore(1)",
        "wt-log(1)",
        "run-events(1)",
        "run-record(1)",
        "run-reconcile(1)",
        "wt(7)",
    ],
    effect: Effect::Changes,
};
