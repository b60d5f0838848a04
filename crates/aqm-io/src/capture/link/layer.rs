//! One step along the layers of a frame.

use super::super::skipped::SkipReason;
use super::{ether, legacy, llc, ppp, pseudo, wan, wireless};

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

/// What a header leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The IP header at this offset.
    Ip(usize),
    /// A layer at this offset.
    Inside(Layer, usize),
}

pub(super) type Next = Result<Step, SkipReason>;

impl Layer {
    /// Reads the header at `at`.
    pub(super) fn step(self, frame: &[u8], at: usize) -> Next {
        match self {
            Layer::RawIp => Ok(Step::Ip(at)),
            Layer::Ethernet => ether::ethernet(at),
            Layer::EtherType => ether::ether_type(frame, at),
            Layer::EthernetWithTag(tag) => ether::with_tag(at, tag),
            Layer::PrefixedEthernet(prefix) => Ok(Step::Inside(Layer::Ethernet, at + usize::from(prefix))),
            Layer::Mpls => ether::mpls(frame, at),
            Layer::Pppoe => ppp::pppoe(frame, at),
            Layer::Ppp => ppp::ppp(frame, at),
            Layer::PppOrCiscoHdlc => ppp::or_cisco_hdlc(frame, at),
            Layer::PppOfPppd => Ok(Step::Inside(Layer::Ppp, at + 2)),
            Layer::PppWithDirection => Ok(Step::Inside(Layer::PppOrCiscoHdlc, at + 1)),
            Layer::CiscoHdlc => wan::cisco_hdlc(frame, at),
            Layer::CiscoHdlcWithDirection => Ok(Step::Inside(Layer::CiscoHdlc, at + 1)),
            Layer::FrameRelayWithDirection => Ok(Step::Inside(Layer::FrameRelay, at + 1)),
            Layer::FrameRelay => wan::frame_relay(frame, at),
            Layer::MultilinkFrameRelay => wan::multilink_frame_relay(frame, at),
            Layer::Atm => wan::atm(frame, at),
            Layer::SunAtm => wan::sun_atm(frame, at),
            Layer::AtmClassicalIp => wan::classical_ip(frame, at),
            Layer::Llc => llc::llc(frame, at),
            Layer::Ieee80211 => wireless::ieee80211(frame, at, 1),
            Layer::Radiotap => wireless::radiotap(frame, at),
            Layer::Prism => wireless::prism(frame, at),
            Layer::Avs => wireless::avs(frame, at),
            Layer::Ppi => pseudo::ppi(frame, at),
            Layer::Pktap => pseudo::pktap(frame, at),
            Layer::LinuxSll => pseudo::linux_sll(frame, at),
            Layer::LinuxSll2 => pseudo::linux_sll2(frame, at),
            Layer::Loopback => pseudo::loopback(frame, at),
            Layer::Pflog => pseudo::pflog(frame, at),
            Layer::Enc => pseudo::enc(frame, at),
            Layer::Nflog => pseudo::nflog(frame, at),
            Layer::Ipnet => pseudo::ipnet(frame, at),
            Layer::Symantec => pseudo::symantec(frame, at),
            Layer::Juniper(inner) => pseudo::juniper(frame, at, inner),
            Layer::TokenRing => legacy::token_ring(frame, at),
            Layer::Fddi => legacy::fddi(frame, at),
            Layer::Arcnet => legacy::arcnet(frame, at),
            Layer::ArcnetLinux => legacy::arcnet_linux(frame, at),
            Layer::Slip => legacy::slip(at),
            Layer::IpOverFc => Ok(Step::Inside(Layer::Llc, at + legacy::FC_ADDRESSES)),
            Layer::Ieee1394 => Ok(Step::Inside(Layer::EtherType, at + legacy::IEEE1394_ADDRESSES)),
            Layer::Infiniband => legacy::infiniband(frame, at),
        }
    }
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
