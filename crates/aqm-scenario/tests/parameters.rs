//! Every parameter that the manual pages of tc list for a qdisc of Linux that is a discipline here: it is a parameter of the
//! discipline, or it is named with the reason why it has no effect or what comes closest.

use aqm_core::spec::Spec;
use aqm_scenario::tc::table;

/// The words of tc-fq_codel(8), tc-codel(8), tc-pie(8), tc-fq_pie(8), tc-red(8), tc-choke(8), tc-sfb(8), tc-sfq(8),
/// tc-cake(8), tc-dualpi2(8), tc-fq(8), tc-ets(8) and tc-pfifo(8).
const MANUAL: &[(&str, &str)] = &[
    (
        "fq_codel",
        "limit flows quantum target interval ce_threshold ce_threshold_selector memory_limit drop_batch ecn noecn",
    ),
    ("codel", "limit target interval ce_threshold ecn noecn"),
    (
        "pie",
        "limit target tupdate alpha beta ecn noecn bytemode nobytemode dq_rate_estimator no_dq_rate_estimator",
    ),
    (
        "fq_pie",
        "limit flows target tupdate alpha beta quantum memory_limit ecn_prob ecn noecn bytemode nobytemode \
         dq_rate_estimator no_dq_rate_estimator",
    ),
    ("red", "limit min max avpkt burst bandwidth probability ecn harddrop nodrop adaptive qevent"),
    ("choke", "limit min max avpkt burst bandwidth probability ecn"),
    ("sfb", "rehash db limit max target increment decrement penalty_rate penalty_burst"),
    (
        "sfq",
        "limit perturb quantum divisor flows depth headdrop redflowlimit min max avpkt burst probability ecn harddrop",
    ),
    (
        "cake",
        "bandwidth unlimited autorate-ingress rtt datacentre lan metro regional internet oceanic satellite \
         interplanetary besteffort precedence diffserv3 diffserv4 diffserv8 flowblind srchost dsthost hosts flows \
         dual-srchost dual-dsthost triple-isolate nat nonat wash nowash split-gso no-split-gso ack-filter \
         ack-filter-aggressive no-ack-filter memlimit fwmark ptm atm noatm overhead mpu raw conservative ethernet \
         ether-vlan via-ethernet docsis ingress egress pppoa-vcmux pppoa-llc pppoe-vcmux pppoe-llcsnap bridged-vcmux \
         bridged-llcsnap ipoa-vcmux ipoa-llcsnap pppoe-ptm bridged-ptm",
    ),
    (
        "dualpi2",
        "limit memlimit coupling_factor step_thresh min_qlen_step drop_on_overload overflow drop_enqueue \
         drop_dequeue l4s_ect any_ect classic_protection max_rtt typical_rtt target tupdate alpha beta split_gso \
         no_split_gso",
    ),
    (
        "fq",
        "limit flow_limit quantum initial_quantum maxrate buckets pacing nopacing refill_delay low_rate_threshold \
         orphan_mask timer_slack ce_threshold horizon horizon_cap horizon_drop bands priomap weights",
    ),
    ("ets", "bands strict quanta priomap"),
    ("pfifo", "limit"),
    ("bfifo", "limit"),
];

/// What has no effect, or is refused with what comes closest: everything else is a parameter.
const APART: &[(&str, &str)] = &[
    ("red", "qevent"),
    ("cake", "nat nonat wash nowash split-gso no-split-gso via-ethernet"),
    ("dualpi2", "split_gso no_split_gso"),
    ("fq", "buckets timer_slack horizon horizon_cap horizon_drop bands priomap"),
];

#[test]
fn every_parameter_of_the_manual_is_one_here_or_is_named() {
    let table = table();
    for (name, words) in MANUAL {
        let entry =
            table.iter().find(|entry| entry.name == *name).unwrap_or_else(|| panic!("{name} is missing"));
        let spec = Spec::parse(entry.discipline).unwrap();
        let apart: Vec<&str> = APART
            .iter()
            .filter(|(qdisc, _)| qdisc == name)
            .flat_map(|(_, words)| words.split_whitespace())
            .collect();
        for word in words.split_whitespace() {
            let found = entry.words.iter().find(|(known, _)| *known == word);
            let (_, does) = found.unwrap_or_else(|| panic!("{name}: '{word}' is missing"));
            let is_apart = does.starts_with("no effect: ") || does.starts_with("refused: ");
            assert_eq!(is_apart, apart.contains(&word), "{name}: {word}: {does}");
            if is_apart || does.contains("link layer") {
                continue;
            }
            let param = does.trim_start_matches('`').split(['`', ' ']).next().unwrap_or_default();
            assert!(
                spec.params.names().any(|known| known == param),
                "{name}: '{word}' is '{param}', which {} has not",
                spec.info.name
            );
        }
    }
}
