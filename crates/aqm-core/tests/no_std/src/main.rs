//! Every discipline forwards packets in a program that has no standard library.
#![no_std]
#![no_main]

use aqm_core::link::Link;
use aqm_core::packet::Packet;
use aqm_core::random::Random;
use aqm_core::registry::DISCIPLINES;
use aqm_core::signal::Unobserved;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Time};
use core::alloc::{GlobalAlloc, Layout};

#[link(name = "c")]
unsafe extern "C" {
    fn aligned_alloc(align: usize, size: usize) -> *mut u8;
    fn free(pointer: *mut u8);
    fn abort() -> !;
}

/// The C library's allocator.
struct C;

#[global_allocator]
static ALLOCATOR: C = C;

// SAFETY: `aligned_alloc` and `free` keep the contract; the size is rounded up to a multiple of the alignment.
unsafe impl GlobalAlloc for C {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let align = layout.align().max(16);
        unsafe { aligned_alloc(align, layout.size().next_multiple_of(align)) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, _layout: Layout) {
        unsafe { free(pointer) }
    }
}

#[panic_handler]
fn panic(_info: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it takes nothing and does not return.
    unsafe { abort() }
}

/// The toolchain's `alloc` was compiled to unwind and names these two; a program that aborts never calls them.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() {}

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    let link = Link::new(Rate::from_mbit(10));
    for info in DISCIPLINES {
        let Ok(spec) = Spec::parse(info.name) else { return 1 };
        let Ok(mut qdisc) = spec.build(link, Random::seeded(1)) else { return 2 };
        let mut sent = 0;
        for number in 0..1000 {
            let now = Time::from_nanos(number * 500_000);
            qdisc.enqueue(Packet::new(number, number % 7, 1000), now, &mut Unobserved);
            if number % 2 == 0 && qdisc.dequeue(now, &mut Unobserved).is_some() {
                sent += 1;
            }
        }
        // A law may drop until its queue runs empty, but not for long.
        if sent < 250 {
            return 3;
        }
        if qdisc.check().is_err() {
            return 4;
        }
    }
    0
}
