use std::os::fd::AsFd;

use super::*;
use crate::store::hash;
use crate::stream::record::EntryKind;

const NOW_NS: u64 = 1_000_000_000_000;

fn own(inode: u64) -> FileStat {
    FileStat {
        kind: EntryKind::Dir,
        mode: 0o755,
        size: 0,
        mtime_ns: Some(5),
        ctime_ns: Some(7),
        inode,
        device: 1,
        links: 2,
        uid: 0,
        gid: 0,
    }
}

fn name(bytes: &[u8], inherited: Option<u32>) -> Name<'_> {
    Name { bytes, inherited }
}

/// Learns that each of these directories holds `file` and `sub`.
fn learn(seen: &Seen, paths: &[String]) {
    let here = std::fs::File::open(".").unwrap();
    seen.devices.lock().unwrap().push((1, Trust::All));
    for (inode, path) in (1..).zip(paths) {
        let names = [name(b"file", None), name(b"sub", Some(1))];
        seen.learn(path.as_bytes(), here.as_fd(), &own(inode), Holding::Kept, names.into_iter());
    }
}

fn paths(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("d{number}")).collect()
}

fn begin(document: Option<Vec<u8>>) -> Seen {
    let seen = Seen::new(document.map(Document::from), hash::of_bytes(b"rules"), NOW_NS);
    seen.devices.lock().unwrap().push((1, Trust::All));
    seen
}

#[test]
fn what_was_learnt_is_recalled_for_the_same_directory_only() {
    let here = std::fs::File::open(".").unwrap();
    let seen = begin(None);
    learn(&seen, &paths(DIRS_MIN));
    let bytes = seen.into_bytes().unwrap();
    let seen = begin(Some(bytes.clone()));
    let recall = |path: &str, own: &FileStat| seen.recall(path.as_bytes(), here.as_fd(), own);
    let remembered = recall("d1", &own(2)).unwrap();
    let names: Vec<_> = remembered.names().map(Option::unwrap).collect();
    assert_eq!(names, [name(b"file", None), name(b"sub", Some(1))]);
    assert_eq!(remembered.holding, Holding::Kept);
    assert!(recall("d99", &own(2)).is_none(), "another path");
    assert!(recall("d1", &own(3)).is_none(), "another inode");
    assert!(recall("d1", &FileStat { device: 2, ..own(2) }).is_none(), "another device");
    assert!(recall("d1", &FileStat { mtime_ns: Some(6), ..own(2) }).is_none(), "another mtime");
    assert!(recall("d1", &FileStat { ctime_ns: Some(8), ..own(2) }).is_none(), "another ctime");
    assert!(recall("d1", &FileStat { ctime_ns: None, ..own(2) }).is_none(), "no ctime");
    let other = Seen::new(Some(bytes.into()), hash::of_bytes(b"other rules"), NOW_NS);
    assert!(other.recall(b"d1", here.as_fd(), &own(2)).is_none(), "other rules");
}

#[test]
fn it_is_written_only_where_that_saves_something() {
    let here = std::fs::File::open(".").unwrap();
    let few = begin(None);
    learn(&few, &paths(DIRS_MIN - 1));
    assert!(few.into_bytes().is_none(), "few directories");
    let count = 3 * REWRITE_PART;
    let first = begin(None);
    learn(&first, &paths(count));
    let bytes = first.into_bytes().unwrap();
    let walk = |recalled: usize| {
        let seen = begin(Some(bytes.clone()));
        for (inode, path) in (1..).zip(paths(recalled)) {
            assert!(seen.recall(path.as_bytes(), here.as_fd(), &own(inode)).is_some());
        }
        seen.into_bytes()
    };
    assert!(walk(count).is_none(), "nothing is new");
    assert!(walk(count - 1).is_none(), "one is gone");
    let shorter = begin(Some(walk(count - 9).unwrap()));
    assert!(shorter.recall(b"d0", here.as_fd(), &own(1)).is_some());
    assert!(shorter.recall(format!("d{}", count - 1).as_bytes(), here.as_fd(), &own(count as u64)).is_none());
    // New ones go where their paths belong.
    let more = begin(Some(bytes.clone()));
    for (inode, path) in (1..).zip(paths(count)) {
        assert!(more.recall(path.as_bytes(), here.as_fd(), &own(inode)).is_some());
    }
    learn(&more, &["a", "d5.", "z", "d10/x"].map(str::to_owned));
    let more = begin(more.into_bytes());
    for (path, inode) in [("a", 1), ("d5.", 2), ("z", 3), ("d10/x", 4), ("d0", 1), ("d50", 51)] {
        assert!(more.recall(path.as_bytes(), here.as_fd(), &own(inode)).is_some(), "{path}");
    }
}

#[test]
fn what_cannot_be_trusted_is_not_learnt() {
    let here = std::fs::File::open(".").unwrap();
    let learnt = |own: &FileStat, trust: Trust, bytes: &[u8]| {
        let seen = Seen::new(None, hash::of_bytes(b""), NOW_NS);
        seen.devices.lock().unwrap().push((1, trust));
        seen.learn(b"d", here.as_fd(), own, Holding::Kept, [name(bytes, None)].into_iter());
        seen.learnt.unwrap().into_inner().unwrap().len()
    };
    let now = Some(i64::try_from(NOW_NS).unwrap());
    assert_eq!(learnt(&own(1), Trust::All, b"a"), 1);
    assert_eq!(learnt(&own(1), Trust::Nothing, b"a"), 0, "file system");
    assert_eq!(learnt(&FileStat { mtime_ns: now, ..own(1) }, Trust::All, b"a"), 0, "mtime not at rest");
    assert_eq!(learnt(&FileStat { ctime_ns: now, ..own(1) }, Trust::All, b"a"), 0, "ctime not at rest");
    assert_eq!(learnt(&FileStat { mtime_ns: None, ..own(1) }, Trust::All, b"a"), 0, "mtime not known");
    assert_eq!(learnt(&own(1), Trust::All, &[b'a'; 256]), 0, "a name that no such file system has");
}

#[test]
fn a_name_that_leads_elsewhere_is_none() {
    let here = std::fs::File::open(".").unwrap();
    for bad in [&b"a/b"[..], b"", b".", b"..", b"a\0", b"/"] {
        let seen = begin(None);
        for (inode, path) in (1..).zip(paths(DIRS_MIN)) {
            seen.learn(path.as_bytes(), here.as_fd(), &own(inode), Holding::Kept, [name(bad, None)].into_iter());
        }
        let seen = begin(seen.into_bytes());
        // An empty one makes the whole file wrong.
        let remembered = seen.recall(b"d1", here.as_fd(), &own(2));
        let names = remembered.map(|remembered| remembered.names().collect::<Vec<_>>());
        assert!(names.is_none_or(|names| names == [None]), "{bad:?}");
    }
}
