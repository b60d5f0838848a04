//! Whole Ethernet frames from and to an interface: an AF_PACKET socket with a ring that the kernel writes what it
//! receives into (packet(7), version 2 of the ring: each frame can be read as soon as it is there, while version 3 hands
//! over blocks, after milliseconds), and `sendmmsg`.
#![allow(unsafe_code)]

use super::checked;
use super::frames::{BATCH, FRAME_BYTES, FRAMES, Sent};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// linux/if_packet.h; the crate `libc` lacks it.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const SEND_BUFFER: libc::c_int = 4 << 20;

/// An interface of a network namespace, and the ring of what it receives.
pub(crate) struct Ring {
    socket: OwnedFd,
    ring: *mut u8,
    next: usize,
}

impl Ring {
    /// Opens an interface of this network namespace.
    pub(crate) fn open(interface: &str) -> io::Result<Ring> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // Protocol 0: nothing is received before the socket is bound.
        // SAFETY: it only makes a descriptor, which is nobody else's.
        let socket = unsafe { OwnedFd::from_raw_fd(checked(libc::socket(libc::AF_PACKET, kind, 0))?) };
        set(
            &socket,
            libc::SOL_PACKET,
            libc::PACKET_VERSION,
            &(libc::tpacket_versions::TPACKET_V2 as libc::c_int),
        )?;
        set(&socket, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1)?;
        set(&socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1)?;
        set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &SEND_BUFFER)?;
        // Blocks are pages: user-mode Linux loses larger ones when this process forks.
        // SAFETY: it touches no memory of ours.
        let block = checked(unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as libc::c_int)? as usize;
        let ring = libc::tpacket_req {
            tp_block_size: block as u32,
            tp_block_nr: (FRAMES * FRAME_BYTES / block) as u32,
            tp_frame_size: FRAME_BYTES as u32,
            tp_frame_nr: FRAMES as u32,
        };
        set(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &ring)?;
        // SAFETY: it is a new mapping of the ring, whose size the kernel has just accepted.
        let ring = unsafe {
            let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_POPULATE);
            libc::mmap(ptr::null_mut(), FRAMES * FRAME_BYTES, access, kind, socket.as_raw_fd(), 0)
        };
        if ring == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let opened = Ring { socket, ring: ring.cast(), next: 0 };
        opened.bind(interface)?;
        Ok(opened)
    }

    fn bind(&self, interface: &str) -> io::Result<()> {
        let name = CString::new(interface)?;
        // SAFETY: `name` ends in a zero.
        let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
        if index == 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: all bytes of it may be zero.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index as i32;
        let size = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: `address` has `size` bytes.
        checked(unsafe { libc::bind(self.socket.as_raw_fd(), (&raw const address).cast(), size) })?;
        Ok(())
    }

    /// Hands every frame that is there to `take`, at most one round of the ring; says how many there were.
    pub(crate) fn receive(&mut self, mut take: impl FnMut(&[u8], Option<u64>)) -> usize {
        for received in 0..FRAMES {
            // SAFETY: `next` is below `FRAMES`.
            let frame = unsafe { self.ring.add(self.next * FRAME_BYTES) };
            // SAFETY: the header begins with its status, which is aligned; the kernel changes it at any time.
            let status = unsafe { AtomicU32::from_ptr(frame.cast()) };
            if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                return received;
            }
            // SAFETY: a frame of the user is not written by the kernel, and begins with its header.
            let header = unsafe { ptr::read(frame.cast::<libc::tpacket2_hdr>()) };
            let at = usize::from(header.tp_mac);
            let length = (header.tp_snaplen as usize).min(FRAME_BYTES - at.min(FRAME_BYTES));
            // SAFETY: `at` and `length` lie within the frame.
            let bytes = unsafe { std::slice::from_raw_parts(frame.add(at.min(FRAME_BYTES)), length) };
            let stamp = u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec);
            if header.tp_status & libc::TP_STATUS_VLAN_VALID == 0 {
                take(bytes, Some(stamp));
            } else {
                take(&tagged(bytes, header.tp_vlan_tpid, header.tp_vlan_tci), Some(stamp));
            }
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % FRAMES;
        }
        FRAMES
    }

    /// Hands up to [`BATCH`] frames to the kernel.
    pub(crate) fn send<'a>(&self, frames: impl Iterator<Item = &'a [u8]>) -> Sent {
        let mut count = 0;
        let mut parts = [libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; BATCH];
        for (part, frame) in parts.iter_mut().zip(frames) {
            *part = libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() };
            count += 1;
        }
        // SAFETY: all bytes of it may be zero.
        let mut messages: [libc::mmsghdr; BATCH] = unsafe { std::mem::zeroed() };
        for (message, part) in messages.iter_mut().zip(&mut parts) {
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
        }
        // SAFETY: `messages` has `count` messages, each of one part of `parts`, which are frames that are borrowed.
        let result = unsafe {
            libc::sendmmsg(self.socket.as_raw_fd(), messages.as_mut_ptr(), count, libc::MSG_DONTWAIT)
        };
        match checked(result) {
            Ok(sent) => Sent::Frames(sent as usize),
            Err(error) => match error.raw_os_error() {
                Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => Sent::Gone,
                _ => Sent::Refused,
            },
        }
    }

    /// Packets that found the ring full since the last call.
    pub(crate) fn missed(&self) -> u64 {
        let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut size = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: `statistics` has `size` bytes.
        let result = unsafe {
            let to = (&raw mut statistics).cast();
            let socket = self.socket.as_raw_fd();
            libc::getsockopt(socket, libc::SOL_PACKET, libc::PACKET_STATISTICS, to, &raw mut size)
        };
        if result == 0 { u64::from(statistics.tp_drops) } else { 0 }
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no frame of it is borrowed.
        unsafe { libc::munmap(self.ring.cast(), FRAMES * FRAME_BYTES) };
    }
}

/// A frame with the VLAN tag that the kernel has taken out of it.
#[cold]
fn tagged(frame: &[u8], protocol: u16, tag: u16) -> Vec<u8> {
    let (addresses, rest) = frame.split_at(frame.len().min(12));
    [addresses, &protocol.to_be_bytes(), &tag.to_be_bytes(), rest].concat()
}

fn set<T>(socket: &OwnedFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    let size = size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` has `size` bytes, all of them initialised: it is a number or numbers without padding.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, ptr::from_ref(value).cast(), size) };
    checked(result).map(drop)
}
