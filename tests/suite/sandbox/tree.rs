//! [`Tree`]: everything that can be seen of a directory tree, for comparison.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use sha2::{Digest, Sha256};

/// A tree as it was at one moment: paths to one line about each.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Tree(BTreeMap<Vec<u8>, String>);

/// What is noted of each path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Kind, mode, size, content.
    Content,
    /// Also inode, times, links and owner: whether anything touched it at all.
    Stat,
}

impl Tree {
    /// Kind, mode, size and content of everything.
    pub(crate) fn of(root: &Path) -> Self {
        Self::take(root, Detail::Content)
    }

    /// The same with inode, times, number of links and owner. Times of access are not compared: reading is allowed.
    pub(crate) fn with_stat(root: &Path) -> Self {
        Self::take(root, Detail::Stat)
    }

    fn take(root: &Path, detail: Detail) -> Self {
        let mut lines = BTreeMap::new();
        visit(root, Vec::new(), detail, &mut lines);
        Self(lines)
    }

    /// The tree without some paths and everything below them.
    #[allow(dead_code, reason = "for the tests of restores")]
    pub(crate) fn without(mut self, names: &[&str]) -> Self {
        let within = |path: &[u8], name: &[u8]| {
            path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        self.0.retain(|path, _| !names.iter().any(|name| within(path, name.as_bytes())));
        self
    }

    /// What a snapshot can record of it: all but directories that hold something, whose modes are nobody's business.
    pub(crate) fn recorded(&self) -> Self {
        let holds_something = |path: &[u8]| {
            let slash = if path.is_empty() { &b""[..] } else { b"/" };
            let below = [path, slash].concat();
            self.0.range(below.clone()..).any(|(other, _)| other.len() > below.len() && other.starts_with(&below))
        };
        let is_left = |path: &[u8], line: &str| !line.ends_with(" directory") || !holds_something(path);
        Self(
            self.0
                .iter()
                .filter(|(path, line)| is_left(path, line))
                .map(|(path, line)| (path.clone(), line.clone()))
                .collect(),
        )
    }

    /// What stands about a path.
    pub(crate) fn line(&self, name: &[u8]) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The paths, as bytes.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0.keys().map(Vec::as_slice)
    }

    /// Expects that every path is as it is in one of two trees: whole-old or whole-new. Modes of directories may be
    /// lifted for the moment.
    #[track_caller]
    pub(crate) fn assert_between(&self, old: &Self, new: &Self, what: &str) {
        let simple = |line: Option<&str>| match line {
            Some(line) if line.ends_with(" directory") => Some("directory".to_owned()),
            line => line.map(str::to_owned),
        };
        for path in self.0.keys().chain(old.0.keys()).chain(new.0.keys()) {
            let (is, was, will) = (simple(self.line(path)), simple(old.line(path)), simple(new.line(path)));
            assert!(
                is == was || is == will,
                "{what}: '{}' is {is:?}, was {was:?}, will be {will:?}",
                path.escape_ascii()
            );
        }
    }

    /// The part of the tree that is one path.
    pub(crate) fn only(&self, name: &str) -> Self {
        Self(
            self.0
                .iter()
                .filter(|(path, _)| path.as_slice() == name.as_bytes())
                .map(|(path, line)| (path.clone(), line.clone()))
                .collect(),
        )
    }

    /// The paths, for those whose names are text.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.0
            .keys()
            .filter(|path| !path.is_empty())
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect()
    }

    /// Expects the same tree, and says what differs.
    #[track_caller]
    pub(crate) fn assert_same(&self, now: &Self, what: &str) {
        let mut report = String::new();
        let paths: std::collections::BTreeSet<_> = self.0.keys().chain(now.0.keys()).collect();
        for path in paths {
            let (was, is) = (self.0.get(path), now.0.get(path));
            if was != is {
                let absent = "absent".to_owned();
                let (was, is) = (was.unwrap_or(&absent), is.unwrap_or(&absent));
                writeln!(report, "  '{}'\n    was {was}\n    is  {is}", path.escape_ascii()).unwrap();
            }
        }
        assert!(report.is_empty(), "{what}: the trees differ\n{report}");
    }
}

fn visit(root: &Path, name: Vec<u8>, detail: Detail, lines: &mut BTreeMap<Vec<u8>, String>) {
    let path = root.join(std::ffi::OsStr::from_bytes(&name));
    let meta = path.symlink_metadata().unwrap();
    let file_type = meta.file_type();
    let mut line = format!("{:04o} ", meta.mode() & 0o7777);
    if file_type.is_dir() {
        line.push_str("directory");
    } else if file_type.is_symlink() {
        let target = std::fs::read_link(&path).unwrap();
        write!(line, "link to '{}'", target.as_os_str().as_bytes().escape_ascii()).unwrap();
    } else if file_type.is_file() {
        write!(line, "file of {} bytes: {}", meta.len(), content(&path)).unwrap();
    } else {
        let kind = if file_type.is_fifo() { "fifo" } else { "socket or device" };
        line.push_str(kind);
    }
    if detail == Detail::Stat {
        write!(
            line,
            " ino {} mtime {}.{:09} ctime {}.{:09} links {} owner {}:{}",
            meta.ino(),
            meta.mtime(),
            meta.mtime_nsec(),
            meta.ctime(),
            meta.ctime_nsec(),
            meta.nlink(),
            meta.uid(),
            meta.gid()
        )
        .unwrap();
    }
    lines.insert(name.clone(), line);
    // A suite that is not run as root cannot look into what its user cannot look into.
    if let Some(entries) = file_type.is_dir().then(|| std::fs::read_dir(&path).ok()).flatten() {
        for entry in entries {
            let child = entry.unwrap().file_name();
            let slash = if name.is_empty() { &b""[..] } else { b"/" };
            visit(root, [&name, slash, child.as_bytes()].concat(), detail, lines);
        }
    }
}

fn content(path: &Path) -> String {
    match std::fs::read(path) {
        Err(_) => "unreadable".into(),
        Ok(bytes) if bytes.len() <= 60 => format!("'{}'", bytes.escape_ascii()),
        Ok(bytes) => hex::encode(Sha256::digest(&bytes)),
    }
}
