//! wt-purge: the secret is gone everywhere, and nothing else is.

use std::fs;
use std::os::unix::fs::symlink;

use crate::sandbox::{Ran, Sandbox, oid, put};

const KEY: &[u8] = b"-----BEGIN KEY";

/// Two runs whose snapshots hold a key at `conf/key`; the second also holds another file below `conf`.
fn store() -> Sandbox {
    let box_ = Sandbox::new();
    box_.write("f", b"one");
    box_.capture_with("r", Some("a"), "conf/key", KEY);
    box_.capture_with("r", Some("b"), "f", b"two");
    box_.capture_with("o", Some("x"), "conf/other", b"OTHER CONTENT");
    box_
}

fn purge<S: AsRef<std::ffi::OsStr>>(box_: &Sandbox, args: &[S]) -> Ran {
    box_.run("wt-purge", args)
}

/// Whether any file of the store holds these bytes or the hex of their hash.
fn is_anywhere(box_: &Sandbox, content: &[u8]) -> bool {
    let hex = oid(content);
    box_.image().iter().any(|(path, bytes)| {
        let holds = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
        holds(content) || holds(hex.as_bytes()) || path.to_string_lossy().contains(&hex[2..])
    })
}

fn sound(box_: &Sandbox) {
    let ran = box_.run::<&str>("wt-fsck", &[]);
    assert_eq!(ran.out, "", "{ran:?}");
}

#[test]
fn a_path_becomes_a_gap_everywhere_and_its_content_is_gone() {
    let box_ = store();
    let ran = purge(&box_, &["--yes", "conf/key"]);
    assert_eq!(ran.lines().iter().filter(|line| line.starts_with("gap ")).count(), 3, "{ran:?}");
    assert!(ran.out.contains(&format!("remove {} 14", oid(KEY))));
    let _ = ran.says("/conf/key").exits(0);
    assert!(!is_anywhere(&box_, KEY));
    sound(&box_);
    for run in ["r", "o"] {
        let gaps = box_.run("wt-ls-manifest", &["--run", run, "--gaps", "HEAD"]).ok();
        assert_eq!(gaps, "purged\tconf/key\n");
    }
    assert!(box_.object(b"one").exists() && box_.object(b"two").exists() && box_.object(b"OTHER CONTENT").exists());
    assert!(box_.workspace().join("conf/key").exists(), "the workspace is not touched");
    let _ = purge(&box_, &["--yes", "conf/key"]).exits(2);
    // It is still there and not ignored: it is captured again, as anybody must expect who was told.
    box_.capture("r", Some("c"));
    assert!(is_anywhere(&box_, KEY));
}

#[test]
fn an_id_takes_the_content_out_at_every_path_and_a_directory_means_all_below() {
    let box_ = store();
    box_.write("copy", KEY);
    box_.capture("r", Some("c"));
    let ran = purge(&box_, &["--yes", "conf/key"]).exits(3);
    assert!(ran.out.contains(&format!("keep {} ", oid(KEY))), "another path holds it: {ran:?}");
    assert!(box_.object(KEY).exists());
    let ran = purge(&box_, &["--yes", &oid(KEY)]).exits(0);
    assert_eq!(ran.lines().iter().filter(|line| line.starts_with("gap r ")).count(), 1);
    assert!(!is_anywhere(&box_, KEY));
    sound(&box_);
    let box_ = store();
    let ran = purge(&box_, &["--yes", "./conf/"]).exits(0);
    assert_eq!(ran.lines().iter().filter(|line| line.starts_with("remove ")).count(), 2);
    assert!(!is_anywhere(&box_, KEY) && !is_anywhere(&box_, b"OTHER CONTENT"));
    sound(&box_);
}

#[test]
fn links_pins_and_names_that_are_not_utf8_are_reached_too() {
    use std::os::unix::ffi::OsStrExt;
    let box_ = Sandbox::new();
    symlink("token-in-a-target", box_.workspace().join("l")).unwrap();
    put(&box_.workspace().join(std::ffi::OsStr::from_bytes(b"raw\xff")), KEY);
    box_.write(".gitignore", b"# rules\n");
    box_.capture("r", None);
    let pin = box_.history("r").join("snapshots/pin-7-0001.json");
    put(
        &pin,
        format!(r#"{{"pin_of":"7-0001","entries":[{{"path":"x","hash":"{}","mode":384,"size":1}}]}}"#, oid(KEY))
            .as_bytes(),
    );
    let _ = purge(&box_, &["--yes", &oid(KEY)]).exits(0);
    assert!(!pin.exists() && !is_anywhere(&box_, KEY));
    let _ = purge(&box_, &["--yes", "l"]).exits(0);
    assert!(!is_anywhere(&box_, b"token-in-a-target"));
    sound(&box_);
    let _ = purge(&box_, &["--yes", &oid(b"# rules\n")]).exits(5).says("ignore rules");
    assert!(box_.object(b"# rules\n").exists());
    sound(&box_);
}

#[test]
fn without_yes_nothing_happens() {
    let box_ = store();
    let before = box_.image();
    let asked = purge(&box_, &["conf/key"]).exits(5).says("--yes");
    let dry = purge(&box_, &["--dry-run", "conf/key"]).exits(0);
    assert_eq!(box_.image(), before);
    assert_eq!(asked.out, dry.out);
    assert_eq!(purge(&box_, &["--yes", "conf/key"]).ok(), dry.out);
    let _ = purge(&box_, &["--yes", "--dry-run", "f"]).exits(2);
    for bad in ["", "../x", "/etc/passwd", "a//b", "nope", &oid(b"nope")] {
        let _ = purge(&box_, &["--yes", bad]).exits(2);
    }
}

#[test]
fn one_run_alone_keeps_the_object_for_the_others() {
    let box_ = store();
    let ran = purge(&box_, &["--yes", "--run", "o", "conf/key"]).exits(3);
    assert_eq!(ran.lines().iter().filter(|line| line.starts_with("gap o ")).count(), 1);
    assert!(box_.object(KEY).exists());
    sound(&box_);
    let _ = purge(&box_, &["--yes", "--run", "none", "conf/key"]).exits(2);
}

#[test]
fn a_document_that_cannot_be_read_stops_it() {
    let box_ = store();
    put(&box_.history("o").join("snapshots/1-0001.json"), b"{");
    let before = box_.image();
    let _ = purge(&box_, &["--yes", "conf/key"]).exits(4).says("1-0001.json");
    assert_eq!(box_.image(), before);
}

#[test]
fn unknown_members_stay_and_the_stat_cache_forgets() {
    let box_ = store();
    crate::sandbox::age(&box_.workspace());
    box_.write("later", b"x");
    let id = box_.capture("r", Some("c"));
    let path = box_.manifest("r", &id);
    let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
    put(&path, text.replacen('{', r#"{"later":[1e400],"#, 1).as_bytes());
    let _ = purge(&box_, &["--yes", "conf/key"]).exits(0);
    assert!(String::from_utf8(fs::read(&path).unwrap()).unwrap().starts_with(r#"{"later":[1e400],"#));
    let index = String::from_utf8(fs::read(box_.history("r").join("index.json")).unwrap()).unwrap();
    assert!(!index.contains("conf/key"), "{index}");
}

#[test]
fn what_is_captured_again_meanwhile_is_not_removed_under_its_snapshot() {
    let box_ = store();
    let hook = format!("purge-rewritten={}", box_.capture_script("new", Some("l")));
    let ran = box_.hooked("wt-purge", &["--yes", "conf/key"], &hook).exits(3);
    let _ = ran.says("captured again");
    assert!(box_.object(KEY).exists());
    sound(&box_);
}

#[test]
fn killed_or_failing_anywhere_the_store_stays_sound_and_a_rerun_finishes() {
    let template = store();
    let key = oid(KEY);
    for fault in ["kill", "EIO"] {
        for nth in 1.. {
            let box_ = template.copy();
            let (_, fired) = box_.disturbed("wt-purge", &["--yes", &key], &format!("{nth}:{fault}"));
            let ran = box_.run::<&str>("wt-fsck", &[]);
            assert!(ran.code == 0, "{nth}:{fault}: {ran:?}");
            if !fired {
                assert!(nth > 10, "the seam sees every step");
                break;
            }
            let again = purge(&box_, &["--yes", &key]);
            assert!(again.code == 0 || !box_.object(KEY).exists(), "{again:?}");
            crate::sandbox::age(&box_.store());
            let _ = box_.run::<&str>("wt-prune", &[]).ok();
            assert!(!is_anywhere(&box_, KEY), "{nth}:{fault}");
        }
    }
}

/// The line that is told can be copied into the ignore file as it stands, whatever the name: git and we ignore the path then.
#[test]
fn the_line_for_the_ignore_file_can_be_copied_as_it_is() {
    use std::os::unix::ffi::OsStrExt;
    let names: [&[u8]; 12] = [
        b"plain",
        b"two words ",
        b"#note",
        b"!bang",
        b"a*b?c[d]e\\f",
        b"tab\there",
        b"new\nline",
        b"end\r",
        b"raw\xff\xfe",
        "turned\u{202e}txt".as_bytes(),
        "caf\u{e9}\u{200b}".as_bytes(),
        b"it's \"quoted\"",
    ];
    for name in names {
        let box_ = Sandbox::new();
        let path = box_.workspace().join(std::ffi::OsStr::from_bytes(name));
        put(&path, KEY);
        box_.write("other", b"o");
        box_.capture("r", None);
        let mut given = b"./".to_vec();
        given.extend_from_slice(name);
        let ran = purge(&box_, &["--yes".as_ref(), std::ffi::OsStr::from_bytes(&given)]).exits(0);
        let told = ran.err.lines().find_map(|line| line.split_once("if there is none: ")).unwrap().1;
        assert!(told.chars().all(|c| !c.is_control() && c != '\u{202e}' && c != '\u{200b}'), "{told:?}");
        box_.write(".gitignore", format!("{told}\n").as_bytes());
        let ours =
            box_.command("wt-check-ignore").arg(path.strip_prefix(box_.workspace()).unwrap()).output().unwrap();
        assert_eq!(ours.status.code(), Some(0), "{told:?}: {}", String::from_utf8_lossy(&ours.stderr));
        assert_eq!(box_.run("wt-check-ignore", &["other"]).code, 1, "{told:?}");
        let git = |args: &[&std::ffi::OsStr]| {
            std::process::Command::new("git")
                .current_dir(box_.workspace())
                .args(args)
                .output()
                .unwrap()
                .status
                .code()
        };
        assert_eq!(git(&["init".as_ref(), "-q".as_ref()]), Some(0));
        let judged =
            git(&["check-ignore".as_ref(), "-q".as_ref(), "--".as_ref(), std::ffi::OsStr::from_bytes(name)]);
        assert_eq!(judged, Some(0), "git: {told:?}");
        // A capture leaves it out from now on.
        box_.capture("r", Some("after"));
        assert!(!is_anywhere(&box_, KEY), "{told:?}");
    }
}
