//! [`CoverageRules`]: where a snapshot may be believed when it does not name a path (design section 6, Coverage).
//!
//! A snapshot's silence about a path means "it was not there" only where the snapshot would have named it. That depends
//! on the kind of the path and on the rules of then: those in the object that the manifest names, or, for a manifest of
//! the original, those in the rules file among its own entries. Diff and restore both ask here.
//!
//! Two things are not known from a manifest. The store is left out by identity, whatever its name, so the caller must
//! not ask about paths in it. And an original whose rules file was a link, or excluded itself, looks as if it had had no
//! rules; whoever deletes must therefore ask the current rules too.

use std::borrow::Cow;

use super::coverage::Selection;
use super::manifest::{Manifest, Node};
use crate::error::{Error, Kind, Result};
use crate::store::hash;
use crate::store::id::ObjectId;
use crate::store::pool::Pool;
use crate::store::relpath::RelPath;
use crate::stream::record::EntryKind;
use crate::tree::rules::{self, RULES_FILE_SIZE_BYTES_MAX, RuleSource, Rules, RulesFile};

/// What one side of a comparison, a snapshot or a workspace, would have named had it been there.
pub struct CoverageRules<'a> {
    all_kinds: bool,
    selected: Selected<'a>,
}

enum Selected<'a> {
    /// What every one of these includes.
    ByRules(Vec<Cow<'a, Rules>>),
    /// What the manifest names, and nothing else.
    ByList(&'a Manifest),
}

impl<'a> CoverageRules<'a> {
    /// Loads what a snapshot covers; its rules are read from the pool.
    ///
    /// # Errors
    /// [`Kind::Damaged`] when the object with its rules is missing or wrong.
    pub fn load(manifest: &'a Manifest, pool: Option<&Pool>) -> Result<Self> {
        let selected = match &manifest.coverage.selection {
            Selection::Listed => Selected::ByList(manifest),
            Selection::Rules { source, id } => {
                let source = RuleSource::parse(source).unwrap_or(RuleSource::GitIgnore);
                let text = if source == RuleSource::None { Vec::new() } else { read_rules(manifest, pool, *id)? };
                Selected::ByRules(vec![parse(source, text)])
            }
            Selection::Original => original(manifest, pool)?,
        };
        Ok(Self { all_kinds: manifest.coverage.all_kinds, selected })
    }

    /// What the workspace covers under the rules that are in force now.
    #[must_use]
    pub fn of_workspace(rules: &'a Rules) -> Self {
        Self { all_kinds: true, selected: Selected::ByRules(vec![Cow::Borrowed(rules)]) }
    }

    /// Whether `path`, had it been there and of this kind, would be in the snapshot or a gap of it. A directory means an
    /// empty one.
    #[must_use]
    pub fn covers(&self, path: &RelPath, kind: EntryKind) -> bool {
        if !self.all_kinds && (kind != EntryKind::File || path.to_str().is_none()) {
            return false;
        }
        let as_rules_see_it = match kind {
            EntryKind::Dir => rules::EntryKind::Dir,
            EntryKind::File | EntryKind::Link | EntryKind::Special => rules::EntryKind::NotDir,
        };
        match &self.selected {
            Selected::ByRules(all) => all.iter().all(|rules| rules.verdict(path, as_rules_see_it).is_included()),
            Selected::ByList(manifest) => manifest.entry(path).is_some() || manifest.gap_over(path).is_some(),
        }
    }
}

fn parse<'a>(source: RuleSource, text: Vec<u8>) -> Cow<'a, Rules> {
    // Bad lines were warned about when the snapshot was taken.
    Cow::Owned(Rules::parse(&RulesFile { source, text }).0)
}

fn read_rules(manifest: &Manifest, pool: Option<&Pool>, id: ObjectId) -> Result<Vec<u8>> {
    if id == hash::of_bytes(b"") {
        return Ok(Vec::new());
    }
    let what = || format!("cannot tell which paths snapshot '{}' covers", manifest.id);
    let Some(pool) = pool else {
        return Err(Error::new(Kind::Damaged, format!("object {id} is not in the pool: there is none"))
            .while_doing(what())
            .hint("name the store that holds it with --store"));
    };
    if pool.size_of(id)?.is_some_and(|size| size > RULES_FILE_SIZE_BYTES_MAX as u64) {
        let message = format!("object {id} is larger than the {RULES_FILE_SIZE_BYTES_MAX} bytes of a rules file");
        return Err(Error::new(Kind::Damaged, message).while_doing(what()));
    }
    pool.read(id).map_err(|error| error.while_doing(what()))
}

/// The original takes `.iterionignore` if it can open it, else `.gitignore`, and captures either like any other file.
fn original<'a>(manifest: &'a Manifest, pool: Option<&Pool>) -> Result<Selected<'a>> {
    for source in [RuleSource::IterionIgnore, RuleSource::GitIgnore] {
        let Ok(path) = RelPath::new(source.name().as_bytes()) else { continue };
        if manifest.gap_over(path).is_some() {
            // There were rules, and nobody can say which.
            return Ok(Selected::ByList(manifest));
        }
        if let Some(Node::File { hash, .. }) = manifest.entry(path).map(|entry| &entry.node) {
            let text = read_rules(manifest, pool, *hash)?;
            let reading = as_the_original_reads(&text);
            return Ok(Selected::ByRules(vec![parse(source, text), parse(source, reading)]));
        }
    }
    Ok(Selected::ByRules(vec![parse(RuleSource::None, Vec::new())]))
}

/// The rules with the lines that the original reads in another way than we do (facts 3.2, 3.5) written so that we read
/// them its way. Blanks on both sides do not count, `a/**` means `a` too, `[!` and `[[:` have no special meaning.
fn as_the_original_reads(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 64);
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        if let Some(above) = line.strip_suffix(b"/**").filter(|above| !above.is_empty() && !above.starts_with(b"!"))
        {
            // The pattern was anchored by its slash, and stays so.
            let anchor: &[u8] = if above.contains(&b'/') { b"" } else { b"/" };
            out.extend_from_slice(anchor);
            push_literal_classes(&mut out, above);
            out.push(b'\n');
        }
        push_literal_classes(&mut out, line);
        out.push(b'\n');
    }
    out
}

fn push_literal_classes(out: &mut Vec<u8>, pattern: &[u8]) {
    let mut rest = pattern;
    while let Some((&byte, tail)) = rest.split_first() {
        out.push(byte);
        if byte == b'[' && (tail.starts_with(b"!") || tail.starts_with(b"[:")) {
            out.push(b'\\');
        }
        if byte == b'\\'
            && let Some((&escaped, after)) = tail.split_first()
        {
            out.push(escaped);
            rest = after;
        } else {
            rest = tail;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::coverage::{Coverage, Gap};
    use super::super::manifest::Entry;
    use super::*;
    use crate::store::id::SnapshotId;
    use crate::store::relpath::RelPathBuf;
    use crate::stream::record::GapReason;

    fn path(text: &str) -> RelPathBuf {
        RelPathBuf::new(text.as_bytes()).unwrap()
    }

    fn manifest(coverage: Coverage, files: &[&str], gaps: &[(&str, bool)]) -> Manifest {
        let file = |name: &&str| Entry {
            path: path(name),
            node: Node::File { hash: hash::of_bytes(b""), size: 0 },
            mode: 0o644,
        };
        let gap = |(name, hides_subtree): &(&str, bool)| Gap {
            path: path(name),
            reason: GapReason::Unreadable,
            hides_subtree: *hides_subtree,
        };
        Manifest {
            id: SnapshotId::new(1, 1),
            parent: None,
            label: None,
            created_at: String::new(),
            entries: files.iter().map(file).collect(),
            gaps: gaps.iter().map(gap).collect(),
            coverage,
            workspace: None,
        }
    }

    fn coverage(selection: Selection, all_kinds: bool) -> Coverage {
        Coverage { selection, engine: String::new(), cap_bytes: None, all_kinds }
    }

    fn none() -> Selection {
        Selection::Rules { source: "none".into(), id: hash::of_bytes(b"") }
    }

    #[test]
    fn only_the_kinds_it_claims() {
        let raw = RelPathBuf::new(b"\xff".to_vec()).unwrap();
        let every = manifest(coverage(none(), true), &[], &[]);
        let every = CoverageRules::load(&every, None).unwrap();
        let files = manifest(Coverage::original(), &[], &[]);
        let files = CoverageRules::load(&files, None).unwrap();
        for kind in [EntryKind::File, EntryKind::Link, EntryKind::Dir, EntryKind::Special] {
            assert!(every.covers(&path("a"), kind));
            assert!(every.covers(&raw, kind));
            assert_eq!(files.covers(&path("a"), kind), kind == EntryKind::File);
            assert!(!files.covers(&raw, kind));
            for out in [".git/config", "a/.iterion/b", "node_modules/x", ".iterion-tmp-1"] {
                assert!(!every.covers(&path(out), kind), "{out}");
            }
        }
    }

    #[test]
    fn a_list_covers_what_it_names_and_no_more() {
        let list = manifest(coverage(Selection::Listed, true), &["a", "d/e"], &[("g", false), ("h", true)]);
        let list = CoverageRules::load(&list, None).unwrap();
        for (name, covered) in
            [("a", true), ("d/e", true), ("d/f", false), ("g", true), ("h/x", true), ("b", false)]
        {
            assert_eq!(list.covers(&path(name), EntryKind::File), covered, "{name}");
        }
    }

    #[test]
    fn rules_that_cannot_be_had_are_no_rules() {
        let rules = Selection::Rules { source: ".gitignore".into(), id: hash::of_bytes(b"x") };
        let error = CoverageRules::load(&manifest(coverage(rules, true), &[], &[]), None).err().unwrap();
        assert_eq!(error.kind(), Kind::Damaged);
        let skipped = manifest(Coverage::original(), &["a"], &[(".gitignore", false)]);
        let skipped = CoverageRules::load(&skipped, None).unwrap();
        assert!(skipped.covers(&path("a"), EntryKind::File));
        assert!(!skipped.covers(&path("b"), EntryKind::File));
    }

    #[test]
    fn what_the_original_left_out_is_not_covered_although_we_read_the_line_otherwise() {
        let text = b"  lead\n foo/**\nsub/deep/**\n[!a]x\n[[:alpha:]]\n!keep/**\n\\[!z\n".to_vec();
        let rules = vec![
            parse(RuleSource::GitIgnore, text.clone()),
            parse(RuleSource::GitIgnore, as_the_original_reads(&text)),
        ];
        let both = CoverageRules { all_kinds: false, selected: Selected::ByRules(rules) };
        for (name, covered) in [
            ("lead", false),
            ("foo", false),
            ("foo/x", false),
            ("yy/foo", true),
            ("sub/deep", false),
            ("sub", true),
            ("ax", false),
            ("bx", false),
            ("h]", false),
            ("h", false),
            ("[!z", false),
            ("keep/y", true),
            ("other", true),
        ] {
            assert_eq!(both.covers(&path(name), EntryKind::File), covered, "{name}");
        }
    }
}
