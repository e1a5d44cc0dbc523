//! [`Posture`]: what may be done with a run as it stands, in a sentence and in commands that can be pasted.

use super::super::json::Json;
use super::super::liveness::Verdict;
use super::super::record::{self, checkpoint};
use super::super::status::Status;
use crate::stream::quote;

/// What may be done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posture {
    /// How the run stands, as a sentence without a full stop.
    pub summary: String,
    /// What each command is for, and the command; the first one is the likeliest.
    pub steps: Vec<(String, String)>,
}

impl Posture {
    /// Decides by document, liveness and open questions. `options` is how the commands name run and store.
    pub(super) fn of(run: Option<&Json>, verdict: Option<&Verdict>, pending: &[Json], options: &str) -> Self {
        let mut posture = Self { summary: String::new(), steps: Vec::new() };
        let Some(run) = run else {
            posture.summary = "run.json cannot be read, so nobody can say how the run stands".into();
            posture.step("see what happened", format!("run-events cat --last 20 --human{options}"));
            return posture;
        };
        match record::status(run) {
            Some(Status::Queued) => posture.queued(run, options),
            Some(Status::Running) => posture.running(verdict, options),
            Some(Status::PausedWaitingHuman) => posture.waiting(run, pending, options),
            Some(Status::PausedOperator) => posture.paused(run, options),
            Some(Status::Finished) => posture.summary = "it has reached its end".into(),
            Some(Status::Failed) => posture.failed(run, options),
            Some(status @ (Status::FailedResumable | Status::Cancelled)) => posture.resumable(run, status, options),
            None => {
                let status = quote::name(run.text_of("status").as_bytes());
                posture.summary = format!("its status {status} is not known here; nothing follows from it");
            }
        }
        posture.merge(run, options);
        posture
    }

    /// The same where somebody has claimed the present outcome, and what follows is his as long as his lease lasts; or where it
    /// was claimed as often as it may be. A run that goes on again has its outcome behind it.
    pub(super) fn routed(mut self, run: &Json, route: Option<&Json>, options: &str) -> Self {
        let Some(route) = route.filter(|_| record::status(run).is_some_and(Status::is_terminal)) else {
            return self;
        };
        let list = format!("run-route list{options}");
        match &*route.text_of("standing") {
            "live" => {
                let [owner, until] =
                    ["lease_owner", "lease_until"].map(|key| quote::masked(route.text_of(key).as_bytes()));
                let summary = &self.summary;
                self.summary = format!("{summary}; {owner} has claimed its outcome until {until}, and acts on it");
                self.steps = vec![(format!("wait for {owner}, and see what came of it"), list)];
            }
            "exhausted" => {
                self.summary.push_str("; no program may claim its outcome any more, so it is up to a person");
                self.steps.insert(0, ("see the last attempt".into(), list));
            }
            _ => {}
        }
        self
    }

    /// Of a directory in which no document is, only a history or what else was written beside one.
    pub(super) fn without_document(options: &str) -> Self {
        let summary = "it has no document, so nothing says how it stands";
        let mut posture = Self { summary: summary.into(), steps: Vec::new() };
        posture.step("see its snapshots", format!("wt-log{options}"));
        posture
    }

    /// The section.
    #[must_use]
    pub fn json(&self) -> Json {
        let step = |(why, command): &(String, String)| {
            Json::object([("why", Json::string(why)), ("command", Json::string(command))])
        };
        Json::object([
            ("summary", Json::string(&self.summary)),
            ("next", Json::Array(self.steps.iter().map(step).collect())),
        ])
    }

    fn step(&mut self, why: &str, command: String) {
        self.steps.push((why.to_owned(), command));
    }

    /// Claiming a run, and the engine that executes it then.
    fn resume(&mut self, why: &str, from: Status, options: &str) {
        self.step(why, format!("run-record set-status running --expect {from}{options}"));
        self.step(
            "execute it, with the engine's own command for a resume",
            format!("run-lock --pid{options} -- ENGINE"),
        );
    }

    fn queued(&mut self, run: &Json, options: &str) {
        self.summary = "it was accepted, and nobody has begun it".into();
        self.step("cancel it", format!("run-record set-status cancelled --expect queued{options}"));
        let queued_at = run.text_of("queued_at");
        if !queued_at.is_empty() {
            let since = quote::shell_word(&queued_at);
            self.step(
                "if it is stuck",
                format!("run-record fail --queued-attempt {since} --code DLQ_PARKED{options}"),
            );
        }
    }

    fn running(&mut self, verdict: Option<&Verdict>, options: &str) {
        match verdict {
            Some(Verdict::Orphaned) => {
                self.summary = "it says that it is running, and nobody executes it".into();
                self.step("end the episode, so that it can be resumed", format!("run-reconcile{options}"));
            }
            Some(Verdict::Young(_)) => {
                self.summary = "it says that it is running; who executes it does not show yet".into();
                self.step("look again in two minutes", format!("run-reconcile -n{options}"));
            }
            Some(Verdict::Unsure(_)) => {
                self.summary = "it says that it is running; from here nobody can tell".into();
                self.step("if you know that nobody executes it", format!("run-reconcile --trust-locks{options}"));
            }
            Some(_) => {
                self.summary = "it is being executed".into();
                self.step("watch it", format!("run-events tail --until-done --human{options}"));
            }
            None => self.summary = "it says that it is running; whether it is cannot be told".into(),
        }
    }

    fn waiting(&mut self, run: &Json, pending: &[Json], options: &str) {
        let is_recovery = run.at(&["checkpoint", "recovery_pause"]).and_then(Json::as_boolean) == Some(true);
        self.summary = if is_recovery {
            let code = run.at(&["checkpoint", "recovery_code"]).and_then(Json::text).unwrap_or_default();
            let code =
                if code.is_empty() { String::new() } else { format!(" ({})", quote::masked(code.as_bytes())) };
            format!("a node failed{code} and will be executed again; the answer only says that it may")
        } else {
            "it waits for an answer".into()
        };
        let mut asked: Vec<&Json> = pending.iter().collect();
        asked.sort_by_key(|question| question.text_of("kind") == "async");
        for question in asked {
            let id = question.text_of("id");
            let answer =
                format!("run-interaction answer {} {}{options}", quote::shell_word(&id), answers(question));
            let is_async = question.text_of("kind") == "async";
            self.step(if is_async { "answer, although nothing waits for it" } else { "answer" }, answer);
        }
        let is_open = |id: &String| pending.iter().any(|question| question.text_of("id") == **id);
        let awaited = checkpoint::awaited(run);
        if !awaited.iter().any(is_open) {
            self.summary.push_str("; its question is not open any more");
        }
        for id in awaited.iter().filter(|id| !is_open(id)) {
            let show = format!("run-interaction show {} /answers{options}", quote::shell_word(id));
            self.step("see the answer", show);
        }
        self.resume("then claim it", Status::PausedWaitingHuman, options);
    }

    fn paused(&mut self, run: &Json, options: &str) {
        let is_rewound = run.get("resume_requires_explicit").and_then(Json::as_boolean) == Some(true);
        self.summary = if is_rewound {
            "it was rewound, and goes on only when somebody says so".into()
        } else {
            "it was paused by an operator or a spending cap; nobody has to answer anything".into()
        };
        self.resume("claim it", Status::PausedOperator, options);
    }

    fn failed(&mut self, run: &Json, options: &str) {
        let node = run.at(&["checkpoint", "node_id"]).and_then(Json::text).filter(|node| !node.is_empty());
        match node {
            Some(node) => {
                self.summary = "it failed for good; its checkpoint was kept, so it can be rewound".into();
                let node = quote::shell_word(&node);
                self.step("see what a rewind would take back", format!("wt-rewind -n --node {node}{options}"));
            }
            None => self.summary = "it failed for good, and has no checkpoint to go back to".into(),
        }
    }

    fn resumable(&mut self, run: &Json, status: Status, options: &str) {
        let what = if status == Status::Cancelled { "it was cancelled" } else { "it failed" };
        let from = if run.get("checkpoint").is_some_and(Json::is_object) { "its checkpoint" } else { "the entry" };
        let next = match &*run.text_of("continuation_state") {
            "redelivery_pending" => "; the queue will deliver it again",
            "retry_armed" => "; a retry is scheduled",
            "final" => "; nobody else will act",
            _ => "; whether somebody else will act is not known",
        };
        self.summary = format!("{what}, and can be resumed from {from} without answers{next}");
        self.resume("claim it", status, options);
        if status == Status::FailedResumable {
            self.step("or give it up", format!("run-record set-status failed --expect failed_resumable{options}"));
        }
    }

    fn merge(&mut self, run: &Json, options: &str) {
        if record::status(run).is_some_and(Status::is_terminal)
            && matches!(&*run.text_of("merge_status"), "pending" | "failed" | "conflicted")
        {
            self.step("claim the merge of its work", format!("run-record claim-merge{options}"));
        }
    }
}

/// Answers to all questions of an interaction, to be filled in.
fn answers(interaction: &Json) -> String {
    let questions = interaction.get("questions").map(Json::members).unwrap_or_default();
    let blank = Json::object(questions.iter().map(|(key, _)| (key.clone(), Json::string("..."))));
    quote::shell_word(&blank.compact()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posture(run: &str, pending: &[&str]) -> Posture {
        let pending: Vec<Json> = pending.iter().map(|json| Json::parse(json.as_bytes()).unwrap()).collect();
        Posture::of(Some(&Json::parse(run.as_bytes()).unwrap()), None, &pending, " --run r")
    }

    fn commands(run: &str, pending: &[&str]) -> Vec<String> {
        posture(run, pending).steps.into_iter().map(|(_, command)| command).collect()
    }

    #[test]
    fn each_status_has_a_posture() {
        for status in Status::ALL {
            let posture = posture(&format!("{{\"status\":\"{status}\"}}"), &[]);
            assert!(!posture.summary.is_empty(), "{status}");
            let may_resume = posture.steps.iter().any(|(_, command)| command.contains("set-status running"));
            assert_eq!(may_resume, status.may_be_resumed(), "{status}");
        }
        assert!(posture(r#"{"status":"odd\u001b"}"#, &[]).summary.contains("'odd\\x1b'"));
    }

    #[test]
    fn a_question_is_answered_key_by_key_and_cannot_run_anything() {
        let run = r#"{"status":"paused_waiting_human","checkpoint":{"interaction_id":"i"}}"#;
        let asked = r#"{"id":"r_$(x)","questions":{"ship":"Ship it?","it's":"?"}}"#;
        assert_eq!(
            commands(run, &[asked])[0],
            r#"run-interaction answer 'r_$(x)' '{"ship":"...","it'\''s":"..."}' --run r"#
        );
        let recovery = r#"{"status":"paused_waiting_human","checkpoint":{"recovery_pause":true,"recovery_code":"AUTH_FAILED"}}"#;
        assert!(posture(recovery, &[asked]).summary.contains("(AUTH_FAILED) and will be executed again"));
    }

    #[test]
    fn a_cause_and_its_owner_are_told() {
        let run = r#"{"status":"failed_resumable","continuation_state":"final","checkpoint":{}}"#;
        assert!(posture(run, &[]).summary.ends_with("from its checkpoint without answers; nobody else will act"));
        assert!(posture(r#"{"status":"failed"}"#, &[]).summary.contains("no checkpoint"));
        let kept = r#"{"status":"failed","checkpoint":{"node_id":"a b"}}"#;
        assert_eq!(commands(kept, &[]), ["wt-rewind -n --node 'a b' --run r"]);
        let merge = r#"{"status":"finished","merge_status":"conflicted"}"#;
        assert_eq!(commands(merge, &[]), ["run-record claim-merge --run r"]);
    }
}
