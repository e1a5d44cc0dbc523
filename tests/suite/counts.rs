//! Section 9: what a restore costs is counted, not timed. Reads and bytes are those that the kernel counted for the
//! process; effects are those that the seam saw.

use crate::sandbox::Sandbox;

/// Bytes of each file: much more than all documents have for it.
const FILE_BYTES: usize = 64 * 1024;

/// What one command did.
#[derive(Debug, Clone, Copy)]
struct Count {
    reads: i64,
    bytes_read: i64,
    effects: i64,
}

/// `changed` and so many other files are captured as `p` and again, `changed` changed, as `q`; the stat cache knows all.
fn captured(others: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    for number in 0..others {
        let mut content = vec![b'x'; FILE_BYTES];
        content.extend_from_slice(number.to_string().as_bytes());
        sandbox.file(format!("d{}/f{number}", number % 5), content);
    }
    sandbox.file("changed", "old\n").settle().capture("p");
    sandbox.file("changed", "new\n").settle().capture("q");
    sandbox
}

/// Reads that the kernel counted for a shell and all that it waited for.
fn io(sandbox: &Sandbox, script: &str) -> (i64, i64) {
    let text = sandbox.sh(&format!("{{ {script}; }} >&2\ncat /proc/$$/io")).ok();
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().parse().unwrap();
    (field("syscr:"), field("rchar:"))
}

fn count(sandbox: &Sandbox, script: &str) -> Count {
    let (none, all) = (io(sandbox, "wt-restore --version"), io(sandbox, script));
    let effects = std::fs::read_to_string(sandbox.x("trace")).unwrap_or_default().lines().count();
    Count { reads: all.0 - none.0, bytes_read: all.1 - none.1, effects: i64::try_from(effects).unwrap() }
}

fn traced(command: &str) -> String {
    format!("WT_FSYNC=off WT_TEST_TRACE=$X/trace {command}")
}

#[test]
fn a_dry_run_reads_no_file_that_the_stat_cache_knows() {
    let few = count(&captured(20), &traced("wt-restore -n p"));
    let many = count(&captured(220), &traced("wt-restore -n p"));
    assert_eq!((few.effects, many.effects), (0, 0));
    // The objects of what would be displaced, and the documents; of those, none has a read for each file.
    assert!(many.reads - few.reads < 20, "{few:?} {many:?}");
    assert!(many.bytes_read - few.bytes_read < 200 * 2048, "{few:?} {many:?}");
}

#[test]
fn a_dry_run_would_be_caught_reading() {
    let sandbox = captured(20);
    let known = count(&sandbox, &traced("wt-restore -n p"));
    // Nothing is known of a file whose change time moved.
    sandbox.sh("chmod 600 d*/*; chmod 644 d*/*").ok();
    let unknown = count(&sandbox, &traced("wt-restore -n p"));
    assert!(unknown.reads - known.reads >= 20, "{known:?} {unknown:?}");
    assert!(
        unknown.bytes_read - known.bytes_read >= 20 * i64::try_from(FILE_BYTES).unwrap(),
        "{known:?} {unknown:?}"
    );
}

#[test]
fn a_restore_of_one_path_costs_the_same_however_many_others_there_are() {
    let script = "printf 'changed\\0\\0' | wt-restore -q -z --paths-from-stdin --require-end p";
    let script = script.replace("wt-restore", "WT_FSYNC=off WT_TEST_TRACE=$X/trace wt-restore");
    let (few, many) = (captured(20), captured(220));
    // Also where nothing is known of the others.
    many.sh("chmod 600 d*/*; chmod 644 d*/*").ok();
    let (few, many) = (count(&few, &script), count(&many, &script));
    assert!(few.effects > 0, "{few:?}");
    assert_eq!(few.effects, many.effects);
    assert!(many.reads - few.reads < 20, "{few:?} {many:?}");
    assert!(many.bytes_read - few.bytes_read < 200 * 2048, "{few:?} {many:?}");
}

#[test]
fn each_restored_file_costs_the_same_effects_and_reads() {
    let restore_of = |changed: usize| {
        let sandbox = Sandbox::new();
        let all = |text: &str| {
            for number in 0..changed {
                sandbox.file(format!("f{number:03}"), format!("{text} {number}\n"));
            }
            sandbox.settle();
        };
        all("old");
        sandbox.capture("p");
        all("new");
        sandbox.capture("q");
        count(&sandbox, &traced("wt-restore -q p"))
    };
    let (one, eleven, forty, many) = (restore_of(1), restore_of(11), restore_of(41), restore_of(101));
    assert_eq!((eleven.effects - one.effects) * 3, forty.effects - eleven.effects, "{one:?} {eleven:?} {forty:?}");
    // Create, mode, content, exchange, removal of what came out.
    assert!((eleven.effects - one.effects) / 10 <= 6, "{one:?} {eleven:?}");
    assert_eq!(many.effects - forty.effects, 2 * (forty.effects - eleven.effects), "{forty:?} {many:?}");
    // The new object once; what comes out, with the read that finds its end; its object before and right before it goes.
    assert!((forty.reads - eleven.reads) / 30 <= 6, "{eleven:?} {forty:?}");
    // Many are read ahead and cleared by several threads, and by no more reads.
    assert!((many.reads - forty.reads) / 60 <= 6, "{forty:?} {many:?}");
}

#[test]
fn a_missing_directory_comes_with_one_rename_whatever_is_in_it() {
    let restore_of = |files: usize, dirs: usize| {
        let sandbox = Sandbox::new();
        for number in 0..files {
            sandbox.file(format!("d{}/sub/f{number:03}", number % dirs), format!("{number}\n"));
        }
        sandbox.settle().capture("p");
        sandbox.sh("rm -r d*").ok();
        let count = count(&sandbox, &traced("wt-restore -q p"));
        let trace = std::fs::read_to_string(sandbox.x("trace")).unwrap();
        (count, trace.lines().filter(|effect| effect.starts_with("rename-new ")).count())
    };
    let (few, few_renames) = restore_of(20, 2);
    let (many, many_renames) = restore_of(80, 2);
    assert_eq!((few_renames, many_renames), (2, 2), "{few:?} {many:?}");
    // Create, content, mode.
    assert_eq!(many.effects - few.effects, 3 * 60, "{few:?} {many:?}");
    // The new object, once; its end is not looked for.
    assert!(many.reads - few.reads <= 60 + 10, "{few:?} {many:?}");
    let (spread, spread_renames) = restore_of(80, 8);
    assert_eq!(spread_renames, 8, "{spread:?}");
    // Two directories and a rename for each.
    assert_eq!(spread.effects - many.effects, 3 * 6, "{many:?} {spread:?}");
}

#[test]
fn a_dry_run_of_everything_missing_looks_for_no_file() {
    let opened = |files: usize| {
        let sandbox = Sandbox::new();
        for number in 0..files {
            sandbox.file(format!("d/sub/f{number:03}"), format!("{number}\n"));
        }
        sandbox.settle().capture("p");
        sandbox.sh("rm -r d").ok();
        count(&sandbox, &traced("wt-restore -q -n p"))
    };
    let (few, many) = (opened(20), opened(220));
    assert_eq!((few.effects, many.effects), (0, 0));
    assert!(many.reads - few.reads < 20, "{few:?} {many:?}");
}
