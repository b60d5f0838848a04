//! Profiles: how an implementation of TCP sets its keys. `profile=` chooses one, as `name:preset` does for a discipline.
//!
//! What a profile sets within a group of rules is in the group's file, keys of only one congestion control in that control's.

use super::control::controller::Info;
use super::rules::{GROUPS, Group, Settings};
use aqm_core::params::Value;
use aqm_core::units::{Bytes, Span};

/// How an implementation sets the keys of TCP.
#[derive(Debug)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// Where its values are from.
    pub source: &'static str,
    /// Keys outside of groups.
    own: Settings,
    /// Keys of a group.
    of: fn(&'static Group) -> Settings,
}

impl Profile {
    /// The values that it sets for keys of every TCP connection.
    pub fn values(&self) -> impl Iterator<Item = &'static (&'static str, Value)> {
        self.own.iter().chain(GROUPS.iter().flat_map(self.of))
    }
}

/// The values that a profile sets for the keys of a connection with this congestion control.
pub fn profile_values(
    info: &'static Info,
    name: &str,
) -> impl Iterator<Item = &'static (&'static str, Value)> {
    let common = PROFILES.iter().filter(move |profile| profile.name == name).flat_map(Profile::values);
    let own = info.profiles.iter().filter(move |preset| preset.name == name);
    common.chain(own.flat_map(|preset| preset.values))
}

/// Every profile, the default first.
pub static PROFILES: &[Profile] = &[
    Profile {
        name: "rfc",
        source: "the RFCs' mandatory parts with the defaults of docs/reference/transports, but for RFC 5681 section 4.3 (recovery.reenter); minrto and delack as in Linux",
        own: &[],
        of: |_| &[],
    },
    Profile {
        name: "linux",
        source: "Linux 6.12 net/ipv4 with its sysctls' defaults: tcp_recovery=1 and tcp_early_retrans=3 (RACK-TLP), \
                 PRR (tcp_input.c, tcp_cwnd_reduction), ssthresh from snd_cwnd (tcp_reno_ssthresh) and not again within \
                 a recovery (tcp_enter_loss), RTO of srtt and at least TCP_RTO_MIN (tcp_rtt_estimator), TCP_MAX_QUICKACKS 16, TCP_RTO_MIN 200 ms, TCP_DELACK_MIN \
                 40 ms, TCP_DELACK_MAX 200 ms, undo by timestamps (tcp_packet_delayed), \
                 TCP_INIT_CWND 10 also after one lost SYN (tcp_init_transfer), tcp_ecn=2 (not asked for by clients)",
        own: &[("handshake", Value::Flag(true))],
        of: |group| group.linux,
    },
    Profile {
        name: "ns3",
        source: "ns-3.44 src/internet/model: TcpSocket SegmentSize 536, InitialCwnd 10, DelAckCount 2, DelAckTimeout \
                 200 ms; TcpSocketBase MinRto 1 s, Sack on, UseEcn Off; TcpL4Protocol RecoveryType TcpPrrRecovery",
        own: &[
            ("mss", Value::Bytes(Bytes::new(536))),
            ("delack", Value::Span(Span::from_millis(200))),
            ("minrto", Value::Span(Span::from_secs(1))),
            ("handshake", Value::Flag(true)),
        ],
        of: |group| group.ns3,
    },
];
