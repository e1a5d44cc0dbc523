//! [`Call`]: one run of a program or script, and [`Ran`]: everything it said, as one value that must be looked at.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use super::{Sandbox, programs};

/// Shell functions at hand in every script.
const PRELUDE: &str = include_str!("prelude.sh");
/// A call that takes longer than this hangs; it is killed and its test fails, seconds.
const TIMEOUT_SECONDS: &str = "120";

/// A call that is being put together.
pub(crate) struct Call<'a> {
    sandbox: &'a Sandbox,
    env: Vec<(String, OsString)>,
    input: Vec<u8>,
    shell: Vec<OsString>,
    dir: std::path::PathBuf,
    is_root: bool,
}

impl<'a> Call<'a> {
    pub(super) fn new(sandbox: &'a Sandbox) -> Self {
        let (shell, dir) = (vec!["sh".into()], sandbox.w());
        Self { sandbox, env: Vec::new(), input: Vec::new(), shell, dir, is_root: false }
    }

    /// Sets a variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Gives it something to read; without, standard input is empty.
    pub(crate) fn stdin(mut self, input: impl AsRef<[u8]>) -> Self {
        input.as_ref().clone_into(&mut self.input);
        self
    }

    /// Starts it in another directory.
    pub(crate) fn at(mut self, dir: impl Into<std::path::PathBuf>) -> Self {
        self.dir = dir.into();
        self
    }

    /// Runs the script with this shell instead of `sh`.
    pub(crate) fn shell(mut self, words: &[&str]) -> Self {
        self.shell = words.iter().map(OsString::from).collect();
        self
    }

    /// Runs it as root; only for suites that run as root themselves.
    #[allow(clippy::wrong_self_convention, reason = "it reads as a sentence")]
    pub(crate) fn as_root(mut self) -> Self {
        self.is_root = true;
        self
    }

    /// Runs a shell script; it stops at the first command that fails.
    pub(crate) fn sh(self, script: &str) -> Ran {
        let mut argv = self.shell.clone();
        argv.extend(["-c".into(), format!("{PRELUDE}\n{script}\n").into()]);
        self.start(&argv)
    }

    /// Runs one program.
    pub(crate) fn run(self, argv: &[impl AsRef<OsStr>]) -> Ran {
        let argv: Vec<OsString> = argv.iter().map(|word| word.as_ref().to_owned()).collect();
        self.start(&argv)
    }

    fn start(self, argv: &[OsString]) -> Ran {
        let mut words: Vec<OsString> =
            ["timeout", "-s", "KILL", TIMEOUT_SECONDS].into_iter().map(OsString::from).collect();
        if programs::is_root() && !self.is_root {
            words.extend(programs::as_user());
        }
        words.extend(argv.iter().cloned());
        let (program, rest) = words.split_first().unwrap();
        let mut command = Command::new(program);
        command.args(rest).env_clear().envs(self.sandbox.base_env()).envs(self.env).current_dir(&self.dir);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut stdin, stdout, stderr) =
            (child.stdin.take().unwrap(), child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let input = self.input;
        let writer = std::thread::spawn(move || {
            // A program that does not read its input is free to do so.
            let _ = stdin.write_all(&input);
        });
        let (stdout, stderr) = (reader(stdout), reader(stderr));
        let status = child.wait().unwrap();
        // What a script left running in the background would hold the pipes for ever; `timeout` leads their group.
        if let Some(group) = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        writer.join().unwrap();
        let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        let scratch = self.sandbox.t().to_str().unwrap().to_owned();
        Ran { stdout, stderr, code, scratch }
    }
}

fn reader(mut pipe: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

/// What a call wrote and how it ended.
#[must_use = "say what the call should have done: ok(), fails(code), exits(code)"]
pub(crate) struct Ran {
    /// Standard output, as it came.
    pub(crate) stdout: Vec<u8>,
    /// Standard error, as it came.
    pub(crate) stderr: Vec<u8>,
    /// The exit code; 128 and the signal for one that was killed.
    pub(crate) code: i32,
    scratch: String,
}

impl Ran {
    /// Standard output as text, without the last newline; bad bytes are replaced.
    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end_matches('\n').to_owned()
    }

    /// Standard error as text, with the scratch directory as `<T>`.
    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).replace(&self.scratch, "<T>")
    }

    /// Expects success; returns standard output.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert!(self.code == 0, "it should have succeeded:\n{}", self.text());
        self.out()
    }

    /// Expects success with nothing on standard error; returns standard output.
    #[track_caller]
    pub(crate) fn quietly_ok(self) -> String {
        assert!(self.code == 0 && self.stderr.is_empty(), "it should have said nothing:\n{}", self.text());
        self.out()
    }

    /// Expects this exit code, whatever was said; returns standard output.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> String {
        assert!(self.code == code, "it should have ended with {code}:\n{}", self.text());
        self.out()
    }

    /// Expects this exit code, and one error line of each program that failed, the last of them at the end of standard
    /// error; returns standard error.
    #[track_caller]
    pub(crate) fn fails(self, code: i32) -> String {
        let err = self.err();
        let programs: Vec<&str> = err.lines().filter_map(|line| Some(line.split_once(": error: ")?.0)).collect();
        let one_each = (1..programs.len()).all(|n| !programs[..n].contains(&programs[n]));
        let last = err.lines().last().unwrap_or_default();
        let well_formed = last.contains(": error: ") && !last.ends_with('.') && one_each;
        assert!(
            self.code == code && well_formed,
            "it should have failed with {code} and one error line:\n{}",
            self.text()
        );
        err
    }

    /// All of it as one text, in which the scratch directory is `<T>`, the n-th snapshot id `<snapshot n>` and the n-th
    /// object id `<object n>`.
    pub(crate) fn text(&self) -> String {
        let text = format!(
            "{}--- stderr\n{}--- exit {}",
            String::from_utf8_lossy(&self.stdout),
            String::from_utf8_lossy(&self.stderr),
            self.code
        );
        tokens(&text.replace(&self.scratch, "<T>"))
    }
}

fn tokens(text: &str) -> String {
    use std::fmt::Write as _;
    let (mut snapshots, mut objects) = (Vec::new(), Vec::new());
    let mut out = String::new();
    for (word, end) in words(text) {
        match word {
            _ if word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit()) => {
                write!(out, "<object {}>", number(&mut objects, word)).unwrap();
            }
            _ if is_snapshot_id(word) => write!(out, "<snapshot {}>", number(&mut snapshots, word)).unwrap(),
            _ => out.push_str(word),
        }
        out.push_str(end);
    }
    out
}

/// Runs of letters, digits and dashes, each with what follows it.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(word);
        let (end, tail) = tail.split_at(tail.find(is_word).unwrap_or(tail.len()));
        rest = tail;
        Some((word, end))
    })
}

fn is_snapshot_id(word: &str) -> bool {
    word.split_once('-').is_some_and(|(ns, n)| {
        ns.len() >= 16 && n.len() >= 4 && ns.bytes().chain(n.bytes()).all(|b| b.is_ascii_digit())
    })
}

fn number(seen: &mut Vec<String>, word: &str) -> usize {
    let place = seen.iter().position(|known| known == word).unwrap_or_else(|| {
        seen.push(word.to_owned());
        seen.len() - 1
    });
    place + 1
}

#[test]
fn a_text_has_tokens_instead_of_ids() {
    let oid = "a".repeat(64);
    let text =
        tokens(&format!("1795956271524628324-0001 x\n{oid} 1795956271524628324-0001/1795956271524628325-0001\n"));
    assert_eq!(text, "<snapshot 1> x\n<object 1> <snapshot 1>/<snapshot 2>\n");
}
