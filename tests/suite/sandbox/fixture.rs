//! Building trees: every kind of file and every kind of name, owned by the user that the programs run as.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Sandbox, USER, programs};

/// Gives a path to the user that the programs run as.
pub(crate) fn own(path: &Path) {
    if programs::is_root() {
        std::os::unix::fs::lchown(path, Some(USER), Some(USER)).unwrap();
    }
}

/// Names that break programs which take names for text, lines or options.
pub(crate) fn odd_names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = [
        &b" leading blank"[..],
        b"trailing blank ",
        b"new\nline",
        b"\nfirst",
        b"tab\there",
        b"\tfirst",
        b"say \"quoted\"",
        b"\"",
        b"back\\slash",
        b"it's",
        b"-rf",
        b"--delete",
        b"*",
        b"a?c",
        b"[a]",
        b"{a,b}",
        b"$HOME",
        b"`id`",
        b"#comment",
        b"!bang",
        b"~",
        b"...",
        b".hidden",
        b"cr\r",
        b"bell\x07",
        b"del\x7f",
        b"\xff",
        b"\xfe",
        b"caf\xe9",
        b"\\xff",
        b"a:b",
        b"a=b;c&d<e>f|g",
    ]
    .into_iter()
    .map(<[u8]>::to_vec)
    .collect();
    names.extend(
        ["café", "cafe\u{301}", "\u{fffd}", "報告", "\u{85}c1 control", "\u{2028}"]
            .map(|name| name.as_bytes().to_vec()),
    );
    names.push(vec![b'n'; 255]);
    names
}

impl Sandbox {
    /// The path of something in the workspace, by bytes.
    pub(crate) fn path(&self, name: impl AsRef<[u8]>) -> PathBuf {
        self.w().join(OsStr::from_bytes(name.as_ref()))
    }

    fn parents(&self, name: &[u8]) {
        let mut dir = self.w();
        let components: Vec<&[u8]> = name.split(|b| *b == b'/').collect();
        for component in &components[..components.len() - 1] {
            dir.push(OsStr::from_bytes(component));
            if !dir.exists() {
                std::fs::create_dir(&dir).unwrap();
                own(&dir);
            }
        }
    }

    /// Writes a file of mode 0644, with the directories above it.
    pub(crate) fn file(&self, name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> &Self {
        self.parents(name.as_ref());
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        own(&path);
        self
    }

    /// Sets a mode.
    pub(crate) fn mode(&self, name: impl AsRef<[u8]>, mode: u32) -> &Self {
        std::fs::set_permissions(self.path(name), PermissionsExt::from_mode(mode)).unwrap();
        self
    }

    /// Makes a directory, with those above it.
    pub(crate) fn dir(&self, name: impl AsRef<[u8]>) -> &Self {
        self.parents(name.as_ref());
        let path = self.path(name);
        std::fs::create_dir(&path).unwrap();
        own(&path);
        self
    }

    /// Makes a symbolic link with this text.
    pub(crate) fn link(&self, name: impl AsRef<[u8]>, target: impl AsRef<[u8]>) -> &Self {
        self.parents(name.as_ref());
        let path = self.path(name);
        std::os::unix::fs::symlink(OsStr::from_bytes(target.as_ref()), &path).unwrap();
        own(&path);
        self
    }

    /// Makes a FIFO.
    pub(crate) fn fifo(&self, name: impl AsRef<[u8]>) -> &Self {
        self.parents(name.as_ref());
        let path = self.path(name);
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        own(&path);
        self
    }

    /// Makes a socket that nobody listens on.
    pub(crate) fn socket(&self, name: impl AsRef<[u8]>) -> &Self {
        self.parents(name.as_ref());
        let path = self.path(name);
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        own(&path);
        self
    }

    /// Sets the modification time, in seconds since the epoch.
    pub(crate) fn mtime(&self, name: impl AsRef<[u8]>, seconds: i64, nanoseconds: i64) -> &Self {
        let time = rustix::fs::Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
        let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
        let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
        rustix::fs::utimensat(rustix::fs::CWD, self.path(name), &times, flags).unwrap();
        self
    }

    /// Waits until everything made so far has been at rest for longer than the tick that the stat cache distrusts. No race
    /// is won by this: what counts is that the clock moved on.
    pub(crate) fn settle(&self) -> &Self {
        std::thread::sleep(std::time::Duration::from_millis(40));
        self
    }

    /// A tree with a bit of everything that can be captured whole.
    pub(crate) fn everything(&self) -> &Self {
        for (number, name) in odd_names().iter().enumerate() {
            self.file([b"names/", name.as_slice()].concat(), format!("content {number}\n"));
        }
        self.file("run.sh", "#!/bin/sh\n").mode("run.sh", 0o755).file("secret", "key\n").mode("secret", 0o600);
        self.file("empty file", "")
            .file("d1/d2/d3/deep", "deep\n")
            .file("twin", "same\n")
            .file("d1/twin", "same\n");
        self.file("readonly", "r\n").mode("readonly", 0o444);
        self.dir("empty dir")
            .dir("d1/empty")
            .mode("d1/empty", 0o700)
            .dir(b"odd \xff dir")
            .file([&b"odd \xff dir/\xfe"[..]].concat(), "x\n");
        self.link("link", "twin")
            .link("dangling", "/nowhere at all")
            .link("loop", "loop")
            .link("to dir", "d1")
            .link(b"\xfdlink", b"\xff\n");
        self.file("old", "old\n").mtime("old", -86_400 * 400, 5).file("late", "late\n").mtime(
            "late",
            9_300_000_000,
            1,
        );
        self
    }
}
