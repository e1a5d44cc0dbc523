//! Two stores go through the same captures, one of them without a comparison: what they hold must be the same, byte by byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::act::capture::LabelWish;
use crate::store::fsio::Durability;
use crate::store::id::{Label, RunId, SnapshotId};
use crate::store::lock::{Mode, Patience};
use crate::store::pool::PoolWriter;
use crate::store::{Settings, Store, hash, layout};
use crate::stream::wire::Frame;

/// Sequences of captures, and captures in each.
const SEQUENCES: u64 = 100;
const CAPTURES: u64 = 8;

const PATHS: [&[u8]; 20] = [
    b"a",
    b"a-",
    b"a.b",
    b"a/x",
    b"a/x/deep",
    b"b&<c>",
    b"back\\slash",
    b"caf\xc3\xa9",
    b"ctl\x01",
    b"dir/one",
    b"dir/two, too",
    b"dir/.hidden",
    b".gitignore",
    b"line\nend",
    b"quo\"te\",\"hash\":\"",
    b"raw\xff",
    b"raw\xff\xfe",
    b"\xe2\x80\xa8 separators \xe2\x80\xa9",
    b"a name that is longer than a block of bytes",
    b"zz",
];
/// The last one is not in the pool.
const CONTENTS: [&[u8]; 5] = [b"", b"one\n", b"two\n", b"/a/target", b"nowhere"];
const SECOND: u64 = 1_000_000_000;

/// Numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()]
    }
}

/// The lines of a workspace, by path, without their ends.
type Workspace = BTreeMap<&'static [u8], Vec<u8>>;

fn line(chance: &mut Chance, path: &[u8], now: u64) -> Vec<u8> {
    let mode = chance.of(&["0644", "0755", "0600"]);
    let missing = chance.one_in(150);
    let content = if missing { CONTENTS[4] } else { chance.of(&CONTENTS[..4]) };
    let id = hash::of_bytes(content);
    let head = match chance.below(24) {
        0 => format!("l0777 {} 9", hash::of_bytes(CONTENTS[3])),
        1 => "d0755 - -".into(),
        2 => "f0644 !oversized 99".into(),
        3 => "s0644 !special -".into(),
        4 => "d0000 !unreadable -".into(),
        5 if chance.one_in(4) => format!("f0644 {id} -"),
        6 if chance.one_in(4) => "f0644 - 3".into(),
        7 if chance.one_in(4) => format!("f0644 {id} 00{}", content.len()),
        _ => format!("f{mode} {id} {}", content.len()),
    };
    let time = match chance.below(8) {
        0 => now - chance.below(SECOND / 10),
        1 => now - SECOND - chance.below(3 * SECOND),
        2 => now + SECOND,
        3 => chance.below(1000) * SECOND,
        _ => now - 100 * SECOND - chance.below(SECOND),
    };
    let sign = if chance.one_in(30) { "-" } else { "" };
    let slash = if head.starts_with("d0000") { "/" } else { "" };
    let tail = format!(" {sign}{time} {} {}\t", time + chance.below(2), chance.below(30));
    [head.as_bytes(), tail.as_bytes(), path, slash.as_bytes()].concat()
}

/// Changes lines of a workspace: some, all or none.
fn edit(chance: &mut Chance, workspace: &mut Workspace, now: u64) {
    match chance.below(12) {
        0 => workspace.clear(),
        1 => {}
        2 => {
            for path in PATHS {
                workspace.insert(path, line(chance, path, now));
            }
        }
        // Touched only.
        3 => {
            let path = chance.of(&PATHS);
            if let Some(line) = workspace.get_mut(path) {
                let text = String::from_utf8_lossy(line).into_owned();
                let fields: Vec<&str> = text.splitn(6, ' ').collect();
                if let [mode, content, size, ..] = fields[..] {
                    let time = now - 50 * SECOND;
                    let tail = line.splitn(2, |byte| *byte == b'\t').nth(1).unwrap().to_vec();
                    *line = [format!("{mode} {content} {size} {time} {time} 7\t").into_bytes(), tail].concat();
                }
            }
        }
        _ => {
            for _ in 0..=chance.below(3) {
                let path = chance.of(&PATHS);
                if chance.one_in(3) {
                    workspace.remove(path);
                } else {
                    workspace.insert(path, line(chance, path, now));
                }
            }
        }
    }
    // Most of the time nothing lies below a file.
    if !chance.one_in(30) {
        let paths: Vec<&[u8]> = workspace.keys().copied().collect();
        workspace.retain(|path, _| {
            !paths.iter().any(|other| path.strip_prefix(*other).is_some_and(|rest| rest.starts_with(b"/")))
        });
    }
}

struct Lane {
    _dir: tempfile::TempDir,
    history: History,
}

impl Lane {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let patience = Patience { limit: Duration::ZERO, notice: |_| {} };
        let store = Store::new(dir.path().join("store"), Settings { durability: Durability::Off, patience });
        let pool = Pool::create(&store).unwrap();
        let _lock = pool.lock(Mode::Shared).unwrap();
        let writer = PoolWriter::new(&pool);
        for content in &CONTENTS[..4] {
            writer.put_bytes(content).unwrap();
        }
        writer.commit().unwrap();
        Self { _dir: dir, history: History::new(&store, RunId::named("run").unwrap()) }
    }

    /// A stream about the head that it has.
    fn stream(&self, frame: &str, lines: &[Vec<u8>], end: &str) -> Vec<u8> {
        let head = self.history.index().unwrap().head.map_or("-".to_owned(), |id| id.to_string());
        let mut out = frame.replace("HEAD", &head).into_bytes();
        for line in lines {
            out.extend_from_slice(line);
            out.push(0);
        }
        out.extend_from_slice(end.as_bytes());
        out
    }

    /// Makes a capture; says what came of it, and whether it was made from a comparison.
    fn capture(&self, stream: &[u8], request: &Request, is_compared: bool) -> (String, bool) {
        let guess = if is_compared { Guess::read(&self.history) } else { None };
        let made = (|| {
            let (reader, header) = Reader::open(stream, Framing::Nul, Frame::Required)?;
            match read(reader, header, guess)? {
                Read::Read(Outcome::Complete(set)) => {
                    capture::write_snapshot(&self.history, &set, request).map(|made| (made, false))
                }
                Read::Read(Outcome::Failed(code, text)) => panic!("{code} {text}"),
                Read::Compared(mut delta) => {
                    Ok((delta.write_snapshot(&self.history, request)?.expect("nobody else is here"), true))
                }
            }
        })();
        match made {
            Ok((made, is_delta)) => {
                let Captured { manifest, is_reused, labels, rules_were } = made;
                let said = (manifest.id, manifest.parent, manifest.gaps, is_reused, labels, rules_were);
                (self.plain(format!("{said:?}").into_bytes()), is_delta)
            }
            Err(error) => (self.plain(format!("{error}").into_bytes()), false),
        }
    }

    /// Text without what differs between two stores: their place, ids and times.
    fn plain(&self, text: Vec<u8>) -> String {
        let mut text = String::from_utf8_lossy(&text).into_owned();
        for (number, id) in self.history.snapshot_ids().unwrap().iter().enumerate() {
            text = text.replace(id.as_str(), &format!("<{number}>"));
        }
        if let Some(place) = text.find("\"created_at\":\"") {
            let start = place + 14;
            let end = start + text[start..].find('"').unwrap();
            text.replace_range(start..end, "");
        }
        text.replace(self.history.store().root().to_str().unwrap(), "STORE")
    }

    fn index(&self) -> PathBuf {
        layout::index(self.history.store().root(), self.history.run())
    }

    /// The index, and every manifest and pin.
    fn documents(&self) -> Vec<String> {
        let (root, run) = (self.history.store().root(), self.history.run());
        let mut texts = vec![self.plain(fs::read(self.index()).unwrap_or_default())];
        for id in self.history.snapshot_ids().unwrap() {
            for path in [layout::manifest(root, run, &id), layout::pin(root, run, &id)] {
                texts.push(self.plain(fs::read(path).unwrap_or_default()));
            }
        }
        texts
    }

    /// Rewrites a document as some other program would.
    #[allow(clippy::disallowed_methods, reason = "it stands for another program")]
    fn forge(path: &PathBuf, forge: impl Fn(&str) -> String) {
        if let Ok(text) = fs::read(path) {
            fs::write(path, forge(std::str::from_utf8(&text).unwrap())).unwrap();
        }
    }

    fn head(&self) -> Option<PathBuf> {
        let head: Option<SnapshotId> = self.history.index().unwrap().head;
        head.map(|id| layout::manifest(self.history.store().root(), self.history.run(), &id))
    }
}

/// What other programs may have left in the documents.
fn forge(chance: &mut Chance, both: &[Lane; 2]) {
    let kind = chance.below(64);
    for lane in both {
        match kind {
            // A row of the original.
            0 => Lane::forge(&lane.index(), |text| {
                let Some(start) = text.find(",\"ctime_nano\"") else { return text.to_owned() };
                let end = start + text[start..].find('}').unwrap();
                [&text[..start], &text[end..]].concat()
            }),
            // Members of a later version.
            1 => Lane::forge(&lane.index(), |text| text.replacen("\"ino\":", "\"new\":[1],\"ino\":", 2)),
            2 => Lane::forge(&lane.index(), |text| text.replace("}},\"head\"", ",\"later\":1e400}},\"head\"")),
            3 => Lane::forge(&lane.index(), |text| text.replace("},\"head\"", "},\"other\":{},\"head\"")),
            4 => {
                let Some(head) = lane.head() else { continue };
                Lane::forge(&head, |text| text.replacen("\"size\":", "\"later\":0,\"size\":", 1));
            }
            5 => {
                let Some(head) = lane.head() else { continue };
                Lane::forge(&head, |text| text.replacen("\"coverage\"", "\"later\":[],\"coverage\"", 1));
            }
            // Other words for the same.
            6 => {
                let Some(head) = lane.head() else { continue };
                Lane::forge(&head, |text| text.replacen("\"path\":\"a", "\"path\":\"\\u0061", 1));
            }
            // A path below another one.
            8 => {
                let Some(head) = lane.head() else { continue };
                Lane::forge(&head, |text| text.replacen("\"path\":\"a.b\"", "\"path\":\"a-/b\"", 1));
            }
            9 => {
                let Some(head) = lane.head() else { continue };
                Lane::forge(&head, |text| text.replacen("\"path\":\"zz\"", "\"path\":\"a\"", 1));
            }
            // No cache.
            7 => Lane::forge(&lane.index(), |text| {
                let end = text.find(",\"head\"").unwrap_or(0);
                if end == 0 { text.to_owned() } else { format!("{{\"entries\":{{}}{}", &text[end..]) }
            }),
            _ => {}
        }
    }
}

#[test]
fn a_capture_by_comparison_leaves_what_one_from_records_leaves() {
    let (mut compared, mut made) = (0, 0);
    for seed in 0..SEQUENCES {
        let mut chance = Chance(seed);
        let both = [Lane::new(), Lane::new()];
        let mut workspace = Workspace::new();
        for path in PATHS {
            if chance.one_in(2) {
                workspace.insert(path, line(&mut chance, path, 1000 * SECOND));
            }
        }
        for step in 1..=CAPTURES {
            let now = (1_700_000_000 + step * 10) * SECOND;
            edit(&mut chance, &mut workspace, now);
            forge(&mut chance, &both);
            let mut lines: Vec<Vec<u8>> = workspace.values().cloned().collect();
            if !lines.is_empty() && chance.one_in(12) {
                match chance.below(3) {
                    0 => lines.reverse(),
                    1 => lines.push(lines[0].clone()),
                    _ => lines.insert(lines.len() / 2, b"f0644 what\tis this".to_vec()),
                }
            }
            let rules = match chance.below(4) {
                0 => format!("#rules none {}\0", hash::of_bytes(b"")),
                1 => String::new(),
                _ => format!("#rules .gitignore {}\0", hash::of_bytes(CONTENTS[1])),
            };
            let root = if chance.one_in(20) { "/other" } else { "/nowhere/at/all" };
            let mark = match chance.below(16) {
                0 => "#head 1-0001\0",
                1 => "",
                _ => "#head HEAD\0",
            };
            let frame = format!("#wt-records 1\0#root {root}\0{rules}#cap 500\0#start {now}\0{mark}");
            let end = if chance.one_in(30) { "" } else { "#end\0" };
            let label = chance.of(&["l", "post:n:0", "bank"]);
            let request = Request {
                labels: vec![LabelWish::Set(Label::named(label).unwrap())],
                parent: None,
                dedupe: !chance.one_in(10),
                relocate: chance.one_in(2),
                while_running: false,
            };
            let said = [true, false].map(|is_compared| {
                let lane = &both[usize::from(is_compared)];
                lane.capture(&lane.stream(&frame, &lines, end), &request, is_compared)
            });
            let of = format!("sequence {seed}, capture {step}");
            assert_eq!(said[0].0, said[1].0, "{of}");
            assert_eq!(both[0].documents(), both[1].documents(), "{of}");
            compared += u64::from(said[0].1);
            made += 1;
        }
    }
    assert!(compared * 3 > made, "{compared} of {made} captures were made from a comparison");
}

#[test]
fn what_changed_under_the_lock_is_not_compared_any_more() {
    let lane = Lane::new();
    let now = 1_700_000_000 * SECOND;
    let file = |name: &str, time: u64| {
        format!("f0644 {} 4 {time} {time} 7\t{name}", hash::of_bytes(CONTENTS[1])).into_bytes()
    };
    let frame = format!("#wt-records 1\0#root /nowhere\0#start {now}\0");
    let request = Request { labels: Vec::new(), parent: None, dedupe: true, relocate: false, while_running: false };
    let all = [file("a", 5), file("b", now), file("c", 6)];
    lane.capture(&lane.stream(&frame, &all, "#end\0"), &request, true);
    // Also the lines of which nothing was kept are there to be read.
    let new = [file("a", 5), file("b", now), file("b.new", 8), file("c", 9)];
    let stream = lane.stream(&frame, &new, "#end\0");
    let (reader, header) = Reader::open(&*stream, Framing::Nul, Frame::Required).unwrap();
    let Ok(Read::Compared(mut delta)) = read(reader, header, Guess::read(&lane.history)) else { panic!() };
    lane.capture(&lane.stream(&frame, &all[..1], "#end\0"), &request, false);
    assert!(delta.write_snapshot(&lane.history, &request).unwrap().is_none());
    let set = delta.into_set().unwrap();
    let (reader, header) = Reader::open(&*stream, Framing::Nul, Frame::Required).unwrap();
    let Ok(Outcome::Complete(expected)) = RecordSet::read(reader, header) else { panic!() };
    assert_eq!(set.records, expected.records);
    assert_eq!(set.header, expected.header);
}
