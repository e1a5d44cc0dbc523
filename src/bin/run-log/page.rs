//! The manual page of `run-log`.

use workspacetrack::cli::Page;
use workspacetrack::cli::page::{Effect, Example};

pub(crate) static PAGE: Page = Page {
    name: "run-log",
    about: "write, read and follow what a run printed",
    synopsis: &[
        "append [--offset N [--overwrite] [--allow-gap]] [--run ID]",
        "read [--from N] [--until N] [--run ID]",
        "follow [--from N] [--run ID]",
        "size [--run ID]",
    ],
    description: "\
The console log of a run is the file `run.log` in its directory: plain bytes. The member `log_offset` of an event is the \
length that it had when the event was appended, so that what was printed between two events can be found.

`append` appends standard input to the log, as it comes. With `--offset` standard input is a piece of the log that begins at \
that byte, for senders that may send a piece twice: bytes that are there already must be the same, and only what is new is \
written, so the same command again changes nothing. Other bytes are a conflict, unless `--overwrite` says to write them; a \
piece that begins behind the end is refused, unless `--allow-gap` says to leave NUL bytes between.

`read` gives out the bytes from `--from` up to `--until`, or up to the end where that is 0. Behind the end there is nothing, \
and a log that is not there is empty. `size` is the length in bytes.

`follow` gives out the log and what comes, until nobody reads its output or the run is deleted. It waits for a log that is \
not there yet. When the log gets shorter than what was read, or is replaced, it says so and begins again at its start.

All writers of the run's documents hold `.write.lock`, refuse a run that was deleted and one whose `format_version` is newer \
than this program, make files with mode 0600 and directories with 0700, and flush what they write. run.json need not exist.",
    output: "\
`append`: one line of JSON with `offset`, where the piece begins, `bytes`, how long it is, `known`, how much of it was there \
already, and `size`, the length of the log.

`read` and `follow`: the bytes, without anything added.",
    exit: &[
        (2, "usage, something named that is not there, or a run that was deleted"),
        (3, "follow: the log was cut or replaced meanwhile"),
        (4, "what is there is no file"),
        (5, "a gap would be left, or the run has a newer format"),
        (6, "other bytes are there, or a lock was not had in time"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_WORKSPACE", "WT_FSYNC", "WT_LOCK_WAIT", "ITERION_HOME", "HOME"],
    examples: &[
        Example {
            text: "Keep what a command prints.",
            script: "echo 'compiling' | run-log append --run demo\nrun-log read --run demo",
        },
        Example {
            text: "Send a piece twice; the second time changes nothing.",
            script: "for try in 1 2; do\n    printf 'hello\\n' | run-log append --run demo-2 --offset 0\ndone\nrun-log size --run demo-2",
        },
        Example {
            text: "What was printed between two events.",
            script: "run-events append --run demo-3 --type node_started --node a >/dev/null\necho working | run-log append --run demo-3 >/dev/null\nrun-events append --run demo-3 --type node_finished --node a >/dev/null\nfrom=$(run-events cat --run demo-3 --type node_started --format '{log_offset}')\nuntil=$(run-events cat --run demo-3 --type node_finished --format '{log_offset}')\nrun-log read --run demo-3 --from \"$from\" --until \"$until\"",
        },
    ],
    see_also: &["run-events(1)", "wt-store(5)"],
    effect: Effect::Changes,
};
