//! `wt-diff`: which paths differ, and where a side cannot know.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use crate::sandbox::{Said, Sandbox};

pub(crate) fn diff(sandbox: &Sandbox, args: &[&str]) -> Said {
    sandbox.run("wt-diff", args)
}

/// A workspace with one of everything, and what edits turn it into.
fn edited() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.o\n");
    for (path, text) in [("same", "s"), ("mod", "1"), ("mode", "x"), ("gone", "g"), ("type", "t"), ("d/f", "f")] {
        sandbox.write(path, text);
    }
    fs::create_dir_all(sandbox.at("empty")).unwrap();
    fs::create_dir_all(sandbox.at("only-ignored")).unwrap();
    symlink("same", sandbox.at("link")).unwrap();
    let one = sandbox.capture("one");
    sandbox.write("mod", "2");
    sandbox.write("x.o", "ignored");
    sandbox.write("only-ignored/y.o", "ignored");
    sandbox.chmod("mode", 0o755);
    sandbox.remove("gone");
    sandbox.remove("type");
    symlink("same", sandbox.at("type")).unwrap();
    sandbox.remove("link");
    symlink("mod", sandbox.at("link")).unwrap();
    sandbox.write("new\tname", "n");
    sandbox.remove("d/f");
    sandbox.write("empty/now-full", "");
    (sandbox, one)
}

const EXPECTED: &str = "D\td/f\nA\tempty/now-full\nD\tgone\nM\tlink\nM\tmod\nm\tmode\nA\t\"new\\tname\"\nT\ttype\n";

#[test]
fn every_letter_against_the_workspace_and_against_a_snapshot_of_it() {
    let (sandbox, one) = edited();
    assert_eq!(diff(&sandbox, &[&one]).ok(), EXPECTED);
    assert_eq!(diff(&sandbox, &["HEAD", "--exit-code"]).ends(1).text(), EXPECTED);
    let two = sandbox.capture("two");
    assert_eq!(diff(&sandbox, &["two", "--exit-code"]).ok(), "");
    // A directory that holds only ignored files is no entry of the newer snapshot, which cannot say that it is there.
    let with_dir = EXPECTED.replace("T\ttype", "D\tonly-ignored\nT\ttype");
    assert_eq!(diff(&sandbox, &["one", &two]).ok(), with_dir);
    let back = diff(&sandbox, &["two", "one"]).ok();
    for line in ["A\td/f\n", "D\tempty/now-full\n", "A\tgone\n", "m\tmode\n", "T\ttype\n"] {
        assert!(back.contains(line), "{back}");
    }
    assert_eq!(diff(&sandbox, &["one", "one", "--exit-code"]).ok(), "");
    assert_eq!(diff(&sandbox, &["one", "two", "--exit-code"]).ends(1).err, "");
}

#[test]
fn an_empty_directory_has_come_or_gone_only_if_nothing_was_in_it() {
    let sandbox = Sandbox::new();
    for dir in ["stays", "goes", "fills", "a/deep/one"] {
        fs::create_dir_all(sandbox.at(dir)).unwrap();
    }
    sandbox.write("empties/f", "1");
    sandbox.capture("one");
    fs::remove_dir(sandbox.at("goes")).unwrap();
    fs::create_dir(sandbox.at("comes")).unwrap();
    sandbox.write("fills/f", "1");
    sandbox.remove("empties/f");
    let expected = "A\tcomes\nD\tempties/f\nA\tfills/f\nD\tgoes\n";
    assert_eq!(diff(&sandbox, &["one"]).ok(), expected);
    sandbox.capture("two");
    assert_eq!(diff(&sandbox, &["one", "two"]).ok(), expected);
    sandbox.chmod("stays", 0o700);
    assert_eq!(diff(&sandbox, &["two"]).ok(), "m\tstays\n");
}

#[test]
fn nothing_is_written_when_the_workspace_is_compared() {
    let (sandbox, _) = edited();
    let state = |sandbox: &Sandbox| {
        let said = std::process::Command::new("find")
            .args([".", "-printf", "%P %s %T@ %C@ %m\\n"])
            .current_dir(&sandbox.root)
            .output()
            .unwrap();
        let mut lines: Vec<_> = String::from_utf8_lossy(&said.stdout).lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let before = state(&sandbox);
    for args in [&["HEAD"][..], &["HEAD", "--patch"], &["HEAD", "--stat"], &["HEAD", "--json"]] {
        let _ = diff(&sandbox, args).ok();
    }
    assert_eq!(state(&sandbox), before);
}

#[test]
fn other_forms_of_the_list() {
    let (sandbox, _) = edited();
    let names = EXPECTED.lines().map(|line| line.split_once('\t').unwrap().1).collect::<Vec<_>>().join("\n") + "\n";
    assert_eq!(diff(&sandbox, &["HEAD", "--name-only"]).ok(), names);
    let raw = EXPECTED.replace("\"new\\tname\"", "new\tname").replace('\n', "\0");
    assert_eq!(diff(&sandbox, &["HEAD", "-z"]).ok(), raw);
    let json = diff(&sandbox, &["HEAD", "--json"]).ok();
    let rows: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let at = |path: &str| rows.iter().find(|row| row["path"] == path).unwrap();
    assert_eq!(rows.len(), 8);
    assert_eq!(at("mode")["old"]["mode"], "0644");
    assert_eq!(at("mode")["new"]["mode"], "0755");
    assert_eq!(at("gone")["new"], Value::Null);
    assert_eq!(at("link")["new"]["target"], "mod");
    assert_eq!(at("type")["old"]["kind"], "file");
    assert_eq!(at("type")["new"]["kind"], "link");
    assert_eq!(at("mod")["new"]["size"], 1);
    assert_eq!(at("mod")["new"]["hash"].as_str().unwrap().len(), 64);
}

#[test]
fn paths_limit_by_whole_components() {
    let (sandbox, _) = edited();
    assert_eq!(diff(&sandbox, &["HEAD", "--", "d"]).ok(), "D\td/f\n");
    assert_eq!(diff(&sandbox, &["HEAD", "--", "d/", "gone"]).ok(), "D\td/f\nD\tgone\n");
    assert_eq!(diff(&sandbox, &["HEAD", "--", "mod"]).ok(), "M\tmod\n", "not mode");
    sandbox.capture("two");
    assert_eq!(diff(&sandbox, &["one", "two", "--", "empty"]).ok(), "A\tempty/now-full\n");
    assert_eq!(diff(&sandbox, &["one", "two", "--exit-code", "--", "same"]).ok(), "");
    diff(&sandbox, &["HEAD", "--", "../x"]).fails(2, "'.' or '..'");
    diff(&sandbox, &["HEAD", "--", ""]).fails(2, "empty");
}

#[test]
fn what_is_uncaptured_on_one_side_is_unknowable_and_on_both_left_out() {
    let sandbox = Sandbox::new();
    sandbox.write("grows", "1");
    sandbox.write("shrinks", "123456");
    sandbox.write("stays-big", "123456");
    sandbox.write("big-goes", "123456");
    sandbox.write("small", "1");
    sandbox.capture_with(&["--max-file-size", "5"], &["--label", "one"]);
    sandbox.write("grows", "123456");
    sandbox.write("shrinks", "1");
    sandbox.write("big-comes", "123456");
    sandbox.write("stays-big", "1234567");
    sandbox.remove("big-goes");
    let expected = "U\tbig-comes\nU\tbig-goes\nU\tgrows\nU\tshrinks\n";
    assert_eq!(diff(&sandbox, &["one"]).ok(), expected, "the limit of the snapshot counts");
    assert!(diff(&sandbox, &["one", "--max-file-size", "6"]).ok().contains("M\tgrows\n"));
    sandbox.capture_with(&["--max-file-size", "5"], &["--label", "two"]);
    assert_eq!(diff(&sandbox, &["one", "two"]).ok(), expected);
    assert_eq!(diff(&sandbox, &["one", "two", "--exit-code"]).ends(1).text(), expected);
    let json = diff(&sandbox, &["one", "two", "--json", "--", "grows"]).ok();
    let row: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&row["old"]["size"], &row["new"]["gap"]), (&1.into(), &"oversized".into()));
    let patch = diff(&sandbox, &["one", "two", "--patch", "--", "grows"]).ok();
    assert_eq!(patch, "# uncaptured on the newer side: grows: oversized\n");
}

#[test]
fn a_directory_that_cannot_be_listed_hides_what_is_below_it() {
    let sandbox = Sandbox::new();
    sandbox.write("locked/a", "1");
    sandbox.write("locked/b/c", "1");
    sandbox.write("z", "1");
    sandbox.capture("one");
    // Made by hand: a test that runs as root can list everything.
    let records = "#wt-records 1\n#rules none e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n\
                   d0000 !unreadable - - - -\tlocked/\nd0000 !unreadable - - - -\tother/\n#end\n";
    let two = sandbox.feed("wt-write-manifest", &["-q", "--label", "two"], records.as_bytes()).ok();
    assert_eq!(diff(&sandbox, &["one", two.trim()]).ok(), "U\tlocked/a\nU\tlocked/b/c\nU\tother/\nD\tz\n");
    assert_eq!(diff(&sandbox, &["one", "two", "--", "other/x"]).ok(), "U\tother/\n");
    assert_eq!(diff(&sandbox, &["two", "two"]).ok(), "");
}

#[test]
fn a_list_is_believed_only_about_what_it_names() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "1");
    sandbox.write("b", "1");
    sandbox.capture("one");
    let list = sandbox.run("wt-ls-manifest", &["--records", "one"]).ok();
    let named: String = list
        .lines()
        .filter(|line| line.ends_with("\ta"))
        .map(|line| [line, "\n"].concat())
        .collect::<Vec<_>>()
        .concat();
    sandbox.feed("wt-write-manifest", &["--allow-unterminated", "--label", "list"], named.as_bytes()).ok();
    assert_eq!(diff(&sandbox, &["one", "list"]).ok(), "", "it does not know b");
    sandbox.write("a", "2");
    sandbox.write("c", "1");
    assert_eq!(diff(&sandbox, &["list"]).ok(), "M\ta\n", "nor whether c was there");
}

#[test]
fn where_rules_differ_only_what_both_include_is_compared() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log\n");
    sandbox.write("a.log", "1");
    sandbox.write("a.tmp", "1");
    sandbox.write("both.txt", "1");
    sandbox.capture("one");
    sandbox.write(".gitignore", "*.tmp\n");
    sandbox.remove("both.txt");
    sandbox.capture("two");
    assert_eq!(diff(&sandbox, &["one", "two"]).ok(), "M\t.gitignore\nD\tboth.txt\n");
    assert_eq!(diff(&sandbox, &["two", "one"]).ok(), "M\t.gitignore\nA\tboth.txt\n");
    assert_eq!(diff(&sandbox, &["one"]).ok(), "M\t.gitignore\nD\tboth.txt\n");
    // The rules of then are read from the pool, not from the workspace.
    let rules = sandbox.run("wt-hash-object", &["--stdin"]);
    drop(rules.ends(0));
    let of_one = sandbox.feed("wt-hash-object", &["--stdin"], b"*.log\n").ok();
    let (shard, rest) = of_one.trim().split_at(2);
    fs::remove_file(sandbox.root.join("store/workspace-objects").join(shard).join(rest)).unwrap();
    diff(&sandbox, &["one", "two"]).fails(4, "cannot tell which paths snapshot");
}

#[test]
fn a_snapshot_of_the_original_covers_regular_files_under_its_own_rules() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log\n");
    sandbox.write("f", "1");
    sandbox.capture("one");
    let rules = sandbox.feed("wt-hash-object", &["--stdin"], b"*.log\n").ok();
    let file = sandbox.feed("wt-hash-object", &["--stdin"], b"1").ok();
    let entries = format!(
        r#"{{"path":".gitignore","hash":"{}","mode":420,"size":6}},{{"path":"f","hash":"{}","mode":420,"size":1}}"#,
        rules.trim(),
        file.trim()
    );
    let manifest = format!(
        r#"{{"id":"5-0001","label":"pre:n:0","created_at":"2026-11-29T12:44:43Z","entries":[{entries}],"skipped":["big"]}}"#
    );
    fs::write(sandbox.history().join("snapshots/5-0001.json"), manifest).unwrap();
    fs::create_dir(sandbox.at("empty")).unwrap();
    symlink("f", sandbox.at("link")).unwrap();
    fs::write(sandbox.at(OsStr::from_bytes(b"raw\xff")), "1").unwrap();
    sandbox.write("new", "1");
    sandbox.write("big", "1");
    sandbox.write(".gitignore", "");
    sandbox.write("x.log", "1");
    assert_eq!(diff(&sandbox, &["5-0001"]).ok(), "M\t.gitignore\nU\tbig\nA\tnew\n");
    sandbox.capture("two");
    assert_eq!(diff(&sandbox, &["5-0001", "two"]).ok(), "M\t.gitignore\nU\tbig\nA\tnew\n");
    assert_eq!(diff(&sandbox, &["two", "5-0001"]).ok(), "M\t.gitignore\nU\tbig\nD\tnew\n");
    // A link where the original had a file is a change of type: both sides name it.
    sandbox.remove("f");
    symlink("new", sandbox.at("f")).unwrap();
    assert!(diff(&sandbox, &["5-0001"]).ok().contains("T\tf\n"));
}

#[test]
fn names_of_all_kinds() {
    let sandbox = Sandbox::new();
    sandbox.capture("none");
    for name in
        [&b" lead"[..], b"new\nline", b"tab\t", b"q\"", b"-dash", b"*?[", b"\xff\xfe", "caf\u{e9}".as_bytes()]
    {
        fs::write(sandbox.at(OsStr::from_bytes(name)), "1").unwrap();
    }
    let said = diff(&sandbox, &["none", "-z"]).ends(0);
    let names: Vec<&[u8]> = said.out.split(|byte| *byte == 0).filter(|item| !item.is_empty()).collect();
    assert_eq!(names.len(), 8);
    assert!(names.is_sorted());
    assert!(names.contains(&&b"A\t\xff\xfe"[..]));
    assert!(diff(&sandbox, &["none"]).ok().contains("A\t\"\\377\\376\"\n"));
    assert!(diff(&sandbox, &["none", "--json"]).ok().contains("\"path_b64\":\"//4=\""));
    assert_eq!(diff(&sandbox, &["none", "--", "-dash"]).ok(), "A\t-dash\n");
}

#[test]
fn a_same_size_edit_that_keeps_the_mtime_is_seen() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "1");
    let before = fs::metadata(sandbox.at("a")).unwrap().modified().unwrap();
    sandbox.capture("one");
    sandbox.write("a", "2");
    fs::File::options().write(true).open(sandbox.at("a")).unwrap().set_modified(before).unwrap();
    assert_eq!(diff(&sandbox, &["one"]).ok(), "M\ta\n");
}

#[test]
fn another_workspace_is_pointed_out() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "1");
    sandbox.capture("one");
    let other = sandbox.root.join("other");
    fs::create_dir(&other).unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    let said = diff(&sandbox, &["one", "-C", other.to_str().unwrap()]).ends(0);
    assert_eq!(said.text(), "D\ta\n");
    assert!(said.err.contains("warning: the snapshot is of"), "{}", said.err);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let (sandbox, one) = edited();
    for args in [
        ["HEAD", "--name-only", "--stat"],
        ["HEAD", "--name-only", "--patch"],
        ["HEAD", "--name-only", "--json"],
        ["HEAD", "--stat", "--patch"],
        ["HEAD", "--stat", "-z"],
        ["HEAD", "--patch", "-z"],
    ] {
        diff(&sandbox, &args).fails(2, "cannot be used with");
    }
    for args in [["HEAD", "--stat", "--json"], ["HEAD", "--patch", "--json"]] {
        assert!(diff(&sandbox, &args).ends(2).err.contains("cannot be used with"));
    }
    diff(&sandbox, &["HEAD", "one", "--max-file-size", "1"]).fails(2, "cannot be used with");
    diff(&sandbox, &[]).fails(2, "required");
    diff(&sandbox, &["a", "b", "c"]).fails(2, "unexpected");
    diff(&sandbox, &["nope"]).fails(2, "nope");
    diff(&sandbox, &["HEAD", "-C", "nowhere"]).fails(2, "cannot open the workspace");
    diff(&sandbox, &["HEAD", "-C", "/"]).fails(5, "root of the file system");
    fs::write(sandbox.history().join(format!("snapshots/{one}.json")), "{}").unwrap();
    diff(&sandbox, &["HEAD"]).fails(4, "not a manifest");
}
