use crate::Class;
use crate::object_path::{is_encodable, may_be_folded};
use crate::text::number;

/// A GET as the core asked for it, beside what the manifest says. Numbers as they cross the border: they may be anything.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The object's key as it is.
    pub key: &'a [u8],
    /// First byte of the range.
    pub offset: f64,
    /// Bytes of the range.
    pub length: f64,
    /// Bytes of the whole object, as the manifest says.
    pub object_size: f64,
    /// Bytes of the memory where the range goes.
    pub target_bytes: f64,
    /// An ETag will prove whose bytes came.
    pub proven: bool,
}

/// Why a GET is not even sent; none where nothing stands against it.
pub fn why_unaskable(wanted: &Wanted<'_>) -> Option<(Class, String)> {
    let Wanted {
        key,
        offset,
        length,
        object_size,
        target_bytes,
        proven,
    } = *wanted;
    if !is_encodable(key) {
        let what = "the key cannot be addressed: it is empty or not well-formed Unicode";
        return Some((Class::Refused, what.to_owned()));
    }
    if may_be_folded(key) && !proven {
        let what = "the key cannot be addressed safely: stores and proxies may fold its \"//\", \".\" or \"..\" into \
                    another key, and without an ETag nothing would tell; index again and read with ETags verified";
        return Some((Class::Refused, what.to_owned()));
    }
    let is_whole = |value: f64| value.fract() == 0.0 && value <= MOST;
    let fits = length >= 1.0 && offset >= 0.0 && offset + length <= object_size && target_bytes == length;
    if fits && is_whole(offset) && is_whole(length) && is_whole(object_size) {
        return None;
    }
    let what = format!(
        "a range that cannot be: offset {}, length {}, target {}, object {} bytes",
        number(offset),
        number(length),
        number(target_bytes),
        number(object_size)
    );
    Some((Class::Internal, what))
}

/// The largest whole number up to which a double holds every one.
const MOST: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::{Wanted, why_unaskable};
    use crate::Class;

    #[test]
    fn ranges_and_keys_that_are_not_sent() {
        let whole = Wanted {
            key: b"k",
            offset: 0.0,
            length: 5.0,
            object_size: 5.0,
            target_bytes: 5.0,
            proven: false,
        };
        assert_eq!(why_unaskable(&whole), None);
        assert_eq!(
            why_unaskable(&Wanted {
                key: b"a//b",
                proven: true,
                ..whole
            }),
            None
        );
        for (key, says) in [
            (&b""[..], "not well-formed"),
            (b"\xff", "not well-formed"),
            (b"a/../b", "safely"),
        ] {
            let (class, what) = why_unaskable(&Wanted { key, ..whole }).expect("a reason");
            assert_eq!(class, Class::Refused);
            assert!(what.contains(says), "{what}");
        }
        for (offset, length, target, says) in [
            (5.0, 1.0, 1.0, "offset 5, length 1, target 1, object 5 bytes"),
            (0.0, 0.0, 0.0, "length 0"),
            (0.0, 6.0, 6.0, "length 6"),
            (-1.0, 5.0, 5.0, "offset -1"),
            (f64::NAN, 5.0, 5.0, "offset NaN"),
            (0.5, 1.0, 1.0, "offset 0.5"),
            (0.0, 5.0, 4.0, "target 4"),
            (0.0, f64::INFINITY, f64::INFINITY, "length Infinity"),
        ] {
            let wanted = Wanted {
                offset,
                length,
                target_bytes: target,
                ..whole
            };
            let (class, what) = why_unaskable(&wanted).expect("a reason");
            assert_eq!(class, Class::Internal);
            assert!(what.contains(says), "{what}");
        }
    }
}
