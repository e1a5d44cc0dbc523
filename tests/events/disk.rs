//! Full disks and file size limits (cases H 109): a failed append is told, uses up no number, and the log goes on.

use std::path::Path;
use std::process::Command;

use crate::sandbox::{BIN, Done, Sandbox, event, put, run, run_with};

/// Appends until one fails; gives the acknowledged numbers and how it failed.
fn fill(mut append: impl FnMut(&str) -> Done) -> (Vec<u64>, Done) {
    let data = format!("{{\"x\":\"{}\"}}", "\u{2014}".repeat(13_000));
    let mut acks = Vec::new();
    for _ in 0..1000 {
        let done = append(&data);
        if done.code != 0 {
            return (acks, done);
        }
        acks.push(done.out.trim().parse().unwrap());
    }
    panic!("the disk never filled");
}

/// A small file system of its own; none where the machine does not allow it.
struct Tmpfs<'p>(&'p Path);

impl<'p> Tmpfs<'p> {
    fn on(path: &'p Path) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(path);
        mount.status().is_ok_and(|status| status.success()).then_some(Self(path))
    }
}

impl Drop for Tmpfs<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_uses_up_no_number_and_after_freeing_space_it_goes_on() {
    let sandbox = Sandbox::new();
    let dir = sandbox.run_dir();
    let Some(_mounted) = Tmpfs::on(&dir) else {
        eprintln!("no tmpfs can be mounted here; the file size limit below stands in for it");
        return;
    };
    put(&dir.join("ballast"), vec![b'x'; 200 * 1024]);
    let (acks, failed) = fill(|data| sandbox.run_with(&["append", "--type", "t", "--data", "-"], data));
    assert!(acks.len() > 5, "{acks:?}");
    assert_eq!(acks, (0..acks.len() as u64).collect::<Vec<_>>());
    failed.says(8, "free some space").clear();
    assert_eq!(sandbox.seqs(&[]), acks);
    let before = sandbox.log_text();
    let again = sandbox.run_with(&["append", "--stdin"], before.lines().next().unwrap());
    again.says(8, "append").clear();
    assert_eq!(sandbox.log_text(), before, "nothing of it stays");
    rustix::fs::unlink(dir.join("ballast")).unwrap();
    assert_eq!(sandbox.append(), acks.len() as u64);
    sandbox.run(&["check"]).ends(0).clear();
}

#[test]
fn a_file_size_limit_is_a_full_disk() {
    let sandbox = Sandbox::new();
    let limited = |data: &str| {
        let mut shell = sandbox.other("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 800; exec \"$0\" append --type t --data -", BIN]);
        run_with(shell, data)
    };
    let (acks, failed) = fill(limited);
    assert_eq!(acks, (0..acks.len() as u64).collect::<Vec<_>>());
    failed.says(8, "fit into").clear();
    assert_eq!(sandbox.seqs(&[]), acks);
    assert_eq!(sandbox.append(), acks.len() as u64);
    sandbox.run(&["check"]).ends(0).clear();
}

/// Killed by the signal of the limit in the middle of a write: the fragment is isolated by the next append.
#[test]
fn a_fragment_of_a_killed_writer_is_isolated() {
    let sandbox = Sandbox::new();
    sandbox.append();
    let before = sandbox.log_text().len();
    crate::sandbox::add(&sandbox.log(), "{\"seq\":1,\"type\":\"caf\u{e9}".as_bytes().split_last().unwrap().1);
    assert_eq!(sandbox.append(), 1);
    let found = sandbox.run(&["check"]).ends(3);
    assert!(found.starts_with(&format!("line 2, byte {before}: healed-tail")), "{found}");
}

/// Somebody who does not take our lock wrote behind a short write: it is not taken back, which would take back his line too.
#[test]
fn a_short_write_is_not_taken_back_over_the_line_of_another() {
    let sandbox = Sandbox::new();
    sandbox.append();
    let dir = sandbox.run_dir();
    let Some(_mounted) = Tmpfs::on(&dir) else {
        eprintln!("no tmpfs can be mounted here; left out");
        return;
    };
    sandbox.append();
    put(&dir.join("ballast"), vec![b'x'; 900 * 1024]);
    put(&sandbox.path().join("foreign"), format!("\n{}", event(1)));
    let mut command = sandbox.command(&["append", "--type", "t", "--data", "-"]);
    let hook = format!("events-cut-short=rm {0}/ballast; cat foreign >>{0}/events.jsonl", dir.display());
    command.env("WT_TEST_HOOK", hook);
    let data = format!("{{\"x\":\"{}\"}}", "y".repeat(400_000));
    run_with(command, data).says(8, "only ").clear();
    assert_eq!(sandbox.seqs(&[]), [0, 1]);
    assert_eq!(sandbox.append(), 2);
    let found = sandbox.run(&["check"]).ends(3);
    assert!(found.starts_with("line 2, ") && found.lines().count() == 1, "{found}");
}

#[test]
fn readers_survive_a_file_that_shrinks() {
    let sandbox = Sandbox::new();
    for _ in 0..3 {
        sandbox.append();
    }
    let file = std::fs::OpenOptions::new().write(true).open(sandbox.log()).unwrap();
    file.set_len(sandbox.log_text().len() as u64 - 10).unwrap();
    assert_eq!(run(sandbox.command(&["cat", "--format", "{seq}"])).ends(0), "0\n1\n");
    assert_eq!(sandbox.append(), 2);
}
