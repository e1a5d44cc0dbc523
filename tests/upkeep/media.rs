//! Upkeep where nothing fits any more, where nothing may be written, and under a strange umask.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::sandbox::{Sandbox, oid, rm};

/// Runs a script in a mount namespace of its own, with a small file system at `$M` that holds a copy of the store at
/// `$M/s`; `None` where this machine does not allow that.
fn on_own_disk(box_: &Sandbox, options: &str, script: &str) -> Option<(String, String)> {
    let mount = box_.root().join("m");
    fs::DirBuilder::new().recursive(true).create(&mount).unwrap();
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_wt-prune")).parent().unwrap();
    let text = format!("mount -t tmpfs -o {options} none \"$M\" || exit 99\ncp -a \"$S\" \"$M/s\"\n{script}");
    let output = Command::new("unshare")
        .args(["-rm", "sh", "-c", &text])
        .env_clear()
        .env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()))
        .env("HOME", box_.root())
        .env("M", &mount)
        .env("S", box_.store())
        .env("W", box_.workspace())
        .env("WT_STORE", mount.join("s"))
        .output();
    let output = output.ok()?;
    if output.status.code() == Some(99) || String::from_utf8_lossy(&output.stderr).contains("unshare failed") {
        eprintln!("SKIPPED: this machine allows no mounts");
        return None;
    }
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Some((text(&output.stdout), text(&output.stderr)))
}

fn store_with_garbage() -> Sandbox {
    let box_ = Sandbox::new();
    box_.capture_with("r", Some("a"), "f", b"one");
    let two = box_.capture_with("r", Some("bank:0"), "f", &[2; 9000]);
    box_.capture_with("r", Some("c"), "f", b"three");
    let _ = box_.run("wt-forget", &["--run", "r", "bank:0"]).ok();
    assert!(!box_.manifest("r", &two).exists());
    box_
}

#[test]
fn prune_works_on_a_disk_without_a_free_block_or_inode() {
    for lock in ["", "rm \"$M/s/workspace-objects/.lock\""] {
        let box_ = store_with_garbage();
        let script = format!(
            "{lock}\ndd if=/dev/zero of=\"$M/fill\" bs=4k 2>/dev/null\n\
             i=0; while touch \"$M/inode$i\" 2>/dev/null; do i=$((i+1)); done\n\
             echo x 2>/dev/null >\"$M/more\" && echo NOT FULL\n\
             wt-prune --grace 0 || echo FAILED $?\nwt-fsck || echo FAILED $?"
        );
        let Some((out, err)) = on_own_disk(&box_, "size=1m,nr_inodes=200", &script) else { return };
        assert_eq!(out, format!("remove {} 9000\n", oid(&[2; 9000])), "{err}");
    }
}

#[test]
fn on_a_read_only_disk_looking_works_and_nothing_is_removed() {
    let box_ = store_with_garbage();
    let script = "mount -o remount,ro \"$M\" || exit 99\n\
                  wt-prune --grace 0 --dry-run || echo FAILED $?\nwt-fsck || echo FAILED $?\n\
                  wt-du >/dev/null || echo FAILED $?\nwt-forget --run r --dry-run a --drop-labels '*' || echo FAILED $?\n\
                  wt-prune --grace 0 && echo DONE\nwt-forget --run r a && echo DONE";
    let Some((out, err)) = on_own_disk(&box_, "size=4m", script) else { return };
    let removals = out.lines().filter(|line| line.starts_with("remove")).count();
    assert!(removals == 1 && !out.contains("FAILED") && !out.contains("DONE"), "{out}\n{err}");
}

#[test]
fn a_strange_umask_changes_no_mode() {
    for umask in ["000", "077", "777"] {
        let box_ = store_with_garbage();
        fs::File::create(box_.history("r").join("index.json")).unwrap();
        let script = format!(
            "umask {umask}; export WT_FSYNC=on
            wt-fsck --rebuild-index -q && wt-forget -q --run r a && wt-prune -q --grace 0 && {}",
            box_.capture_script("new", Some("l"))
        );
        let ran = box_.shell(&script).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        for (path, _) in box_.image() {
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
            assert_eq!(mode, 0o600, "umask {umask}: {}", path.display());
        }
        rm(&box_.workspace());
        assert_eq!(box_.run::<&str>("wt-fsck", &[]).ok(), "", "umask {umask}");
    }
}

/// The effects of a program on a store that is flushed, in their order.
fn effects(box_: &Sandbox, program: &str, args: &[&str]) -> Vec<String> {
    let trace = box_.root().join("trace");
    let output =
        box_.command(program).args(args).env("WT_FSYNC", "on").env("WT_TEST_TRACE", &trace).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(fs::read(&trace).unwrap()).unwrap();
    // A name that is sure now gets its final mode.
    text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).filter(|effect| effect != "chmod").collect()
}

fn place(effects: &[String], effect: &str) -> usize {
    effects.iter().position(|found| found == effect).unwrap_or_else(|| panic!("no {effect} in {effects:?}"))
}

#[test]
fn what_a_removal_relies_on_is_on_the_disk_before_it() {
    let box_ = store_with_garbage();
    let pruned = effects(&box_, "wt-prune", &["--grace", "0"]);
    assert!(place(&pruned, "flush-fs") < place(&pruned, "unlink"), "a forgotten manifest must stay so: {pruned:?}");

    let box_ = Sandbox::new();
    box_.capture_with("r", Some("a"), "f", b"one");
    box_.capture_with("r", Some("bank:0"), "f", b"two");
    box_.capture_with("r", Some("c"), "f", b"three");
    let forgotten = effects(&box_, "wt-forget", &["--run", "r", "bank:0"]);
    // The child's new parent, the journal, the index: each flushed before the next, and all before the manifest goes.
    let removal = place(&forgotten, "unlink");
    let flushes = forgotten[..removal].iter().filter(|effect| effect.starts_with("flush")).count();
    assert!(flushes >= 5 && forgotten[removal - 1] == "flush-dir", "{forgotten:?}");
    assert_eq!(forgotten.last().unwrap(), "flush-dir", "and then it stays gone: {forgotten:?}");

    let pruned = effects(&box_, "wt-purge", &["--yes", "f"]);
    let removal = place(&pruned, "unlink");
    assert_eq!(pruned[removal - 1], "flush-dir", "no manifest may name it after a power cut: {pruned:?}");
}
