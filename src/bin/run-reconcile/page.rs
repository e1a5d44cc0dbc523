//! The manual page of `run-reconcile`.

use workspacetrack::cli::Page;
use workspacetrack::cli::page::{Effect, Example};

pub(crate) static PAGE: Page = Page {
    name: "run-reconcile",
    about: "let runs be resumed that say they are running and are not",
    synopsis: &["[-n] [--grace AGE] [--watch [INTERVAL]] --run ID | --all"],
    description: "\
A run whose engine was killed still says `running` in its run.json, and nobody may resume it. This program finds such runs and \
ends their episode: status `failed_resumable`, `failure_code` `PROCESS_ORPHANED`, and one event `run_interrupted` whose data say why, with \
`source` `orphan_reconcile`. The checkpoint stays; without one a resume begins at the entry. Nothing else is changed.

Whose the changes in the workspace are that the dead process left, it does not say. `wt-boundary fail NODE ITERATION`, before anybody edits, marks them as the \
run's, and wt-rewind(1) can take them back; without it they are undecided.

What is asked of a run that says `running`, in this order:

Is the process that the file `.pid` names there? Then the run is `attached`. A process that got the same number later, one that has ended \
and waits for its parent, and one of an earlier boot are not it. A `.pid` of one line, as the original writes it, has only the number to go by; \
one that cannot be understood counts as missing.

Is the run's lock held, by run-lock(1) or an engine? Then it is `live`.

Does it lie on a network file system? Then it is `unsure` and stays as it is, because a lock may be held and not be seen; `--trust-locks` says that it is seen.

Does a run that waits for it, along `parent_run_id` with `parent_node_id`, hold its lock, or name a process that is there? Then it is `followed`. A child that was started \
and left to itself follows nobody.

Is it younger than `--grace`, by `created_at` and by its last event? Then it is `young`. A time in the future counts as young.

None of these: it is `orphaned`. The program takes the run's lock without waiting, asks all of it again, appends the event, writes the status, and \
removes the `.pid` of a process that has ended. Killed in between, the next one finds the event and appends no second one. An engine that begins in the meantime \
finds the lock held, as it would find that of another engine.

With `--watch` it looks again and again and tells only what has changed. SIGTERM, SIGINT or SIGHUP end it when the run at hand is settled, with 0; a second one ends it at once.",
    output: "\
A line for each run that says `running`: what it is, its id, and by what, with tabs between. With `-v` also the others, as `idle`. With `--json`, an \
object with `run`, `verdict`, `detail`, and for an orphan `done`, `outcome_seq`, `event_seq` (null where an earlier attempt had appended the event) and \
`cas_version`. `--dry-run` prints the same lines and changes nothing. A summary on standard error.",
    exit: &[
        (0, "done, also when there was nothing to do"),
        (2, "no such run, or it was deleted"),
        (3, "done, but some run could not be judged or settled, and was named"),
        (4, "the run of --run is damaged"),
        (5, "the run of --run has a newer format"),
        (6, "the document or the log of the run of --run was locked too long"),
    ],
    environment: &[
        "WT_STORE", "WT_RUN", "WT_WORKSPACE", "ITERION_ORPHAN_RECONCILE_INTERVAL", "WT_LOCK_WAIT", "WT_FSYNC", "ITERION_HOME", "HOME",
    ],
    examples: &[
        Example { text: "What would be ended:", script: "run-reconcile --all --dry-run" },
        Example {
            text: "Beside a server, for as long as it runs:",
            script: "run-reconcile --all --watch 30s & watcher=$!\nsleep 1\nkill $watcher && wait $watcher",
        },
    ],
    see_also: &["run-lock(1)", "run-show(1)", "run-events(1)", "wt-boundary(1)", "wt-rewind(1)", "run-store(7)"],
    effect: Effect::Changes,
};
