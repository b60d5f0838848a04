use super::INFO;
use super::testing::{Host, ms, script};
use aqm_core::law::daqm::CONFIGURATIONS;
use aqm_core::law::features::NAMES;
use aqm_core::params::Value;
use aqm_core::random::Random;
use aqm_core::signal::DropReason;
use aqm_core::spec::Spec;
use aqm_core::units::Time;

/// Marks what would be dropped, so that the shape of what follows stays as it was meant; nothing else is dropped.
const MARKING: &str = "ecn drop_rate 0 drop_duration 0s";
const SOJOURN: &str = "s 30ms s1 0.25 s2 0.01 s3 0.001 b auto b1 auto b2 auto b3 auto gate_s 20ms";
const BUFFER: &str = "b 30 b1 0.25 b2 0.01 b3 0.001 s auto s1 auto s2 auto s3 auto gate_b 20 buffer_per ms";

/// Reads `[:PRESET] [PARAMETER VALUE]...`.
fn spec(text: &str) -> Spec {
    let (preset, params) = text.split_once(' ').unwrap_or((text, ""));
    let preset = preset.strip_prefix(':').map_or(&INFO.presets[0], |name| INFO.preset(name).unwrap());
    Spec::parse_as(&INFO, preset, params).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A host of this discipline with a fixed stream of random numbers.
fn built(text: &str) -> Host {
    Host::of(&spec(text), Random::seeded(1))
}

/// Plays arrivals and departures (`None`) in the order of time; the number of the feature (algorithm 1 counts from 1) that
/// marks each packet, 0 for one that leaves unmarked.
fn play(spec: &str, mut events: Vec<(Time, Option<u64>)>) -> Vec<u64> {
    let mut host = built(spec);
    events.sort_by_key(|(at, arrives)| (*at, arrives.is_none()));
    let mut found = Vec::new();
    for (at, arrives) in events {
        match arrives {
            Some(cookie) => host.put_ect(at, cookie, 0, 1000),
            None => {
                let left = host.get(at).expect("a packet waits");
                let marked = host.log.marked.last().is_some_and(|(cookie, _)| *cookie == left);
                found.push(if marked { host.probe("found") as u64 } else { 0 });
            }
        }
    }
    assert!(host.dropped().is_empty());
    found
}

/// One packet leaves every 10 ms after having waited so many milliseconds.
fn sojourns(more: &str, waits: [u64; 5]) -> Vec<u64> {
    let mut events = Vec::new();
    for (number, wait) in waits.into_iter().enumerate() {
        let leaves = 1000 + 10 * number as u64;
        events.extend([(ms(leaves - wait), Some(number as u64)), (ms(leaves), None)]);
    }
    play(&format!(" method clean {SOJOURN} {MARKING} {more}"), events)
}

/// One packet leaves every millisecond; so many wait at every tenth departure, where the buffer is sampled.
fn buffers(more: &str, sizes: [u64; 5]) -> Vec<u64> {
    let (mut events, mut arrived) = (Vec::new(), 0);
    for (sample, size) in sizes.into_iter().enumerate() {
        let (at, left) = (1000 + 10 * sample as u64, 10 * sample as u64);
        // What must have come by this sample, half a millisecond after the one before.
        let before = Time::from_nanos((at - 10) * 1_000_000 + 500_000);
        events.extend((arrived..left + size).map(|cookie| (before, Some(cookie))));
        arrived = arrived.max(left + size);
        events.extend((0..10).map(|departure| (ms(at + departure), None)));
    }
    let found = play(&format!(" method clean {BUFFER} {MARKING} {more}"), events);
    // Nothing is judged between the samples.
    assert!(found.iter().enumerate().all(|(departure, found)| departure % 10 == 0 || *found == 0));
    found.into_iter().step_by(10).collect()
}

#[test]
fn case_1_of_sojourn_time_steady_is_no_more_than_long() {
    assert_eq!(sojourns("", [40, 40, 40, 40, 40]), [2, 2, 2, 2, 2]);
    assert_eq!(sojourns("", [20, 20, 20, 20, 20]), [0, 0, 0, 0, 0]);
}

#[test]
fn case_2_of_sojourn_time_a_steady_rise_is_found_by_the_first_derivative_from_the_second_packet_on() {
    // 5 ms more every 10 ms: s1 = .5, s2 = s3 = 0 to the last bit.
    assert_eq!(sojourns("", [40, 45, 50, 55, 60]), [2, 4, 4, 4, 4]);
    assert_eq!(sojourns("s2 0 s3 0", [40, 45, 50, 55, 60]), [2, 4, 4, 4, 4]);
    // Below the gate of 20 ms it does not count, at the gate neither.
    assert_eq!(sojourns("", [5, 10, 15, 20, 25]), [0, 0, 0, 0, 4]);
}

#[test]
fn case_3_of_sojourn_time_an_increasing_rise_is_found_by_the_second_derivative_from_the_third_packet_on() {
    // s1 = .1, .3, .5, .7: s2 = .02.
    assert_eq!(sojourns("", [40, 41, 44, 49, 56]), [2, 2, 6, 6, 6]);
    // s1 = .1, .2, .6, .9: s2 = .01, .04, .03, and s3 = .003 at the fourth packet alone.
    assert_eq!(sojourns("s2 0.015", [40, 41, 43, 49, 58]), [2, 2, 2, 8, 6]);
}

#[test]
fn case_4_of_sojourn_time_a_steady_fall_is_found_by_its_height_alone_unless_absolute() {
    assert_eq!(sojourns("", [80, 75, 70, 65, 60]), [2, 2, 2, 2, 2]);
    assert_eq!(sojourns("compare absolute", [80, 75, 70, 65, 60]), [2, 4, 4, 4, 4]);
}

#[test]
fn case_5_of_sojourn_time_an_increasing_fall_is_found_by_its_height_alone_unless_absolute() {
    assert_eq!(sojourns("", [80, 79, 76, 71, 64]), [2, 2, 2, 2, 2]);
    assert_eq!(sojourns("compare absolute", [80, 79, 76, 71, 64]), [2, 2, 6, 6, 6]);
}

#[test]
fn case_1_of_the_buffer_steady_is_no_more_than_full() {
    assert_eq!(buffers("", [40, 40, 40, 40, 40]), [1, 1, 1, 1, 1]);
    assert_eq!(buffers("", [20, 20, 20, 20, 20]), [0, 0, 0, 0, 0]);
}

#[test]
fn case_2_of_the_buffer_a_steady_rise_is_found_by_the_first_derivative_from_the_second_sample_on() {
    // 5 packets more every 10 ms: b1 = .5.
    assert_eq!(buffers("", [40, 45, 50, 55, 60]), [1, 3, 3, 3, 3]);
    assert_eq!(buffers("", [5, 10, 15, 20, 25]), [0, 0, 0, 0, 3]);
}

#[test]
fn case_3_of_the_buffer_an_increasing_rise_is_found_by_the_second_derivative_from_the_third_sample_on() {
    assert_eq!(buffers("", [40, 41, 44, 49, 56]), [1, 1, 5, 5, 5]);
    assert_eq!(buffers("b2 0.015", [40, 41, 43, 49, 58]), [1, 1, 1, 7, 5]);
}

#[test]
fn case_4_of_the_buffer_a_steady_fall_is_found_by_its_height_alone_unless_absolute() {
    assert_eq!(buffers("", [80, 75, 70, 65, 60]), [1, 1, 1, 1, 1]);
    assert_eq!(buffers("compare absolute", [80, 75, 70, 65, 60]), [1, 3, 3, 3, 3]);
}

#[test]
fn case_5_of_the_buffer_an_increasing_fall_is_found_by_its_height_alone_unless_absolute() {
    assert_eq!(buffers("", [80, 79, 76, 71, 64]), [1, 1, 1, 1, 1]);
    assert_eq!(buffers("compare absolute", [80, 79, 76, 71, 64]), [1, 1, 5, 5, 5]);
}

#[test]
fn the_head_is_dropped_and_arriving_packets_for_the_duration_with_the_rate() {
    // Only s1 is looked at: packets come every 4 ms and leave every 10: s1 = .6.
    let text = ":only_s1 method clean noagain rate_s1 0.5 duration_s1 100ms drop_rate 0";
    let mut host = Host::of(&spec(text), script(&[0.49, 0.5]));
    (0..10).for_each(|number| host.put(ms(4 * number), number, 0, 1000));
    assert_eq!(host.get(ms(40)), Some(0)); // the first has no derivative
    assert_eq!(host.get(ms(50)), Some(2)); // 46 ms after 40: s1 = .6, packet 1 is dropped
    // From 50 to 150 ms: draws .49, .5, .49.
    host.put(ms(50), 20, 0, 1000);
    host.put(ms(51), 21, 0, 1000);
    // Nothing is detected meanwhile, though the features are taken: s = 148 - 12.
    assert_eq!(host.get(ms(148)), Some(3));
    assert_eq!((host.probe("s"), host.probe("drop_rate")), (136.0, 0.5));
    host.put(ms(149), 22, 0, 1000);
    host.put(ms(150), 23, 0, 1000);
    assert_eq!(host.dropped(), [1, 20, 22]);
    assert!(host.log.dropped.iter().all(|(_, reason)| *reason == DropReason::Congestion));
    // The phase is over: s = 150 - 16 falls, 160 - 20 rises again by .6.
    assert_eq!([host.get(ms(150)), host.get(ms(160))], [Some(4), Some(6)]);
    assert_eq!(host.dropped(), [1, 20, 22, 5]);
}

#[test]
fn heads_are_dropped_again_until_the_derivative_is_no_longer_high() {
    // As above, with `again`: each drop takes 4 ms off the sojourn time. s1 = .6, .2, -.2: two go.
    let mut host = built(":only_s1 method clean drop_rate 0 drop_duration 0s");
    (0..10).for_each(|number| host.put(ms(4 * number), number, 0, 1000));
    assert_eq!([host.get(ms(40)), host.get(ms(50))], [Some(0), Some(3)]);
    assert_eq!(host.dropped(), [1, 2]);
    // A level alone is no reason to go on.
    let mut host = built(":only_s method clean s 10ms drop_rate 0 drop_duration 0s");
    (0..10).for_each(|number| host.put(ms(0), number, 0, 1000));
    assert_eq!([host.get(ms(40)), host.get(ms(50))], [Some(1), Some(3)]);
}

#[test]
fn the_last_packet_is_not_dropped_again() {
    let mut host = built(":only_b1 method clean b1 0 buffer_per ms gate_b 0 drop_rate 0 drop_duration 0s");
    host.put(ms(0), 0, 0, 1000);
    host.get(ms(0));
    (1..=3).for_each(|number| host.put(ms(9), number, 0, 1000));
    assert_eq!(host.get(ms(20)), Some(3)); // b1 = (3 - 1) / 20, then (2 - 1) / 20; one is left
    assert_eq!(host.dropped(), [1, 2]);
}

#[test]
fn the_authors_program_destroys_five_packets_for_each_look() {
    let mut host = built(":daqm1 buffer_clock departure drop_rate 0 s1 20");
    // Every 30 ms: waits 30 ms apart, s1 = -15, s2 = s3 = 0; with 5 packets behind the head nothing is looked at.
    (0..6).for_each(|number| host.put(ms(30 * number), number, 0, 1000));
    assert_eq!((host.get(ms(200)), host.dropped().len()), (Some(0), 0));
    host.put(ms(200), 6, 0, 1000);
    host.put(ms(201), 7, 0, 1000);
    assert_eq!((host.get(ms(201)), host.dropped()), (Some(1), [2, 3, 4, 5, 6].into()));
    assert!(host.log.dropped.iter().all(|(_, reason)| *reason == super::DESTROYED));
    assert_eq!((host.probe("s"), host.probe("s1"), host.probe("b")), (141.0, -15.0, 40.0));
    // A fall counts: with T = 10 the head is dropped as well, and the seventh leaves.
    let mut host = built(":daqm1 buffer_clock departure drop_rate 0");
    (0..7).for_each(|number| host.put(ms(30 * number), number, 0, 1000));
    assert_eq!((host.get(ms(200)), host.probe("found")), (Some(6), 4.0));
    assert_eq!(host.dropped(), [1, 2, 3, 4, 5, 0]);
}

#[test]
fn the_authors_program_takes_the_buffer_for_40_packets() {
    // Packets of one instant: no derivative. b = 40 is above dAQM3's 20 and below dAQM2's 80, whatever waits.
    let found = |preset: &str| {
        let mut host = built(&format!(":{preset} buffer_clock departure s 10s"));
        (0..7).for_each(|number| host.put(ms(0), number, 0, 1000));
        host.get(ms(1));
        host.probe("found")
    };
    assert_eq!((found("daqm2"), found("daqm3")), (0.0, 1.0));
}

#[test]
fn the_controller_changes_the_configuration_in_force() {
    let spec = " method clean controller control_period 100ms control_target 200ms drop_duration 0s noagain";
    let mut host = built(spec);
    (0..100).for_each(|number| host.put(ms(0), number, 0, 1000));
    // All s1 are 1 and all s below 1 s: dAQM1 finds nothing. A mean of 240 ms: dAQM2 from 300 ms on, which finds s1.
    assert_eq!([200, 210, 290].map(|at| host.get(ms(at))), [Some(0), Some(1), Some(2)]);
    assert_eq!((host.get(ms(300)), host.probe("found"), host.probe("configuration")), (Some(4), 4.0, 1.0));
    // What is given counts again when the controller goes.
    host.qdisc.change(&[("controller", "off")], ms(310), &mut host.log).unwrap();
    assert_eq!((host.get(ms(320)), host.dropped()), (Some(5), [3].into()));
}

#[test]
fn the_defaults_are_the_first_configuration_of_the_controller() {
    let default = |name| &INFO.params.iter().find(|param| param.name == name).unwrap().default;
    let thresholds = NAMES.map(|name| match default(name) {
        Value::Count(packets) => *packets as f64,
        Value::Span(span) => span.as_millis_f64(),
        Value::Number(number) => *number,
        other => panic!("{name}: {other:?}"),
    });
    assert_eq!(thresholds, CONFIGURATIONS[0].thresholds);
    assert_eq!(*default("drop_rate"), Value::Fraction(CONFIGURATIONS[0].rate));
}

#[test]
fn the_authors_program_samples_the_buffer_once_an_interval_has_passed() {
    let off = "s auto s1 auto s2 auto s3 auto b auto b1 auto b2 auto b3 auto";
    let mut host = built(&format!(" buffer_clock departure sample_interval 10ms {off}"));
    (0..60).for_each(|cookie| host.put_ect(ms(0), cookie, 0, 1000));
    // One packet leaves and five are destroyed each time: 60, 54, 48, 42 and 36 wait, exactly 10 ms apart.
    for departure in 0..5 {
        assert_eq!(host.probe("b1"), 0.0);
        host.get(ms(1000 + 10 * departure)).expect("a packet waits");
    }
    assert_eq!(host.probe("b1"), -6.0);
}

#[test]
fn the_clock_of_the_authors_program_looks_at_twice_the_time_of_a_departure() {
    let off = "s auto s1 auto s2 auto s3 auto b auto b1 auto b2 auto b3 auto";
    let b1 = |clock: &str, times: [u64; 2]| {
        let mut host = built(&format!(" buffer_clock {clock} {off}"));
        (0..90).for_each(|cookie| host.put(ms(0), cookie, 0, 1000));
        // 10 ms apart, six go each time: 84, 78, 72, 66 and 60 are left.
        (0..5).for_each(|departure| _ = host.get(ms(100 + 10 * departure)).expect("a packet waits"));
        times.map(|at| {
            host.put(ms(at), at, 0, 1000);
            host.get(ms(at)).expect("a packet waits");
            host.probe("b1")
        })
    };
    // Due at 115, 125, 135, 145 and 155 ms: 78 and 72 waited at the first two.
    assert_eq!(b1("later", [154, 155]), [0.0, -6.0]);
    // Due at 215, 235, 255, 275 and 295 ms: nothing left after 140 ms, until 294 ms.
    assert_eq!(b1("doubled", [294, 295]), [0.0, 0.0]);
    let mut host = built(&format!(" buffer_clock doubled {off}"));
    (0..90).for_each(|cookie| host.put(ms(0), cookie, 0, 1000));
    (0..5).for_each(|departure| _ = host.get(ms(100 + 10 * departure)));
    // 60 wait at 215 ms; one more arrives before the second sample.
    host.put(ms(220), 99, 0, 1000);
    host.get(ms(296)).expect("a packet waits");
    assert_eq!(host.probe("b1"), 1.0);
}

#[test]
fn the_clean_method_is_the_discipline_of_the_field_in_every_preset() {
    for preset in INFO.presets {
        let texts = [format!("daqm:{}", preset.name), format!(":{} method clean", preset.name)];
        for more in
            ["", " noagain ecn", " drop_duration 30ms drop_rate 0.3 smoothing 5ms gate_s 1ms gate_b 2"]
        {
            let specs =
                [Spec::parse(&format!("{}{more}", texts[0])).unwrap(), spec(&format!("{}{more}", texts[1]))];
            let [field, here] = specs.map(|spec| {
                let mut host = Host::of(&spec, Random::seeded(7));
                let (mut random, mut now, mut left) = (Random::seeded(3), Time::ZERO, Vec::new());
                for cookie in 0..4000 {
                    now += aqm_core::units::Span::from_micros(random.below(2000));
                    if random.below(2) == 0 {
                        host.put(now, cookie, 0, 1000);
                    } else {
                        host.put_ect(now, cookie, 0, 1000);
                    }
                    if random.below(8) < 7 {
                        left.push(host.get(now));
                    }
                }
                let shown = NAMES.map(|name| host.probe(name));
                (left, host.dropped(), host.log.marked, shown)
            });
            assert!(preset.name != "daqm3" || field.1.len() > 10, "it drops");
            assert_eq!(field, here, "{}{more}", texts[0]);
        }
    }
}
