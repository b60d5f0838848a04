use super::super::testing::{Host, ms, put_class};
use super::INFO;
use super::gate::settings;
use crate::law::daqm::CONFIGURATIONS;
use crate::signal::DropReason;
use crate::spec::Spec;
use alloc::format;
use alloc::string::ToString;

#[test]
fn the_presets_are_those_of_table_iii_and_single_features_of_the_second() {
    let of = |preset: &str| settings(&Spec::of(&INFO, INFO.preset(preset).unwrap()).params).law;
    for (number, configuration) in CONFIGURATIONS.iter().enumerate() {
        let law = of(&format!("daqm{}", number + 1));
        assert_eq!((law.thresholds, law.rates), (configuration.thresholds, [configuration.rate; 8]));
    }
    for (index, name) in crate::law::features::NAMES.iter().enumerate() {
        let law = of(&format!("only_{name}"));
        let listed = law.thresholds.map(f64::is_finite);
        assert_eq!(listed, core::array::from_fn(|other| other == index));
        assert_eq!((law.thresholds[index], law.rates), (CONFIGURATIONS[1].thresholds[index], [0.5; 8]));
    }
}

#[test]
fn a_spec_says_its_features_in_their_order() {
    let spec = Spec::parse("daqm:daqm3 features [b 30, s 20ms rate 10%] drop_rate 0.5").unwrap();
    assert_eq!(spec.to_string(), "daqm:daqm3 features [s 20ms rate 0.1, b 30] drop_rate 0.5");
    let error = Spec::parse("daqm features s").err().unwrap().to_string();
    let form = "FEATURE THRESHOLD [rate SHARE] [for TIME], ...";
    assert_eq!(error, format!("daqm: parameter 'features': 's' is not in brackets: write features [{form}]"));
    let error = Spec::parse("daqm features [s4 1]").err().unwrap().to_string();
    assert!(error.contains("'s4' is no feature, did you mean 's1'?"), "{error}");
}

#[test]
fn the_head_is_dropped_and_arriving_packets_for_the_duration_with_the_rate_of_the_feature() {
    // Packets come every 4 ms and leave every 10: s1 = .6.
    let spec = "daqm features [s1 0.1 rate 0.5 for 100ms] noagain drop_rate 0";
    let mut host = Host::scripted(spec, &[0.49, 0.5]);
    (0..10).for_each(|number| host.put(ms(4 * number), number, 0, 1000));
    assert_eq!(host.get(ms(40)), Some(0)); // the first has no derivative
    assert_eq!(host.get(ms(50)), Some(2)); // 46 ms after 40: s1 = .6, packet 1 is dropped
    // From 50 to 150 ms: draws .49, .5, .49.
    host.put(ms(50), 20, 0, 1000);
    host.put(ms(51), 21, 0, 1000);
    assert_eq!(host.get(ms(148)), Some(3));
    assert_eq!((host.probe("s"), host.probe("drop_rate")), (136.0, 0.5));
    host.put(ms(149), 22, 0, 1000);
    host.put(ms(150), 23, 0, 1000);
    assert_eq!(host.dropped(), [1, 20, 22]);
    assert!(host.log.dropped.iter().all(|(_, reason)| *reason == DropReason::Congestion));
}

#[test]
fn heads_are_dropped_again_until_the_derivative_is_no_longer_high() {
    // As above, with `again`: each drop takes 4 ms off the sojourn time. s1 = .6, .2, -.2: two go.
    let mut host = Host::new("daqm:only_s1 drop_rate 0 drop_duration 0s");
    (0..10).for_each(|number| host.put(ms(4 * number), number, 0, 1000));
    assert_eq!([host.get(ms(40)), host.get(ms(50))], [Some(0), Some(3)]);
    assert_eq!(host.dropped(), [1, 2]);
    // A level alone is no reason to go on.
    let mut host = Host::new("daqm features [s 10ms] drop_rate 0 drop_duration 0s");
    (0..10).for_each(|number| host.put(ms(0), number, 0, 1000));
    assert_eq!([host.get(ms(40)), host.get(ms(50))], [Some(1), Some(3)]);
}

#[test]
fn with_ecn_the_head_is_marked_and_the_feature_is_shown() {
    let mut host = Host::new("daqm features [b 2] gate_b 0 ecn drop_rate 0 drop_duration 0s");
    (0..4).for_each(|number| host.put_ect(ms(0), number, 0, 1000));
    assert_eq!((host.get(ms(10)), host.probe("found"), host.probe("b")), (Some(0), 1.0, 4.0));
    assert_eq!((host.marked(), host.dropped()), ([0].into(), [].into()));
}

#[test]
fn each_class_has_an_instance_of_its_own_behind_a_scheduler() {
    let mut host =
        Host::new("drr classes 2 child [daqm features [s 10ms]] child [daqm features [s 1s]] quantum 1000b");
    for number in 0..4 {
        put_class(&mut host, number, 0, 1000);
        put_class(&mut host, 10 + number, 1, 1000);
    }
    // Only the first class has waited too long; its head is dropped.
    assert_eq!([host.get(ms(20)), host.get(ms(20))], [Some(1), Some(10)]);
    assert_eq!(host.dropped(), [0]);
}
