//! The manual page of `run-tool`.

use workspacetrack::cli::Page;
use workspacetrack::cli::page::{Effect, Example};

pub(crate) static PAGE: Page = Page {
    name: "run-tool",
    about: "keep long inputs and outputs of tools, and give them out",
    synopsis: &[
        "put ID input|output [--threshold SIZE] [--run ID]",
        "get ID input|output [--offset N] [--limit N] [--size] [--run ID]",
    ],
    description: "\
What a tool is given and gives back stands in the event of its call while it is short. Longer bodies are the files \
`tools/ID/input` and `tools/ID/output` in the run's directory, raw bytes, where ID is the id of the tool use; the event has a \
preview of them.

`put` reads a body from standard input and prints what the `data` of the event is to hold of it. For up to 4096 bytes of \
UTF-8 that is the body itself, under the key `input` or `output`, and no file is written. For more it is `input_preview`, the \
first 4096 bytes, or a few less so that no character is cut; `input_size`, the length of the whole in bytes; and `input_ref`, \
the ID. Bytes that are not UTF-8 go into the file whatever their number, since an event would change them. An empty body \
gives an empty object. When the file cannot be written the object holds as much of the body as an event takes, 1 MiB, and its \
length, the program warns and ends in 3: the object is to be used all the same.

`get` gives out a body, or `--limit` bytes from `--offset` on. Behind the end there is nothing. With `--size` it tells \
`offset`, `bytes`, `total` and whether the part reaches the end (`eof`).

All writers of the run's documents hold `.write.lock`, refuse a run that was deleted and one whose `format_version` is newer \
than this program, make files with mode 0600 and directories with 0700, and flush what they write. run.json need not exist.",
    output: "\
`put`: one line of JSON. `get`: the bytes, without anything added; with `--size` one line of JSON.",
    exit: &[
        (2, "usage, something named that is not there, or a run that was deleted"),
        (3, "put: the body is not stored, and the output holds what fits"),
        (4, "what is there is no file"),
        (5, "the run has a newer format"),
        (6, "a lock was not had in time"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_WORKSPACE", "WT_FSYNC", "WT_LOCK_WAIT", "ITERION_HOME", "HOME"],
    examples: &[
        Example {
            text: "Store what a tool printed, append the event, read the body from a place on.",
            script: "data=$(seq 2000 | run-tool put --run demo toolu_1 output)\nrun-events append --run demo --type tool_called --data \"$data\"\nrun-tool get --run demo toolu_1 output --offset 8888 | tail -n 1",
        },
    ],
    see_also: &["run-events(1)", "wt-store(5)"],
    effect: Effect::Changes,
};
