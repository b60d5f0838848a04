//! The calls into Linux. All `unsafe` of this crate is in this room, and none of its public functions is unsafe.
//!
//! - [`clock`]: time, and how exactly this thread sleeps.
//! - [`frames`]: how many there are at once.
//! - [`port`]: whole Ethernet frames from and to an interface, by a [`ring`] or by a [`tap`].
//! - [`process`]: namespaces, signals and the ends of processes.
//! - [`device`]: settings of an interface.
//!
//! By libc, not by rustix, which has safe functions for namespaces, capabilities and polling: packet rings, the requests of
//! tun and ethtool, signal handlers and what runs between fork and exec would stay here all the same, `unsafe` beside them.

pub(crate) mod clock;
pub(crate) mod device;
pub(crate) mod frames;
pub(crate) mod port;
pub(crate) mod process;
pub(crate) mod ring;
pub(crate) mod tap;

use std::io;

/// The result of a call that says -1 and `errno` where it fails.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
