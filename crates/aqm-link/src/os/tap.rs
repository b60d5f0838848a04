//! Whole Ethernet frames from and to an interface of the TUN driver (Linux, Documentation/networking/tuntap.rst), in its
//! form with Ethernet headers (TAP): what passes it is what passes any other interface. The interface belongs to the network
//! namespace in which it was made; whoever has the descriptor is the wire behind it, and with it the interface ends.
#![allow(unsafe_code)]

use super::checked;
use super::device::about;
use super::frames::{BATCH, FRAME_BYTES, FRAMES, Sent};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// Where the driver is asked for an interface.
pub(crate) const DRIVER: &str = "/dev/net/tun";
/// The counters of all interfaces of a network namespace: of the one in which they were opened.
const COUNTERS: &str = "/proc/thread-self/net/dev";
/// The word of an interface that counts what found no room among what it sent, which is what comes here: behind eight words
/// of what it received come bytes, packets, errors and drops.
const DROPPED: usize = 8 + 3;

/// An interface that was made here.
pub(crate) struct Tap {
    driver: File,
    name: String,
    counters: File,
}

impl Tap {
    /// Makes an interface in the network namespace that this process is in.
    pub(crate) fn make(name: &str) -> io::Result<Tap> {
        let driver = File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(DRIVER)?;
        let mut request = about(name);
        // Neither a header of its own (IFF_NO_PI) nor one of offloads (IFF_VNET_HDR): frames have whole checksums, and
        // are of the size that the wire has.
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: `request` lives until the call returns.
        checked(unsafe { libc::ioctl(driver.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) })?;
        Ok(Tap { driver, name: name.to_string(), counters: File::open(COUNTERS)? })
    }

    /// Hands frames that are there to `take`, at most as many as its queue holds; says how many there were. The driver stamps none.
    pub(crate) fn receive(&mut self, mut take: impl FnMut(&[u8], Option<u64>)) -> usize {
        let mut frame = [0; FRAME_BYTES];
        for received in 0..FRAMES {
            match self.driver.read(&mut frame) {
                Ok(length) => take(&frame[..length], None),
                // None is there, or the interface is gone, which poll(2) says, too.
                Err(_) => return received,
            }
        }
        FRAMES
    }

    /// Hands up to a batch of frames to the kernel, one by one: the driver takes no more in a call.
    pub(crate) fn send<'a>(&self, frames: impl Iterator<Item = &'a [u8]>) -> Sent {
        let mut sent = 0;
        for frame in frames.take(BATCH) {
            match (&self.driver).write(frame) {
                Ok(_) => sent += 1,
                Err(_) if sent > 0 => break,
                // Gone, or down.
                Err(error) if matches!(error.raw_os_error(), Some(libc::EBADFD | libc::EIO)) => {
                    return Sent::Gone;
                }
                Err(_) => return Sent::Refused,
            }
        }
        Sent::Frames(sent)
    }

    /// Packets that found the driver's queue full.
    pub(crate) fn missed(&mut self) -> u64 {
        let mut table = String::new();
        let read = self.counters.rewind().and_then(|()| self.counters.read_to_string(&mut table));
        let lines =
            table.lines().filter_map(|line| line.trim_start().strip_prefix(&self.name)?.strip_prefix(':'));
        let dropped = lines.filter_map(|counts| counts.split_whitespace().nth(DROPPED)?.parse().ok()).next();
        read.ok().and(dropped).unwrap_or(0)
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.driver.as_fd()
    }
}
