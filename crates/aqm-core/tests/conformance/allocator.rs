//! Counts the allocations of each thread, so that tests can compare them with a discipline's report of its memory.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static BYTES: Cell<isize> = const { Cell::new(0) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count(bytes: isize) {
    // A thread that is ending has no counters any more; nothing is measured there.
    let _ = BYTES.try_with(|cell| cell.set(cell.get() + bytes));
    let _ = CALLS.try_with(|cell| cell.set(cell.get() + u64::from(bytes > 0)));
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Bytes that this thread holds (allocated less freed).
pub(crate) fn bytes() -> isize {
    BYTES.get()
}

/// Allocations that this thread made.
pub(crate) fn calls() -> u64 {
    CALLS.get()
}
