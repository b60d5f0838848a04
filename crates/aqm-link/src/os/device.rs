//! Settings of an interface that `ip` has not: offloads, which make packets of the kernel unlike those on a wire.
#![allow(unsafe_code)]

use super::checked;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `ethtool_value` of linux/ethtool.h.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// `ETHTOOL_SRXCSUM`, `ETHTOOL_STXCSUM`, `ETHTOOL_STSO`, `ETHTOOL_SGSO` and `ETHTOOL_SGRO`. The command before each asks how
/// it is.
///
/// Without the checksum's offload packets carry whole checksums; without the others they are of the size that the wire has.
const OFFLOADS: [(&str, u32); 5] = [
    ("checksums of received packets", 0x15),
    ("checksums of sent packets", 0x17),
    ("segmentation of TCP", 0x1f),
    ("segmentation", 0x24),
    ("joining of received packets", 0x2c),
];

/// Switches the offloads of an interface of this network namespace off.
pub(crate) fn without_offloads(interface: &str) -> io::Result<()> {
    // SAFETY: it only makes a descriptor, which is nobody else's.
    let socket = unsafe { checked(libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0)) }?;
    // SAFETY: as above.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    for (name, command) in OFFLOADS {
        let switched = ethtool(&socket, interface, command);
        // What an interface does not have cannot be switched, and is off.
        if let Err(error) = switched
            && !matches!(ethtool(&socket, interface, command - 1), Ok(0))
        {
            let why = format!("{interface}: the offload of {name} stays on: {error}");
            return Err(io::Error::new(error.kind(), why));
        }
    }
    Ok(())
}

/// Calls a command with the value 0; says which value it leaves.
fn ethtool(socket: &OwnedFd, interface: &str, command: u32) -> io::Result<u32> {
    let mut value = EthtoolValue { command, data: 0 };
    let mut request = about(interface);
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: `request` names `value`, which is what the command reads and writes; both live until it returns.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) })?;
    Ok(value.data)
}

/// A request about an interface (netdevice(7)).
pub(crate) fn about(interface: &str) -> libc::ifreq {
    // SAFETY: all bytes of it may be zero.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes().take(libc::IFNAMSIZ - 1)) {
        *to = from as libc::c_char;
    }
    request
}
