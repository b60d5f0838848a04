use super::super::airtime::Band;
use super::super::ampdu::{LONGEST_PPDU, Limits};
use super::super::aql;
use super::super::category::Category;
use super::super::edca::{Access, Countdown, Rules};
use super::super::errors::ModeTrace;
use super::super::rates::Mode;
use super::*;
use aqm_core::stations::Stations;
use std::collections::{BTreeMap, VecDeque};

const BE: Category = Category::BestEffort;
const DOWN: Queue = Queue { node: ACCESS_POINT, category: BE };

/// A packet that waits: its receiver, reference and octets.
type Waiting = (u8, u64, u32);

/// Who is next in a queue of the access point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    Fifo,
    /// The station that has used least airtime, of those with packets.
    Airtime,
}

/// Queues as a host has them.
pub(super) struct Host {
    order: Order,
    queues: BTreeMap<Queue, VecDeque<Waiting>>,
    airtime: [u64; 256],
    put: u64,
}

impl Host {
    pub(super) fn new(order: Order) -> Host {
        Host { order, queues: BTreeMap::new(), airtime: [0; 256], put: 0 }
    }

    pub(super) fn put(&mut self, queue: Queue, to: u8, octets: u32) -> u64 {
        let id = self.put;
        self.put += 1;
        self.queues.entry(queue).or_default().push_back((to, id, octets));
        id
    }

    fn waiting(&self) -> u64 {
        self.queues.values().map(|queue| queue.len() as u64).sum()
    }
}

impl Source for Host {
    fn peek(&mut self, queue: Queue, _now: Time, except: Stations) -> Option<u8> {
        let packets = self.queues.get(&queue)?;
        match self.order {
            Order::Fifo => packets.front().map(|packet| packet.0).filter(|to| !except.contains(*to)),
            Order::Airtime => {
                let receivers = packets.iter().map(|packet| packet.0).filter(|to| !except.contains(*to));
                receivers.min_by_key(|to| self.airtime[usize::from(*to)])
            }
        }
    }

    fn take(&mut self, queue: Queue, to: u8, now: Time) -> Option<Msdu> {
        let (is_fifo, next) = (self.order == Order::Fifo, self.peek(queue, now, Stations::NONE)?);
        let packets = self.queues.get_mut(&queue)?;
        // A single queue has nothing for another station than that of its first packet.
        let place =
            if is_fifo && next != to { None } else { packets.iter().position(|packet| packet.0 == to) };
        let (_, id, octets) = packets.remove(place?)?;
        Some(Msdu { id, octets })
    }

    fn waits(&mut self, queue: Queue, to: u8) -> bool {
        self.queues.get(&queue).is_some_and(|packets| packets.iter().any(|packet| packet.0 == to))
    }
}

fn mode(text: &str) -> Mode {
    text.parse().unwrap()
}

pub(super) fn station(text: &str, errors: Errors) -> Station {
    Station { modes: ModeTrace::fixed(mode(text)), errors, is_group: false }
}

/// All that listen to multicast.
fn group(text: &str, errors: Errors) -> Station {
    Station { is_group: true, ..station(text, errors) }
}

pub(super) fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// What a run has seen.
#[derive(Debug, Default)]
struct Seen {
    released: Vec<Released>,
    dropped: Vec<Dropped>,
    transmissions: Vec<Transmission>,
}

/// Polls until `until`, with a check after each call; `each` may put packets when a burst has ended.
fn run(
    channel: &mut Channel,
    host: &mut Host,
    from: Time,
    until: Time,
    mut each: impl FnMut(&mut Host, Time) -> Vec<Queue>,
) -> Seen {
    let (mut seen, mut now) = (Seen::default(), from);
    loop {
        let next = channel.poll(now, host);
        seen.dropped.extend(channel.take_dropped());
        match next {
            Next::Begun => seen.released.extend_from_slice(channel.released()),
            Next::Ended => {
                for sent in channel.ended() {
                    host.airtime[usize::from(sent.station())] += sent.airtime.as_nanos();
                }
                seen.transmissions.extend_from_slice(channel.ended());
                for queue in each(host, now) {
                    channel.wake(queue, now, host);
                }
            }
            Next::At(time) if time <= until => now = time,
            Next::At(_) | Next::Idle => return seen,
        }
        channel.check(now).unwrap();
    }
}

/// The three stations of "Ending the Anomaly" (USENIX ATC 2017, table 1), to which 60 Mbit/s of UDP each are offered: Mbit/s,
/// airtime shares and mean aggregates in octets.
fn saturated(order: Order, config: Config) -> ([f64; 3], [f64; 3], [f64; 3], [f64; 3]) {
    let modes = ["ht-mcs15-400ns", "ht-mcs15-400ns", "ht-mcs0-400ns"];
    let stations = modes.map(|text| station(text, Errors::None)).to_vec();
    let mut channel = Channel::new(config, stations, 1, "test").unwrap();
    let mut host = Host::new(order);
    let (seconds, mut offered, mut arrivals) = (10, 0, Random::stream(1, "arrivals"));
    // A packet each 66 µs on average, of a station by chance; the queue holds 1000, or 300 of each station.
    let fill = |host: &mut Host, now: Time| {
        while offered < now.as_nanos() / 66_667 {
            offered += 1;
            let to = arrivals.below(3) as u8;
            let queue = host.queues.entry(DOWN).or_default();
            let (is_full, own) = match order {
                Order::Fifo => (queue.len() >= 1000, 0),
                Order::Airtime => (false, queue.iter().filter(|packet| packet.0 == to).count()),
            };
            if !is_full && own < 300 {
                host.put(DOWN, to, 1500);
            }
        }
        vec![DOWN]
    };
    let mut fill = fill;
    fill(&mut host, at(10_000));
    channel.wake(DOWN, at(10_000), &mut host);
    run(&mut channel, &mut host, at(10_000), at(seconds * 1_000_000), fill);
    let totals = [0, 1, 2].map(|station| *channel.station(station));
    let all: u64 = totals.iter().map(|one| one.airtime().as_nanos()).sum();
    let rates = totals.map(|one| one.octets_down as f64 * 8.0 / 1e6 / seconds as f64);
    let shares = totals.map(|one| one.airtime().as_nanos() as f64 / all as f64);
    let aggregates = totals.map(|one| one.aggregate_mean_packets().unwrap() * 1544.0);
    let driver = totals.map(|one| one.driver.as_millis_f64() / one.released as f64);
    let total: f64 = rates.iter().sum();
    println!("{order:?}: {rates:.1?} {total:.1} {shares:.3?} {aggregates:.0?} {driver:.1?} ms");
    (rates, shares, aggregates, driver)
}

/// ath9k's driver takes 123 packets (ATH_MAX_QDEPTH).
fn above() -> Config {
    Config { driver: 123, ..Config::of(Band::Ghz5) }
}

#[test]
fn a_slow_station_takes_the_air_in_a_fifo_and_a_third_of_it_by_airtime() {
    let (fifo, shares, small, _) = saturated(Order::Fifo, above());
    // As in any FIFO to which equal loads are offered, each has the same. The paper measured 7.1 + 6.3 + 5.3 = 18.7 Mbit/s
    // and 79 % of the air, which is outside of what this channel gives (87 %): a deeper driver that gives up packets of the
    // slow station after their lifetime would have 80 %, but what the testbed lost, and where, is not known.
    let total: f64 = fifo.iter().sum();
    assert!((15.0..20.0).contains(&total), "{fifo:?}");
    assert!(fifo.iter().all(|rate| (rate / total * 3.0 - 1.0).abs() < 0.05), "{fifo:?}");
    assert!((0.74..0.90).contains(&shares[2]), "{shares:?}");
    let (fair, shares, large, _) = saturated(Order::Airtime, Config::of(Band::Ghz5));
    // 38.8 + 35.6 + 2.0 = 76.4 measured, 86.8 by the model.
    let total: f64 = fair.iter().sum();
    assert!((72.0..95.0).contains(&total), "{total}");
    for share in shares {
        assert!((share - 1.0 / 3.0).abs() < 0.02, "{shares:?}");
    }
    assert!(jain(&shares).unwrap() > 0.99);
    // Aggregates of the fast stations grow, those of the slow one do not.
    for fast in [0, 1] {
        assert!(large[fast] / small[fast] > 3.0, "{small:?} {large:?}");
    }
    assert!((small[2] - large[2]).abs() < 300.0, "{small:?} {large:?}");
}

#[test]
fn ns3_has_the_same_total_with_its_own_queue() {
    // ns-3.44: a queue of 500 packets in the MAC, served in the order of arrival, and aggregates of up to 5.484 ms that are
    // built when the medium is won. Measured there for these stations: 5.98 + 5.95 + 5.96 = 17.9 Mbit/s.
    let limits = Limits { time: LONGEST_PPDU, ..Limits::ATH9K };
    let order = DriverOrder::Oldest;
    let config = Config { limits, hardware: 0, driver: 500, order, access_point: Access::STATION, ..above() };
    let (rates, ..) = saturated(Order::Fifo, config);
    let total: f64 = rates.iter().sum();
    assert!((total / 17.9 - 1.0).abs() < 0.05, "{rates:?}");
}

#[test]
fn airtime_queue_limits_keep_a_device_short_and_its_throughput() {
    let deep = Config { driver: 1000, ..above() };
    let (free, _, _, long) = saturated(Order::Airtime, deep.clone());
    let (limited, _, _, short) = saturated(Order::Airtime, Config { aql: Some(aql::Limits::LINUX), ..deep });
    let total = |rates: [f64; 3]| rates.iter().sum::<f64>();
    // 12 ms of airtime last 36 ms if the station has a third of it, and one aggregate more may be ahead.
    assert!(long[2] > 300.0 && short.iter().all(|delay| *delay < 40.0), "{long:?} {short:?}");
    assert!(total(limited) > total(free), "{limited:?} {free:?}");
}

#[test]
fn an_exchange_has_these_times() {
    let mut channel =
        Channel::new(Config::of(Band::Ghz5), vec![station("ht-mcs0-400ns", Errors::None)], 1, "test")
            .unwrap();
    let mut host = Host::new(Order::Fifo);
    let first = host.put(DOWN, 0, 1500);
    channel.wake(DOWN, at(1000), &mut host);
    let seen = run(&mut channel, &mut host, at(1000), at(100_000), |_, _| vec![]);
    // AIFS 43 µs, then slots of 9: the next after 1000 is 1006. One MPDU of 1538 octets: 36 µs and 475 symbols of 3.6.
    let data = Span::from_micros(36) + Span::from_nanos(3_600) * 475;
    let [sent] = seen.transmissions[..] else { panic!("one transmission") };
    assert_eq!((sent.start, sent.ppdu), (at(1006), data));
    // SIFS 16, ACK at 6 Mbit/s 44.
    assert_eq!(sent.airtime, data + Span::from_micros(60));
    let [released] = seen.released[..] else { panic!("one packet") };
    assert_eq!((released.id, released.at), (first, at(1006) + data));
    assert_eq!((released.taken, released.first_sent), (at(1000), at(1006)));
}

#[test]
fn rts_and_cts_protect_long_frames() {
    let airtime = |rts_above| {
        let config = Config { rts_above, ..Config::of(Band::Ghz5) };
        let mut channel = Channel::new(config, vec![station("ht-mcs7", Errors::None)], 1, "test").unwrap();
        let mut host = Host::new(Order::Fifo);
        host.put(DOWN, 0, 1500);
        channel.wake(DOWN, at(0), &mut host);
        run(&mut channel, &mut host, at(0), at(100_000), |_, _| vec![]).transmissions[0].airtime
    };
    // At 24 Mbit/s: RTS 28, SIFS 16, CTS 28, SIFS 16.
    let more = airtime(Some(1000)).saturating_sub(airtime(None));
    assert_eq!((more, airtime(Some(2000))), (Span::from_micros(88), airtime(None)));
}

#[test]
fn lost_mpdus_are_sent_again_and_released_in_order() {
    for missed in [Missed::Retransmit, Missed::Request] {
        let config = Config { missed, response_loss: 0.1, ..Config::of(Band::Ghz5) };
        let stations = vec![station("ht-mcs7", Errors::Rate(0.2))];
        let mut channel = Channel::new(config, stations, 1, "test").unwrap();
        let mut host = Host::new(Order::Fifo);
        for _ in 0..2000 {
            host.put(DOWN, 0, 1500);
        }
        channel.wake(DOWN, at(0), &mut host);
        let seen = run(&mut channel, &mut host, at(0), at(30_000_000), |_, _| vec![DOWN]);
        let order: Vec<u64> = seen.released.iter().map(|one| one.id).collect();
        assert!(order.windows(2).all(|pair| pair[0] < pair[1]), "{missed:?}");
        assert_eq!(seen.released.len() + seen.dropped.len(), 2000, "{missed:?}");
        // 0.2 to the power of 8 of an MPDU is lost.
        assert!(seen.dropped.len() < 3, "{missed:?}: {:?}", seen.dropped);
        let again = channel.station(0).retry_ratio().unwrap();
        assert!((0.15..0.35).contains(&again), "{missed:?}: {again}");
        assert!(seen.released.iter().any(|one| one.at > one.received), "{missed:?}");
        // A mean aggregate leaves out what only asks for a block ACK.
        let sizes: Vec<u16> = seen.transmissions.iter().map(|one| one.mpdus).collect();
        let data = sizes.iter().filter(|size| **size > 0).count() as f64;
        let mean = sizes.iter().map(|size| f64::from(*size)).sum::<f64>() / data;
        assert_eq!(channel.station(0).aggregate_mean_packets().unwrap(), mean, "{missed:?}");
        assert_eq!(sizes.contains(&0), missed == Missed::Request);
    }
}

#[test]
fn nothing_holds_back_what_follows_a_packet_that_is_given_up() {
    // Of eight attempts, half the packets of the worst station lose all: block ACK requests move the window on.
    let config = Config { retries: 1, ..Config::of(Band::Ghz5) };
    let mut channel = Channel::new(config, vec![station("ht-mcs7", Errors::Rate(0.6))], 1, "test").unwrap();
    let mut host = Host::new(Order::Fifo);
    for _ in 0..1000 {
        host.put(DOWN, 0, 1500);
    }
    channel.wake(DOWN, at(0), &mut host);
    let seen = run(&mut channel, &mut host, at(0), at(30_000_000), |_, _| vec![DOWN]);
    let lost = seen.dropped.iter().filter(|one| one.cause == DropCause::Retries).count() as f64 / 1000.0;
    assert!((lost - 0.36).abs() < 0.06, "{lost}");
    assert_eq!(seen.released.len() + seen.dropped.len(), 1000);
}

#[test]
fn stations_and_the_access_point_share_the_air_in_both_directions() {
    let stations = vec![station("ht-mcs7", Errors::None); 4];
    let mut channel = Channel::new(Config::of(Band::Ghz5), stations, 1, "test").unwrap();
    let mut host = Host::new(Order::Airtime);
    let fill = |host: &mut Host, _: Time| {
        let mut queues = vec![DOWN];
        for node in 0..4 {
            let up = Queue { node, category: BE };
            for (queue, to) in [(DOWN, node), (up, ACCESS_POINT)] {
                let waiting =
                    host.queues.entry(queue).or_default().iter().filter(|packet| packet.0 == to).count();
                for _ in waiting..100 {
                    host.put(queue, to, 1500);
                }
            }
            queues.push(up);
        }
        queues
    };
    let queues = fill(&mut host, at(0));
    queues.iter().for_each(|queue| channel.wake(*queue, at(0), &mut host));
    run(&mut channel, &mut host, at(0), at(30_000_000), fill);
    let up = [0, 1, 2, 3].map(|station| channel.station(station).airtime_up.as_nanos() as f64);
    assert!(jain(&up).unwrap() > 0.98, "{up:?}");
    let down: f64 = (0..4).map(|station| channel.station(station).airtime_down.as_nanos() as f64).sum();
    // Five contenders: the access point has a fifth of the opportunities, a little more by its smaller window.
    assert!((0.7..1.6).contains(&(down / up[0])), "{}", down / up[0]);
    let collided = channel.station(0).collision_ratio().unwrap();
    // Bianchi's p for five stations with a window of 16 is near 0.29.
    assert!((0.2..0.36).contains(&collided), "{collided}");
    assert!(channel.medium().busy.as_secs_f64() > 27.0);
}

#[test]
fn voice_goes_before_best_effort_and_uses_its_txop() {
    let stations = vec![station("ht-mcs7", Errors::None)];
    let mut channel = Channel::new(Config::of(Band::Ghz5), stations, 1, "test").unwrap();
    let mut host = Host::new(Order::Fifo);
    let voice = Queue { node: ACCESS_POINT, category: Category::Voice };
    let fill = |host: &mut Host, _: Time| {
        for queue in [voice, DOWN] {
            while host.queues.get(&queue).is_none_or(|waiting| waiting.len() < 200) {
                host.put(queue, 0, 1500);
            }
        }
        vec![voice, DOWN]
    };
    for queue in fill(&mut host, at(0)) {
        channel.wake(queue, at(0), &mut host);
    }
    let seen = run(&mut channel, &mut host, at(0), at(2_000_000), fill);
    let of = |queue: Queue| seen.transmissions.iter().filter(|one| one.queue == queue).collect::<Vec<_>>();
    // CW 3 to 7 and AIFSN 1 against 15 and 3.
    let (voice, best) = (of(voice), of(DOWN));
    assert!(voice.len() > 2 * best.len(), "{} {}", voice.len(), best.len());
    assert!(seen.transmissions.iter().all(|one| one.outcome == Outcome::Answered));
}

#[test]
fn a_txop_has_several_exchanges_a_sifs_apart() {
    let mut config = Config { limits: Limits { mpdus: 1, ..Limits::ATH9K }, ..Config::of(Band::Ghz5) };
    config.access_point[Category::Voice as usize].txop = Span::from_micros(1500);
    let mut channel = Channel::new(config, vec![station("ht-mcs7", Errors::None)], 1, "test").unwrap();
    let mut host = Host::new(Order::Fifo);
    let voice = Queue { node: ACCESS_POINT, category: Category::Voice };
    for _ in 0..100 {
        host.put(voice, 0, 1500);
    }
    channel.wake(voice, at(0), &mut host);
    let seen = run(&mut channel, &mut host, at(0), at(1_000_000), |_, _| vec![]);
    let mut held = at(0);
    let mut burst = 0;
    for pair in seen.transmissions.windows(2) {
        let gap = pair[1].start.since(pair[0].start + pair[0].airtime);
        if gap == Span::from_micros(16) {
            burst += 1;
            assert!((pair[1].start + pair[1].airtime).since(held) <= Span::from_micros(1500));
        } else {
            assert!(gap > Span::from_micros(16));
            held = pair[1].start;
        }
    }
    // Five of 272 µs and SIFS fit into 1.5 ms.
    assert!(burst > 70, "{burst}");
}

#[test]
fn an_aggregate_and_its_block_ack_fit_into_a_txop() {
    // At 65 Mbit/s 21 MPDUs fit into the 4.096 ms of IEEE 802.11-2020 and 15 into hostapd's 3 ms, where 4 ms of a PPDU have
    // 20; 21 is what ns-3.44 sends. A single MPDU may take longer.
    for (txop, mode, most) in
        [(4_096, "ht-mcs7", 21), (3_000, "ht-mcs7", 15), (0, "ht-mcs7", 28), (1_000, "ht-mcs0", 1)]
    {
        let limits = Limits { time: LONGEST_PPDU, ..Limits::ATH9K };
        let mut config = Config { limits, ..Config::of(Band::Ghz5) };
        config.access_point[Category::Video as usize].txop = Span::from_micros(txop);
        let mut channel = Channel::new(config, vec![station(mode, Errors::None)], 1, "test").unwrap();
        let mut host = Host::new(Order::Fifo);
        let video = Queue { node: ACCESS_POINT, category: Category::Video };
        (0..200).for_each(|_| {
            host.put(video, 0, 1500);
        });
        channel.wake(video, at(0), &mut host);
        let seen = run(&mut channel, &mut host, at(0), at(1_000_000), |_, _| vec![]);
        assert_eq!(seen.transmissions.iter().map(|one| one.mpdus).max(), Some(most), "{txop} {mode}");
        let fits = |one: &Transmission| txop == 0 || most == 1 || one.airtime <= Span::from_micros(txop);
        assert!(seen.transmissions.iter().all(fits), "{txop}");
    }
}

#[test]
fn a_station_that_leaves_blocks_nobody() {
    let stations = vec![station("ht-mcs7", Errors::None), station("ht-mcs0", Errors::Rate(0.3))];
    for driver in [0, 123] {
        let config = Config { driver, ..Config::of(Band::Ghz5) };
        let mut channel = Channel::new(config, stations.clone(), 1, "test").unwrap();
        let mut host = Host::new(Order::Fifo);
        let up = Queue { node: 1, category: BE };
        for number in 0..600 {
            host.put(DOWN, (number % 2) as u8, 1500);
        }
        for _ in 0..100 {
            host.put(up, ACCESS_POINT, 1500);
        }
        [DOWN, up].iter().for_each(|queue| channel.wake(*queue, at(0), &mut host));
        let before = run(&mut channel, &mut host, at(0), at(20_000), |_, _| vec![]);
        // The host forgets it, too.
        host.queues.values_mut().for_each(|queue| queue.retain(|packet| packet.0 == 0));
        channel.leave(1, at(20_000), &mut host);
        channel.check(at(20_000)).unwrap();
        let after = run(&mut channel, &mut host, at(20_000), at(10_000_000), |_, _| vec![]);
        let ids =
            |seen: &Seen| seen.released.iter().filter(|one| one.queue == DOWN && one.id % 2 == 0).count();
        assert_eq!(ids(&before) + ids(&after), 300, "driver {driver}");
        let late = after.transmissions.iter().filter(|one| one.station() == 1 && one.start > at(40_000));
        assert_eq!(late.count(), 0, "driver {driver}");
    }
}

#[test]
fn multicast_leaves_once_at_its_basic_rate() {
    for (errors, arrive) in [(Errors::None, 50..=50), (Errors::Rate(0.5), 15..=35)] {
        let stations = vec![station("ht-mcs7", Errors::Rate(0.5)), group("ofdm-6", errors)];
        let mut channel = Channel::new(Config::of(Band::Ghz5), stations, 1, "test").unwrap();
        let mut host = Host::new(Order::Fifo);
        for _ in 0..50 {
            host.put(DOWN, 1, 1000);
        }
        channel.wake(DOWN, at(0), &mut host);
        let seen = run(&mut channel, &mut host, at(0), at(1_000_000), |_, _| vec![]);
        // What is lost is not sent again.
        assert!(arrive.contains(&seen.released.len()), "{}", seen.released.len());
        assert_eq!((seen.released.len() + seen.dropped.len(), seen.transmissions.len()), (50, 50));
        // 20 µs and 346 symbols of 4 for 1036 octets at 6 Mbit/s, one MPDU each; no response.
        let expected = Span::from_micros(20 + 4 * (16u64 + 8 * 1036 + 6).div_ceil(24));
        assert_eq!(expected, Span::from_micros(1_408));
        let is_plain = |one: &&Transmission| one.airtime == expected && one.again == 0 && one.mpdus == 1;
        assert_eq!(seen.transmissions.iter().filter(is_plain).count(), 50);
        assert_eq!(channel.medium().busy, expected * 50);
        // A gap is at least AIFS: SIFS and three slots.
        let gap = |pair: &[Transmission]| pair[1].start.since(pair[0].start + pair[0].airtime);
        assert!(seen.transmissions.windows(2).all(|pair| gap(pair) >= Span::from_micros(43)));
    }
}

#[test]
fn multicast_that_collides_is_lost() {
    let stations = vec![station("ofdm-54", Errors::None), group("ofdm-6", Errors::None)];
    let mut channel = Channel::new(Config::of(Band::Ghz5), stations, 1, "test").unwrap();
    let mut host = Host::new(Order::Fifo);
    let up = Queue { node: 0, category: BE };
    for _ in 0..2_000 {
        host.put(DOWN, 1, 1000);
        host.put(up, ACCESS_POINT, 1500);
    }
    [DOWN, up].iter().for_each(|queue| channel.wake(*queue, at(0), &mut host));
    let seen = run(&mut channel, &mut host, at(0), at(60_000_000), |_, _| vec![]);
    let of_group = |one: &&Transmission| one.to == 1;
    let collided = |one: &&Transmission| of_group(one) && one.outcome == Outcome::Collided;
    let lost = seen.transmissions.iter().filter(collided).count();
    // Windows of 15 and 15: about one in ten.
    assert!((50..400).contains(&lost) && seen.dropped.len() == lost, "{lost} {}", seen.dropped.len());
    assert_eq!(seen.transmissions.iter().filter(of_group).count(), 2_000);
}

/// A channel by chance, with everything that it can have.
fn by_chance(random: &mut Random) -> (Channel, u8) {
    let below = |random: &mut Random, bound| random.below(bound);
    let rates =
        ["dsss-11", "ofdm-6", "ofdm-54", "ht-mcs0", "ht-mcs15-400ns", "vht-mcs8-2ss-80mhz", "he-mcs11"];
    let count = 1 + below(random, 5) as u8;
    let stations = (0..count).map(|_| {
        let modes = (0..3).map(|step| (at(step * 300_000), mode(rates[below(random, 7) as usize]))).collect();
        let errors = match below(random, 3) {
            0 => Errors::None,
            1 => Errors::Rate(below(random, 9) as f64 / 10.0),
            _ => Errors::Snr(5.0 + below(random, 35) as f64),
        };
        Station { modes: ModeTrace::new(modes).unwrap(), errors, is_group: false }
    });
    let all: Vec<Station> = stations.collect();
    let errors = if below(random, 2) == 0 { Errors::None } else { Errors::Rate(0.3) };
    let stations = all.into_iter().chain([group("ofdm-6", errors)]).collect();
    let config = Config {
        rules: Rules {
            countdown: if below(random, 2) == 0 { Countdown::AtEnd } else { Countdown::AtStart },
            eifs: below(random, 2) == 0,
            ..Rules::default()
        },
        limits: Limits {
            mpdus: [1, 2, 64, 256][below(random, 4) as usize],
            octets: [3_000, 65_535, 1_048_575][below(random, 3) as usize],
            time: [Span::from_millis(1), Span::from_millis(4), LONGEST_PPDU][below(random, 3) as usize],
            cipher: 16 * below(random, 2) as u16,
        },
        window: [1, 8, 64, 256][below(random, 4) as usize],
        retries: below(random, 10) as u8,
        lifetime: Span::from_millis([5, 50, 512][below(random, 3) as usize]),
        missed: if below(random, 2) == 0 { Missed::Retransmit } else { Missed::Request },
        response_loss: [0.0, 0.05, 0.4][below(random, 3) as usize],
        rts_above: [None, Some(0), Some(2000)][below(random, 3) as usize],
        hardware: below(random, 4) as u8,
        driver: [0, 0, 3, 123][below(random, 4) as usize],
        order: [DriverOrder::Turns, DriverOrder::Oldest][below(random, 2) as usize],
        aql: [None, Some(aql::Limits::LINUX)][below(random, 2) as usize],
        ..Config::of(if below(random, 2) == 0 { Band::Ghz5 } else { Band::Ghz2_4 })
    };
    (Channel::new(config, stations, random.next_u64(), "chance").unwrap(), count)
}

#[test]
fn packets_are_conserved_in_channels_by_chance() {
    // 3000 have passed; fewer keep the tests short.
    for seed in 0..300 {
        let mut random = Random::stream(seed, "chance");
        let (mut channel, count) = by_chance(&mut random);
        let mut host = Host::new(if random.below(2) == 0 { Order::Fifo } else { Order::Airtime });
        let (mut seen, mut now, mut left) = (Seen::default(), at(0), 0);
        for step in 0..8 {
            for _ in 0..random.below(60) {
                let category = Category::ALL[random.below(4) as usize];
                let station = random.below(u64::from(count)) as u8;
                let is_up = random.below(3) == 0;
                // The last one is the group.
                let to = if random.below(20) == 0 { count } else { station };
                let (node, to) = if is_up { (station, ACCESS_POINT) } else { (ACCESS_POINT, to) };
                let queue = Queue { node, category };
                host.put(queue, to, 40 + random.below(1461) as u32);
                channel.wake(queue, now, &mut host);
                seen.dropped.extend(channel.take_dropped());
            }
            if step == 5 && random.below(4) == 0 && count > 1 {
                let gone = random.below(u64::from(count)) as u8;
                for (queue, packets) in &mut host.queues {
                    let before = packets.len();
                    packets.retain(|packet| packet.0 != gone && queue.node != gone);
                    left += (before - packets.len()) as u64;
                }
                channel.leave(gone, now, &mut host);
                seen.dropped.extend(channel.take_dropped());
            }
            let end = if step == 7 { at(3_600_000_000) } else { now + Span::from_millis(random.below(50)) };
            let part = run(&mut channel, &mut host, now, end, |_, _| vec![]);
            now = end;
            seen.released.extend(part.released);
            seen.dropped.extend(part.dropped);
            seen.transmissions.extend(part.transmissions);
        }
        let total = seen.released.len() + seen.dropped.len();
        assert_eq!(total as u64 + host.waiting() + left, host.put, "seed {seed}: {:?}", channel.config);
        assert_eq!(host.waiting(), 0, "seed {seed}: {:?}", channel.config);
        let mut ids: Vec<u64> = seen.released.iter().map(|one| one.id).collect();
        ids.extend(seen.dropped.iter().map(|one| one.id));
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "seed {seed}: a packet twice");
        for pair in seen.transmissions.windows(2) {
            let (first, second) = (&pair[0], &pair[1]);
            let apart = second.start >= first.start + first.airtime || second.start == first.start;
            assert!(apart, "seed {seed}: {first:?} {second:?}");
        }
    }
}
