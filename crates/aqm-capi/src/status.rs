//! How calls end: a status, and a message for errors.

use std::any::Any;
use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call ended; below zero it is an error, which aqmlab_message() explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// It was done.
    AqmlabOk = 0,
    /// It was done, and there is nothing: no packet may leave now, no event waits, no wake-up is wanted, nothing has arrived.
    AqmlabNone = 1,
    /// A pointer is null.
    AqmlabNull = -1,
    /// A text is not understood, or a field is out of its range.
    AqmlabInput = -2,
    /// The queue or path was freed, or never was one.
    AqmlabFreed = -3,
    /// Another thread is using the queue or path.
    AqmlabBusy = -4,
    /// The time is before that of an earlier call.
    AqmlabTime = -5,
    /// Events of the last call were not fetched.
    AqmlabUnfetched = -6,
    /// A defect of aqmlab. The queue or path can only be freed.
    AqmlabDefect = -7,
}

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    status: Status,
    text: Cow<'static, str>,
}

impl Failure {
    pub(crate) fn new(status: Status, text: impl Into<Cow<'static, str>>) -> Failure {
        Failure { status, text: text.into() }
    }

    /// A pointer is null.
    pub(crate) fn null(what: &str) -> Failure {
        Failure::new(Status::AqmlabNull, format!("{what} is null"))
    }

    /// What was given is not understood.
    pub(crate) fn input(error: impl ToString) -> Failure {
        Failure::new(Status::AqmlabInput, error.to_string())
    }
}

/// A call, whose failures and panics become a status and a message.
#[inline]
pub(crate) fn guarded(call: impl FnOnce() -> Result<Status, Failure>) -> Status {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => failed(failure),
        Err(panic) => failed(defect(&*panic)),
    }
}

#[cold]
fn failed(failure: Failure) -> Status {
    keep(&failure.text);
    failure.status
}

fn defect(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    Failure::new(Status::AqmlabDefect, format!("a defect of aqmlab, please report it: {text}"))
}

/// Bytes of a message, its final zero included.
const ROOM: usize = 1024;

// A place that stays, so that a pointer to it may be kept over the next error.
thread_local!(static MESSAGE: [Cell<u8>; ROOM] = const { [const { Cell::new(0) }; ROOM] });

/// Keeps a message, or as much of it as there is room for.
fn keep(text: &str) {
    let text = text.replace('\0', "");
    let text = &text[..text.floor_char_boundary(ROOM - 1)];
    MESSAGE.with(|message| {
        for (place, byte) in message.iter().zip(text.bytes().chain([0])) {
            place.set(byte);
        }
    });
}

/// The message of the last error in this thread.
pub(crate) fn message() -> *const c_char {
    MESSAGE.with(|message| message.as_ptr().cast())
}

/// The same as a text, for tests.
#[cfg(test)]
pub(crate) fn message_text() -> String {
    let kept = MESSAGE.with(|message| message.iter().map(Cell::get).take_while(|byte| *byte != 0).collect());
    String::from_utf8(kept).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_is_cut_between_two_letters() {
        keep(&"é".repeat(ROOM));
        assert_eq!(message_text(), "é".repeat(ROOM / 2 - 1));
        keep("short");
        assert_eq!(message_text(), "short");
    }
}
