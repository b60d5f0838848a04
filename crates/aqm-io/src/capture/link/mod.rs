//! Link layers: where the IP packet begins in a captured frame.
//!
//! A frame is a chain of layers. Each step reads one header and names the next layer, until the IP header. `types`
//! lists the link types of files, and the other files hold the layers: `ether`, `llc`,
//! `ppp`, `wan` (Frame Relay, Cisco HDLC, ATM), `wireless` (IEEE 802.11), `legacy` (media before Ethernet), `pseudo`
//! (headers that the capturing host adds).

mod ether;
mod field;
mod layer;
mod legacy;
mod llc;
mod ppp;
mod pseudo;
mod step;
#[cfg(test)]
mod tests;
pub(super) mod types;
mod wan;
mod wireless;

pub use types::LinkType;

use super::flow::Hash;
use super::skipped::SkipReason;
use layer::Layer;
use step::{Next, Step};

/// Most layers in front of an IP packet. Real stacks (PKTAP, Ethernet, two VLAN tags, PPPoE, MPLS) have fewer than ten.
const MOST_LAYERS: usize = 32;

/// The link type that stands for this number in files.
pub(super) fn link_type(number: u16) -> Result<LinkType, SkipReason> {
    LinkType::new(number).ok_or(SkipReason::UnsupportedLink(number))
}

impl LinkType {
    /// Offset of the IP header in `frame`.
    pub(super) fn ip_offset(self, frame: &[u8]) -> Result<usize, SkipReason> {
        ip_offset(self.layer(), frame, 0)
    }

    /// A number for the interface that captured `frame`, where the link layer has one; the direction, where it has that
    /// alone.
    pub(super) fn vantage(self, frame: &[u8]) -> u64 {
        let field = match self.layer() {
            // Sent to this host or by it: an incoming packet leaves by another interface.
            Layer::LinuxSll => 0..2,
            Layer::LinuxSll2 => 4..8,
            // The name of the interface.
            Layer::Pktap => 12..36,
            _ => return 0,
        };
        Hash::new().add(frame.get(field).unwrap_or_default()).finish()
    }
}

/// Offset of the IP header in `frame`, whose header at `at` is the bytes behind a GRE header of this protocol type
/// (RFC 2784 section 2.4).
pub(super) fn ip_offset_in_gre(protocol: u16, frame: &[u8], at: usize) -> Result<usize, SkipReason> {
    match ether::by_type(protocol, at)? {
        Step::Ip(offset) => Ok(offset),
        Step::Inside(layer, at) => ip_offset(layer, frame, at),
    }
}

fn ip_offset(mut layer: Layer, frame: &[u8], mut at: usize) -> Result<usize, SkipReason> {
    for _ in 0..MOST_LAYERS {
        match step(layer, frame, at)? {
            Step::Ip(offset) => return Ok(offset),
            Step::Inside(next, begin) => (layer, at) = (next, begin),
        }
    }
    Err(SkipReason::NotIp)
}

/// Reads the header of `layer` at `at`.
fn step(layer: Layer, frame: &[u8], at: usize) -> Next {
    match layer {
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
