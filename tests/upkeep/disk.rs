//! [`Disk`]: a simulated disk that plays a tape (`store::seam::tape`) and tells what a power cut may leave.
//!
//! A file's bytes survive if the file was flushed after they were written, a name if its directory was flushed after it
//! was made. Whatever else was done is pending: each pending change may have reached the disk or not, in any
//! combination. Nothing is ordered but by a flush: a rename within one directory happens whole, one between two
//! directories is a change of each, and data may be missing where the name is there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

type Id = usize;

#[derive(Clone, Hash)]
enum Node {
    File(Rc<Vec<u8>>),
    Dir(Rc<BTreeMap<Vec<u8>, Id>>),
    Link(Vec<u8>),
}

/// What one place holds: the contents of all nodes, by id.
type State = Vec<Node>;

/// A change that may or may not survive, and the node that must be flushed to make it sure.
#[derive(Clone, Debug)]
enum Change {
    /// Entries of a directory, together.
    Names(Id, Vec<(Vec<u8>, Option<Id>)>),
    /// Bytes at an offset, or at the end.
    Write(Id, Option<usize>, Vec<u8>),
    Truncate(Id, usize),
}

impl Change {
    fn node(&self) -> Id {
        let (Self::Names(id, _) | Self::Write(id, ..) | Self::Truncate(id, _)) = self;
        *id
    }

    fn apply(&self, state: &mut State) {
        match (self, &mut state[self.node()]) {
            (Self::Names(_, names), Node::Dir(entries)) => {
                let entries = Rc::make_mut(entries);
                for (name, id) in names {
                    match id {
                        Some(id) => entries.insert(name.clone(), *id),
                        None => entries.remove(name),
                    };
                }
            }
            (Self::Write(_, offset, bytes), Node::File(content)) => {
                let content = Rc::make_mut(content);
                let offset = offset.unwrap_or(content.len());
                content.resize(content.len().max(offset + bytes.len()), 0);
                content[offset..offset + bytes.len()].copy_from_slice(bytes);
            }
            (Self::Truncate(_, len), Node::File(content)) => Rc::make_mut(content).truncate(*len),
            (change, _) => panic!("{change:?} of another kind of node"),
        }
    }
}

/// What happens to what is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing of it survives.
    Lost,
    /// All of it does, as when only the program dies.
    Kept,
    /// Names survive and data does not: what was not flushed is empty.
    NamesOnly,
    /// Data survives and names do not.
    DataOnly,
    /// The file has its length, and zeros instead of data.
    Zeros,
    /// Only one change survives, of so many.
    Only(usize),
    /// Only one change is lost.
    AllBut(usize),
    /// Of one write, only half survives.
    Half(usize),
}

/// Two disks: a tree, and one directory of it that lies on a disk of its own.
#[derive(Clone)]
pub(crate) struct Disk {
    durable: State,
    now: State,
    modes: Vec<u32>,
    disks: Vec<usize>,
    pending: Vec<Change>,
    inodes: HashMap<u64, Id>,
    root: (PathBuf, Id),
}

impl Disk {
    /// Loads a tree as it is; everything there is durable.
    pub(crate) fn load(root: &Path, apart: &Path) -> Self {
        let mut disk = Self {
            durable: Vec::new(),
            now: Vec::new(),
            modes: Vec::new(),
            disks: Vec::new(),
            pending: Vec::new(),
            inodes: HashMap::new(),
            root: (root.to_owned(), 0),
        };
        disk.root.1 = disk.load_node(root, apart, 0);
        disk
    }

    fn load_node(&mut self, path: &Path, apart: &Path, disk: usize) -> Id {
        let disk = disk + usize::from(path == apart);
        let meta = fs::symlink_metadata(path).unwrap();
        let node = if meta.is_dir() {
            let names = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
            let entries =
                names.map(|name| (name.as_bytes().to_vec(), self.load_node(&path.join(&name), apart, disk)));
            Node::Dir(Rc::new(entries.collect()))
        } else if meta.is_symlink() {
            Node::Link(fs::read_link(path).unwrap().as_os_str().as_bytes().to_vec())
        } else {
            Node::File(Rc::new(fs::read(path).unwrap()))
        };
        self.add(meta.ino(), node, meta.mode() & 0o777, disk)
    }

    /// A new node; its bytes are empty or, for links and loaded ones, known at once.
    fn add(&mut self, inode: u64, node: Node, mode: u32, disk: usize) -> Id {
        self.durable.push(node.clone());
        self.now.push(node);
        self.modes.push(mode);
        self.disks.push(disk);
        self.inodes.insert(inode, self.now.len() - 1);
        self.now.len() - 1
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.now);
        self.pending.push(change);
    }

    fn make_durable(&mut self, is_flushed: impl Fn(&Self, &Change) -> bool) {
        let pending = std::mem::take(&mut self.pending);
        for change in pending {
            if is_flushed(self, &change) {
                change.apply(&mut self.durable);
            } else {
                self.pending.push(change);
            }
        }
    }

    fn entries(&self, dir: Id) -> &BTreeMap<Vec<u8>, Id> {
        match &self.now[dir] {
            Node::Dir(entries) => entries,
            _ => panic!("not a directory"),
        }
    }

    /// The directory and the last component of a name below `dir`.
    fn place(&self, dir: Id, name: &[u8]) -> (Id, Vec<u8>) {
        let mut parts: Vec<&[u8]> = name.split(|byte| *byte == b'/').collect();
        let last = parts.pop().unwrap();
        let dir = parts.into_iter().fold(dir, |dir, part| self.entries(dir)[part]);
        (dir, last.to_vec())
    }

    /// The line of a tape that removes a file.
    pub(crate) fn removal(path: &Path) -> String {
        let inode = fs::metadata(path.parent().unwrap()).unwrap().ino();
        format!("unlink {inode} .{}", hex::encode(path.file_name().unwrap().as_bytes()))
    }

    /// Does one line of a tape.
    pub(crate) fn play(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let bytes = |number: usize| hex::decode(words[number].strip_prefix('.').unwrap()).unwrap();
        let node = |number: usize| {
            let inode = words[number].parse::<u64>().unwrap();
            *self.inodes.get(&inode).unwrap_or_else(|| panic!("an unknown inode: {line}"))
        };
        let name = |number: usize| self.place(node(number), &bytes(number + 1));
        match words[0] {
            effect @ ("create" | "mkdir" | "symlink") => {
                let (dir, name) = name(1);
                let inode = words[3].parse().unwrap();
                let (fresh, mode) = match effect {
                    "create" => (Node::File(Rc::default()), words[4].parse().unwrap()),
                    "mkdir" => (Node::Dir(Rc::default()), words[4].parse().unwrap()),
                    _ => (Node::Link(bytes(4)), 0o777),
                };
                // A mark that is left again is there already.
                if self.entries(dir).get(&name).is_some_and(|there| self.inodes.get(&inode) == Some(there)) {
                    return;
                }
                let id = self.add(inode, fresh, mode, self.disks[dir]);
                self.change(Change::Names(dir, vec![(name, Some(id))]));
            }
            "unnamed" => {
                let (dir, inode) = (node(1), words[2].parse().unwrap());
                self.add(inode, Node::File(Rc::default()), words[3].parse().unwrap(), self.disks[dir]);
            }
            "name" => {
                let (id, (dir, name)) = (node(1), name(2));
                self.change(Change::Names(dir, vec![(name, Some(id))]));
            }
            "write" => self.change(Change::Write(node(1), None, bytes(2))),
            "write-at" => self.change(Change::Write(node(1), Some(words[2].parse().unwrap()), bytes(3))),
            "truncate" => self.change(Change::Truncate(node(1), words[2].parse().unwrap())),
            "chmod" => {
                let id = node(1);
                self.modes[id] = words[2].parse().unwrap();
            }
            moved @ ("rename" | "exchange" | "link") => {
                let ((from_dir, from), (to_dir, to)) = (name(1), name(3));
                let id = self.entries(from_dir)[&from];
                let left = match moved {
                    "rename" => None,
                    "exchange" => Some(self.entries(to_dir)[&to]),
                    _ => Some(id),
                };
                if from_dir == to_dir {
                    self.change(Change::Names(from_dir, vec![(from, left), (to, Some(id))]));
                } else {
                    self.change(Change::Names(to_dir, vec![(to, Some(id))]));
                    self.change(Change::Names(from_dir, vec![(from, left)]));
                }
            }
            "unlink" | "rmdir" => {
                let (dir, name) = name(1);
                self.change(Change::Names(dir, vec![(name, None)]));
            }
            "flush" | "flush-dir" => {
                let id = node(1);
                self.make_durable(|_, change| change.node() == id);
            }
            "flush-fs" => {
                let disk = self.disks[node(1)];
                self.make_durable(|all, change| all.disks[change.node()] == disk);
            }
            _ => panic!("an unknown effect: {line}"),
        }
    }

    /// Whether a line of a tape makes anything durable.
    pub(crate) fn is_flushed_by(&self, line: &str) -> bool {
        let mut then = self.clone();
        then.play(line);
        then.pending.len() < self.pending.len()
    }

    /// What is pending, for a person.
    pub(crate) fn pending(&self) -> String {
        format!("{:?}", self.pending)
    }

    /// Fates of what is pending now, the plain ones first; of single changes up to so many, spread over all.
    pub(crate) fn fates(&self, single_max: usize) -> Vec<Fate> {
        let mut fates = vec![Fate::Lost, Fate::Kept, Fate::NamesOnly, Fate::DataOnly, Fate::Zeros];
        for number in (0..self.pending.len()).step_by(self.pending.len().div_ceil(single_max).max(1)) {
            fates.extend([Fate::Only(number), Fate::AllBut(number)]);
            if matches!(self.pending[number], Change::Write(..)) {
                fates.push(Fate::Half(number));
            }
        }
        fates
    }

    /// What is on the disk after a power cut.
    pub(crate) fn cut(&self, fate: Fate) -> Image<'_> {
        let mut state = self.durable.clone();
        for (number, change) in self.pending.iter().enumerate() {
            let is_name = matches!(change, Change::Names(..));
            let survives = match fate {
                Fate::Lost => false,
                Fate::Kept | Fate::Zeros | Fate::Half(_) => true,
                Fate::NamesOnly => is_name,
                Fate::DataOnly => !is_name,
                Fate::Only(only) => number == only,
                Fate::AllBut(lost) => number != lost,
            };
            match change {
                _ if !survives => {}
                Change::Write(id, offset, bytes) if fate == Fate::Zeros => {
                    Change::Write(*id, *offset, vec![0; bytes.len()]).apply(&mut state);
                }
                Change::Write(id, offset, bytes) if fate == Fate::Half(number) => {
                    Change::Write(*id, *offset, bytes[..bytes.len() / 2].to_vec()).apply(&mut state);
                }
                _ => change.apply(&mut state),
            }
        }
        Image { disk: self, state }
    }
}

/// What a power cut left.
pub(crate) struct Image<'d> {
    disk: &'d Disk,
    state: State,
}

impl Image<'_> {
    /// Tells one image from another.
    pub(crate) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.digest_node(self.disk.root.1, &mut hasher, &mut HashSet::new());
        hasher.finish()
    }

    fn digest_node(&self, id: Id, hasher: &mut DefaultHasher, above: &mut HashSet<Id>) {
        self.disk.modes[id].hash(hasher);
        match &self.state[id] {
            Node::Dir(entries) if above.insert(id) => {
                for (name, id) in &**entries {
                    name.hash(hasher);
                    self.digest_node(*id, hasher, above);
                }
                above.remove(&id);
            }
            node => node.hash(hasher),
        }
    }

    /// Puts a directory of the tree where it was, if there is one and nothing is there.
    pub(crate) fn store(&self, name: &str) {
        let (path, root) = &self.disk.root;
        let Node::Dir(entries) = &self.state[*root] else { return };
        if let Some(id) = entries.get(name.as_bytes()) {
            self.store_node(*id, &path.join(name));
        }
    }

    fn store_node(&self, id: Id, path: &Path) {
        match &self.state[id] {
            Node::File(content) => crate::sandbox::put(path, content),
            Node::Link(target) => return std::os::unix::fs::symlink(OsStr::from_bytes(target), path).unwrap(),
            Node::Dir(entries) => {
                fs::DirBuilder::new().create(path).unwrap();
                for (name, id) in &**entries {
                    self.store_node(*id, &path.join(OsStr::from_bytes(name)));
                }
            }
        }
        let file = fs::File::open(path).unwrap();
        file.set_permissions(fs::Permissions::from_mode(self.disk.modes[id])).unwrap();
    }
}
