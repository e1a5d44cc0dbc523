//! Promise 3: whatever is not captured is named, with a reason, in the manifest, in the report and on stderr.

use crate::sandbox::Sandbox;

/// Captures and returns the manifest's gaps as `reason path`, having checked that every other place says the same.
#[track_caller]
fn gaps_of(sandbox: &Sandbox, capture: &str) -> String {
    let ran = sandbox.sh(capture);
    let err = ran.err();
    let id = ran.ok();
    let manifest = sandbox.stored().manifest_json(&id);
    let gaps: Vec<String> = manifest["coverage"]["gaps"]
        .as_array()
        .unwrap_or(&Vec::new())
        .iter()
        .map(|gap| format!("{} {}", gap["reason"].as_str().unwrap(), gap["path"].as_str().unwrap()))
        .collect();
    let mut skipped = Vec::new();
    for gap in &gaps {
        let (reason, path) = gap.split_once(' ').unwrap();
        assert!(
            err.contains(&format!("warning: not captured: '{path}': {reason}\n")),
            "stderr names {path}:\n{err}"
        );
        skipped.push(path.to_owned());
    }
    assert_eq!(sandbox.stored().manifest(&id).skipped, skipped, "what the original reads");
    let listed = sandbox.run(&["wt-ls-manifest", "--gaps", &id]).ok().replace('\t', " ");
    let listed: Vec<&str> = listed.lines().map(|line| line.trim_end_matches('/')).collect();
    assert_eq!(listed, gaps, "wt-ls-manifest");
    gaps.join(", ")
}

const CAPTURE: &str = "stage_ls --max-file-size 1000 | stage_hash | wt-write-manifest -z --label l";

#[test]
fn special_files_are_named_and_never_opened() {
    let sandbox = Sandbox::new();
    sandbox.fifo("fifo").socket("socket").file("f", "1").fifo("d/fifo");
    // Opening a FIFO for reading would hang; the sandbox kills what hangs.
    assert_eq!(gaps_of(&sandbox, CAPTURE), "special d/fifo, special fifo, special socket");
}

#[test]
fn unreadable_files_and_directories_are_named() {
    let sandbox = Sandbox::new();
    sandbox.file("closed", "x").mode("closed", 0).file("locked/in", "x").mode("locked", 0);
    // Listed, but not entered: its names are known and their kind is not.
    sandbox.file("no-x/in", "x").mode("no-x", 0o444);
    let gaps = gaps_of(&sandbox, CAPTURE);
    assert_eq!(gaps, "unreadable closed, unreadable locked, unreadable no-x");
}

#[test]
fn the_cap_is_the_largest_size_that_is_captured() {
    let sandbox = Sandbox::new();
    sandbox.file("at", [1; 1000]).file("above", [1; 1001]);
    sandbox.sh("truncate -s 1T sparse").ok();
    assert_eq!(gaps_of(&sandbox, CAPTURE), "oversized above, oversized sparse");
    assert_eq!(sandbox.run(&["wt-ls-manifest", "l"]).ok(), "at");
    // Decided anew at every capture.
    sandbox.file("at", [1; 1001]).file("above", [1; 3]);
    assert_eq!(gaps_of(&sandbox, CAPTURE), "oversized at, oversized sparse");
}

#[test]
fn the_environment_sets_the_cap_where_no_option_does() {
    let sandbox = Sandbox::new();
    sandbox.file("big", vec![1; (1 << 20) + 1]);
    let gaps = |value: &str, option: &str| {
        sandbox.call().env("ITERION_WORKSPACE_MAX_FILE_MB", value).sh(&format!("wt-ls-files --gaps {option}")).ok()
    };
    assert_eq!(gaps(" 1 ", ""), "oversized\tbig");
    for value in ["2", "0", "-1", "x", "1.5", ""] {
        assert_eq!(gaps(value, ""), "", "{value:?}");
    }
    assert_eq!(gaps("1", "--max-file-size 2M"), "");
}

#[test]
fn a_file_that_grows_above_the_cap_while_it_is_read_is_oversized() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "small");
    sandbox.sh("stage_ls --max-file-size 1000 >$X/ls; head -c 1001 /dev/zero >f").ok();
    assert_eq!(gaps_of(&sandbox, "stage_hash <$X/ls | wt-write-manifest -z --label l"), "oversized f");
}

#[test]
fn a_file_that_changes_while_it_is_read_is_read_again() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "before\n");
    let script = "stage_ls | WT_TEST_HOOK='after-read=echo after >>f' stage_hash | stage_write --label l";
    let id = sandbox.sh(script).ok();
    assert_eq!(
        sandbox.stored().manifest(&id).entries.unwrap()[0].hash,
        crate::sandbox::stored::oid("before\nafter\n")
    );
    assert!(!sandbox.stored().index().entries.contains_key("f"), "what moved a moment ago is not cached");
    sandbox.stored().check();
}

#[test]
fn a_file_that_never_holds_still_is_unstable_and_not_cached() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "before\n");
    let script = "stage_ls | WT_TEST_HOOK='after-read*=echo more >>f' stage_hash | wt-write-manifest -z --label l";
    assert_eq!(gaps_of(&sandbox, script), "unstable f");
    assert!(sandbox.stored().index().entries.is_empty());
    assert!(sandbox.stored().temps().is_empty());
}

#[test]
fn a_file_that_another_process_keeps_writing_is_whole_or_unstable() {
    let sandbox = Sandbox::new();
    sandbox.file("big", vec![0; 600_000]);
    let script = "touch $X/go; (n=0; while [ -e $X/go ]; do n=$((n+1)); dd if=/dev/zero of=big bs=1000 count=1 seek=$((n % 600)) conv=notrunc 2>/dev/null; done) &
        for i in 1 2 3 4 5; do stage_ls | stage_hash | stage_write --label l$i >/dev/null; done; rm $X/go; wait";
    sandbox.sh(script).ok();
    sandbox.stored().check();
}

#[test]
fn what_becomes_something_else_between_walk_and_read_is_what_it_is_now() {
    let sandbox = Sandbox::new();
    for (swap, gaps) in [
        ("mkfifo f", "special f"),
        ("mkdir f; echo new >f/in", "unstable f"),
        ("ln -s elsewhere f", ""),
        ("true", ""),
    ] {
        sandbox.sh("rm -rf f; echo 1 >f; stage_ls >$X/ls; rm f").ok();
        sandbox.sh(swap).ok();
        assert_eq!(
            gaps_of(&sandbox, "stage_hash <$X/ls | wt-write-manifest -z --no-dedupe --label l"),
            gaps,
            "{swap}"
        );
        if swap == "true" {
            assert_eq!(sandbox.run(&["wt-ls-manifest", "l"]).ok(), "", "it vanished");
        }
    }
}

#[test]
fn a_directory_that_becomes_a_link_is_not_followed() {
    let sandbox = Sandbox::new();
    sandbox.file("d/f", "inside\n");
    sandbox.sh("mkdir $X/out; echo SECRET >$X/out/f; stage_ls >$X/ls; rm -r d; ln -s $X/out d").ok();
    sandbox.sh("stage_hash <$X/ls | stage_write --label l").ok();
    sandbox.sh("! grep -r SECRET $S").ok();
    // The same for a file that becomes a link to a secret.
    sandbox
        .sh("rm d; echo ok >f; stage_ls >$X/ls; rm f; ln -s $X/out/f f; stage_hash <$X/ls | stage_write --label l")
        .ok();
    sandbox.sh("! grep -r SECRET $S").ok();
}

#[test]
fn names_that_are_not_text_are_gaps_by_their_bytes() {
    let sandbox = Sandbox::new();
    sandbox.fifo(b"\xff").fifo("new\nline");
    let ran = sandbox.sh(CAPTURE);
    assert!(
        ran.err().contains(r"'\xff': special") && ran.err().contains(r"'new\x0aline': special"),
        "{}",
        ran.text()
    );
    let id = ran.ok();
    let manifest = sandbox.stored().manifest_json(&id);
    assert_eq!(manifest["coverage"]["gaps"][1]["path_b64"], "/w==");
    assert_eq!(sandbox.stored().manifest(&id).skipped, ["new\nline"]);
    assert_eq!(
        sandbox.run(&["wt-ls-manifest", "--gaps", "-z", "l"]).stdout,
        b"special\tnew\nline\0special\t\xff\0"
    );
}

#[test]
fn a_flood_of_gaps_does_not_bury_the_rest() {
    let sandbox = Sandbox::new();
    sandbox.sh("i=0; while [ $i -lt 50 ]; do mkfifo f$i; i=$((i+1)); done").ok();
    let ran = sandbox.sh(CAPTURE);
    assert_eq!(ran.err().lines().count(), 21, "twenty of them, and that there are more");
    let id = ran.ok();
    assert_eq!(sandbox.stored().manifest(&id).skipped.len(), 50, "the manifest has all of them");
    assert_eq!(sandbox.sh(&CAPTURE.replace("--label", "-v --label")).err().lines().count(), 50);
    assert_eq!(sandbox.sh(&CAPTURE.replace("--label", "-q --label")).err(), "");
}
