//! Brings a JSON text into the form in which the original writes it: no blanks between tokens, `<`, `>`, `&` and the two
//! line separators of Unicode escaped (facts 0). Numbers, escapes and the order of keys keep their text.

/// Appends `json`, which must be valid, to `out` in compact form.
pub fn append(json: &str, out: &mut Vec<u8>) {
    let bytes = json.as_bytes();
    let mut in_string = false;
    let mut escaped = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if !in_string {
            in_string = byte == b'"';
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                out.push(byte);
            }
            continue;
        }
        if escaped {
            escaped = false;
        } else {
            escaped = byte == b'\\';
            in_string = byte != b'"';
        }
        match (byte, bytes.get(at), bytes.get(at + 1)) {
            (b'<', ..) => out.extend_from_slice(br"\u003c"),
            (b'>', ..) => out.extend_from_slice(br"\u003e"),
            (b'&', ..) => out.extend_from_slice(br"\u0026"),
            (0xe2, Some(0x80), Some(last @ (0xa8 | 0xa9))) => {
                out.extend_from_slice(br"\u202");
                out.push(if *last == 0xa8 { b'8' } else { b'9' });
                at += 2;
            }
            _ => out.push(byte),
        }
    }
}

/// Appends `text` as a JSON string.
pub fn append_string(text: &str, out: &mut Vec<u8>) {
    append(&serde_json::Value::from(text).to_string(), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compact(json: &str) -> String {
        let mut out = Vec::new();
        append(json, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn takes_blanks_out_and_leaves_text_alone() {
        assert_eq!(compact("{ \"a b\" :\r\n [1.50, 1e3 ,\t{} ] }"), r#"{"a b":[1.50,1e3,{}]}"#);
        assert_eq!(compact(r#"{"q":"a \" b \\", "r": " "}"#), r#"{"q":"a \" b \\","r":" "}"#);
    }

    #[test]
    fn escapes_what_the_original_escapes() {
        assert_eq!(
            compact("\"<a> & \u{2028}\u{2029}\u{e9}\u{2030}\""),
            "\"\\u003ca\\u003e \\u0026 \\u2028\\u2029\u{e9}\u{2030}\""
        );
        let mut out = Vec::new();
        append_string("tab\t<\u{1}", &mut out);
        assert_eq!(out, br#""tab\t\u003c\u0001""#);
    }
}
