//! Ignore files: any text is read, and a walk that skips what it may skip decides as asking about each path does.

use workspacetrack::store::relpath::RelPath;
use workspacetrack::tree::rules::{EntryKind, RuleSource, Rules, RulesFile, TextGlob};

pub(crate) fn check(input: &[u8]) {
    // Paths first, one a line, up to an empty line; then the rules.
    let split = input.windows(2).position(|pair| pair == b"\n\n").unwrap_or(0);
    let (paths, text) = (&input[..split], input.get(split..).unwrap_or_default());
    for source in [RuleSource::IterionIgnore, RuleSource::GitIgnore] {
        let (rules, _) = Rules::parse(&RulesFile { source, text: text.to_vec() });
        for path in paths.split(|byte| *byte == b'\n').take(16) {
            let Ok(path) = RelPath::new(path) else { continue };
            for kind in [EntryKind::NotDir, EntryKind::Dir] {
                let asked = rules.verdict(path, kind);
                let _ = rules.decided_by(&asked);
                let mut inherited = rules.at_root();
                let bytes = path.as_bytes();
                for (at, byte) in bytes.iter().enumerate() {
                    if *byte != b'/' {
                        continue;
                    }
                    let verdict = rules.verdict_below(inherited, &bytes[..at], EntryKind::Dir);
                    assert!(
                        !rules.may_prune(&bytes[..at], &verdict) || !asked.is_included(),
                        "skipped with its directory"
                    );
                    inherited = verdict.below();
                }
                assert_eq!(rules.verdict_below(inherited, bytes, kind), asked);
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(text)
        && let Ok(glob) = TextGlob::named(text)
    {
        let _ = glob.matches(std::str::from_utf8(paths).unwrap_or_default());
    }
}
