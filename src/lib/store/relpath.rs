//! [`RelPath`]: a path inside the workspace, as bytes, that cannot lead out of it.

use std::borrow::Borrow;
use std::ffi::OsStr;
use std::fmt;
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A workspace-relative path: non-empty, `/`-separated bytes without NUL, whose components are neither empty, `.` nor
/// `..`. Names are bytes from end to end; they need not be UTF-8. Ordered by bytes, as manifests are.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct RelPath([u8]);

/// An owned [`RelPath`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPathBuf(Vec<u8>);

/// Why some bytes are not a [`RelPath`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadPath(&'static str);

impl fmt::Display for BadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

fn check(bytes: &[u8]) -> Result<(), BadPath> {
    if is_clearly_good(bytes) { Ok(()) } else { check_each(bytes) }
}

/// Whether no component can be anything but a name: none begins with a dot, none is empty, no byte is NUL. It looks at all
/// bytes without an early end, many at once: paths are checked by the ten thousand.
#[allow(clippy::needless_bitwise_bool, reason = "a branch a byte is what this is there to avoid")]
fn is_clearly_good(bytes: &[u8]) -> bool {
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    let bad = |byte: u8| byte == 0;
    let opens_badly = |byte: u8| (byte == b'/') | (byte == b'.');
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    let any = pairs.fold(false, |any, (byte, next)| any | bad(*byte) | ((*byte == b'/') & opens_badly(*next)));
    !(any | opens_badly(*first) | bad(*last) | (*last == b'/'))
}

fn check_each(bytes: &[u8]) -> Result<(), BadPath> {
    if bytes.is_empty() {
        return Err(BadPath("the path is empty"));
    }
    if bytes.contains(&0) {
        return Err(BadPath("the path contains a NUL byte"));
    }
    if bytes.starts_with(b"/") {
        return Err(BadPath("the path is absolute"));
    }
    for component in bytes.split(|b| *b == b'/') {
        match component {
            b"" => return Err(BadPath("the path has an empty component")),
            b"." | b".." => return Err(BadPath("the path has a '.' or '..' component")),
            _ => {}
        }
    }
    Ok(())
}

impl RelPathBuf {
    /// Takes bytes that somebody else wrote.
    ///
    /// # Errors
    /// [`BadPath`] says which rule they break.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, BadPath> {
        let bytes = bytes.into();
        check(&bytes)?;
        Ok(Self(bytes))
    }

    /// Joins a directory (`None` for the root) and a name that the kernel returned for one of its entries.
    ///
    /// The name of a directory entry has no slash, is not empty and not a dot name, so the result keeps the rules.
    #[must_use]
    pub fn join(dir: Option<&RelPath>, name: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(dir.map_or(0, |d| d.0.len() + 1) + name.len());
        if let Some(dir) = dir {
            bytes.extend_from_slice(&dir.0);
            bytes.push(b'/');
        }
        bytes.extend_from_slice(name);
        debug_assert!(check(&bytes).is_ok());
        Self(bytes)
    }
}

impl RelPath {
    /// Takes bytes that somebody else wrote, without copying them.
    ///
    /// # Errors
    /// [`BadPath`] says which rule they break.
    pub fn new(bytes: &[u8]) -> Result<&Self, BadPath> {
        check(bytes)?;
        Ok(crate::sys::relpath_from_bytes(bytes))
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The name as the operating system takes it.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The text, where the name is UTF-8.
    #[must_use]
    pub fn to_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The directory it lies in; `None` for an entry of the workspace root.
    #[must_use]
    pub fn parent(&self) -> Option<&Self> {
        let slash = memchr::memrchr(b'/', &self.0)?;
        Some(crate::sys::relpath_from_bytes(self.0.get(..slash)?))
    }

    /// The last component.
    #[must_use]
    pub fn file_name(&self) -> &[u8] {
        self.0.rsplit(|b| *b == b'/').next().unwrap_or(&self.0)
    }

    /// The components, first to last.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0.split(|b| *b == b'/')
    }

    /// All directories above it, nearest first, without the workspace root.
    pub fn ancestors(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(self.parent(), |path| path.parent())
    }

    /// Whether it is `other` or lies below it, by whole components: `ab/f` is not within `a`.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.strip_prefix(&other.0).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

impl Deref for RelPathBuf {
    type Target = RelPath;
    fn deref(&self) -> &RelPath {
        crate::sys::relpath_from_bytes(&self.0)
    }
}

impl Borrow<RelPath> for RelPathBuf {
    fn borrow(&self) -> &RelPath {
        self
    }
}

impl AsRef<RelPath> for RelPathBuf {
    fn as_ref(&self) -> &RelPath {
        self
    }
}

impl AsRef<Path> for RelPath {
    fn as_ref(&self) -> &Path {
        self.as_path()
    }
}

impl ToOwned for RelPath {
    type Owned = RelPathBuf;
    fn to_owned(&self) -> RelPathBuf {
        RelPathBuf(self.0.to_vec())
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::stream::quote::name(&self.0))
    }
}

impl fmt::Debug for RelPathBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_every_way_out() {
        for bad in
            [&b""[..], b"/a", b"a//b", b"a/", b"..", b"a/../b", b"./a", b"a/.", b"a\0b", b"\0", b"a\0", b".", b"/"]
        {
            assert!(RelPath::new(bad).is_err(), "{bad:?}");
            assert!(RelPathBuf::new(bad).is_err(), "{bad:?}");
            assert!(!is_clearly_good(bad), "{bad:?}");
        }
        for good in [&b"a"[..], b"a/b", b"...", b".a", b"-rf", b"\xff", b" ", b"a\nb"] {
            assert!(RelPath::new(good).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn within_means_whole_components() {
        let path = |text: &'static str| RelPath::new(text.as_bytes()).unwrap();
        assert!(path("a/f").is_within(path("a")));
        assert!(path("a").is_within(path("a")));
        assert!(!path("ab/f").is_within(path("a")));
        assert!(!path("a").is_within(path("a/f")));
        assert_eq!(path("a/b/c").ancestors().map(RelPath::as_bytes).collect::<Vec<_>>(), [&b"a/b"[..], b"a"]);
    }
}
