//! Standard output that is full, closed or no longer read, and messages of several programs at once.

use crate::sandbox::Sandbox;

fn with_a_snapshot() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").file("g", "2");
    sandbox.capture("l");
    sandbox
}

/// Every program that only reads, asked for something that it has to say.
const READERS: [&str; 6] = [
    "wt-ls-files",
    "wt-ls-files --records",
    "wt-ls-files --json",
    "wt-ls-manifest l",
    "wt-ls-manifest --records l",
    "wt-cat-object $(printf 1 | sha256sum | cut -c 1-64)",
];

#[test]
fn a_full_disk_behind_standard_output_is_an_error() {
    let sandbox = with_a_snapshot();
    for reader in READERS {
        assert!(sandbox.sh(&format!("{reader} >/dev/full")).fails(8).contains("standard output"), "{reader}");
    }
}

#[test]
fn a_closed_standard_output_is_an_error() {
    let sandbox = with_a_snapshot();
    for reader in READERS {
        assert!(sandbox.sh(&format!("{reader} >&-")).fails(8).contains("standard output"), "{reader}");
    }
    // Where nothing is to be said, nothing is missing.
    sandbox.sh("wt-cat-object -e $(printf 1 | sha256sum | cut -c 1-64) >&-").ok();
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error_message() {
    let sandbox = with_a_snapshot();
    for reader in READERS {
        // Descriptor 4 leads to a pipe that nobody can read any more.
        let script =
            format!("mkfifo $X/p; exec 3<>$X/p 4>$X/p 3<&-; rm $X/p; code=0; {reader} >&4 || code=$?; echo $code");
        assert_eq!(sandbox.sh(&script).quietly_ok(), "141", "{reader}");
    }
}

#[test]
fn a_long_list_stops_when_its_reader_goes() {
    let sandbox = Sandbox::new();
    sandbox.sh("i=0; while [ $i -lt 40 ]; do mkdir -p a/b$i; i=$((i+1)); done; for d in a/*; do : >$d/$(printf %0200d 7); done").ok();
    assert_eq!(sandbox.sh("wt-ls-files | head -n 1 | wc -l").ok(), "1");
}

#[test]
fn a_capture_is_finished_although_nobody_hears_of_it() {
    for (sink, code) in [(">/dev/full", 8), (">&-", 8), (">&4", 141)] {
        let sandbox = Sandbox::new();
        sandbox.file("f", "1");
        let script = format!(
            "mkfifo $X/p; exec 3<>$X/p 4>$X/p 3<&-; stage_ls 4>&- | stage_hash 4>&- | stage_write --label l {sink}"
        );
        let ran = sandbox.sh(&script);
        assert_eq!(ran.code, code, "{sink}: {}", ran.text());
        assert_eq!(sandbox.stored().index().labels.len(), 1, "{sink}: the snapshot is there");
        sandbox.stored().check();
    }
}

#[test]
fn an_error_is_json_where_output_is() {
    let sandbox = with_a_snapshot();
    for (command, code) in [
        ("wt-ls-files --json -C /nonexistent", "not_found"),
        ("wt-ls-files --json -C /", "refused"),
        ("wt-ls-files --json --max-files 1", "limit"),
        ("wt-ls-manifest --json nothing", "not_found"),
        ("wt-ls-manifest --json", "usage"),
        ("wt-write-manifest --json </dev/null", "damaged"),
    ] {
        let ran = sandbox.sh(command);
        let last = ran.out().lines().last().map(str::to_owned).unwrap_or_default();
        let json: serde_json::Value =
            serde_json::from_str(&last).unwrap_or_else(|_| panic!("{command}: {}", ran.text()));
        assert_eq!(json["error"]["code"], code, "{command}");
        let message = json["error"]["message"].as_str().unwrap();
        assert!(
            ran.err().contains(&message.replace(sandbox.t().to_str().unwrap(), "<T>")),
            "stderr says the same: {}",
            ran.text()
        );
    }
}

#[test]
fn a_name_cannot_drive_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.fifo("\x1b[2J\x07evil");
    let ran = sandbox.sh("stage_ls | stage_hash | wt-write-manifest -z --label l");
    assert!(!ran.stderr.contains(&0x1b) && ran.err().contains(r"\x1b[2J\x07evil"), "{}", ran.text());
    sandbox.call().run(&["wt-ls-manifest", "\x1b[2J"]).fails(2);
    let ran = sandbox.run(&["wt-ls-manifest", "\x1b[2J"]);
    assert!(!ran.stderr.contains(&0x1b), "{}", ran.text());
    let ran = sandbox.run(&["wt-ls-manifest", "--\x1b[2J"]);
    assert!(!ran.stderr.contains(&0x1b), "{}", ran.text());
}

#[test]
fn messages_of_several_programs_do_not_mix() {
    let sandbox = Sandbox::new();
    let script = "for i in 1 2 3 4 5 6 7 8; do wt-ls-manifest nothing-$i & done 2>&1 | cat; wait";
    let said = sandbox.sh(script).ok();
    let whole = said
        .lines()
        .filter(|line| line.starts_with("wt-ls-manifest: error: ") && line.matches("error:").count() == 1);
    assert_eq!((whole.count(), said.lines().count()), (8, 8), "{said}");
}

#[test]
fn a_full_standard_error_does_not_stop_the_work() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").fifo("p");
    sandbox.sh("stage_ls | stage_hash | wt-write-manifest -z --label l 2>/dev/full").ok();
    sandbox.sh("stage_ls | stage_hash | wt-write-manifest -z --label l 2>&-").ok();
}

#[test]
fn help_and_version_go_to_standard_output() {
    let sandbox = Sandbox::new();
    for program in ["wt-ls-files", "wt-hash-object", "wt-cat-object", "wt-write-manifest", "wt-ls-manifest"] {
        assert!(sandbox.run(&[program, "--help"]).quietly_ok().contains("Usage:"));
        assert!(sandbox.run(&[program, "--version"]).quietly_ok().starts_with(program));
    }
}
