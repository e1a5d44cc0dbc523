//! What the run says it has deployed (facts 6, to the letter).
//!
//! Two groups of reserved keys in the output of `node_finished`, each recognised by itself, the last one of each winning.
//! Two members are ours and say what the original keeps quiet: `precedes_delivery` in a trace that is older than the
//! delivery it is shown with, and `rewound` when the delivering node was dropped by a rewind since.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Reducer, row};
use crate::run::events::event::{Event, boolean, member, string};

/// Follows deliveries and their traces.
#[derive(Debug, Clone, Default)]
pub struct Deployment {
    delivery: Option<(u64, Delivery)>,
    trace: Option<(u64, Trace)>,
    gate_commit: String,
    is_tied: bool,
}

#[derive(Debug, Clone, Default, Serialize)]
struct Delivery {
    #[serde(skip_serializing_if = "String::is_empty")]
    node_id: String,
    deployed: bool,
    healthy: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    image_ref: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    commit: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    notes: String,
    #[serde(skip_serializing_if = "is_false")]
    rewound: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Trace>,
}

#[derive(Debug, Clone, Default, Serialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is one fact of the report")]
struct Trace {
    #[serde(skip_serializing_if = "String::is_empty")]
    node_id: String,
    verifiable: bool,
    pushed: bool,
    image_from_repo: bool,
    built_from_head: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    log: String,
    #[serde(skip_serializing_if = "is_false")]
    precedes_delivery: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// The output of a node, by key.
struct Output<'a>(&'a RawValue);

impl Output<'_> {
    fn has(&self, key: &str) -> bool {
        member(self.0.get(), key).is_some()
    }

    fn boolean(&self, key: &str) -> bool {
        member(self.0.get(), key).and_then(boolean).unwrap_or(false)
    }

    fn text(&self, key: &str) -> String {
        member(self.0.get(), key).and_then(string).unwrap_or_default().into_owned()
    }

    fn trimmed(&self, key: &str) -> String {
        self.text(key).trim().to_owned()
    }
}

impl Deployment {
    /// By the better rule (facts 10.23): a trace, and its commit, belong to the delivery that they follow, and a delivery goes
    /// with a rewind of its node.
    #[must_use]
    pub fn tied() -> Self {
        Self { is_tied: true, ..Self::default() }
    }

    fn take(&mut self, event: &Event<'_>, output: &Output<'_>) {
        if output.has("deployed_url") {
            let delivery = Delivery {
                node_id: event.node_id.clone().into_owned(),
                deployed: output.boolean("deployed"),
                healthy: output.boolean("healthy"),
                url: output.trimmed("deployed_url"),
                image_ref: output.trimmed("image_ref"),
                commit: output.trimmed("commit"),
                notes: output.text("notes"),
                rewound: false,
                trace: None,
            };
            self.delivery = Some((event.seq, delivery));
        }
        if output.has("verifiable")
            && ["pushed", "image_from_repo", "built_from_head"].iter().any(|key| output.has(key))
        {
            let trace = Trace {
                node_id: event.node_id.clone().into_owned(),
                verifiable: output.boolean("verifiable"),
                pushed: output.boolean("pushed"),
                image_from_repo: output.boolean("image_from_repo"),
                built_from_head: output.boolean("built_from_head"),
                log: output.text("trace_log"),
                precedes_delivery: false,
            };
            self.trace = Some((event.seq, trace));
            self.gate_commit = output.trimmed("commit");
        }
    }

    fn rewind(&mut self, event: &Event<'_>) {
        let dropped = event.datum(&["dropped_nodes"]).map(RawValue::get).unwrap_or_default();
        let dropped: Vec<String> = serde_json::from_str(dropped).unwrap_or_default();
        if let Some((_, delivery)) = &mut self.delivery
            && dropped.contains(&delivery.node_id)
        {
            delivery.rewound = true;
        }
    }
}

impl Reducer for Deployment {
    fn apply(&mut self, event: &Event<'_>) -> Option<String> {
        match &*event.kind {
            "node_finished" if !event.node_id.is_empty() => {
                if let Some(output) = event.datum(&["output"]).filter(|output| output.get().starts_with('{')) {
                    self.take(event, &Output(output));
                }
            }
            "run_rewound" => self.rewind(event),
            _ => {}
        }
        None
    }

    fn finish(self) -> Vec<String> {
        let Some((delivered, mut report)) = self.delivery else { return Vec::new() };
        let follows = self.trace.as_ref().is_none_or(|(traced, _)| *traced >= delivered);
        if self.is_tied && report.rewound {
            return Vec::new();
        }
        if self.is_tied && !follows {
            return vec![row(&report)];
        }
        if !self.gate_commit.is_empty() {
            report.commit = self.gate_commit;
        }
        report.trace = self.trace.map(|(traced, trace)| Trace { precedes_delivery: traced < delivered, ..trace });
        vec![row(&report)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::events::event::Event;
    use crate::run::events::fold::Fold;
    use crate::run::events::fold::testing::rows;

    fn report(events: &[&str]) -> String {
        rows(Deployment::default(), events).concat()
    }

    fn finished(node: &str, output: &str) -> String {
        format!(r#"node_finished "node_id":"{node}","data":{{"output":{output}}}"#)
    }

    #[test]
    fn delivery_and_trace_become_one_report_with_the_commit_of_the_gate() {
        let deploy = finished(
            "deploy",
            r#"{"deployed_url":" https://a ","deployed":true,"healthy":true,"commit":"abc","notes":" n ","image_ref":"i"}"#,
        );
        let trace = finished(
            "deploy_trace",
            r#"{"verifiable":true,"pushed":true,"image_from_repo":true,"built_from_head":true,"commit":"def ","trace_log":"l"}"#,
        );
        let expected = concat!(
            r#"{"node_id":"deploy","deployed":true,"healthy":true,"url":"https://a","image_ref":"i","commit":"def","#,
            r#""notes":" n ","trace":{"node_id":"deploy_trace","verifiable":true,"pushed":true,"image_from_repo":true,"#,
            r#""built_from_head":true,"log":"l"}}"#
        );
        assert_eq!(report(&[&deploy, &trace]), expected);
        let early = report(&[&trace, &deploy]);
        assert_eq!(early, expected.replace(r#""log":"l""#, r#""log":"l","precedes_delivery":true"#));
    }

    #[test]
    fn presence_counts_not_type_or_value() {
        let odd = finished("n", r#"{"deployed_url":7,"deployed":"yes","healthy":null}"#);
        assert_eq!(report(&[&odd]), r#"{"node_id":"n","deployed":false,"healthy":false}"#);
        let failed = finished("n", r#"{"deployed_url":"","deployed":false,"notes":"no quota"}"#);
        assert_eq!(report(&[&failed]), r#"{"node_id":"n","deployed":false,"healthy":false,"notes":"no quota"}"#);
        assert_eq!(report(&[&finished("n", r#"{"deployed":true}"#)]), "");
        assert_eq!(report(&[r#"node_finished "data":{"output":{"deployed_url":"u"}}"#]), "", "without a node");
        assert_eq!(report(&[&finished("n", "[1]"), r#"node_finished "node_id":"n""#]), "");
    }

    #[test]
    fn a_trace_needs_its_meta_fact_and_one_more() {
        let deploy = finished("d", r#"{"deployed_url":"u"}"#);
        let trace = finished("t", r#"{"verifiable":false,"pushed":true}"#);
        let both = report(&[&deploy, &trace]);
        assert!(both.contains(r#""trace":{"node_id":"t","verifiable":false,"pushed":true"#), "{both}");
        for no_trace in [r#"{"verifiable":true}"#, r#"{"pushed":true,"built_from_head":true}"#] {
            assert!(!report(&[&deploy, &finished("t", no_trace)]).contains("trace"));
        }
        assert_eq!(report(&[&trace]), "", "a trace alone is no deployment");
    }

    #[test]
    fn the_last_of_each_group_wins_and_one_output_may_carry_both() {
        let first = finished("d", r#"{"deployed_url":"one","healthy":true,"notes":"x"}"#);
        let second = finished("d", r#"{"deployed_url":"two"}"#);
        assert_eq!(report(&[&first, &second]), r#"{"node_id":"d","deployed":false,"healthy":false,"url":"two"}"#);
        let both = report(&[&finished("d", r#"{"deployed_url":"u","verifiable":true,"pushed":1,"commit":"c"}"#)]);
        assert!(both.contains(r#""commit":"c","trace":{"node_id":"d","verifiable":true,"pushed":false"#), "{both}");
        assert!(!both.contains("precedes"));
    }

    #[test]
    fn by_the_better_rule_a_trace_belongs_to_the_delivery_before_it() {
        let trace = finished("t", r#"{"verifiable":true,"pushed":true,"commit":"gate"}"#);
        let deploy = finished("d", r#"{"deployed_url":"u","commit":"own"}"#);
        let tied = |events: &[&str]| rows(Deployment::tied(), events).concat();
        assert_eq!(tied(&[&deploy, &trace]), report(&[&deploy, &trace]));
        let alone = r#"{"node_id":"d","deployed":false,"healthy":false,"url":"u","commit":"own"}"#;
        assert_eq!(tied(&[&trace, &deploy]), alone, "the gate has not judged this one");
        assert_eq!(tied(&[&deploy, r#"run_rewound "data":{"dropped_nodes":["d"]}"#]), "");
        assert_eq!(tied(&[&deploy, r#"run_rewound "data":{"dropped_nodes":["d"]}"#, &deploy]), alone);
    }

    #[test]
    fn old_numbers_are_passed_over_and_a_rewind_is_told() {
        let mut fold = Fold::new(Deployment::default());
        for (seq, url) in [(5, "new"), (5, "same"), (3, "old")] {
            let line = format!(
                r#"{{"seq":{seq},"type":"node_finished","node_id":"d","data":{{"output":{{"deployed_url":"{url}"}}}}}}"#
            );
            fold.apply(&Event::parse(line.as_bytes()).unwrap());
        }
        assert!(fold.finish().concat().contains(r#""url":"new""#));
        let deploy = finished("d", r#"{"deployed_url":"u"}"#);
        let rewound = report(&[&deploy, r#"run_rewound "data":{"dropped_nodes":["d"]}"#]);
        assert!(rewound.contains(r#""url":"u","rewound":true"#), "{rewound}");
    }
}
