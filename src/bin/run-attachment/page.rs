//! The manual page of `run-attachment`.

use workspacetrack::cli::Page;
use workspacetrack::cli::page::{Effect, Example};

pub(crate) static PAGE: Page = Page {
    name: "run-attachment",
    about: "add, list and give out files that belong to a run",
    synopsis: &[
        "add [NAME=]FILE... [--filename NAME] [--max-bytes SIZE] [--max-total SIZE] [--max-files N] [--allow PATTERN,...] [--run ID]",
        "list [--run ID]",
        "open NAME [-o FILE] [--run ID]",
        "remove NAME... | --all [--run ID]",
        "reindex [--run ID]",
        "presign NAME [--expires TIME] [--run ID]",
        "verify NAME --exp SECONDS --sig HEX [--run ID]",
    ],
    description: "\
An attachment is a file that people or tools gave to a run: the bytes in `attachments/NAME/` in the run's directory, and \
beside them `meta.json`, the sidecar, which is the truth about them. The member `attachments` of run.json mirrors the \
sidecars.

THE FORMAT. A sidecar is a JSON object, indented by two spaces, with `name`, `original_filename`, `mime`, `size`, `sha256`, \
`created_at` and `storage_ref`, the place of the bytes below the store. The bytes lie under `original_filename`. A file that \
is called like the sidecar is stored as `_meta.json`, under which name every program finds it; the member `uploaded_as` keeps \
what it was called. A directory without sidecar is no attachment.

`add` reads each file to its end, measuring size, hash and type, before it changes anything. Several files are added all or \
none. The type is found in the first 512 bytes, never in what somebody says; only for text of no other kind does the end of \
the file's name tell json, yaml, markdown and csv apart. Refused are: an empty file; one above `--max-bytes` (50 MiB); more \
files than `--max-files` (20) or bytes than `--max-total` (5 times the largest file) in the run; and a type that no pattern \
of `--allow` matches, which are, if it is not given, png, jpeg, gif, webp, pdf, json, yaml, zip, gzip, tar, plain text, \
markdown, csv and unknown bytes. The same content under the same name again is a success, other content a conflict. When \
run.json cannot be brought up to date the files stay and the program ends in 3.

`open` checks size and hash. Up to a megabyte nothing is given out before that; of a larger one the end in 4 tells that what \
was given out is wrong. With `-o` the file is whole or not there. `remove` takes away what is in the attachment's directory; \
it may be gone already. `reindex` makes the mirror in run.json say what the sidecars say.

`presign` prints a link at which a server of the store gives the attachment out until it expires, 10 minutes from now, or up \
to 24 hours with `--expires`. The signature is an HMAC-SHA256 over run, name and time, with the key `.attachment-signing-key` \
of the store, which is made when it is needed; without random bytes from the system it is refused. The text that is signed \
joins the three by newlines, as other programs of the store do, and no run or name can hold one. `verify` tells whether a \
signature is good now.

All writers of the run's documents hold `.write.lock`, refuse a run that was deleted and one whose `format_version` is newer \
than this program, make files with mode 0600 and directories with 0700, and flush what they write. run.json need not exist.",
    output: "\
`add`: each sidecar in one line of JSON, with `new` (false where it was there already). `remove`: `name` and `removed`. \
`reindex`: `attachments` and `changed`. `presign`: `url`, `exp` and `sig`.

`list`: name, size, type, time and file name, separated by TAB; with `--json` the sidecars, one a line. `verify` prints \
nothing; with `--json` `valid`.",
    exit: &[
        (1, "verify: not good, or not any more"),
        (2, "usage, an empty file, something named that is not there, or a run that was deleted"),
        (3, "added, but run.json does not list it; list: something could not be read and was named"),
        (4, "the bytes are not those that the sidecar describes"),
        (5, "a type that is not taken, no entropy for a key, or the run has a newer format"),
        (6, "the name is taken by other content, or a lock was not had in time"),
        (7, "above a limit"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_WORKSPACE", "WT_FSYNC", "WT_LOCK_WAIT", "ITERION_HOME", "HOME"],
    examples: &[
        Example {
            text: "Add a file and one from a pipe, list them, give one out.",
            script: "run-attachment add --run demo README\ngzip <README | run-attachment add --run demo log=- --filename log.gz\nrun-attachment list --run demo\nrun-attachment open --run demo log | gunzip | diff - README",
        },
        Example {
            text: "Narrow what is taken.",
            script: "run-attachment add --run demo README --allow 'image/*' || test $? = 5",
        },
        Example {
            text: "A link for an hour, checked.",
            script: "run-attachment add --run demo README >/dev/null\nlink=$(run-attachment presign --run demo README --expires 1h)\nexp=$(echo \"$link\" | sed 's/.*\"exp\":\\([0-9]*\\).*/\\1/')\nsig=$(echo \"$link\" | sed 's/.*\"sig\":\"\\([0-9a-f]*\\)\".*/\\1/')\nrun-attachment verify --run demo README --exp \"$exp\" --sig \"$sig\"",
        },
    ],
    see_also: &["run-record(1)", "sha256sum(1)", "wt-store(5)"],
    effect: Effect::Changes,
};
