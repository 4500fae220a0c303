//! What may stand in a field of a request.

/// In quotes, which it may have or not, one byte for each character; false where it cannot be said so.
pub(crate) fn push_quoted_etag(out: &mut Vec<u8>, etag: &[u8]) -> bool {
    let bare = etag
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""))
        .unwrap_or(etag);
    if !is_field_value(bare) {
        return false;
    }
    out.push(b'"');
    if bare.is_ascii() {
        out.extend_from_slice(bare);
    } else {
        let Ok(text) = std::str::from_utf8(bare) else {
            return false;
        };
        for c in text.chars() {
            let Ok(byte) = u8::try_from(u32::from(c)) else {
                return false;
            };
            out.push(byte);
        }
    }
    out.push(b'"');
    true
}

/// No control character but the tab (RFC 9110, 5.5).
pub(crate) fn is_field_value(value: &[u8]) -> bool {
    value
        .iter()
        .all(|&byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f))
}
