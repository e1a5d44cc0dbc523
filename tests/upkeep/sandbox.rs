//! A scratch workspace and store, the programs with a cleared environment, and one result that must be used.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A workspace `w` and a store `s` side by side.
pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
}

/// What a program did.
#[derive(Debug)]
#[must_use]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The output, of a program that must have succeeded.
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, 0, "stdout: {}\nstderr: {}", self.out, self.err);
        self.out
    }

    /// Demands an exit code.
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    /// Demands words on standard error.
    pub(crate) fn says(self, words: &str) -> Self {
        assert!(self.err.contains(words), "no {words:?} in stderr: {}\nstdout: {}", self.err, self.out);
        self
    }

    /// The lines of the output.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.out.lines().map(str::to_owned).collect()
    }
}

fn program(name: &str) -> PathBuf {
    let any = PathBuf::from(env!("CARGO_BIN_EXE_wt-prune"));
    any.with_file_name(name)
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::DirBuilder::new().create(dir.path().join("w")).unwrap();
        Self { dir }
    }

    /// A sandbox in memory, where the machine has room there: flushing costs nothing.
    pub(crate) fn in_memory() -> Self {
        let Ok(dir) = tempfile::tempdir_in("/dev/shm") else { return Self::new() };
        fs::DirBuilder::new().create(dir.path().join("w")).unwrap();
        Self { dir }
    }

    /// Another sandbox with the same workspace and store: cheaper than capturing again.
    pub(crate) fn copy(&self) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let status = Command::new("cp").arg("-a").arg(self.dir.path().join(".")).arg(dir.path()).status().unwrap();
        assert!(status.success());
        Self { dir }
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.dir.path().join("w")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.dir.path().join("s")
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.store().join("runs")
    }

    pub(crate) fn history(&self, run: &str) -> PathBuf {
        self.runs().join(run).join("workspace")
    }

    pub(crate) fn manifest(&self, run: &str, id: &str) -> PathBuf {
        self.history(run).join("snapshots").join(format!("{id}.json"))
    }

    /// The object that holds `content`.
    pub(crate) fn object(&self, content: &[u8]) -> PathBuf {
        let hex = oid(content);
        self.store().join("workspace-objects").join(&hex[..2]).join(&hex[2..])
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, path: &str, content: &[u8]) {
        put(&self.workspace().join(path), content);
    }

    pub(crate) fn command(&self, name: &str) -> Command {
        self.program(&program(name))
    }

    fn program(&self, path: &Path) -> Command {
        let mut command = Command::new(path);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.dir.path())
            .env("WT_STORE", self.store())
            .env("WT_WORKSPACE", self.workspace())
            .env("WT_FSYNC", "off")
            .env("WT_LOCK_WAIT", "5")
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, name: &str, args: &[S]) -> Ran {
        ran(self.command(name).args(args))
    }

    /// As `run`, waiting for locks only this long.
    pub(crate) fn impatient<S: AsRef<OsStr>>(&self, name: &str, args: &[S]) -> Ran {
        ran(self.command(name).args(args).env("WT_LOCK_WAIT", "0.1"))
    }

    /// As `run`, with a disturbance of the seam: `<n>:<kill or errno>`. Says also whether it happened.
    pub(crate) fn disturbed<S: AsRef<OsStr>>(&self, name: &str, args: &[S], fault: &str) -> (Ran, bool) {
        let fired = self.dir.path().join("fired");
        let _ = fs::File::create(&fired).unwrap();
        let ran = ran(self.command(name).args(args).env("WT_TEST_FAULT", fault).env("WT_TEST_FIRED", &fired));
        let has_fired = fs::metadata(&fired).unwrap().len() > 0;
        if has_fired {
            count_one();
        }
        (ran, has_fired)
    }

    /// As `run`, with a shell command at a moment of the seam.
    pub(crate) fn hooked<S: AsRef<OsStr>>(&self, name: &str, args: &[S], hook: &str) -> Ran {
        ran(self.command(name).args(args).env("WT_TEST_HOOK", hook))
    }

    /// A shell command that finds the programs by their names.
    pub(crate) fn shell(&self, command: &str) -> Command {
        let mut shell = self.program(Path::new("sh"));
        let programs = program("wt").parent().unwrap().display().to_string();
        let path = std::env::var("PATH").unwrap();
        shell.env("PATH", format!("{programs}:{path}")).arg("-c").arg(command);
        shell
    }

    /// The shell command of a whole capture.
    #[allow(clippy::unused_self, reason = "it belongs to the others at the call")]
    pub(crate) fn capture_script(&self, run: &str, label: Option<&str>) -> String {
        let label = label.map(|label| format!("--label '{label}'")).unwrap_or_default();
        format!(
            "'{}' -z --records --run '{run}' | '{}' -w -z --stdin-records --run '{run}' | '{}' -z --run '{run}' {label}",
            program("wt-ls-files").display(),
            program("wt-hash-object").display(),
            program("wt-write-manifest").display(),
        )
    }

    /// Captures the workspace; returns the snapshot's id.
    pub(crate) fn capture(&self, run: &str, label: Option<&str>) -> String {
        ran(&mut self.shell(&self.capture_script(run, label))).ok().trim().to_owned()
    }

    /// Captures a workspace in which `path` holds `content`.
    pub(crate) fn capture_with(&self, run: &str, label: Option<&str>, path: &str, content: &[u8]) -> String {
        self.write(path, content);
        self.capture(run, label)
    }

    /// Every file below the store but locks, with its content: what a program left or changed.
    pub(crate) fn image(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut image = Vec::new();
        collect(&self.store(), &mut image);
        image.sort();
        image
    }

    /// How many objects are in the pool.
    pub(crate) fn objects(&self) -> usize {
        let pool = self.store().join("workspace-objects");
        self.image().iter().filter(|(path, _)| path.starts_with(&pool) && path.parent() != Some(&pool)).count()
    }
}

/// Adds a byte to the file `WT_TEST_COUNT`, if that is set: how the numbers in the README are counted.
fn count_one() {
    use std::io::Write;
    if let Some(path) = std::env::var_os("WT_TEST_COUNT") {
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        file.unwrap().write_all(b"x").unwrap();
    }
}

fn collect(dir: &Path, image: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, image);
        } else if path.file_name().is_some_and(|name| name != ".lock") {
            image.push((path.clone(), fs::read(&path).unwrap_or_default()));
        }
    }
}

fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let code = output.status.code().unwrap_or(-1);
    Ran {
        code,
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The id of a content, by the library's own hash: `wt-hash-object` has its own test against `sha256sum`.
pub(crate) fn oid(content: &[u8]) -> String {
    workspacetrack::store::hash::of_bytes(content).to_string()
}

/// Writes a file anywhere, with its directories.
pub(crate) fn put(path: &Path, content: &[u8]) {
    use std::io::Write;
    fs::DirBuilder::new().recursive(true).create(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap().write_all(content).unwrap();
}

/// Removes a file, link or tree.
pub(crate) fn rm(path: &Path) {
    assert!(Command::new("rm").arg("-rf").arg(path).status().unwrap().success());
}

/// Makes everything below a path three days old.
pub(crate) fn age(path: &Path) {
    let status = Command::new("find")
        .arg(path)
        .args(["-exec", "touch", "-h", "-d", "3 days ago", "{}", "+"])
        .status()
        .unwrap();
    assert!(status.success());
}

pub(crate) fn chmod(path: &Path, mode: &str) {
    assert!(Command::new("chmod").arg(mode).arg(path).status().unwrap().success());
}

/// Whether permissions bind this user: root reads everything.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}
