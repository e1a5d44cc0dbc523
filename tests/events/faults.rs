//! Every effect on the file system fails or kills once: the log is whole afterwards and the next append goes on.

use crate::sandbox::{Sandbox, add, run, run_with};

/// Appends three events while the n-th effect is disturbed; says whether it was reached, and the acknowledged numbers.
fn disturbed(sandbox: &Sandbox, nth: usize, fault: &str) -> (bool, Vec<u64>, i32) {
    let fired = sandbox.path().join("fired");
    let mut command = sandbox.command(&["append", "--stdin", "--fsync", "always"]);
    command.env("WT_TEST_FAULT", format!("{nth}:{fault}")).env("WT_TEST_FIRED", &fired).env("WT_FSYNC", "on");
    let done =
        run_with(command, "{\"type\":\"a\"}\n{\"type\":\"b\",\"data\":{\"x\":\"\u{2014}\"}}\n{\"type\":\"c\"}\n");
    let acks = done.out.lines().map(|line| line.parse().unwrap()).collect();
    (fired.exists(), acks, done.code)
}

#[test]
fn any_effect_may_fail_or_be_the_last() {
    for fault in ["kill", "ENOSPC", "EIO"] {
        let mut reached = 0;
        for nth in 1.. {
            let sandbox = Sandbox::new();
            // A torn tail and a missing lock file, so that there is something to heal and to make.
            add(&sandbox.log(), "{\"seq\":0,\"ty");
            let (fired, acks, code) = disturbed(&sandbox, nth, fault);
            if !fired {
                assert_eq!((code, acks), (0, vec![0, 1, 2]));
                break;
            }
            reached = nth;
            assert_ne!(code, 0, "{fault} at {nth} was not told");
            let seqs = sandbox.seqs(&[]);
            assert!(acks.iter().all(|seq| seqs.contains(seq)), "{fault} at {nth}: {acks:?} of {seqs:?}");
            assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>(), "{fault} at {nth}");
            assert_eq!(sandbox.append(), seqs.len() as u64, "{fault} at {nth}");
            let found = sandbox.run(&["check"]);
            assert_eq!(found.code, 3, "{fault} at {nth}: {}", found.out);
            assert_eq!(found.out.lines().count(), 1, "{fault} at {nth}: {}", found.out);
        }
        assert!(reached >= 7, "{fault} reached only {reached} effects");
    }
}

/// H 121, facts 3.2 rule 9.
#[test]
fn a_failed_flush_is_remembered_and_told_to_the_next_writer() {
    use workspacetrack::run::events::append::{ensure_synced, flush_had_failed};
    use workspacetrack::store::fsio::Durability;
    use workspacetrack::store::{Settings, Store, id::RunId, lock::Patience};
    let sandbox = Sandbox::new();
    sandbox.append();
    let flushing = |fault: &str| {
        let mut command = sandbox.command(&["append", "--type", "t", "--fsync", "batch"]);
        command.env("WT_TEST_FAULT", fault).env("WT_FSYNC", "on");
        run(command)
    };
    // Effects of one append to a log that is there: the write, then the flush.
    assert_eq!(flushing("2:EIO").says(3, "may not be on the disk"), "1\n");
    assert!(sandbox.run_dir().join(".events.unsynced").exists());
    let patience = Patience { limit: std::time::Duration::from_secs(1), notice: |_| {} };
    let store = Store::new(sandbox.path().join("store"), Settings { durability: Durability::Flushed, patience });
    let run_id = RunId::named("r").unwrap();
    assert!(flush_had_failed(&store, &run_id).unwrap());
    ensure_synced(&store, &run_id).unwrap();
    assert!(!flush_had_failed(&store, &run_id).unwrap());
    assert_eq!(flushing("2:EIO").ends(3), "2\n");
    assert_eq!(flushing("99:EIO").says(0, "an earlier flush of this event log failed"), "3\n");
    assert!(!sandbox.run_dir().join(".events.unsynced").exists(), "it was made up for");
    sandbox.put(".events.unsynced", "");
    std::fs::File::open(sandbox.run_dir()).unwrap();
    rustix::fs::unlink(sandbox.log()).unwrap();
    ensure_synced(&store, &run_id).unwrap();
    assert!(!flush_had_failed(&store, &run_id).unwrap(), "a missing log is fine");
}
