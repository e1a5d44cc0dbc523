//! `run-attachment` (facts 4.3, cases J).

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::sandbox::{Sandbox, put, run};
use crate::shell::{feed, go, json, paths, stored, with_status};

fn add(sandbox: &Sandbox, name: &str, bytes: impl AsRef<[u8]>) {
    feed(sandbox, &["run-attachment", "add", &format!("{name}=-")], bytes).ends(0).clear();
}

fn names(sandbox: &Sandbox) -> Vec<String> {
    let out = go(sandbox, &["run-attachment", "list"]).ends(0);
    out.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

fn mirror(sandbox: &Sandbox) -> Vec<String> {
    let run = stored(sandbox, "run.json");
    run["attachments"].as_object().map_or_else(Vec::new, |mirror| mirror.keys().cloned().collect())
}

/// J 114.
#[test]
fn what_is_added_is_measured_and_given_out() {
    let sandbox = with_status("running");
    put(&sandbox.path().join("notes.md"), "# Notes\n");
    let receipt = json(&sandbox, &["run-attachment", "add", "notes=notes.md"]);
    let sidecar = stored(&sandbox, "attachments/notes/meta.json");
    assert_eq!(sidecar["size"], 8);
    assert_eq!(sidecar["mime"], "text/markdown");
    assert_eq!(sidecar["storage_ref"], "runs/r/attachments/notes/notes.md");
    assert_eq!((&receipt["new"], &receipt["sha256"]), (&json!(true), &sidecar["sha256"]));
    let judged = std::process::Command::new("sha256sum").arg(sandbox.path().join("notes.md")).output().unwrap();
    let judged = String::from_utf8(judged.stdout).unwrap();
    assert!(judged.starts_with(sidecar["sha256"].as_str().unwrap()));
    assert_eq!(stored(&sandbox, "run.json")["attachments"]["notes"], sidecar);
    let text =
        String::from_utf8(std::fs::read(sandbox.run_dir().join("attachments/notes/meta.json")).unwrap()).unwrap();
    let order = [
        "\"name\"",
        "\"original_filename\"",
        "\"mime\"",
        "\"size\"",
        "\"sha256\"",
        "\"created_at\"",
        "\"storage_ref\"",
    ];
    let places: Vec<_> = order.iter().map(|key| text.find(key).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
    assert_eq!(go(&sandbox, &["run-attachment", "open", "notes"]).ends(0), "# Notes\n");
    let out = sandbox.path().join("out");
    go(&sandbox, &["run-attachment", "open", "notes", "-o", out.to_str().unwrap()]).ends(0).clear();
    assert_eq!(std::fs::read(&out).unwrap(), b"# Notes\n");
    let mode = |name: &str| std::fs::metadata(sandbox.run_dir().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode("attachments"), mode("attachments/notes")], [0o700; 2]);
    assert_eq!([mode("attachments/notes/notes.md"), mode("attachments/notes/meta.json")], [0o600; 2]);
}

/// J 115.
#[test]
fn three_are_listed_and_removed() {
    let sandbox = with_status("running");
    for name in ["c", "a", "b"] {
        add(&sandbox, name, name);
    }
    assert_eq!(names(&sandbox), ["a", "b", "c"]);
    assert_eq!(json(&sandbox, &["run-attachment", "remove", "b"]), json!({"name":"b","removed":true}));
    assert_eq!([names(&sandbox), mirror(&sandbox)], [["a", "c"], ["a", "c"]]);
    assert_eq!(json(&sandbox, &["run-attachment", "remove", "b"])["removed"], false);
    go(&sandbox, &["run-attachment", "remove", "--all"]).ends(0).clear();
    assert!(names(&sandbox).is_empty() && mirror(&sandbox).is_empty());
    assert!(stored(&sandbox, "run.json").get("attachments").is_none());
    go(&sandbox, &["run-attachment", "open", "a"]).says(2, "no attachment 'a'");
    go(&sandbox, &["run-attachment", "remove"]).ends(2).clear();
    go(&sandbox, &["run-attachment", "remove", "--all", "a"]).ends(2).clear();
}

/// J 116, 117.
#[test]
fn a_directory_without_sidecar_is_no_attachment_and_the_mirror_is_made_anew() {
    let sandbox = with_status("running");
    add(&sandbox, "a", "aaa");
    std::fs::DirBuilder::new().create(sandbox.run_dir().join("attachments/half")).unwrap();
    sandbox.put("attachments/half/bytes", "x");
    sandbox.put("attachments/stray", "x");
    assert_eq!(names(&sandbox), ["a"]);
    sandbox.put("run.json", r#"{"attachments":{"a":{"name":"old","more":1},"gone":{}}}"#);
    assert_eq!(json(&sandbox, &["run-attachment", "reindex"]), json!({"attachments":1,"changed":true}));
    let mirrored = stored(&sandbox, "run.json")["attachments"].clone();
    assert_eq!(mirrored["a"]["more"], 1, "what only the mirror knew stays");
    assert_eq!(mirrored["a"]["name"], "a");
    assert!(mirrored.get("gone").is_none());
    assert_eq!(json(&sandbox, &["run-attachment", "reindex"])["changed"], false);
    go(&sandbox, &["run-attachment", "remove", "half"]).ends(0).clear();
    assert!(!sandbox.run_dir().join("attachments/half").exists());
}

/// J 119 (facts 10.11).
#[test]
fn a_file_name_harms_nothing() {
    let sandbox = Sandbox::new();
    for (name, file, stored_as) in [
        ("a", "../../etc/x.txt", "x.txt"),
        ("b", "C:\\tmp\\y.txt", "y.txt"),
        ("c", "meta.json", "_meta.json"),
        ("d", "META.JSON", "_META.JSON"),
    ] {
        let operand = format!("{name}=-");
        feed(&sandbox, &["run-attachment", "add", &operand, "--filename", file], "{\"name\":1}").ends(0).clear();
        let sidecar = stored(&sandbox, &format!("attachments/{name}/meta.json"));
        assert_eq!(sidecar["original_filename"], stored_as);
        assert_eq!(sidecar["size"], 10, "{name}: the sidecar is the sidecar");
        assert!(sandbox.run_dir().join(format!("attachments/{name}/{stored_as}")).exists());
        assert_eq!(go(&sandbox, &["run-attachment", "open", name]).ends(0), "{\"name\":1}");
    }
    assert_eq!(stored(&sandbox, "attachments/c/meta.json")["uploaded_as"], "meta.json");
    let listed = go(&sandbox, &["run-attachment", "list"]).ends(0);
    assert!(listed.contains("\tmeta.json\n"), "{listed}");
    for bad in ["..", "a/..", "a..b", ".", "a\u{1}"] {
        feed(&sandbox, &["run-attachment", "add", "x=-", "--filename", bad], "x").says(2, "file name");
    }
    for bad in ["..", ".hidden", "a/b", "NUL"] {
        feed(&sandbox, &["run-attachment", "add", &format!("{bad}=-")], "x").ends(2).clear();
    }
    assert_eq!(names(&sandbox), ["a", "b", "c", "d"]);
    // What an older program lost by such a name is said, and not given out as content.
    sandbox.put("attachments/a/meta.json", r#"{"name":"a","original_filename":"meta.json"}"#);
    go(&sandbox, &["run-attachment", "open", "a"]).says(4, "written over its bytes");
    sandbox.put("attachments/a/meta.json", r#"{"name":"a","original_filename":".."}"#);
    go(&sandbox, &["run-attachment", "open", "a"]).ends(2).clear();
}

/// J 121.
#[test]
fn limits_are_met_before_anything_is_put_in_place() {
    let sandbox = with_status("running");
    let limited =
        |more: &[&str], bytes: &[u8]| feed(&sandbox, &[&["run-attachment", "add", "n=-"], more].concat(), bytes);
    limited(&["--max-bytes", "3"], b"abcd").says(7, "more than 3 bytes");
    limited(&[], b"").says(2, "is empty");
    limited(&["--allow", "image/*"], b"text").says(5, "text/plain; charset=utf-8, which is not taken");
    limited(&[], b"<html><script>x</script>").says(5, "text/html");
    limited(&[], b"<svg onload=alert(1)>").says(5, "image/svg+xml");
    limited(&["--max-files", "0"], b"x").says(7, "0 are the limit");
    assert_eq!(paths(&sandbox), ["run.json"], "nothing was put in place");
    limited(&["--max-bytes", "3"], b"abc").ends(0).clear();
    let again = limited(&["--max-bytes", "3", "--max-total", "3", "--max-files", "1"], b"abc").ends(0);
    assert!(again.contains("\"new\":false"), "{again}");
    limited(&[], b"abd").says(6, "another attachment 'n'");
    feed(&sandbox, &["run-attachment", "add", "m=-", "--max-bytes", "3", "--max-total", "3"], b"x")
        .says(7, "4 bytes, and 3 are the limit");
    feed(&sandbox, &["run-attachment", "add", "m=-", "--max-files", "1"], b"x")
        .says(7, "2 attachments, and 1 are the limit");
    assert_eq!(names(&sandbox), ["n"]);
    go(&sandbox, &["run-attachment", "add", "-"]).says(2, "has no name");
    go(&sandbox, &["run-attachment", "add", "none.txt"]).says(2, "cannot open 'none.txt'");
}

/// J 120, 121: files that come together are added together.
#[test]
fn a_failure_in_the_middle_takes_back_what_was_there_before() {
    let sandbox = with_status("running");
    for (name, bytes) in [("one.txt", "1"), ("two.txt", "2"), ("page.txt", "<html> ")] {
        put(&sandbox.path().join(name), bytes);
    }
    go(&sandbox, &["run-attachment", "add", "one.txt", "page.txt", "two.txt"]).says(5, "text/html");
    assert_eq!(paths(&sandbox), ["run.json"]);
    go(&sandbox, &["run-attachment", "add", "one.txt", "one.txt=two.txt"]).says(2, "given to two files");
    // A file stands where the directory of the second one is to be.
    std::fs::DirBuilder::new().create(sandbox.run_dir().join("attachments")).unwrap();
    sandbox.put("attachments/two.txt", "in the way");
    go(&sandbox, &["run-attachment", "add", "one.txt", "two.txt"]).ends(8).clear();
    assert_eq!(paths(&sandbox), ["attachments", "attachments/two.txt", "run.json"]);
    assert!(mirror(&sandbox).is_empty());
    std::fs::DirBuilder::new().create(sandbox.run_dir().join("attachments/dir")).unwrap();
    rustix::fs::unlink(sandbox.run_dir().join("attachments/two.txt")).unwrap();
    go(&sandbox, &["run-attachment", "add", "one.txt", "two.txt"]).ends(0).clear();
    assert_eq!(names(&sandbox), ["one.txt", "two.txt"]);
}

/// J 118: bytes that changed are noticed.
#[test]
fn bytes_that_are_not_those_of_the_sidecar_are_not_given_out() {
    let sandbox = Sandbox::new();
    add(&sandbox, "small", "abc");
    let large = "x".repeat(2 << 20);
    add(&sandbox, "large", &large);
    assert!(go(&sandbox, &["run-attachment", "open", "large"]).ends(0) == large);
    sandbox.put("attachments/small/small", "abd");
    assert_eq!(
        go(&sandbox, &["run-attachment", "open", "small"]).says(4, "not those that its sidecar describes"),
        ""
    );
    sandbox.put("attachments/large/large", format!("y{}", &large[1..]));
    go(&sandbox, &["run-attachment", "open", "large"]).says(4, "not those that its sidecar describes");
    let out = sandbox.path().join("out");
    go(&sandbox, &["run-attachment", "open", "large", "-o", out.to_str().unwrap()]).ends(4).clear();
    assert!(!out.exists());
    assert_eq!(std::fs::read_dir(sandbox.path()).unwrap().count(), 1, "nothing is left beside it");
}

/// J 122: links.
#[test]
fn a_link_is_good_for_its_time() {
    let sandbox = Sandbox::new();
    let verify = |name: &str, exp: &str, sig: &str| {
        go(&sandbox, &["run-attachment", "verify", name, "--exp", exp, "--sig", sig]).code
    };
    add(&sandbox, "a b", "abc");
    assert_eq!(verify("a b", "9999999999", "00"), 1, "no key, no link");
    go(&sandbox, &["run-attachment", "presign", "none"]).ends(2).clear();
    go(&sandbox, &["run-attachment", "presign", "a b", "--expires", "25h"]).says(2, "24 h at most");
    let key = sandbox.path().join("store/.attachment-signing-key");
    assert!(!key.exists());
    let link = json(&sandbox, &["run-attachment", "presign", "a b"]);
    let (exp, sig) = (link["exp"].to_string(), link["sig"].as_str().unwrap());
    assert_eq!(link["url"], format!("/api/runs/r/attachments/a%20b?exp={exp}&sig={sig}"));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let lifetime = link["exp"].as_u64().unwrap() - now;
    assert!((590..=600).contains(&lifetime), "{lifetime}");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read(&key).unwrap().len(), 32);
    assert_eq!(verify("a b", &exp, sig), 0);
    assert_eq!(verify("a", &exp, sig), 1);
    assert_eq!(verify("a b", &format!("{exp}0"), sig), 1);
    assert_eq!(verify("a b", &exp, &sig.replace(&sig[..1], "g")), 1);
    // Another program signs with the same key.
    let hex = std::fs::read(&key).unwrap().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let script =
        format!("printf 'r\\na b\\n1' | openssl dgst -sha256 -mac HMAC -macopt hexkey:{hex} | sed 's/.*= *//'");
    if let Ok(signed) = std::process::Command::new("sh").args(["-c", &script]).output()
        && signed.stdout.len() == 65
    {
        let old = String::from_utf8(signed.stdout).unwrap();
        assert_eq!(verify("a b", "1", old.trim()), 1, "right, and long over");
    }
    put(&key, "short");
    go(&sandbox, &["run-attachment", "presign", "a b"]).says(4, "32 bytes, not 5");
}

/// J 124: without entropy nothing is signed.
#[test]
fn no_entropy_no_key() {
    let sandbox = Sandbox::new();
    add(&sandbox, "a", "abc");
    let mut command = sandbox.program(&["run-attachment", "presign", "a"]);
    command.env("WT_TEST_FAULT", "1:EIO");
    run(command).says(5, "no random bytes");
    assert!(!sandbox.path().join("store/.attachment-signing-key").exists());
}
