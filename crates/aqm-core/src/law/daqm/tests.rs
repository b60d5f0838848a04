use super::*;

const LAW: Params = Params {
    thresholds: CONFIGURATIONS[1].thresholds,
    gate_s: 5.0,
    gate_b: 5.0,
    absolute: false,
    rates: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
    durations: [Span::from_millis(400); 8],
    update_step: 0.0,
};

fn ms(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

#[test]
fn the_configurations_are_those_of_table_iii() {
    let printed = [
        ([120.0, 1000.0, 1.0, 10.0, 10.0, 10.0, 10.0, 10.0], 0.05),
        ([80.0, 600.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], 0.5),
        ([20.0, 100.0, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01], 0.98),
    ];
    assert_eq!(CONFIGURATIONS.map(|one| (one.thresholds, one.rate)), printed);
}

#[test]
fn the_higher_derivative_comes_first_and_sojourn_before_buffer() {
    // All above: each in turn is found once those before it are gone.
    let mut features = [81.0, 601.0, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2];
    for index in (2..8).rev() {
        assert_eq!(LAW.detect(&features, true), Some(index));
        features[index] = 0.1; // at the threshold, not above it
    }
    assert_eq!(LAW.detect(&features, true), Some(1));
    features[1] = 600.0;
    assert_eq!(LAW.detect(&features, true), Some(0));
    features[0] = 80.0;
    assert_eq!(LAW.detect(&features, true), None);
}

#[test]
fn a_feature_counts_only_beyond_the_gate_of_its_quantity() {
    let jerk = [5.0, 5.0, 0.0, 0.0, 0.0, 0.0, 9.0, 9.0];
    assert_eq!(LAW.detect(&jerk, true), None);
    assert_eq!(LAW.detect(&[6.0, 5.0, 0.0, 0.0, 0.0, 0.0, 9.0, 9.0], true), Some(6));
    assert_eq!(LAW.detect(&[6.0, 5.0, 0.0, 0.0, 0.0, 0.0, 9.0, 9.0], false), None);
    assert_eq!(LAW.detect(&[5.0, 5.1, 0.0, 0.0, 0.0, 0.0, 9.0, 9.0], false), Some(7));
}

#[test]
fn a_fall_counts_only_if_absolute() {
    let falling = [9.0, 9.0, 0.0, -0.2, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(LAW.detect(&falling, true), None);
    assert_eq!(Params { absolute: true, ..LAW }.detect(&falling, true), Some(3));
}

#[test]
fn the_dropping_phase_has_the_rate_and_the_duration_of_its_feature() {
    let mut durations = LAW.durations;
    durations[4] = Span::from_millis(70);
    let (law, mut state) = (Params { durations, ..LAW }, State::default());
    assert_eq!((state.found(), state.is_dropping(ms(0))), (0, false));
    law.start(&mut state, 4, ms(100));
    assert_eq!((state.found(), state.rate(), state.is_dropping(ms(169))), (5, 0.5, true));
    assert!(!state.is_dropping(ms(170)));
}

#[test]
fn rate_and_duration_grow_while_a_feature_comes_back_soon_and_shrink_again() {
    let (law, mut state) = (Params { update_step: 0.5, ..LAW }, State::default());
    let mut start = |at, index| {
        law.start(&mut state, index, ms(at));
        (state.rate, state.until.as_nanos() / 1_000_000 - at)
    };
    assert_eq!(start(0, 3), (0.4, 400));
    assert_eq!(start(799, 3), (0.4 * 1.5, 600)); // the phase ended at 400, and 400 ms have not passed
    assert_eq!(start(1400, 3), (0.4 * 2.0, 800));
    assert_eq!(start(2200, 3), (1.0, 1000)); // .4 * 2.5
    assert_eq!(start(3600, 3), (0.4 * 2.0, 800)); // 3200 + 400: late enough
    assert_eq!(start(4401, 2), (0.3, 400)); // another feature has steps of its own
    assert_eq!(start(4802, 3), (0.4 * 1.5, 600)); // not the one that was found last
    let mut many = State::default();
    (0..50).for_each(|round| law.start(&mut many, 3, ms(round)));
    assert_eq!(many.steps[3], 20);
}
