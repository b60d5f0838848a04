use super::*;
use crate::mac::airtime::{Band, Control};
use crate::mac::rates::Mode;

fn micros(number: u64) -> Span {
    Span::from_micros(number)
}

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// What saturated stations get of a channel on which a success and a collision take so long: the share of the time in
/// which payload of `payload` is sent, and the share of attempts that collide.
struct Saturated {
    rules: Rules,
    access: Access,
    timing: Timing,
    payload: Span,
    /// From the start until the medium is idle, and how long a sender waits for a response then.
    success: Span,
    collision: Span,
    timeout: Span,
}

impl Saturated {
    fn run(&self, stations: u16, seed: u64, attempts: usize) -> (f64, f64) {
        let mut contention = Contention::new(&self.timing, self.rules, Random::stream(seed, "contention"));
        for node in 0..stations {
            let id = contention.add(node, Category::BestEffort, self.access, &self.timing);
            contention.contenders[id].draw(&mut contention.random);
            contention.ready(id, Time::ZERO);
        }
        let (mut start, mut now) = (Start::default(), Time::ZERO);
        let (mut payload, mut sent, mut collided) = (Span::ZERO, 0, 0);
        while sent < attempts {
            let begin = contention.next_start().unwrap();
            contention.begin(begin, &mut start);
            sent += start.winners.len();
            if let [one] = start.winners[..] {
                contention.succeeded(one);
                payload += self.payload;
                now = begin + self.success;
                contention.end(now, false, &[], &self.timing);
            } else {
                collided += start.winners.len();
                now = begin + self.collision;
                let timeouts =
                    start.winners.iter().map(|id| (contention.contenders[*id].node, now + self.timeout));
                let timeouts: Vec<_> = timeouts.collect();
                start.winners.iter().for_each(|id| contention.failed(*id));
                contention.end(now, true, &timeouts, &self.timing);
            }
        }
        (payload.as_nanos() as f64 / now.as_nanos() as f64, f64::from(collided as u32) / sent as f64)
    }

    /// The means of some seeds.
    fn mean(&self, stations: u16, attempts: usize) -> (f64, f64) {
        let runs: Vec<_> = (1..=4).map(|seed| self.run(stations, seed, attempts)).collect();
        let mean = |of: fn(&(f64, f64)) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        (mean(|run| run.0), mean(|run| run.1))
    }
}

/// Bianchi's FHSS channel (JSAC 18(3), 2000, table II): 1 Mbit/s, so that a bit takes a microsecond.
fn bianchi(window: u16, stages: u32, rts: bool) -> Saturated {
    let (payload, headers, delay) = (8184, 272 + 128, 1);
    let (slot, sifs, difs) = (50, 28, 128);
    let (ack, rts_frame, cts) = (112 + 128, 160 + 128, 112 + 128);
    let data = headers + payload;
    // Equations 14 and 17, without the DIFS that contention waits for.
    let (mut success, mut collision) = (data + sifs + delay + ack + delay, data + delay);
    if rts {
        success += rts_frame + sifs + delay + cts + sifs + delay;
        collision = rts_frame + delay;
    }
    let timing = Timing { slot: micros(slot), sifs: micros(difs - 2 * slot), ..Timing::of(Band::Ghz5) };
    Saturated {
        rules: Rules { countdown: Countdown::AtStart, eifs: false, blind: Span::from_nanos(1) },
        access: Access { aifsn: 2, cw_min: window - 1, cw_max: (window << stages) - 1, txop: Span::ZERO },
        timing,
        payload: micros(payload),
        success: micros(success),
        collision: micros(collision),
        timeout: Span::ZERO,
    }
}

/// Bianchi's equations 7 and 9, solved by bisection.
fn tau_and_p(window: f64, stages: u32, stations: f64) -> (f64, f64) {
    let tau_of = |p: f64| {
        let sum: f64 = (0..stages).map(|stage| (2.0 * p).powi(stage as i32)).sum();
        2.0 / (1.0 + window + p * window * sum)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let p = (low + high) / 2.0;
        let collides = 1.0 - (1.0 - tau_of(p)).powf(stations - 1.0);
        if collides > p { low = p } else { high = p }
    }
    (tau_of(low), low)
}

/// Equation 13.
fn throughput(channel: &Saturated, window: f64, stages: u32, stations: f64) -> f64 {
    let (tau, _) = tau_and_p(window, stages, stations);
    let sends = 1.0 - (1.0 - tau).powf(stations);
    let succeeds = stations * tau * (1.0 - tau).powf(stations - 1.0) / sends;
    let nanos = |span: Span| span.as_nanos() as f64;
    let difs = channel.timing.aifs(2);
    let (success, collision) = (nanos(channel.success + difs), nanos(channel.collision + difs));
    let slot = (1.0 - sends) * nanos(channel.timing.slot);
    sends * succeeds * nanos(channel.payload)
        / (slot + sends * succeeds * success + sends * (1.0 - succeeds) * collision)
}

#[test]
fn saturation_is_that_of_bianchis_formulas() {
    // By the formulas: p, S of basic access, S with RTS and CTS.
    let rows = [
        (
            32,
            3,
            [
                (5, 0.179, 0.810, 0.834),
                (10, 0.299, 0.753, 0.837),
                (20, 0.430, 0.679, 0.836),
                (50, 0.609, 0.553, 0.827),
            ],
        ),
        (
            32,
            5,
            [
                (5, 0.178, 0.810, 0.834),
                (10, 0.290, 0.758, 0.837),
                (20, 0.399, 0.698, 0.836),
                (50, 0.532, 0.611, 0.832),
            ],
        ),
        (
            128,
            3,
            [
                (5, 0.057, 0.825, 0.798),
                (10, 0.115, 0.826, 0.822),
                (20, 0.202, 0.798, 0.833),
                (50, 0.351, 0.725, 0.836),
            ],
        ),
    ];
    for (window, stages, row) in rows {
        for (stations, p, basic, rts) in row {
            let channels = [bianchi(window, stages, false), bianchi(window, stages, true)];
            let (_, formula) = tau_and_p(f64::from(window), stages, f64::from(stations));
            assert!((formula - p).abs() < 0.001, "p {formula} {p}");
            for (channel, expected) in channels.iter().zip([basic, rts]) {
                let formula = throughput(channel, f64::from(window), stages, f64::from(stations));
                assert!((formula - expected).abs() < 0.001, "formula {formula} {expected}");
                let (simulated, collided) = channel.mean(stations, 30_000);
                let off = simulated / formula - 1.0;
                assert!(off.abs() < 0.01, "W {window} m {stages} n {stations}: {simulated} {formula}");
                assert!((collided - p).abs() < 0.012, "W {window} m {stages} n {stations}: {collided} {p}");
            }
        }
    }
}

/// The channel of ns-3's `wifi-bianchi`: 1500 octets of payload in MPDUs of `octets`, no aggregation.
fn ns3(mode: &str, octets: u64, eifs: bool) -> Saturated {
    let timing = Timing::of(Band::Ghz5);
    let mode: Mode = mode.parse().unwrap();
    let data = timing.ppdu(&mode, octets);
    // Stations with QoS have EDCA.
    let countdown = if mode.format().aggregates() { Countdown::AtStart } else { Countdown::AtEnd };
    Saturated {
        rules: Rules { countdown, eifs, ..Rules::default() },
        access: Access::DCF,
        payload: micros(1500 * 8),
        success: data + timing.sifs + timing.control(&mode, Control::Ack),
        collision: data,
        timeout: timing.response_timeout(&mode),
        timing,
    }
}

#[test]
fn saturation_is_that_of_ns3s_validation() {
    // src/wifi/examples/wifi-bianchi.cc, bianchiResultsEifs and bianchiResultsDifs; Mbit/s of payload.
    let rows: [(&str, u64, bool, [f64; 4]); 8] = [
        ("ofdm-6", 1534, true, [4.690, 4.320, 3.959, 3.471]),
        ("ofdm-6", 1534, false, [4.709, 4.345, 3.990, 3.507]),
        ("ofdm-24", 1534, true, [16.084, 14.915, 13.730, 12.089]),
        ("ofdm-24", 1534, false, [16.247, 15.143, 14.007, 12.414]),
        ("ofdm-54", 1534, true, [29.286, 27.376, 25.333, 22.416]),
        ("ofdm-54", 1534, false, [29.832, 28.152, 26.293, 23.562]),
        ("he-mcs0", 1538, true, [6.338, 5.817, 5.315, 4.632]),
        ("he-mcs11", 1538, true, [41.807, 39.275, 36.428, 32.216]),
    ];
    for (mode, octets, eifs, row) in rows {
        let channel = ns3(mode, octets, eifs);
        for (stations, printed) in [5, 10, 20, 50].into_iter().zip(row) {
            let (share, _) = channel.mean(stations, 20_000);
            // A payload of one bit a microsecond: the share of time is in Mbit/s.
            let off = share / printed - 1.0;
            println!("{mode} eifs {eifs} n {stations}: {share:.3} {printed} {:+.2} %", 100.0 * off);
            assert!(off.abs() < 0.03, "{mode} eifs {eifs} n {stations}: {share} {printed}");
        }
    }
}

/// Contenders of best effort, each of another node, with backoffs as given.
fn contention(backoffs: &[u32], rules: Rules) -> (Contention, Timing) {
    let timing = Timing::of(Band::Ghz5);
    let mut contention = Contention::new(&timing, rules, Random::seeded(1));
    for (node, backoff) in backoffs.iter().enumerate() {
        let access = Access::STATION[Category::BestEffort as usize];
        let id = contention.add(node as u16, Category::BestEffort, access, &timing);
        contention.contenders[id].backoff = Some(*backoff);
        contention.ready(id, Time::ZERO);
    }
    (contention, timing)
}

fn backoffs(contention: &Contention) -> Vec<Option<u32>> {
    contention.contenders.iter().map(|contender| contender.backoff).collect()
}

#[test]
fn the_smallest_backoff_wins_and_the_others_keep_the_rest() {
    // The slot in which another sends counts in EDCA, but not in DCF.
    for (countdown, left) in
        [(Countdown::AtEnd, [Some(3), None, Some(7)]), (Countdown::AtStart, [Some(2), None, Some(6)])]
    {
        let (mut contention, timing) = contention(&[5, 2, 9], Rules { countdown, ..Rules::default() });
        let mut start = Start::default();
        // AIFS 43 µs and two slots.
        assert_eq!(contention.next_start(), Some(at(61)));
        contention.begin(at(61), &mut start);
        assert_eq!((start.winners.as_slice(), contention.next_start()), (&[1][..], None));
        assert_eq!(backoffs(&contention), left);
        contention.succeeded(1);
        contention.withdraw(1);
        contention.end(at(1000), false, &[], &timing);
        assert_eq!(contention.next_start(), Some(at(1000 + 43) + micros(9) * u64::from(left[0].unwrap())));
    }
}

#[test]
fn equal_backoffs_collide_and_double_their_windows() {
    let (mut contention, timing) = contention(&[4, 4, 5], Rules::default());
    let mut start = Start::default();
    contention.begin(at(43 + 36), &mut start);
    assert_eq!(start.winners, [0, 1]);
    start.winners.iter().for_each(|id| contention.failed(*id));
    assert_eq!([0, 1, 2].map(|id| contention.contenders[id].cw), [31, 31, 15]);
    // EIFS is SIFS 16, ACK 44 and AIFS 43; who sent waits for its timeout and AIFS.
    contention.end(at(500), true, &[(0, at(545)), (1, at(545))], &timing);
    assert_eq!([0, 2].map(|id| contention.contenders[id].from), [at(545 + 43), at(500 + 103)]);
    for _ in 0..9 {
        contention.failed(0);
    }
    assert_eq!(contention.contenders[0].cw, 1023);
    contention.succeeded(0);
    assert_eq!(contention.contenders[0].cw, 15);
}

#[test]
fn without_eifs_all_wait_for_aifs() {
    let (mut contention, timing) = contention(&[4, 4, 5], Rules { eifs: false, ..Rules::default() });
    let mut start = Start::default();
    contention.begin(at(43 + 36), &mut start);
    contention.end(at(500), true, &[(0, at(545)), (1, at(545))], &timing);
    assert_eq!([0, 2].map(|id| contention.contenders[id].from), [at(543), at(543)]);
}

#[test]
fn the_higher_category_of_a_node_sends_and_the_lower_draws_again() {
    let timing = Timing::of(Band::Ghz5);
    let mut contention = Contention::new(&timing, Rules::default(), Random::seeded(1));
    // AIFS of 3 slots and a backoff of 1; of 2 slots and a backoff of 2: the same slot.
    for (category, backoff) in [(Category::BestEffort, 1), (Category::Voice, 2)] {
        let id = contention.add(0, category, Access::STATION[category as usize], &timing);
        contention.contenders[id].backoff = Some(backoff);
        contention.ready(id, Time::ZERO);
    }
    let (mut start, begin) = (Start::default(), contention.next_start().unwrap());
    assert_eq!(begin, at(16 + 27 + 9));
    contention.begin(begin, &mut start);
    assert_eq!((start.winners.as_slice(), start.deferred.as_slice()), (&[1][..], &[0][..]));
}

#[test]
fn who_comes_to_a_medium_that_is_idle_sends_at_the_next_slot() {
    let timing = Timing::of(Band::Ghz5);
    let mut contention = Contention::new(&timing, Rules::default(), Random::seeded(1));
    let id = contention.add(0, Category::BestEffort, Access::DCF, &timing);
    contention.ready(id, at(100));
    // 34 µs and eight slots of 9.
    assert_eq!(contention.next_start(), Some(at(106)));
    contention.withdraw(id);
    assert_eq!(contention.next_start(), None);
    // Within the AIFS, and while another sends, it draws a backoff.
    let mut start = Start::default();
    let other = contention.add(1, Category::BestEffort, Access::DCF, &timing);
    contention.ready(other, at(200));
    let begin = contention.next_start().unwrap();
    contention.begin(begin, &mut start);
    contention.ready(id, at(210));
    assert!(backoffs(&contention)[id].is_some());
}

#[test]
fn a_backoff_after_sending_is_over_after_a_while_without_packets() {
    let (mut contention, timing) = contention(&[3, 30], Rules::default());
    let mut start = Start::default();
    contention.withdraw(0);
    contention.withdraw(1);
    let other = contention.add(2, Category::BestEffort, Access::DCF, &timing);
    contention.ready(other, at(100));
    // Seven slots since AIFS, and the one in which another sends.
    let begin = contention.next_start().unwrap();
    contention.begin(begin, &mut start);
    assert_eq!(backoffs(&contention)[..2], [None, Some(30 - 8)]);
}

#[test]
fn windows_that_are_none_are_refused() {
    let line = |access: Access| access.check().unwrap_err().to_string();
    assert!(Access::STATION.iter().chain(&Access::ACCESS_POINT).all(|access| access.check().is_ok()));
    let dcf = Access::DCF;
    assert_eq!(
        line(Access { cw_min: 16, ..dcf }),
        "cw_min is 16: a power of two less one, from 0 to 32767, is allowed"
    );
    assert_eq!(line(Access { cw_min: 31, cw_max: 15, ..dcf }), "cw_min is 31: it is above cw_max 15");
    assert_eq!(line(Access { aifsn: 0, ..dcf }), "aifsn is 0: allowed is 1 to 15");
}
