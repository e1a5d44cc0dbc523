//! The documentation tells what is true: nothing generated is stale, nothing named is missing, every example runs.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What mends every stale file.
const MEND: &str = "run 'make docs' and commit what it changes";

/// Pages of other packages that ours may point to.
const FOREIGN_PAGES: [&str; 8] =
    ["git(1)", "gitignore(5)", "sha256sum(1)", "flock(1)", "flock(2)", "git-check-ignore(1)", "sh(1)", "rename(2)"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn bin_dir() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_wt-ls-files")).parent().unwrap()
}

/// The names in a directory of the repository, sorted; none if it is not there.
fn names_in(dir: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(root().join(dir)) else { return Vec::new() };
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The programs: a file each, or a directory with a `main.rs`.
fn programs() -> Vec<String> {
    let names = names_in("src/bin");
    names.iter().map(|name| name.strip_suffix(".rs").unwrap_or(name).to_owned()).collect()
}

/// The scripts that one runs; others are read by them.
fn porcelain() -> Vec<String> {
    let is_run = |name: &String| {
        let mode = fs::metadata(root().join("porcelain").join(name)).unwrap().permissions().mode();
        mode & 0o111 != 0
    };
    names_in("porcelain").into_iter().filter(is_run).collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_default()
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// `name(section)` of a page's file name.
fn page_name(file: &str) -> String {
    let (name, section) = file.rsplit_once('.').unwrap();
    format!("{name}({section})")
}

/// The lines of one section of a page.
fn section<'p>(page: &'p str, title: &str) -> Vec<&'p str> {
    let heading = format!(".SH {title}");
    let after = page.lines().skip_while(|line| **line != heading).skip(1);
    after.take_while(|line| !line.starts_with(".SH ")).collect()
}

/// The text of a line of man(7) source, without fonts and escapes.
fn plain(line: &str) -> String {
    let mut text = line.to_owned();
    for (escape, meaning) in [
        ("\\fB", ""),
        ("\\fI", ""),
        ("\\fR", ""),
        ("\\&", ""),
        ("\\-", "-"),
        ("\\(aq", "'"),
        ("\\(ga", "`"),
        ("\\(ha", "^"),
        ("\\(ti", "~"),
        ("\\e", "\\"),
    ] {
        text = text.replace(escape, meaning);
    }
    text
}

/// The scripts under EXAMPLES.
fn scripts(page: &str) -> Vec<String> {
    let mut scripts = Vec::new();
    let mut open: Option<String> = None;
    for line in section(page, "EXAMPLES") {
        match (line, &mut open) {
            (".EX", _) => open = Some(String::new()),
            (".EE", _) => scripts.extend(open.take()),
            (_, Some(script)) => {
                script.push_str(&plain(line));
                script.push('\n');
            }
            _ => {}
        }
    }
    scripts
}

/// A workspace with a few files, and a run `demo` whose newest snapshot is labelled `before`, the one before it `start`.
struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Self {
        let scratch = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(scratch.dir.path().join("home")).unwrap();
        fs::create_dir_all(scratch.workspace().join("src")).unwrap();
        fs::write(scratch.workspace().join("src/main.c"), "int main(void) { return 0; }\n").unwrap();
        fs::write(scratch.workspace().join("README"), "A small program.\n").unwrap();
        fs::write(scratch.workspace().join(".gitignore"), "*.o\n").unwrap();
        fs::write(scratch.workspace().join("main.o"), "object code\n").unwrap();
        scratch.capture("start");
        fs::write(scratch.workspace().join("src/util.c"), "int twice(int n) { return 2 * n; }\n").unwrap();
        scratch.capture("before");
        scratch
    }

    fn capture(&self, label: &str) {
        let list = "wt-ls-files -z --records --run demo";
        let store = "wt-hash-object -w -z --stdin-records --run demo";
        let publish = format!("wt-write-manifest -z --run demo --label {label}");
        let captured = self.sh(&[list, store, &publish].join(" | "));
        assert!(captured.status.success(), "{captured:?}");
    }

    fn workspace(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn sh(&self, script: &str) -> Output {
        let path = format!("{}:{}:/usr/bin:/bin", bin_dir().display(), root().join("porcelain").display());
        let mut command = Command::new("sh");
        command.args(["-eu", "-c", script]).current_dir(self.workspace()).env_clear();
        command.env("PATH", path).env("LC_ALL", "C.UTF-8").env("TZ", "UTC");
        command.env("HOME", self.dir.path().join("home"));
        command.env("ITERION_HOME", self.dir.path().join("home/.iterion"));
        run(&mut command)
    }

    /// Runs a script that must succeed, and returns what it printed.
    fn must(&self, what: &str, script: &str) -> String {
        let output = self.sh(script);
        assert!(
            output.status.success(),
            "{what}: {}\n--- script\n{script}\n--- stdout\n{}\n--- stderr\n{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn generated_pages_and_completions_are_not_stale() {
    let mut stale = Vec::new();
    for program in programs() {
        for (kind, path) in [
            ("man", format!("man/{program}.1")),
            ("bash", format!("completions/bash/{program}")),
            ("zsh", format!("completions/zsh/_{program}")),
            ("fish", format!("completions/fish/{program}.fish")),
        ] {
            let output = run(Command::new(bin_dir().join(&program)).args(["--generate-docs", kind]));
            assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
            if output.stdout != read(&path).as_bytes() {
                stale.push(path);
            }
        }
    }
    assert!(stale.is_empty(), "stale or missing: {}: {MEND}", stale.join(" "));
}

#[test]
fn nothing_is_documented_that_does_not_exist() {
    let known: BTreeSet<_> = programs().into_iter().chain(porcelain()).collect();
    let strip = |dir: &str, name: String| match dir {
        "man" => name.strip_suffix(".1").map(str::to_owned),
        "completions/zsh" => Some(name.trim_start_matches('_').to_owned()),
        _ => Some(name.trim_end_matches(".fish").to_owned()),
    };
    for dir in ["man", "completions/bash", "completions/zsh", "completions/fish"] {
        for name in names_in(dir).into_iter().filter_map(|name| strip(dir, name)) {
            assert!(known.contains(&name), "{dir} has {name}, which is no program: remove it");
        }
    }
}

#[test]
fn every_command_has_a_page_that_names_all_its_options() {
    for command in programs().into_iter().chain(porcelain()) {
        let page = read(&format!("man/{command}.1"));
        assert!(!page.is_empty(), "man/{command}.1 is missing: {MEND}; for a script in porcelain/ write it");
        let path = [bin_dir().join(&command), root().join("porcelain").join(&command)];
        let path = path.iter().find(|path| path.exists()).unwrap();
        let documented = plain(&page);
        let help = help(Command::new(path).arg("--help"));
        let helps =
            subcommands_of(&help).into_iter().map(|name| self::help(Command::new(path).args([name, "--help"])));
        for option in helps.chain([help.clone()]).flat_map(|help| options_of(&help)) {
            let is_there = documented.match_indices(&option).any(|(at, _)| {
                !documented[at + option.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-')
            });
            assert!(is_there, "{command} --help names {option}, man/{command}.1 does not: {MEND}");
        }
    }
}

fn help(command: &mut Command) -> String {
    let output = run(command);
    assert!(output.status.success(), "{command:?}: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// The options at the beginning of the lines of a help text.
fn options_of(help: &str) -> Vec<String> {
    let lines = help.lines().filter(|line| line.trim_start().starts_with('-'));
    let words = lines.flat_map(|line| line.split_whitespace().take_while(|word| word.starts_with('-')));
    words.map(|word| word.trim_end_matches(',').to_owned()).collect()
}

/// The names under `Commands:`, but for `help`.
fn subcommands_of(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

/// 'wt help' shows the second line of a script; README.md, the NAME of its page.
#[test]
fn a_script_and_its_page_say_alike_what_it_does() {
    for script in porcelain() {
        let text = read(&format!("porcelain/{script}"));
        let said = text.lines().nth(1).and_then(|line| line.strip_prefix("# ")?.strip_suffix('.'));
        let name = plain(section(&read(&format!("man/{script}.1")), "NAME").first().unwrap());
        assert_eq!(
            said.map(|said| said.replacen(": ", " - ", 1)),
            Some(name),
            "the second line of porcelain/{script}"
        );
    }
}

/// Only a page whose program can be told to take any workspace says so.
#[test]
fn only_pages_of_programs_that_have_it_name_yes_this_root() {
    for program in programs() {
        let page = plain(&read(&format!("man/{program}.1")));
        let is_named = section(&page, "ENVIRONMENT").iter().any(|line| line.contains("--yes-this-root"));
        let has_it = section(&page, "OPTIONS").contains(&"--yes-this-root");
        assert_eq!(is_named, has_it, "man/{program}.1");
    }
}

#[test]
fn every_page_that_is_pointed_to_exists() {
    let pages: BTreeSet<_> = names_in("man").iter().map(|file| page_name(file)).collect();
    for file in names_in("man") {
        let page = read(&format!("man/{file}"));
        let see_also = plain(&section(&page, "SEE ALSO").join(" "));
        // In mdoc(7) source a reference is a macro of its own.
        let macros = page.lines().filter_map(|line| line.strip_prefix(".Xr "));
        let macros = macros.map(|line| line.split(' ').take(2).collect::<Vec<_>>().join("(") + ")");
        let targets = see_also.split([',', ' ']).map(str::to_owned).chain(macros);
        for target in targets.filter(|target| !target.is_empty()) {
            let target = target.as_str();
            let is_known = pages.contains(target) || FOREIGN_PAGES.contains(&target);
            assert!(is_known, "man/{file} points to {target}, which there is not");
        }
    }
}

#[test]
fn mandoc_finds_nothing_to_complain_about() {
    if Command::new("mandoc").arg("-T").arg("lint").arg("/dev/null").output().is_err() {
        return; // It is not installed; .ci/run installs it.
    }
    for file in names_in("man") {
        let output = run(Command::new("mandoc").args(["-T", "lint"]).arg(root().join("man").join(&file)));
        // Whether a page that is referred to is installed says nothing; whether we have it, another test says.
        let complaints = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaints = complaints.lines().filter(|line| !line.contains("referenced manual not found"));
        let complaints = complaints.collect::<Vec<_>>().join("\n");
        assert!(complaints.is_empty(), "man/{file}:\n{complaints}");
    }
}

#[test]
fn every_example_of_a_page_runs() {
    for file in names_in("man") {
        let scripts = scripts(&read(&format!("man/{file}")));
        if file.ends_with(".1") {
            let all = Scratch::new();
            for script in &scripts {
                Scratch::new().must(&file, script);
                all.must(&format!("{file}, all in one store"), script);
            }
        } else if !scripts.is_empty() {
            // One story: what a block sets, the next ones use.
            Scratch::new().must(&file, &scripts.concat());
        }
    }
}

/// The blocks of a kind in README.md.
fn readme_blocks(kind: &str) -> Vec<String> {
    let readme = read("README.md");
    let fence = format!("```{kind}\n");
    readme.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_session_in_the_readme_prints_what_it_says() {
    let scratch = Scratch::new();
    let session = readme_blocks("console").concat();
    let commands: Vec<_> = session.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(!commands.is_empty(), "README.md has no console block");
    // Each command is echoed by the shell, so that both texts can be compared as they stand.
    let mut script = "exec 2>&1\n".to_owned();
    for command in commands {
        let echoed = command.replace('\'', "'\\''");
        script.push_str(&["printf '$ %s\\n' '", &echoed, "'\n", command, "\n"].concat());
    }
    let printed = scratch.must("README.md", &script);
    let (printed, session) = (without_ids(&printed), without_ids(&session));
    assert!(printed == session, "README.md does not show what its commands print, which is\n{printed}");
}

/// The text with each snapshot id, which is a time, replaced by one word.
fn without_ids(text: &str) -> String {
    const ID_BYTES: usize = 19 + 1 + 4;
    let is_id = |at: usize| {
        text.as_bytes().get(at..at + ID_BYTES).is_some_and(|id| {
            id.iter()
                .enumerate()
                .all(|(index, byte)| if index == 19 { *byte == b'-' } else { byte.is_ascii_digit() })
        })
    };
    let (mut out, mut rest) = (String::new(), 0);
    for at in 0..text.len() {
        if at >= rest && is_id(at) {
            out.push_str(&text[rest..at]);
            out.push_str("ID");
            rest = at + ID_BYTES;
        }
    }
    out + &text[rest..]
}

#[test]
fn the_make_targets_that_the_texts_name_exist() {
    let makefile = read("Makefile");
    let mut found = 0;
    for file in ["README.md", "CONTRIBUTING.md"] {
        let text = read(file).replace('`', "\n");
        for call in text.lines().filter_map(|line| line.trim_start().strip_prefix("make ")) {
            let target = call.split_whitespace().next().unwrap();
            let is_there = makefile.lines().any(|line| line.starts_with(&format!("{target}:")));
            assert!(is_there, "{file} names 'make {target}', which the Makefile does not have");
            found += 1;
        }
    }
    assert!(found > 2, "the texts name no targets: is this test still looking in the right place?");
}

#[test]
fn the_table_of_commands_is_not_stale() {
    let mut rows = vec!["| command | what it does |".to_owned(), "|---|---|".to_owned()];
    for file in names_in("man").iter().filter(|file| file.ends_with(".1")) {
        let page = read(&format!("man/{file}"));
        let name_line = plain(section(&page, "NAME").first().unwrap());
        let (name, about) = name_line.split_once(" - ").unwrap();
        rows.push(format!("| [`{name}`](man/{file}) | {about} |"));
    }
    let readme = read("README.md");
    let table = readme.split("<!-- commands -->\n").nth(1).unwrap_or_default();
    let table = table.split("<!-- end of commands -->").next().unwrap_or_default();
    assert_eq!(table.trim_end(), rows.join("\n"), "the table in README.md is stale: {MEND}");
}
