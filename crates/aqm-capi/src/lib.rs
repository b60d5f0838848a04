//! `libaqmlab`: the disciplines for C and C++. `include/aqmlab.h` is made of this crate by cbindgen, comments included.
//!
//! Functions here check pointers and hand over.
//!
//! - `status`: how a call ends; errors and panics become a status and a message.
//! - `packet`: the structures that cross the border.
//! - `queue`: one queue.
//! - `path`: one path.
//! - `table`: which of them a handle is of.
#![allow(unsafe_code, reason = "pointers come from C")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the header says once for all functions which pointers are right"
)]

mod packet;
mod path;
mod queue;
mod status;
mod table;

pub use packet::{Counters, Departure, Event, EventKind, Packet, Tcp};
pub use path::Datagram;
pub use status::Status;

use aqm_testbed::Driven;
use path::Path;
use queue::Queue;
use status::{Failure, guarded};
use std::ffi::{CStr, c_char, c_uint, c_void};
use std::ptr::NonNull;

/// A queue. It is no address: there is nothing behind it.
pub struct Handle {
    _private: [u8; 0],
}

/// A path. It is no address either.
pub struct PathHandle {
    _private: [u8; 0],
}

/// The version of the library, as "0.3.0".
#[unsafe(no_mangle)]
pub extern "C" fn aqmlab_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The message of the last error in this thread, "" if there was none. Its place stays while the thread runs: the next
/// error in this thread writes its own there. No message has more than 1023 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn aqmlab_message() -> *const c_char {
    status::message()
}

/// Makes a queue.
///
/// `discipline` is what the command line takes after --aqm, with its limit: "pie target 15ms limit 100p ecn". `rate` is
/// the link's, as "10mbit", `overhead` the bytes of link-layer framing in every packet's length (14 for Ethernet). All
/// random numbers follow from `seed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_new(
    discipline: *const c_char,
    rate: *const c_char,
    overhead: u32,
    seed: u64,
    queue: *mut *mut Handle,
) -> Status {
    guarded(|| {
        let queue = Answer::new(queue, "queue")?;
        queue.give(Some(std::ptr::null_mut()));
        let (discipline, rate) = unsafe { (text(discipline, "discipline")?, text(rate, "rate")?) };
        let handle = table::keep(Queue::new(discipline, rate, overhead, seed)?)?;
        Ok(queue.give(Some(std::ptr::without_provenance_mut(handle))))
    })
}

/// Frees a queue; null is none. The packets that wait in it are forgotten: to have their cookies back, call aqmlab_reset
/// and fetch the events first.
#[unsafe(no_mangle)]
pub extern "C" fn aqmlab_free(queue: *mut Handle) -> Status {
    guarded(|| {
        if !queue.is_null() {
            table::free::<Queue>(queue.addr())?;
        }
        Ok(Status::AqmlabOk)
    })
}

/// A packet arrives. It waits, unless an event says that it was dropped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_enqueue(queue: *mut Handle, packet: *const Packet, now_ns: u64) -> Status {
    guarded(|| {
        let packet = unsafe { packet.as_ref() }.ok_or_else(|| Failure::null("packet"))?;
        let packet = packet.read(unsafe { packet.tcp.as_ref() })?;
        table::with(queue.addr(), |queue: &mut Queue| queue.enqueue(packet, now_ns))
    })
}

/// The link is free: takes the packet that leaves next. AQMLAB_NONE though packets wait means: ask again after the next
/// wake-up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_dequeue(
    queue: *mut Handle,
    now_ns: u64,
    departure: *mut Departure,
) -> Status {
    guarded(|| {
        let departure = Answer::new(departure, "departure")?;
        table::with(queue.addr(), |queue: &mut Queue| Ok(departure.give(queue.dequeue(now_ns)?)))
    })
}

/// Takes the next thing that the last call did to a packet, in order. Call it after every call that has a time, until it
/// returns AQMLAB_NONE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_next_event(queue: *mut Handle, event: *mut Event) -> Status {
    guarded(|| {
        let event = Answer::new(event, "event")?;
        table::with(queue.addr(), |queue: &mut Queue| Ok(event.give(queue.next_event())))
    })
}

/// The name of an event's reason, as "overlimit", or "unspecified" for a number that has none. Null if `event` is null, or
/// its kind is neither AQMLAB_DROPPED nor AQMLAB_MARKED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_reason(event: *const Event) -> *const c_char {
    if event.is_null() {
        return std::ptr::null();
    }
    // The caller may have written any number into the kind, which a value of the enum could not be.
    let (kind, reason) = unsafe { ((&raw const (*event).kind).cast::<c_uint>().read(), (*event).reason) };
    packet::reason_name(kind, reason).map_or(std::ptr::null(), CStr::as_ptr)
}

/// When aqmlab_wake is to be called next; ask after every call that has a time. AQMLAB_NONE: it is not wanted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_next_wakeup(queue: *mut Handle, time_ns: *mut u64) -> Status {
    guarded(|| {
        let time_ns = Answer::new(time_ns, "time_ns")?;
        table::with(queue.addr(), |queue: &mut Queue| Ok(time_ns.give(queue.next_wakeup())))
    })
}

/// Lets the discipline do what is due by now, then ask aqmlab_dequeue if the link is free. Calls that nobody asked for
/// are harmless.
#[unsafe(no_mangle)]
pub extern "C" fn aqmlab_wake(queue: *mut Handle, now_ns: u64) -> Status {
    guarded(|| table::with(queue.addr(), |queue: &mut Queue| queue.wake(now_ns)))
}

/// Changes a parameter while running: name and value as on the command line, "target", "10ms".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_change(
    queue: *mut Handle,
    name: *const c_char,
    value: *const c_char,
    now_ns: u64,
) -> Status {
    guarded(|| {
        let (name, value) = unsafe { (text(name, "name")?, text(value, "value")?) };
        table::with(queue.addr(), |queue: &mut Queue| queue.change(name, value, now_ns))
    })
}

/// What was counted, and what waits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_get_counters(queue: *mut Handle, counters: *mut Counters) -> Status {
    guarded(|| {
        let counters = Answer::new(counters, "counters")?;
        table::with(queue.addr(), |queue: &mut Queue| Ok(counters.give(Some(queue.counters()))))
    })
}

/// Drops what waits, and begins again: parameters stay, counters and random numbers are those of a new queue, and time may
/// begin again.
#[unsafe(no_mangle)]
pub extern "C" fn aqmlab_reset(queue: *mut Handle, now_ns: u64) -> Status {
    guarded(|| table::with(queue.addr(), |queue: &mut Queue| queue.reset(now_ns)))
}

/// Makes a path: a bottleneck with a queue, and whatever else goes through it.
///
/// `description` is "rate 10mbit; rtt 40ms; aqm pie target 15ms; buffer 200p; loss 0.1%; flows 2*cubic:start=1s; flows
/// cbr:rate=2mbit; duration 60s", the options of `aqmlab compare` but those that name files, with its defaults: rate and rtt
/// (without queues) have to be there, the queue is a FIFO unless aqm says otherwise, its buffer a bandwidth-delay product unless
/// buffer or the discipline's limit says otherwise, flows are cross traffic that starts within a second, and the path lasts 30 s
/// unless duration says otherwise. `pairs` is how many pairs of ends are yours, 1 or more. What end 0 sends goes through the queue to end 1, what end 1 sends comes back beside it; so do 2 and 3. All
/// random numbers follow from `seed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_path_new(
    description: *const c_char,
    pairs: u32,
    seed: u64,
    path: *mut *mut PathHandle,
) -> Status {
    guarded(|| {
        let path = Answer::new(path, "path")?;
        path.give(Some(std::ptr::null_mut()));
        let description = unsafe { text(description, "description")? };
        let handle = table::keep(Path::new(description, pairs, seed)?)?;
        Ok(path.give(Some(std::ptr::without_provenance_mut(handle))))
    })
}

/// Writes the scenario that a description stands for, without ends of yours: the JSON that `aqmlab schema scenario` describes,
/// with a final zero. `length` becomes the bytes of that, the zero included; if there is no room for them, that is AQMLAB_INPUT,
/// and nothing else is written. Without any `room`, `scenario` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_path_scenario(
    description: *const c_char,
    scenario: *mut c_char,
    room: usize,
    length: *mut usize,
) -> Status {
    unsafe { resolved(path::scenario, description, (scenario, "scenario"), room, length) }
}

/// Writes the scenarios of a sweep: of a description with `sweep NAME=VALUES` for each option, or `$NAME` in other options, that
/// varies, as "rate 10mbit; aqm codel target $target; sweep rtt=20ms,40ms; sweep target=1ms..5ms*3". The last varies first. They
/// come as a JSON array of what `aqmlab_path_scenario` writes; `scenarios`, `room` and `length` are as there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_sweep_scenarios(
    description: *const c_char,
    scenarios: *mut c_char,
    room: usize,
    length: *mut usize,
) -> Status {
    unsafe { resolved(path::sweep, description, (scenarios, "scenarios"), room, length) }
}

/// Writes what `resolve` makes of a description to a place that has a name, or says how much room it takes.
unsafe fn resolved(
    resolve: fn(&str) -> Result<String, Failure>,
    description: *const c_char,
    (to, name): (*mut c_char, &'static str),
    room: usize,
    length: *mut usize,
) -> Status {
    guarded(|| {
        let length = Answer::new(length, "length")?;
        length.give(Some(0));
        let found = resolve(unsafe { text(description, "description")? })?;
        unsafe { written(&found, to, room, &length, name) }
    })
}

/// Writes a text with a final zero, if there is room for it.
unsafe fn written(
    found: &str,
    to: *mut c_char,
    room: usize,
    length: &Answer<usize>,
    name: &'static str,
) -> Result<Status, Failure> {
    let bytes = found.len() + 1;
    length.give(Some(bytes));
    if bytes > room {
        return Err(Failure::input(format!("{name} has {bytes} bytes, and there is room for {room}")));
    }
    let to = NonNull::new(to.cast::<u8>()).ok_or_else(|| Failure::null(name))?;
    unsafe { to.copy_from_nonoverlapping(NonNull::from(found.as_bytes()).cast(), found.len()) };
    unsafe { to.add(found.len()).write(0) };
    Ok(Status::AqmlabOk)
}

/// Frees a path, with what is in flight; null is none.
#[unsafe(no_mangle)]
pub extern "C" fn aqmlab_path_free(path: *mut PathHandle) -> Status {
    guarded(|| {
        if !path.is_null() {
            table::free::<Path>(path.addr())?;
        }
        Ok(Status::AqmlabOk)
    })
}

/// An end sends a datagram of 1 to 65507 bytes, which are copied; on the wire 28 come to them, the headers of IP and UDP.
/// `ecn` is its ECN field as in aqmlab_packet, 0 to 2. What arrives elsewhere before `now_ns` is kept for aqmlab_path_deliver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_path_send(
    path: *mut PathHandle,
    end: u32,
    bytes: *const c_void,
    length: usize,
    ecn: u8,
    now_ns: u64,
) -> Status {
    guarded(|| {
        let bytes = NonNull::new(bytes.cast_mut()).ok_or_else(|| Failure::null("bytes"))?;
        // No slice may be longer than half the address space.
        Driven::check_length(length).map_err(path::failure)?;
        let bytes = unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<u8>(), length) };
        table::with(path.addr(), |path: &mut Path| path.send(end, bytes, ecn, now_ns))
    })
}

/// Goes on until a datagram comes to one of your ends, or to `until_ns`: AQMLAB_NONE then. Its bytes are copied to `bytes`; if
/// there is no room for them, that is AQMLAB_INPUT: `datagram` is filled nevertheless, says how many they are, and the next call
/// has them. The path has reached `datagram`'s time, or `until_ns`: nothing can be sent before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_path_deliver(
    path: *mut PathHandle,
    until_ns: u64,
    bytes: *mut c_void,
    room: usize,
    datagram: *mut Datagram,
) -> Status {
    guarded(|| {
        let bytes = NonNull::new(bytes.cast::<u8>()).ok_or_else(|| Failure::null("bytes"))?;
        let datagram = Answer::new(datagram, "datagram")?;
        table::with(path.addr(), |path: &mut Path| {
            let status = datagram.give(path.wait(until_ns)?);
            let from = path.take(room)?;
            unsafe { bytes.copy_from_nonoverlapping(NonNull::from(from.as_slice()).cast(), from.len()) };
            Ok(status)
        })
    })
}

/// When something happens next on the path: call aqmlab_path_deliver then, if you have not sooner. Mostly nothing arrives; who
/// has no other clock calls aqmlab_path_deliver until his own next timer instead. AQMLAB_NONE: nothing will happen.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_path_next_wakeup(path: *mut PathHandle, time_ns: *mut u64) -> Status {
    guarded(|| {
        let time_ns = Answer::new(time_ns, "time_ns")?;
        table::with(path.addr(), |path: &mut Path| Ok(time_ns.give(path.next_wakeup())))
    })
}

/// What the bottleneck's queue has counted, all traffic together.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_path_get_counters(path: *mut PathHandle, counters: *mut Counters) -> Status {
    guarded(|| {
        let counters = Answer::new(counters, "counters")?;
        table::with(path.addr(), |path: &mut Path| Ok(counters.give(Some(path.counters()))))
    })
}

/// A hash of some bytes, such as those of a 5-tuple, for a packet's flow, source and destination; 0 if `bytes` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_hash(bytes: *const c_void, length: usize) -> u64 {
    if bytes.is_null() {
        return 0;
    }
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) };
    // FNV-1a, whose high bits differ little for short keys: splitmix64's last step mixes them.
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Reads a text of the caller's, which ends in a zero unless it is null.
unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::null(name));
    }
    let bytes = unsafe { CStr::from_ptr(text) };
    bytes.to_str().map_err(|_| Failure::input(format!("{name} is not UTF-8")))
}

/// Where an answer is written to. The memory may hold anything before.
struct Answer<T>(NonNull<T>);

impl<T> Answer<T> {
    fn new(to: *mut T, name: &str) -> Result<Answer<T>, Failure> {
        NonNull::new(to).map(Answer).ok_or_else(|| Failure::null(name))
    }

    /// Writes an answer, if there is one. The caller's caller has guaranteed that it may.
    #[inline]
    fn give(&self, answer: Option<T>) -> Status {
        match answer {
            Some(answer) => {
                unsafe { self.0.write(answer) };
                Status::AqmlabOk
            }
            None => Status::AqmlabNone,
        }
    }
}
