//! Memory that will be needed soon. With thousands of flows most of it is in no cache, and a packet that waits for each
//! line in turn waits most of the time.
#![allow(unsafe_code, reason = "there is no safe prefetch")]

/// Asks for the cache line at each 64 bytes of `value`, and waits for none. On machines without the instruction nothing happens.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let first = std::ptr::from_ref(value).cast::<i8>();
        for offset in (0..size_of::<T>()).step_by(LINE) {
            // SAFETY: the address is within `value`; a hint reads nothing, and needs SSE, which every x86-64 has.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
