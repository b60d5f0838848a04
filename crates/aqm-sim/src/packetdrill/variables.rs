//! The names that assertions know: those of Linux's struct tcp_info and enum tcp_ca_state, and some of our own.

use crate::transport::{Losses, TcpInfo};
use aqm_core::units::{Span, Time};

/// Linux's ssthresh before the first reduction (TCP_INFINITE_SSTHRESH).
const INFINITE: u64 = 0x7fff_ffff;

/// The value of `name`. Our own names begin with `aqmlab_`: windows in bytes, where Linux counts whole segments, and when
/// the next timer is due.
pub(super) fn value(name: &str, info: &TcpInfo, losses: Losses, offered_mss: u32) -> Option<f64> {
    let microseconds = |span: Span| span.as_nanos() as f64 / 1e3;
    let count = |number: u64| Some(number as f64);
    match name {
        "TCP_CA_Open" => count(0),
        "TCP_CA_Disorder" => count(1),
        "TCP_CA_CWR" => count(2),
        "TCP_CA_Recovery" => count(3),
        "TCP_CA_Loss" => count(4),
        "tcpi_ca_state" => Some(f64::from(info.ca_state as u8)),
        "tcpi_snd_cwnd" => count(info.cwnd / info.mss),
        "tcpi_snd_ssthresh" if info.ssthresh == u64::MAX => count(INFINITE),
        "tcpi_snd_ssthresh" => count(info.ssthresh / info.mss),
        "tcpi_snd_mss" => count(info.mss),
        "tcpi_advmss" => Some(f64::from(offered_mss)),
        "tcpi_unacked" => count(info.unacked),
        "tcpi_sacked" => count(info.sacked),
        "tcpi_lost" => count(info.lost),
        "tcpi_retrans" => count(info.retrans),
        "tcpi_reordering" => count(info.reordering),
        "tcpi_reord_seen" => count(info.reord_seen),
        "tcpi_rtt" => Some(microseconds(info.srtt).floor()),
        "tcpi_rto" => Some(microseconds(info.rto).floor()),
        "tcpi_backoff" => Some(f64::from(info.backoff)),
        "tcpi_total_retrans" => count(losses.retransmissions),
        "aqmlab_cwnd" => count(info.window),
        "aqmlab_ssthresh" => count(info.ssthresh),
        "aqmlab_timeouts" => count(losses.timeouts),
        "aqmlab_recoveries" => count(losses.recoveries),
        "aqmlab_timer_usecs" => info.deadline.map(|due| microseconds(due.since(Time::ZERO))),
        _ => None,
    }
}
