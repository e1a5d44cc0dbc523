//! A scratch store with one run `r`, and the program in a cleared environment.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The program.
pub(crate) const BIN: &str = env!("CARGO_BIN_EXE_run-events");

/// Nothing that is waited for takes this long, even on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
}

/// What a command did. Must be looked at.
#[must_use]
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    /// The output of a command that must have ended so.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> String {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.out, self.err);
        self.out
    }

    /// Checks the end and that standard error has this in it.
    #[track_caller]
    pub(crate) fn says(self, code: i32, text: &str) -> String {
        assert!(self.err.contains(text), "{text:?} is not in: {}", self.err);
        self.ends(code)
    }
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let sandbox = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::DirBuilder::new().recursive(true).create(sandbox.run_dir()).unwrap();
        sandbox
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn run_dir(&self) -> PathBuf {
        self.path().join("store/runs/r")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.run_dir().join("events.jsonl")
    }

    pub(crate) fn log_text(&self) -> String {
        String::from_utf8(std::fs::read(self.log()).unwrap()).unwrap()
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        put(&self.run_dir().join(name), bytes);
    }

    /// The program with its environment, or another one in the same environment.
    pub(crate) fn other(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("WT_STORE", self.path().join("store"))
            .env("WT_RUN", "r")
            .env("WT_FSYNC", "off")
            .current_dir(self.path());
        command
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.other(BIN);
        command.args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        run(self.command(args))
    }

    /// Another of our programs: its name, and its arguments.
    pub(crate) fn program(&self, line: &[&str]) -> Command {
        let (name, args) = line.split_first().unwrap();
        let path = Path::new(BIN).with_file_name(name);
        let mut command = self.other(path.to_str().unwrap());
        command.args(args);
        // All others find their run by `WT_RUN`; a new one has to be named.
        if line.starts_with(&["run-record", "create"]) && !line.contains(&"--run") {
            command.args(["--run", "r"]);
        }
        command
    }

    pub(crate) fn run_with(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Done {
        run_with(self.command(args), stdin)
    }

    /// Appends an event of type `t` and gives its number.
    #[track_caller]
    pub(crate) fn append(&self) -> u64 {
        self.run(&["append", "--type", "t"]).ends(0).trim().parse().unwrap()
    }

    /// The numbers that `cat` prints.
    #[track_caller]
    pub(crate) fn seqs(&self, args: &[&str]) -> Vec<u64> {
        let done = self.run(&[&["cat", "--format", "{seq}"], args].concat());
        assert!(matches!(done.code, 0 | 3), "{}", done.err);
        done.out.lines().map(|line| line.parse().unwrap()).collect()
    }
}

pub(crate) fn put(path: &Path, bytes: impl AsRef<[u8]>) {
    std::fs::File::create(path).unwrap().write_all(bytes.as_ref()).unwrap();
}

pub(crate) fn add(path: &Path, bytes: impl AsRef<[u8]>) {
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(bytes.as_ref()).unwrap();
}

pub(crate) fn run(mut command: Command) -> Done {
    let output = command.stdin(Stdio::null()).output().unwrap();
    done(&output)
}

pub(crate) fn run_with(mut command: Command, stdin: impl AsRef<[u8]>) -> Done {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes = stdin.as_ref().to_vec();
    // A program that refuses early does not read the rest.
    let writer = std::thread::spawn(move || {
        let _ = input.write_all(&bytes);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    done(&output)
}

fn done(output: &std::process::Output) -> Done {
    use std::os::unix::process::ExitStatusExt;
    let code = output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Done { code, out: text(&output.stdout), err: text(&output.stderr) }
}

/// Looks until something is so.
#[track_caller]
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < DEADLINE, "{what}: not within {} s", DEADLINE.as_secs());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A stranger, who holds a lock until he is dropped.
pub(crate) struct Holder(std::process::Child);

impl Holder {
    pub(crate) fn of(sandbox: &Sandbox, lock: &str) -> Self {
        let mut shell = sandbox.other("sh");
        shell.args(["-c", &format!("exec 9>'{lock}'; flock -n 9 && echo held; read wait")]);
        let mut child =
            shell.current_dir(sandbox.run_dir()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        assert_eq!(line, "held\n");
        Self(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// An event line as our writer would make it.
pub(crate) fn event(seq: u64) -> String {
    format!("{{\"seq\":{seq},\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"t\",\"run_id\":\"r\"}}\n")
}

pub(crate) fn events(count: u64) -> String {
    (0..count).map(event).collect::<Vec<_>>().concat()
}
