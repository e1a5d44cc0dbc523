//! Compare-and-set under contention: nothing is counted twice, lost, or loses what nobody knows.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use workspacetrack::error::Kind;
use workspacetrack::run::companion::Companion;
use workspacetrack::run::json::Json;
use workspacetrack::run::record::outcome::Rules;
use workspacetrack::run::record::write::Expected;
use workspacetrack::run::record::{load, save};
use workspacetrack::store::fsio::Durability;
use workspacetrack::store::id::RunId;
use workspacetrack::store::lock::Patience;
use workspacetrack::store::{Settings, Store};

use super::{Runs, parse};

const PROCESSES: usize = 8;
const EACH: i64 = 500;
/// Where a process of this test binary counts.
const STORE_VARIABLE: &str = "WT_TEST_COUNT_STORE";

/// Members that nobody knows, at every level.
const DOCUMENT: &str = r#"{"id":"r","name":"n","status":"running","x":{"big":9007199254740993,"f":1.50},"budget":{"x":[1]},
"checkpoint":{"node_id":"n","interaction_id":"","x":"<c>","parallel":{"x":1,"branches":{"b":{"branch_id":"b","x":2}}},
"selected_incoming":{"n":[{"from":"a","to":"n","x":3}]}},"artifact_index":{"count":0}}"#;

/// Without what only this writer changes.
fn rest(run: &Value) -> Value {
    let mut run = run.clone();
    for changing in ["artifact_index", "cas_version", "updated_at"] {
        run.as_object_mut().unwrap().remove(changing);
    }
    run
}

#[test]
#[ignore = "a process of the next test"]
fn a_process_that_counts() {
    let root = PathBuf::from(std::env::var_os(STORE_VARIABLE).expect("started by the next test"));
    let patience = Patience { limit: Duration::from_secs(60), notice: |_| {} };
    let store = Store::new(root, Settings { durability: Durability::Off, patience });
    let run = RunId::named("r").unwrap();
    let rules = Rules { is_forced: false, telling: Companion::Suppressed };
    let mut counted = 0;
    while counted < EACH {
        let mut document = load(&store, &run).unwrap();
        let count = document.at(&["artifact_index", "count"]).and_then(Json::as_integer).unwrap();
        document.set("artifact_index", Json::object([("count", Json::integer(count + 1))]));
        match save::save(&store, &run, document, &Expected::default(), rules) {
            Ok(_) => counted += 1,
            Err(error) if error.kind() == Kind::Conflict => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// 8 processes, 500 increments each, of the library behind `save`.
#[test]
fn every_increment_counts_once() {
    let runs = Runs::with(DOCUMENT);
    let before = rest(&runs.json());
    let children: Vec<_> = (0..PROCESSES)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["record::counting::a_process_that_counts", "--exact", "--ignored"])
                .env(STORE_VARIABLE, runs.0.path().join("store"))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let total = i64::try_from(PROCESSES).unwrap() * EACH;
    assert_eq!((runs.at("/artifact_index/count"), runs.at("/cas_version")), (json!(total), json!(total)));
    assert_eq!(rest(&runs.json()), before);
    assert!(runs.text().contains("9007199254740993") && runs.text().contains("\"f\": 1.50"));
}

/// The same through the program, as a script does it.
#[test]
fn scripts_count_as_well() {
    let runs = Runs::with(DOCUMENT);
    let before = rest(&runs.json());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut counted = 0;
                while counted < 10 {
                    let mut document = parse(&runs.record(&["get"]).ends(0));
                    // A writer that does not know it.
                    document.as_object_mut().unwrap().remove("x");
                    document["artifact_index"]["count"] =
                        (document["artifact_index"]["count"].as_i64().unwrap() + 1).into();
                    match runs.record_with(&["save"], document.to_string()).code {
                        0 => counted += 1,
                        code => assert_eq!(code, 6),
                    }
                }
            });
        }
    });
    assert_eq!((runs.at("/artifact_index/count"), runs.at("/cas_version")), (json!(40), json!(40)));
    assert_eq!(rest(&runs.json()), before);
}
