//! Text as man(7) source: escaped, with fonts, in short lines.
//!
//! Plain text has two marks of its own: what stands in backquotes is typed as it is and comes out bold, and so does the
//! name of another page, `wt-log(1)`. Nothing a writer puts into a text can become a macro.

/// Lines are filled up to this width; `mandoc -T lint` complains above 80.
const LINE_BYTES_MAX: usize = 76;

/// Room for a line of the SYNOPSIS, beside the indent that every viewer adds.
const SYNOPSIS_COLUMNS_MAX: usize = 72;

/// Writes a paragraph of plain text, filled, a new line after each sentence.
pub(super) fn paragraph(out: &mut String, text: &str) {
    let mut width = 0;
    let mut in_code = false;
    let mut sentence_ended = false;
    for word in text.split_whitespace() {
        let piece = styled_word(word, &mut in_code);
        let length = piece.len();
        if width == 0 {
        } else if sentence_ended || width + 1 + length > LINE_BYTES_MAX {
            out.push('\n');
            width = 0;
        } else {
            out.push(' ');
            width += 1;
        }
        if width == 0 && piece.starts_with(['.', '\'']) {
            out.push_str("\\&");
            width = 2;
        }
        out.push_str(&piece);
        width += length;
        let ending = word.trim_end_matches(['`', ')']);
        sentence_ended = !in_code && ending.len() > 1 && ending.ends_with(['.', '?']);
    }
    if in_code {
        out.push_str("\\fR");
    }
    out.push('\n');
}

/// Writes paragraphs that are separated by blank lines; the first follows its heading directly.
pub(super) fn paragraphs(out: &mut String, text: &str) {
    for (number, part) in text.split("\n\n").filter(|part| !part.trim().is_empty()).enumerate() {
        if number > 0 {
            out.push_str(".PP\n");
        }
        paragraph(out, part);
    }
}

/// Writes a script as it is, indented, in a fixed font.
pub(super) fn script(out: &mut String, text: &str) {
    out.push_str(".RS 4\n.EX\n");
    for line in text.lines() {
        if line.starts_with(['.', '\'']) {
            out.push_str("\\&");
        }
        out.push_str(&literal(line));
        out.push('\n');
    }
    out.push_str(".EE\n.RE\n");
}

/// A form of the SYNOPSIS, in lines that fit a terminal of 80 columns, each after the first set in.
pub(super) fn synopsis(out: &mut String, program: &str, form: &str) {
    const INDENT: &str = "    ";
    out.push_str(&bold(program));
    let mut width = program.len();
    for unit in units(form) {
        if width + 1 + unit.len() > SYNOPSIS_COLUMNS_MAX {
            out.push('\n');
            out.push_str(INDENT);
            width = INDENT.len();
        } else {
            out.push(' ');
            width += 1;
        }
        styled_unit(out, unit);
        width += unit.len();
    }
    out.push('\n');
}

/// Splits at the blanks that are not in brackets.
fn units(form: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    form.split(move |c: char| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ' ' && depth == 0
    })
    .filter(|unit| !unit.is_empty())
}

/// Options and words that are typed so in bold, what the reader puts in italic.
fn styled_unit(out: &mut String, unit: &str) {
    let mut rest = unit;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let (word, tail) = rest.split_at(end);
        let has_letters = word.bytes().any(|b| b.is_ascii_alphabetic());
        let is_placeholder = !word.starts_with('-') && !word.bytes().any(|b| b.is_ascii_lowercase());
        out.push_str(&match (has_letters, is_placeholder) {
            (true, true) => italic(word),
            (true, false) => bold(word),
            (false, _) if word.len() > 1 => bold(word),
            (false, _) => prose(word),
        });
        rest = tail;
    }
}

/// Bold, as typed.
pub(super) fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", literal(text))
}

/// Italic, as typed.
pub(super) fn italic(text: &str) -> String {
    format!("\\fI{}\\fR", literal(text))
}

/// Text that is typed exactly so: each hyphen is a minus, each quote straight.
pub(super) fn literal(text: &str) -> String {
    escape(text, |c| match c {
        '-' => Some("\\-"),
        '\'' => Some("\\(aq"),
        '`' => Some("\\(ga"),
        '^' => Some("\\(ha"),
        '~' => Some("\\(ti"),
        _ => None,
    })
}

/// Text that is read.
pub(super) fn prose(text: &str) -> String {
    escape(text, |c| match c {
        '^' => Some("\\(ha"),
        '~' => Some("\\(ti"),
        _ => None,
    })
}

fn escape(text: &str, special: impl Fn(char) -> Option<&'static str>) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c == '\\' {
            out.push_str("\\e");
        } else if let Some(name) = special(c) {
            out.push_str(name);
        } else if c.is_ascii() {
            out.push(c);
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\[u{:04X}]", u32::from(c));
        }
    }
    out
}

/// A word of a paragraph; `in_code` carries an open backquote from word to word.
fn styled_word(word: &str, in_code: &mut bool) -> String {
    if !*in_code && !word.contains('`') {
        return match page_reference(word) {
            Some(end) => {
                let (name, rest) = word.split_at(end);
                let (before, name) = name.split_at(name.len() - name.trim_start_matches('(').len());
                format!("{}{}{}", prose(before), bold(name), prose(rest))
            }
            None => option_or_prose(word),
        };
    }
    let mut out = String::new();
    for (number, part) in word.split('`').enumerate() {
        if number > 0 {
            *in_code = !*in_code;
            out.push_str(if *in_code { "\\fB" } else { "\\fR" });
        }
        out.push_str(&if *in_code { literal(part) } else { prose(part) });
    }
    out
}

/// An option is bold also where nobody put it in backquotes.
fn option_or_prose(word: &str) -> String {
    let marks = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let option = word.trim_matches(marks);
    match word.split_once(option) {
        Some((before, after)) if option.len() > 1 && option.starts_with('-') => {
            format!("{}{}{}", prose(before), bold(option), prose(after))
        }
        _ => prose(word),
    }
}

/// Where the name ends in `name(1)`, with whatever punctuation follows.
fn page_reference(word: &str) -> Option<usize> {
    let open = word.rfind('(')?;
    let (name, section) = word.split_at(open);
    let is_section = matches!(section.as_bytes(), [b'(', b'1'..=b'8', b')', rest @ ..] if rest.len() <= 2);
    let name = name.trim_start_matches('(');
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    (is_section && is_name).then_some(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        let mut out = String::new();
        paragraphs(&mut out, text);
        out
    }

    #[test]
    fn nothing_in_a_text_becomes_a_macro_or_an_escape() {
        assert_eq!(filled(".SH no"), "\\&.SH no\n");
        assert_eq!(filled("'quoted' \\fB"), "\\&'quoted' \\efB\n");
        assert_eq!(filled("A `.b` --c"), "A \\fB.b\\fR \\fB\\-\\-c\\fR\n");
        let mut out = String::new();
        script(&mut out, ".x '\\n'");
        assert_eq!(out, ".RS 4\n.EX\n\\&.x \\(aq\\en\\(aq\n.EE\n.RE\n");
    }

    #[test]
    fn fonts_span_words_and_end() {
        assert_eq!(filled("see wt-log(1), `a -b` end"), "see \\fBwt\\-log\\fR(1), \\fBa \\-b\\fR end\n");
        assert_eq!(filled("(see wt-log(1))."), "(see \\fBwt\\-log\\fR(1)).\n");
        assert_eq!(filled("open `code"), "open \\fBcode\\fR\n");
    }

    #[test]
    fn lines_are_short_and_sentences_begin_lines() {
        assert_eq!(filled("One. Two.\n\nThree"), "One.\nTwo.\n.PP\nThree\n");
        assert!(filled(&"word ".repeat(100)).lines().all(|line| line.len() <= LINE_BYTES_MAX));
    }

    #[test]
    fn a_synopsis_tells_options_from_placeholders() {
        let mut out = String::new();
        synopsis(&mut out, "wt-x", "[-z] --run ID append FILE...");
        assert_eq!(
            out,
            "\\fBwt\\-x\\fR [\\fB\\-z\\fR] \\fB\\-\\-run\\fR \\fIID\\fR \\fBappend\\fR \\fIFILE\\fR...\n"
        );
        out.clear();
        synopsis(&mut out, "wt-x", &"[A B] ".repeat(12));
        assert_eq!(out.lines().count(), 2);
        assert!(out.lines().nth(1).is_some_and(|line| line.starts_with("    [\\fIA\\fR \\fIB\\fR]")));
    }
}
