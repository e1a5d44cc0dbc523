//! The manual page of `run-events`.

use workspacetrack::cli::Page;
use workspacetrack::cli::page::{Effect, Example};

pub(crate) static PAGE: Page = Page {
    name: "run-events",
    about: "append to, read, follow, check and reduce the event log of a run",
    synopsis: &[
        "append --type TYPE [--node ID] [--branch ID] [--data JSON|@FILE|-] [--active-ms MS] [--fsync WHEN] [--run ID]",
        "append --stdin [--fsync WHEN] [--run ID]",
        "cat [--from SEQ] [--to SEQ] [--last N | --limit N] [--type GLOB] [--node ID] [--branch ID] [--since TIME] [--format TEMPLATE | --human] [--run ID]",
        "tail [-f | --until-done] [-n N | --from SEQ] [--type GLOB] [--node ID] [--format TEMPLATE | --human] [--run ID]",
        "check [--json] [--run ID]",
        "fold active-time|deployment|executions|costs|windows [--stdin | --run ID]",
    ],
    description: "\
The event log of a run is the file `events.jsonl` in its directory: the audit stream that engines append to and that people, \
scripts and dashboards read. It is not what a run is resumed from; that is the checkpoint in run.json. run.json need not exist.

THE FORMAT. Each line is one compact JSON object with the members `seq`, `timestamp`, `type`, `run_id`, and where they are not \
empty `branch_id`, `node_id`, `data`, `tenant_id`, `log_offset` and `active_ms`, in this order, then any others. `seq` counts from 0, one \
up for each event of the run, whatever its branch. `timestamp` is RFC 3339 in UTC. `data` is an object that depends on the type; \
run-event-types(7) lists what is known of it. `log_offset` is the length of `run.log` when the event was appended, so that the log of \
that moment can be found; `active_ms` is how long the run had been active. Unknown types, members and keys are kept and passed on \
by every subcommand, and numbers keep their text. A line with its newline has at most 10485760 bytes (10 MiB). Lines are only ever added.

`append` gives an event its number, time, run id and `log_offset` and writes line and newline in one write, under the lock \
`.events.lock`. The number comes from the end of the file. If the last line has no newline, which a writer that was killed leaves \
behind, it gets one, and stays as a line of its own. An append that fails uses up no number. The output is the number of each event, one a line, as soon as it \
is written and, unless flushing is off, on the disk. With `--stdin`, events that arrive together are written under one lock and flushed together; the first \
one that is refused ends the program, after those before it were acknowledged. `--fsync always` flushes each event by itself, `batch` those that arrived together, `off` none. When a \
flush fails the event stays; the program warns and ends in 3, and the file `.events.unsynced` keeps the next writer of run.json from going ahead of the log. \
Refused are: events of type `alert`, which are never persisted; keys given twice at any depth; members that differ from a known one \
only in case; what is not UTF-8; deleted runs; and, without `--while-running`, runs whose engine lock `.lock` is held by a process that did not start this one.

`cat` prints events as they stand in the log, without a byte order mark or carriage return. `--from` is found by bisection and `--last` from the end, so what \
lies before is not read. `--to` is the first number not printed. Damaged lines are passed over and named on standard error.

`tail` prints the last events, and with `-f` those that come. It waits for a log that is not there yet, never prints a line before its newline, \
and says so when the log is cut, overwritten, removed or replaced, or when a number is missing or comes twice; what the old file held is printed first. With \
`--until-done` it ends when the last thing that happened to the run is `run_finished`, `run_failed` or `run_cancelled`.

`check` names each damage with line, byte and cause: `torn-tail`, `healed-tail` (a torn tail that a later append gave its newline; \
no acknowledged event is lost by either), `not-json`, `not-event`, `invalid-utf8`, `too-long`, `hole` (NUL bytes), `duplicate-seq`, `missing-seq`, \
`descending-seq`, `foreign-run`, `duplicate-key`, `carriage-return`, `byte-order-mark`. A log is corrupt, and no audit of the run, when more than one \
line is bad and these are more than 100 or more than half of the events, or when there are whole lines and none is an event. Healed tails do not count there unless there is no event at all.

`fold` reduces events to rows of JSON. `active-time` is the last `active_ms`, else the sum of executing windows up to the last event. `deployment` is the \
deployment report that nodes declared. `executions` are the iterations of nodes with their status. `costs` are tokens and cost by node and model, and in \
total. `windows` are the intervals in which the run executed or stood still. With `--stdin` it reads events from a pipe instead of a log.

A template fills in `{seq}`, `{time}`, `{type}`, `{run}`, `{branch}`, `{node}`, `{tenant}`, `{log_offset}`, `{active_ms}`, `{line}`, `{data}` and \
`{data.KEY}`, with dots between keys of inner objects. Strings come decoded with control characters masked, on a terminal also those that are not seen. `\\t`, `\\n`, `\\0` and `\\\\` are escapes, `{{` and `}}` braces.",
    output: "\
`append`: the number of each event; with `--json` an object with `seq`, `offset` and `bytes`.

`cat` and `tail`: on a terminal, and with `--human`, a line an event with time, number, type, branch and node, and the telling keys of its data; \
else, and with `--json`, the lines of the log.

`check`: `line N, byte N: CAUSE: DETAIL` a damage; with `--json` an object with `line`, `offset`, `bytes`, `cause`, `detail`, and at the end one with `summary`.

`fold`: a JSON object a row.",
    exit: &[
        (0, "done; check: clean"),
        (1, "fold: the events say nothing about it"),
        (2, "usage, a run that is not there or was deleted, or an event that is not one"),
        (3, "append: written, but a flush failed; cat, tail and fold: something is missing and was named; check: only torn or healed tails"),
        (4, "the log is corrupt; check: damaged"),
        (5, "an event of a type that is never persisted"),
        (6, "an engine holds the run's lock, or the lock of the log was not had in time"),
        (7, "an event above the limit of a line"),
        (8, "any other failure, such as a full disk"),
        (141, "standard output was closed"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_WORKSPACE", "WT_FSYNC", "WT_LOCK_WAIT", "ITERION_HOME", "HOME", "NO_COLOR"],
    examples: &[
        Example {
            text: "Append an event and read it back by a template.",
            script: "run-events append --run demo --type run_started\nrun-events cat --run demo --format '{seq} {type}'",
        },
        Example {
            text: "Append many events through one process.",
            script: "printf '%s\\n' '{\"type\":\"node_started\",\"node_id\":\"a\"}' '{\"type\":\"node_finished\",\"node_id\":\"a\"}' |\n    run-events append --run demo --stdin",
        },
        Example {
            text: "What a run spent, without its log being here.",
            script: "run-events append --run demo --type node_finished --node a --data '{\"_tokens\":12,\"_cost_usd\":0.5}'\nrun-events cat --run demo --type 'node_*' | run-events fold costs --stdin",
        },
        Example {
            text: "Check a log after a crash; 3 means that only an unfinished append is left over.",
            script: "run-events append --run demo --type run_started\nrun-events check --run demo",
        },
        Example {
            text: "Follow a run until it has ended.",
            script: "run-events append --run demo --type run_finished\nrun-events tail --run demo --until-done --human",
        },
    ],
    see_also: &["run-event-types(7)", "wt-store(5)"],
    effect: Effect::Changes,
};
