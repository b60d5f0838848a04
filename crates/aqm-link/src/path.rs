//! The interfaces of both ends, and what carries frames between them and this process: the data path.

use crate::config::{DataPath, LinkError, MTU};
use crate::namespaces::{INTERFACE, Namespaces, enter, has_ipv6, ip, tc};
use crate::os::device::without_offloads;
use crate::os::frames::FRAMES;
use crate::os::port::Port;
use crate::os::ring::Ring;
use crate::os::tap::{DRIVER, Tap};
use std::fs::File;
use std::os::fd::AsRawFd;

/// What is made at the far end and at the near end: this process's interface where it has one, and the number of the end in
/// addresses.
const OURS: [(&str, u8); 2] = [("far", 1), ("near", 0)];

/// Lays an interface to each end, by `wanted` or by the first path that the system permits; says which, and opens the ports of
/// the far end and of the near end. This process is between them before and afterwards.
pub(crate) fn lay(
    wanted: Option<DataPath>,
    namespaces: &Namespaces,
) -> Result<(DataPath, [Port; 2]), LinkError> {
    let by = |path| match path {
        DataPath::Veth => veth(namespaces),
        DataPath::Tun => tun(namespaces),
    };
    match wanted {
        Some(path) => by(path).map(|ports| (path, ports)),
        None => match by(DataPath::Veth) {
            Ok(ports) => Ok((DataPath::Veth, ports)),
            Err(refused) => {
                clear(namespaces);
                let ports = by(DataPath::Tun)
                    .map_err(|error| LinkError::Machine(format!("{refused}; and without that: {error}")))?;
                Ok((DataPath::Tun, ports))
            }
        },
    }
}

/// A pair of veth interfaces to each end, and sockets of AF_PACKET at this process's.
fn veth(namespaces: &Namespaces) -> Result<[Port; 2], LinkError> {
    let Namespaces { between, near, far } = namespaces;
    let mut batch = String::new();
    // No packet of its own; without IPv6 there is none, and `ip` would not know the word.
    let own_addresses = if has_ipv6() { "addrgenmode none " } else { "" };
    for ((ours, number), end) in OURS.into_iter().zip([far, near]) {
        batch += &format!(
            "link add {ours} address 02:00:00:00:01:0{number} mtu {MTU} type veth peer name {INTERFACE} \
             address {} mtu {MTU}\n\
             link set {INTERFACE} netns /proc/self/fd/{}\n\
             link set {ours} {own_addresses}up\n",
            address(number),
            end.as_raw_fd()
        );
    }
    ip(&batch, between.as_raw_fd(), vec![near.as_raw_fd(), far.as_raw_fd()])?;
    let open = |(ours, _)| {
        without_offloads(ours).map_err(|error| LinkError::machine("ethtool", &error))?;
        let ring =
            Ring::open(ours).map_err(|error| LinkError::machine(&format!("AF_PACKET, {ours}"), &error))?;
        Ok(Port::Ring(ring))
    };
    Ok([open(OURS[0])?, open(OURS[1])?])
}

/// An interface of the TUN driver at each end.
fn tun(namespaces: &Namespaces) -> Result<[Port; 2], LinkError> {
    let Namespaces { between, near, far } = namespaces;
    let make = |(_, number), end: &File| {
        enter(end)?;
        let tap = Tap::make(INTERFACE).map_err(|error| LinkError::machine(DRIVER, &error))?;
        let address = address(number);
        // The queue has the room that the other path's ring has.
        let set = format!("link set {INTERFACE} address {address} mtu {MTU} txqueuelen {FRAMES}\n");
        ip(&set, end.as_raw_fd(), Vec::new())?;
        // As at veth. The machine's default could pace flows (`fq`), or drop what nobody counts.
        tc(&format!("qdisc replace dev {INTERFACE} root noqueue\n"), end.as_raw_fd())?;
        Ok(Port::Tap(tap))
    };
    let ports = [make(OURS[0], far)?, make(OURS[1], near)?];
    enter(between)?;
    Ok(ports)
}

/// The address of an end's interface. It is fixed: a run is like another.
fn address(number: u8) -> String {
    format!("02:00:00:00:00:0{number}")
}

/// Takes away what a path that is not permitted has left.
fn clear(namespaces: &Namespaces) {
    for (ours, _) in OURS {
        // Its other half ends with it. Perhaps it was never made.
        let _ = ip(&format!("link del {ours}\n"), namespaces.between.as_raw_fd(), Vec::new());
    }
}
