//! The watermark, of which the first one stays, and what is said to be there is.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::Value;

use super::{claimed, with_outcomes};
use crate::files_race::{PROCESSES, codes, one_of_eight};
use crate::sandbox::{Sandbox, run};
use crate::shell::{go, json};

/// Case 71: the watermark is set twice, the first one stays.
#[test]
fn the_first_watermark_stays() {
    let sandbox = Sandbox::new();
    let set = |time: &str| go(&sandbox, &["run-route", "watermark", "--set", time]);
    assert_eq!(go(&sandbox, &["run-route", "watermark"]).ends(1), "");
    for bad in ["", "then", "2026-01-01", "1969-12-31T23:59:59Z"] {
        set(bad).ends(2).clear();
    }
    assert!(!sandbox.path().join("store/route_watermark.json").exists());
    assert!(set("2026-01-01T13:00:00+01:00").ends(0).contains(r#""watermark":"2026-01-01T12:00:00Z""#));
    for time in ["now", "2020-01-01T00:00:00Z", "2026-01-01T12:00:00Z"] {
        let told = set(time).ends(1);
        assert!(
            told.contains(r#""watermark":"2026-01-01T12:00:00Z""#) && told.contains(r#""new":false"#),
            "{told}"
        );
    }
    assert_eq!(json(&sandbox, &["run-route", "watermark"])["watermark"], "2026-01-01T12:00:00Z");
    let path = sandbox.path().join("store/route_watermark.json");
    for (odd, code) in [
        ("{", 4),
        ("", 4),
        ("7", 5),
        (r#"{"version":2,"watermark":"2026-01-01T12:00:00Z"}"#, 5),
        (r#"{"version":1}"#, 5),
    ] {
        crate::sandbox::put(&path, odd);
        set("now").ends(code).clear();
        go(&sandbox, &["run-route", "watermark"]).ends(code).clear();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), odd);
    }
}

/// There is no lock around it: of all who make the file one does.
#[test]
fn of_many_who_set_the_watermark_one_does() {
    let sandbox = Sandbox::new();
    std::fs::remove_dir_all(sandbox.path().join("store")).unwrap();
    let children: Vec<_> = (0..PROCESSES)
        .map(|number| {
            let time = format!("2026-01-01T00:00:0{number}Z");
            let mut command = sandbox.program(&["run-route", "watermark", "--set", &time]);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    assert_eq!(codes(&outputs), one_of_eight(1));
    let told = |output: &std::process::Output| {
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["watermark"].as_str().unwrap().to_owned()
    };
    let first = told(outputs.iter().find(|output| output.status.success()).unwrap());
    assert!(outputs.iter().all(|output| told(output) == first), "{outputs:?}");
}

/// A writer that is killed may leave a name that is not on the disk; who is told that it is there sees to that.
#[test]
fn what_was_said_before_is_on_the_disk() {
    let finish = ["run-route", "finish", "--seq", "1", "--owner", "a", "--attempt", "1", "--succeeded"];
    let watermark = ["run-route", "watermark", "--set", "now"];
    for (line, file, again) in
        [(&finish[..], "store/runs/r/route_decisions.json", 0), (&watermark[..], "store/route_watermark.json", 1)]
    {
        let mut unsure = 0;
        for nth in 1.. {
            let sandbox = with_outcomes(1);
            claimed(&sandbox, "a", &[]);
            let flushed = |fault: &str| {
                let mut command = sandbox.program(line);
                command.env("WT_FSYNC", "on").env("WT_TEST_FAULT", fault);
                run(command)
            };
            let killed = flushed(&format!("{nth}:kill"));
            if killed.code == 0 {
                break;
            }
            let mode = || {
                let meta = std::fs::metadata(sandbox.path().join(file));
                meta.map_or(0, |meta| meta.permissions().mode() & 0o7777)
            };
            let was_unsure = mode() == 0o1600;
            unsure += u32::from(was_unsure);
            assert_eq!(flushed("").code, if was_unsure { again } else { 0 }, "{line:?} {nth}");
            assert_eq!(mode(), 0o600, "{line:?} {nth}");
        }
        assert!(unsure > 0, "{line:?}");
    }
}
