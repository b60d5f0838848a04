//! Memory that the machine refuses ends the process with one line and status 1: Rust alone would abort it.
//!
//! Nothing is lost by that: finished runs are on disk.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

/// The system's allocator, which does not return without memory.
struct Checked;

unsafe extern "C" {
    /// Ends the process at once: no destructor could rely on memory any more.
    fn _exit(status: i32) -> !;
}

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Checked {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `realloc`.
        checked(unsafe { System.realloc(pointer, layout, size) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn checked(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() {
        // If nobody reads it, the status still tells.
        let _ = std::io::stderr().write_all(b"aqmlab: there is not enough memory\n");
        exit_at_once(1);
    }
    pointer
}

/// Ends the process as it stands: nothing is freed, and no other thread is waited for.
pub(crate) fn exit_at_once(status: i32) -> ! {
    // SAFETY: `_exit` has no requirements.
    unsafe { _exit(status) }
}
