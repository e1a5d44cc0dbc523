//! Random histories of branches that run at the same time, each node with marks of its own.
//!
//! Here the model does not say how a change must be classed: it knows only who wrote last to every path, and when. Whatever
//! the marks can tell, a rewind must not lose somebody's bytes unnamed, nor leave the run's unnamed, and whoever is named as
//! the author must include the one who was.

use super::*;

use workspacetrack::history::authorship::Owner as Class;
use workspacetrack::history::timeline::Execution;

/// Histories of one test run; `WT_TEST_HISTORIES` sets another number.
const HISTORIES: u64 = 120;
const STEPS: usize = 18;
const AT_ONCE_MAX: usize = 3;

type Key = (&'static str, u64);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    AtWork,
    Paused,
    Failed,
    Dead,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Author {
    Somebody,
    Node(Key),
}

/// One change of one path; an edit and a capture each have a time of their own.
struct Change {
    time: u64,
    path: String,
    author: Author,
}

struct Fanout {
    world: World,
    time: u64,
    nodes: BTreeMap<Key, State>,
    begun: BTreeMap<Key, (u64, Tree)>,
    changes: Vec<Change>,
    /// When each snapshot was made.
    captured: BTreeMap<String, u64>,
    /// When the last mark was set.
    seen: u64,
    /// When the last boundary was, and the tree there.
    marked: u64,
    left: Tree,
    /// Whether no engine is there: only a resume brings it back.
    is_stopped: bool,
    /// How many changes of the run were taken back, and how many stayed.
    taken_back: usize,
    stayed: usize,
}

impl Fanout {
    fn new(dir: &Path, seed: u64) -> Self {
        Self {
            world: World::new(dir, seed),
            time: 0,
            nodes: BTreeMap::new(),
            begun: BTreeMap::new(),
            changes: Vec::new(),
            captured: BTreeMap::new(),
            seen: 0,
            marked: 0,
            left: Tree::new(),
            is_stopped: false,
            taken_back: 0,
            stayed: 0,
        }
    }

    fn edit(&mut self, author: Author) {
        let before = self.world.tree();
        self.world.edit(&format!("{author:?}"));
        self.time += 1;
        let time = self.time;
        let changed = differing(&before, &self.world.tree());
        self.changes.extend(changed.into_iter().map(|path| Change { time, path, author }));
    }

    fn mark(&mut self, phase: &str, (node, iteration): Key) {
        let label = Label::named(&format!("{phase}:{node}:{iteration}")).unwrap();
        let (manifest, _) = self.world.capture(LabelWish::Set(label));
        self.note(&manifest);
        (self.marked, self.left) = (self.time, self.world.tree());
    }

    /// A snapshot that is used again shows that what happened since came to nothing.
    fn note(&mut self, manifest: &Manifest) {
        self.time += 1;
        let made = *self.captured.entry(manifest.id.to_string()).or_insert(self.time);
        let (now, seen) = (self.time, self.seen);
        self.changes.retain(|change| made == now || change.time < seen);
        self.seen = self.time;
    }

    fn some(&mut self, wanted: impl Fn(State) -> bool) -> Option<Key> {
        let keys: Vec<Key> = self.nodes.iter().filter(|(_, state)| wanted(**state)).map(|(key, _)| *key).collect();
        (!keys.is_empty()).then(|| keys[self.world.random.below(keys.len())])
    }

    fn count(&self, state: State) -> usize {
        self.nodes.values().filter(|it| **it == state).count()
    }

    /// One step; a calm history has no death and no rewind.
    fn step(&mut self, is_calm: bool) {
        let at_work = self.count(State::AtWork);
        match self.world.random.below(10) {
            0 | 1 if !self.is_stopped && at_work < AT_ONCE_MAX => self.begin(),
            2 | 3 => {
                if let Some(key) = self.some(|state| state == State::AtWork) {
                    self.edit(Author::Node(key));
                }
            }
            choice @ 4..=6 => {
                if let Some(key) = self.some(|state| state == State::AtWork) {
                    self.edit(Author::Node(key));
                    self.end(key, if is_calm { choice.min(5) } else { choice });
                }
            }
            7 if self.is_stopped || self.count(State::Paused) > 0 => self.edit(Author::Somebody),
            8 => self.resume(),
            9 if !is_calm && at_work > 0 => {
                for state in self.nodes.values_mut().filter(|state| **state == State::AtWork) {
                    *state = State::Dead;
                }
                self.is_stopped = true;
            }
            _ if !is_calm && at_work == 0 && !self.begun.is_empty() => self.rewind(),
            _ => {}
        }
    }

    fn begin(&mut self) {
        let node = NODES[self.world.random.below(NODES.len())];
        let next = self.world.iterations.entry(node).or_default();
        let key = (node, *next);
        *next += 1;
        self.mark("pre", key);
        self.begun.insert(key, (self.time, self.world.tree()));
        self.nodes.insert(key, State::AtWork);
    }

    fn end(&mut self, key: Key, choice: usize) {
        match choice {
            4 => {
                self.mark("post", key);
                self.nodes.remove(&key);
            }
            5 => {
                self.mark("pause", key);
                self.nodes.insert(key, State::Paused);
            }
            _ => {
                self.mark("fail", key);
                self.nodes.insert(key, State::Failed);
            }
        }
        // What failed ends the run when the rest has ended.
        self.is_stopped = self.count(State::AtWork) == 0 && self.count(State::Failed) > 0;
    }

    fn resume(&mut self) {
        if let Some(key) = self.some(|state| state != State::AtWork) {
            self.mark("resume", key);
            self.nodes.insert(key, State::AtWork);
            let here = (self.time, self.world.tree());
            self.begun.entry(key).or_insert(here);
            self.is_stopped = false;
        }
    }

    /// Who changed a path last since a moment.
    fn last_author(&self, path: &str, since: u64) -> Option<Author> {
        self.changes
            .iter()
            .rev()
            .find(|change| change.path == path && change.time > since)
            .map(|change| change.author)
    }

    fn rewind(&mut self) {
        let keys: Vec<Key> = self.begun.keys().copied().collect();
        let key = keys[self.world.random.below(keys.len())];
        let (since, target) = self.begun[&key].clone();
        let before = self.world.tree();
        let (bank, findings) = self.world.rewind_to(key.0, key.1);
        let after = self.world.tree();
        self.note(&bank);
        assert_eq!(self.world.recorded(&bank), before, "the bank holds what was there");
        let named = |paths: &[workspacetrack::store::relpath::RelPathBuf], path: &str| {
            paths.iter().any(|named| named.to_str().unwrap() == path)
        };
        for path in PATHS {
            let (was, is, wanted) = (before.get(path), after.get(path), target.get(path));
            assert!(is == was || is == wanted, "{path} is neither as it was nor as it is to be");
            let author = self.last_author(path, since);
            // What is again as the run had left it is nobody's edit.
            let is_edit = was != self.left.get(path) || self.last_author(path, self.marked).is_none();
            if is != was && author == Some(Author::Somebody) && is_edit {
                let is_named = named(&findings.overwritten, path) || named(&findings.overlap, path);
                assert!(is_named, "somebody's {path} went unnamed");
            }
            if let Some(Author::Node(_)) = author
                && was != wanted
            {
                self.taken_back += usize::from(is != was);
                self.stayed += usize::from(is == was);
                let is_named = named(&findings.undecided, path) || named(&findings.left, path);
                assert!(is != was || is_named, "{path} of {author:?} stays unnamed");
            }
        }
        self.world.undo(&bank);
        assert_eq!(self.world.tree(), before, "undo");
        self.world.rewind_to(key.0, key.1);
        assert_eq!(self.world.tree(), after, "the same again");
        // What it put back is nobody's edit.
        let kept: BTreeSet<String> = differing(&before, &after);
        self.changes.retain(|change| !kept.contains(&change.path) || change.time <= since);
        self.nodes.clear();
        self.nodes.insert(key, State::Failed);
        self.is_stopped = true;
    }

    /// Lets everything end, and then asks whose each change is.
    fn check_authors(&mut self) {
        while let Some(key) = self.some(|state| state != State::AtWork) {
            self.mark("resume", key);
            self.nodes.insert(key, State::AtWork);
        }
        while let Some(key) = self.some(|state| state == State::AtWork) {
            self.end(key, 4);
        }
        self.mark("post", ("last", 0));
        let history = &self.world.history;
        let index = history.index().unwrap();
        let Some((first, _)) = history.chain(index.head.clone()).last() else { return };
        let pool = workspacetrack::store::pool::Pool::open(history.store()).unwrap();
        let authorship = history.authorship(&index, &first, None, pool.as_ref(), &|_, _| false).unwrap();
        for interval in &authorship.intervals {
            let (from, until) = (self.captured[interval.older.as_str()], self.captured[interval.newer.as_str()]);
            for change in self.changes.iter().filter(|change| from < change.time && change.time < until) {
                let is_listed = interval.paths.keys().any(|path| path.to_str().unwrap() == change.path);
                let what = format!("{} by {:?} in {interval:?}", change.path, change.author);
                match change.author {
                    _ if !is_listed => {}
                    Author::Node((node, iteration)) => {
                        assert!(interval.owner != Class::Parked, "parked: {what}");
                        let author = Execution { node: node.to_owned(), iteration };
                        assert!(interval.nodes.contains(&author), "the author is not among them: {what}");
                    }
                    Author::Somebody => {
                        assert!(interval.owner != Class::Produced || interval.is_contested, "the run's: {what}");
                    }
                }
            }
        }
        self.check_gates(&index, pool.as_ref());
    }

    fn check_gates(
        &self,
        index: &workspacetrack::history::index::Index,
        pool: Option<&workspacetrack::store::pool::Pool>,
    ) {
        for range in self.world.history.gate_ranges(index, None, pool).unwrap() {
            for (path, (_, owners)) in range.changes {
                let author = self.last_author(path.to_str().unwrap_or_default(), 0);
                if let (Some(Author::Node((node, iteration))), false) = (author, owners.is_empty()) {
                    let author = Execution { node: node.to_owned(), iteration };
                    assert!(owners.contains(&author), "{path:?} is of {author}, not of {owners:?}");
                }
            }
        }
    }
}

#[test]
fn whoever_runs_at_the_same_time_nothing_is_lost_or_left_unnamed() {
    let histories = std::env::var("WT_TEST_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(HISTORIES);
    let (mut taken_back, mut stayed) = (0, 0);
    let first = std::env::var("WT_TEST_FIRST").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    for seed in first..=histories {
        let dir = tempfile::tempdir().unwrap();
        let mut fanout = Fanout::new(dir.path(), seed);
        let is_calm = seed % 2 == 0;
        let run = || {
            for _ in 0..STEPS {
                fanout.step(is_calm);
            }
            if is_calm {
                fanout.check_authors();
            }
        };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        assert!(outcome.is_ok(), "history {seed} fails");
        taken_back += fanout.taken_back;
        stayed += fanout.stayed;
    }
    // Calling everything undecided would be safe, and of no use.
    assert!(taken_back > 2 * stayed, "{taken_back} taken back, {stayed} left");
}
