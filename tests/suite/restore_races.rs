//! Somebody saves at the wrong moment: what they saved is not lost, and the report does not lie.
//!
//! Each race is forced by a hook that runs the other's command at a named moment of the restore.

use crate::sandbox::Sandbox;

/// Moments of a restore at which another process may act.
const MOMENTS: [&str; 5] = ["staged", "before-swap", "before-exchange", "before-exchange-back", "before-remove"];

/// What the other does, with `$P` for the path.
const SAVES: [(&str, bool); 9] = [
    ("echo human >>$P", true),
    ("echo human >$P", true),
    ("echo human >tmp-save; mv -T tmp-save $P", true),
    ("rm -rf $P; mkdir $P; echo human >$P/in", true),
    ("rm -rf $P; ln -s human $P", false),
    ("rm -rf $P", false),
    ("chmod 640 $P", false),
    ("mkdir -p $P; echo human >$P/late", true),
    ("mv $P moved; echo human >>moved", true),
];

fn race(moment: &str, again: &str, path: &str, save: &str, writes: bool) {
    let sandbox = Sandbox::new();
    sandbox
        .file("changed", "old\n")
        .file("gone", "old\n")
        .file("turned", "old\n")
        .file("lost/deep/a", "old\n")
        .file("lost/b", "old\n")
        .file("dir/a", "old\n")
        .link("link", "old");
    sandbox.capture("p");
    let edit = "echo new >changed; rm gone; rm -r lost; rm turned; mkdir turned; echo new >turned/x; rm -r dir; echo new >dir; ln -sfn new link; echo new >added; snap capture q";
    sandbox.sh(edit).ok();
    let hook = format!(
        "{moment}{again}=cd $W; P={path}; echo ran >>$X/ran; {{ {save}; }} 2>/dev/null && echo saved >>$X/saved"
    );
    let ran = sandbox.call().env("WT_TEST_HOOK", &hook).run(&["wt-restore", "p"]);
    let what = format!("{save} on {path} at {moment}{again}:\n{}", ran.text());
    assert!(matches!(ran.code, 0 | 3 | 8), "{what}");
    if !sandbox.x("ran").exists() {
        return;
    }
    if writes && sandbox.x("saved").exists() {
        let found = sandbox.sh("grep -rqs human $W $S/workspace-objects && echo kept || echo lost").ok();
        assert_eq!(found, "kept", "{what}\nthe other's bytes are lost");
    }
    // Nothing is left behind that the next restore does not clear.
    let again = sandbox.run(&["wt-restore", "p"]);
    assert!(matches!(again.code, 0 | 3), "{what}\nthen\n{}", again.text());
    sandbox.stored().check();
    let left = sandbox.sh("ls -A $W | grep -e '^.iterion-tmp' || true; ls -A $W/.iterion 2>/dev/null || true").ok();
    assert_eq!(left, "", "{what}");
}

#[test]
fn whoever_saves_during_a_restore_loses_nothing() {
    for moment in MOMENTS {
        for path in ["changed", "gone", "turned", "dir", "link", "added", "lost"] {
            for (save, writes) in SAVES {
                race(moment, "", path, save, writes);
            }
        }
    }
}

#[test]
fn whoever_saves_again_and_again_loses_nothing() {
    for moment in ["before-exchange", "before-exchange-back", "before-remove"] {
        for path in ["changed", "turned", "added"] {
            race(moment, "*", path, "echo human >>$P", true);
            race(moment, "*", path, "echo human >tmp-save; mv -T tmp-save $P", true);
        }
    }
}

#[test]
fn a_save_just_before_the_exchange_stays_and_is_reported() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "old\n").file("g", "old\n");
    sandbox.capture("p");
    sandbox.sh("echo new >f; echo new >g; snap capture q").ok();
    let hook = "before-exchange=echo human >$W/tmp; mv $W/tmp $W/f";
    let ran = sandbox.call().env("WT_TEST_HOOK", hook).run(&["wt-restore", "p"]);
    assert_eq!(ran.exits(3), "keep:changed\tf\nwrite\tg");
    assert_eq!(sandbox.sh("cat f g").ok(), "human\nold");
}

#[test]
fn a_save_just_before_a_removal_stays_and_is_reported() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "old\n");
    sandbox.capture("p");
    sandbox.sh("echo new >n; snap capture q").ok();
    let hook = "before-remove=echo human >$W/tmp; mv $W/tmp $W/n";
    let ran = sandbox.call().env("WT_TEST_HOOK", hook).run(&["wt-restore", "p"]);
    assert_eq!(ran.exits(3), "keep:changed\tn");
    assert_eq!(sandbox.sh("cat n").ok(), "human");
}

#[test]
fn a_directory_that_becomes_a_link_out_is_never_followed() {
    for moment in MOMENTS {
        let sandbox = Sandbox::new();
        sandbox.file("d/f", "old\n").file("d/gone", "old\n");
        sandbox.capture("p");
        sandbox
            .sh("echo new >d/f; rm d/gone; echo new >d/added; snap capture q; mkdir $X/out; cp -a d/. $X/out")
            .ok();
        let before = crate::sandbox::Tree::with_stat(&sandbox.x("out"));
        let hook = format!("{moment}=mv $W/d $X/away; ln -s $X/out $W/d");
        let ran = sandbox.call().env("WT_TEST_HOOK", hook).run(&["wt-restore", "p"]);
        assert!(matches!(ran.code, 0 | 3 | 8), "{moment}: {}", ran.text());
        before.assert_same(&crate::sandbox::Tree::with_stat(&sandbox.x("out")), moment);
    }
}

/// Two directories are missing; while the restore stages them somebody makes one of them, with a file of theirs in it.
fn made_meanwhile(options: &[&str]) -> (Sandbox, crate::sandbox::Ran) {
    let sandbox = Sandbox::new();
    sandbox
        .file("lost/a", "old\n")
        .file("lost/deep/b", "old\n")
        .file("lost/deep/c", "old\n")
        .file("too/d", "old\n");
    sandbox.dir("lost/empty").capture("p");
    sandbox.sh("rm -r lost too; snap capture q; echo r >kept").ok();
    let hook = "before-swap=mkdir -p $W/lost/deep; echo human >$W/lost/deep/b; echo mine >$W/lost/mine";
    let words = [&["wt-restore", "p"], options].concat();
    let ran = sandbox.call().env("WT_TEST_HOOK", hook).run(&words);
    (sandbox, ran)
}

#[test]
fn a_directory_that_somebody_makes_meanwhile_is_theirs_and_the_rest_comes_into_it() {
    let (sandbox, ran) = made_meanwhile(&["lost", "too"]);
    let said = "write\tlost/a\nkeep:changed\tlost/deep/b\nwrite\tlost/deep/c\nwrite\tlost/empty/\nwrite\ttoo/d";
    assert_eq!(ran.exits(3), said);
    assert_eq!(
        sandbox.sh("cat lost/a lost/deep/b lost/deep/c lost/mine too/d; ls -d lost/empty").ok(),
        "old\nhuman\nold\nmine\nold\nlost/empty"
    );
    assert_eq!(sandbox.sh("ls -A .iterion 2>/dev/null || true").ok(), "");
}

#[test]
fn all_or_nothing_takes_a_directory_back_that_came_whole_and_one_that_did_not() {
    let (sandbox, ran) = made_meanwhile(&["--all-or-nothing", "lost", "too"]);
    ran.fails(5);
    assert_eq!(
        sandbox.sh("find lost too -type f 2>/dev/null | sort; cat lost/deep/b lost/mine").ok(),
        "lost/deep/b\nlost/mine\nhuman\nmine"
    );
    assert_eq!(sandbox.sh("ls -A .iterion 2>/dev/null || true").ok(), "");
}

#[test]
fn what_only_a_forgotten_snapshot_named_is_stored_before_it_goes() {
    for forget in [true, false] {
        let sandbox = Sandbox::new();
        sandbox.file("f", "first\n").capture("p");
        sandbox.file("f", "only here\n").capture("q");
        sandbox.file("f", "last\n").capture("r");
        sandbox.file("f", "only here\n");
        // The plan has found the name of what it displaces, and then the snapshot goes that had it.
        let act = if forget { "wt-forget -q q >&2 && echo gone >$X/gone" } else { "echo gone >$X/gone" };
        let ran = sandbox.call().env("WT_TEST_HOOK", format!("before-swap={act}")).run(&["wt-restore", "p"]);
        assert!(sandbox.x("gone").exists(), "{}", ran.text());
        assert_eq!(ran.code, 0, "{}", ran.text());
        assert_eq!(ran.err().contains("that were nowhere else"), forget, "{}", ran.text());
        sandbox.sh("WT_FSYNC=off wt-prune -q --grace 0s").ok();
        let kept = sandbox.sh("grep -rqs 'only here' $S/workspace-objects && echo kept || echo lost").ok();
        assert_eq!(kept, "kept", "{}", ran.text());
    }
}
