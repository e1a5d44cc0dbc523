//! Random histories of a run against a model that knows who wrote every byte.
//!
//! The model keeps the tree at every boundary and says by itself, from the trees alone, what the run produced, what somebody
//! did while it was parked, and of what nobody can tell. After each rewind the workspace must be what the model says, the
//! bank must hold what was there, undo must bring it back, and the next rewind must come out the same.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests build workspaces by hand")]

mod fanout;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use workspacetrack::act::bank;
use workspacetrack::act::capture::{self, LabelWish};
use workspacetrack::act::restore::{self, Place};
use workspacetrack::act::rewind::{self, Extent, Findings};
use workspacetrack::history::History;
use workspacetrack::history::manifest::Manifest;
use workspacetrack::store::fsio::Durability;
use workspacetrack::store::id::{Label, RunId};
use workspacetrack::store::lock::Patience;
use workspacetrack::store::{Settings, Store};
use workspacetrack::tree::root::Workspace;
use workspacetrack::tree::scan::{CAP_BYTES, FILES_MAX, Limits};

/// Histories of one test run; `WT_TEST_HISTORIES` sets another number.
const HISTORIES: u64 = 150;
const STEPS: usize = 14;
const PATHS: [&str; 7] = ["a", "b", "c", "d/a", "d/b", "e/f/a", "name with blank"];
const NODES: [&str; 3] = ["plan", "build", "check"];

type Tree = BTreeMap<String, String>;

/// xorshift: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// Between two nodes.
    Between,
    /// In a node.
    In(&'static str, u64),
    /// With a mark.
    Stopped(&'static str, u64),
    /// Without one: the process died.
    Dead(&'static str, u64),
}

/// The model's boundary: what the tree was, whether the one before it was a stop of the run, and whose changes led to it.
struct Boundary {
    tree: Tree,
    owner: Owner,
    has_stopped: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Run,
    Somebody,
    Nobody,
}

struct World {
    workspace: Workspace,
    history: History,
    random: Random,
    clock: u64,
    boundaries: Vec<Boundary>,
    /// Where each `pre` label points in `boundaries`.
    begun: BTreeMap<(&'static str, u64), usize>,
    iterations: BTreeMap<&'static str, u64>,
    /// Whether the newest snapshot is a bank.
    head_is_bank: bool,
    stands: Stands,
}

impl World {
    fn new(dir: &Path, seed: u64) -> Self {
        let tree = dir.join("tree");
        fs::create_dir_all(&tree).unwrap();
        let patience = Patience { limit: Duration::from_secs(60), notice: |_| {} };
        let store = Store::new(dir.join("store"), Settings { durability: Durability::Off, patience });
        let mut world = Self {
            workspace: Workspace::open(&tree).unwrap(),
            history: History::new(&store, RunId::named("r").unwrap()),
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            clock: 0,
            boundaries: Vec::new(),
            begun: BTreeMap::new(),
            iterations: BTreeMap::new(),
            head_is_bank: false,
            stands: Stands::Between,
        };
        world.edit("somebody");
        world
    }

    fn place(&self) -> Place<'_> {
        Place { workspace: &self.workspace, history: &self.history, inherited_lock: None }
    }

    fn tree(&self) -> Tree {
        let read =
            |path: &&str| Some(((*path).to_owned(), fs::read_to_string(self.workspace.path().join(path)).ok()?));
        PATHS.iter().filter_map(read).collect()
    }

    /// Some changes by one author, who leaves the name in every file.
    fn edit(&mut self, author: &str) {
        for _ in 0..self.random.below(4) {
            let path = self.workspace.path().join(self.random.pick(&PATHS));
            if self.random.below(4) == 0 {
                let _ = fs::remove_file(path);
            } else {
                self.clock += 1;
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, format!("{author} {}", self.clock)).unwrap();
            }
        }
    }

    fn capture(&mut self, wish: LabelWish) -> (Manifest, bool) {
        let limits = Limits { files_max: FILES_MAX, cap_bytes: CAP_BYTES };
        let request = capture::Request {
            labels: vec![wish],
            parent: None,
            dedupe: true,
            relocate: false,
            while_running: false,
        };
        let captured = bank::take(&self.place(), limits, &request).unwrap().captured;
        assert_eq!(self.recorded(&captured.manifest), self.tree(), "a capture records the tree");
        (captured.manifest, captured.is_reused)
    }

    fn recorded(&self, manifest: &Manifest) -> Tree {
        let pool = workspacetrack::store::pool::Pool::open(self.history.store()).unwrap().unwrap();
        let content = |(entry, hash, _): (&workspacetrack::history::manifest::Entry, _, _)| {
            (entry.path.to_str().unwrap().to_owned(), String::from_utf8(pool.read(hash).unwrap()).unwrap())
        };
        manifest.files().map(content).collect()
    }

    /// Marks a boundary here and in the model.
    fn boundary(&mut self, phase: &str, node: &'static str, iteration: u64) {
        let label = Label::named(&format!("{phase}:{node}:{iteration}")).unwrap();
        self.capture(LabelWish::Set(label));
        let tree = self.tree();
        let stops = matches!(phase, "pause" | "fail");
        let is_new = self.head_is_bank || self.boundaries.last().is_none_or(|last| last.tree != tree);
        if is_new {
            let last_stopped = self.head_is_bank || self.boundaries.last().is_some_and(|last| last.has_stopped);
            let owner = match (phase, last_stopped) {
                ("resume", true) => Owner::Somebody,
                ("resume", false) => Owner::Nobody,
                _ => Owner::Run,
            };
            self.boundaries.push(Boundary { tree, owner, has_stopped: stops });
            self.head_is_bank = false;
        } else if let Some(last) = self.boundaries.last_mut() {
            last.has_stopped = stops;
        }
    }

    fn step(&mut self) {
        match (self.stands, self.random.below(6)) {
            (Stands::Between, _) => {
                let node = NODES[self.random.below(NODES.len())];
                let next = self.iterations.entry(node).or_default();
                let iteration = *next;
                *next += 1;
                self.boundary("pre", node, iteration);
                self.begun.insert((node, iteration), self.boundaries.len() - 1);
                self.stands = Stands::In(node, iteration);
            }
            (Stands::In(node, iteration), 0 | 1) => {
                self.edit("run");
                self.boundary("post", node, iteration);
                self.stands = Stands::Between;
            }
            (Stands::In(node, iteration), 2) => {
                self.edit("run");
                self.boundary("pause", node, iteration);
                self.stands = Stands::Stopped(node, iteration);
            }
            (Stands::In(node, iteration), 3) => {
                self.edit("run");
                self.boundary("fail", node, iteration);
                self.stands = Stands::Stopped(node, iteration);
            }
            (Stands::In(node, iteration), 4) => {
                self.edit("run");
                self.stands = Stands::Dead(node, iteration);
            }
            (Stands::In(..), _) => self.edit("run"),
            (Stands::Stopped(..) | Stands::Dead(..), 0 | 1) => self.edit("somebody"),
            (Stands::Stopped(..) | Stands::Dead(..), 2 | 3) => self.rewind(),
            (Stands::Stopped(node, iteration) | Stands::Dead(node, iteration), _) => {
                self.boundary("resume", node, iteration);
                self.begun.entry((node, iteration)).or_insert(self.boundaries.len() - 1);
                self.stands = Stands::In(node, iteration);
            }
        }
    }

    /// What each owner changed since a boundary, by the trees alone.
    fn changed_since(&self, begin: usize, owner: Owner) -> BTreeSet<String> {
        let pairs = self.boundaries[begin..].windows(2).filter(|pair| pair[1].owner == owner);
        pairs.flat_map(|pair| differing(&pair[0].tree, &pair[1].tree)).collect()
    }

    fn rewind(&mut self) {
        let nodes: Vec<_> = self.begun.keys().copied().collect();
        let (node, iteration) = nodes[self.random.below(nodes.len())];
        let begin = self.begun[&(node, iteration)];
        let before = self.tree();
        let produced = self.changed_since(begin, Owner::Run);
        let target = self.boundaries[begin].tree.clone();
        let mut expected = before.clone();
        for path in &produced {
            expected.remove(path);
            expected.extend(target.get(path).map(|content| (path.clone(), content.clone())));
        }

        let (bank, findings) = self.rewind_to(node, iteration);
        assert_eq!(self.tree(), expected, "rewind to {node}:{iteration}");
        assert_eq!(self.recorded(&bank), before, "the bank holds what was there");
        self.check_findings(&findings, begin, &produced, &before, &expected);

        self.undo(&bank);
        assert_eq!(self.tree(), before, "undo");
        self.rewind_to(node, iteration);
        assert_eq!(self.tree(), expected, "the same again");
        // A bank that found the workspace as the newest boundary had left it is only a label on that.
        let last = self.boundaries.last_mut().unwrap();
        last.has_stopped = true;
        let head = self.history.index().unwrap().head.unwrap();
        self.head_is_bank = self.history.manifest(&head).unwrap().label.unwrap().starts_with("rewind-backup:");
        self.stands = Stands::Stopped(node, iteration);
    }

    /// Puts back what a bank holds.
    fn undo(&self, bank: &Manifest) {
        let undo = restore::Request {
            target: bank.id.clone(),
            scope: None,
            protect: Vec::new(),
            keep_edited: None,
            relocate: false,
            force: false,
            all_or_nothing: false,
            dry_run: false,
            as_if_banked: false,
            cap_bytes: CAP_BYTES,
        };
        let index = self.place().history.index().unwrap();
        restore::run(&self.place(), &index, &undo).unwrap();
    }

    fn rewind_to(&mut self, node: &str, iteration: u64) -> (Manifest, Findings) {
        let request = rewind::Request {
            node: node.to_owned(),
            iteration: Some(iteration),
            extent: Extent::Produced,
            protect: Vec::new(),
            keep_edited: false,
            all_or_nothing: false,
            dry_run: false,
            cap_bytes: CAP_BYTES,
        };
        let index = self.history.index().unwrap();
        // Whoever rewinds here knows that the run stood still since its newest boundary.
        let stops = rewind::Evidence { between: &|_, _| false, since: &|_| true };
        let prepared = rewind::prepare(&self.place(), &index, &request, &stops).unwrap();
        let (bank, _) = self.capture(LabelWish::Next(format!("rewind-backup:{node}")));
        let (report, findings) =
            rewind::carry_out(&self.place(), &index, &request, &prepared, Some(&bank)).unwrap();
        assert!(!report.left_something_out());
        (bank, findings)
    }

    /// No edit of somebody is passed over in silence.
    fn check_findings(
        &self,
        findings: &Findings,
        begin: usize,
        produced: &BTreeSet<String>,
        before: &Tree,
        after: &Tree,
    ) {
        // The model knows files; a directory that was emptied is reported, too.
        let names = |paths: &[workspacetrack::store::relpath::RelPathBuf]| -> BTreeSet<String> {
            let paths = paths.iter().map(|path| path.to_str().unwrap().to_owned());
            paths.filter(|path| PATHS.contains(&path.as_str())).collect()
        };
        let target = &self.boundaries[begin].tree;
        let since_boundary = differing(&self.boundaries.last().unwrap().tree, before);
        let restored = differing(before, after);
        let stays = |path: &String| before.get(path) != target.get(path) && !produced.contains(path);
        let undecided: BTreeSet<String> =
            self.changed_since(begin, Owner::Nobody).into_iter().filter(stays).collect();
        assert_eq!(names(&findings.undecided), undecided, "undecided");
        let parked = self.changed_since(begin, Owner::Somebody).into_iter().filter(stays);
        let edited = since_boundary.iter().filter(|path| !produced.contains(*path)).cloned();
        let left: BTreeSet<String> = parked.chain(edited).filter(|path| !undecided.contains(path)).collect();
        let told: BTreeSet<String> =
            names(&findings.left).into_iter().filter(|path| !undecided.contains(path)).collect();
        assert_eq!(told, left, "left in place");
        let overwritten: BTreeSet<String> = since_boundary.intersection(&restored).cloned().collect();
        assert_eq!(names(&findings.overwritten), overwritten, "overwritten");
        let others =
            self.changed_since(begin, Owner::Somebody).into_iter().chain(self.changed_since(begin, Owner::Nobody));
        let overlap: BTreeSet<String> = others.filter(|path| restored.contains(path)).collect();
        assert_eq!(names(&findings.overlap), overlap, "overlap");
    }
}

fn differing(old: &Tree, new: &Tree) -> BTreeSet<String> {
    PATHS.iter().filter(|path| old.get(**path) != new.get(**path)).map(|path| (*path).to_owned()).collect()
}

#[test]
fn whoever_changed_what_a_rewind_takes_back_the_runs_part_and_nothing_else() {
    let histories = std::env::var("WT_TEST_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(HISTORIES);
    for seed in 1..=histories {
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::new(dir.path(), seed);
        let run = || {
            for _ in 0..STEPS {
                world.step();
            }
        };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        assert!(outcome.is_ok(), "history {seed} fails");
    }
}
