//! The kind of link `wifi`: an access point and its stations on one channel.

mod device;
mod edca;
mod rates_file;
#[cfg(feature = "faults")]
pub mod sabotaged;
mod stations;

use self::device::{Hosts, Wifi};
pub use self::stations::MULTICAST;
use self::stations::Named;
use super::airtime::{Band, Timing};
use super::ampdu::Limits;
use super::aql;
use super::category::Mapping;
use super::channel::{Channel, Config, DriverOrder, Missed};
use super::edca::{Access, Countdown, Rules};
use crate::device::burst::Device;
use crate::kind::{Capacity, LinkKind, Service, Site};
use crate::placement::Placed;
use aqm_core::choices;
use aqm_core::input_error::InputError;
use aqm_core::params::{Kind, ParamSpec, Params, Value};
use aqm_core::units::{Bytes, Rate, Span};

/// The declaration.
pub static KIND: LinkKind = LinkKind {
    name: "wifi",
    summary: "An access point and its stations, which contend for one channel and aggregate packets",
    reference: "IEEE 802.11-2020 and 802.11ax-2021; Linux mac80211 and ath9k",
    params: &[
        ParamSpec::new(
            "stations",
            Kind::Notation(&stations::NOTATION),
            Value::Notation("fast1=ht-mcs15-400ns, fast2=ht-mcs15-400ns, slow=ht-mcs0-400ns"),
            (0.0, 0.0),
            "the stations: their rates in both directions, and how packets are lost",
            "USENIX ATC 2017: two fast stations and a slow one",
        ),
        ParamSpec::choice::<Band>(
            "band",
            "the band, on which SIFS depends",
            "IEEE 802.11-2020, 17.4.4, 19.4.4",
        ),
        ParamSpec::new(
            "slot",
            Kind::Span,
            Value::Span(Span::from_micros(9)),
            (5e3, 1e5),
            "length of a slot of the backoff",
            "aSlotTime: 9 us; 20 us with 802.11b (IEEE 802.11-2020, tables 17-21, 16-4)",
        ),
        ParamSpec::new(
            "sifs",
            Kind::Span,
            Value::Auto,
            (1e3, 1e5),
            "the gap before a response",
            "aSIFSTime: 16 us at 5 GHz, 10 us at 2.4 GHz (IEEE 802.11-2020, tables 17-21, 19-25)",
        )
        .or_auto("as the band has it"),
        ParamSpec::new(
            "aggregate_packets",
            Kind::Count,
            Value::Count(64),
            (1.0, 256.0),
            "most packets of an aggregate; 1 switches aggregation off",
            "the window of a block ACK agreement: 64, in 802.11ax 256",
        ),
        ParamSpec::new(
            "aggregate_size",
            Kind::Bytes,
            Value::Bytes(Bytes::new(65_535)),
            (1.0, 6_500_631.0),
            "most bytes of an aggregate",
            "HT: aPSDUMaxLength; VHT has 1048575, HE 6500631",
        ),
        ParamSpec::new(
            "aggregate_time",
            Kind::Span,
            Value::Span(Span::from_millis(4)),
            (1e3, 5_484_000.0),
            "longest aggregate",
            "ath9k: 4 ms (ath_lookup_rate()); the standard allows 5.484 ms",
        ),
        ParamSpec::new(
            "cipher",
            Kind::Bytes,
            Value::Bytes(Bytes::new(0)),
            (0.0, 64.0),
            "bytes that encryption adds to a packet",
            "CCMP adds 16; ns-3 and the paper's testbed have none",
        ),
        ParamSpec::new(
            "window",
            Kind::Count,
            Value::Count(64),
            (1.0, 1024.0),
            "packets that may be unacknowledged for each station",
            "IEEE 802.11-2020, 9.4.1.13",
        ),
        ParamSpec::new(
            "retries",
            Kind::Count,
            Value::Count(7),
            (0.0, 255.0),
            "how often a packet is sent again",
            "dot11ShortRetryLimit (IEEE 802.11-2020, annex C)",
        ),
        ParamSpec::new(
            "lifetime",
            Kind::Span,
            Value::Span(Span::from_millis(512)),
            (1e6, 1e11),
            "how old a packet becomes below the discipline before it is given up",
            "dot11EDCATableMSDULifetime: 500 TU (IEEE 802.11-2020, 9.4.2.28)",
        ),
        ParamSpec::choice::<Missed>(
            "missed",
            "what follows a missed block ACK: the aggregate again, or a request for the block ACK",
            "retransmit: ath9k; request: ns-3 (UseExplicitBarAfterMissedBlockAck)",
        ),
        ParamSpec::new(
            "response_loss",
            Kind::Fraction,
            Value::Fraction(0.0),
            (0.0, 0.99),
            "share of acknowledgments that are lost",
            "no reference: 0",
        ),
        ParamSpec::new(
            "rts_above",
            Kind::Bytes,
            Value::Auto,
            (0.0, 10_000_000.0),
            "larger aggregates follow RTS and CTS",
            "dot11RTSThreshold; off in Linux and ns-3",
        )
        .or_auto("no RTS"),
        ParamSpec::new(
            "hardware",
            Kind::Count,
            Value::Count(2),
            (0.0, 8.0),
            "aggregates that stand ready, that on the air included; with 0 one is built when the medium is won",
            "ath9k: ATH_AGGR_MIN_QDEPTH 2; ns-3: 0",
        ),
        ParamSpec::new(
            "driver",
            Kind::Count,
            Value::Count(123),
            (1.0, 100_000.0),
            "packets in the queue of the driver, below a discipline that has no queue for each station",
            "ath9k before Linux 4.11: ATH_MAX_QDEPTH, a quarter of 512 buffers less five",
        ),
        ParamSpec::choice::<DriverOrder>(
            "order",
            "the order in which the driver serves stations: in turn, or the oldest packet first",
            "turns: ath9k; oldest: ns-3 (FcfsWifiQueueScheduler)",
        ),
        ParamSpec::choice::<Contends>(
            "ap_edca",
            "how the access point contends",
            "hostapd's tx_queue_data0 to 3",
        ),
        ParamSpec::one_of(
            "station_edca",
            &[Contends::Station.word(), Contends::AccessPoint.word(), Contends::Dcf.word()],
            "how stations contend",
            "hostapd's wmm_ac_*, which it announces to stations; windows and AIFSN as in IEEE 802.11-2020, table 9-155",
        ),
        ParamSpec::new(
            "edca",
            Kind::Notation(&edca::NOTATION),
            Value::Auto,
            (0.0, 0.0),
            "AIFSN, contention window and TXOP limit of single access categories, in place of ap_edca's and station_edca's",
            "EDCA Parameter Set (IEEE 802.11-2020, 9.4.2.28)",
        )
        .or_auto("none"),
        ParamSpec::choice::<Mapping>(
            "dscp_map",
            "which access category a packet has by its DiffServ code point; none: all are best effort",
            "RFC 8325, and Linux since 6.8; precedence, the upper three bits: Linux before",
        ),
        ParamSpec::flag(
            "eifs",
            true,
            "whether those wait longer who could not decode a frame",
            "IEEE 802.11-2020, 10.3.2.3.7",
        ),
        ParamSpec::choice::<Countdown>(
            "countdown",
            "when a slot of the backoff is counted: at its start, or at its end if it was idle",
            "start: EDCA (IEEE 802.11-2020, 10.23.2.4) and Bianchi; end: DCF (10.3.4.3)",
        ),
        ParamSpec::new(
            "aql_low",
            Kind::Span,
            Value::Span(aql::Limits::LINUX.low),
            (1e3, 1e10),
            "airtime below which a station always gets more of a device that is limited",
            "IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L of Linux 6.1",
        ),
        ParamSpec::new(
            "aql_high",
            Kind::Span,
            Value::Span(aql::Limits::LINUX.high),
            (1e3, 1e10),
            "airtime below which it gets more while the device has less than aql_device",
            "IEEE80211_DEFAULT_AQL_TXQ_LIMIT_H of Linux 6.1",
        ),
        ParamSpec::new(
            "aql_device",
            Kind::Span,
            Value::Span(aql::Limits::LINUX.device),
            (1e3, 1e10),
            "airtime of all stations that a limited device may hold",
            "IEEE80211_AQL_THRESHOLD of Linux 6.1",
        ),
    ],
    of_link: &[],
    capacity,
    stations: Some(names),
    usual: Some(usual),
    service: Service::Bursts(build),
};

choices! {
    /// How a sender contends.
    enum Contends {
        AccessPoint = "ap",
        Station = "station",
        Dcf = "dcf",
    }
}

/// The stations of a kind's parameters: they were read before.
fn stations_of(params: &Params) -> Vec<Named> {
    stations::read(params.text("stations")).expect("stations are checked when they are set")
}

/// The names of the stations, in the order of their numbers.
pub fn names(params: &Params) -> Vec<String> {
    stations_of(params).into_iter().map(|named| named.name).collect()
}

/// The access category of each code point.
pub fn dscp_map(params: &Params) -> Mapping {
    params.choice("dscp_map")
}

/// What the fastest station can get at most: the data rate of its mode. While the rates of one are in a file, nobody knows.
fn capacity(params: &Params) -> Capacity {
    let stations = stations_of(params);
    let one_each = stations.iter().filter(|named| !named.is_group());
    let fastest: Option<Vec<Rate>> = one_each.map(|named| named.rates().max()).collect();
    fastest.and_then(|rates| rates.into_iter().max()).map_or(Capacity::OfPath, Capacity::Rate)
}

/// What stations get together, about: more than with equal packets, the harmonic mean of their rates, and less than with equal
/// airtime, the mean; preambles and acknowledgments included, one and a half times the former. Stations of one rate get about
/// three fifths of it: one station with four CUBIC flows 0.75 of 65 Mbit/s, and 0.52 of 702.
fn usual(params: &Params) -> Rate {
    let stations: Vec<Named> = stations_of(params).into_iter().filter(|named| !named.is_group()).collect();
    let bits = |rate: Rate| rate.as_bits_per_sec() as f64;
    let slowness = |named: &Named| named.rates().map(|rate| 1.0 / bits(rate)).fold(0.0, f64::max);
    let harmonic = stations.len() as f64 / stations.iter().map(slowness).sum::<f64>();
    let fastest = stations.iter().flat_map(Named::rates).map(bits).fold(0.0, f64::max);
    Rate::from_bits_per_sec((1.5 * harmonic).min(0.6 * fastest) as u64)
}

fn accesses(contends: Contends) -> [Access; 4] {
    match contends {
        Contends::AccessPoint => Access::ACCESS_POINT,
        Contends::Dcf => [Access::DCF; 4],
        Contends::Station => Access::STATION,
    }
}

/// The channel that the parameters describe; where the discipline sits is the host's to say.
fn config(params: &Params, placed: Placed) -> Config {
    let bytes = |name| params.bytes(name).map_or(0, Bytes::as_u64);
    let band: Band = params.choice("band");
    let sifs = if let Value::Span(sifs) = params.get("sifs") { *sifs } else { band.sifs() };
    let (mut access_point, mut of_stations) =
        (accesses(params.choice("ap_edca")), accesses(params.choice("station_edca")));
    if let Value::Text(text) = params.get("edca") {
        let entries = edca::read(text).expect("EDCA parameters are checked when they are set");
        entries.iter().for_each(|entry| entry.apply(&mut access_point, &mut of_stations));
    }
    Config {
        timing: Timing { slot: params.span("slot"), sifs, ..Timing::of(band) },
        rules: Rules { countdown: params.choice("countdown"), eifs: params.flag("eifs"), ..Rules::default() },
        access_point,
        stations: of_stations,
        limits: Limits {
            mpdus: params.count("aggregate_packets") as u16,
            octets: bytes("aggregate_size") as u32,
            time: params.span("aggregate_time"),
            cipher: bytes("cipher") as u16,
        },
        window: params.count("window") as u16,
        retries: params.count("retries") as u8,
        lifetime: params.span("lifetime"),
        missed: params.choice("missed"),
        response_loss: params.number("response_loss"),
        rts_above: params.bytes("rts_above").map(Bytes::as_u64),
        hardware: params.count("hardware") as u8,
        driver: if placed.is_above { params.count("driver") as u32 } else { 0 },
        order: params.choice("order"),
        aql: placed.is_limited.then(|| aql::Limits {
            low: params.span("aql_low"),
            high: params.span("aql_high"),
            device: params.span("aql_device"),
        }),
    }
}

/// The channel's links lead to one node, which stands for the air: one from the access point, and one from each station
/// that sends.
fn wifi(params: &Params, mut site: Site<'_>) -> Result<Wifi, InputError> {
    let stations = stations_of(params);
    let number = |node: &str| stations.iter().position(|named| named.name == node);
    let mut access_points = site.ports.iter().filter(|served| number(served.from).is_none());
    let Some(access_point) = access_points.next() else {
        return Err(InputError::new(
            "no link leaves an access point: all links of the channel leave stations",
        ));
    };
    if let Some(other) = access_points.next() {
        let problem = format!(
            "'{}' and '{}' are no stations: a channel has one access point",
            access_point.from, other.from
        );
        return Err(InputError::new(problem).allowing(stations.iter().map(|named| named.name.clone())));
    }
    let port =
        |named: &Named| site.ports.iter().find(|served| served.from == named.name).map(|served| served.port);
    let ports = stations.iter().map(port).collect();
    let by_category = access_point.placed.by_category;
    let config = config(params, access_point.placed);
    let names = stations.iter().map(|named| named.name.clone()).collect();
    let numbered = stations.iter().enumerate();
    let leaving = numbered.filter_map(|(number, named)| Some((named.leaves?, number as u8))).collect();
    let all = stations.iter().map(Named::station).collect::<Result<_, _>>()?;
    let channel = Channel::new(config, all, site.random.next_u64(), "wifi")?;
    let hosts = Hosts::new(access_point.port, ports, site.overhead, by_category, leaving);
    Ok(Wifi::new(channel, names, hosts))
}

fn build(params: &Params, site: Site<'_>) -> Result<Box<dyn Device>, InputError> {
    Ok(Box::new(wifi(params, site)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::KindSpec;

    fn config_of(text: &str) -> Config {
        let spec = KindSpec::parse(text, &[&KIND]).unwrap();
        config(spec.params(), Placed { is_above: false, is_limited: false, by_category: false })
    }

    #[test]
    fn gaps_are_those_of_the_standard() {
        let micros = |text: &str, aifsn: u8| config_of(text).timing.aifs(aifsn).as_nanos() / 1_000;
        // DIFS: 34 µs (802.11a), 28 (802.11g with short slots), 50 (802.11b); AIFS of best effort 43.
        assert_eq!(micros("wifi", 2), 34);
        assert_eq!(micros("wifi band 2.4ghz", 2), 28);
        assert_eq!(micros("wifi band 2.4ghz slot 20us", 2), 50);
        assert_eq!(micros("wifi", config_of("wifi").stations[1].aifsn), 43);
        // Channels of 10 MHz: slot 13, SIFS 32 (table 17-21).
        assert_eq!(micros("wifi slot 13us sifs 32us", 2), 58);
    }

    #[test]
    fn single_parameters_go_over_those_of_a_preset() {
        let config = config_of("wifi ap_edca dcf edca [ap vo cw 3..7, stations bk aifsn 9 txop 2528us]");
        assert_eq!(config.access_point[3], Access { cw_min: 3, cw_max: 7, ..Access::DCF });
        assert_eq!(config.access_point[..3], [Access::DCF; 3]);
        let background = Access { aifsn: 9, txop: Span::from_micros(2_528), ..Access::STATION[0] };
        assert_eq!(config.stations[0], background);
    }
}
