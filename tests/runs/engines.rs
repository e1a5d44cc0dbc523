//! Two engines and an operator on the same runs at once, killed at any effect of any writer: one owner at a time, no
//! acknowledged change lost, episodes that only count up, no attempt at an
//! outcome given twice, and no half document at any moment.
//!
//! Which effects kill follows from the seed alone. How the processes meet does not; the rules hold however they do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::life::with_programs;
use crate::sandbox::{Sandbox, run};

const RUNS: [&str; 2] = ["a", "b"];
const STEPS: u32 = 30;

/// An engine: for each step it takes the lock of a run and becomes its owner, or goes on where that is taken.
const ENGINE: &str = r#"
step=0
while [ $step -lt $STEPS ]; do
    step=$((step + 1)) seed=$(((seed * 1103515245 + 12345) & 0x7fffffff))
    wait=--wait; [ $((seed >> 5 & 3)) -ne 0 ] || wait=
    case $((seed >> 8 & 1)) in 0) WT_RUN=a;; 1) WT_RUN=b;; esac
    export WT_RUN step seed
    [ $((seed >> 12 & 7)) -ne 0 ] || run-reconcile --grace 0 --run $WT_RUN >>said 2>&1
    run-lock --pid $wait -- sh -c "$OWNER" 2>>said || :
done
"#;

/// An owner: does what the status of its run lets it do, and dies with a program that is killed, at times with run-lock.
const OWNER: &str = r#"
other=$(cat owner.$WT_RUN 2>/dev/null)
if [ -n "$other" ] && kill -0 $other 2>/dev/null && ! grep -q ') Z ' /proc/$other/stat 2>/dev/null; then
    echo "$other and $$ own $WT_RUN" >>violations
fi
echo $$ >owner.$WT_RUN
# Runs a writer that may be killed at one of its effects.
act() {
    seed=$(((seed * 1103515245 + 12345) & 0x7fffffff))
    out=$(WT_TEST_FAULT=$((seed >> 9 & 15)):kill "$@" 2>>said) && code=0 || code=$?
    if [ $code -eq 137 ]; then
        echo killed >>kills
        [ $((seed >> 4 & 1)) -eq 0 ] || kill -KILL $PPID
        kill -KILL $$
    fi
    case $1,$code in run-record,0) echo "$out" >>receipts.$WT_RUN;; esac
    return $code
}
event() {
    act run-events append --type "$1" --data "{\"id\":\"$name-$step-$1\"}" && echo "$out $name-$step-$1" >>acks.$WT_RUN
}
status=$(run-record get /status --raw)
case $status in
running)
    event node_started
    case $((seed >> 6 & 3)) in
    0)
        act run-interaction ask gate '{"go":"on?"}' --id "q$name$step"
        act run-record pause --checkpoint '{"node_id":"gate"}' --interaction "q$name$step" --expect running ;;
    1) act run-record fail --resumable --code TIMEOUT --expect running ;;
    2) act run-record set-status cancelled --end-reason operator --expect running ;;
    esac
    event node_finished ;;
paused_waiting_human)
    act run-interaction answer "$(run-record get /checkpoint/interaction_id --raw)" '{"go":true}'
    act run-record set-status running --expect paused_waiting_human && event run_resumed ;;
*)
    if act run-route claim --owner "$name$step" --lease 1h; then
        echo "$out" >>claims.$WT_RUN
        seq=$(echo "$out" | sed 's/.*"outcome_seq":\([0-9]*\).*/\1/')
        attempt=$(echo "$out" | sed 's/.*"attempts":\([0-9]*\).*/\1/')
        act run-route finish --seq $seq --owner "$name$step" --attempt $attempt --succeeded &&
            echo "$out" >>routed.$WT_RUN
    fi
    act run-record set-status running --expect "$status" && event run_resumed ;;
esac
"#;

/// Changes the documents beside the engines, asking for no lock of theirs.
const OPERATOR: &str = r#"
step=0
while [ $step -lt $STEPS ]; do
    step=$((step + 1)) seed=$(((seed * 1103515245 + 12345) & 0x7fffffff))
    for WT_RUN in a b; do
        export WT_RUN
        out=$(WT_TEST_FAULT=$((seed >> 6 & 15)):kill run-route claim --owner o$step --lease 1h 2>>said) &&
            echo "$out" >>claims.$WT_RUN
        out=$(WT_TEST_FAULT=$((seed >> 9 & 15)):kill run-record patch --set "watched_issue_ids=[\"I-$step\"]" 2>>said) || continue
        echo "$out" >>receipts.$WT_RUN; echo I-$step >>issues.$WT_RUN
    done
done
:
"#;

fn shell(sandbox: &Sandbox, script: &str, name: &str, seed: u32) -> Command {
    let mut command = sandbox.other("sh");
    command.args(["-c", script]).env("OWNER", OWNER).env("STEPS", STEPS.to_string());
    command.env("name", name).env("seed", seed.to_string()).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    with_programs(command)
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn engines_side_by_side_keep_every_promise_of_the_store() {
    for seed in [1, 20_261_129] {
        let sandbox = Sandbox::new();
        let at = |name: &str| sandbox.path().join(name);
        for id in RUNS {
            run(sandbox.program(&["run-record", "create", "--run", id])).ends(0).clear();
        }
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut reads = 0_u64;
                while !is_over.load(Ordering::Relaxed) {
                    for id in RUNS {
                        let text = std::fs::read(at(&format!("store/runs/{id}/run.json"))).unwrap();
                        let json: Value = serde_json::from_slice(&text).expect("a whole document");
                        assert_eq!(json["id"], id);
                        reads += 1;
                    }
                }
                reads
            });
            let workers = [(ENGINE, "x", seed), (ENGINE, "y", seed + 1), (OPERATOR, "o", seed + 2)];
            let children = workers.map(|(script, name, seed)| shell(&sandbox, script, name, seed).spawn().unwrap());
            let ended = children.map(|mut child| child.wait().map(|status| status.success()));
            // Before anything is judged: the reader must not be waited for then.
            is_over.store(true, Ordering::Relaxed);
            assert!(ended.into_iter().all(|ended| ended.is_ok_and(|is_good| is_good)));
            assert!(reader.join().unwrap() > 100);
        });
        assert_eq!(lines(&at("violations")), [""; 0], "one owner at a time");
        assert!(lines(&at("kills")).len() >= 5, "{:?}", lines(&at("kills")));
        for id in RUNS {
            end(&sandbox, id);
            judge(&sandbox, id);
        }
    }
}

/// Whatever was killed where: the run can be brought to its end.
fn end(sandbox: &Sandbox, id: &str) {
    let script = format!(
        "export WT_RUN={id}; run-reconcile --grace 0 --run {id}; status=$(run-record get /status --raw)
         if [ $status = paused_waiting_human ]; then
             run-interaction answer \"$(run-record get /checkpoint/interaction_id --raw)\" '{{}}' || test $? = 6
         fi
         run-lock -- run-record set-status running --expect $status && run-record set-status finished --expect running"
    );
    let mut command = sandbox.other("sh");
    command.args(["-c", &script]);
    run(with_programs(command)).ends(0).clear();
}

fn judge(sandbox: &Sandbox, id: &str) {
    let at = |name: &str| sandbox.path().join(format!("{name}.{id}"));
    let dir = sandbox.path().join("store/runs").join(id);
    let document: Value = serde_json::from_slice(&std::fs::read(dir.join("run.json")).unwrap()).unwrap();
    // Each write has its own revision, and along them episodes only count up.
    let mut by_revision = BTreeMap::new();
    for line in lines(&at("receipts")) {
        let receipt: Value = serde_json::from_str(&line).unwrap();
        if receipt["changed"] == true {
            let episodes = receipt["outcome_seq"].as_i64().unwrap_or(0);
            let twin = by_revision.insert(receipt["revision"].as_i64().unwrap(), episodes);
            assert_eq!(twin, None, "two writers wrote revision {}", receipt["revision"]);
        }
    }
    by_revision.insert(document["cas_version"].as_i64().unwrap(), document["outcome_seq"].as_i64().unwrap());
    assert!(by_revision.len() > 5, "{by_revision:?}");
    assert!(by_revision.values().is_sorted(), "{by_revision:?}");
    // No acknowledged change of the document is lost.
    let issues: BTreeSet<_> =
        document["watched_issue_ids"].as_array().unwrap().iter().map(Value::to_string).collect();
    for issue in lines(&at("issues")) {
        assert!(issues.contains(&format!("\"{issue}\"")), "{issue} is not in {issues:?}");
    }
    // No acknowledged event is lost or has another number, and no number is missing or given twice.
    run(sandbox.program(&["run-events", "check", "--run", id])).ends(0).clear();
    let events: Vec<Value> =
        lines(&dir.join("events.jsonl")).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().enumerate().all(|(place, event)| event["seq"] == place), "{events:?}");
    let acks = lines(&at("acks"));
    assert!(acks.len() > 5, "{acks:?}");
    for ack in acks {
        let (seq, name) = ack.split_once(' ').unwrap();
        assert_eq!(events[seq.parse::<usize>().unwrap()]["data"]["id"], name);
    }
    // No attempt at an outcome was given twice, none that was acknowledged is lost, and what was done stays done.
    let text = std::fs::read(dir.join("route_decisions.json")).expect("some outcome was claimed");
    let decisions = serde_json::from_slice::<Value>(&text).unwrap()["decisions"].clone();
    let key = |told: &Value| (told["outcome_seq"].as_i64().unwrap(), told["attempts"].as_i64().unwrap());
    let mut given = BTreeSet::new();
    for line in lines(&at("claims")) {
        let told: Value = serde_json::from_str(&line).unwrap();
        assert!(given.insert(key(&told)), "{line} was given twice");
        let stored = &decisions[key(&told).0.to_string()];
        assert_eq!((key(stored), &stored["lease_owner"]), (key(&told), &told["lease_owner"]), "{line}");
    }
    for line in lines(&at("routed")) {
        let told: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(decisions[key(&told).0.to_string()]["state"], "succeeded", "{line}");
    }
    // Of each question there is a whole document, answered or not.
    for entry in std::fs::read_dir(dir.join("interactions")).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "json") {
            let _: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        }
    }
}
