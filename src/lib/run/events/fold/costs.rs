//! Tokens and cost by node and model, from what `node_finished` reports. A rewind gives nothing back: it was spent.

use serde::Serialize;
use serde_json::value::RawValue;

use super::decimal::Decimal;
use super::{Reducer, row};
use crate::run::events::event::{Event, integer, members, string};

/// Adds up what nodes report.
#[derive(Debug, Clone, Default)]
pub struct Costs {
    rows: Vec<(String, String, Sum)>,
    total: Sum,
}

#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    runs: u64,
    tokens: u64,
    cost_usd: Decimal,
}

#[derive(Serialize)]
struct SumRow {
    runs: u64,
    tokens: u64,
    cost_usd: Box<RawValue>,
}

#[derive(Serialize)]
struct Row<'a> {
    node: &'a str,
    model: &'a str,
    #[serde(flatten)]
    sum: SumRow,
}

#[derive(Serialize)]
struct Total {
    total: SumRow,
}

impl Sum {
    fn add(&mut self, tokens: u64, cost_usd: Decimal) {
        self.runs += 1;
        self.tokens = self.tokens.saturating_add(tokens);
        self.cost_usd.add(cost_usd);
    }

    fn row(&self) -> SumRow {
        // A decimal is always a JSON number.
        let cost_usd =
            RawValue::from_string(self.cost_usd.to_string()).unwrap_or_else(|_| RawValue::NULL.to_owned());
        SumRow { runs: self.runs, tokens: self.tokens, cost_usd }
    }
}

/// What a node reports, found in one pass over its data: reserved members stand at the top, or in the output, or both.
#[derive(Default)]
struct Report<'a>([Option<&'a RawValue>; RESERVED.len()]);

const RESERVED: [&str; 3] = ["_tokens", "_cost_usd", "_model"];

impl<'a> Report<'a> {
    fn of(event: &Event<'a>) -> Self {
        let mut report = Self::default();
        let mut output = None;
        for (key, value) in event.members_of_data() {
            if key == "output" {
                output = Some(value);
            }
            report.take(&key, value);
        }
        if report.0.iter().any(Option::is_none)
            && let Some(output) = output
        {
            let top = report.0;
            for (key, value) in members(output.get()) {
                report.take(&key, value);
            }
            for (found, top) in report.0.iter_mut().zip(top) {
                *found = top.or(*found);
            }
        }
        report
    }

    fn take(&mut self, key: &str, value: &'a RawValue) {
        let place = RESERVED.iter().position(|reserved| *reserved == key);
        if let Some(found) = place.and_then(|place| self.0.get_mut(place)) {
            *found = Some(value);
        }
    }
}

impl Reducer for Costs {
    fn apply(&mut self, event: &Event<'_>) -> Option<String> {
        if event.kind != "node_finished" {
            return None;
        }
        let Report([tokens, cost, model]) = Report::of(event);
        let tokens = tokens.and_then(integer);
        let cost = cost.and_then(|raw| Decimal::parse(raw.get()));
        if tokens.is_none() && cost.is_none() {
            return None;
        }
        let (tokens, cost) = (tokens.unwrap_or(0), cost.unwrap_or_default());
        let model = model.and_then(string).unwrap_or_default();
        self.total.add(tokens, cost);
        let place = self.rows.iter().position(|(node, known, _)| *node == event.node_id && *known == model);
        if let Some((_, _, sum)) = place.and_then(|place| self.rows.get_mut(place)) {
            sum.add(tokens, cost);
        } else {
            let mut sum = Sum::default();
            sum.add(tokens, cost);
            self.rows.push((event.node_id.clone().into_owned(), model.into_owned(), sum));
        }
        None
    }

    fn finish(self) -> Vec<String> {
        let mut rows: Vec<String> =
            self.rows.iter().map(|(node, model, sum)| row(&Row { node, model, sum: sum.row() })).collect();
        if !rows.is_empty() {
            rows.push(row(&Total { total: self.total.row() }));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::events::fold::testing::rows;

    #[test]
    fn adds_up_by_node_and_model() {
        assert_eq!(
            rows(
                Costs::default(),
                &[
                    r#"node_finished "node_id":"a","data":{"_tokens":10,"_cost_usd":0.1,"output":{"_model":"m","_tokens":99}}"#,
                    r#"node_finished "node_id":"a","data":{"output":{"_model":"m","_tokens":5,"_cost_usd":0.2}}"#,
                    r#"node_finished "node_id":"a","data":{"_tokens":1,"output":{"_model":"n"}}"#,
                    r#"node_finished "node_id":"router""#,
                    r#"delegate_finished "node_id":"a","data":{"tokens":1000}"#,
                ]
            ),
            [
                r#"{"node":"a","model":"m","runs":2,"tokens":15,"cost_usd":0.3}"#,
                r#"{"node":"a","model":"n","runs":1,"tokens":1,"cost_usd":0}"#,
                r#"{"total":{"runs":3,"tokens":16,"cost_usd":0.3}}"#,
            ]
        );
        assert_eq!(rows(Costs::default(), &["run_started"]), [""; 0]);
    }
}
