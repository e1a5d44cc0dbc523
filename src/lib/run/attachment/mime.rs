//! What kind of content bytes are, by their beginning and never by what somebody says.
//!
//! Signatures come from the `infer` crate. Whether content is text is decided as browsers and the original decide it: no
//! control characters but those that texts have. Which kind of harmless text it is, no signature tells; there, and only
//! there, the end of the file's name is believed.

/// So much of the content is looked at, in bytes.
pub const SNIFF_BYTES: usize = 512;

/// The type that content of no known kind has.
const UNKNOWN: &str = "application/octet-stream";
/// The type of text of no known kind.
const PLAIN: &str = "text/plain; charset=utf-8";
/// Kinds of text by the end of the name, in lower case.
const TEXTS: [(&str, &str); 6] = [
    (".json", "application/json"),
    (".yaml", "application/yaml"),
    (".yml", "application/yaml"),
    (".md", "text/markdown"),
    (".markdown", "text/markdown"),
    (".csv", "text/csv"),
];

/// The type of content that begins with `head`, of which the first [`SNIFF_BYTES`] count.
#[must_use]
pub fn sniff(head: &[u8], file_name: &str) -> &'static str {
    let head = head.get(..SNIFF_BYTES).unwrap_or(head);
    if !is_text(head) {
        // A document in a zip is a zip: what it claims to hold is its own word.
        return if head.starts_with(b"PK\x03\x04") {
            "application/zip"
        } else {
            infer::get(head)
                .map(|kind| kind.mime_type())
                .filter(|mime| !mime.starts_with("text/"))
                .unwrap_or(UNKNOWN)
        };
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let has_svg = text.windows(4).any(|window| window.eq_ignore_ascii_case(b"<svg"));
    if begins(b"%PDF-") {
        "application/pdf"
    } else if begins(b"%!PS-Adobe-") {
        "application/postscript"
    } else if begins(b"{\\rtf") {
        "application/rtf"
    } else if (begins(b"<?xml") || begins(b"<!doctype svg") || begins(b"<svg")) && has_svg {
        "image/svg+xml"
    } else if begins(b"<?xml") {
        "text/xml"
    } else if infer::is_mime(text, "text/html") || begins(b"<!doctype html") {
        "text/html"
    } else {
        let name = file_name.to_ascii_lowercase();
        TEXTS.iter().find(|(end, _)| name.ends_with(end)).map_or(PLAIN, |(_, mime)| mime)
    }
}

/// Whether bytes are text: they begin with a byte order mark, or hold no control characters that texts do not have.
fn is_text(head: &[u8]) -> bool {
    let marked = [&b"\xef\xbb\xbf"[..], b"\xfe\xff", b"\xff\xfe"].iter().any(|mark| head.starts_with(mark));
    marked || !head.iter().any(|byte| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f))
}

/// Whether a type matches a pattern such as `image/*`. Parameters behind `;` do not count, nor does case.
#[must_use]
pub fn matches(pattern: &str, mime: &str) -> bool {
    let bare = |text: &str| text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (pattern, mime) = (bare(pattern), bare(mime));
    match (pattern.split_once('/'), mime.split_once('/')) {
        (Some((kind, subtype)), Some((of_kind, of_subtype))) => {
            segment(kind.as_bytes(), of_kind.as_bytes()) && segment(subtype.as_bytes(), of_subtype.as_bytes())
        }
        _ => pattern == mime,
    }
}

/// Matches one segment, in which `*` stands for anything.
fn segment(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|skip| segment(rest, text.get(skip..).unwrap_or_default())),
        Some((byte, rest)) => {
            text.split_first().is_some_and(|(first, after)| first == byte && segment(rest, after))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_what_it_begins_with() {
        for (head, name, mime) in [
            (&b"\x89PNG\r\n\x1a\n"[..], "a.txt", "image/png"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", "a", "image/jpeg"),
            (b"GIF89a\x01\0\x01\0", "a", "image/gif"),
            (b"RIFF\x10\0\0\0WEBPVP8 ", "a", "image/webp"),
            (b"%PDF-1.7\n", "a.json", "application/pdf"),
            (b"PK\x03\x04\x14\0\0\0", "a.docx", "application/zip"),
            (b"\x1f\x8b\x08\0\0\0\0\0", "a", "application/gzip"),
            (b"\0\x01\x02\x03 what is it", "a.json", UNKNOWN),
            (b"hello", "a", PLAIN),
            (b"BMW and others", "a", PLAIN),
            (b"{\"a\":1}", "a.JSON", "application/json"),
            (b"a: 1", "a.yml", "application/yaml"),
            (b"a,b\r\n", "a.csv", "text/csv"),
            (b"# A", "a.md", "text/markdown"),
            (b" <HTML><script>", "a.md", "text/html"),
            (b"<!DOCTYPE html><p>", "a.csv", "text/html"),
            (b"<?xml version='1.0'?><a/>", "a.md", "text/xml"),
            (b"<?xml version='1.0'?><svg onload=x>", "a.md", "image/svg+xml"),
            (b"\n<svg xmlns=x>", "a.md", "image/svg+xml"),
            (b"\xef\xbb\xbfhello", "a", PLAIN),
            (b"caf\xc3\xa9", "a", PLAIN),
        ] {
            assert_eq!(sniff(head, name), mime, "{}", String::from_utf8_lossy(head));
        }
        let mut tar = vec![0; 512];
        tar[257..262].copy_from_slice(b"ustar");
        assert_eq!(sniff(&tar, "a"), "application/x-tar");
        let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
        elf.resize(64, 0);
        assert_eq!(sniff(&elf, "a.md"), "application/x-executable");
    }

    #[test]
    fn patterns_have_stars_in_each_segment() {
        for (pattern, mime, is_match) in [
            ("image/*", "image/png", true),
            ("*/*", "text/plain; charset=utf-8", true),
            ("text/plain", "text/plain; charset=utf-8", true),
            ("application/*+json", "application/ld+json", true),
            ("IMAGE/PNG", "image/png", true),
            ("image/*", "application/png", false),
            ("image", "image/png", false),
            ("*", "image/png", false),
            ("image/p", "image/png", false),
        ] {
            assert_eq!(matches(pattern, mime), is_match, "{pattern} {mime}");
        }
    }
}
