//! [`Tree`]: what a walk found, directory by directory, and in the byte order of whole paths.
//!
//! A [`Listing`] keeps the names of its directory in one block of bytes. Within a directory a sub-directory sorts as if
//! its name ended in a slash: that makes a depth-first pass exactly the byte order of paths. A directory that is an
//! entry itself (empty, or not listable) sorts by its bare name.

use std::ops::Range;

use super::rules::Inherited;
use super::seen::{Holding, Name};
use super::stat::FileStat;
use crate::store::relpath::RelPath;
use crate::stream::record::{EntryKind, GapReason};

/// One path that the rules include.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What the kernel said of it; for a directory that could not be opened, only its kind is known.
    pub stat: FileStat,
    /// Why it will not be captured, if it will not.
    pub gap: Option<GapReason>,
}

/// A path that the rules leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ignored {
    /// Whether it is a directory, skipped whole.
    pub is_dir: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// Everything in it is known.
    #[default]
    Listed,
    /// Nothing is known of what is in it.
    Unreadable,
    /// It is not there any more.
    Absent,
    /// It is the store.
    Store,
}

#[derive(Debug)]
pub(super) struct SubDir {
    pub(super) inherited: Inherited,
    pub(super) included: bool,
    pub(super) slot: usize,
}

#[derive(Debug)]
enum Node {
    Entry(Entry),
    Ignored(Ignored),
    Dir(SubDir),
}

#[derive(Debug)]
struct Child {
    name: Range<usize>,
    node: Node,
    /// Sorts as if its name ended in a slash.
    is_branch: bool,
}

/// One directory as the walk saw it.
#[derive(Debug, Default)]
pub(super) struct Listing {
    names: Vec<u8>,
    children: Vec<Child>,
    own: Option<FileStat>,
    state: State,
    included: bool,
    pub(super) is_empty: bool,
    /// What it is as an entry of its own, if it is one: filled when the walk is complete.
    leaf: Option<Entry>,
}

impl Listing {
    pub(super) fn of(own: FileStat, included: bool) -> Self {
        Self { own: Some(own), included, is_empty: true, ..Self::default() }
    }

    pub(super) fn absent() -> Self {
        Self { state: State::Absent, ..Self::default() }
    }

    pub(super) fn store() -> Self {
        Self { state: State::Store, ..Self::default() }
    }

    pub(super) fn unreadable(own: Option<FileStat>) -> Self {
        Self { state: State::Unreadable, own, ..Self::default() }
    }

    fn push(&mut self, name: &[u8], node: Node) {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        let is_branch = matches!(node, Node::Dir(_));
        self.children.push(Child { name: start..self.names.len(), node, is_branch });
    }

    pub(super) fn add(&mut self, name: &[u8], entry: Entry) {
        self.push(name, Node::Entry(entry));
    }

    pub(super) fn ignore(&mut self, name: &[u8], is_dir: bool) {
        self.push(name, Node::Ignored(Ignored { is_dir }));
    }

    pub(super) fn add_dir(&mut self, name: &[u8], inherited: Inherited, included: bool) {
        self.push(name, Node::Dir(SubDir { inherited, included, slot: usize::MAX }));
    }

    /// Makes room for so many names, and so many bytes of them.
    pub(super) fn reserve(&mut self, count: usize, bytes: usize) {
        self.children.reserve_exact(count);
        self.names.reserve_exact(bytes);
    }

    /// How many of its files are captured.
    pub(super) fn captured_files(&self) -> u64 {
        let is_captured = |child: &&Child| matches!(&child.node, Node::Entry(entry) if entry.stat.kind == EntryKind::File && entry.gap.is_none());
        self.children.iter().filter(is_captured).count() as u64
    }

    /// What it holds, for whoever remembers what the rules keep of it.
    pub(super) fn holding(&self) -> Holding {
        if self.is_empty {
            Holding::Nothing
        } else if self.children.iter().any(|child| matches!(child.node, Node::Ignored(_))) {
            Holding::LeftOut
        } else {
            Holding::Kept
        }
    }

    /// What the rules keep of it, as it is remembered, in this order.
    pub(super) fn kept_names(&self) -> impl Iterator<Item = Name<'_>> {
        self.children.iter().filter_map(|child| {
            let inherited = match &child.node {
                Node::Entry(_) => None,
                Node::Dir(dir) => Some(dir.inherited.to_bits()),
                Node::Ignored(_) => return None,
            };
            Some(Name { bytes: self.names.get(child.name.clone()).unwrap_or_default(), inherited })
        })
    }

    /// The sub-directories that are to be listed, with their names.
    pub(super) fn dirs_mut(&mut self) -> impl Iterator<Item = (&[u8], &mut SubDir)> {
        let names = &self.names;
        self.children.iter_mut().filter_map(|child| match &mut child.node {
            Node::Dir(dir) => Some((names.get(child.name.clone()).unwrap_or_default(), dir)),
            _ => None,
        })
    }

    pub(super) fn sort(&mut self) {
        let names = &self.names;
        let key = |child: &Child| {
            let name = names.get(child.name.clone()).unwrap_or_default();
            name.iter().copied().chain(child.is_branch.then_some(b'/'))
        };
        self.children.sort_unstable_by(|a, b| key(a).cmp(key(b)));
    }

    /// What the directory is as an entry of its own, if it is one.
    fn as_entry(&self) -> Option<Entry> {
        let unknown = FileStat {
            kind: EntryKind::Dir,
            mode: 0,
            size: 0,
            mtime_ns: None,
            ctime_ns: None,
            inode: 0,
            device: 0,
            links: 0,
            uid: 0,
            gid: 0,
        };
        match self.state {
            State::Unreadable => {
                Some(Entry { stat: self.own.unwrap_or(unknown), gap: Some(GapReason::Unreadable) })
            }
            State::Listed if self.is_empty && self.included => Some(Entry { stat: self.own?, gap: None }),
            State::Listed | State::Absent | State::Store => None,
        }
    }
}

/// Everything a walk found. The first listing is the root's.
#[derive(Debug)]
pub struct Tree {
    listings: Vec<Listing>,
}

/// What [`Tree::visit`] meets.
#[derive(Debug)]
pub enum Found<'a> {
    /// A path that the rules include.
    Entry(&'a Entry),
    /// A path that they leave out.
    Ignored(Ignored),
}

impl Tree {
    pub(super) fn new(mut listings: Vec<Listing>) -> Self {
        // Which directories are entries is known only now; those sort by their bare name.
        for listing in &mut listings {
            listing.leaf = listing.as_entry();
        }
        let leaf: Vec<bool> = listings.iter().map(|listing| listing.leaf.is_some()).collect();
        for listing in &mut listings {
            let mut moved = false;
            for child in &mut listing.children {
                if let Node::Dir(dir) = &child.node
                    && leaf.get(dir.slot) == Some(&true)
                {
                    child.is_branch = false;
                    moved = true;
                }
            }
            if moved {
                listing.sort();
            }
        }
        Self { listings }
    }

    /// Calls `visit` for everything that was found, ascending by path bytes.
    pub fn visit<'a>(&'a self, mut visit: impl FnMut(&RelPath, Found<'a>)) {
        let mut path: Vec<u8> = Vec::new();
        let Some(root) = self.listings.first() else { return };
        let mut stack = vec![(root, root.children.iter(), 0_usize)];
        while let Some((listing, children, base)) = stack.last_mut() {
            let base = *base;
            path.truncate(base);
            let Some(child) = children.next() else {
                stack.pop();
                continue;
            };
            path.extend_from_slice(listing.names.get(child.name.clone()).unwrap_or_default());
            let here = crate::sys::relpath_from_bytes(&path);
            match &child.node {
                Node::Entry(entry) => visit(here, Found::Entry(entry)),
                Node::Ignored(ignored) => visit(here, Found::Ignored(*ignored)),
                Node::Dir(dir) => {
                    let Some(below) = self.listings.get(dir.slot) else { continue };
                    if let Some(entry) = &below.leaf {
                        visit(here, Found::Entry(entry));
                    } else if below.state == State::Store {
                        visit(here, Found::Ignored(Ignored { is_dir: true }));
                    } else if below.state == State::Listed {
                        path.push(b'/');
                        stack.push((below, below.children.iter(), path.len()));
                    }
                }
            }
        }
    }

    /// Calls `visit` for every path that the rules include, ascending by path bytes.
    pub fn for_each<'a>(&'a self, mut visit: impl FnMut(&RelPath, &'a Entry)) {
        self.visit(|path, found| {
            if let Found::Entry(entry) = found {
                visit(path, entry);
            }
        });
    }
}

/// A directory on the way down.
struct Level {
    listing: Listing,
    next: usize,
    /// Bytes of its path, slash included.
    base: usize,
    /// Sub-directories that may have to come earlier than they stand, last one first: before which child, and which.
    early: Vec<(usize, usize)>,
    /// Those that were looked at for that reason; what has come already is `None`.
    seen: Vec<(usize, Option<Listing>)>,
}

impl Level {
    fn new(listing: Listing, base: usize) -> Self {
        let name = |child: usize| {
            let range = listing.children.get(child).map(|child| child.name.clone()).unwrap_or_default();
            listing.names.get(range).unwrap_or_default()
        };
        let mut early = Vec::new();
        for (number, _) in listing.children.iter().enumerate().filter(|(_, child)| child.is_branch) {
            // Between a name and that name with a slash stand only names that go on from it.
            let own = name(number);
            let between = (0..number).rev().take_while(|other| name(*other).starts_with(own));
            if let Some(first) = between.last() {
                early.push((first, number));
            }
        }
        early.sort_by(|a, b| (b.0, name(b.1)).cmp(&(a.0, name(a.1))));
        Self { listing, next: 0, base, early, seen: Vec::new() }
    }
}

/// Calls `visit` for everything that was found, ascending by path bytes. `get` gives each listing once, when it is needed;
/// where it gives none the pass ends.
pub(super) fn in_order(
    root: Listing,
    mut get: impl FnMut(usize) -> Option<Listing>,
    visit: &mut dyn FnMut(&RelPath, Found<'_>),
) -> Option<()> {
    let mut path: Vec<u8> = Vec::new();
    let mut stack = vec![Level::new(root, 0)];
    while let Some(level) = stack.last_mut() {
        let early = level.early.pop_if(|(before, _)| *before == level.next).map(|(_, child)| child);
        let number = early.unwrap_or(level.next);
        let Some(child) = level.listing.children.get(number) else {
            stack.pop();
            continue;
        };
        if early.is_none() {
            level.next += 1;
        }
        path.truncate(level.base);
        path.extend_from_slice(level.listing.names.get(child.name.clone()).unwrap_or_default());
        let here = crate::sys::relpath_from_bytes(&path);
        let slot = match &child.node {
            Node::Entry(entry) => {
                visit(here, Found::Entry(entry));
                continue;
            }
            Node::Ignored(ignored) => {
                visit(here, Found::Ignored(*ignored));
                continue;
            }
            Node::Dir(dir) => dir.slot,
        };
        let below = match level.seen.pop_if(|(seen, _)| *seen == number) {
            Some((_, None)) => continue,
            Some((_, Some(listing))) => listing,
            None => get(slot)?,
        };
        let leaf = below.as_entry();
        let is_leaf = leaf.is_some() || below.state == State::Store;
        if let Some(entry) = &leaf {
            visit(here, Found::Entry(entry));
        } else if is_leaf {
            visit(here, Found::Ignored(Ignored { is_dir: true }));
        }
        if early.is_some() {
            // Later names come back first: between a name and its slash they nest.
            level.seen.push((number, (!is_leaf).then_some(below)));
        } else if !is_leaf && below.state == State::Listed {
            path.push(b'/');
            stack.push(Level::new(below, path.len()));
        }
    }
    Some(())
}
