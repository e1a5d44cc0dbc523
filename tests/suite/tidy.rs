//! What ARCHITECTURE.md forbids a room, it does not do: the sources themselves are read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every room, and the rooms that it may use. What stands in no list is a room for all: `error`, `clock`, `sys`.
const MAY_USE: [(&str, &[&str]); 7] = [
    ("store", &["stream"]),
    ("stream", &["store"]),
    ("tree", &["store", "stream"]),
    ("history", &["store", "stream", "tree"]),
    ("act", &["store", "stream", "tree", "history"]),
    ("run", &["store", "stream"]),
    ("cli", &["store", "stream", "tree", "history", "act", "run"]),
];

/// Calls that change a file system, and flags that do; only `store::fsio` may have them.
const WRITING: [&str; 22] = [
    "fs::rename",
    "fs::renameat",
    "fs::unlink",
    "fs::unlinkat",
    "fs::mkdir",
    "fs::mkdirat",
    "fs::link",
    "fs::linkat",
    "fs::symlink",
    "fs::symlinkat",
    "fs::fsync",
    "fs::fdatasync",
    "fs::fchmod",
    "fs::chmodat",
    "fs::ftruncate",
    "fs::utimensat",
    "fs::futimens",
    "fs::fchown",
    "fs::fsetxattr",
    "OFlags::CREATE",
    "OFlags::WRONLY",
    "OFlags::RDWR",
];

/// Names below the store; only `store::layout` may spell them.
const STORE_NAMES: [&str; 17] = [
    "\"workspace-objects\"",
    "\"index.json\"",
    "\"labels.log\"",
    "\"snapshots\"",
    "\"events.jsonl\"",
    "\"run.json\"",
    "\"run.log\"",
    "\"user_messages.jsonl\"",
    "\"meta.json\"",
    "\"artifact_files\"",
    "\"interactions\"",
    "\".upload-",
    "\".pid\"",
    "\"assistant-run-watches.json\"",
    "\"assistant-missions.json\"",
    "\"route_decisions.json\"",
    "\"route_watermark.json\"",
];

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib")
}

/// Every source file below a directory.
fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The code of the library, file by file: without comments, and without the tests at the end of a file.
fn code() -> Vec<(String, String)> {
    let mut files = Vec::new();
    sources(&library(), &mut files);
    let code = files.iter().filter(|path| !path.ends_with("tests.rs")).map(|path| {
        let text = fs::read_to_string(path).unwrap();
        let shipped = text.lines().take_while(|line| *line != "#[cfg(test)]");
        let shipped = shipped.filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        (path.strip_prefix(library()).unwrap().to_str().unwrap().to_owned(), shipped)
    });
    code.collect()
}

/// Whether `word` stands in `text` and does not go on.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word)
        .any(|(at, _)| !text[at + word.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

#[test]
fn a_room_knows_only_the_rooms_below_it() {
    for (file, code) in code() {
        let room = file.split(['/', '.']).next().unwrap();
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == room) else { continue };
        for (other, _) in MAY_USE {
            let uses = has_word(&code, &format!("crate::{other}"));
            assert!(!uses || other == room || allowed.contains(&other), "src/lib/{file} uses the room {other}");
        }
    }
}

#[test]
fn only_fsio_writes() {
    let offenders: BTreeSet<_> = code()
        .iter()
        .filter(|(file, _)| !file.starts_with("store/fsio"))
        .flat_map(|(file, code)| {
            let calls = WRITING.iter().filter(|call| has_word(code, call));
            calls.map(|call| format!("src/lib/{file}: {call}")).collect::<Vec<_>>()
        })
        .collect();
    assert!(offenders.is_empty(), "store::fsio is the only code that writes: {offenders:#?}");
}

#[test]
fn only_layout_names_what_is_below_the_store() {
    for (file, code) in code() {
        for name in STORE_NAMES {
            assert!(file == "store/layout.rs" || !code.contains(name), "src/lib/{file} spells {name}");
        }
    }
}

#[test]
fn nobody_but_cli_talks_to_the_person_or_the_process() {
    for (file, code) in code().iter().filter(|(file, _)| !file.starts_with("cli")) {
        for word in ["std::env::", "process::exit", "clap::", "io::stdout", "io::stderr"] {
            assert!(!code.contains(word), "src/lib/{file} uses {word}");
        }
    }
}

#[test]
fn every_test_that_the_architecture_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    sources(&root.join("tests"), &mut files);
    let tests: String = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let mut found = 0;
    for row in text.lines().filter(|line| line.starts_with("| ")) {
        let cell = row.trim_end_matches('|').rsplit('|').next().unwrap();
        for name in cell.split('`').skip(1).step_by(2) {
            assert!(
                has_word(&tests, &format!("fn {name}")) || root.join(name).exists(),
                "ARCHITECTURE.md names the test {name}, which there is not"
            );
            found += 1;
        }
    }
    assert!(found > 10, "ARCHITECTURE.md names no tests: is this test still looking in the right place?");
}
