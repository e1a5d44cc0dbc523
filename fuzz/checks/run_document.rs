//! Drafts of events, templates and filters, and `run.json`: no text makes a reader panic, what is encoded reads back, and
//! a setter leaves everything else as it was written.

use workspacetrack::run::events::draft::{Draft, Stamp};
use workspacetrack::run::events::filter::{Filter, glob};
use workspacetrack::run::events::template::Template;
use workspacetrack::run::json::Json;
use workspacetrack::run::record::patch::{Setting, patch};
use workspacetrack::run::record::write::Expected;
use workspacetrack::run::standstill::{Finished, Standstill};
use workspacetrack::store::id::RunId;

pub(crate) fn check(input: &[u8]) {
    let run = RunId::named("r").unwrap();
    if let Ok(draft) = Draft::parse(input, &run)
        && draft.check().is_ok()
    {
        let mut line = Vec::new();
        let stamp = Stamp { seq: 7, now_ns: 1_700_000_000_000_000_000, run: &run, log_offset: 3 };
        if draft.encode(stamp, &mut line).is_ok() {
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1, "one event is one line");
            assert!(line.ends_with(b"\n"));
            let value: serde_json::Value = serde_json::from_slice(&line).expect("an event is JSON");
            assert_eq!(value["seq"], 7);
            assert_eq!(value["run_id"], "r");
        }
    }
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = Template::parse(text);
        let _ = Filter::default().set_since(text, 1_700_000_000_000_000_000);
    }
    let middle = input.len() / 2;
    let _ = glob(&input[..middle], &input[middle..]);

    if let Ok(json) = Json::parse(input) {
        let (compact, indented) = (json.compact(), json.indented());
        assert_eq!(Json::parse(&indented).expect("what we write we can read").compact(), compact);
        assert_eq!(Json::parse_text(&compact).expect("what we write we can read").compact(), compact);
        assert!(serde_json::from_slice::<&serde_json::value::RawValue>(&indented).is_ok());
    }
    record(input, &run);
}

/// What a setter and its revision may touch.
const TOUCHED: [&str; 3] = ["base_commit", "cas_version", "updated_at"];

fn record(input: &[u8], run: &RunId) {
    let (store, root) = super::scratch::store("run_document");
    let path = root.join("runs/r/run.json");
    std::fs::write(&path, input).unwrap();
    let _ = Standstill::of(&store, run, Finished::Refused);
    let setting = Setting::named("base_commit", Json::string("c0ffee")).unwrap();
    if patch(&store, run, vec![setting], &Expected::default()).is_err() {
        assert_eq!(std::fs::read(&path).unwrap(), input, "a refusal wrote something");
        return;
    }
    let before = Json::parse(input).expect("what was changed could be read");
    let after = Json::parse(&std::fs::read(&path).unwrap()).expect("what we write we can read");
    assert_eq!(after.text_of("base_commit"), "c0ffee");
    let rest = |json: &Json| -> Vec<String> {
        let members = json.members().iter().filter(|(key, _)| !TOUCHED.contains(&&**key));
        members.map(|(key, value)| format!("{key} {}", value.compact())).collect()
    };
    assert_eq!(rest(&after), rest(&before));
}
