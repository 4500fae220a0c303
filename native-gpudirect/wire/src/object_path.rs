/// Appends an object's key as the path of a request: the prefix, a slash, and the key with every byte but RFC 3986's
/// unreserved ones and the slash percent-encoded, exactly once. Nothing is normalised: `a//b` and `a/../b` are names of
/// their own.
///
/// False, and nothing appended, where the key is empty or not UTF-8.
pub fn encode_object_path(path_prefix: &str, key: &[u8], out: &mut Vec<u8>) -> bool {
    if !is_encodable(key) {
        return false;
    }
    out.reserve(path_prefix.len() + 1 + key.len());
    out.extend_from_slice(path_prefix.as_bytes());
    out.push(b'/');
    let mut rest = key;
    while !rest.is_empty() {
        let plain = rest
            .iter()
            .position(|&byte| !PLAIN[usize::from(byte)])
            .unwrap_or(rest.len());
        out.extend_from_slice(&rest[..plain]);
        if let Some(&byte) = rest.get(plain) {
            out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            rest = &rest[plain + 1..];
        } else {
            rest = &[];
        }
    }
    true
}

/// Whether the key has an encoded path.
pub(crate) fn is_encodable(key: &[u8]) -> bool {
    !key.is_empty() && std::str::from_utf8(key).is_ok()
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        plain[byte] =
            matches!(byte as u8, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/');
        byte += 1;
    }
    plain
};

/// Whether a server or proxy that tidies paths would take this key for another one: a leading or double slash, a `.` or
/// `..` segment. Such a key is read only where an ETag proves whose bytes came.
pub fn may_be_folded(key: &[u8]) -> bool {
    let mut segments = key.split(|&byte| byte == b'/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        if segment == b"." || segment == b".." || (segment.is_empty() && !is_last) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{encode_object_path, may_be_folded};

    fn encoded(prefix: &str, key: &[u8]) -> Option<String> {
        let mut out = Vec::new();
        encode_object_path(prefix, key, &mut out).then(|| String::from_utf8(out).expect("a path is ASCII"))
    }

    #[test]
    fn a_key_is_encoded_once_byte_by_byte() {
        let table: [(&str, &[u8], Option<&str>); 7] = [
            (
                "/b",
                "a b+c%20d=e&f'()!*é".as_bytes(),
                Some("/b/a%20b%2Bc%2520d%3De%26f%27%28%29%21%2A%C3%A9"),
            ),
            ("/b", b"/a//b/../c/.", Some("/b//a//b/../c/.")),
            ("", "\u{1f600}/-_.~".as_bytes(), Some("/%F0%9F%98%80/-_.~")),
            ("", b"\0\x7f\n", Some("/%00%7F%0A")),
            ("/b", b"", None),
            ("/b", b"a\xed\xa0\x80", None), // a lone surrogate
            ("/b", b"a\xff", None),
        ];
        for (prefix, key, expected) in table {
            assert_eq!(encoded(prefix, key).as_deref(), expected, "{key:?}");
        }
    }

    #[test]
    fn keys_that_a_path_tidying_server_would_take_for_others() {
        for key in [
            "/a", "a//b", "a/../b", "a/./b", "..", ".", "a/..", "./a", "/", "a//",
        ] {
            assert!(may_be_folded(key.as_bytes()), "{key}");
        }
        for key in ["a", "a/b", "a..b", ".a", "a/.b", "a/b..", "...", "a/"] {
            assert!(!may_be_folded(key.as_bytes()), "{key}");
        }
    }
}
