//! [`RulesFile`]: the one file of the workspace root that holds the project's rules.
//!
//! `.iterionignore` counts as soon as the name exists: one that cannot be read as a regular file is an error, since
//! going on without it would capture, or delete, what its author left out. `.gitignore` is somebody else's file, so a
//! bad one is warned about and taken as empty. Nothing here waits on a FIFO or opens a device.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{RuleSource, Warning};
use crate::error::{Error, Result, describe};
use crate::stream::quote;

/// How large a rules file may be, in bytes.
pub const RULES_FILE_SIZE_BYTES_MAX: usize = 1 << 20;

/// The rules of a workspace as they were read, before any meaning is given to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesFile {
    /// Which file it was.
    pub source: RuleSource,
    /// Its bytes; empty where there was no file or a bad `.gitignore`.
    pub text: Vec<u8>,
}

impl RulesFile {
    /// Reads the rules file of the workspace open at `root`; `root_path` is its path, for messages and for links.
    ///
    /// # Errors
    /// `Refused` or `Io` when `.iterionignore` exists and cannot be read as a regular file; `Limit` when the file that
    /// counts is larger than [`RULES_FILE_SIZE_BYTES_MAX`].
    pub fn read(root: BorrowedFd<'_>, root_path: &Path) -> Result<(Self, Vec<Warning>)> {
        if let Some(text) = read_own(root, root_path)? {
            return Ok((Self { source: RuleSource::IterionIgnore, text }, Vec::new()));
        }
        let source = RuleSource::GitIgnore;
        match read_git(root, root_path) {
            Ok(Some(text)) => Ok((Self { source, text }, Vec::new())),
            Ok(None) => Ok((Self { source: RuleSource::None, text: Vec::new() }, Vec::new())),
            Err(Bad::TooLarge) => Err(too_large(&root_path.join(source.name()))),
            Err(bad) => {
                let message = format!("{}, taken as empty", bad.describe());
                Ok((Self { source, text: Vec::new() }, vec![Warning { source, line: None, message }]))
            }
        }
    }
}

/// Why a name does not lead to rules.
enum Bad {
    NotRegular(&'static str),
    LeadsOut,
    TooLarge,
    Io(io::Error),
}

impl Bad {
    fn describe(&self) -> String {
        match self {
            Self::NotRegular(what) => format!("it is {what}, not a regular file"),
            Self::LeadsOut => "it is a symbolic link that leads out of the workspace".into(),
            Self::TooLarge => format!("it is larger than {RULES_FILE_SIZE_BYTES_MAX} bytes"),
            Self::Io(cause) => format!("cannot read it: {}", describe(cause)),
        }
    }
}

impl From<Errno> for Bad {
    fn from(cause: Errno) -> Self {
        Self::Io(cause.into())
    }
}

fn too_large(path: &Path) -> Error {
    let message = format!("{} is larger than the {RULES_FILE_SIZE_BYTES_MAX} bytes allowed", quote::path(path));
    Error::limit(message).at(path).hint("shorten it; patterns can stand for many paths")
}

fn read_own(root: BorrowedFd<'_>, root_path: &Path) -> Result<Option<Vec<u8>>> {
    let name = RuleSource::IterionIgnore.name();
    let path = root_path.join(name);
    let hint = "make it a readable regular file, or remove it so that '.gitignore' counts";
    match read_plain(root, Path::new(name)) {
        Ok(text) => Ok(text),
        Err(Bad::TooLarge) => Err(too_large(&path)),
        Err(Bad::Io(cause)) => Err(Error::io("cannot read", &path, &cause).hint(hint)),
        Err(bad) => {
            let message = format!("cannot use {}: {}", quote::path(&path), bad.describe());
            Err(Error::refused(message).at(&path).hint(hint))
        }
    }
}

fn read_git(root: BorrowedFd<'_>, root_path: &Path) -> std::result::Result<Option<Vec<u8>>, Bad> {
    let name = Path::new(RuleSource::GitIgnore.name());
    match rustix::fs::statat(root, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => {}
        _ => return read_plain(root, name),
    }
    // The kernel's RESOLVE_BENEATH would refuse absolute links into the workspace and is missing on other systems. So
    // the target is resolved by name, and then opened from the root without following anything: a link swapped in
    // meanwhile makes that fail.
    let root_real = root_path.canonicalize().map_err(Bad::Io)?;
    let target = root_path.join(name).canonicalize().map_err(Bad::Io)?;
    let inside = target.strip_prefix(&root_real).map_err(|_| Bad::LeadsOut)?;
    let gone = || Bad::Io(io::ErrorKind::NotFound.into());
    let Some(file_name) = inside.file_name() else { return Err(Bad::NotRegular("a link to a directory")) };
    let mut dir: Option<OwnedFd> = None;
    for component in inside.parent().unwrap_or(Path::new("")).components() {
        let Component::Normal(step) = component else { return Err(Bad::LeadsOut) };
        let at = dir.as_ref().map_or(root, AsFd::as_fd);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        dir = Some(rustix::fs::openat(at, step, flags, Mode::empty())?);
    }
    read_plain(dir.as_ref().map_or(root, AsFd::as_fd), Path::new(file_name))?.ok_or_else(gone).map(Some)
}

/// Reads a regular file whole; `None` if there is nothing of that name.
fn read_plain(dir: BorrowedFd<'_>, name: &Path) -> std::result::Result<Option<Vec<u8>>, Bad> {
    // Looked at before it is opened, since opening a device can do something; looked at again after, since it may have
    // been replaced, and opened without waiting in case that was by a FIFO.
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => check_regular(stat.st_mode)?,
        Err(Errno::NOENT) => return Ok(None),
        Err(cause) => return Err(cause.into()),
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Ok(fd) => File::from(fd),
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(Bad::NotRegular("a symbolic link")),
        Err(cause) => return Err(cause.into()),
    };
    check_regular(rustix::fs::fstat(&file)?.st_mode)?;
    let mut text = Vec::new();
    file.take(RULES_FILE_SIZE_BYTES_MAX as u64 + 1).read_to_end(&mut text).map_err(Bad::Io)?;
    if text.len() > RULES_FILE_SIZE_BYTES_MAX { Err(Bad::TooLarge) } else { Ok(Some(text)) }
}

fn check_regular(mode: rustix::fs::RawMode) -> std::result::Result<(), Bad> {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Bad::NotRegular("a directory")),
        FileType::Symlink => Err(Bad::NotRegular("a symbolic link")),
        FileType::Fifo => Err(Bad::NotRegular("a FIFO")),
        FileType::Socket => Err(Bad::NotRegular("a socket")),
        _ => Err(Bad::NotRegular("a device")),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test builds its trees with its own hands")]
mod tests {
    use super::*;
    use crate::error::Kind;
    use std::fs;
    use std::os::unix::fs::symlink;

    struct Workspace(tempfile::TempDir);

    impl Workspace {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn at(&self, name: &str) -> std::path::PathBuf {
            self.0.path().join(name)
        }

        fn with(self, name: &str, text: impl AsRef<[u8]>) -> Self {
            fs::write(self.at(name), text).unwrap();
            self
        }

        fn with_fifo(self, name: &str) -> Self {
            rustix::fs::mknodat(rustix::fs::CWD, self.at(name), FileType::Fifo, Mode::RUSR, 0).unwrap();
            self
        }

        fn with_link(self, name: &str, target: impl AsRef<Path>) -> Self {
            symlink(target, self.at(name)).unwrap();
            self
        }

        fn read(&self) -> Result<(RulesFile, Vec<Warning>)> {
            let root = File::open(self.0.path()).unwrap();
            RulesFile::read(root.as_fd(), self.0.path())
        }

        /// The source, the text and the warnings, in one string.
        fn outcome(&self) -> String {
            let (file, warnings) = self.read().unwrap();
            let text = String::from_utf8(file.text).unwrap();
            warnings.iter().fold(format!("{} {text:?}", file.source), |all, warning| format!("{all} [{warning}]"))
        }
    }

    #[test]
    fn the_first_name_that_exists_counts() {
        assert_eq!(Workspace::new().outcome(), "none \"\"");
        assert_eq!(Workspace::new().with(".gitignore", "a").outcome(), ".gitignore \"a\"");
        let both = Workspace::new().with(".gitignore", "a").with(".iterionignore", "");
        assert_eq!(both.outcome(), ".iterionignore \"\"");
    }

    #[test]
    fn an_iterionignore_that_is_no_readable_file_is_refused() {
        let fifo = Workspace::new().with_fifo(".iterionignore");
        let link = Workspace::new().with("target", "a").with_link(".iterionignore", "target");
        let dir = Workspace::new();
        fs::create_dir(dir.at(".iterionignore")).unwrap();
        for (workspace, what) in [(fifo, "a FIFO"), (link, "a symbolic link"), (dir, "a directory")] {
            let error = workspace.read().unwrap_err();
            assert_eq!(error.kind(), Kind::Refused);
            assert!(error.to_string().contains(&format!("it is {what}, not a regular file; make it")), "{error}");
        }
    }

    #[test]
    fn a_gitignore_that_is_no_readable_file_is_empty_with_a_warning() {
        let fifo = Workspace::new().with_fifo(".gitignore");
        let dir = Workspace::new();
        fs::create_dir(dir.at(".gitignore")).unwrap();
        let dangling = Workspace::new().with_link(".gitignore", "nowhere");
        let endless = Workspace::new().with_link(".gitignore", ".gitignore");
        let outside = Workspace::new().with_link(".gitignore", "/etc/passwd");
        let link_to_fifo = Workspace::new().with_fifo("pipe").with_link(".gitignore", "pipe");
        let link_to_root = Workspace::new().with_link(".gitignore", ".");
        for (workspace, why) in [
            (fifo, "it is a FIFO, not a regular file"),
            (dir, "it is a directory, not a regular file"),
            (dangling, "cannot read it: no such file or directory"),
            (endless, "cannot read it: too many levels of symbolic links"),
            (outside, "it is a symbolic link that leads out of the workspace"),
            (link_to_fifo, "it is a FIFO, not a regular file"),
            (link_to_root, "it is a link to a directory, not a regular file"),
        ] {
            assert_eq!(workspace.outcome(), format!(".gitignore \"\" [.gitignore: {why}, taken as empty]"));
        }
    }

    #[test]
    fn a_gitignore_link_that_stays_inside_is_read() {
        let relative = Workspace::new().with("real", "a").with_link(".gitignore", "real");
        assert_eq!(relative.outcome(), ".gitignore \"a\"");
        let deep = Workspace::new().with_link(".gitignore", "d/e/real");
        fs::create_dir_all(deep.at("d/e")).unwrap();
        let deep = deep.with("d/e/real", "b");
        assert_eq!(deep.outcome(), ".gitignore \"b\"");
        let absolute = Workspace::new().with("real", "c");
        symlink(absolute.at("real"), absolute.at(".gitignore")).unwrap();
        assert_eq!(absolute.outcome(), ".gitignore \"c\"");
    }

    #[test]
    fn unreadable_files_say_so() {
        if rustix::process::geteuid().is_root() {
            return; // Root reads everything.
        }
        let forbid = |workspace: &Workspace, name: &str| {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(workspace.at(name), fs::Permissions::from_mode(0o000)).unwrap();
        };
        let own = Workspace::new().with(".iterionignore", "a");
        forbid(&own, ".iterionignore");
        assert_eq!(own.read().unwrap_err().kind(), Kind::Io);
        let git = Workspace::new().with(".gitignore", "a");
        forbid(&git, ".gitignore");
        assert!(git.outcome().contains("cannot read it: permission denied, taken as empty"));
    }

    #[test]
    fn the_size_is_bounded() {
        for name in [".gitignore", ".iterionignore"] {
            let at = Workspace::new().with(name, vec![b'a'; RULES_FILE_SIZE_BYTES_MAX]);
            assert_eq!(at.read().unwrap().0.text.len(), RULES_FILE_SIZE_BYTES_MAX);
            let past = Workspace::new().with(name, vec![b'a'; RULES_FILE_SIZE_BYTES_MAX + 1]);
            let error = past.read().unwrap_err();
            assert_eq!(error.kind(), Kind::Limit);
            assert!(error.to_string().contains("1048576 bytes allowed"), "{error}");
        }
    }
}
