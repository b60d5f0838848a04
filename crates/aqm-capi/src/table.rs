//! The table of queues. C has numbers instead of addresses: a number that is wrong or old is told from one that is not.

use crate::queue::Queue;
use crate::status::{Failure, Status};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// How many queues there can be at a time.
const MOST: usize = (1 << BITS) - 1;
/// The bits of a handle that are a place in the table; the others count how often the place was given away: where `usize`
/// has 32 bits, modulo 4096.
const BITS: usize = 20;

struct Place {
    /// How often it was given away: handles of before have another.
    generation: usize,
    queue: Option<Queue>,
}

/// Places never move: segment n has two to the n of them, and is made when the first is needed.
static SEGMENTS: [OnceLock<Box<[Mutex<Place>]>>; BITS] = [const { OnceLock::new() }; BITS];

/// Places that were used before and are free, and how many others were used.
static FREE: Mutex<(Vec<usize>, usize)> = Mutex::new((Vec::new(), 0));

/// Keeps a queue; its handle is never zero.
pub(crate) fn keep(queue: Queue) -> Result<usize, Failure> {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = match free.0.pop() {
        Some(place) => place,
        None if free.1 < MOST => {
            free.1 += 1;
            free.1
        }
        None => return Err(Failure::input(format!("there are {MOST} queues, and no more can be made"))),
    };
    let mut held = slot(place).lock().unwrap_or_else(PoisonError::into_inner);
    held.generation += 1;
    held.queue = Some(queue);
    Ok(held.generation << BITS | place)
}

/// Calls `call` on a queue that no other call is using.
#[inline]
pub(crate) fn with<R>(
    handle: usize,
    call: impl FnOnce(&mut Queue) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let mut place = match find(handle)?.try_lock() {
        Ok(place) => place,
        Err(TryLockError::WouldBlock) => return Err(busy()),
        Err(TryLockError::Poisoned(_)) => {
            return Err(Failure::new(Status::AqmlabDefect, "a defect of aqmlab ended this queue: free it"));
        }
    };
    call(queue(&mut place, handle)?)
}

/// Gives a queue up, with the packets in it.
pub(crate) fn free(handle: usize) -> Result<(), Failure> {
    let slot = find(handle)?;
    let mut place = match slot.try_lock() {
        Ok(place) => place,
        Err(TryLockError::WouldBlock) => return Err(busy()),
        Err(TryLockError::Poisoned(place)) => place.into_inner(),
    };
    queue(&mut place, handle)?;
    place.queue = None;
    slot.clear_poison();
    drop(place);
    FREE.lock().unwrap_or_else(PoisonError::into_inner).0.push(handle & MOST);
    Ok(())
}

/// The slot of the place, counted from one.
fn slot(place: usize) -> &'static Mutex<Place> {
    let segment = place.ilog2();
    let made = SEGMENTS[segment as usize].get_or_init(|| {
        (0..1_usize << segment).map(|_| Mutex::new(Place { generation: 0, queue: None })).collect()
    });
    &made[place - (1 << segment)]
}

#[inline]
fn find(handle: usize) -> Result<&'static Mutex<Place>, Failure> {
    let place = handle & MOST;
    if handle == 0 {
        return Err(Failure::null("the queue"));
    }
    let segment = place.checked_ilog2().ok_or_else(unknown)?;
    let made = SEGMENTS[segment as usize].get().ok_or_else(unknown)?;
    Ok(&made[place - (1 << segment)])
}

#[inline]
fn queue<'a>(place: &'a mut MutexGuard<'_, Place>, handle: usize) -> Result<&'a mut Queue, Failure> {
    let current = place.generation << BITS == handle & !MOST;
    place.queue.as_mut().filter(|_| current).ok_or_else(unknown)
}

#[cold]
fn busy() -> Failure {
    Failure::new(Status::AqmlabBusy, "another thread is using the queue")
}

#[cold]
fn unknown() -> Failure {
    Failure::new(Status::AqmlabFreed, "the queue was freed, or never was one")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{guarded, said};
    use std::thread;

    fn kept() -> usize {
        keep(Queue::new("fifo", "1mbit", 0, 1).unwrap()).unwrap()
    }

    fn ask(handle: usize) -> Status {
        guarded(|| with(handle, |queue| Ok(queue.counters())).map(|_| Status::AqmlabOk))
    }

    #[test]
    fn a_queue_in_use_is_refused_to_other_threads() {
        let handle = kept();
        let seen = with(handle, |_| Ok(thread::spawn(move || ask(handle)).join().unwrap())).unwrap();
        assert_eq!(seen, Status::AqmlabBusy);
        assert_eq!(ask(handle), Status::AqmlabOk);
    }

    #[test]
    fn a_panic_is_a_status_and_ends_its_queue_alone() {
        let (handle, other) = (kept(), kept());
        let broken = guarded(|| with(handle, |_| panic!("lost count of {}", 3)));
        assert_eq!(broken, Status::AqmlabDefect);
        assert_eq!(said(), "a defect of aqmlab, please report it: lost count of 3");
        assert_eq!((ask(handle), ask(other)), (Status::AqmlabDefect, Status::AqmlabOk));
        free(handle).unwrap();
        assert_eq!(ask(handle), Status::AqmlabFreed);
    }

    #[test]
    fn handles_of_freed_queues_are_told_from_those_in_their_places() {
        let old = kept();
        let others: Vec<_> = (0..100).map(|_| kept()).collect();
        free(old).unwrap();
        let again: Vec<_> = (0..100).map(|_| kept()).collect();
        assert_eq!(ask(old), Status::AqmlabFreed);
        for handle in others.into_iter().chain(again) {
            free(handle).unwrap();
        }
    }
}
