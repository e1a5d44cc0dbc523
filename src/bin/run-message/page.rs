//! The manual page of `run-message`.

use workspacetrack::cli::Page;
use workspacetrack::cli::page::{Effect, Example};

pub(crate) static PAGE: Page = Page {
    name: "run-message",
    about: "send messages to a run, and say what became of them",
    synopsis: &[
        "queue TEXT [--id ID] [--node ID] [--skill REF]... [--interaction ID] [--tenant ID] [--no-event] [--while-running] [--run ID]",
        "queue-once ID TEXT [--node ID] [--skill REF]... [--interaction ID] [--tenant ID] [--no-event] [--while-running] [--run ID]",
        "deliver ID [--no-event] [--while-running] [--run ID]",
        "consume ID [--no-event] [--while-running] [--run ID]",
        "cancel ID [--no-event] [--while-running] [--run ID]",
        "pending [--node ID] [--run ID]",
        "list [--run ID]",
    ],
    description: "\
Operators speak to a run by messages, kept in the file `user_messages.jsonl` in the run's directory: a log of transitions, in \
which the last line of a message is its state. A message is queued, then delivered to an agent, then consumed by it; one that \
is queued may be cancelled.

THE FORMAT. Each line is one compact JSON object with the whole record: `id`, `run_id`, `text`, `queued_at`, `delivered_at`, \
`consumed_at`, `cancelled_at`, `status`, `tenant_id`, `node_id`, `skill_refs` and `interaction_id`; what is empty is left \
out, other members are kept. Lines are only added, each in one write; a last line without its newline, which a writer that \
was killed leaves behind, gets one from the next writer and stays as a line of its own. A message counts only when it is on \
the disk: where flushing fails it is taken back.

`queue` sends a message to the run, or with `--node` to one node. A run whose run.json says that it has finished, failed for \
good or was cancelled takes none. Without `--id` an id is made; one that was seen before is a conflict. `queue-once` sends a \
message unless its id was ever seen, in whatever state, and then ends in 1. `deliver` and `cancel` want a message that is \
queued, `consume` one that was delivered; else, and for all but one of many who do the same, the end is 6. A change whose \
writer was killed before its event was written is completed by the same command.

`pending` lists what is queued, first sent first; with `--node` what is for the run or for that node. `list` shows every \
message in its last state.

The events are `user_message_queued`, `user_message_delivered`, `user_message_consumed` and `user_message_cancelled`. An \
event goes with the change; it is appended after it, so that who hears of it finds it. When the event cannot be appended the \
change stays, the program warns and ends in 3, and the same command again adds what is missing, with the `--id` that the \
warning names where it gave none. `--no-event` appends none. \
Without `--while-running` nothing is done while a process that did not start this one holds the engine lock `.lock`, since \
such an engine numbers the events itself. Who sends a message to a run while such an engine works needs one of the two \
options.

A log is corrupt, and nothing is read from or written to it, when more than one line is bad and these are more than 100 or \
more than half of the messages, or when there are whole lines and none is a message.

All writers of the run's documents hold `.write.lock`, refuse a run that was deleted and one whose `format_version` is newer \
than this program, make files with mode 0600 and directories with 0700, and flush what they write. run.json need not exist.",
    output: "\
Writers: one line of JSON with `id`, `status`, `new` (false where nothing had to be done) and `event`, the number of the \
event.

`pending` and `list`: id, status, time, node (`-` for the run) and text, separated by TAB; with `--json` the records, one a \
line.",
    exit: &[
        (1, "queue-once: the id was seen before"),
        (2, "usage, something named that is not there, or a run that was deleted"),
        (3, "written, but the event is missing; lists: a line could not be read and was named"),
        (4, "the log is corrupt"),
        (5, "the run takes no messages, or has a newer format"),
        (6, "the message is in another state, a lock was not had in time, or an engine executes the run"),
        (7, "the message is above the limit of a line, 10 MiB"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_WORKSPACE", "WT_FSYNC", "WT_LOCK_WAIT", "ITERION_HOME", "HOME"],
    examples: &[
        Example {
            text: "Send a message and follow it to its end.",
            script: "run-message queue --run demo --id m1 'Look at the tests first.'\nrun-message deliver --run demo m1\nrun-message consume --run demo m1\nrun-message list --run demo",
        },
        Example {
            text: "Send the same message once, however often a script runs.",
            script: "run-message queue-once --run demo nightly 'The build is red.'\nrun-message queue-once --run demo nightly 'The build is red.' || test $? = 1\nrun-message pending --run demo",
        },
    ],
    see_also: &["run-events(1)", "wt-store(5)"],
    effect: Effect::Changes,
};
