//! The tables of the fact sheet (3.5) and of the collected cases (part C), with our outcome. Git's own verdicts are
//! asked of git in `tests/suite/rules_git.rs`.

use super::*;

use EntryKind::{Dir, NotDir};

fn rules(text: &str) -> Rules {
    let file = RulesFile { source: RuleSource::GitIgnore, text: text.into() };
    Rules::parse(&file).0
}

/// A path in the notation of the tables: a trailing `/` makes it a directory.
fn entry(text: &str) -> (&RelPath, EntryKind) {
    let (bytes, kind) = match text.strip_suffix('/') {
        Some(dir) => (dir.as_bytes(), Dir),
        None => (text.as_bytes(), NotDir),
    };
    (RelPath::new(bytes).unwrap(), kind)
}

fn keeps(rules: &Rules, path: &str) -> bool {
    let (path, kind) = entry(path);
    rules.verdict(path, kind).is_included()
}

fn prunes(rules: &Rules, dir: &str) -> bool {
    let (dir, _) = entry(dir);
    rules.may_prune(dir.as_bytes(), &rules.verdict(dir, Dir))
}

/// Rules, what they keep, what they leave out.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

fn check(table: &[Row]) {
    for (text, kept, out) in table {
        let rules = rules(text);
        for path in *kept {
            assert!(keeps(&rules, path), "{path:?} must be kept by {text:?}");
        }
        for path in *out {
            assert!(!keeps(&rules, path), "{path:?} must be left out by {text:?}");
        }
    }
}

const MEDIA: &str =
    "runs/**\n!runs/**/export/*.mp4\n!runs/**/audio/*.mp3\n!runs/**/audio/*.txt\n!runs/**/music/*.wav\n";

#[test]
fn the_fact_sheet_holds() {
    check(&[
        (
            MEDIA,
            &[
                "runs/ep1/export/final.mp4",
                "runs/ep1/audio/voice.mp3",
                "runs/ep1/audio/script.txt",
                "runs/ep1/music/theme.wav",
                "runs/2026-ep3/export/cut.mp4",
            ],
            &[
                "runs/ep1/frames/0001.png",
                "runs/ep1/export/preview.png",
                "runs/ep1/audio/raw.wav",
                "runs/ep1/state.json",
                "runs/_archived/old/export/x.mp4-backup",
            ],
        ),
        (
            "runs/**\n!runs/**/exports/*.mp4\nruns/_archived/**\n",
            &["runs/a/exports/f.mp4", "runs/exports/f.mp4"],
            &["runs/_archived/a/exports/f.mp4", "runs/r1/raw.bin"],
        ),
        (
            "assets/music/archive/**\nbuild/**/tmp",
            &["assets/music/live.wav"],
            &["assets/music/archive/a.wav", "assets/music/archive/deep/b.wav", "build/x/y/tmp", "build/tmp"],
        ),
        ("*.log\n!keep.log", &["keep.log", "d/keep.log"], &["app.log"]),
        (
            "",
            &["src/main.go", "vendor/x.go", "git", ".gitignore"],
            &[".git/objects/ab/cdef", ".iterion/runs/x/run.json", "node_modules/left-pad/index.js", "a/.venv/x"],
        ),
        ("build/", &["build"], &["build/", "a/build/x"]),
        ("/build\ndocs/build", &["a/build", "x/docs/build"], &["build", "docs/build"]),
        ("**/foo", &[], &["foo", "a/b/foo"]),
        ("a**b", &["a/x/b"], &["axxb"]),
        ("/*\n!/keep", &["keep/x"], &["other/x"]),
        ("\\!imp\n\\#h", &["imp", "h"], &["!imp", "#h"]),
        ("!node_modules", &["node_modules/p/i.js"], &[".venv/x"]),
    ]);
}

#[test]
fn the_divergences_are_settled() {
    check(&[
        // With git, against the original.
        ("foo/**", &["foo", "foo/"], &["foo/x"]),
        ("[!a]x", &["ax"], &["bx"]),
        ("foo\\ ", &["foo"], &["foo "]),
        // With the original, against git.
        ("logs/\n!logs/a.log", &["logs/a.log"], &["logs/b.log"]),
        ("*\n!*.md", &["d/x.md"], &["d/x"]),
        ("*\n!keep/", &["keep/x"], &["other/x", "keep"]),
        ("*.log\n!logs/", &["logs/a.log"], &["a.log"]),
        ("!.git\n!.git/config\n!*", &["a/git"], &["a/.git/config", ".git/"]),
    ]);
}

#[test]
fn the_collected_cases_hold() {
    check(&[
        ("\u{feff}foo", &[], &["foo"]),
        ("foo1\r\nfoo2\r", &["foo1\r"], &["foo1", "foo2"]),
        ("Icon\r\r\n", &["Icon"], &["Icon\r"]),
        ("!", &["a", "a/b"], &[".git/x"]),
        ("a/b\n!", &["a/c"], &["a/b"]),
        ("[]-]x", &["x"], &["]x", "-x"]),
        ("a[/]b", &["a/b"], &[]),
        ("*[[:space:]]*", &["ab"], &["a\tb"]),
        ("\\a1", &[], &["a1"]),
        ("foo/*\n!foo/bar", &["foo/bar/file"], &["foo/baz"]),
        ("abc/**", &["abc", "abc/"], &["abc/x"]),
        ("build/\n!build/keep.txt", &["build/keep.txt"], &["build/x"]),
        ("doc/frotz/", &["a/doc/frotz/", "doc/frotz"], &["doc/frotz/"]),
        ("frotz/", &["frotz"], &["a/frotz/"]),
        ("/doc", &["a/doc"], &["doc"]),
        ("*/a", &["a/aa/a"], &["b/a"]),
        ("a//b\n./foo1", &["a/b", "foo1"], &[]),
        // Ours: `!data/**/` reaches everything below the directories that it matches; git would keep only the texts.
        ("data/**\n!data/**/\n!data/**/*.txt", &["data/a.txt", "data/d/a.txt", "data/d/a.bin"], &["data/a.bin"]),
    ]);
}

#[test]
fn hard_exclusions_are_beyond_negation() {
    let all = rules("!*\n!.git\n!.iterion/**\n!.iterion-tmp-*\n");
    for (path, reason) in [
        (".git", HardReason::Git),
        ("a/.git/b/c", HardReason::Git),
        (".iterion/keep", HardReason::Iterion),
        ("a/.iterion-tmp-1", HardReason::TempName),
        (".iterion-tmp-/x", HardReason::TempName),
        (".iterion/.git", HardReason::Iterion),
    ] {
        let verdict = all.verdict(entry(path).0, NotDir);
        assert_eq!((verdict.is_included(), verdict.hard_reason()), (false, Some(reason)), "{path}");
        assert_eq!(all.decided_by(&verdict), None);
    }
    for kept in [".gitignore", ".github/x", ".iterionignore", ".iterion-tmp", "x.git", ".GIT"] {
        assert!(keeps(&all, kept), "{kept}");
    }
}

#[test]
fn the_deciding_rule_is_named() {
    let rules = rules("# comment\n*.log  \n!keep.log\nlogs/\n");
    let decided = |path: &str| {
        let verdict = rules.verdict(entry(path).0, entry(path).1);
        rules
            .decided_by(&verdict)
            .map(|rule| (rule.source_name, rule.line, String::from_utf8(rule.pattern.to_vec()).unwrap()))
    };
    assert_eq!(decided("a.txt"), None);
    assert_eq!(decided("a.log"), Some((".gitignore", Some(2), "*.log".into())));
    assert_eq!(decided("d/keep.log"), Some((".gitignore", Some(3), "!keep.log".into())));
    assert_eq!(decided("logs/keep.log"), Some((".gitignore", Some(4), "logs/".into())));
    assert_eq!(decided("node_modules/x"), Some(("default", None, "node_modules".into())));
}

#[test]
fn prunes_only_where_nothing_can_come_back() {
    let plain = rules("assets/music/archive/**\nbuild/**/tmp");
    assert!(prunes(&plain, "build/tmp"));
    assert!(prunes(&plain, "node_modules"));
    assert!(!prunes(&plain, "src"));

    let bare = rules("*.log\nlogs\n!keep.log");
    assert!(!prunes(&bare, "logs") && !prunes(&bare, "node_modules"));
    for hard in [".git", ".iterion", "vendor/.git", "sub/.iterion"] {
        assert!(prunes(&bare, hard), "{hard}");
    }

    let media = rules(MEDIA);
    assert!(!prunes(&media, "runs/ep1") && prunes(&media, "node_modules"));

    // An earlier negation cannot win; a later one only along its own names, wildcards included.
    assert!(prunes(&rules("!keep.log\nlogs/\n"), "logs"));
    let mixed = rules("!build/a\nbuild\n!build/*.d/keep\n!.git\n");
    assert!(!prunes(&mixed, "build"));
    assert!(!prunes(&mixed, "build/x.d"));
    assert!(prunes(&mixed, "build/a"));
    assert!(prunes(&mixed, "node_modules"));
}

/// Every path over a small alphabet, every pair of rules: pruning loses nothing that a full walk would keep, and the
/// walker's verdicts are those of the single question.
#[test]
fn walking_and_asking_agree() {
    let patterns = ["a", "/a", "a/", "a/b", "**/b", "a/**", "*/b", "*", "/*", "a/*/c", "b/"];
    let names = ["a", "b", "c"];
    for first in patterns {
        for second in patterns {
            for text in [format!("{first}\n!{second}"), format!("!{first}\n{second}\n!{first}/c")] {
                let rules = rules(&text);
                let mut below = vec![(String::new(), rules.at_root(), false)];
                for _ in 0..4 {
                    below = below
                        .iter()
                        .flat_map(|(dir, inherited, pruned)| names.map(|name| (dir, *inherited, *pruned, name)))
                        .map(|(dir, inherited, pruned, name)| {
                            let path = if dir.is_empty() { name.into() } else { format!("{dir}/{name}") };
                            for kind in [Dir, NotDir] {
                                let verdict = rules.verdict_below(inherited, path.as_bytes(), kind);
                                assert_eq!(verdict, rules.verdict(entry(&path).0, kind), "{path} {text:?}");
                                assert!(!(pruned && verdict.is_included()), "{path} was pruned by {text:?}");
                            }
                            let verdict = rules.verdict_below(inherited, path.as_bytes(), Dir);
                            let pruned = pruned || rules.may_prune(path.as_bytes(), &verdict);
                            (path, verdict.below(), pruned)
                        })
                        .collect();
                }
            }
        }
    }
}

#[test]
fn hostile_patterns_end_soon() {
    let long_name = "a".repeat(200);
    let deep = vec!["a"; 24].join("/");
    let started = std::time::Instant::now();
    for (pattern, path) in [
        (format!("{}b", "*a".repeat(10)), &long_name),
        ("a*a*a*a*a*b".into(), &long_name),
        (format!("{}c", "**/".repeat(15)), &deep),
        (format!("{}b", "**/a/".repeat(15)), &deep),
        (format!("{}b", "*".repeat(33)), &long_name),
        (format!("x/{}b", "*".repeat(33)), &long_name),
        (format!("{}b", "*?".repeat(99)), &long_name),
        (format!("{}b", "*[a]".repeat(100_000)), &long_name),
        (format!("{}b", "*/".repeat(100_000)), &deep),
    ] {
        assert!(keeps(&rules(&pattern), path), "{pattern}");
    }
    // Some tenths of a second on a busy machine; a matcher that tries all ways would need longer than anybody waits.
    assert!(started.elapsed().as_secs() < 20, "nine patterns took {:?}", started.elapsed());
}

/// The shape that the original is measured with; run with `--release -- --ignored --nocapture rules_bench`.
#[test]
#[ignore = "a measurement, not a check"]
fn rules_bench() {
    use std::fmt::Write;
    let mut text = String::new();
    (0..40).try_for_each(|n| writeln!(text, "build{n}/")).unwrap();
    (0..20).try_for_each(|n| writeln!(text, "*.tmp{n}")).unwrap();
    (0..15).try_for_each(|n| writeln!(text, "docs/gen{n}/**/out")).unwrap();
    (0..10).try_for_each(|n| writeln!(text, "**/cache{n}.json")).unwrap();
    text.push_str("!build1/keep.txt\n!docs/keep/**\n");
    let rules = rules(&text);
    let path = RelPath::new(b"docs/gen7/sub/pkg/internal/deep/more/file.go").unwrap();
    let rounds = 100_000_u32;
    let started = std::time::Instant::now();
    for _ in 0..rounds {
        std::hint::black_box(rules.verdict_below(rules.at_root(), std::hint::black_box(path.as_bytes()), NotDir));
    }
    let one = started.elapsed() / rounds;
    let started = std::time::Instant::now();
    for _ in 0..rounds {
        std::hint::black_box(rules.verdict(std::hint::black_box(path), NotDir));
    }
    assert!(one.as_micros() < 50, "one entry {one:?}");
    std::io::Write::write_all(
        &mut std::io::stderr(),
        format!("one entry {one:?}, with its eight ancestors {:?}\n", started.elapsed() / rounds).as_bytes(),
    )
    .unwrap();
}
