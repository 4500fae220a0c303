#![no_main]

use libfuzzer_sys::fuzz_target;
use os2g_wire::{Framing, RunningChecksum, parse_head};

fuzz_target!(|data: &[u8]| {
    let Ok(Some((head, length))) = parse_head(data, 32) else {
        return;
    };
    assert!(length > 0 && length <= data.len());
    assert!((100..=999).contains(&head.status()));
    assert!(!(head.is_chunked() && head.content_length().is_some()));
    if let Framing::Length(length) = Framing::of(&head) {
        assert!(length < 1_000_000_000_000_000);
    }
    // The same head without what follows it, and none one byte before its end.
    let (exact, same) = parse_head(&data[..length], 32)
        .expect("a head")
        .expect("a whole head");
    assert_eq!(
        (exact.status(), exact.etag(), same),
        (head.status(), head.etag(), length)
    );
    assert!(matches!(parse_head(&data[..length - 1], 32), Ok(None)));
    let _ = RunningChecksum::of(&head).map(|checksum| checksum.digest());
    let _ = os2g_wire::parse_retry_after_ns(head.retry_after(), 0);
});
