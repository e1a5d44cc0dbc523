//! `wt-diff --patch` and `--stat`, judged by `diff`, `patch` and `git`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::diff::diff;
use crate::sandbox::Sandbox;

/// Runs a judge and returns its output, whatever its exit code.
fn judge(dir: &Path, program: &str, args: &[&str]) -> String {
    let said = Command::new(program)
        .args(args)
        .current_dir(dir)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(said.stderr.is_empty(), "{program}: {}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8_lossy(&said.stdout).into_owned()
}

/// The lines from the first hunk on.
fn hunks(patch: &str) -> String {
    patch.find("@@ ").map_or(String::new(), |at| patch[at..].to_owned())
}

fn numbered(count: usize) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat()
}

#[test]
fn hunks_are_those_of_diff() {
    let long = numbered(40);
    let cases = [
        ("a\nb\nc\n".to_owned(), "a\nB\nc\n".to_owned()),
        (String::new(), "a\n".into()),
        ("a\n".into(), String::new()),
        ("a".into(), "a\n".into()),
        ("a\n".into(), "a".into()),
        ("a\nb".into(), "a\nc".into()),
        ("x\ny".into(), "x\ny\nz".into()),
        (long.clone(), long.replace("line 3\n", "").replace("line 30\n", "changed\nand more\n")),
        (long.clone(), long.replace("line 10\n", "ten\n").replace("line 16\n", "sixteen\n")),
        (long.clone(), long.replace("line 10\n", "ten\n").replace("line 18\n", "eighteen\n")),
        (long.clone(), format!("first\n{long}last\n")),
        ("a\r\nb\r\n".into(), "a\r\nc\r\n".into()),
        ("\n\n\n".into(), "\n\n".into()),
        ("caf\u{e9}\n".into(), "cafe\n".into()),
    ];
    let sandbox = Sandbox::new();
    for (number, (old, new)) in cases.iter().enumerate() {
        sandbox.write("f", old);
        sandbox.write("../old", old);
        sandbox.write("../new", new);
        sandbox.capture("old");
        sandbox.write("f", new);
        let ours = diff(&sandbox, &["old", "--patch", "--", "f"]).ok();
        let theirs = judge(&sandbox.root, "diff", &["-u", "old", "new"]);
        assert_eq!(hunks(&ours), hunks(&theirs), "case {number}");
    }
}

/// Two trees that differ in every way a patch can say.
fn edited() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("d/mod", numbered(30));
    sandbox.write("mode", "x\n");
    sandbox.write("both", "x\n");
    sandbox.write("gone", "g\ng\n");
    sandbox.write("gone-empty", "");
    sandbox.write("name with blanks", "1\n");
    sandbox.write("q\"uote\t", "1\n");
    sandbox.write("type", "t\n");
    sandbox.write("-- dashes", "-- a\n++ b\n");
    symlink("d/mod", sandbox.at("link")).unwrap();
    sandbox.capture("one");
    sandbox.write("d/mod", numbered(30).replace("line 7\n", "seven\n").replace("line 29\n", ""));
    sandbox.chmod("mode", 0o755);
    sandbox.write("both", "y\n");
    sandbox.chmod("both", 0o755);
    sandbox.remove("gone");
    sandbox.remove("gone-empty");
    sandbox.write("new", "n");
    sandbox.write("new-empty", "");
    sandbox.write("name with blanks", "2\n");
    sandbox.write("q\"uote\t", "2\n");
    sandbox.remove("type");
    symlink("mode", sandbox.at("type")).unwrap();
    sandbox.write("-- dashes", "-- c\n++ d\n");
    sandbox.remove("link");
    symlink("mode", sandbox.at("link")).unwrap();
    sandbox.capture("two");
    sandbox
}

#[test]
fn git_applies_the_patch_and_the_workspace_is_as_the_other_snapshot() {
    let sandbox = edited();
    for (from, to) in [("one", "two"), ("two", "one")] {
        let patch = diff(&sandbox, &[from, to, "--patch"]).ends(0).out;
        fs::write(sandbox.root.join("patch"), &patch).unwrap();
        // Into the state `from`, by the patch the other way round.
        let dir = sandbox.root.join("ws");
        if from == "one" {
            judge(&dir, "git", &["apply", "--reverse", "../patch"]);
        }
        assert_eq!(diff(&sandbox, &[from]).ok(), "", "{}", String::from_utf8_lossy(&patch));
        judge(&dir, "git", &["apply", "../patch"]);
        assert_eq!(diff(&sandbox, &[to]).ok(), "", "{}", String::from_utf8_lossy(&patch));
    }
}

#[test]
fn headers_say_what_git_says() {
    let sandbox = edited();
    let patch = diff(&sandbox, &["one", "two", "--patch"]).ok();
    for part in [
        "diff --git a/mode b/mode\nold mode 100644\nnew mode 100755\ndiff --git",
        "diff --git a/both b/both\nold mode 100644\nnew mode 100755\n--- a/both\n+++ b/both\n@@ -1 +1 @@\n-x\n+y\n",
        "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-g\n-g\n",
        "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n\\ No newline at end of file\n",
        "diff --git a/new-empty b/new-empty\nnew file mode 100644\ndiff --git",
        "--- a/name with blanks\t\n+++ b/name with blanks\t\n",
        "diff --git \"a/q\\\"uote\\t\" \"b/q\\\"uote\\t\"\n--- \"a/q\\\"uote\\t\"\n",
        "deleted file mode 100644\n--- a/type\n",
        "new file mode 120000\n--- /dev/null\n+++ b/type\n@@ -0,0 +1 @@\n+mode\n\\ No newline at end of file\n",
        "--- a/link\n+++ b/link\n@@ -1 +1 @@\n-d/mod\n\\ No newline at end of file\n+mode\n\\ No newline",
    ] {
        assert!(patch.contains(part), "{part}\n--- not in ---\n{patch}");
    }
}

#[test]
fn binary_and_large_files_are_only_named() {
    let sandbox = Sandbox::new();
    let mut late = vec![b'a'; 8192];
    late.push(0);
    sandbox.write("late-nul", &late);
    sandbox.write("nul", b"a\0b");
    let large = format!("{}\n", "x".repeat(1023)).repeat(5 << 10);
    sandbox.write("at-limit", &large);
    sandbox.write("past-limit", large + "\n");
    sandbox.capture("one");
    late[0] = b'b';
    sandbox.write("late-nul", &late);
    sandbox.write("nul", b"a\0c");
    sandbox.write("at-limit", "x");
    sandbox.write("past-limit", "x");
    sandbox.write("new-nul", b"\0");
    for args in [&["one"][..], &["one", "two"]] {
        if args.len() == 2 {
            sandbox.capture("two");
        }
        let patch =
            diff(&sandbox, &[args, &["--patch", "--", "late-nul", "nul", "past-limit", "new-nul"]].concat());
        let patch = patch.ok();
        assert!(patch.contains("\nBinary files a/nul and b/nul differ\n"), "{patch}");
        assert!(patch.contains("new file mode 100644\nBinary files /dev/null and b/new-nul differ\n"), "{patch}");
        assert!(patch.contains("\nFiles a/past-limit and b/past-limit differ, too large to compare\n"), "{patch}");
        assert!(patch.contains("--- a/late-nul\n"), "a NUL behind the first 8192 bytes: {patch}");
        let at_limit = diff(&sandbox, &[args, &["--patch", "--", "at-limit"]].concat()).ok();
        assert!(at_limit.contains("@@ -1,5120 +1 @@"));
        let stat = diff(&sandbox, &[args, &["--stat", "--", "nul", "past-limit"]].concat()).ok();
        assert_eq!(
            stat,
            " nul        | Bin 3 -> 3 bytes\n past-limit | too large to compare\n 2 files changed, 0 insertions(+), 0 deletions(-)\n"
        );
    }
}

#[test]
fn stat_is_that_of_git() {
    let sandbox = Sandbox::new();
    let old = sandbox.root.join("old");
    let new = sandbox.root.join("new");
    sandbox.write("a", numbered(3));
    sandbox.write("long/name/of/a/file", numbered(400));
    sandbox.write("less", numbered(50));
    sandbox.write("gone", "1\n2\n");
    sandbox.write("bin", b"\0\0");
    sandbox.capture("one");
    judge(&sandbox.root, "cp", &["-r", "ws", "old"]);
    sandbox.write("a", numbered(4));
    sandbox.write("long/name/of/a/file", numbered(100).replace("line", "row"));
    sandbox.write("less", "1\n");
    sandbox.remove("gone");
    sandbox.write("bin", b"\0\0\0");
    sandbox.write("new", "x");
    judge(&sandbox.root, "cp", &["-r", "ws", "new"]);
    let ours = diff(&sandbox, &["one", "--stat"]).ok();
    // Inside of one repository git names the paths as we do.
    let repository = sandbox.root.join("repository");
    fs::create_dir(&repository).unwrap();
    let git = |args: &[&str]| judge(&repository, "git", args);
    git(&["-c", "init.defaultBranch=main", "init", "-q"]);
    let tree = |from: &Path| {
        let work = format!("--work-tree={}", from.display());
        git(&[&work, "add", "-A"]);
        git(&["write-tree"]).trim().to_owned()
    };
    let (one, two) = (tree(&old), tree(&new));
    assert_eq!(ours, git(&["diff", "--stat=80", "--no-renames", &one, &two]));
    assert_eq!(diff(&sandbox, &["one", "--stat", "--", "none"]).ok(), "");
}

#[test]
fn what_a_patch_cannot_say_stands_in_remarks() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.at("goes")).unwrap();
    fs::create_dir(sandbox.at("mode")).unwrap();
    sandbox.write("turns", "t\n");
    sandbox.capture("one");
    fs::remove_dir(sandbox.at("goes")).unwrap();
    fs::create_dir(sandbox.at("comes")).unwrap();
    sandbox.chmod("mode", 0o700);
    sandbox.remove("turns");
    fs::create_dir(sandbox.at("turns")).unwrap();
    let patch = diff(&sandbox, &["one", "--patch"]).ok();
    let remarks: Vec<_> = patch.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(
        remarks,
        [
            "# empty directory comes: added",
            "# empty directory goes: deleted",
            "# empty directory mode: mode 0700, was 0755",
            "# empty directory turns: added",
        ]
    );
    assert!(patch.contains("deleted file mode 100644\n--- a/turns\n+++ /dev/null\n"), "{patch}");
    let stat = diff(&sandbox, &["one", "--stat"]).ok();
    assert!(stat.contains(" comes | directory\n"), "{stat}");
}

#[test]
fn a_damaged_object_is_an_error_and_not_a_wrong_patch() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "1\n");
    sandbox.capture("one");
    let id = sandbox.feed("wt-hash-object", &["--stdin"], b"1\n").ok();
    let (shard, rest) = id.trim().split_at(2);
    let object = sandbox.root.join("store/workspace-objects").join(shard).join(rest);
    sandbox.write("a", "2\n");
    fs::write(&object, "0\n").unwrap();
    diff(&sandbox, &["one", "--patch"]).fails(4, "its bytes are not those of its name");
    fs::remove_file(&object).unwrap();
    diff(&sandbox, &["one", "--patch"]).fails(4, "is not in the pool");
    assert_eq!(diff(&sandbox, &["one"]).ok(), "M\ta\n", "the list needs no content");
}

#[test]
fn two_large_texts_without_a_common_line_are_compared_in_time() {
    let sandbox = Sandbox::new();
    sandbox.write("a", numbered(100_000));
    sandbox.capture("one");
    sandbox.write("a", numbered(100_000).replace("line", "row"));
    let begun = std::time::Instant::now();
    assert!(diff(&sandbox, &["one", "--stat"]).ok().contains("200000"));
    assert!(begun.elapsed().as_secs() < 20);
}

#[test]
fn colour_is_for_terminals_only() {
    let sandbox = edited();
    let plain = diff(&sandbox, &["one", "two", "--patch"]).ok();
    assert!(!plain.contains('\u{1b}'));
    let command = |no_colour: &str| {
        let ours = sandbox.command("wt-diff", &[]);
        let program = ours.get_program().to_str().unwrap().to_owned();
        let mut script = Command::new("script");
        script.args(["-qec", &format!("{program} one two -- gone mode"), "/dev/null"]);
        for (key, value) in ours.get_envs() {
            script.env(key, value.unwrap_or_default());
        }
        script.env("TERM", "xterm").env("NO_COLOR", no_colour).env("SHELL", "/bin/sh");
        script.current_dir(sandbox.root.join("ws"));
        script.output().map(|said| String::from_utf8_lossy(&said.stdout).into_owned())
    };
    let Ok(coloured) = command("") else { return };
    assert!(coloured.contains("\u{1b}[31mD\u{1b}[m\tgone"), "{coloured:?}");
    assert!(!command("1").unwrap().contains('\u{1b}'));
}
