//! Many files at once: their copies are read ahead, and they are cleared, by several threads. Each is looked at as if it
//! were alone.

use crate::sandbox::Sandbox;
use crate::sandbox::fixture::own;

/// More than are done by one thread.
const FILES: usize = 80;

/// `p` has the files with other bytes than they have now; `q` is what is there.
fn changed() -> Sandbox {
    let sandbox = Sandbox::new();
    let all = |text: &str| {
        for number in 0..FILES {
            sandbox.file(format!("d{}/f{number:02}", number % 7), format!("{text} {number}\n"));
        }
        sandbox.settle();
    };
    all("old");
    sandbox.capture("p");
    all("new");
    sandbox.capture("q");
    sandbox
}

fn is_old(sandbox: &Sandbox, number: usize) -> bool {
    std::fs::read_to_string(sandbox.path(format!("d{}/f{number:02}", number % 7))).unwrap()
        == format!("old {number}\n")
}

#[test]
fn what_has_no_whole_copy_stays_and_all_others_are_restored() {
    let sandbox = changed();
    for (number, damage) in [(3, "XXX 3\n"), (40, ""), (79, "new 79\nand more\n")] {
        let object = sandbox.stored().object_of(format!("new {number}\n"));
        std::fs::write(&object, damage).unwrap();
        own(&object);
    }
    std::fs::remove_file(sandbox.stored().object_of("new 50\n")).unwrap();
    sandbox.file("d1/f08", "never captured\n");
    let dry = sandbox.run(&["wt-restore", "-q", "-n", "p"]).exits(3);
    let said = sandbox.run(&["wt-restore", "-q", "p"]).exits(3);
    assert_eq!(dry, said);
    let kept: Vec<&str> = said.lines().filter(|line| line.starts_with("keep:")).collect();
    let expected =
        ["keep:unbanked\td1/f08", "keep:damaged\td1/f50", "keep:damaged\td2/f79", "keep:damaged\td3/f03"];
    assert_eq!(kept, [&expected[..], &["keep:damaged\td5/f40"]].concat());
    for number in 0..FILES {
        assert_eq!(is_old(&sandbox, number), ![3, 8, 40, 50, 79].contains(&number), "{number}");
    }
}

#[test]
fn what_somebody_writes_into_a_displaced_file_is_stored_before_it_goes() {
    let sandbox = changed();
    // At the second exchange the first item of the area is what the first one displaced.
    let save = "cd $W/.iterion/restore-*; if [ -e $X/once ]; then echo human >>n1; fi; ls >>$X/once";
    let ran = sandbox.call().env("WT_TEST_HOOK", format!("before-exchange*={save}")).run(&["wt-restore", "p"]);
    assert!(matches!(ran.code, 0 | 3), "{}", ran.text());
    assert!(ran.err().contains("bytes of 'd0/f00' that were nowhere else"), "{}", ran.text());
    assert_eq!(sandbox.sh("grep -rqs human $S/workspace-objects && echo kept || echo lost").ok(), "kept");
    assert!((0..FILES).all(|number| is_old(&sandbox, number)));
    assert!(!sandbox.path(".iterion").exists(), "nothing is left in the project");
    sandbox.stored().check();
}

#[test]
fn a_copy_that_goes_after_the_plan_was_made_is_made_again() {
    let sandbox = changed();
    let objects: Vec<_> = [5, 60].map(|number| sandbox.stored().object_of(format!("new {number}\n"))).into();
    let hook = format!("before-swap=rm {} {}", objects[0].display(), objects[1].display());
    let ran = sandbox.call().env("WT_TEST_HOOK", hook).run(&["wt-restore", "-q", "p"]);
    assert_eq!(ran.code, 0, "{}", ran.text());
    assert!(objects.iter().all(|object| object.exists()));
    assert!((0..FILES).all(|number| is_old(&sandbox, number)));
    sandbox.stored().check();
}
