//! `--dir-cache`: a directory that is as it was is not listed again, and no other is taken for one.
//!
//! Whether the memory was believed is seen without looking at system calls: it is made to lie about a name. And the judge
//! is always the same program without a memory.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::sandbox::Sandbox;

/// So many directories that it is worth while to remember them.
const DIRS: usize = 20;

const WALK: &str = "wt-ls-files -z --records --dir-cache";

pub(super) fn memory_path(sandbox: &Sandbox) -> PathBuf {
    sandbox.s().join("runs/run/workspace/.dirs-seen")
}

/// A project at rest, with a run.
fn settled() -> Sandbox {
    let sandbox = Sandbox::new();
    for number in 0..DIRS {
        sandbox.file(format!("d{number}/file-a"), "a\n").file(format!("d{number}/deep/file-b"), "b\n");
        sandbox.file(format!("d{number}/File-a"), "ignored\n");
    }
    sandbox.file("d0/out.log", "log\n").file(".gitignore", "*.log\nFile-a\n").settle();
    sandbox.capture("l");
    sandbox
}

/// Everything that a walk says, but for the time at which it began.
fn records(sandbox: &Sandbox, options: &str) -> Vec<String> {
    let script = format!("wt-ls-files -z --records {options} | tr '\\0' '\\n' | grep -v '^#start'");
    sandbox.sh(&script).ok().lines().map(str::to_owned).collect()
}

/// As it stands in `store::memo`.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let (words, tail) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(bytes.len() as u64, |sum, word| step(sum, u64::from_le_bytes(*word)));
    tail.iter().fold(sum, |sum, byte| step(sum, u64::from(*byte)))
}

fn sealed(mut memory: Vec<u8>) -> Vec<u8> {
    let sum = checksum(&memory[104..]);
    memory[96..104].copy_from_slice(&sum.to_le_bytes());
    memory
}

/// Makes the memory say that the rules keep no `file-a` of any directory, but the `File-a` that they leave out.
fn lie(sandbox: &Sandbox) {
    let mut memory = std::fs::read(memory_path(sandbox)).unwrap();
    let name = b"file-a";
    for place in 0..memory.len() - name.len() {
        if &memory[place..place + name.len()] == name {
            memory[place] = b'F';
        }
    }
    std::fs::write(memory_path(sandbox), sealed(memory)).unwrap();
}

/// Makes the memory forget the last name of a directory.
pub(super) fn forget_a_name(sandbox: &Sandbox, dir: &str) {
    let mut memory = std::fs::read(memory_path(sandbox)).unwrap();
    let is_path = |place: &usize| {
        let length = u32::from_le_bytes(memory[place - 44..place - 40].try_into().unwrap());
        memory[*place..].starts_with(dir.as_bytes()) && length as usize == dir.len()
    };
    let place = (104 + 48..memory.len()).find(is_path).unwrap();
    let count = &mut memory[place - 40..place - 36];
    let less = u32::from_le_bytes((&*count).try_into().unwrap()) - 1;
    count.copy_from_slice(&less.to_le_bytes());
    std::fs::write(memory_path(sandbox), sealed(memory)).unwrap();
}

fn believes(sandbox: &Sandbox) -> bool {
    !records(sandbox, "--dir-cache").concat().contains("file-a")
}

#[test]
fn what_is_as_it_was_is_not_listed_again() {
    let sandbox = settled();
    let judge = records(&sandbox, "");
    assert_eq!(records(&sandbox, "--dir-cache"), judge);
    assert_eq!(records(&sandbox, "--dir-cache"), judge);
    lie(&sandbox);
    assert!(believes(&sandbox));
    let mode = std::fs::metadata(memory_path(&sandbox)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn nothing_is_written_where_nobody_asked_or_nothing_is_new() {
    let sandbox = settled();
    std::fs::remove_file(memory_path(&sandbox)).unwrap_or_default();
    records(&sandbox, "");
    assert!(!memory_path(&sandbox).exists());
    let effects = |call: &str| {
        let trace = sandbox.x("trace");
        std::fs::remove_file(&trace).unwrap_or_default();
        sandbox.call().env("WT_TEST_TRACE", &trace).sh(&format!("{call} >$X/stream")).ok();
        std::fs::read_to_string(trace).unwrap_or_default()
    };
    assert_eq!(effects(&format!("ITERION_WORKSPACE_TRACK=off {WALK}")), "");
    assert_eq!(effects(WALK).lines().count(), 3, "create, write, rename");
    assert_eq!(effects(WALK), "");
    sandbox.sh("! wt-ls-files -q --dir-cache").ok();
    sandbox.sh("unset WT_RUN; wt-ls-files --records --dir-cache").fails(2);
}

#[test]
fn any_change_of_a_directory_is_seen() {
    for change in [
        ":",
        "touch d3/new",
        "rm d3/file-a",
        "mv d3/file-a d3/renamed",
        "mv d3/file-a d4/renamed",
        "mkdir d3/empty",
        "rm -r d3/deep",
        "rm d3/file-a d3/deep/file-b; rmdir d3/deep",
        "mkdir d3/new; touch d3/new/f",
        // The time of modification is put back; that of the last change cannot be.
        "touch -r d3 $X/then; touch d3/new; touch -r $X/then d3",
        // Another directory with the same time of modification.
        "mkdir other; touch other/f; touch -r d3 other; mv d3 away; mv other d3; rm -r away",
        "mv d3 d4/d3",
        "mv d3 x; mv d4 d3; mv x d4",
        "mv d3 $X/d3; ln -s ../../x d3",
        "mv d3 $X/d3; ln -s d4 d3",
        "chmod 0 d3",
        "chmod 300 d3",
        "chmod 600 d3",
        "rm -r d3; touch d3",
        "rm -r d3; mkfifo d3",
        "mkdir d3/.git; touch d3/.git/f",
        // The rules change, and nothing else: in place, so that no directory moves.
        "echo 'file-b' >.gitignore",
        "echo '' >.gitignore",
        "echo '!out.log' >>.gitignore",
        "echo 'd3/' >>.gitignore",
        "echo 'd3/' >.iterionignore",
        "rm .gitignore",
        "cp -r d3 d2/copy",
    ] {
        let sandbox = settled();
        records(&sandbox, "--dir-cache");
        assert!(memory_path(&sandbox).exists());
        sandbox.sh(change).ok();
        let judge = records(&sandbox, "");
        assert_eq!(records(&sandbox, "--dir-cache"), judge, "{change}");
        assert_eq!(records(&sandbox, "--dir-cache"), judge, "again, after {change}");
        sandbox.settle();
        assert_eq!(records(&sandbox, "--dir-cache"), judge, "at rest, after {change}");
        assert_eq!(records(&sandbox, "--dir-cache"), judge, "remembered, after {change}");
        sandbox.sh("chmod 755 d3 2>/dev/null || :").ok();
    }
}

#[test]
fn a_directory_that_changed_within_a_tick_is_not_remembered() {
    let sandbox = settled();
    for round in 0..20 {
        // Walk, change and walk are as near to each other as they can be.
        let script = format!("touch d5/x{round}; {WALK} >$X/one; touch d5/y{round}; {WALK} >$X/two; ls d5");
        sandbox.sh(&script).ok();
        let seen = String::from_utf8(std::fs::read(sandbox.x("two")).unwrap()).unwrap();
        assert!(seen.contains(&format!("d5/y{round}\0")), "round {round}");
    }
    // A time to come is none at which a directory was at rest.
    let sandbox = settled();
    sandbox.sh("find . -type d -exec touch -d '2100-01-01 00:00:00.5' {} +").ok();
    sandbox.settle();
    records(&sandbox, "--dir-cache");
    assert!(!memory_path(&sandbox).exists());
}

#[test]
fn a_change_while_the_walk_goes_on_is_seen_by_the_next() {
    let sandbox = settled();
    std::fs::remove_file(memory_path(&sandbox)).unwrap_or_default();
    let hook = format!("dir-examined:d7=touch {}/d7/late", sandbox.w().display());
    sandbox.call().env("WT_TEST_HOOK", hook).sh(&format!("{WALK} >$X/stream")).ok();
    sandbox.settle();
    let judge = records(&sandbox, "");
    assert!(judge.concat().contains("d7/late"));
    assert_eq!(records(&sandbox, "--dir-cache"), judge);
    assert_eq!(records(&sandbox, "--dir-cache"), judge);
}

#[test]
fn a_memory_that_is_wrong_in_any_way_is_none() {
    let sandbox = settled();
    records(&sandbox, "--dir-cache");
    lie(&sandbox);
    let liar = std::fs::read(memory_path(&sandbox)).unwrap();
    let is_believed = |memory: &[u8]| {
        std::fs::write(memory_path(&sandbox), memory).unwrap();
        believes(&sandbox)
    };
    assert!(is_believed(&liar), "a memory that is right in all else is believed");
    assert!(!is_believed(b""));
    assert!(!is_believed(&liar[..liar.len() - 1]), "cut short");
    assert!(!is_believed(&[&liar[..], b"x"].concat()), "too long");
    assert!(!is_believed(&sealed(liar[..liar.len() - 1].to_vec())), "cut short, with the right sum");
    assert!(!is_believed(&sealed([&liar[..], b"x"].concat())), "too long, with the right sum");
    assert!(!is_believed(&[&liar[..16], &[b'0'; 48], &liar[64..]].concat()), "another start of the machine");
    assert!(!is_believed(&[&liar[..64], &[7; 32], &liar[96..]].concat()), "other rules");
    assert!(!is_believed(&[b"wt-dirs-seen 3\n\0", &liar[16..]].concat()), "another form");
    for place in (0..liar.len()).step_by(97) {
        let mut damaged = liar.clone();
        damaged[place] ^= 4;
        assert!(!is_believed(&damaged), "byte {place}");
    }
    let judge = records(&sandbox, "");
    // With the right sum nothing tells that it is wrong; nothing worse may come of it than a wrong list.
    for place in 104..liar.len().min(700) {
        let mut damaged = liar.clone();
        damaged[place] = damaged[place].wrapping_add(255);
        std::fs::write(memory_path(&sandbox), sealed(damaged)).unwrap();
        let ran = sandbox.sh(&format!("{WALK} >$X/stream"));
        assert!(matches!(ran.code, 0 | 8), "byte {place}: {}", ran.text());
    }
    std::fs::remove_file(memory_path(&sandbox)).unwrap();
    std::fs::DirBuilder::new().create(memory_path(&sandbox)).unwrap();
    assert_eq!(records(&sandbox, "--dir-cache"), judge, "a directory in its place");
}

#[test]
fn two_walks_at_once_leave_a_whole_memory() {
    let sandbox = settled();
    let judge = records(&sandbox, "");
    for _ in 0..5 {
        let script =
            format!("rm -f $S/runs/run/workspace/.dirs-seen; for i in 1 2 3 4; do {WALK} >$X/$i & done; wait");
        sandbox.sh(&script).ok();
        assert_eq!(records(&sandbox, "--dir-cache"), judge);
        assert_eq!(sandbox.stored().temps(), Vec::<String>::new());
    }
    lie(&sandbox);
    assert!(believes(&sandbox));
}

#[test]
fn only_file_systems_whose_directories_nobody_else_changes_are_remembered() {
    let sandbox = settled();
    records(&sandbox, "--dir-cache");
    lie(&sandbox);
    // NFS, overlay, FUSE, 9P, and one that nobody knows.
    for magic in ["6969", "794c7630", "65735546", "01021997", "12345"] {
        let walk = |script: &str| sandbox.call().env("WT_TEST_FILE_SYSTEM", magic).sh(script).ok();
        assert!(walk(&format!("{WALK} -q")).contains("file-a"), "{magic}");
    }
    for magic in ["ef53", "58465342", "9123683e", "01021994", "f2f52010"] {
        let walk = |script: &str| sandbox.call().env("WT_TEST_FILE_SYSTEM", magic).sh(script).ok();
        lie(&sandbox);
        assert!(!walk(&format!("{WALK} -q")).contains("file-a"), "{magic}");
    }
}

#[test]
fn the_upkeep_of_a_store_knows_the_memory() {
    let sandbox = settled();
    records(&sandbox, "--dir-cache");
    assert!(memory_path(&sandbox).exists());
    sandbox.sh("wt-fsck").ok();
    sandbox.sh("echo c >d0/file-a; wt-capture -q other; wt-forget l; wt-prune --grace 0s").ok();
    sandbox.stored().check();
    assert!(memory_path(&sandbox).exists());
    sandbox.sh("wt-purge -q --yes d0/file-a").ok();
    assert!(!memory_path(&sandbox).exists(), "it names what was purged");
    sandbox.sh("wt-fsck").ok();
}
