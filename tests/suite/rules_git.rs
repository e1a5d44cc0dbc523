//! The ignore rules, judged by `git check-ignore`.
//!
//! Thousands of generated rule files are laid out in one repository, each in directories of its own, so that one git
//! process answers for all of them. Where we follow git the answers must be equal. Where we do not (a negation reaches
//! below an excluded directory, and any rule everything below a directory it matches) the right answer is still put
//! together from git's: the last rule of a file that git, asked about that rule alone, matches to the path.
//!
//! `WT_TEST_SEED=n` tries other patterns; a failure prints its seed.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use workspacetrack::store::relpath::RelPath;
use workspacetrack::stream::quote;
use workspacetrack::tree::rules::{EntryKind, RuleSource, Rules, RulesFile, Verdict};

/// One question: a path, and whether it is a directory.
type Probe = (Vec<u8>, EntryKind);

/// What decided, as `git check-ignore -v` says it: line and pattern; `None` where no rule matched.
type Answer = Option<(u32, Vec<u8>)>;

const DEFAULT_SEED: u64 = 20_240_607;

fn seed() -> u64 {
    std::env::var("WT_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(DEFAULT_SEED)
}

/// The `SplitMix64` generator: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 16).unwrap() % bound
    }

    fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}

/// Whether git is there to judge; says so where it is not.
fn git_is_here() -> bool {
    let found =
        Command::new("git").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !found {
        eprintln!("SKIPPED: git is not installed, so nothing judges the ignore rules");
    }
    found
}

fn git(repository: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(repository).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", repository).env("LC_ALL", "C");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command
}

/// Asks git about every probe under every rules file. Answers come in the order of `files` and of `probes`.
fn ask_git(files: &[Vec<u8>], probes: &[Probe]) -> Vec<Vec<Answer>> {
    // In memory where that can be had: making tens of thousands of directories is nearly all of the time.
    let scratch = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let repository = scratch.path().join("repository");
    fs::create_dir(&repository).unwrap();
    assert!(git(&repository).args(["init", "-q"]).status().unwrap().success());

    // Git takes a path for a directory where there is one. So each file is laid out twice: `d` has the directories, in
    // `f` nothing exists.
    let mut questions = Vec::new();
    for (number, text) in files.iter().enumerate() {
        for (kind, base) in [(EntryKind::NotDir, format!("f{number}")), (EntryKind::Dir, format!("d{number}"))] {
            let mut of_kind = probes.iter().filter(|probe| probe.1 == kind).peekable();
            if of_kind.peek().is_none() {
                continue;
            }
            fs::create_dir(repository.join(&base)).unwrap();
            fs::write(repository.join(&base).join(".gitignore"), text).unwrap();
            for (path, _) in of_kind {
                if kind == EntryKind::Dir {
                    fs::create_dir_all(repository.join(&base).join(OsStr::from_bytes(path))).unwrap();
                }
                questions.extend_from_slice(base.as_bytes());
                questions.push(b'/');
                questions.extend_from_slice(path);
                questions.push(0);
            }
        }
    }
    let (asked, answered) = (scratch.path().join("asked"), scratch.path().join("answered"));
    fs::write(&asked, questions).unwrap();
    // Into a file, since git flushes after every answer to a pipe.
    let status = git(&repository)
        .args(["check-ignore", "--no-index", "-v", "-n", "-z", "--stdin"])
        .stdin(File::open(&asked).unwrap())
        .stdout(File::create(&answered).unwrap())
        .status()
        .unwrap();
    assert!(matches!(status.code(), Some(0 | 1)), "git check-ignore: {status}");

    let answered = fs::read(&answered).unwrap();
    let mut fields = answered.split(|byte| *byte == 0);
    let mut by_path = HashMap::new();
    while let (Some(_source), Some(line), Some(pattern), Some(path)) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    {
        let line = std::str::from_utf8(line).unwrap().parse().ok();
        by_path.insert(path, line.map(|line| (line, pattern.to_vec())));
    }
    let answer = |number: usize, (path, kind): &Probe| {
        let base = if *kind == EntryKind::Dir { 'd' } else { 'f' };
        let full = [format!("{base}{number}/").as_bytes(), path].concat();
        by_path.get(full.as_slice()).unwrap_or_else(|| panic!("git is silent on {}", quote::name(&full))).clone()
    };
    (0..files.len()).map(|number| probes.iter().map(|probe| answer(number, probe)).collect()).collect()
}

fn parse(text: &[u8]) -> Rules {
    Rules::parse(&RulesFile { source: RuleSource::GitIgnore, text: text.to_vec() }).0
}

fn ask_us(rules: &Rules, probe: &Probe) -> (Verdict, Answer) {
    let verdict = rules.verdict(RelPath::new(&probe.0).unwrap(), probe.1);
    let answer = rules.decided_by(&verdict).map(|rule| (rule.line.unwrap_or(0), rule.pattern.to_vec()));
    (verdict, answer)
}

/// Collects differences, so that one run shows the kind and not only the first of them.
#[derive(Default)]
struct Differences {
    lines: Vec<String>,
    compared: usize,
}

impl Differences {
    fn compare<T: PartialEq + std::fmt::Debug>(&mut self, text: &[u8], probe: &Probe, ours: &T, right: &T) {
        self.compared += 1;
        if ours != right {
            let (text, path) = (quote::name(text), quote::name(&probe.0));
            self.lines.push(format!("rules {text} on {path} {:?}: ours {ours:?}, right {right:?}", probe.1));
        }
    }

    fn finish(self, compared_min: usize) {
        let shown = self.lines.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n  ");
        assert!(self.lines.is_empty(), "{} differences with seed {}:\n  {shown}", self.lines.len(), seed());
        assert!(self.compared >= compared_min, "only {} comparisons: the generator has dried up", self.compared);
    }
}

/// Paths with every directory above each of them, as directories and, all but those, as files too.
fn probes() -> Vec<Probe> {
    #[rustfmt::skip]
    let deep = [
        "a", "b", "ab", "ba", "aab", "foo", "bar", "a.x", ".a", "a ", " a", "a\t", "a\r", "#a", "!a", "]", "-", "[a",
        "*", "\\", "a\\", "A", "a-b", "x\u{e9}", "a/a", "a/b", "a/ab", "b/a", "b/a.x", "foo/bar", "foo/a/bar", "ab/a ",
        "a/b/a", "a/b/b", "b/a/b", "a/b/a/b", "a/a/a/b", "foo/a/b/bar", "ab/b/foo/a.x",
    ];
    let mut all: Vec<Vec<u8>> = deep.iter().map(|path| path.as_bytes().to_vec()).collect();
    all.push(b"\xff".to_vec());
    all.push(b"a/\xffb".to_vec());
    let mut probes: Vec<Probe> = all.iter().map(|path| (path.clone(), EntryKind::NotDir)).collect();
    let mut dirs: Vec<Vec<u8>> = Vec::new();
    for path in &all {
        let path = RelPath::new(path).unwrap();
        dirs.extend(path.ancestors().map(|dir| dir.as_bytes().to_vec()));
    }
    dirs.extend(["a.x", "a ", "bar", "foo/bar", "a/b/a", "-"].map(|dir| dir.as_bytes().to_vec()));
    dirs.sort();
    dirs.dedup();
    probes.extend(dirs.into_iter().map(|dir| (dir, EntryKind::Dir)));
    probes
}

/// A pattern without `!`, often one that matches something.
fn generate_pattern(random: &mut Random) -> Vec<u8> {
    #[rustfmt::skip]
    const SEGMENTS: &[&str] = &[
        "a", "b", "ab", "foo", "bar", "a", "b", "*", "**", "**", "***", "?", "??", "a*", "*b", "*.x", "a?", "*a*b",
        "a**b", "**a", "b**", "[ab]", "[!a]", "[^b]*", "[a-c]", "\\a", "\\*", "a\\b", "[[:alpha:]]", "*[[:space:]]",
        "[]-]", "[a-]*", ".*", "[[:lower:]-]*", "*\\ ", "\\#a", "\\!a", "[a/b]", "\u{e9}", "x?*", "[!-~]*", "f[n-p]o",
    ];
    #[rustfmt::skip]
    const SOUP: &[&str] = &[
        "a", "b", "a", "*", "**", "?", "[", "]", "!", "^", "-", "\\", "/", " ", ".", ":", "[:", ":]", "alpha", "[ab",
        "[[:space:]]", "#", "\t",
    ];
    let mut pattern = String::new();
    if random.below(4) == 0 {
        for _ in 0..=random.below(7) {
            pattern.push_str(random.pick(SOUP));
        }
    } else {
        pattern.push_str(random.pick(&["", "", "", "/", "**/"]));
        for number in 0..=random.below(4).min(random.below(4)) {
            if number > 0 {
                pattern.push_str(random.pick(&["/", "/", "/", "/", "/", "/", "\\/", "//", "/**/"]));
            }
            pattern.push_str(random.pick(SEGMENTS));
        }
        pattern
            .push_str(random.pick(&["", "", "", "", "", "", "/", "/", "/**", "/*", " ", "\t", "\\ ", "  ", "\r"]));
    }
    let pattern = pattern.trim_start_matches(['!', '#']);
    mend_old_stars(pattern.as_bytes())
}

/// Older git (measured: 2.47) cuts the literal start off a pattern with `/`, and then takes `**` after it for a segment:
/// `foo**/bar` matches `foo/x/bar`. Git's developers call it a bug. Such a pattern is put to both sides in the form
/// that gitignore(5) says it means: with one `*`.
fn mend_old_stars(pattern: &[u8]) -> Vec<u8> {
    let trimmed = pattern.strip_suffix(b"/").unwrap_or(pattern);
    let is_anchored = trimmed.contains(&b'/');
    let Some(special) = trimmed.iter().position(|byte| b"*?[\\".contains(byte)) else { return pattern.to_vec() };
    let stars = trimmed[special..].iter().take_while(|byte| **byte == b'*').count();
    if !is_anchored || stars < 2 || special == 0 || trimmed[special - 1] == b'/' {
        return pattern.to_vec();
    }
    [&pattern[..=special], &pattern[special + stars..]].concat()
}

/// A rules file of patterns from the pool, with line ends, comments and blank lines as they come in the wild. Returns
/// also the pool numbers, by line.
fn generate_file(random: &mut Random, pool: &[Vec<u8>], negation: Negation) -> (Vec<u8>, Vec<(u32, usize)>) {
    let mut text = if random.below(10) == 0 { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
    let mut members = Vec::new();
    let mut line = 0;
    for _ in 0..2 + random.below(5) {
        line += 1;
        match random.below(12) {
            0 => text.extend_from_slice(b"# a"),
            1 => text.extend_from_slice(random.pick(&["", " ", "#", "!"]).as_bytes()),
            _ => {
                let number = random.below(pool.len());
                if negation == Negation::Some && random.below(3) == 0 {
                    text.push(b'!');
                }
                text.extend_from_slice(&pool[number]);
                members.push((line, number));
            }
        }
        // A pattern that ends in CR must keep its meaning, so it gets no second one.
        let ends: &[&str] = if text.ends_with(b"\r") { &["\n"] } else { &["\n", "\n", "\n", "\r\n"] };
        text.extend_from_slice(random.pick(ends).as_bytes());
    }
    if random.below(4) == 0 {
        text.pop();
    }
    (text, members)
}

#[derive(Clone, Copy, PartialEq)]
enum Negation {
    None,
    Some,
}

/// The answers on all directories above a probe.
fn above<'a>(probe: &Probe, by_dir: &HashMap<&[u8], &'a Answer>) -> Vec<&'a Answer> {
    let path = RelPath::new(&probe.0).unwrap();
    path.ancestors().map(|dir| by_dir[dir.as_bytes()]).collect()
}

#[test]
fn generated_rules_decide_as_git_does() {
    if !git_is_here() {
        return;
    }
    let mut random = Random(seed());
    let probes = probes();
    let pool: Vec<Vec<u8>> = (0..2500).map(|_| generate_pattern(&mut random)).collect();
    let positive: Vec<_> = (0..700).map(|_| generate_file(&mut random, &pool, Negation::None)).collect();
    let mixed: Vec<_> = (0..1000).map(|_| generate_file(&mut random, &pool, Negation::Some)).collect();
    let files: Vec<Vec<u8>> = (pool.iter().map(|pattern| [pattern, &b"\n"[..]].concat()))
        .chain(positive.iter().chain(&mixed).map(|(text, _)| text.clone()))
        .collect();
    let answers = ask_git(&files, &probes);
    let (alone, together) = answers.split_at(pool.len());

    // One rule: the same verdict by the same text.
    let mut differences = Differences::default();
    for (text, right) in files.iter().zip(alone) {
        let rules = parse(text);
        for (probe, right) in probes.iter().zip(right) {
            differences.compare(text, probe, &ask_us(&rules, probe).1, right);
        }
    }
    differences.finish(80_000);

    // Several rules. What ours must say is known always, from the single answers; what git says of the whole file is
    // the same unless a directory above was matched.
    let mut by_parts = Differences::default();
    let mut as_whole = Differences::default();
    let mut without_negation = Differences::default();
    for (((text, members), whole), is_positive) in
        positive.iter().chain(&mixed).zip(together).zip((0..).map(|number| number < positive.len()))
    {
        let rules = parse(text);
        let by_dir: HashMap<&[u8], &Answer> = (probes.iter().zip(whole))
            .filter(|(probe, _)| probe.1 == EntryKind::Dir)
            .map(|(probe, answer)| (probe.0.as_slice(), answer))
            .collect();
        for (index, (probe, whole)) in probes.iter().zip(whole).enumerate() {
            let (verdict, ours) = ask_us(&rules, probe);
            let right = members.iter().rev().find(|(_, number)| alone[*number][index].is_some());
            by_parts.compare(text, probe, &ours.as_ref().map(|(line, _)| *line), &right.map(|(line, _)| *line));
            if is_positive {
                without_negation.compare(text, probe, &verdict.is_included(), &whole.is_none());
            }
            if above(probe, &by_dir).iter().all(|answer| answer.is_none()) {
                as_whole.compare(text, probe, &ours, whole);
            }
        }
    }
    by_parts.finish(50_000);
    without_negation.finish(20_000);
    as_whole.finish(20_000);
}

#[test]
fn classes_hold_the_same_bytes_as_gits() {
    if !git_is_here() {
        return;
    }
    let names = [
        "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit",
    ];
    let mut classes: Vec<String> = names.iter().map(|name| format!("[[:{name}:]]")).collect();
    classes.extend(names.iter().map(|name| format!("[![:{name}:]]")));
    let mut random = Random(seed());
    for _ in 0..250 {
        let members =
            ["a", "z", "0", "-", "-", "-", "]", "[", "!", "^", "\\", " ", "[:digit:]", "[:", ":]", "~", "\u{e9}"];
        let members: String = (0..=random.below(6)).map(|_| random.pick(&members)).collect();
        classes.push(format!("[{}{members}]", random.pick(&["", "", "!", "^"])));
    }
    let files: Vec<Vec<u8>> = classes.iter().map(|class| format!("x{class}y\n").into_bytes()).collect();
    let bytes = (1..=u8::MAX).filter(|byte| *byte != b'/');
    let probes: Vec<Probe> = bytes.map(|byte| (vec![b'x', byte, b'y'], EntryKind::NotDir)).collect();
    assert_eq!(probes.len(), 254);

    let mut differences = Differences::default();
    for (text, right) in files.iter().zip(ask_git(&files, &probes)) {
        let rules = parse(text);
        for (probe, right) in probes.iter().zip(right) {
            differences.compare(text, probe, &ask_us(&rules, probe).1, &right);
        }
    }
    differences.finish(24 * 254);
}

/// Where we differ from git on purpose: rules, path, is it included by us, by git. Both columns are checked, so that
/// the table stays true when either side changes.
#[test]
fn the_differences_from_git_are_these() {
    if !git_is_here() {
        return;
    }
    for (text, path, ours, gits) in [
        ("build/\n!build/keep.txt\n", "build/keep.txt", true, false),
        ("logs/\n!logs/a.log\n", "logs/a.log", true, false),
        ("*\n!*.md\n", "d/x.md", true, false),
        ("*\n!keep/\n", "keep/x", true, false),
        ("*.log\n!logs/\n", "logs/a.log", true, false),
        ("data/**\n!data/**/\n!data/**/*.txt\n", "data/d/a.bin", true, false),
        ("runs/**\n!runs/**/exports/*.mp4\n", "runs/a/exports/f.mp4", true, false),
        // Git ends a line at a NUL; for us it is no pattern.
        ("a\0b\n", "a", true, false),
        // And in these we do as git does, which the original does not.
        ("foo/**\n", "foo", true, true),
        ("[!a]x\n", "bx", false, false),
        ("foo\\ \n", "foo ", false, false),
        ("foo/*\n!foo/bar\n", "foo/bar/file", true, true),
    ] {
        let probe = (path.as_bytes().to_vec(), EntryKind::NotDir);
        let (verdict, _) = ask_us(&parse(text.as_bytes()), &probe);
        assert_eq!(verdict.is_included(), ours, "ours: {text:?} on {path}");
        let answers = ask_git(&[text.as_bytes().to_vec()], &[probe]);
        let included = answers[0][0].as_ref().is_none_or(|(_, pattern)| pattern.starts_with(b"!"));
        assert_eq!(included, gits, "git: {text:?} on {path}");
    }
}
