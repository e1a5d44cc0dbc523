//! Manifests and pins: what is accepted survives a rewrite, names all that it holds, and loses only what it should.

use std::collections::HashSet;

use workspacetrack::history::hashes::{for_each_in_text, for_each_named};
use workspacetrack::history::manifest::{cut, parse, pinned_hashes, with_parent};
use workspacetrack::store::id::SnapshotId;

pub(crate) fn check(input: &[u8]) {
    let mut named = HashSet::new();
    let is_marked = for_each_named(input, &mut |id| {
        named.insert(id);
    });
    let mut in_text = HashSet::new();
    for_each_in_text(input, &mut |id| {
        in_text.insert(id);
    });
    // Names and targets may look like hashes; nothing else is marked that does not stand there.
    assert!(input.contains(&b'\\') || named.is_subset(&in_text), "a hash is marked that does not stand there");
    let Ok(manifest) = parse(input) else { return };
    if is_marked.is_ok() {
        // What a prune would take away is nothing that a reader wants.
        assert!(manifest.contents().all(|(id, _)| named.contains(&id) || !is_file(&manifest, id)));
        assert!(manifest.coverage.rules_object().is_none_or(|id| named.contains(&id)));
    }
    let _ = pinned_hashes(&manifest);
    let written = manifest.to_json();
    let again = parse(&written).expect("what we write we can read");
    assert!(again.records_the_same(&manifest));
    assert_eq!((&again.id, &again.parent, &again.label), (&manifest.id, &manifest.parent, &manifest.label));
    assert_eq!(again.to_json(), written);
    for_each_named(&written, &mut |_| {}).expect("a prune can read what we write");

    // What no prune can read, as a member that stands twice, is damaged for whoever changes it, too.
    if is_marked.is_err() {
        return;
    }
    for parent in [None, SnapshotId::parse("7-0001")] {
        let moved = with_parent(input, parent.as_ref()).expect("a manifest that can be read gets another parent");
        let moved = parse(&moved).expect("and can be read then");
        assert_eq!(moved.parent, parent);
        assert!(moved.records_the_same(&manifest));
    }
    let Some(first) = manifest.entries.first() else { return };
    let path = first.path.clone();
    if let Ok(Some(done)) = cut(input, &|other, _| *other == *path) {
        let left = parse(&done.json).expect("what is left can be read");
        assert!(left.entry(&path).is_none() && left.gap_over(&path).is_some());
        assert_eq!(left.entries.len() + 1, manifest.entries.len());
    }
}

/// The content of a link is told by its target; its object may be missing from the text.
fn is_file(
    manifest: &workspacetrack::history::manifest::Manifest,
    id: workspacetrack::store::id::ObjectId,
) -> bool {
    manifest.files().any(|(_, hash, _)| hash == id)
}
