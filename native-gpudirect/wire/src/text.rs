//! Text as JavaScript would make and show it: both engines say the same sentences.

/// One character for each byte (ISO 8859-1), as header fields and error bodies are read.
pub(crate) fn push_latin1(out: &mut String, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) if bytes.is_ascii() => out.push_str(text),
        _ => out.extend(bytes.iter().map(|&byte| char::from(byte))),
    }
}

/// As [`push_latin1`], as text of its own.
pub(crate) fn latin1(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    push_latin1(&mut text, bytes);
    text
}

/// Without the white space of ISO 8859-1 at both ends.
pub(crate) fn trim_latin1(bytes: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' ' | 0xa0);
    let Some(first) = bytes.iter().position(|byte| !is_space(byte)) else {
        return &[];
    };
    let last = bytes.iter().rposition(|byte| !is_space(byte)).unwrap_or(first);
    &bytes[first..=last]
}

/// A number as JavaScript writes it, for the numbers that occur: whole ones, fractions, NaN and infinities.
pub(crate) fn number(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value == 0.0 {
        "0".to_owned()
    } else {
        value.to_string()
    }
}

/// The text in quotes, as `JSON.stringify` writes it.
pub(crate) fn json_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            c if c < ' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Up to 15 decimal digits and nothing else: whole numbers that a double holds exactly.
pub(crate) fn whole_number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 15 {
        return None;
    }
    digits.iter().try_fold(0u64, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + u64::from(byte - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::{json_quoted, latin1, number, trim_latin1, whole_number};

    #[test]
    fn text_is_as_javascript_shows_it() {
        assert_eq!(latin1(b"a\xe9\xff"), "a\u{e9}\u{ff}");
        assert_eq!(trim_latin1(b" \t a b\xa0 "), b"a b");
        assert_eq!(trim_latin1(b"  "), b"");
        for (value, shown) in [
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (-0.0, "0"),
            (-1.0, "-1"),
            (1.5, "1.5"),
            (9_007_199_254_740_992.0, "9007199254740992"),
        ] {
            assert_eq!(number(value), shown);
        }
        assert_eq!(json_quoted("a\"\\\t\u{1}\u{e9}"), "\"a\\\"\\\\\\t\\u0001\u{e9}\"");
        for (digits, value) in [
            ("0", Some(0)),
            ("007", Some(7)),
            ("999999999999999", Some(999_999_999_999_999)),
        ] {
            assert_eq!(whole_number(digits.as_bytes()), value);
        }
        for digits in ["", "-1", "+1", "1.0", "1000000000000000", " 1", "a"] {
            assert_eq!(whole_number(digits.as_bytes()), None, "{digits}");
        }
    }
}
