//! What bad input gets: one error line naming the place, the exit code of its kind, and nothing changed.

use crate::sandbox::{Sandbox, Tree};

const CAPTURE: &str = "stage_ls | stage_hash | stage_write";

fn with_a_snapshot() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").file("d/g", "2").file(".gitignore", "x\n");
    sandbox.capture("l");
    sandbox
}

#[test]
fn options_that_exclude_each_other_are_refused_by_two_lines_of_test() {
    let sandbox = with_a_snapshot();
    let oid = "0".repeat(64);
    let before = Tree::with_stat(&sandbox.s());
    for command in [
        "wt-ls-files --records --json",
        "wt-ls-files --records --end",
        "wt-ls-files --records --ignored",
        "wt-ls-files --records --gaps",
        "wt-ls-files --ignored --gaps",
        "wt-ls-files -q -v",
        "wt-ls-files f",
        "wt-ls-files --max-files x",
        "wt-ls-files --max-files -1",
        "wt-hash-object",
        "wt-hash-object --stdin f",
        "wt-hash-object --stdin --stdin-paths",
        "wt-hash-object --stdin --stdin-records",
        "wt-hash-object --stdin-paths --stdin-records",
        "wt-hash-object --stdin-paths f",
        "wt-hash-object --stdin-records f",
        "wt-hash-object --require-end --stdin",
        "wt-hash-object --allow-unterminated --stdin",
        "wt-hash-object --max-new-bytes 1 f",
        "wt-cat-object",
        &format!("wt-cat-object -s -e {oid}"),
        &format!("wt-cat-object --batch {oid}"),
        "wt-ls-manifest",
        "wt-ls-manifest l l",
        "wt-ls-manifest --records --gaps l",
        "wt-ls-manifest --records --json l",
        "wt-ls-manifest --records --end l",
        "wt-write-manifest l",
        "wt-write-manifest --parent",
        "wt-ls-files --no-such-option",
    ] {
        assert!(sandbox.sh(command).fails(2).contains("--help"), "{command}");
    }
    before.assert_same(&Tree::with_stat(&sandbox.s()), "refused command lines");
}

#[test]
fn two_dashes_end_the_options_and_a_name_may_begin_with_one() {
    let sandbox = Sandbox::new();
    sandbox.file("-rf", "1").file("--", "2").file("-w", "3");
    let ids = sandbox.run(&["wt-hash-object", "--", "-rf", "--", "-w"]).quietly_ok();
    assert_eq!(ids, sandbox.sh("sha256sum -- -rf -- -w | cut -c 1-64").ok());
    assert!(!sandbox.s().exists());
    sandbox.run(&["wt-hash-object", "-rf"]).fails(2);
    sandbox.run(&["wt-ls-manifest", "--", "-x"]).fails(2);
}

#[test]
fn labels_have_a_grammar() {
    let sandbox = with_a_snapshot();
    let before = Tree::with_stat(&sandbox.s());
    let long = "x".repeat(257);
    for bad in [
        "",
        "-x",
        "a\nb",
        "a\tb",
        "a\x1bb",
        "HEAD",
        "HEAD~1",
        "HEADLESS",
        "12345678",
        "1795956271524628324-0001",
        "-",
        &long,
    ] {
        let run = |option: &str| sandbox.call().run(&["wt-write-manifest", &format!("{option}={bad}")]);
        run("--label").fails(2);
        run("--label-create").fails(2);
        if !bad.is_empty() && !bad.starts_with("12345678") && !bad.starts_with("1795") {
            run("--label-next").fails(2);
        }
    }
    sandbox.sh("wt-write-manifest --label \"$(printf '\\377')\"").fails(2);
    before.assert_same(&Tree::with_stat(&sandbox.s()), "bad labels");
    for good in ["x", "pre:node.a:0", "a b", "a/b", "../../x", "caf\u{e9}", &"x".repeat(256), "*"] {
        sandbox.capture(good);
        assert!(sandbox.stored().index().labels.contains_key(good));
    }
}

#[test]
fn run_ids_never_become_another_path() {
    let sandbox = with_a_snapshot();
    let long = "r".repeat(256);
    for bad in [".", "..", "../run", "a/b", "/etc", "a\\b", "a\nb", "-x", "x..y", &long] {
        for command in [
            "wt-ls-manifest l",
            "wt-ls-files",
            "wt-write-manifest </dev/null",
            "stage_ls >$X/l; export WT_RUN=$BAD; wt-hash-object -w -z --stdin-records <$X/l",
        ] {
            let ran = sandbox.call().env("BAD", bad).sh(&if command.contains("BAD") {
                command.to_owned()
            } else {
                format!("export WT_RUN=\"$BAD\"; {command}")
            });
            assert!(matches!(ran.code, 2 | 4), "{bad:?} {command}: {}", ran.text());
        }
    }
    sandbox.sh("unset WT_RUN; wt-ls-manifest l").fails(2);
    assert_eq!(std::fs::read_dir(sandbox.s().join("runs")).unwrap().count(), 1);
}

#[test]
fn snapshots_that_are_not_there_are_not_found() {
    let sandbox = with_a_snapshot();
    for bad in [
        "nothing",
        "HEAD~1",
        "HEAD~x",
        "HEAD~",
        "HEAD~-1",
        "1-1",
        "99999999",
        "../../x",
        "",
        "l ",
        "1795956271524628324-0001",
    ] {
        sandbox.run(&["wt-ls-manifest", "--", bad]).fails(2);
    }
    sandbox.sh("wt-ls-manifest --run other HEAD").fails(2);
    let id = sandbox.stored().ids().remove(0);
    for good in ["HEAD", "HEAD~0", "l", &id, &id[..8], &id[..id.len() - 4]] {
        assert_eq!(sandbox.run(&["wt-ls-manifest", good]).quietly_ok(), ".gitignore\nd/g\nf", "{good}");
    }
    sandbox.run(&["wt-ls-manifest", &id[..7]]).fails(2);
    // What has the form of a whole id is one, and not the beginning of another.
    sandbox.run(&["wt-ls-manifest", &id[..id.len() - 1]]).fails(2);
}

#[test]
fn malformed_streams_change_nothing() {
    let sandbox = with_a_snapshot();
    let before = Tree::with_stat(&sandbox.s());
    let oid = "a".repeat(64);
    let start = "#wt-records 1\n";
    let record = |path: &str| format!("f0644 {oid} 1 - - -\t{path}\n");
    let mut streams = vec![
        String::new(),
        "\n".into(),
        "#end\n".into(),
        "#wt-records 2\n#end\n".into(),
        format!("{}#end\n", record("a")),
    ];
    for line in [
        "x0644 - - - - -\ta",
        "f644 - - - - -\ta",
        "f4755 - - - - -\ta",
        "f0644 ABC - - - -\ta",
        "f0644 - -1 - - -\ta",
        "f0644 - 1 - - -\t../a",
        "f0644 - 1 - - -\t/a",
        "f0644 - 1 - - -\ta/",
        "f0644 - 1 - - -\ta//b",
        "f0644 - 1 - - -\t",
        "f0644 - 1 - - -\t\"a",
        "f0644 - 1 - - - a",
        "#cap x",
        "#start -1",
        "#rules x",
        "#head x",
        "#cap 1\n#cap 1",
        "#root a\n#root b",
        "f0644 - 99999999999999999999 - - -\ta",
        "d0755 - - - - -\t.",
        "s0644 - - - - -\ta",
        "f0644 !Bad - - - -\ta",
    ] {
        streams.push(format!("{start}{line}\n#end\n"));
    }
    streams.push(format!("{start}{}{}#end\n", record("a"), record("a")));
    streams.push(format!("{start}{}{}#end\n", record("a"), record("a/b")));
    streams.push(format!("{start}{}{}{}#end\n", record("a"), record("a.b"), record("a/b")));
    streams.push(format!("{start}{}#end\nmore\n", record("a")));
    streams.push(format!("{start}#fail x y\n"));
    streams.push(format!("{start}f0644 {} 1 - - -\t{}\n#end\n", oid, "n".repeat(1 << 20)));
    for stream in &streams {
        let shown = &stream[..stream.len().min(200)];
        let ran = sandbox.call().stdin(stream).run(&["wt-write-manifest", "--label", "bad"]);
        assert_eq!(ran.code, 4, "{shown}\n{}", ran.text());
        ran.fails(4);
    }
    before.assert_same(&Tree::with_stat(&sandbox.s()), "malformed streams");
}

#[test]
fn a_manifest_with_one_bad_part_is_rejected_whole() {
    let sandbox = with_a_snapshot();
    let id = sandbox.stored().ids().remove(0);
    let path = sandbox.stored().manifest_path(&id);
    let good = std::fs::read_to_string(&path).unwrap();
    let hash = sandbox.stored().manifest(&id).entries.unwrap().remove(0).hash;
    let cases = [
        (r#""path":"f""#, r#""path":"../f""#),
        (r#""path":"f""#, r#""path":"/f""#),
        (r#""path":"f""#, r#""path":"""#),
        (r#""path":"f""#, r#""path":"d/./f""#),
        (r#""path":"f""#, r#""path":"d/g""#),
        (r#""path":"f""#, r#""path":"d""#),
        (r#""path":"f""#, r#""path":"d/g/h""#),
        (r#""path":"f","#, ""),
        (r#""path":"f""#, r#""path":"f","path":"f""#),
        (r#""path":"f""#, r#""path":"f\u0000""#),
        (&hash, &hash.to_uppercase()),
        (&hash, &hash[1..]),
        (&hash, "../../../../../etc/passwd"),
        (&hash, ""),
        (r#""size":1"#, r#""size":-1"#),
        (r#""size":1"#, r#""size":"1""#),
        (r#""mode":420"#, r#""mode":-1"#),
        (&id, "1-0001"),
        (&id, "../x"),
        (r#""label":"l""#, r#""label":"l","parent":"../x""#),
        ("{", ""),
    ];
    for (from, to) in cases {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        check(&sandbox, &path, bad.as_bytes(), &format!("{from} -> {to}"));
    }
    for bad in [&b""[..], b"{", b"null", b"[]", b"\xff", &good.as_bytes()[..good.len() / 2]] {
        check(&sandbox, &path, bad, &String::from_utf8_lossy(bad));
    }
}

fn check(sandbox: &Sandbox, path: &std::path::Path, bad: &[u8], what: &str) {
    std::fs::write(path, bad).unwrap();
    let before = Tree::with_stat(&sandbox.s().join("runs"));
    let ran = sandbox.run(&["wt-ls-manifest", "HEAD"]);
    assert_eq!(ran.code, 4, "{what}: {}", ran.text());
    assert!(ran.fails(4).contains(path.file_name().unwrap().to_str().unwrap()), "{what}: the file is named");
    // A capture reads its parent: it does not go on from what it cannot understand.
    sandbox.sh(CAPTURE).fails(4);
    before.assert_same(&Tree::with_stat(&sandbox.s().join("runs")), what);
}

#[test]
fn a_damaged_index_is_an_error_and_never_a_fresh_start() {
    let sandbox = with_a_snapshot();
    let path = sandbox.stored().index_path();
    let good = std::fs::read_to_string(&path).unwrap();
    for bad in [
        "",
        "{",
        "null",
        "[]",
        &good[..good.len() - 2],
        &good.replace("\"head\":\"", "\"head\":\"x"),
        &good.replace("\"labels\":{", "\"labels\":["),
    ] {
        std::fs::write(&path, bad).unwrap();
        for command in ["wt-ls-files --records", "wt-ls-manifest l", CAPTURE] {
            let ran = sandbox.sh(command);
            assert_eq!(ran.code, 4, "{bad}: {command}: {}", ran.text());
            assert!(ran.fails(4).contains("--rebuild-index"));
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), bad);
    }
    // A head or label whose manifest is gone is damage, too, and no reason to begin a new chain.
    std::fs::write(&path, good.replace("\"head\":\"", "\"head\":\"1")).unwrap();
    let ran = sandbox.sh(CAPTURE);
    assert!(matches!(ran.code, 2 | 4), "{}", ran.text());
    assert_eq!(sandbox.stored().ids().len(), 1);
}

#[test]
fn bad_settings_are_refused_before_anything_is_done() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    for (name, value) in
        [("WT_FSYNC", "maybe"), ("WT_LOCK_WAIT", "soon"), ("WT_LOCK_WAIT", "-1"), ("WT_LOCK_WAIT", "NaN")]
    {
        assert!(sandbox.call().env(name, value).sh("wt-hash-object -w f").fails(2).contains(name));
    }
    assert!(!sandbox.s().exists());
}

#[test]
fn deeply_nested_json_is_refused_and_no_crash() {
    let sandbox = with_a_snapshot();
    let index = sandbox.stored().index_path();
    let good = std::fs::read_to_string(&index).unwrap();
    let deep = format!("{{\"later\":{}{},", "[".repeat(100_000), "]".repeat(100_000));
    std::fs::write(&index, good.replacen('{', &deep, 1)).unwrap();
    let ran = sandbox.run(&["wt-ls-manifest", "l"]);
    assert!(matches!(ran.code, 0 | 4), "{}", ran.text());
    std::fs::write(&index, good).unwrap();
    let id = sandbox.stored().ids().remove(0);
    let manifest = sandbox.stored().manifest_path(&id);
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replacen('{', &deep, 1)).unwrap();
    let ran = sandbox.run(&["wt-ls-manifest", "l"]);
    assert!(matches!(ran.code, 0 | 4), "{}", ran.text());
}
