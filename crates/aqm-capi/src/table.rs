//! The table of what C has handles of. It has numbers instead of addresses: a number that is wrong or old is distinguished from one that
//! is not.

use crate::path::Path;
use crate::queue::Queue;
use crate::status::{Failure, Status};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// How many there can be at a time.
const MOST: usize = (1 << BITS) - 1;
/// The bits of a handle that are a place in the table; the others count how often the place was given away: where `usize`
/// has 32 bits, modulo 4096.
const BITS: usize = 20;

/// What a handle is of.
#[expect(clippy::large_enum_variant, reason = "a queue is called for each packet: it stands in its place")]
pub(crate) enum Kept {
    Queue(Queue),
    Path(Box<Path>),
}

/// One of them.
pub(crate) trait Thing: Sized {
    /// Its name in messages.
    const NAME: &str;

    /// It as it is kept.
    fn into_kept(self) -> Kept;

    /// It, if the handle is of one.
    fn of(kept: &mut Kept) -> Option<&mut Self>;
}

impl Thing for Queue {
    const NAME: &str = "queue";

    fn into_kept(self) -> Kept {
        Kept::Queue(self)
    }

    #[inline]
    fn of(kept: &mut Kept) -> Option<&mut Queue> {
        if let Kept::Queue(queue) = kept { Some(queue) } else { None }
    }
}

impl Thing for Path {
    const NAME: &str = "path";

    fn into_kept(self) -> Kept {
        Kept::Path(Box::new(self))
    }

    fn of(kept: &mut Kept) -> Option<&mut Path> {
        if let Kept::Path(path) = kept { Some(path) } else { None }
    }
}

struct Place {
    /// How often it was given away: handles of before have another.
    generation: usize,
    kept: Option<Kept>,
}

/// Places never move: segment n has two to the n of them, and is made when the first is needed.
static SEGMENTS: [OnceLock<Box<[Mutex<Place>]>>; BITS] = [const { OnceLock::new() }; BITS];

/// Places that were used before and are free, and how many others were used.
static FREE: Mutex<(Vec<usize>, usize)> = Mutex::new((Vec::new(), 0));

/// Keeps something; its handle is never zero.
pub(crate) fn keep(thing: impl Thing) -> Result<usize, Failure> {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = match free.0.pop() {
        Some(place) => place,
        None if free.1 < MOST => {
            free.1 += 1;
            free.1
        }
        None => {
            return Err(Failure::input(format!(
                "there are {MOST} queues and paths, and no more can be made"
            )));
        }
    };
    let mut held = slot(place).lock().unwrap_or_else(PoisonError::into_inner);
    held.generation += 1;
    held.kept = Some(thing.into_kept());
    Ok(held.generation << BITS | place)
}

/// Calls `call` on what no other call is using.
#[inline]
pub(crate) fn with<T: Thing, R>(
    handle: usize,
    call: impl FnOnce(&mut T) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let mut place = match find::<T>(handle)?.try_lock() {
        Ok(place) => place,
        Err(TryLockError::WouldBlock) => return Err(busy::<T>()),
        Err(TryLockError::Poisoned(_)) => return Err(ended::<T>()),
    };
    call(kept(&mut place, handle)?)
}

/// Gives something up, with the packets in it.
pub(crate) fn free<T: Thing>(handle: usize) -> Result<(), Failure> {
    let slot = find::<T>(handle)?;
    let mut place = match slot.try_lock() {
        Ok(place) => place,
        Err(TryLockError::WouldBlock) => return Err(busy::<T>()),
        Err(TryLockError::Poisoned(place)) => place.into_inner(),
    };
    kept::<T>(&mut place, handle)?;
    place.kept = None;
    slot.clear_poison();
    drop(place);
    FREE.lock().unwrap_or_else(PoisonError::into_inner).0.push(handle & MOST);
    Ok(())
}

/// The slot of the place, counted from one.
fn slot(place: usize) -> &'static Mutex<Place> {
    let segment = place.ilog2();
    let made = SEGMENTS[segment as usize].get_or_init(|| {
        (0..1_usize << segment).map(|_| Mutex::new(Place { generation: 0, kept: None })).collect()
    });
    &made[place - (1 << segment)]
}

#[inline]
fn find<T: Thing>(handle: usize) -> Result<&'static Mutex<Place>, Failure> {
    let place = handle & MOST;
    if handle == 0 {
        return Err(Failure::null(&format!("the {}", T::NAME)));
    }
    let segment = place.checked_ilog2().ok_or_else(unknown::<T>)?;
    let made = SEGMENTS[segment as usize].get().ok_or_else(unknown::<T>)?;
    Ok(&made[place - (1 << segment)])
}

#[inline]
fn kept<'a, T: Thing>(place: &'a mut MutexGuard<'_, Place>, handle: usize) -> Result<&'a mut T, Failure> {
    let current = place.generation << BITS == handle & !MOST;
    place.kept.as_mut().filter(|_| current).and_then(T::of).ok_or_else(unknown::<T>)
}

#[cold]
fn busy<T: Thing>() -> Failure {
    Failure::new(Status::AqmlabBusy, format!("another thread is using the {}", T::NAME))
}

#[cold]
fn ended<T: Thing>() -> Failure {
    Failure::new(Status::AqmlabDefect, format!("a defect of aqmlab ended this {}: free it", T::NAME))
}

#[cold]
fn unknown<T: Thing>() -> Failure {
    Failure::new(Status::AqmlabFreed, format!("the {} was freed, or never was one", T::NAME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{guarded, message_text};
    use std::thread;

    fn kept() -> usize {
        keep(Queue::new("fifo", "1mbit", 0, 1).unwrap()).unwrap()
    }

    fn ask(handle: usize) -> Status {
        guarded(|| with(handle, |queue: &mut Queue| Ok(queue.counters())).map(|_| Status::AqmlabOk))
    }

    #[test]
    fn a_queue_in_use_is_refused_to_other_threads() {
        let handle = kept();
        let seen =
            with(handle, |_: &mut Queue| Ok(thread::spawn(move || ask(handle)).join().unwrap())).unwrap();
        assert_eq!(seen, Status::AqmlabBusy);
        assert_eq!(ask(handle), Status::AqmlabOk);
    }

    #[test]
    fn a_panic_is_a_status_and_ends_its_queue_alone() {
        let (handle, other) = (kept(), kept());
        let broken = guarded(|| {
            with(handle, |_: &mut Queue| -> Result<Status, Failure> { panic!("lost count of {}", 3) })
        });
        assert_eq!(broken, Status::AqmlabDefect);
        assert_eq!(message_text(), "a defect of aqmlab, please report it: lost count of 3");
        assert_eq!((ask(handle), ask(other)), (Status::AqmlabDefect, Status::AqmlabOk));
        free::<Queue>(handle).unwrap();
        assert_eq!(ask(handle), Status::AqmlabFreed);
    }

    #[test]
    fn handles_of_freed_queues_differ_from_those_in_their_places() {
        let old = kept();
        let others: Vec<_> = (0..100).map(|_| kept()).collect();
        free::<Queue>(old).unwrap();
        let again: Vec<_> = (0..100).map(|_| kept()).collect();
        assert_eq!(ask(old), Status::AqmlabFreed);
        for handle in others.into_iter().chain(again) {
            free::<Queue>(handle).unwrap();
        }
    }
}
