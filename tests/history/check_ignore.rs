//! `wt-check-ignore`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::sandbox::{Said, Sandbox};

fn workspace() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log\n!keep.log\nbuild/\n[\n\\\"q\n");
    fs::create_dir_all(sandbox.at("d/build")).unwrap();
    sandbox
}

fn check(sandbox: &Sandbox, args: &[&str]) -> Said {
    sandbox.run("wt-check-ignore", args)
}

#[test]
fn prints_what_is_left_out_and_ends_in_1_when_nothing_is() {
    let sandbox = workspace();
    let said = check(&sandbox, &["a.log", "keep.log", "src/main.rs", ".git/config", "x/node_modules"]).ends(0);
    assert_eq!(said.text(), "a.log\n.git/config\nx/node_modules\n");
    assert!(said.err.contains("warning: .gitignore:4: unclosed character class"), "{}", said.err);
    assert_eq!(check(&sandbox, &["keep.log", "src/main.rs"]).ends(1).text(), "");
    assert_eq!(check(&sandbox, &["-q", "keep.log"]).ends(1).err, "");
}

#[test]
fn a_directory_is_known_by_its_slash_or_by_looking() {
    let sandbox = workspace();
    sandbox.write("file/build", "");
    std::os::unix::fs::symlink("d/build", sandbox.at("build")).unwrap();
    let said =
        check(&sandbox, &["d/build", "file/build", "build", "none/build", "none/build/", "none/build/x"]).ends(0);
    assert_eq!(said.text(), "d/build\nnone/build/\nnone/build/x\n");
}

#[test]
fn verbose_names_source_line_and_pattern() {
    let sandbox = workspace();
    let paths = ["a.log", "keep.log", "d/.git/x", "node_modules", "src", "\"q", "t\tb/.iterion-tmp-1"];
    let said = check(&sandbox, &[&["-v"], &paths[..]].concat()).ends(0);
    assert_eq!(
        said.text(),
        ".gitignore:1:*.log\ta.log\n.gitignore:2:!keep.log\tkeep.log\nhard::.git\td/.git/x\n\
         default::node_modules\tnode_modules\n.gitignore:5:\"\\\\\\\"q\"\t\"\\\"q\"\nhard::.iterion-tmp-*\t\"t\\tb/.iterion-tmp-1\"\n"
    );
    assert_eq!(check(&sandbox, &["-v", "-n", "src"]).ends(1).text(), "::\tsrc\n");
    assert_eq!(check(&sandbox, &["-v", "src"]).ends(1).text(), "");
    assert_eq!(check(&sandbox, &["-v", "keep.log"]).ends(1).text(), ".gitignore:2:!keep.log\tkeep.log\n");
    let json = check(&sandbox, &["--json", "-v", "-n", "a.log", "src", ".git"]).ends(0).text();
    assert_eq!(
        json,
        "{\"path\":\"a.log\",\"ignored\":true,\"source\":\".gitignore\",\"line\":1,\"pattern\":\"*.log\"}\n\
         {\"path\":\"src\",\"ignored\":false}\n\
         {\"path\":\".git\",\"ignored\":true,\"source\":\"hard\",\"pattern\":\".git\"}\n"
    );
}

#[test]
fn the_store_is_left_out_wherever_it_lies() {
    let sandbox = workspace();
    fs::create_dir_all(sandbox.at("my/store/runs")).unwrap();
    let args = ["-v", "--store", "my/store", "my/store", "my/store/runs/x", "my/storeroom"];
    assert_eq!(check(&sandbox, &args).ends(0).text(), "hard::<store>\tmy/store\nhard::<store>\tmy/store/runs/x\n");
}

#[test]
fn reads_paths_and_demands_their_end() {
    let sandbox = workspace();
    let feed = |args: &[&str], input: &[u8]| sandbox.feed("wt-check-ignore", args, input);
    assert_eq!(feed(&["--stdin"], b"a.log\n\"b\\n.log\"\nc\n").ends(0).text(), "a.log\n\"b\\n.log\"\n");
    assert_eq!(feed(&["--stdin", "-z"], b"a.log\0b\n.log\0\xff.log\0").ends(0).out, b"a.log\0b\n.log\0\xff.log\0");
    assert_eq!(feed(&["--stdin", "--require-end"], b"a.log\n\n").ends(0).text(), "a.log\n");
    let cut = feed(&["-q", "--stdin", "--require-end"], b"a.log\n");
    assert_eq!(cut.out, b"", "nothing is answered before the list is known to be whole");
    cut.fails(4, "end mark");
    feed(&["-q", "--batch", "--require-end"], b"a.log\n").fails(4, "end mark");
    feed(&["-q", "--stdin"], b"../x\n").fails(2, "'.' or '..'");
    feed(&["-q", "--stdin"], b"/x\n").fails(2, "absolute");
}

#[test]
fn a_batch_answers_each_path_before_the_next_is_asked() {
    let sandbox = workspace();
    let mut child = sandbox.command("wt-check-ignore", &["--batch"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut ask = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for (path, expected) in [
        ("a.log", ".gitignore:1:*.log\ta.log\n"),
        ("src", "::\tsrc\n"),
        ("keep.log", ".gitignore:2:!keep.log\tkeep.log\n"),
    ] {
        writeln!(ask, "{path}").unwrap();
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        assert_eq!(line, expected);
    }
    drop(ask);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    let sandbox = workspace();
    for args in [
        &["--stdin", "--batch"][..],
        &["--stdin", "a"],
        &["--batch", "a"],
        &["--batch", "-v"],
        &["--require-end", "a"],
        &["-v", "-q", "a"],
    ] {
        check(&sandbox, args).fails(2, "cannot be used with");
    }
    check(&sandbox, &["-n", "a"]).fails(2, "--verbose");
    check(&sandbox, &[]).fails(2, "required");
}
