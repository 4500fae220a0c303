#![no_main]

use libfuzzer_sys::fuzz_target;
use os2g_wire::{ChunkDecoder, Step};

fn decode(pieces: &[&[u8]]) -> (Vec<u8>, Step, usize) {
    let mut decoder = ChunkDecoder::new();
    let (mut data, mut read) = (Vec::new(), 0);
    for piece in pieces {
        let mut rest = *piece;
        loop {
            let sure = decoder.data_remaining();
            let taken = match decoder.next(rest) {
                Step::Data(taken) => {
                    assert!(taken as u64 <= sure);
                    data.extend_from_slice(&rest[..taken]);
                    taken
                }
                Step::Skip(taken) => taken,
                Step::NeedMore => break,
                end => return (data, end, read),
            };
            assert!(taken > 0);
            read += taken;
            rest = &rest[taken..];
        }
    }
    (data, Step::NeedMore, read)
}

fuzz_target!(|input: &[u8]| {
    let Some((&at, body)) = input.split_first() else {
        return;
    };
    let whole = decode(&[body]);
    assert!(whole.0.len() <= body.len() && whole.2 <= body.len());
    let at = usize::from(at) % (body.len() + 1);
    let torn = decode(&[&body[..at], &body[at..]]);
    assert_eq!((&torn.0, torn.1), (&whole.0, whole.1));
    if whole.1 == Step::End {
        assert_eq!(torn.2, whole.2);
    }
});
