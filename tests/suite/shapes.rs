//! Promise 7: manifests and index have the shapes of the original, byte for byte where it reads them.

use crate::sandbox::stored::oid;
use crate::sandbox::{Sandbox, Stored};

#[test]
fn a_manifest_is_written_exactly_so() {
    let sandbox = Sandbox::new();
    sandbox
        .file("b <&> \u{2028}.txt", "2\n")
        .file("a/run.sh", "1")
        .mode("a/run.sh", 0o755)
        .fifo("pipe")
        .fifo("a.pipe");
    sandbox
        .file(b"\xff", "raw")
        .link("link", "a/run.sh")
        .dir("empty")
        .mode("empty", 0o750)
        .file(".gitignore", "x\n");
    let id = sandbox.capture("pre:n:0");
    let text = std::fs::read_to_string(sandbox.stored().manifest_path(&id)).unwrap();
    let created = sandbox.stored().manifest(&id).created_at;
    let file = |path: &str, content: &str, mode: u32| {
        format!(r#"{{"path":"{path}","hash":"{}","mode":{mode},"size":{}}}"#, oid(content), content.len())
    };
    let expected = [
        format!(r#"{{"id":"{id}","label":"pre:n:0","created_at":"{created}","entries":["#),
        [file(".gitignore", "x\n", 420), file("a/run.sh", "1", 493), file(r"b \u003c\u0026\u003e \u2028.txt", "2\n", 420)].join(","),
        r#"],"skipped":["a.pipe","pipe"],"#.into(),
        format!(r#""coverage":{{"rules":{{"source":".gitignore","oid":"{}"}},"engine":"workspacetrack-1","cap":33554432,"#, oid("x\n")),
        r#""kinds":["file","link","dir","raw"],"gaps":[{"path":"a.pipe","reason":"special"},{"path":"pipe","reason":"special"}]},"#.into(),
        format!(r#""workspace":"{}","#, sandbox.w().display()),
        format!(r#""links":[{{"path":"link","target":"a/run.sh","hash":"{}","mode":511}}],"#, oid("a/run.sh")),
        r#""dirs":[{"path":"empty","mode":488}],"#.into(),
        format!(r#""raw":[{{"path_b64":"/w==","hash":"{}","mode":420,"size":3}}]}}"#, oid("raw")),
    ];
    assert_eq!(text, expected.concat());
}

#[test]
fn the_id_tells_when_and_the_time_is_the_same() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let id = sandbox.capture("l");
    let (ns, counter) = id.split_once('-').unwrap();
    assert!(ns.len() == 19 && counter == "0001", "{id}");
    let seconds =
        sandbox.call().env("AT", sandbox.stored().manifest(&id).created_at).sh(r#"date -d "$AT" +%s%N"#).ok();
    assert_eq!(seconds, ns);
}

#[test]
fn an_empty_workspace_has_null_entries_as_in_the_original() {
    let sandbox = Sandbox::new();
    let id = sandbox.capture("l");
    let text = std::fs::read_to_string(sandbox.stored().manifest_path(&id)).unwrap();
    assert!(text.contains(r#""entries":null,"coverage""#), "{text}");
    assert_eq!(sandbox.run(&["wt-ls-manifest", "l"]).quietly_ok(), "");
}

#[test]
fn what_entries_do_not_name_is_pinned_for_both_prunes() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "x\n").file(b"\xff", "raw").link("l", "target").file(".gitignore", "#\n");
    let id = sandbox.capture("l");
    let pin = std::fs::read(sandbox.stored().manifest_path(&format!("pin-{id}"))).unwrap();
    let pin: crate::sandbox::stored::Manifest = serde_json::from_slice(&pin).unwrap();
    let mut pinned: Vec<String> = pin.entries.unwrap().into_iter().map(|entry| entry.hash).collect();
    pinned.sort();
    let mut wanted = vec![oid("raw"), oid("target")];
    wanted.sort();
    assert_eq!(pinned, wanted, "the rules file is an entry itself and needs no pin");
    // Everything in the pool is named by a file that a prune reads.
    let named: std::collections::BTreeSet<String> =
        sandbox.stored().manifest(&id).entries.unwrap().into_iter().map(|entry| entry.hash).chain(pinned).collect();
    assert_eq!(named, sandbox.stored().objects());
}

#[test]
fn a_rules_file_that_is_not_captured_itself_is_pinned() {
    let sandbox = Sandbox::new();
    sandbox.file(".gitignore", ".gitignore\n");
    let id = sandbox.capture("l");
    let pin = std::fs::read_to_string(sandbox.stored().manifest_path(&format!("pin-{id}"))).unwrap();
    assert!(pin.contains(&oid(".gitignore\n")), "{pin}");
    assert!(sandbox.stored().object_of(".gitignore\n").exists());
}

#[test]
fn a_snapshot_that_needs_no_pin_has_none() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").dir("d");
    let id = sandbox.capture("l");
    assert_eq!(sandbox.stored().snapshot_files(), [format!("{id}.json")]);
}

#[test]
fn an_index_is_written_exactly_so() {
    let sandbox = Sandbox::new();
    sandbox.file("b", "2").file("a & b", "1").settle();
    let id = sandbox.capture("l");
    let text = std::fs::read_to_string(sandbox.stored().index_path()).unwrap();
    let row = |path: &str, shown: &str, content: &str| {
        use std::os::unix::fs::MetadataExt;
        let meta = std::fs::metadata(sandbox.path(path)).unwrap();
        let (mtime, ctime) =
            (meta.mtime() * 1_000_000_000 + meta.mtime_nsec(), meta.ctime() * 1_000_000_000 + meta.ctime_nsec());
        format!(
            r#""{shown}":{{"size":1,"mod_nano":{mtime},"hash":"{}","ctime_nano":{ctime},"ino":{}}}"#,
            oid(content),
            meta.ino()
        )
    };
    let rows = [row("a & b", r"a \u0026 b", "1"), row("b", "b", "2")].join(",");
    assert_eq!(text, format!(r#"{{"entries":{{{rows}}},"head":"{id}","labels":{{"l":"{id}"}}}}"#));
}

#[test]
fn members_that_we_do_not_know_survive_a_capture() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").file("g", "2").settle();
    let first = sandbox.capture("l");
    let path = sandbox.stored().index_path();
    let text = std::fs::read_to_string(&path).unwrap();
    let (inode_f, rest) = text.split_once("},\"g\"").unwrap();
    let number = "123456789012345678901234567890.5e-3";
    let text = format!(r#"{inode_f},"later":[{number},null]}},"g"{rest}"#);
    let text = text
        .replacen('{', &format!(r#"{{"ahead":{{"x": {number}}},"#), 1)
        .replace("\"labels\"", "\"odd \\u00e9\":\"v\",\"labels\"");
    std::fs::write(&path, &text).unwrap();
    let manifest = std::fs::read(sandbox.stored().manifest_path(&first)).unwrap();
    sandbox.sh("echo new >h").ok();
    sandbox.capture("l");
    let now = std::fs::read_to_string(&path).unwrap();
    assert!(now.contains(&format!(r#""ahead":{{"x": {number}}}"#)), "{now}");
    assert!(now.contains(r#""odd é":"v""#), "{now}");
    assert!(now.contains(&format!(r#""later":[{number},null]"#)), "{now}");
    assert_eq!(std::fs::read(sandbox.stored().manifest_path(&first)).unwrap(), manifest);
}

#[test]
fn foreign_labels_survive_although_nobody_could_make_them() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let first = sandbox.capture("l");
    let path = sandbox.stored().index_path();
    let text = std::fs::read_to_string(&path).unwrap();
    let foreign = format!(r#""labels":{{"-x":"{first}","HEAD~3":"gone","a\nb":"","#);
    std::fs::write(&path, text.replace("\"labels\":{", &foreign)).unwrap();
    sandbox.file("f", "2");
    sandbox.capture("l");
    let labels = sandbox.stored().index().labels;
    assert_eq!(
        (labels["-x"].as_str(), labels["HEAD~3"].as_str(), labels["a\nb"].as_str()),
        (first.as_str(), "gone", "")
    );
}

#[test]
fn numbers_beyond_what_a_double_holds_are_kept() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").settle();
    sandbox.capture("l");
    let path = sandbox.stored().index_path();
    let text = std::fs::read_to_string(&path).unwrap();
    let with = text.replacen('{', r#"{"big":18446744073709551615,"#, 1);
    std::fs::write(&path, with).unwrap();
    sandbox.capture("m");
    assert!(std::fs::read_to_string(&path).unwrap().contains(r#""big":18446744073709551615"#));
}

#[test]
fn manifests_are_never_rewritten() {
    let sandbox = Sandbox::new();
    let mut written: Vec<(String, Vec<u8>)> = Vec::new();
    for n in 0..5 {
        sandbox.file("f", n.to_string());
        let id = sandbox.capture("same label");
        written.push((id.clone(), std::fs::read(sandbox.stored().manifest_path(&id)).unwrap()));
        let stored: Stored = sandbox.stored();
        for (id, bytes) in &written {
            assert_eq!(&std::fs::read(stored.manifest_path(id)).unwrap(), bytes);
        }
    }
}
