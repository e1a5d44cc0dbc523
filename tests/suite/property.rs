//! Random trees and random edits: capture, edit, restore gives the captured tree back; a second restore does nothing;
//! undo gives the edited one; what is ignored is never touched.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::sandbox::fixture::own;
use crate::sandbox::{Sandbox, Tree};

/// Sequences that are tried; each runs some dozen programs.
const CASES: u32 = 24;

/// One edit of a workspace.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    /// Makes a file, whatever was there.
    File(usize, u8, u32),
    /// Makes a link, whatever was there.
    Link(usize, u8),
    /// Makes an empty directory, whatever was there.
    Dir(usize),
    /// Removes.
    Remove(usize),
    /// Renames one path to another.
    Rename(usize, usize),
    /// Makes a file that the rules leave out, in the directory of a path.
    Ignored(usize),
}

/// Few paths, so that edits meet: names of all kinds, and paths below one another.
const PATHS: [&str; 14] = [
    "a",
    "b",
    "a/x",
    "a/y",
    "a/x/deep",
    "dir/one",
    "dir/two",
    "dir",
    "-rf",
    "new\nline",
    "sp ace/ q",
    "caf\u{e9}",
    "dir/sub/three",
    "\u{1}",
];
const MODES: [u32; 3] = [0o644, 0o755, 0o600];

pub(super) fn edit() -> impl Strategy<Value = Edit> {
    let path = 0..PATHS.len();
    prop_oneof![
        4 => (path.clone(), any::<u8>(), 0..3_u32).prop_map(|(path, content, mode)| Edit::File(path, content % 6, mode)),
        1 => (path.clone(), 0..3_u8).prop_map(|(path, target)| Edit::Link(path, target)),
        1 => path.clone().prop_map(Edit::Dir),
        2 => path.clone().prop_map(Edit::Remove),
        1 => (path.clone(), path.clone()).prop_map(|(from, to)| Edit::Rename(from, to)),
        1 => path.prop_map(Edit::Ignored),
    ]
}

fn clear(path: &Path) {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(path).unwrap(),
        Ok(_) => std::fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// Makes the directories above a path, in the place of whatever stands in the way.
fn make_way(root: &Path, path: &Path) {
    let mut at = root.to_owned();
    for component in path.strip_prefix(root).unwrap().parent().unwrap().components() {
        at.push(component);
        if !at.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            clear(&at);
            std::fs::create_dir(&at).unwrap();
            own(&at);
        }
    }
}

pub(super) fn apply(sandbox: &Sandbox, edit: &Edit) {
    let root = sandbox.w();
    let at = |path: usize| root.join(PATHS[path]);
    match *edit {
        Edit::File(path, content, mode) => {
            make_way(&root, &at(path));
            clear(&at(path));
            std::fs::write(at(path), format!("{content}\n").repeat(usize::from(content) * 40)).unwrap();
            std::fs::set_permissions(at(path), PermissionsExt::from_mode(MODES[mode as usize])).unwrap();
            own(&at(path));
        }
        Edit::Link(path, target) => {
            make_way(&root, &at(path));
            clear(&at(path));
            std::os::unix::fs::symlink(["a", "/nowhere", ".."][usize::from(target)], at(path)).unwrap();
            own(&at(path));
        }
        Edit::Dir(path) => {
            make_way(&root, &at(path));
            clear(&at(path));
            std::fs::create_dir(at(path)).unwrap();
            own(&at(path));
        }
        Edit::Remove(path) => clear(&at(path)),
        Edit::Rename(from, to) => {
            let (from, to) = (at(from), at(to));
            if from.symlink_metadata().is_err() || from.starts_with(&to) || to.starts_with(&from) {
                return;
            }
            make_way(&root, &to);
            // Making way may have taken it.
            if from.symlink_metadata().is_ok() {
                clear(&to);
                std::fs::rename(from, to).unwrap();
            }
        }
        Edit::Ignored(path) => {
            let dir = at(path);
            if dir.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                std::fs::write(dir.join("left.ign"), format!("ignored {path}\n")).unwrap();
                own(&dir.join("left.ign"));
            }
        }
    }
}

fn is_ignored(path: &str) -> bool {
    path.ends_with(".ign")
}

/// What is versioned of a tree: all but what is ignored, and but directories that hold something.
fn versioned(tree: &Tree) -> Vec<String> {
    let recorded = tree.recorded();
    let lines = recorded.paths().into_iter().filter(|path| !is_ignored(path));
    lines.map(|path| format!("{path:?} {}", recorded.line(path.as_bytes()).unwrap())).collect()
}

fn ignored(tree: &Tree) -> Vec<String> {
    tree.paths()
        .into_iter()
        .filter(|path| is_ignored(path))
        .map(|path| format!("{path:?} {}", tree.line(path.as_bytes()).unwrap()))
        .collect()
}

/// Where ignored files stand in the way of the target's own files, that is said and those paths are excused.
fn assert_versioned(wanted: &Tree, now: &Tree, kept: &[String], what: &str) {
    // A line begins with the quoted path; what lies above or below a kept path is excused with it.
    let excused = |line: &String| {
        kept.iter().any(|path| {
            let quoted = format!("{path:?}");
            let open = quoted.trim_end_matches('"');
            line.starts_with(open)
                || path.split('/').next().is_some_and(|top| line.starts_with(&format!("{top:?} ")))
        })
    };
    let (wanted, now) = (versioned(wanted), versioned(now));
    let differ: Vec<&String> = wanted
        .iter()
        .filter(|line| !now.contains(line))
        .chain(now.iter().filter(|line| !wanted.contains(line)))
        .collect();
    let differ: Vec<&&String> = differ.iter().filter(|line| !excused(line)).collect();
    assert!(differ.is_empty(), "{what}: {differ:#?}\nkept {kept:?}");
}

fn restore(sandbox: &Sandbox, target: &str, what: &str) -> (Option<String>, Vec<String>) {
    let ran = sandbox.run(&["wt-undo", "--json", "-q", target]);
    assert!(matches!(ran.code, 0 | 3), "{what}: {}", ran.text());
    let mut kept = Vec::new();
    let mut bank = None;
    for line in ran.out().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        bank = bank.or(line["bank"].as_str().map(str::to_owned));
        if line["action"] == "keep" {
            kept.push(line["path"].as_str().unwrap().trim_end_matches('/').to_owned());
        }
    }
    assert_eq!(ran.code == 3, !kept.is_empty(), "{what}: {}", ran.text());
    (bank, kept)
}

fn check(first: &[Edit], second: &[Edit]) {
    let sandbox = Sandbox::new();
    sandbox.file(".gitignore", "*.ign\n");
    first.iter().for_each(|edit| apply(&sandbox, edit));
    sandbox.capture("p");
    let captured = sandbox.tree();
    second.iter().for_each(|edit| apply(&sandbox, edit));
    let edited = sandbox.tree();

    let (bank, kept) = restore(&sandbox, "p", "restore");
    let restored = sandbox.tree();
    assert_versioned(&captured, &restored, &kept, "restored");
    assert_eq!(ignored(&edited), ignored(&restored), "what is ignored is not touched");

    let before = Tree::with_stat(&sandbox.w());
    let again = sandbox.run(&["wt-restore", "-q", "p"]);
    assert!(again.out().lines().all(|line| line.starts_with("keep:")), "a second restore: {}", again.text());
    before.assert_same(&Tree::with_stat(&sandbox.w()), "a second restore");

    let (_, kept) = restore(&sandbox, &bank.unwrap(), "undo");
    let undone = sandbox.tree();
    assert_versioned(&edited, &undone, &kept, "undone");
    assert_eq!(ignored(&edited), ignored(&undone), "what is ignored is not touched");
    sandbox.stored().check();
    assert!(!sandbox.path(".iterion").exists(), "nothing is left in the project");
}

#[test]
fn any_edits_are_taken_back_and_brought_back() {
    let config = Config { cases: CASES, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let edits = || prop::collection::vec(edit(), 1..14);
    runner
        .run(&(edits(), edits()), |(first, second)| {
            check(&first, &second);
            Ok(())
        })
        .unwrap();
}
