//! [`Pattern`]: which paths one rule names.
//!
//! A pattern without `/` is compared with the last name of a path, at any depth. One with `/` is anchored at the
//! workspace root and becomes steps: globs for one name each, and `**` for any number of whole names. Like `*` within
//! a name, `**` has one point of return, the last one, so the work stays polynomial.

use std::fmt;

use super::glob::{self, Glob, Token};

/// Why a pattern can match nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadPattern {
    /// A `[` without its `]`, or without the `:]` before it.
    UnclosedClass,
    /// `[:name:]` with a name that is not one of the twelve.
    UnknownClassName,
    /// A `\` with nothing after it.
    LoneBackslash,
    /// A NUL byte, which no name holds.
    NulByte,
    /// Nothing is left after `!` and `/`.
    Nothing,
    /// A segment that is empty, `.` or `..`, which no path inside the workspace has.
    ImpossibleSegment,
}

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnclosedClass => "unclosed character class",
            Self::UnknownClassName => "unknown character class name",
            Self::LoneBackslash => "backslash with nothing after it",
            Self::NulByte => "NUL byte",
            Self::Nothing => "no name",
            Self::ImpossibleSegment => "segment that is empty, '.' or '..'",
        })
    }
}

/// A path, taken apart once for all rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'p> {
    path: &'p [u8],
    name: &'p [u8],
}

impl<'p> Subject<'p> {
    /// Takes the bytes of a relative path.
    pub(super) fn new(path: &'p [u8]) -> Self {
        let name = memchr::memrchr(b'/', path).and_then(|slash| path.get(slash + 1..)).unwrap_or(path);
        Self { path, name }
    }

    /// How many names the path has. Counted where it is asked for: most projects have no anchored pattern.
    fn depth(&self) -> usize {
        memchr::memchr_iter(b'/', self.path).count() + 1
    }

    /// The last name.
    pub(super) fn name(&self) -> &'p [u8] {
        self.name
    }
}

/// A compiled pattern, without its `!` and its trailing `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Any path whose last name matches.
    Name(Glob),
    /// Paths from the workspace root.
    Path(Steps),
}

/// The steps of an anchored pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Steps {
    steps: Box<[Step]>,
    /// How many names a matching path has: exactly as many without `**`, else at least.
    depth_min: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Name(Glob),
    /// `**`: any number of whole names, also none.
    AnyDepth,
}

impl Pattern {
    /// Compiles what stands between `!` and the trailing `/`.
    pub(super) fn compile(text: &[u8]) -> Result<Self, BadPattern> {
        if text.contains(&0) {
            return Err(BadPattern::NulByte);
        }
        if text.is_empty() || text == b"/" {
            return Err(BadPattern::Nothing);
        }
        // As git, by the plain byte: a `/` inside a class anchors although no name can match it.
        let is_anchored = text.contains(&b'/');
        let mut steps = split(text.strip_prefix(b"/").unwrap_or(text), is_anchored)?;
        match steps.as_mut_slice() {
            [Step::Name(_)] if !is_anchored => {}
            [Step::AnyDepth, Step::Name(_)] => {}
            _ => return Ok(Self::Path(Steps::new(steps))),
        }
        // A bare name, or `**/name`, which says the same.
        match steps.pop() {
            Some(Step::Name(glob)) => Ok(Self::Name(glob)),
            _ => Err(BadPattern::Nothing),
        }
    }

    /// Whether the path itself matches; what lies below it is the caller's affair.
    pub(super) fn matches(&self, subject: &Subject<'_>) -> bool {
        match self {
            Self::Name(glob) => glob.matches(subject.name),
            Self::Path(steps) => steps.matches(subject),
        }
    }

    /// Whether some path strictly below the directory `dir` could match.
    pub(super) fn could_match_below(&self, dir: &[u8]) -> bool {
        match self {
            Self::Name(_) => true,
            Self::Path(steps) => steps.could_match_below(dir),
        }
    }

    /// The literal names that every matching path contains.
    pub(super) fn literal_names(&self) -> impl Iterator<Item = &[u8]> {
        let (name, steps) = match self {
            Self::Name(glob) => (Some(glob), &[][..]),
            Self::Path(steps) => (None, &*steps.steps),
        };
        let globs = steps.iter().filter_map(|step| if let Step::Name(glob) = step { Some(glob) } else { None });
        name.into_iter()
            .chain(globs)
            .filter_map(|glob| if let Glob::Literal(name) = glob { Some(&**name) } else { None })
    }
}

impl Steps {
    fn new(mut steps: Vec<Step>) -> Self {
        // A final `**` stands for what is below: one name or more.
        if steps.last() == Some(&Step::AnyDepth) {
            steps.push(Step::Name(Glob::Any));
            steps.push(Step::AnyDepth);
        }
        steps.dedup_by(|later, earlier| *later == Step::AnyDepth && *earlier == Step::AnyDepth);
        let depth_min = steps.iter().filter(|step| **step != Step::AnyDepth).count();
        Self { steps: steps.into_boxed_slice(), depth_min }
    }

    fn matches(&self, subject: &Subject<'_>) -> bool {
        let has_any_depth = self.steps.len() != self.depth_min;
        let depth = subject.depth();
        if depth < self.depth_min || (depth > self.depth_min && !has_any_depth) {
            return false;
        }
        if let Some(Step::Name(glob)) = self.steps.last()
            && !glob.matches(subject.name)
        {
            return false;
        }
        self.match_names(subject.path)
    }

    fn match_names(&self, path: &[u8]) -> bool {
        let (mut steps, mut names) = (&*self.steps, Some(path));
        // What follows the last `**`, and the names that it has not taken yet.
        let mut retry: Option<(&[Step], Option<&[u8]>)> = None;
        loop {
            match (steps.split_first(), names) {
                (None, None) | (Some((Step::AnyDepth, [])), _) => return true,
                (Some((Step::AnyDepth, after)), _) => {
                    retry = Some((after, names));
                    steps = after;
                    continue;
                }
                (Some((Step::Name(glob), after)), Some(rest)) => {
                    let (name, tail) = split_name(rest);
                    if glob.matches(name) {
                        (steps, names) = (after, tail);
                        continue;
                    }
                }
                // Out of names: a `**` that takes more would leave even fewer.
                (Some(_), None) => return false,
                (None, Some(_)) => {}
            }
            let Some((after, Some(from))) = retry else { return false };
            let (_, tail) = split_name(from);
            retry = Some((after, tail));
            (steps, names) = (after, tail);
        }
    }

    fn could_match_below(&self, dir: &[u8]) -> bool {
        let mut names = Some(dir);
        for step in &self.steps {
            match (step, names) {
                // From here on the pattern can follow any path, or names what is below `dir`.
                (Step::AnyDepth, _) | (_, None) => return true,
                (Step::Name(glob), Some(rest)) => {
                    let (name, tail) = split_name(rest);
                    if !glob.matches(name) {
                        return false;
                    }
                    names = tail;
                }
            }
        }
        // All steps are used up at or above `dir`: a pattern without `**` has one depth only.
        false
    }
}

fn split_name(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    match path.iter().position(|byte| *byte == b'/') {
        Some(slash) => (path.get(..slash).unwrap_or(path), path.get(slash + 1..)),
        None => (path, None),
    }
}

/// Splits at each `/` that is not in a class; an escaped one separates just the same, as in git.
fn split(text: &[u8], is_anchored: bool) -> Result<Vec<Step>, BadPattern> {
    let mut steps = Vec::new();
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut segment = text;
    while let Some((token, tail)) = glob::next_token(rest)? {
        if token == Token::Byte(b'/') {
            let source = segment.get(..segment.len() - rest.len()).unwrap_or_default();
            push_segment(&mut steps, source, std::mem::take(&mut tokens), is_anchored)?;
            if rest.starts_with(b"\\") && steps.last() == Some(&Step::AnyDepth) {
                // Git lets `**/` stand for no name at all, but `**\/` only for one or more.
                steps.push(Step::Name(Glob::Any));
            }
            segment = tail;
        } else {
            tokens.push(token);
        }
        rest = tail;
    }
    push_segment(&mut steps, segment, tokens, is_anchored)?;
    Ok(steps)
}

fn push_segment(
    steps: &mut Vec<Step>,
    source: &[u8],
    tokens: Vec<Token>,
    is_anchored: bool,
) -> Result<(), BadPattern> {
    let is_any_depth = is_anchored && source.len() >= 2 && source.iter().all(|byte| *byte == b'*');
    steps.push(if is_any_depth { Step::AnyDepth } else { Step::Name(Glob::new(tokens)) });
    match steps.last() {
        Some(Step::Name(Glob::Literal(name))) if matches!(&**name, b"" | b"." | b"..") => {
            Err(BadPattern::ImpossibleSegment)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        Pattern::compile(pattern.as_bytes()).unwrap().matches(&Subject::new(path.as_bytes()))
    }

    #[test]
    fn anchors_and_spans_as_git_does() {
        for (pattern, yes, no) in [
            ("foo", &["foo", "a/foo", "a/b/foo"][..], &["foo/a", "xfoo"][..]),
            ("/foo", &["foo"], &["a/foo"]),
            ("doc/frotz", &["doc/frotz"], &["a/doc/frotz"]),
            ("*/a", &["a/a", "b/a"], &["a/aa/a", "a"]),
            ("**/foo", &["foo", "a/foo", "a/b/foo"], &["foo/a"]),
            ("**/foo/bar", &["foo/bar", "a/foo/bar", "foo/foo/bar"], &["foo/x/bar"]),
            ("abc/**", &["abc/x", "abc/x/y"], &["abc", "x/abc/y"]),
            ("/**", &["a", "a/b"], &[]),
            ("**", &["a", "a/b"], &[]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb", "x/a/b"]),
            ("a/***/b", &["a/b", "a/x/b"], &["ab"]),
            ("a/**/**/b", &["a/b", "a/x/b"], &["a"]),
            ("a/**\\/b", &["a/x/b", "a/x/y/b"], &["a/b"]),
            ("a\\/b", &["a/b"], &["x/a/b"]),
            ("foo**/bar", &["foo/bar", "foox/bar"], &["foo/x/bar"]),
            ("**foo/bar", &["foo/bar", "xfoo/bar"], &["x/foo/bar"]),
            ("a/**b", &["a/b", "a/xb"], &["a/x/b"]),
            ("a[/]b", &[], &["a/b", "ab"]),
            ("a[b/]c", &["abc"], &["x/abc", "a/c"]),
            ("a/**/b/**/c", &["a/b/c", "a/b/b/c", "a/x/b/y/c/c"], &["a/c", "a/b/c/x"]),
        ] {
            assert_eq!(yes.iter().find(|path| !matches(pattern, path)), None, "{pattern}");
            assert_eq!(no.iter().find(|path| matches(pattern, path)), None, "{pattern}");
        }
    }

    #[test]
    fn names_what_can_match_nothing() {
        for (pattern, reason) in [
            ("", BadPattern::Nothing),
            ("/", BadPattern::Nothing),
            ("//", BadPattern::ImpossibleSegment),
            ("a//b", BadPattern::ImpossibleSegment),
            ("./foo1", BadPattern::ImpossibleSegment),
            ("a/../b", BadPattern::ImpossibleSegment),
            ("\\/a", BadPattern::ImpossibleSegment),
            ("a\\", BadPattern::LoneBackslash),
            ("a[/b", BadPattern::UnclosedClass),
            ("a\0b", BadPattern::NulByte),
        ] {
            assert_eq!(Pattern::compile(pattern.as_bytes()), Err(reason), "{pattern:?}");
        }
    }

    #[test]
    fn could_match_below_compares_name_by_name() {
        for (pattern, yes, no) in [
            ("keep.log", &["a", "a/b"][..], &[][..]),
            ("a/keep", &["a"], &["b", "a/b", "a/keep"]),
            ("a/*.d/keep", &["a", "a/x.d"], &["a/x", "b"]),
            ("a/**/keep", &["a", "a/b/c"], &["b"]),
            ("/a", &[], &["a", "b"]),
        ] {
            let compiled = Pattern::compile(pattern.as_bytes()).unwrap();
            assert_eq!(yes.iter().find(|dir| !compiled.could_match_below(dir.as_bytes())), None, "{pattern}");
            assert_eq!(no.iter().find(|dir| compiled.could_match_below(dir.as_bytes())), None, "{pattern}");
        }
    }
}
