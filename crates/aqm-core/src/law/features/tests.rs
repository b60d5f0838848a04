use super::*;

const RAW: Params = Params {
    sample_interval: Span::from_millis(10),
    spacing: None,
    buffer_per_ms: true,
    smoothing: Span::ZERO,
};

fn ms(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

/// The features after departures at these instants, of packets that waited so long, with so many waiting, all in ms.
fn after(params: &Params, departures: &[(u64, u64, usize)]) -> Features {
    let mut extractor = Extractor::default();
    for &(now, sojourn, backlog) in departures {
        extractor.departing(params, ms(now), Span::from_millis(sojourn), backlog);
    }
    extractor.features()
}

fn of_sojourn(features: Features) -> [f64; 4] {
    [features[1], features[3], features[5], features[7]]
}

fn of_buffer(features: Features) -> [f64; 4] {
    [features[0], features[2], features[4], features[6]]
}

#[test]
fn derivatives_are_divided_differences_over_the_time_between_departures() {
    // s: 10, 14, 12, 12 at 0, 4, 8, 10 ms: s1 = 4/4, -2/4, 0/2; s2 = (-.5 - 1)/4, (0 + .5)/2; s3 = (.25 + .375)/2.
    let departures = [(0, 10, 1), (4, 14, 1), (8, 12, 1), (10, 12, 1)];
    assert_eq!(of_sojourn(after(&RAW, &departures[..1])), [10.0, 0.0, 0.0, 0.0]);
    assert_eq!(of_sojourn(after(&RAW, &departures[..2])), [14.0, 1.0, 0.0, 0.0]);
    assert_eq!(of_sojourn(after(&RAW, &departures[..3])), [12.0, -0.5, -0.375, 0.0]);
    assert_eq!(of_sojourn(after(&RAW, &departures)), [12.0, 0.0, 0.25, 0.3125]);
}

#[test]
fn the_buffer_is_sampled_at_the_first_departure_after_the_interval() {
    // Samples at 0 (5), 12 (17), 22 (17), 40 (8): 12/12, 0/10, -9/18; (0 - 1)/10, (-.5 - 0)/18.
    let departures = [(0, 0, 5), (9, 0, 9), (12, 0, 17), (21, 0, 30), (22, 0, 17), (31, 0, 40), (40, 0, 8)];
    assert_eq!(of_buffer(after(&RAW, &departures[..2])), [5.0, 0.0, 0.0, 0.0]);
    assert_eq!(of_buffer(after(&RAW, &departures[..3])), [17.0, 1.0, 0.0, 0.0]);
    assert_eq!(of_buffer(after(&RAW, &departures[..5])), [17.0, 0.0, -0.1, 0.0]);
    assert_eq!(of_buffer(after(&RAW, &departures[..6]))[0], 17.0);
    let [b, b1, b2, b3] = of_buffer(after(&RAW, &departures[..7]));
    assert_eq!((b, b1, b2, b3), (8.0, -0.5, -0.5 / 18.0, (-0.5 / 18.0 + 0.1) / 18.0));
}

#[test]
fn a_second_sample_at_the_same_instant_replaces_the_first() {
    let once = after(&RAW, &[(0, 10, 9), (10, 12, 8)]);
    assert_eq!(after(&RAW, &[(0, 10, 9), (10, 20, 11), (10, 17, 10), (10, 12, 8)]), once);
    assert_eq!((of_sojourn(once), of_buffer(once)), ([12.0, 0.2, 0.0, 0.0], [8.0, -0.1, 0.0, 0.0]));
    // The first sample of all has none before it.
    assert_eq!(after(&RAW, &[(3, 10, 9), (3, 12, 8)]), after(&RAW, &[(3, 12, 8)]));
}

#[test]
fn fixed_spacings_take_the_place_of_the_time_that_passed() {
    let fixed = Params { spacing: Some(Span::from_millis(2)), buffer_per_ms: false, ..RAW };
    // Per 2 ms, and per sample: -3/2 after 4/2, and 20 packets after none.
    let features = after(&fixed, &[(0, 10, 0), (50, 14, 20), (90, 11, 20)]);
    assert_eq!(of_sojourn(features), [11.0, -1.5, -1.75, 0.0]);
    assert_eq!(of_buffer(features), [20.0, 0.0, -20.0, 0.0]);
}

#[test]
fn a_smoothed_derivative_moves_a_part_of_the_way() {
    // h = 10, smoothing 30: a quarter of the way. s1: .4 (the first as it is), then .4 + (0 - .4)/4; s2: -.1/10 = -.01.
    let smooth = Params { smoothing: Span::from_millis(30), ..RAW };
    let [_, s1, s2, _] = of_sojourn(after(&smooth, &[(0, 10, 1), (10, 14, 1), (20, 14, 1)]));
    assert!((s1 - 0.3).abs() < 1e-15 && (s2 + 0.01).abs() < 1e-15, "{s1} {s2}");
    let [_, s1, s2, _] = of_sojourn(after(&smooth, &[(0, 10, 1), (10, 14, 1), (20, 14, 1), (30, 14, 1)]));
    // s1: .3 - .3/4 = .225; its change per ms -.0075, a quarter of the way there from -.01.
    assert!((s1 - 0.225).abs() < 1e-15 && (s2 + 0.009375).abs() < 1e-15, "{s1} {s2}");
}

#[test]
fn sojourn_time_never_rises_faster_than_time_in_a_queue_that_keeps_order() {
    let mut random = crate::random::Random::seeded(4);
    let (mut extractor, mut arrival, mut now) = (Extractor::default(), 0, 0);
    for _ in 0..10_000 {
        arrival += random.below(3_000_000);
        now = (now + 1 + random.below(2_000_000)).max(arrival);
        extractor.departing(&RAW, Time::from_nanos(now), Span::from_nanos(now - arrival), 1);
        assert!(extractor.features()[3] <= 1.0);
    }
}

#[test]
fn every_machine_has_the_same_features_to_the_last_bit() {
    let mut random = crate::random::Random::seeded(5);
    let smooth = Params { smoothing: Span::from_millis(30), ..RAW };
    let (mut raw, mut smoothed) = (Extractor::default(), Extractor::default());
    let (mut now, mut bits) = (0, 0_u64);
    for _ in 0..10_000 {
        now += 1 + random.below(3_000_000);
        let (sojourn, backlog) = (Span::from_nanos(random.below(200_000_000)), random.below(2000) as usize);
        raw.departing(&RAW, Time::from_nanos(now), sojourn, backlog);
        smoothed.departing(&smooth, Time::from_nanos(now), sojourn, backlog);
        for feature in [raw.features(), smoothed.features()].concat() {
            bits = bits.rotate_left(5) ^ feature.to_bits();
        }
    }
    assert_eq!(bits, 11_929_087_669_312_994_507);
}
