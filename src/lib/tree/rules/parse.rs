//! The lines of a rules file, read as git reads them.
//!
//! A byte order mark at the start is skipped. A line ends at LF; one CR before the LF, or at the end of the file,
//! belongs to the line end, any other CR to the pattern. Blanks at the end are dropped up to one that is escaped;
//! tabs, and blanks in front, are part of the pattern. A line that can match nothing is left out with a warning.

use super::pattern::{BadPattern, Pattern};
use super::{RuleSource, Warning};
use crate::stream::quote;

/// How many lines of one file are warned about; the rest are counted.
const WARNED_LINES_COUNT_MAX: usize = 100;

/// How much of a bad line a warning shows.
const SHOWN_LINE_BYTES_MAX: usize = 80;

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    /// Which paths it names.
    pub(super) pattern: Pattern,
    /// Whether it begins with `!`.
    pub(super) negated: bool,
    /// Whether it ends with `/`.
    pub(super) dir_only: bool,
    /// The line, counted from 1; 0 for a default name.
    pub(super) line: u32,
    /// The rule as written, without blanks at the end.
    pub(super) text: Box<[u8]>,
}

impl Rule {
    fn compile(text: &[u8], line: u32) -> Result<Self, BadPattern> {
        let (negated, body) = match text.strip_prefix(b"!") {
            Some(body) => (true, body),
            None => (false, text),
        };
        let (dir_only, body) = match body.strip_suffix(b"/") {
            Some(body) => (true, body),
            None => (false, body),
        };
        Ok(Self { pattern: Pattern::compile(body)?, negated, dir_only, line, text: text.into() })
    }
}

/// Reads default names, which are no lines of any file.
pub(super) fn defaults(names: &[&str]) -> Vec<Rule> {
    names.iter().filter_map(|name| Rule::compile(name.as_bytes(), 0).ok()).collect()
}

/// Reads the rules of a whole file.
pub(super) fn file(source: RuleSource, text: &[u8]) -> (Vec<Rule>, Vec<Warning>) {
    let mut rules = Vec::new();
    let mut warnings = Vec::new();
    let mut unnamed = 0_usize;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    for (line, content) in (1_u32..).zip(text.split(|byte| *byte == b'\n')) {
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        if content.starts_with(b"#") {
            continue;
        }
        let content = trim_blanks(content);
        if content.is_empty() {
            continue;
        }
        match Rule::compile(content, line) {
            Ok(rule) => rules.push(rule),
            Err(_) if warnings.len() == WARNED_LINES_COUNT_MAX => unnamed += 1,
            Err(reason) => {
                let message = format!("{reason} in {}, line skipped", shown(content));
                warnings.push(Warning { source, line: Some(line), message });
            }
        }
    }
    if unnamed > 0 {
        let message = format!("{unnamed} more lines skipped");
        warnings.push(Warning { source, line: None, message });
    }
    (rules, warnings)
}

/// Drops the run of blanks at the end. A backslash keeps the byte after it, also a blank.
fn trim_blanks(line: &[u8]) -> &[u8] {
    let mut kept = 0;
    let mut bytes = line.iter().enumerate();
    while let Some((index, byte)) = bytes.next() {
        match byte {
            b' ' => {}
            b'\\' => kept = bytes.next().map_or(index, |(escaped, _)| escaped) + 1,
            _ => kept = index + 1,
        }
    }
    line.get(..kept).unwrap_or(line)
}

fn shown(line: &[u8]) -> String {
    match line.get(..SHOWN_LINE_BYTES_MAX) {
        Some(start) if line.len() > SHOWN_LINE_BYTES_MAX => format!("'{}...'", quote::masked(start)),
        _ => quote::name(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file_text: &[u8]) -> Vec<String> {
        let (rules, warnings) = file(RuleSource::GitIgnore, file_text);
        assert_eq!(warnings, []);
        rules.iter().map(|rule| quote::masked(&rule.text)).collect()
    }

    #[test]
    fn line_ends_blanks_and_comments() {
        assert_eq!(texts(b""), [""; 0]);
        assert_eq!(texts(b"\xef\xbb\xbffoo\n"), ["foo"]);
        assert_eq!(texts(b"foo1\r\nfoo2\r"), ["foo1", "foo2"]);
        assert_eq!(texts(b"Icon\r\r\n\r\n"), ["Icon\\x0d"]);
        assert_eq!(texts(b"a\rb\n"), ["a\\x0db"]);
        assert_eq!(texts(b"foo  \nbar \r\n   \n"), ["foo", "bar"]);
        assert_eq!(texts(b"foo\\ \nfoo\\  \nfoo \\ \n"), ["foo\\ ", "foo\\ ", "foo \\ "]);
        assert_eq!(texts(b"foo\\\\ \n"), ["foo\\\\"]);
        assert_eq!(texts(b"foo\t\n foo\n"), ["foo\\x09", " foo"]);
        assert_eq!(texts(b"# comment\n\\#bar\n #x\n!#y\n"), ["\\#bar", " #x", "!#y"]);
        assert_eq!(texts(b"\xff\xfe\n"), ["\\xff\\xfe"]);
    }

    #[test]
    fn bad_lines_are_named_and_skipped() {
        let (rules, warnings) = file(RuleSource::GitIgnore, b"ok\n[a\nb\\\nc\0d\n!\n[[:no:]]\n/\nx//y\nfine\n");
        assert_eq!(rules.iter().map(|rule| rule.line).collect::<Vec<_>>(), [1, 9]);
        assert_eq!(
            warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                ".gitignore:2: unclosed character class in '[a', line skipped",
                ".gitignore:3: backslash with nothing after it in 'b\\', line skipped",
                ".gitignore:4: NUL byte in 'c\\x00d', line skipped",
                ".gitignore:5: no name in '!', line skipped",
                ".gitignore:6: unknown character class name in '[[:no:]]', line skipped",
                ".gitignore:7: no name in '/', line skipped",
                ".gitignore:8: segment that is empty, '.' or '..' in 'x//y', line skipped",
            ]
        );
    }

    #[test]
    fn warnings_are_bounded_in_number_and_length() {
        let (_, at) = file(RuleSource::GitIgnore, "[\n".repeat(WARNED_LINES_COUNT_MAX).as_bytes());
        assert_eq!(at.len(), WARNED_LINES_COUNT_MAX);
        let (_, past) = file(RuleSource::GitIgnore, "[\n".repeat(WARNED_LINES_COUNT_MAX + 1).as_bytes());
        assert_eq!(past.last().map(ToString::to_string).as_deref(), Some(".gitignore: 1 more lines skipped"));
        let (_, long) = file(RuleSource::GitIgnore, "[".repeat(1000).as_bytes());
        assert!(long.first().is_some_and(|warning| warning.message.len() < 200));
    }
}
