//! `wt-ls-files`: what is versioned, in every form.

use crate::sandbox::fixture::odd_names;
use crate::sandbox::{Sandbox, Tree};

fn items(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut items: Vec<Vec<u8>> = bytes.split(|b| *b == 0).map(<[u8]>::to_vec).collect();
    assert_eq!(items.pop(), Some(Vec::new()), "every item ends in NUL");
    items
}

#[test]
fn files_and_links_are_listed_by_bytes_and_nothing_else() {
    let sandbox = Sandbox::new();
    sandbox.file("b", "").file("a/z", "").file("a.txt", "").link("l", "nowhere").dir("empty").fifo("p");
    assert_eq!(sandbox.run(&["wt-ls-files"]).quietly_ok(), "a.txt\na/z\nb\nl");
    assert!(!sandbox.s().exists() && !sandbox.t().join("home/.iterion").exists(), "it only reads");
}

#[test]
fn names_of_all_kinds_survive_both_forms() {
    let sandbox = Sandbox::new();
    let mut names = odd_names();
    for name in &names {
        sandbox.file(name, "");
    }
    names.sort();
    assert_eq!(items(&sandbox.run(&["wt-ls-files", "-z"]).stdout), names);
    let lines = sandbox.run(&["wt-ls-files"]).quietly_ok();
    assert_eq!(lines.lines().count(), names.len(), "one line a name");
    // git reads the same quoting: it judges.
    let git = "git init -q . && wt-ls-files | git update-index --add --stdin
        git ls-files -z >$X/git; wt-ls-files -z >$X/ours; cmp $X/git $X/ours";
    sandbox.sh(git).ok();
}

#[test]
fn a_list_is_closed_by_an_empty_item() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "");
    assert_eq!(sandbox.run(&["wt-ls-files", "--end"]).stdout, b"a\n\n");
    assert_eq!(sandbox.run(&["wt-ls-files", "-z", "--end"]).stdout, b"a\0\0");
    sandbox.sh("rm a").ok();
    assert_eq!(sandbox.run(&["wt-ls-files", "-z", "--end"]).stdout, b"\0");
    assert_eq!(sandbox.run(&["wt-ls-files", "-z"]).stdout, b"");
}

#[test]
fn rules_decide_and_what_they_leave_out_can_be_listed() {
    let sandbox = Sandbox::new();
    sandbox.file(".gitignore", "*.log\nbuild/\n!build/keep\n").file("a.log", "").file("b", "");
    sandbox.file("build/x", "").file("build/keep", "").file("node_modules/m/f", "").file(".git/config", "");
    assert_eq!(sandbox.run(&["wt-ls-files"]).quietly_ok(), ".gitignore\nb\nbuild/keep");
    assert_eq!(sandbox.run(&["wt-ls-files", "--ignored"]).quietly_ok(), ".git/\na.log\nbuild/x\nnode_modules/");
    sandbox.file(".iterionignore", "");
    assert!(sandbox.run(&["wt-ls-files"]).quietly_ok().contains("a.log"), "an empty .iterionignore wins");
}

#[test]
fn gaps_are_listed_with_their_reasons() {
    let sandbox = Sandbox::new();
    sandbox
        .fifo("fifo")
        .socket("socket")
        .file("big", [0; 2000])
        .file("ok", "")
        .file("locked/in", "")
        .mode("locked", 0);
    let gaps = sandbox.run(&["wt-ls-files", "--gaps", "--max-file-size", "1K"]).ok();
    assert_eq!(gaps, "oversized\tbig\nspecial\tfifo\nunreadable\tlocked/\nspecial\tsocket");
    assert_eq!(sandbox.run(&["wt-ls-files", "--max-file-size", "1K"]).ok(), "ok");
}

#[test]
fn json_lines_name_bad_names_twice() {
    let sandbox = Sandbox::new();
    sandbox.file(b"\xff", "").file("a\"b", "");
    let lines = sandbox.run(&["wt-ls-files", "--json"]).quietly_ok();
    let values: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values[0]["path"], "a\"b");
    assert!(values[0].get("path_b64").is_none());
    assert_eq!(values[1]["path_b64"], "/w==");
    assert!(values[1]["path"].is_string(), "a display form is there, too");
}

#[test]
fn records_say_what_stat_says() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "12345").mode("f", 0o640).dir("empty").link("l", "target").mtime("f", -3, 5);
    let script = r#"wt-ls-files --records | grep -v '^#' | while read -r mode oid size mtime ctime ino path; do
          test "$oid" = -; test "$ino" = "$(stat -c %i "$path")"
          case $path in f) test "$mode $size $mtime" = "f0640 5 -2999999995";;
            l) test "$mode $size" = "l0777 6";; empty) test "$mode $size" = "d0755 -";; esac
          echo "$path"; done"#;
    assert_eq!(sandbox.sh(script).ok(), "empty\nf\nl");
}

#[test]
fn the_record_stream_says_where_under_which_rules_and_when() {
    let sandbox = Sandbox::new();
    sandbox.file(".gitignore", "x\n");
    let first = sandbox.capture("l");
    let lines = sandbox.run(&["wt-ls-files", "--records"]).quietly_ok();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines[0], "#wt-records 1");
    assert_eq!(lines[1], format!("#root {}", sandbox.w().display()));
    assert_eq!(lines[2], format!("#rules .gitignore {}", crate::sandbox::stored::oid("x\n")));
    assert_eq!(lines[3], "#cap 33554432");
    assert!(lines[4].strip_prefix("#start ").unwrap().parse::<u64>().unwrap() > 1_600_000_000_000_000_000);
    assert_eq!(lines[5], format!("#head {first}"));
    assert_eq!(lines.last(), Some(&"#end"));
    let without_run = sandbox.sh("unset WT_RUN; wt-ls-files --records").ok();
    assert!(!without_run.contains("#head"), "no run, no head");
}

#[test]
fn a_failed_walk_ends_the_stream_with_its_code_and_reason() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["wt-ls-files", "--records", "-C", "nothing"]);
    let out = ran.out();
    assert!(out.starts_with("#wt-records 1\n") && out.lines().last().unwrap().starts_with("#fail 2 "), "{out}");
    ran.fails(2);
}

#[test]
fn a_link_out_and_a_loop_are_links_and_nothing_more() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "").link("out", "/etc").link("loop", ".").link("dangling", "/nope");
    assert_eq!(sandbox.run(&["wt-ls-files"]).quietly_ok(), "a\ndangling\nloop\nout");
}

#[test]
fn a_very_deep_tree_is_walked_to_its_end() {
    let sandbox = Sandbox::new();
    // Deeper than a path can be long, made step by step.
    sandbox.sh("i=0; while [ $i -lt 500 ]; do mkdir dddddddd; cd -P dddddddd; i=$((i+1)); done; echo x >leaf").ok();
    let ran = sandbox.run(&["wt-ls-files", "-z"]);
    assert_eq!(ran.stdout.len(), 500 * 9 + "leaf".len() + 1, "{}", ran.text());
    let id = sandbox.capture("deep");
    assert_eq!(sandbox.stored().manifest(&id).entries.unwrap().len(), 1);
}

#[test]
fn progress_is_said_when_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.sh("i=0; while [ $i -lt 300 ]; do mkdir d$i; : >d$i/f; i=$((i+1)); done").ok();
    let before = Tree::with_stat(&sandbox.w());
    sandbox.run(&["wt-ls-files", "-q"]).quietly_ok();
    before.assert_same(&Tree::with_stat(&sandbox.w()), "a walk");
}

#[test]
fn a_pattern_of_many_stars_takes_no_longer_than_another() {
    let sandbox = Sandbox::new();
    let long = "a".repeat(200);
    let deep = "d/".repeat(24) + "leaf";
    let stars = "*".repeat(33);
    let rules = format!("{}b\n{}nothing\n{stars}b\n", "*a".repeat(10) + "*", "**/".repeat(15));
    sandbox.file(&long, "").file(&deep, "").file(".gitignore", rules);
    let begun = std::time::Instant::now();
    assert_eq!(sandbox.run(&["wt-ls-files"]).ok(), format!(".gitignore\n{long}\n{deep}"));
    // A backtracking matcher would take hours.
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn records_that_leave_while_the_walk_goes_on_are_those_of_a_finished_one() {
    let sandbox = Sandbox::new();
    sandbox.everything();
    // An empty directory stands by its bare name, any other by its name and a slash: others may stand between.
    for name in ["d", "d-", "d- x", "d-x", "d.e", "d0", "e", "e!", "e-"] {
        sandbox.dir(format!("empty/{name}")).file(format!("full/{name}/f"), "1");
        sandbox.dir(format!("mixed/{name}"));
    }
    sandbox.file("mixed/d -file", "1").file("mixed/d- /f", "1").file("mixed/e/f", "1").file("mixed/e-/f", "1");
    for number in 0..3000 {
        sandbox.file(format!("many/{}/{number}", number % 50), "");
    }
    sandbox.sh("chmod 0 mixed/d0 many/7").ok();
    let records = |script: &str| {
        let ran = sandbox.sh(&format!("{script} | grep -v '^#start '")).ok();
        assert!(ran.ends_with("#end"));
        ran
    };
    let finished = records("wt-ls-files --records");
    let streamed = records("wt-lock -s -- wt-ls-files --records");
    assert_eq!(streamed, finished);
    let paths: Vec<&str> =
        finished.lines().filter_map(|line| line.split_once('\t')).map(|(_, path)| path).collect();
    assert!(paths.len() > 3000);
    sandbox.sh("chmod 755 mixed/d0 many/7").ok();
    let failed = sandbox.sh("wt-lock -s -- wt-ls-files --records --max-files 2000");
    assert_eq!(failed.code, 7, "{}", failed.text());
    assert!(failed.out().lines().last().unwrap().starts_with("#fail 7 "), "{}", failed.text());
    assert!(failed.err().contains("most of those seen below 'many'"), "{}", failed.err());
}

#[test]
fn a_lock_that_is_due_is_taken_on_the_descriptor_that_the_caller_opened() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "1");
    let taken = "exec 9<.; WT_LOCK_FD=9:s? wt-ls-files --records >$X/records; export WT_LOCK_WAIT=0;";
    sandbox.sh(&format!("{taken} wt-lock -s -- true")).ok();
    sandbox.sh(&format!("{taken} wt-lock -x -- true")).fails(6);
    sandbox.sh(&format!("{taken} exec 9<&-; wt-lock -x -- true")).ok();
    assert!(std::fs::read_to_string(sandbox.x("records")).unwrap().ends_with("#end\n"));
    // It was promised to be there: without it each stage would lock for itself, and nobody the whole.
    for wrong in ["", "exec 9</;", "exec 9<a;"] {
        let ran = sandbox.sh(&format!("{wrong} WT_LOCK_FD=9:s? wt-ls-files --records"));
        assert!(ran.err().contains("descriptor 9, which WT_LOCK_FD names, is not workspace"), "{}", ran.text());
        ran.fails(6);
    }
    sandbox.sh("exec 9<.; WT_LOCK_FD=9:s? wt-lock -x -- true").fails(6);
    let waits = "WT_LOCK_FD= wt-lock -x -- sh -c 'exec 9<.; WT_LOCK_WAIT=0 WT_LOCK_FD=9:s? wt-ls-files --records'";
    let ran = sandbox.sh(waits);
    assert!(ran.out().contains("#fail 6 "), "{}", ran.text());
    ran.fails(6);
}
