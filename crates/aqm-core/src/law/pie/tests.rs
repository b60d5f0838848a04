//! PIE's law, branch by branch, computed by hand.

use super::departure_rate::Measurement;
use super::*;

pub(super) const RFC: Params = Params {
    pi: Pi { target: 0.015, alpha: 0.125, beta: 1.25 },
    tupdate: Span::from_millis(15),
    max_burst: Span::from_millis(150),
    estimator: None,
    mark_threshold: 0.1,
    activate: false,
    derandomize: false,
    cap: true,
    byte_mode: false,
    mtu: 1500,
};
pub(super) const BUSY: QueueState = QueueState { packets: 100, bytes: 100_000, third_full: true };

pub(super) fn close(is: f64, should: f64) {
    assert!((is - should).abs() <= 1e-12 * should.abs(), "{is} instead of {should}");
}

/// A state past its burst allowance.
pub(super) fn at(params: &Params, drop_prob: f64, qdelay: f64, qdelay_old: f64) -> State {
    State { drop_prob, qdelay, qdelay_old, burst_allowance: Span::ZERO, ..params.start() }
}

#[test]
fn the_probability_follows_the_controller_and_the_tuning_table() {
    // change = 0.125 * (0.025 - 0.015) + 1.25 * (0.025 - 0.020) = 0.00125 + 0.00625 = 0.0075
    for (p, divisor) in [
        (0.0, 2048.0),
        (0.000_005, 512.0),
        (0.000_05, 128.0),
        (0.000_5, 32.0),
        (0.005, 8.0),
        (0.05, 2.0),
        (0.5, 1.0),
    ] {
        let mut state = at(&RFC, p, 0.025, 0.020);
        RFC.calculate_drop_prob(&mut state, 50_000);
        close(state.drop_prob, p + 0.0075 / divisor);
        close(state.qdelay_old, 0.025);
    }
}

#[test]
fn the_rise_is_capped_and_the_probability_bounded() {
    // change = 0.125 * 0.185 + 1.25 * 0.1 = 0.148125
    let after = |params: &Params, p| {
        let mut state = at(params, p, 0.2, 0.1);
        params.calculate_drop_prob(&mut state, 50_000);
        state.drop_prob
    };
    close(after(&RFC, 0.1), 0.12);
    close(after(&Params { cap: false, ..RFC }, 0.1), 0.248125);
    close(after(&RFC, 0.05), 0.05 + 0.148125 / 2.0);
    assert_eq!(after(&RFC, 0.99), 1.0);
}

#[test]
fn the_probability_decays_when_congestion_goes_away() {
    // change = 0.125 * (0.005 - 0.015) + 0 = -0.00125, / 2; then * 0.98
    let mut state = at(&RFC, 0.05, 0.005, 0.005);
    RFC.calculate_drop_prob(&mut state, 50_000);
    close(state.drop_prob, (0.05 - 0.00125 / 2.0) * 0.98);
    // An empty queue has no delay, whatever the last packet waited: 0.125 * -0.015 + 1.25 * -0.02 = -0.026875
    let mut state = at(&RFC, 0.05, 0.02, 0.02);
    RFC.calculate_drop_prob(&mut state, 0);
    close(state.drop_prob, 0.05 - 0.026875 / 2.0);
}

#[test]
fn short_queues_and_low_delays_cause_no_signal() {
    let decide = |params: &Params, p, old, bytes, u: f64| {
        let mut state = at(params, p, 0.02, old);
        let seen = QueueState { packets: bytes / 1000, bytes, third_full: true };
        params.arrive(&mut state, seen, 1000, Time::ZERO, || u)
    };
    assert_eq!(decide(&RFC, 0.1, 0.02, 3001, 0.09), Verdict::Signal);
    assert_eq!(decide(&RFC, 0.1, 0.02, 3000, 0.09), Verdict::Admit); // at most two packets of 1500 bytes
    assert_eq!(decide(&RFC, 0.1, 0.0074, 3001, 0.0), Verdict::Admit); // below half the target
    assert_eq!(decide(&RFC, 0.2, 0.0074, 3001, 0.0), Verdict::Drop); // unless p >= 0.2; beyond 0.1 no marks
    assert_eq!(decide(&RFC, 0.1, 0.0075, 3001, 0.1), Verdict::Admit); // u < p is needed
}

#[test]
fn derandomization_keeps_drops_apart_and_ends_long_waits() {
    let params = Params { derandomize: true, ..RFC };
    // p = 0.1: 0.1, .., 0.8 pass without a number; with 0.9 the first number is drawn.
    let mut state = at(&params, 0.1, 0.02, 0.02);
    for _ in 0..8 {
        let never = || -> f64 { panic!("too early for a number") };
        assert_eq!(params.arrive(&mut state, BUSY, 1000, Time::ZERO, never), Verdict::Admit);
    }
    assert_eq!(params.arrive(&mut state, BUSY, 1000, Time::ZERO, || 0.09), Verdict::Signal);
    assert_eq!(state.accu_prob, 0.0);
    // p = 0.5 with bad luck: 0.5, 1.0, .., 8.0 pass, 8.5 goes without a number.
    let mut state = at(&params, 0.5, 0.02, 0.02);
    let passed =
        (0..).take_while(|_| params.arrive(&mut state, BUSY, 1000, Time::ZERO, || 0.9) == Verdict::Admit);
    assert_eq!(passed.count(), 16);
}

#[test]
fn the_burst_allowance_lasts_ten_periods() {
    let mut state = State { drop_prob: 1.0, qdelay: 0.1, qdelay_old: 0.1, ..RFC.start() };
    for _ in 0..10 {
        assert_eq!(RFC.arrive(&mut state, BUSY, 1000, Time::ZERO, || 0.0), Verdict::Admit);
        RFC.calculate_drop_prob(&mut state, 100_000);
    }
    assert_eq!(RFC.arrive(&mut state, BUSY, 1000, Time::ZERO, || 0.0), Verdict::Drop);
}

#[test]
fn the_law_is_activated_by_a_third_of_the_limit_and_deactivated_when_calm() {
    let params = Params { activate: true, ..RFC };
    let mut state = params.start();
    let now = Time::from_nanos(1_000_000);
    let arrive = |state: &mut State, packets, third_full| {
        let seen = QueueState { packets, bytes: packets * 1000, third_full };
        params.arrive(state, seen, 1000, now, || 0.5);
    };
    arrive(&mut state, 10, false);
    assert_eq!(state.due(), None);
    arrive(&mut state, 11, true);
    assert_eq!(state.due(), Some(Time::from_nanos(16_000_000)));
    arrive(&mut state, 1, false);
    assert!(state.active);
    arrive(&mut state, 0, false);
    assert!(!state.active);
}

#[test]
fn the_departure_rate_is_the_averaged_time_of_a_measurement() {
    let params = Params { estimator: Some(Estimator { threshold: 2000, weight: 0.25 }), ..RFC };
    let mut state = params.start();
    let leave = |state: &mut State, millis: u64, left| {
        params.depart(state, &Packet::new(0, 0, 1000), left, Time::from_nanos(millis * 1_000_000));
    };
    leave(&mut state, 1, 5000); // starts at 1 ms
    leave(&mut state, 2, 5000);
    leave(&mut state, 3, 5000); // 2000 bytes in 2 ms; starts again
    close(state.rate.average, 0.002);
    leave(&mut state, 5, 5000);
    leave(&mut state, 9, 1999); // 2000 bytes in 6 ms: 0.006 / 4 + 0.002 * 3 / 4; too little left to start again
    close(state.rate.average, 0.003);
    assert!(state.rate.measurement.is_none());
    close(params.current_qdelay(&state, 8000), 0.012); // 8000 * 3 ms / 2000
}

#[test]
fn late_and_spurious_wake_ups_are_harmless() {
    let mut state = at(&RFC, 0.5, 0.025, 0.025);
    state.timer = Periodic::at(Time::from_nanos(15_000_000));
    let catch_up = |state: &mut State, nanos| {
        let update = |state: &mut State| RFC.calculate_drop_prob(state, 1000);
        state.catch_up(RFC.tupdate, Time::from_nanos(nanos), update);
    };
    catch_up(&mut state, 14_999_999);
    assert_eq!(state.drop_prob, 0.5);
    catch_up(&mut state, 50_000_000); // 15, 30, 45 ms: 3 * 0.00125
    close(state.drop_prob, 0.50375);
    assert_eq!(state.due(), Some(Time::from_nanos(60_000_000)));
    catch_up(&mut state, 1_000_000_000_000); // 16 periods, not 66 663
    close(state.drop_prob, 0.50375 + 16.0 * 0.00125);
    assert_eq!(state.due(), Some(Time::from_nanos(1_000_015_000_000)));
}

#[test]
fn the_thresholds_of_derandomization_are_inclusive() {
    let params = Params { derandomize: true, ..RFC };
    let hit = |accu_prob: f64, drop_prob: f64, lot: f64| {
        let mut state = State { accu_prob, ..at(&params, drop_prob, 0.03, 0.03) };
        params.drop_early(&mut state, BUSY, 1000, || lot)
    };
    assert!(!hit(0.25, 0.5, 0.0)); // 0.75: too early
    assert!(hit(0.0, 0.85, 0.0)); // 0.85: from here on a random number decides
    assert!(hit(8.0, 0.5, 0.9)); // 8.5: dropped whatever the random number
    assert!(!hit(7.75, 0.5, 0.9)); // 8.25: not dropped by this random number
}

#[test]
fn a_bound_of_the_tuning_table_belongs_to_the_step_above() {
    let rfc = [(0.000_001, 512.0), (0.000_01, 128.0), (0.000_1, 32.0), (0.001, 8.0), (0.01, 2.0), (0.1, 1.0)];
    for (p, divisor) in rfc {
        assert_eq!(tuning(p), divisor, "{p}");
    }
}

#[test]
fn a_delay_of_half_the_target_is_not_low() {
    assert!(RFC.pi.low(0.007_499) && !RFC.pi.low(0.007_5));
}

#[test]
fn a_measurement_takes_its_threshold_in_full() {
    let estimator = Some(Estimator { threshold: 1000, weight: 0.25 });
    let params = Params { estimator, activate: true, ..RFC };
    let mut state = params.start();
    params.activate(&mut state, Time::ZERO);
    let leave = |state: &mut State, length: u32, bytes_left: u64, nanos: u64| {
        params.depart(state, &Packet::new(0, 0, length), bytes_left, Time::from_nanos(nanos));
    };
    leave(&mut state, 999, 0, 1_000_000);
    assert_eq!(state.rate.average, 0.0); // one byte is missing
    leave(&mut state, 1, 999, 2_000_000);
    close(state.rate.average, 0.002);
    assert!(state.rate.measurement.is_none()); // 999 bytes are too few for another
    leave(&mut state, 1, 1000, 3_000_000);
    assert!(state.rate.measurement.is_some());
}

#[test]
fn new_parameters_apply_to_a_running_state() {
    let ms = |millis: u64| Time::from_nanos(millis * 1_000_000);
    let estimator = Some(Estimator { threshold: 10_000, weight: 0.5 });
    let measurement = Some(Measurement { start: ms(1), count: 100 });
    let measuring = DepartureRate { measurement, average: 0.1 };
    let mut state = State { timer: Periodic::at(ms(15)), rate: measuring, ..at(&RFC, 0.5, 0.025, 0.025) };

    RFC.adopt(&mut state, &RFC, ms(7));
    assert_eq!((state.drop_prob, state.due(), state.rate.average), (0.5, Some(ms(15)), 0.1));
    assert!(state.rate.measurement.is_some());

    let faster = Params { tupdate: Span::from_millis(3), ..RFC };
    faster.adopt(&mut state, &RFC, ms(7));
    assert_eq!(state.due(), Some(ms(10)));
    RFC.adopt(&mut state, &faster, ms(7)); // the update that was announced still comes
    assert_eq!(state.due(), Some(ms(10)));

    // Another way of measuring: the earlier measurement is useless.
    let other = Params { estimator, ..RFC };
    other.adopt(&mut state, &RFC, ms(7));
    assert_eq!((state.rate.average, state.rate.measurement.is_none()), (0.0, true));
    assert_eq!(state.drop_prob, 0.5);
}
