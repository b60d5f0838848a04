//! The layers of a frame.

/// What a frame's bytes from some offset on are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture) enum Layer {
    /// An IP packet.
    RawIp,
    /// Ethernet with its addresses.
    Ethernet,
    /// An EtherType and what it announces, or the length of an IEEE 802.3 frame and LLC.
    EtherType,
    /// Addresses of Ethernet, and a tag of a switch (DSA) of so many bytes in front of the EtherType.
    EthernetWithTag(u8),
    /// A header of so many bytes that says nothing of use, and Ethernet.
    PrefixedEthernet(u8),
    /// MPLS label stack entries (RFC 3032).
    Mpls,
    /// A PPPoE header (RFC 2516) and PPP.
    Pppoe,
    /// PPP, with or without the address and control fields.
    Ppp,
    /// PPP in HDLC-like framing (RFC 1662), or Cisco HDLC, by the first byte.
    PppOrCiscoHdlc,
    /// Cisco HDLC.
    CiscoHdlc,
    /// A header of pppd: the direction and an unused byte, then PPP.
    PppOfPppd,
    /// One byte with the direction, then PPP, Cisco HDLC or Frame Relay.
    PppWithDirection,
    CiscoHdlcWithDirection,
    FrameRelayWithDirection,
    /// Frame Relay (RFC 2427, or Cisco's encapsulation).
    FrameRelay,
    /// Multilink Frame Relay (FRF.16.1).
    MultilinkFrameRelay,
    /// ATM adaptation layer 5 (RFC 2684, RFC 2364).
    Atm,
    /// ATM as SunATM gives it.
    SunAtm,
    /// Classical IP over ATM on Linux: LLC or the IP packet.
    AtmClassicalIp,
    /// Logical Link Control (IEEE 802.2), with or without SNAP.
    Llc,
    Ieee80211,
    Radiotap,
    Prism,
    Avs,
    /// Per-packet information of CACE.
    Ppi,
    /// Apple's packet tap.
    Pktap,
    LinuxSll,
    LinuxSll2,
    /// BSD loopback: an address family.
    Loopback,
    /// OpenBSD's packet filter log.
    Pflog,
    /// BSD's IPsec encapsulation.
    Enc,
    /// Linux's netfilter log.
    Nflog,
    /// Solaris's ipnet.
    Ipnet,
    /// Symantec's firewall.
    Symantec,
    /// Juniper's header; the layer behind it, if the header does not say.
    Juniper(Inner),
    TokenRing,
    Fddi,
    Arcnet,
    ArcnetLinux,
    Slip,
    IpOverFc,
    Ieee1394,
    Infiniband,
}

/// What Juniper's interfaces carry behind the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture) enum Inner {
    Ethernet,
    Ppp,
    CiscoHdlc,
    FrameRelay,
}

impl Inner {
    pub(super) fn layer(self) -> Layer {
        match self {
            Inner::Ethernet => Layer::Ethernet,
            Inner::Ppp => Layer::Ppp,
            Inner::CiscoHdlc => Layer::CiscoHdlc,
            Inner::FrameRelay => Layer::FrameRelay,
        }
    }
}
