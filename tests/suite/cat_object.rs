//! `wt-cat-object`: reading the pool, never unverified.

use crate::sandbox::Sandbox;
use crate::sandbox::stored::oid;

fn with(contents: &[&[u8]]) -> Sandbox {
    let sandbox = Sandbox::new();
    for content in contents {
        sandbox.call().stdin(content).run(&["wt-hash-object", "-w", "--stdin"]).ok();
    }
    sandbox
}

#[test]
fn bytes_sizes_and_presence() {
    let sandbox = with(&[b"hello\n", b"\0\xff"]);
    let (a, b, absent) = (oid("hello\n"), oid(b"\0\xff"), oid("not there"));
    assert_eq!(sandbox.run(&["wt-cat-object", &a, &b]).stdout, b"hello\n\0\xff");
    assert_eq!(sandbox.run(&["wt-cat-object", "-s", &a, &b]).quietly_ok(), "6\n2");
    assert_eq!(sandbox.run(&["wt-cat-object", "-e", &a, &b]).quietly_ok(), "");
    assert_eq!(sandbox.run(&["wt-cat-object", "-e", &a, &absent]).exits(1), "");
    assert!(sandbox.run(&["wt-cat-object", &absent]).fails(2).contains(&absent));
}

#[test]
fn a_batch_answers_each_line_and_goes_on_after_one_that_is_missing() {
    let sandbox = with(&[b"hello\n", b""]);
    let (a, empty, absent) = (oid("hello\n"), oid(""), oid("not there"));
    let ran = sandbox.call().stdin(format!("{a}\n{absent}\n{empty}\n")).run(&["wt-cat-object", "--batch"]);
    assert_eq!(ran.exits(1), format!("{a} 6\nhello\n\n{absent} missing\n{empty} 0"));
    let ran = sandbox.call().stdin(format!("{a}\0{empty}\0")).run(&["wt-cat-object", "-s", "-z", "--batch"]);
    assert_eq!(ran.quietly_ok(), format!("{a} 6\n{empty} 0"));
}

#[test]
fn a_batch_answers_before_the_next_question() {
    let sandbox = with(&[b"hello\n"]);
    let script = format!("mkfifo $X/ask $X/tell; wt-cat-object --batch <$X/ask >$X/tell & exec 3>$X/ask 4<$X/tell
        for i in 1 2 3; do echo {} >&3; read -r answer <&4; read -r content <&4; read -r blank <&4; echo \"$content\"; done
        exec 3>&-; wait $!", oid("hello\n"));
    assert_eq!(sandbox.sh(&script).ok(), "hello\nhello\nhello");
}

#[test]
fn what_is_not_an_object_id_is_refused_and_never_becomes_a_path() {
    let sandbox = with(&[b"x"]);
    let upper = oid("x").to_uppercase();
    let (short, long) = ("a".repeat(63), "a".repeat(65));
    for bad in ["", "a", "../../../../etc/passwd", "HEAD", &upper, &short, &long, &"z".repeat(64)] {
        sandbox.run(&["wt-cat-object", "--", bad]).fails(2);
        sandbox.call().stdin(format!("{bad}\n")).run(&["wt-cat-object", "--batch"]).fails(2);
    }
}

#[test]
fn a_damaged_object_is_named_before_its_first_byte() {
    let sandbox = with(&[b"hello\n"]);
    let path = sandbox.stored().object_of("hello\n");
    for damage in [&b""[..], b"hell\n", b"HELLO\n", b"\0\0\0\0\0\0"] {
        std::fs::write(&path, damage).unwrap();
        let ran = sandbox.run(&["wt-cat-object", &oid("hello\n")]);
        assert_eq!(ran.out(), "", "nothing of it is written");
        assert!(ran.fails(4).contains("wt-fsck"));
    }
}

#[test]
fn a_large_damaged_object_ends_in_failure() {
    let content = vec![5_u8; 3 << 20];
    let sandbox = with(&[&content]);
    let path = sandbox.stored().object_of(&content);
    let mut damaged = content.clone();
    damaged[2 << 20] ^= 1;
    std::fs::write(&path, &damaged).unwrap();
    sandbox.run(&["wt-cat-object", &oid(&content)]).fails(4);
    std::fs::write(&path, &content[..1 << 20]).unwrap();
    sandbox.run(&["wt-cat-object", &oid(&content)]).fails(4);
}

#[test]
fn a_link_a_directory_or_a_fifo_in_the_place_of_an_object_is_not_read() {
    let sandbox = with(&[b"hello\n"]);
    let path = sandbox.stored().object_of("hello\n");
    let object = path.to_str().unwrap();
    // The link leads to the right bytes: it is the link that is wrong.
    for plant in ["printf 'hello\\n' >$X/stolen; ln -s $X/stolen", "mkdir", "mkfifo"] {
        sandbox.sh(&format!("rm -rf '{object}'; {plant} '{object}'")).ok();
        let ran = sandbox.run(&["wt-cat-object", &oid("hello\n")]);
        assert_eq!(ran.out(), "");
        assert!(matches!(ran.code, 2 | 4), "{}", ran.text());
    }
}

#[test]
fn a_path_in_a_snapshot_is_its_file() {
    let sandbox = Sandbox::new();
    sandbox.file("src/a:b.c", "old\n").link("link", "src/a:b.c");
    let cat = |args: &[&str]| sandbox.run(&[&["wt-cat-object"], args].concat());
    sandbox.capture("pre:build:0");
    sandbox.file("src/a:b.c", "newer\n");
    sandbox.capture("post:build:0");
    assert_eq!(cat(&["pre:build:0:src/a:b.c"]).quietly_ok(), "old");
    assert_eq!(cat(&["HEAD:src/a:b.c"]).quietly_ok(), "newer");
    assert_eq!(cat(&["-s", "HEAD~1:src/a:b.c"]).quietly_ok(), "4");
    assert_eq!(cat(&["HEAD:link"]).stdout, b"src/a:b.c");
    assert_eq!(cat(&["-e", "HEAD:link", "HEAD:src/a:b.c"]).quietly_ok(), "");
    assert_eq!(cat(&["-e", "HEAD:link", "HEAD:none"]).exits(1), "");
    for (text, said) in [
        ("HEAD:none", "'none' is not in snapshot 'HEAD'"),
        ("pre:none:0:src/a:b.c", "no snapshot or label"),
        ("HEAD:../etc", "not a path in a snapshot"),
        ("HEAD:", "not a path in a snapshot"),
    ] {
        let said_really = cat(&[text]).fails(2);
        assert!(said_really.contains(said), "{text}: {said_really}");
    }
    let unnamed = sandbox.call().env("WT_RUN", "").run(&["wt-cat-object", "HEAD:link"]).fails(2);
    assert!(unnamed.contains("no run is named"), "{unnamed}");
}

#[test]
fn a_store_that_is_not_there_holds_nothing() {
    let sandbox = Sandbox::new();
    sandbox.run(&["wt-cat-object", "-e", &oid("")]).exits(1);
    sandbox.run(&["wt-cat-object", &oid("")]).fails(2);
    assert!(!sandbox.s().exists(), "asking makes nothing");
}
