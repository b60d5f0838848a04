//! CAKE's parameters, and the settings of each tin that follow from them.

use super::acks::AckFilter;
use super::framing::{Cells, Framing, Layer};
use super::isolation::Fairness;
use super::sets::WAYS;
use super::tins::{Keyword, Share};
use crate::backlog::Backlog;
use crate::choices;
use crate::discipline::flow_queueing;
use crate::law::blue;
use crate::law::cobalt::{Last, Params as Law};
use crate::link::Link;
use crate::params::{Kind, ParamError, ParamSpec, Params, Value};
use crate::units::{Bytes, Rate, Size, Span};

/// The declarations.
pub(super) static PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "bandwidth",
        Kind::Rate,
        Value::Auto,
        (512.0, 1e12),
        "Rate of the shaper",
        "tc-cake(8): unlimited; Linux sch_cake: 64 bytes per second at least",
    )
    .or_auto("unlimited, without a shaper")
    .auto_called("unlimited"),
    ParamSpec::flag(
        "autorate_ingress",
        false,
        "Set the rate of the shaper to 15/16 of the rate at which packets arrive, four times a second at most",
        "tc-cake(8): off",
    ),
    ParamSpec::keywords::<Direction>(
        "direction",
        "What was sent counts for the shaper; with ingress what is dropped too, and each flow keeps two packets",
        "tc-cake(8): egress",
    ),
    ParamSpec::keywords::<Keyword>(
        "tins",
        "Classes of traffic by DiffServ code point",
        "tc-cake(8): diffserv3",
    ),
    ParamSpec::new(
        "fwmark",
        Kind::Count,
        Value::Count(0),
        (0.0, 4_294_967_295.0),
        "Mask of the firewall mark, here a packet's class, that chooses the tin by number, from one; else DiffServ does",
        "tc-cake(8): none",
    ),
    ParamSpec::keywords::<Fairness>(
        "isolation",
        "What has a queue of its own, and between which hosts the link is shared first",
        "tc-cake(8): triple-isolate",
    ),
    ParamSpec::keywords::<Trip>(
        "path",
        "How long the round trips are: 100us, 1ms, 10ms, 30ms, 100ms, 300ms, 1s or 3600s, internet being 100ms",
        "tc-cake(8): internet",
    ),
    ParamSpec::new(
        "rtt",
        Kind::Span,
        Value::Auto,
        (1e3, 3.6e12),
        "Round-trip time: COBALT's interval, and 20 times its target",
        "tc-cake(8)",
    )
    .or_auto("that of path"),
    ParamSpec::keywords::<AckFilter>(
        "acks",
        "Which acknowledgments are dropped as redundant",
        "tc-cake(8): none",
    ),
    flow_queueing::LIMIT.with_reference("Linux sch_cake: 10240, of full packets"),
    ParamSpec::new(
        "memlimit",
        Kind::Bytes,
        Value::Auto,
        (1.0, 1e12),
        "Most bytes of packets that wait",
        "tc-cake(8), Linux sch_cake",
    )
    .or_auto("bandwidth x rtt x 4, at least 4mb; without bandwidth, as limit says"),
    ParamSpec::keywords::<Layer>(
        "link_layer",
        "The link layer of the bottleneck: overhead, mpu and cells together",
        "tc-cake(8): raw, packets count as they are",
    ),
    ParamSpec::new(
        "overhead",
        Kind::SignedBytes,
        Value::Auto,
        (-64.0, 256.0),
        "Bytes around each IP packet on the bottleneck",
        "tc-cake(8)",
    )
    .or_auto("that of link_layer"),
    ParamSpec::flag(
        "ether_vlan",
        false,
        "Four bytes more around each IP packet, for a tag of IEEE 802.1Q; for two, give overhead",
        "tc-cake(8): off",
    ),
    ParamSpec::flag(
        "via_ethernet",
        false,
        "Without effect, as in tc: overhead is around the IP packet on every interface",
        "tc-cake(8), iproute2: ignored",
    ),
    ParamSpec::new(
        "mpu",
        Kind::Bytes,
        Value::Auto,
        (0.0, 256.0),
        "Fewest bytes of a packet on the bottleneck, overhead included",
        "tc-cake(8)",
    )
    .or_auto("that of link_layer"),
    CELLS.auto_unless_given("those of link_layer"),
    ParamSpec::new(
        "queues",
        Kind::Count,
        Value::Count(1024),
        (8.0, 8192.0),
        "Flow queues of each tin, a multiple of eight",
        "Linux sch_cake: 1024",
    ),
];

const CELLS: ParamSpec =
    ParamSpec::keywords::<Cells>("cells", "The cells that packets are cut into", "tc-cake(8)");

choices! {
    /// On which side of the bottleneck the discipline is.
    enum Direction {
        Egress = "egress",
        Ingress = "ingress",
    }
}

choices! {
    /// How long the round trips are.
    enum Trip {
        Internet = "internet",
        Datacentre = "datacentre",
        Lan = "lan",
        Metro = "metro",
        Regional = "regional",
        Oceanic = "oceanic",
        Satellite = "satellite",
        Interplanetary = "interplanetary",
    }
}

/// Bytes of an IEEE 802.1Q tag.
const VLAN_TAG: i32 = 4;

/// Bytes of a full packet, and the largest quantum (Linux: Ethernet's).
const FULL_PACKET: u64 = 1514;

/// The settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) bandwidth: Option<Rate>,
    pub(super) acks: AckFilter,
    /// Whether what is dropped has taken the link.
    pub(super) ingress: bool,
    /// Mask of the firewall mark.
    pub(super) fwmark: u32,
    /// The bandwidth as given; `bandwidth` may be an estimate.
    pub(super) initial: Option<Rate>,
    limit: Size,
    /// Most bytes in the queue, as given and as derived from the bandwidth.
    memory: Option<u64>,
    buffer: u64,
    pub(super) framing: Framing,
    rtt: Span,
    mtu: u32,
}

/// The settings of a tin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    pub(super) law: Law,
    /// Time of a full packet at the tin's rate: sojourn times of a few are never too long.
    pub(super) packet: Span,
    /// Bytes that a flow may send in a round.
    pub(super) quantum: u32,
}

impl Settings {
    /// Reads the parameters that can change while running.
    pub(super) fn read(params: &Params, link: &Link) -> Result<Settings, ParamError> {
        let bandwidth = params.rate("bandwidth");
        let rtt = match params.get("rtt") {
            Value::Span(rtt) => *rtt,
            _ => round_trip(params.choice("path")),
        };
        let limit = params.size("limit").expect("limit has no auto");
        let memory = params.bytes("memlimit").map(Bytes::as_u64);
        let acks = params.choice("acks");
        let (framing, mtu) = (framing(params, link)?, link.mtu);
        let (ingress, fwmark) =
            (params.choice::<Direction>("direction") == Direction::Ingress, params.count("fwmark") as u32);
        let settings = Settings {
            bandwidth,
            initial: bandwidth,
            acks,
            ingress,
            fwmark,
            limit,
            memory,
            buffer: 0,
            framing,
            rtt,
            mtu,
        };
        Ok(settings.under(bandwidth))
    }

    /// The same with another bandwidth: unless given, the buffer holds four bandwidth-delay products, and at least 4
    /// MiB.
    pub(super) fn under(self, bandwidth: Option<Rate>) -> Settings {
        let under_way = |rate: Rate| (rate.bytes_in(self.rtt).as_u64() * 4).max(4 << 20);
        let buffer = self.memory.unwrap_or_else(|| bandwidth.map_or(u64::MAX, under_way));
        Settings { bandwidth, buffer, ..self }
    }

    /// Whether `backlog` exceeds the buffer.
    #[inline]
    pub(super) fn overfull(&self, backlog: Backlog) -> bool {
        backlog.exceeds(self.limit) || backlog.bytes > self.buffer
    }

    /// The settings of a tin with this share (behaviour of Linux `cake_set_rate`): a slower tin has a larger target
    /// of COBALT and a smaller quantum.
    pub(super) fn control(&self, share: &Share) -> Control {
        let target = self.rtt / 20;
        let packet =
            share.threshold.map_or(Span::ZERO, |rate| rate.time_for(Bytes::new(u64::from(self.mtu))));
        let own_target = target.max(packet * 3 / 2);
        let interval = (self.rtt + own_target.saturating_sub(target)).max(own_target * 2);
        let blue = blue::Params { increment: 1.0 / 256.0, decrement: 1.0 / 4096.0, freeze_time: own_target };
        // cake_dequeue: the last packet of a flow may be marked, not dropped.
        let last = Last::Marked;
        let law = Law { target: own_target, interval, ecn: true, blue, blue_threshold: None, last };
        let quantum = share
            .threshold
            .map_or(FULL_PACKET, |rate| (rate.as_bits_per_sec() / 8 / 4096).clamp(300, FULL_PACKET));
        Control { law, packet, quantum: quantum as u32 }
    }
}

/// Queues per tin.
pub(super) fn queues(params: &Params) -> Result<usize, ParamError> {
    let queues = params.count("queues") as usize;
    if queues.is_multiple_of(WAYS) {
        return Ok(queues);
    }
    Err(ParamError::relation("queues", queues, "is not a multiple of eight: sets have eight queues"))
}

/// The round-trip time of a keyword.
fn round_trip(trip: Trip) -> Span {
    match trip {
        Trip::Datacentre => Span::from_micros(100),
        Trip::Lan => Span::from_millis(1),
        Trip::Metro => Span::from_millis(10),
        Trip::Regional => Span::from_millis(30),
        Trip::Oceanic => Span::from_millis(300),
        Trip::Satellite => Span::from_secs(1),
        Trip::Interplanetary => Span::from_secs(3600),
        Trip::Internet => Span::from_millis(100),
    }
}

fn framing(params: &Params, link: &Link) -> Result<Framing, ParamError> {
    let mut framing = Framing::new(params.choice("link_layer"), link);
    if let Some(overhead) = params.signed_bytes("overhead") {
        (framing.overhead, framing.excluded) = (overhead as i32, link.overhead);
    }
    if params.flag("ether_vlan") {
        (framing.overhead, framing.excluded) = (framing.overhead + VLAN_TAG, link.overhead);
    }
    if let Some(mpu) = params.bytes("mpu") {
        framing.mpu = mpu.as_u64() as u32;
    }
    if let Some(cells) = params.choice_or_auto("cells") {
        framing.cells = cells;
    }
    Ok(framing)
}
