//! The status machine against a model: several processes write at once, each with copies that grow stale, and everything that
//! they were told must be what a simple model says of the one order in which the revisions put their writes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Runs, STATUSES, parse};

const WRITERS: u64 = 4;
const STEPS: usize = 40;

/// What the model knows of a run. Texts are empty where a member is missing.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a member that is there or not")]
struct Model {
    status: String,
    episodes: u64,
    continuation: String,
    code: String,
    error: String,
    reason: String,
    /// The node of the checkpoint: who wrote it last.
    checkpoint: String,
    pointer: String,
    waits: bool,
    explicit: bool,
    retry: bool,
    merging: bool,
    has_end: bool,
    has_queued: bool,
}

/// What a writer does.
#[derive(Debug, Clone)]
enum Step {
    Set {
        to: &'static str,
        code: String,
        reason: String,
        error: String,
        continuation: String,
        expect: Vec<&'static str>,
        force: bool,
    },
    Save {
        copy: Value,
        status: String,
        code: String,
        node: String,
        pointer: String,
    },
    Checkpoint {
        node: String,
        pointer: String,
    },
    Pause {
        node: String,
        pointer: String,
    },
    Fail {
        resumable: bool,
        node: String,
        code: String,
    },
    Lost,
    Wait,
    Explicit,
    Arm,
    Claim,
}

/// What a writer is told: written, nothing to do, or why not.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Told {
    Written,
    Nothing,
    Refused,
    Conflict,
}

fn is(status: &str, these: &str) -> bool {
    let letters = ["Q", "R", "PH", "PO", "FI", "FA", "FR", "CA"];
    let letter = STATUSES.iter().position(|known| *known == status).map_or("", |place| letters[place]);
    these.split(' ').any(|one| one == letter)
}

/// The graph of facts 2.2.
fn follows(from: &str, to: &str) -> bool {
    let to_of = |from: &str| match from {
        "queued" => "R CA FA FR PO",
        "running" => "PH PO FI FA FR CA",
        "paused_waiting_human" => "R Q CA PO",
        "paused_operator" => "R Q CA",
        "failed_resumable" => "R Q CA FA PO",
        "cancelled" => "R Q PO",
        "failed" => "PO",
        _ => "",
    };
    from == to || is(to, to_of(from))
}

impl Model {
    /// Facts 2.3, as a table of ifs.
    fn enter(&mut self, to: &str, code: &str, reason: &str, error: &str, continuation: &str) {
        let moves = self.status != to;
        self.status = to.into();
        self.episodes += u64::from(moves && is(to, "FI FA FR CA"));
        if !continuation.is_empty() {
            self.continuation = continuation.into();
        } else if moves {
            self.continuation.clear();
        }
        self.retry &= continuation != "final";
        for (member, text) in [(&mut self.error, error), (&mut self.code, code), (&mut self.reason, reason)] {
            if moves || !text.is_empty() {
                *member = text.into();
            }
        }
        if to == "running" {
            self.error.clear();
            self.explicit = false;
        }
        self.has_end = is(to, "FI FA FR CA");
        self.has_queued |= to == "queued";
        self.waits &= !moves;
        self.strip();
    }

    fn strip(&mut self) {
        if !is(&self.status, "FA FR CA") {
            self.code.clear();
            self.reason.clear();
        }
        if !is(&self.status, "Q PH PO") {
            self.pointer.clear();
        }
        self.waits &= self.status == "running";
    }

    fn apply(&mut self, revision: i64, step: &Step) -> Told {
        match step {
            Step::Set { to, code, reason, error, continuation, expect, force } => {
                if !expect.is_empty() && !expect.contains(&self.status.as_str()) {
                    return Told::Conflict;
                }
                if !force && !follows(&self.status, to) {
                    return Told::Refused;
                }
                self.enter(to, code, reason, error, continuation);
            }
            Step::Save { copy, status, code, node, pointer } => {
                if copy["cas_version"] != revision {
                    return Told::Conflict;
                }
                if !follows(&self.status, status) {
                    return Told::Refused;
                }
                let moves = self.status != *status;
                let had_end = copy.get("finished_at").is_some();
                self.status.clone_from(status);
                (self.checkpoint, self.pointer) = (node.clone(), pointer.clone());
                if moves {
                    self.episodes += u64::from(is(status, "FI FA FR CA"));
                    self.continuation.clear();
                    self.code.clone_from(code);
                    self.has_queued |= status == "queued";
                }
                self.has_end = is(status, "FI FA FR CA") && (had_end || moves);
                if status == "running" {
                    self.error.clear();
                    self.explicit = false;
                }
                self.strip();
            }
            Step::Checkpoint { node, pointer } => {
                (self.checkpoint, self.pointer) = (node.clone(), pointer.clone());
                self.strip();
            }
            Step::Pause { node, pointer } => {
                if !follows(&self.status, "paused_waiting_human") {
                    return Told::Refused;
                }
                (self.checkpoint, self.pointer) = (node.clone(), pointer.clone());
                self.enter("paused_waiting_human", "", "", "", "");
                self.continuation.clear();
            }
            Step::Fail { resumable, node, code } => {
                let to = if *resumable { "failed_resumable" } else { "failed" };
                if self.status == "cancelled" {
                    return Told::Nothing;
                }
                if !follows(&self.status, to) {
                    return Told::Refused;
                }
                self.checkpoint.clone_from(node);
                self.enter(to, code, "", "", "");
            }
            Step::Lost if self.status != "queued" => return Told::Conflict,
            Step::Lost => self.enter("failed_resumable", "DLQ_PARKED", "", "", "final"),
            Step::Wait if self.status != "running" => return Told::Refused,
            Step::Wait if self.waits => return Told::Nothing,
            Step::Wait => self.waits = true,
            Step::Explicit if self.status == "running" => return Told::Refused,
            Step::Explicit if self.explicit => return Told::Nothing,
            Step::Explicit => self.explicit = true,
            Step::Arm if self.retry => return Told::Nothing,
            Step::Arm => self.retry = true,
            Step::Claim if self.merging => return Told::Conflict,
            Step::Claim => self.merging = true,
        }
        Told::Written
    }

    /// What a document says of all this.
    fn of(run: &Value) -> Self {
        let text = |pointer: &str| run.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let has = |pointer: &str| run.pointer(pointer).is_some();
        assert_eq!(text("/checkpoint/outputs/all/kept"), "yes", "the checkpoint is lost: {run}");
        let pointer = text("/checkpoint/interaction_id");
        assert_eq!(has("/checkpoint/interaction_questions"), !pointer.is_empty(), "half a pause pointer: {run}");
        Self {
            status: text("/status"),
            episodes: run["outcome_seq"].as_u64().unwrap_or(0),
            continuation: text("/continuation_state"),
            code: text("/failure_code"),
            error: text("/error"),
            reason: text("/end_reason"),
            checkpoint: text("/checkpoint/node_id"),
            pointer,
            waits: has("/await_answers_waits/t"),
            explicit: has("/resume_requires_explicit"),
            retry: has("/retry_state/retry_after"),
            merging: text("/merge_status") == "merging",
            has_end: has("/finished_at"),
            has_queued: has("/queued_at"),
        }
    }
}

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn text(&mut self, texts: &[&str]) -> String {
        texts[self.roll(texts.len())].to_owned()
    }

    fn step(&mut self, copy: &Value, mark: &str) -> Step {
        let (node, pointer) =
            (mark.to_owned(), if self.roll(2) == 0 { String::new() } else { format!("i-{mark}") });
        let code = self.text(&["", "", "TIMEOUT", "AUTH_FAILED"]);
        match self.roll(16) {
            0..=5 => Step::Set {
                // The end of all ends comes seldom, so that there is a life before it.
                to: ["running", STATUSES[self.roll(8)], STATUSES[self.roll(4)]][self.roll(3)],
                code,
                reason: self.text(&["", "operator"]),
                error: self.text(&["", "text"]),
                continuation: self.text(&["", "", "final", "retry_armed"]),
                expect: (0..self.roll(9).saturating_sub(5)).map(|_| STATUSES[self.roll(8)]).collect(),
                force: self.roll(3) == 0,
            },
            6..=8 => {
                let status =
                    if self.roll(2) == 0 { copy["status"].as_str().unwrap() } else { STATUSES[self.roll(8)] };
                Step::Save { copy: copy.clone(), status: status.to_owned(), code, node, pointer }
            }
            9 => Step::Checkpoint { node, pointer },
            10 => Step::Pause { node, pointer: format!("i-{mark}") },
            11 => Step::Fail { resumable: self.roll(2) == 0, node, code },
            12 => [Step::Lost, Step::Claim][self.roll(2)].clone(),
            13 => Step::Wait,
            14 => Step::Explicit,
            _ => Step::Arm,
        }
    }
}

fn checkpoint(node: &str, pointer: &str) -> Value {
    let mut checkpoint = json!({"node_id":node,"interaction_id":pointer,"outputs":{"all":{"kept":"yes"}}});
    if !pointer.is_empty() {
        checkpoint["interaction_questions"] = json!({"q":"?"});
    }
    checkpoint
}

/// Carries a step out; gives the revision that was told, and what.
fn carry_out(runs: &Runs, step: &Step) -> (i64, Told, Value) {
    let mut stdin = String::new();
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let args = match step {
        Step::Set { to, code, reason, error, continuation, expect, force } => {
            let mut args = owned(&["set-status", to, "--code", code, "--end-reason", reason, "--error", error]);
            if !continuation.is_empty() {
                args.extend(owned(&["--continuation", continuation]));
            }
            if !expect.is_empty() {
                args.extend(owned(&["--expect", &expect.join(",")]));
            }
            args.extend(force.then(|| "--force".to_owned()));
            args
        }
        Step::Save { copy, status, code, node, pointer } => {
            let mut document = copy.clone();
            document["status"] = json!(status);
            document["failure_code"] = json!(code);
            document["checkpoint"] = checkpoint(node, pointer);
            // What only the store may say is said wrong.
            document["outcome_seq"] = json!(77);
            document["continuation_state"] = json!("final");
            stdin = document.to_string();
            owned(&["save"])
        }
        Step::Checkpoint { node, pointer } => {
            stdin = checkpoint(node, pointer).to_string();
            owned(&["checkpoint", "save"])
        }
        Step::Pause { node, pointer } => owned(&["pause", "--checkpoint", &checkpoint(node, pointer).to_string()]),
        Step::Fail { resumable, node, code } => {
            let how = if *resumable { "--resumable" } else { "--terminal" };
            owned(&["fail", how, "--code", code, "--checkpoint", &checkpoint(node, "").to_string()])
        }
        Step::Lost => owned(&[
            "fail",
            "--queued-attempt",
            "2200-01-01T00:00:00Z",
            "--code",
            "DLQ_PARKED",
            "--continuation",
            "final",
        ]),
        Step::Wait => owned(&[
            "patch",
            "--set",
            r#"await_answers_waits={"t":{"node_id":"n","until":"2099-01-01T00:00:00Z"}}"#,
        ]),
        Step::Explicit => owned(&["patch", "--set", "resume_requires_explicit=true"]),
        Step::Arm => {
            owned(&["patch", "--set", r#"retry_state={"retry_after":"2099-01-01T00:00:00Z","attempts":1}"#])
        }
        Step::Claim => owned(&["claim-merge"]),
    };
    let args: Vec<_> = args.iter().map(String::as_str).chain(["--json"]).collect();
    let done = runs.record_with(&args, &stdin);
    let out = parse(&done.out);
    let told = match (done.code, out["changed"].as_bool()) {
        (0 | 3, Some(true)) => Told::Written,
        (0 | 3, Some(false)) => Told::Nothing,
        (5, None) => Told::Refused,
        (6, None) => Told::Conflict,
        _ => panic!("{step:?}: {} {}", done.out, done.err),
    };
    let said = if out["error"].is_object() { &out["error"] } else { &out };
    (said["revision"].as_i64().unwrap_or_else(|| panic!("{out}")), told, said.clone())
}

/// A step that was carried out: the revision that was told, what, and in which words.
type Carried = (i64, Told, Value, Step);

/// One writer: steps from copies of any age, and now and then a look at the run.
fn write(runs: &Runs, seed: u64) -> (Vec<Carried>, Vec<Value>) {
    let mut dice = Dice(seed);
    let (mut steps, mut copies) = (Vec::new(), Vec::new());
    for number in 0..STEPS {
        if copies.is_empty() || dice.roll(2) == 0 {
            copies.push(parse(&runs.record(&["get"]).ends(0)));
        }
        let age = dice.roll(2).min(copies.len() - 1);
        let copy = copies[copies.len() - 1 - age].clone();
        let step = dice.step(&copy, &format!("{seed}-{number}"));
        let (revision, told, said) = carry_out(runs, &step);
        steps.push((revision, told, said, step));
    }
    (steps, copies)
}

#[test]
fn what_writers_are_told_is_what_the_model_says() {
    let (mut kinds, mut total) = (BTreeMap::<String, usize>::new(), 0);
    for round in 1..=2 {
        let runs = Runs::with(&format!(
            r#"{{"id":"r","name":"n","status":"running","checkpoint":{},"cas_version":1}}"#,
            checkpoint("first", "")
        ));
        let mut models = vec![Model::of(&runs.json())];
        let (mut steps, mut copies) = (Vec::new(), Vec::new());
        std::thread::scope(|scope| {
            let runs = &runs;
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| scope.spawn(move || write(runs, round * 7_919 + writer * 104_729 + 1)))
                .collect();
            for writer in writers {
                let (more, seen) = writer.join().unwrap();
                steps.extend(more);
                copies.extend(seen);
            }
        });
        let repairs = steps.iter().filter(|(revision, told, _, step)| {
            let (Step::Set { to, force: true, .. }, Told::Written) = (step, told) else { return false };
            let mut before =
                steps.iter().filter(|(other, told, ..)| *told == Told::Written && other + 1 == *revision);
            let status = before.next().map_or("running", |(_, _, said, _)| said["status"].as_str().unwrap());
            !follows(status, to)
        });
        assert_eq!(repairs.count(), runs.events().len(), "each repair is told, once");
        // The revisions tell the one order in which the writes happened.
        let (mut written, others): (Vec<_>, Vec<_>) =
            steps.into_iter().partition(|(_, told, ..)| *told == Told::Written);
        written.sort_by_key(|(revision, ..)| *revision);
        for (place, (revision, told, said, step)) in written.iter().enumerate() {
            let before = i64::try_from(place).unwrap() + 1;
            assert_eq!(*revision, before + 1, "a revision is missing or was given twice");
            let mut model = models[place].clone();
            assert_eq!(model.apply(before, step), *told, "{step:?} on {:?}", models[place]);
            let text = |key: &str| said[key].as_str().unwrap_or_default();
            assert_eq!(
                (&*model.status, model.episodes, &*model.continuation, &*model.code),
                (
                    text("status"),
                    said["outcome_seq"].as_u64().unwrap_or(0),
                    text("continuation_state"),
                    text("failure_code")
                ),
                "{step:?} on {:?}",
                models[place]
            );
            models.push(model);
        }
        let model_at = |revision: i64| &models[usize::try_from(revision - 1).unwrap()];
        for (revision, told, said, step) in &others {
            let mut model = model_at(*revision).clone();
            assert_eq!(model.apply(*revision, step), *told, "{step:?} on {model:?}");
            assert_eq!(said["status"], model.status, "{step:?}");
        }
        for copy in copies.iter().chain([&runs.json()]) {
            assert_eq!(Model::of(copy), *model_at(copy["cas_version"].as_i64().unwrap()), "{copy}");
        }
        for (_, told, _, step) in written.iter().chain(&others) {
            let name = format!("{step:?}").split([' ', '{']).next().unwrap().to_owned();
            *kinds.entry(format!("{name} {told:?}")).or_default() += 1;
            total += 1;
        }
    }
    assert_eq!(total, 2 * usize::try_from(WRITERS).unwrap() * STEPS);
    for kind in [
        "Set Written",
        "Set Refused",
        "Set Conflict",
        "Save Written",
        "Save Conflict",
        "Pause Written",
        "Fail Written",
        "Checkpoint Written",
    ] {
        assert!(kinds.contains_key(kind), "never met: {kind} in {kinds:?}");
    }
}
