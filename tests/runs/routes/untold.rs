//! What whoever is refused, or is not told of his claim, leaves and learns.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use super::{FILE, claim, claimed, finish, with_outcomes};
use crate::sandbox::run;
use crate::shell::{go, stored};

const LINE: [&str; 4] = ["run-route", "claim", "--owner", "o o"];
const LET_GO: &str = "'run-route finish --run r --seq 1 --owner 'o o' --attempt 1 --failed ERROR' lets it go";

/// A claim that failed stands or does not, and the message tells which: an owner who is not told keeps others waiting.
#[test]
fn a_claim_that_failed_and_stands_says_so() {
    for errno in ["EIO", "ENOSPC"] {
        let mut stood = 0;
        for nth in 1.. {
            let sandbox = with_outcomes(1);
            let mut command = sandbox.program(&LINE);
            command.env("WT_FSYNC", "on").env("WT_TEST_FAULT", format!("{nth}:{errno}"));
            let done = run(command);
            if done.code == 0 {
                break;
            }
            assert_eq!(done.code, 8, "{errno} {nth}: {}", done.err);
            let stands = sandbox.run_dir().join(FILE).exists();
            stood += u32::from(stands);
            assert_eq!(done.err.contains("the claim may stand, as attempt 1"), stands, "{nth}: {}", done.err);
            assert_eq!(done.err.contains(LET_GO), stands, "{nth}: {}", done.err);
            assert!(!stands || !done.err.contains("run the command again"), "{nth}: {}", done.err);
        }
        assert!(stood > 0, "{errno}");
    }
}

/// Nor was he told where his output is lost.
#[test]
fn a_claim_whose_output_is_lost_says_that_it_stands() {
    let full = || Stdio::from(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    // Its reader is gone when this is given away.
    let closed = || Stdio::from(std::io::pipe().unwrap().1);
    for (sink, code) in [(full(), 8), (closed(), 141)] {
        let sandbox = with_outcomes(1);
        let mut command = sandbox.program(&LINE);
        command.stdout(sink);
        let done = run(command);
        assert!(done.err.contains("cannot write to standard output") && done.err.contains(LET_GO), "{}", done.err);
        done.ends(code).clear();
        assert_eq!(stored(&sandbox, FILE)["decisions"]["1"]["state"], "claimed");
    }
}

/// The directory is made private by a write, and by nothing else.
#[test]
fn who_is_refused_leaves_the_mode_of_the_directory() {
    let sandbox = with_outcomes(1);
    let set = |mode: u32| {
        std::fs::set_permissions(sandbox.run_dir(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let mode = || std::fs::metadata(sandbox.run_dir()).unwrap().permissions().mode() & 0o777;
    set(0o755);
    claimed(&sandbox, "a", &[]);
    assert_eq!(mode(), 0o700);
    set(0o500);
    claim(&sandbox, "b", &[]).ends(6).clear();
    finish(&sandbox, "b", "1", &["--succeeded"]).ends(6).clear();
    claim(&sandbox, "b", &["--seq", "2"]).ends(2).clear();
    assert_eq!(mode(), 0o500);
    set(0o755);
    finish(&sandbox, "a", "1", &["--succeeded"]).ends(0).clear();
    assert_eq!(mode(), 0o700);
}

/// A link to nothing is somebody's, and no file.
#[test]
fn a_link_to_nothing_is_left_alone() {
    let sandbox = with_outcomes(1);
    let watermark = sandbox.path().join("store/route_watermark.json");
    for path in [&watermark, &sandbox.run_dir().join(FILE)] {
        std::os::unix::fs::symlink("nowhere", path).unwrap();
    }
    let refused = "is no file that can be read: a symbolic link to nothing; remove the link";
    for line in [&["run-route", "watermark", "--set", "now"][..], &["run-route", "watermark"]] {
        go(&sandbox, line).says(5, "store/route_watermark.json");
        go(&sandbox, line).says(5, refused);
    }
    claim(&sandbox, "a", &[]).says(5, refused);
    assert!(watermark.is_symlink() && sandbox.run_dir().join(FILE).is_symlink());
}
