//! The host of a sender: what commands and the handshake make of its connection.

use super::problem::{Refusal, shortened};
use super::script::TcpOptions;
use super::shell::Command;
use crate::transport::{Sysctls, Tcp, profile_values};
use aqm_core::input_error::InputError;

/// Bytes that the timestamps option takes of each segment (RFC 7323 appendix A).
const TIMESTAMPS: u32 = 12;
/// The segment size that Linux offers over Ethernet.
const OFFERED_MSS: u32 = 1460;
/// The sender of a script that does not describe another one.
const PROFILE: &str = "linux";

/// What is set up before the handshake, and what may change after it.
#[derive(Debug)]
pub(super) struct Host {
    tcp: Option<String>,
    control: String,
    /// Keys that sysctls set.
    keys: Vec<(&'static str, &'static str)>,
    sack: bool,
    timestamps: bool,
    /// `tcp_ecn`: whether it is asked for, and granted.
    ecn: (bool, bool),
    initial_window: Option<u32>,
    paced: bool,
    pub(super) mss: Option<u32>,
    pub(super) sysctls: Sysctls,
    /// Whether segments leave the host.
    pub(super) passing: bool,
}

impl Host {
    /// Linux's own, or with `tcp` a connection in the notation of flows.
    pub(super) fn new(tcp: Option<&str>) -> Host {
        Host {
            tcp: tcp.map(str::to_owned),
            control: "cubic".to_owned(),
            keys: Vec::new(),
            sack: true,
            timestamps: true,
            ecn: (tcp.is_some(), true),
            initial_window: None,
            paced: false,
            mss: None,
            sysctls: Sysctls::default(),
            passing: true,
        }
    }

    /// A command is run.
    pub(super) fn run(&mut self, command: &Command) -> Result<(), Refusal> {
        match command {
            Command::Set(name, _) if self.tcp.is_some() => {
                return Err(format!("{}: with --tcp nothing else sets up the sender", shortened(name)).into());
            }
            Command::Set(name, value) => self.set(name, value)?,
            Command::InitialWindow(segments) => self.initial_window = Some(*segments),
            Command::Paced(paced) => self.paced = *paced,
            Command::Passing(passing) => self.passing = *passing,
        }
        Ok(())
    }

    /// The socket asks for a congestion control by Linux's name.
    pub(super) fn set_control(&mut self, name: &str) -> Result<(), Refusal> {
        self.control = match name {
            "reno" => "newreno",
            "bbr" => "bbr1",
            "cubic" | "dctcp" => name,
            _ => return Err(format!("the congestion control '{}' is not modelled", shortened(name)).into()),
        }
        .to_owned();
        Ok(())
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        let keys = &mut self.keys;
        match (name, value) {
            ("tcp_congestion_control", control) => self.set_control(control)?,
            ("tcp_sack", "0" | "1") => self.sack = value == "1",
            ("tcp_timestamps", "0" | "1") => self.timestamps = value == "1",
            ("tcp_ecn", "0" | "1" | "2") => self.ecn = (value == "1", value != "0"),
            ("tcp_frto", "0") => keys.push(("recovery.frto", "off")),
            ("tcp_frto", "1" | "2") => keys.push(("recovery.frto", "on")),
            ("tcp_early_retrans", "0") => self.sysctls.tail_loss_probes = false,
            ("tcp_early_retrans", "3" | "4") => self.sysctls.tail_loss_probes = true,
            ("tcp_recovery", "0") => keys.push(("recovery.rack", "off")),
            ("tcp_recovery", "1") => keys.push(("recovery.rack", "on")),
            ("tcp_slow_start_after_idle", "0" | "1") => self.sysctls.slow_start_after_idle = value == "1",
            ("tcp_cubic.parameters.hystart", "0") => keys.push(("slow_start.hystart", "off")),
            _ if IS_MODELLED.contains(&(name, value)) || CHANGES_NOTHING.contains(&name) => {}
            _ => return Err(format!("{}={} is not modelled", shortened(name), shortened(value)).into()),
        }
        Ok(())
    }

    /// Whether the host asks for ECN, and grants it if asked.
    pub(super) fn ecn(&self) -> (bool, bool) {
        self.ecn
    }

    /// The options of its SYN, or of its SYN-ACK to a peer with `offered`.
    pub(super) fn options(&self, offered: Option<&TcpOptions>) -> TcpOptions {
        let agrees = |ours: bool, theirs: fn(&TcpOptions) -> bool| ours && offered.is_none_or(theirs);
        TcpOptions {
            mss: Some(self.mss.unwrap_or(OFFERED_MSS)),
            sack_permitted: agrees(self.sack, |options| options.sack_permitted),
            wscale: agrees(true, |options| options.wscale.is_some()).then_some(0),
            timestamp: agrees(self.timestamps, |options| options.timestamp.is_some()).then_some((0, 0)),
            ..TcpOptions::default()
        }
    }

    /// The connection with a peer whose SYN or SYN-ACK had the options `theirs`.
    pub(super) fn connection(&self, theirs: &TcpOptions, ecn: bool) -> Result<Tcp, InputError> {
        let common = self.options(Some(theirs));
        let offered = theirs.mss.unwrap_or(536); // RFC 9293 section 3.7.1
        let headers = if common.timestamp.is_some() { TIMESTAMPS } else { 0 };
        let mss = offered.min(self.mss.unwrap_or(OFFERED_MSS)).saturating_sub(headers).max(1);
        let mut tcp = match &self.tcp {
            Some(text) => Tcp::parse(text)?,
            None => self.linux()?,
        };
        tcp = tcp.with("mss", &format!("{mss}b"))?;
        if let Some(segments) = self.initial_window {
            tcp = tcp.with("iw", &segments.to_string())?;
        }
        if self.paced {
            tcp = tcp.with("pacing", "on")?;
        }
        if !common.sack_permitted {
            for key in ["sack", "recovery.rack", "recovery.prr", "recovery.frto", "recovery.reenter"] {
                tcp = tcp.with(key, "off")?;
            }
        }
        if !ecn {
            tcp = tcp.with("ecn", "off")?;
        } else if self.tcp.is_none() {
            tcp = tcp.with("ecn", "classic")?;
        }
        tcp.check()?;
        Ok(tcp)
    }

    /// Linux with its sysctls.
    fn linux(&self) -> Result<Tcp, InputError> {
        let mut tcp = Tcp::parse(&self.control)?;
        for (key, value) in profile_values(tcp.info(), PROFILE) {
            tcp = tcp.with(key, &value.to_string())?;
        }
        // HyStart counts its rounds as in the kernels that packetdrill's scripts are of, 5.16 to 6.13.
        if self.control == "cubic" {
            tcp = tcp.with("slow_start.hystart", "classic")?;
        }
        for (key, value) in &self.keys {
            tcp = tcp.with(key, value)?;
        }
        Ok(tcp)
    }
}

/// Settings that every sender has here.
const IS_MODELLED: &[(&str, &str)] = &[
    ("tcp_reordering", "3"),
    ("tcp_fack", "0"),
    ("tcp_mtu_probing", "0"),
    ("tcp_pacing_ss_ratio", "200"),
    ("tcp_pacing_ca_ratio", "120"),
    ("tcp_cubic.parameters.hystart", "1"),
    ("tcp_cubic.parameters.hystart_detect", "3"),
];

/// Memory, what the receiver does, how the connection opens, and how segments are joined for offloading.
const CHANGES_NOTHING: &[&str] = &[
    "tcp_rmem",
    "tcp_wmem",
    "tcp_dsack",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_syncookies",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_ecn_option",
    "tcp_tso_win_divisor",
    "tcp_min_tso_segs",
    "tcp_notsent_lowat",
];
