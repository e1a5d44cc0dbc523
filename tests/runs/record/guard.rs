//! What stands in front of every writer of run.json: the tombstone and the lock.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use super::Runs;
use crate::sandbox::Holder;

/// Every writer, and what it reads.
const WRITERS: [(&[&str], &str); 11] = [
    (&["create"], ""),
    (&["set-status", "failed"], ""),
    (&["set-status", "queued", "--force"], ""),
    (&["save"], r#"{"id":"r","status":"running","cas_version":1}"#),
    (&["patch", "--set", "work_dir=\"/w\""], ""),
    (&["checkpoint", "save"], "{}"),
    (&["pause", "--interaction", "i"], ""),
    (&["fail", "--terminal"], ""),
    (&["fail", "--at-launch"], ""),
    (&["claim-merge"], ""),
    (&["update-merge", "merged", "--expect", ""], ""),
];

fn names(runs: &Runs) -> Vec<String> {
    let entries = std::fs::read_dir(runs.0.run_dir()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// N 149, for run.json: also a running run may be deleted by the original.
#[test]
fn nobody_writes_a_deleted_run() {
    for left in [true, false] {
        let runs = if left { Runs::standing("running") } else { Runs::new() };
        runs.0.put(".deleted", "2026-01-01T00:00:00Z\n");
        let before = names(&runs);
        for (args, stdin) in WRITERS {
            let _ = runs.record_with(args, stdin).says(2, "was deleted");
            let _ = runs
                .record_with(
                    &[args, &["--expect-revision", "9"][..usize::from(args[0] != "create") * 2]].concat(),
                    stdin,
                )
                .ends(2);
        }
        let _ = runs.record(&["delegate", "--fingerprint", "f"]).says(2, "was deleted");
        let _ = runs.record(&["waits"]).says(2, "was deleted");
        assert_eq!(names(&runs), before, "nothing was made");
        assert_eq!(runs.record(&["list", "--ids"]).ends(0), "");
    }
}

/// The tombstone comes while the writer waits for the lock: it is looked for again.
#[test]
fn a_run_that_is_deleted_meanwhile_is_not_written() {
    for (args, stdin) in WRITERS {
        let runs = if args[0] == "create" { Runs::new() } else { Runs::standing("running") };
        let holder = Holder::of(&runs.0, ".write.lock");
        let before = names(&runs);
        let mut command = runs.0.program(&[&["run-record"], args].concat());
        let mut writer =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut writer.stdin.take().unwrap(), stdin.as_bytes()).unwrap();
        let mut said = BufReader::new(writer.stderr.take().unwrap()).lines();
        let line = said.next().unwrap().unwrap();
        assert!(line.contains("waiting for the document of run 'r'"), "{args:?}: {line}");
        runs.0.put(".deleted", "2026-01-01T00:00:00Z\n");
        drop(holder);
        assert_eq!(writer.wait().unwrap().code(), Some(2), "{args:?}");
        let line = said.next().unwrap().unwrap();
        assert!(line.contains("was deleted"), "{args:?}: {line}");
        assert_eq!(
            names(&runs),
            [&before[..], &[".deleted".to_owned()]]
                .concat()
                .into_iter()
                .collect::<std::collections::BTreeSet<_>>()
                .into_iter()
                .collect::<Vec<_>>(),
            "{args:?}"
        );
        assert!(runs.events().is_empty(), "{args:?}");
    }
}

/// Waits are bounded, and readers do not wait.
#[test]
fn a_lock_that_is_not_had_in_time_is_a_conflict() {
    let runs = Runs::standing("running");
    let holder = Holder::of(&runs.0, ".write.lock");
    let before = runs.text();
    let mut command = runs.0.program(&["run-record", "set-status", "failed"]);
    let done = crate::sandbox::run({
        command.env("WT_LOCK_WAIT", "0.05");
        command
    });
    let _ = done.says(6, "locked by another process");
    assert_eq!(runs.text(), before);
    assert_eq!(runs.record(&["get", "/status", "--raw"]).ends(0), "running\n");
    drop(holder);
    runs.wrote(&["set-status", "failed"]);
}
