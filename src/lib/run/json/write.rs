//! Tree to text, in the two forms of the original (facts 0).

use super::{Json, compact};

impl Json {
    /// The form of documents: indented by two spaces, without a newline at the end.
    #[must_use]
    pub fn indented(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.append(&mut out, Some(0));
        out
    }

    /// The form of lines: no blanks.
    #[must_use]
    pub fn compact(&self) -> String {
        let mut out = Vec::new();
        self.append(&mut out, None);
        // Every part was text.
        String::from_utf8(out).unwrap_or_default()
    }

    fn append(&self, out: &mut Vec<u8>, level: Option<usize>) {
        let inner = level.map(|level| level + 1);
        match self {
            Self::Scalar(text) => compact::append(text, out),
            Self::Array(elements) => {
                out.push(b'[');
                for (number, element) in elements.iter().enumerate() {
                    separate(number, inner, out);
                    element.append(out, inner);
                }
                close(b']', elements.is_empty(), level, out);
            }
            Self::Object(members) => {
                out.push(b'{');
                for (number, (key, value)) in members.iter().enumerate() {
                    separate(number, inner, out);
                    compact::append_string(key, out);
                    out.extend_from_slice(if level.is_some() { b": " } else { b":" });
                    value.append(out, inner);
                }
                close(b'}', members.is_empty(), level, out);
            }
        }
    }
}

fn separate(number: usize, level: Option<usize>, out: &mut Vec<u8>) {
    if number > 0 {
        out.push(b',');
    }
    line(level, out);
}

fn close(bracket: u8, is_empty: bool, level: Option<usize>, out: &mut Vec<u8>) {
    if !is_empty {
        line(level, out);
    }
    out.push(bracket);
}

fn line(level: Option<usize>, out: &mut Vec<u8>) {
    if let Some(level) = level {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', 2 * level));
    }
}
