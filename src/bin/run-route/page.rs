//! The manual page of `run-route`.

use workspacetrack::cli::Page;
use workspacetrack::cli::page::{Effect, Example};

pub(crate) static PAGE: Page = Page {
    name: "run-route",
    about: "agree on who acts on the outcomes of runs",
    synopsis: &[
        "claim --owner NAME [--seq N] [--lease SPAN] [--run ID]",
        "finish --seq N --owner NAME --attempt N (--succeeded [--result JSON] | --failed ERROR) [--run ID]",
        "list [--state STATE,...] [--limit N] (--run ID | --all)",
        "watermark [--set TIME]",
    ],
    description: "\
Each time a run ends, `outcome_seq` in its run.json counts one more outcome, see run-store(7). Something may have to follow: a merge, a resume, another run. \
Where several programs wait for that, this one sees to it that one of them does it, and that it is tried again where that one died.

`claim` claims an outcome for a while, the lease: at least a second, at most 7 days, 10 minutes unless `--lease` says otherwise. Of many who claim the same outcome one gets it. \
While the lease lasts nobody else does, not even the same owner, since two processes may well have one name. When it has run out, or after `finish --failed`, the outcome may be claimed again; \
after three claims, and after `finish --succeeded`, no more. Without `--seq` the present outcome is claimed; one that the run has not reached is not there. \
A claim that is refused ends in 6 and changes nothing; with `--json` the error has `state` and `attempts`. \
Where a claim ends in 8, or nobody read what it printed, the message says whether it may stand, and as which attempt: `list` shows it, and `finish --failed` lets it go.

After three claims, whether they were finished as failed or their leases ran out, a person goes on; nothing allows a fourth. run-show(1) says how the run stands, and `list` what the last attempt said. \
What was to follow, such as a resume or a merge, is then done by hand, and recorded with run-record(1) as ever: `run-record set-status running` claims the run itself for a resume. The next outcome of the run begins with no claims.

`finish` says what came of a claim. Owner and attempt must be those that `claim` was given and printed: who comes after somebody else has taken the claim over ends in 6 and changes nothing, also where both have one name. \
While nobody has taken it over, a claim whose lease ran out may be finished. The same command again changes nothing, and ends in 0. `--result` keeps what was done, any JSON object of at most 1 MiB; \
`--failed` keeps the error, of at most as much.

`list` lists decisions, the newest first, by when each was claimed for the first time; `--all` takes all runs of the store. What cannot be understood comes before all of them, and is in every list.

`watermark` prints the time that the store was given once and for all, and `--set` gives it one: of all who do, in whatever process, the first one. \
What it means is agreed on by those who route, as a rule that they leave older outcomes alone; no program here goes by it.

THE FORMAT. Of the registry of the original it is known what it does, and not where it lies or what is in it. So these files are of this toolkit. \
`route_decisions.json` in the run's directory is a JSON object, indented by two spaces, with `version` (1) and `decisions`, an object that has a decision under each outcome: \
`run_id`, `outcome_seq`, `state` (claimed, succeeded or failed), `attempts`, `lease_owner`, `lease_until` (while it is claimed), `result`, `last_error`, `created_at` and `updated_at`. \
`route_watermark.json` in the store has `version`, `watermark` and `created_at`. Other members are kept. \
A file of one of these names that has another version or shape is somebody else's: it is neither used nor changed, and commands that need it end in 5; so is a symbolic link to nothing. \
A decision goes with its run; run-prune(1) leaves a run alone whose outcome is claimed, as long as the lease lasts, and so does run-delete(1) without `--force`. \
Both do where the file cannot be understood.

No event tells of a decision. All writers of the run's documents hold `.write.lock`, refuse a run that was deleted and one whose `format_version` is newer \
than this program, make files with mode 0600 and directories with 0700, and flush what they write.",
    output: "\
`claim`: the decision, one line of JSON. `finish`: the same, with `new` (false where it was finished so before).

`list`: run, outcome, state, attempts, time of the last change, owner, and until when it is claimed, the error, or the result, separated by TAB; with `--json` the decisions, one a line. \
Of what cannot be understood: run, outcome or `-`, and `damaged`; with `--json` `run_id`, `decision` and `damage`.

`watermark`: its file, one line of JSON, and with `--set` whether it is `new`; nothing where there is none.",
    exit: &[
        (1, "watermark: there is none; with --set: it was set before, and the one that stays is printed"),
        (2, "usage, an outcome that the run has not reached, no such run, or one that was deleted"),
        (3, "list: something could not be understood and was named"),
        (4, "the file is damaged"),
        (5, "the file is another program's or a link to nothing, or the run has a newer format"),
        (6, "the outcome is claimed, done, or was claimed three times; the claim is not the one that is finished; a lock was not had in time; the watermark was removed meanwhile"),
        (7, "finish: what is to be kept is above 1 MiB"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_WORKSPACE", "WT_FSYNC", "WT_LOCK_WAIT", "ITERION_HOME", "HOME"],
    examples: &[
        Example {
            text: "A run fails, a program claims the outcome, and its attempt fails as well.",
            script: "run-record create --run review-1\nrun-record fail --resumable --code TIMEOUT --run review-1\nrun-route claim --owner relauncher --lease 5m --run review-1\nrun-route claim --owner another --run review-1 || test $? = 6\nrun-route finish --seq 1 --owner relauncher --attempt 1 --failed 'no free slot' --run review-1\nrun-route list --run review-1",
        },
        Example {
            text: "The next one succeeds. Its attempt is the one that `claim` prints.",
            script: "run-record create --run review-2\nrun-record fail --resumable --code TIMEOUT --run review-2\nclaim=$(run-route claim --owner another --run review-2)\nattempt=$(echo \"$claim\" | sed 's/.*\"attempts\":\\([0-9]*\\).*/\\1/')\nrun-route finish --seq 1 --owner another --attempt \"$attempt\" --succeeded --result '{\"action\":\"resume\"}' --run review-2\nrun-route list --all --state succeeded",
        },
        Example {
            text: "From when on outcomes are routed, whoever begins first.",
            script: "run-route watermark --set now || test $? = 1\nrun-route watermark",
        },
    ],
    see_also: &["run-store(7)", "run-record(1)", "run-show(1)", "run-delete(1)", "run-prune(1)"],
    effect: Effect::Changes,
};
