//! What is done for each request on the hot path allocates nothing once it is warm.

mod support;

use os2g_wire::{Asked, ChunkDecoder, Head, RunningChecksum, Step, check_answer};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use support::requests::{WHOLE, credentials, target, writer};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which counts for each thread.
struct Counting;

// SAFETY: every call is handed on to the system's allocator as it came; counting neither allocates nor panics, as the
// counter is a plain thread-local without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `dealloc`'s contract, and the memory came from the system's allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations_of(mut once: impl FnMut(u64)) -> usize {
    once(0);
    let before = ALLOCATIONS.get();
    (1..=100).for_each(once);
    ALLOCATIONS.get() - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(
        allocations_of(|number| drop(std::hint::black_box(vec![number]))),
        100
    );
}

#[test]
fn a_request_a_head_and_a_chunk() {
    let mut writer = writer(target());
    let who = credentials(Some("TOKEN"));
    let mut out = Vec::with_capacity(4096);
    let requests = allocations_of(|second| {
        out.clear();
        assert!(writer.write(&mut out, &WHOLE, Some(&who), second * 1000).is_ok());
    });
    assert_eq!(requests, 0, "requests");

    let bytes = b"HTTP/1.1 206 X\r\nETag: \"e\"\r\nContent-Length: 4\r\nContent-Range: bytes 3-6/20\r\n\
                  x-amz-request-id: R\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: image/jpeg\r\n\r\n";
    let asked = Asked {
        offset: 3,
        length: 4,
        object_size: 20,
        etag: Some("e"),
    };
    let mut head = Head::default();
    let heads = allocations_of(|_| {
        assert_eq!(head.read(bytes, 100), Ok(Some(bytes.len())));
        assert_eq!(check_answer(206, &head, &asked), None);
        assert!(RunningChecksum::of(&head).is_none());
    });
    assert_eq!(heads, 0, "heads");

    let chunks = allocations_of(|_| {
        let mut decoder = ChunkDecoder::new();
        assert_eq!(decoder.next(b"5\r\nhello"), Step::Skip(3));
        assert_eq!(decoder.next(b"hello"), Step::Data(5));
    });
    assert_eq!(chunks, 0, "chunks");
}
