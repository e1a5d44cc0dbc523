//! [`Nodes`]: one row a node, from its executions, what they cost, and who served it.

use std::collections::BTreeMap;

use super::super::events::event::Event;
use super::super::events::fold::Fold;
use super::super::events::fold::active_time::ActiveTime;
use super::super::events::fold::costs::Costs;
use super::super::events::fold::decimal::Decimal;
use super::super::events::fold::executions::Executions;
use super::super::json::Json;
use super::{copy, count, first_row};
use crate::clock;

/// Follows the nodes of a run.
#[derive(Clone)]
pub(super) struct Nodes {
    executions: Fold<Executions>,
    costs: Fold<Costs>,
}

impl Default for Nodes {
    fn default() -> Self {
        Self { executions: Fold::new(Executions::default()), costs: Fold::new(Costs::default()) }
    }
}

/// What is known of one node on one branch.
#[derive(Default)]
struct Row {
    iterations: usize,
    status: String,
    iteration: String,
    started_at: String,
    ended_at: String,
    ms: i128,
}

/// What a node has cost.
#[derive(Default)]
struct Cost {
    models: Vec<String>,
    tokens: i64,
    usd: Decimal,
}

impl Nodes {
    pub(super) fn apply(&mut self, event: &Event<'_>) {
        self.executions.apply(event);
        self.costs.apply(event);
    }

    /// The rows, in the order in which the nodes began, and the sums.
    pub(super) fn finish(self, run: &Json, active: Fold<ActiveTime>) -> (Vec<Json>, Json) {
        let (mut costs, mut totals) = costs_by_node(self.costs);
        if let Some(active) = first_row(active) {
            copy(&active, &["active_ms", "source", "open"], &mut totals);
        }
        let mut order: Vec<(String, String)> = Vec::new();
        let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
        for json in parsed(self.executions.finish()) {
            let key = (json.text_of("node").into_owned(), json.text_of("branch").into_owned());
            if !rows.contains_key(&key) {
                order.push(key.clone());
            }
            rows.entry(key).or_default().take(&json);
        }
        let served = run.get("nodes_served");
        // What the log does not tell of, run.json may.
        let others = served.map(Json::members).unwrap_or_default().iter().map(|(node, _)| node.clone());
        let others = others.chain(costs.keys().cloned()).collect::<Vec<_>>();
        for node in others {
            if !order.iter().any(|(known, _)| *known == node) {
                order.push((node, "main".into()));
            }
        }
        let mut out = Vec::new();
        for (node, branch) in order {
            let row = rows.remove(&(node.clone(), branch.clone())).unwrap_or_default();
            // A node is paid for once, whatever the branches that it runs on.
            let cost = costs.remove(&node).unwrap_or_default();
            let entry = served.and_then(|served| served.get(&node));
            out.push(row.json(&node, &branch, cost, entry));
        }
        (out, totals)
    }
}

fn parsed(rows: Vec<String>) -> impl Iterator<Item = Json> {
    rows.into_iter().filter_map(|row| Json::parse(row.as_bytes()).ok())
}

fn costs_by_node(costs: Fold<Costs>) -> (BTreeMap<String, Cost>, Json) {
    let (mut by_node, mut totals) = (BTreeMap::<String, Cost>::new(), Json::object::<&str>([]));
    for json in parsed(costs.finish()) {
        if let Some(total) = json.get("total") {
            copy(total, &["tokens", "cost_usd"], &mut totals);
            continue;
        }
        let cost = by_node.entry(json.text_of("node").into_owned()).or_default();
        let model = json.text_of("model").into_owned();
        if !model.is_empty() {
            cost.models.push(model);
        }
        cost.tokens = cost.tokens.saturating_add(json.get("tokens").and_then(Json::as_integer).unwrap_or(0));
        let usd = json.get("cost_usd").map(Json::compact).and_then(|text| Decimal::parse(&text));
        cost.usd.add(usd.unwrap_or_default());
    }
    (by_node, totals)
}

impl Row {
    fn take(&mut self, execution: &Json) {
        self.iterations += 1;
        self.status = execution.text_of("status").into_owned();
        self.iteration = execution.text_of("iteration").into_owned();
        let (begun, ended) = (execution.text_of("started_at"), execution.text_of("ended_at"));
        if let Some((from, to)) = clock::parse_rfc3339(&begun).zip(clock::parse_rfc3339(&ended)) {
            self.ms += (to - from).max(0) / 1_000_000;
        }
        if self.started_at.is_empty() {
            self.started_at = begun.into_owned();
        }
        self.ended_at = ended.into_owned();
    }

    fn json(self, node: &str, branch: &str, cost: Cost, server: Option<&Json>) -> Json {
        let mut row = Json::object([("node", Json::string(node))]);
        if branch != "main" {
            row.set("branch", Json::string(branch));
        }
        let texts = [
            ("status", &self.status),
            ("iteration", &self.iteration),
            ("started_at", &self.started_at),
            ("ended_at", &self.ended_at),
        ];
        for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            row.set(key, Json::string(text));
        }
        row.set("iterations", count(self.iterations));
        row.set("ms", Json::integer(i64::try_from(self.ms).unwrap_or(i64::MAX)));
        if !cost.models.is_empty() {
            row.set("models", Json::strings(&cost.models));
        }
        if cost.tokens > 0 {
            row.set("tokens", Json::integer(cost.tokens));
        }
        if let Ok(usd) = Json::parse(cost.usd.to_string().as_bytes())
            && !usd.is_zero()
        {
            row.set("cost_usd", usd);
        }
        if let Some(server) = server {
            row.set("served", server.clone());
        }
        row
    }
}
