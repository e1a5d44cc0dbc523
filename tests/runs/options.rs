//! No option is passed over in silence: one that says nothing about what is asked for is refused, or is not offered.
#![allow(clippy::disallowed_methods, reason = "a test makes its files with its own hands")]

use crate::sandbox::Sandbox;

/// An option that says nothing about what is asked for is not passed over.
#[test]
fn an_option_that_does_not_apply_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "finished", "");
    for line in [
        &["run-delete", "--older-than", "30d", "r"][..],
        &["run-delete", "--prune-tombstones", "r"],
        &["run-record", "fail", "--terminal", "--hint", "x", "--run", "r"],
        &["run-record", "fail", "--queued-attempt", "2026-01-01T00:00:00Z", "--force", "--run", "r"],
        &["run-record", "patch", "--setters", "--expect", "running"],
        &["run-record", "patch", "--setters", "--expect-revision", "1"],
        &["run-record", "patch", "--setters", "--run", "r"],
        &["run-record", "patch", "--setters", "--store", "store"],
        &["run-record", "checkpoint", "get", "--paused-node", "--raw", "--run", "r"],
        &["run-events", "fold", "costs", "--stdin", "-C", "."],
        &["run-events", "cat", "--human", "--json", "--run", "r"],
        &["run-events", "cat", "--format", "{seq}", "--json", "--run", "r"],
        &["run-events", "tail", "--format", "{seq}", "--color", "never", "--run", "r"],
        &["wt-label", "--run", "r", "--list", "--require-end"],
        &["wt-restore", "--run", "r", "HEAD", "f", "--exact"],
        &["wt-restore", "--run", "r", "HEAD", "f", "--require-end"],
        &["wt-rewind", "--run", "r", "--list-snapshots", "--iter", "2"],
        &["wt-rewind", "--run", "r", "--list-snapshots", "--keep-edited"],
        &["wt-rewind", "--run", "r", "--restore-snapshot", "HEAD", "--event-data", "{}"],
        &["wt-rewind", "--run", "r", "--restore-snapshot", "HEAD", "-z"],
        &["wt-rewind", "--run", "r", "--restore-snapshot", "HEAD", "--max-file-size", "1M"],
        &["wt-rewind", "--run", "r", "--list-snapshots", "-z"],
        &["wt-rewind", "--run", "r", "--list-snapshots", "--dry-run"],
        &["wt-rewind", "--run", "r", "--list-snapshots", "--protect", "f"],
        &["wt-rewind", "--run", "r", "--list-snapshots", "--all-or-nothing"],
        &["wt-rewind", "--run", "r", "--list-snapshots", "--max-files", "9"],
        &["wt-authorship", "--run", "r", "--from", "HEAD", "--json", "--produced"],
        &["wt-authorship", "--run", "r", "--from", "HEAD", "--json", "--overlap"],
        &["wt-authorship", "--run", "r", "--from", "HEAD", "--json", "--by-node"],
        &["wt-authorship", "--run", "r", "--from", "HEAD", "--json", "--end"],
        &["wt-authorship", "--run", "r", "--from", "HEAD", "--explain", "f", "--end"],
        &["wt-authorship", "--run", "r", "--from", "HEAD", "--explain", "f", "-z"],
        &["wt-diff", "--run", "r", "--yes-this-root", "HEAD", "HEAD~1"],
        &["wt-hash-object", "--yes-this-root", "f"],
        &["wt-label", "--run", "r", "--list", "--while-running"],
        &["wt-label", "--run", "r", "--resolve", "HEAD", "--while-running"],
        &["wt-label", "--run", "r", "l", "--while-running"],
        &["wt-du", "--growth", "--warn-bytes", "1M"],
        &["wt-du", "--growth", "--depth", "2"],
        &["wt-du", "--all-runs", "--run", "r"],
        &["run-record", "get", "--raw", "--json", "--run", "r"],
    ] {
        let done = sandbox.call(line);
        assert!(done.err.contains("cannot be used with"), "{line:?}: {}", done.err);
        done.ends(2);
    }
    for (line, said) in [
        (&["run-artifact", "write", "n", "{}", "--no-event", "--run", "r"][..], "only together with --publish"),
        (&["run-artifact", "write", "n", "{}", "--while-running", "--run", "r"], "only together with --publish"),
        (&["run-events", "cat", "--color", "always", "--run", "r"], "add --human"),
        (&["wt-du", "--by", "file", "--depth", "2"], "only together with --by dir"),
        (&["wt-fsck", "--while-running"], "only together with --rebuild-index"),
    ] {
        sandbox.call(line).says(2, said);
    }
    // WT_RUN is no option.
    sandbox.sh("WT_RUN=r wt-du --all-runs").ends(0);
    let done = sandbox.call(&["run-delete", "--older-than", "1d"]);
    assert!(done.err.contains("--prune-tombstones") && !done.err.contains("RUN"), "{}", done.err);
    done.ends(2);
    // What a dry run is told is checked as if it were none.
    sandbox.make("f", "failed", "");
    let delegate = ["run-record", "delegate", "--dry-run", "--fingerprint", "x", "--run", "f"];
    sandbox.call(&[&delegate[..], &["--inputs", "{"]].concat()).ends(2);
    sandbox.call(&[&delegate[..], &["--launch", "{\"status\":\"x\"}"]].concat()).ends(2);
    sandbox.call(&delegate).ends(0);
    assert_eq!(std::fs::read_dir(sandbox.store().join("runs")).unwrap().count(), 2);
    assert!(sandbox.dir_of("r").join("run.json").exists());
}

/// JSON is one object a line, so `-z` says something beside `--json` only where a list is read.
#[test]
fn nul_is_no_end_of_json() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "finished", "");
    for line in [
        &["wt-ls-files"][..],
        &["wt-ls-files", "--gaps"],
        &["wt-ls-manifest", "HEAD"],
        &["wt-ls-manifest", "--end", "HEAD"],
        &["wt-diff", "HEAD"],
        &["wt-authorship", "--from", "HEAD"],
        &["wt-attribute", "--node", "n"],
        &["wt-gates"],
        &["wt-rewind", "--node", "n"],
        &["wt-restore", "HEAD"],
        &["wt-label", "--list"],
        &["wt-label", "--reflog"],
        &["wt-check-ignore", "f"],
        &["run-artifact", "files"],
    ] {
        let done = sandbox.call(&[line, &["-z", "--json"]].concat());
        assert!(done.err.contains("-z") && done.err.contains("cannot be used with"), "{line:?}: {}", done.err);
        done.ends(2);
    }
    // Where nothing that is listed is separated it says nothing at all.
    for line in
        [&["wt-label", "-z", "l"][..], &["wt-label", "-z", "--resolve", "HEAD"], &["wt-cat-object", "-z", "x"]]
    {
        sandbox.call(line).says(2, "-z cannot be used with what is asked for");
    }
    std::fs::create_dir(sandbox.path().join("w")).unwrap();
    let reads = "printf 'a\\0b\\0' | wt-check-ignore -C w -z --stdin --json --verbose --non-matching; test $? -eq 1
        printf 'x\\0' | wt-cat-object -z --batch; test $? -eq 2";
    let said = sandbox.sh(&format!("set +e; {reads}"));
    assert_eq!(said.ends(0).lines().count(), 2);
}

/// A program that only finds its store by the workspace takes any; what goes into one can be told to.
#[test]
fn only_who_goes_into_a_workspace_can_be_told_that_it_is_one() {
    let sandbox = Sandbox::new();
    let bin = std::path::Path::new(crate::sandbox::BIN).parent().unwrap().to_owned();
    let porcelain = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin");
    let mut offering = Vec::new();
    for entry in std::fs::read_dir(porcelain).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = name.trim_end_matches(".rs").to_owned();
        let help = std::process::Command::new(bin.join(&name)).arg("--help").output().unwrap();
        let mut text = String::from_utf8(help.stdout).unwrap();
        let subcommands: Vec<String> = text
            .lines()
            .skip_while(|line| !line.starts_with("Commands:"))
            .skip(1)
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().map(str::to_owned))
            .filter(|word| !word.is_empty() && word != "help")
            .collect();
        for subcommand in subcommands {
            let help = std::process::Command::new(bin.join(&name)).args([&subcommand, "--help"]).output().unwrap();
            text.push_str(&String::from_utf8(help.stdout).unwrap());
        }
        if text.contains("--yes-this-root") {
            offering.push(name);
        }
    }
    offering.sort();
    let going_in =
        ["wt-check-ignore", "wt-diff", "wt-hash-object", "wt-lock", "wt-ls-files", "wt-restore", "wt-rewind"];
    assert_eq!(offering, going_in);
    let done = sandbox.call(&["run-record", "list", "--yes-this-root"]);
    assert!(done.err.contains("unexpected argument '--yes-this-root'"), "{}", done.err);
    done.ends(2);
}
