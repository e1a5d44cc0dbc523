//! Drafts of events, templates and filters, and `run.json`: no text makes a reader panic, and what is encoded reads back.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use workspacetrack::run::events::draft::{Draft, Stamp};
use workspacetrack::run::events::filter::{Filter, glob};
use workspacetrack::run::events::template::Template;
use workspacetrack::run::standstill::{Finished, Standstill};
use workspacetrack::store::fsio::Durability;
use workspacetrack::store::id::RunId;
use workspacetrack::store::lock::Patience;
use workspacetrack::store::{Settings, Store};

static STORE: OnceLock<PathBuf> = OnceLock::new();

fuzz_target!(|input: &[u8]| {
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

    let root = STORE.get_or_init(|| {
        let root = PathBuf::from(format!("/dev/shm/wt-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(root.join("runs/r")).unwrap();
        root
    });
    std::fs::write(root.join("runs/r/run.json"), input).unwrap();
    let patience = Patience { limit: Duration::from_secs(1), notice: |_| {} };
    let store = Store::new(root.clone(), Settings { durability: Durability::Off, patience });
    let _ = Standstill::of(&store, &run, Finished::Refused);
});
