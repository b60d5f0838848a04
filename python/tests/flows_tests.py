from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab import InputError, scenario
from aqmlab.scenario.flows import keys_of, parse
from aqmlab.scenario.kinds import KINDS, PROFILES, TRANSPORTS, SourceKind, Transport
from aqmlab.vocabulary.units import format_rate, format_span, parse_span

ROOT = Path(__file__).resolve().parents[2]


def _rules(control: str) -> dict[str, dict[str, Any]]:
    """The rules of a control, each at its declared default, as a scenario has them."""
    units = {
        "flag": lambda text: text == "on",
        "count": int,
        "span": lambda text: parse_span(text.replace("off", "0s")),
    }
    found: dict[str, dict[str, Any]] = {}
    for key in TRANSPORTS[control].keys:
        group, _, rule = key.field.partition(".")
        # Sockets of a paper's senders are written where they differ alone.
        if key.group and key.group.of_profiles:
            read = units.get(key.unit, str)
            found.setdefault(group, {})[rule] = None if key.default is None else read(key.default)
    return found


def a_flow_spec_gives_every_key_its_default() -> None:
    group = parse("10*newreno")
    assert (group.count, group.kind, group.name) == (10, "newreno", "newreno")
    assert group.flows.data() == {
        "name": "newreno",
        "count": 10,
        "start_ns": [0, 1_000_000_000],
        "rtt_ns": None,
        "transport": {
            "tcp": {
                "congestion_control": "newreno",
                "mss_bytes": 1448,
                "iw": 10,
                "sack": True,
                "ecn": "off",
                "window_bytes": None,
                "pacing": False,
                "delack_ns": 40_000_000,
                "minrto_ns": 200_000_000,
                "handshake": False,
                "ipv6": False,
                "abc": True,
                **_rules("newreno"),
            }
        },
        "source": {"bulk": {"size_bytes": None, "stop_ns": None}},
        "class": 0,
        "dscp": 0,
    }
    recovery = group.flows.data()["transport"]["tcp"]["recovery"]
    assert (recovery["ssthresh"], recovery["syn_rto_ns"], recovery["syn_loss"]) == ("flight", 1_000_000_000, True)


def sockets_of_papers_senders_are_written_where_they_differ() -> None:
    group = parse("1*newreno:handshake=on:app.connect=ahead:app.sndbuf=2p:app.arp=off")
    assert group.flows.data()["socket"] == {"socket": "app", "connect": "ahead", "sndbuf_bytes": 2 * 1448}
    assert group.short == "1*newreno:handshake=on:app.connect=ahead:app.sndbuf=2p"
    assert "socket" not in parse("1*newreno").flows.data()
    with pytest.raises(InputError, match=r"app\.connect=ahead needs handshake=on"):
        parse("1*newreno:app.connect=ahead")
    with pytest.raises(InputError, match=r"'listen' is now 'app\.listen': write app\.listen=1s"):
        parse("1*newreno:listen=1s")


def given_keys_replace_defaults() -> None:
    group = parse(
        "5*cubic:rtt=20ms:start=2s:mss=1000b:iw=3:sack=off:ecn=classic:delack=off:minrto=1s:window=20p:size=1mb"
    )
    tcp = group.flows.data()["transport"]["tcp"]
    assert group.rtt_ns == 20_000_000
    assert group.flows.data()["start_ns"] == [2_000_000_000, 2_000_000_000]
    assert (tcp["mss_bytes"], tcp["iw"], tcp["sack"], tcp["ecn"]) == (1000, 3, False, "classic")
    assert (tcp["delack_ns"], tcp["minrto_ns"], tcp["window_bytes"]) == (0, 1_000_000_000, 20_000)
    assert group.flows.data()["source"] == {"bulk": {"size_bytes": 1 << 20, "stop_ns": None}}


def newreno_can_be_that_of_ns3() -> None:
    tcp = parse("1*onoff:rate=1mbit:transport=newreno:abc=off:recovery.ssthresh=pipe").flows.data()["transport"]["tcp"]
    assert (tcp["abc"], tcp["recovery"]["ssthresh"]) == (False, "pipe")
    with pytest.raises(InputError, match="'abc' means nothing for cubic"):
        parse("1*cubic:abc=off")
    with pytest.raises(InputError, match=r"slow_start\.hystart=plusplus needs abc=on"):
        parse("1*newreno:abc=off:slow_start.hystart=plusplus")
    with pytest.raises(InputError, match=r"recovery\.ssthresh=pipe needs sack=on"):
        parse("1*newreno:recovery.ssthresh=pipe:sack=off")


def dctcp_has_ecn_by_default() -> None:
    assert parse("1*dctcp").flows.data()["transport"]["tcp"]["ecn"] == "classic"
    assert parse("1*dctcp:ecn=off:pacing=on").flows.data()["transport"]["tcp"]["ecn"] == "off"
    assert parse("1*onoff:rate=1mbit:transport=dctcp").flows.data()["transport"]["tcp"]["ecn"] == "classic"


def prague_has_l4s_and_rack_unless_told_otherwise() -> None:
    tcp = parse("1*prague").flows.data()["transport"]["tcp"]
    assert (tcp["ecn"], tcp["recovery"]["rack"]) == ("l4s", True)
    assert parse("1*prague:ecn=classic").flows.data()["transport"]["tcp"]["ecn"] == "classic"
    assert parse("1*cbr:rate=1mbit:transport=prague").flows.data()["transport"]["tcp"]["congestion_control"] == "prague"


def bbr_is_what_linux_calls_so() -> None:
    assert parse("2*bbr") == parse("2*bbr1")
    assert parse("2*bbr").flows.data()["transport"]["tcp"]["congestion_control"] == "bbr1"
    assert parse("1*cbr:rate=1mbit:transport=bbr") == parse("1*cbr:rate=1mbit:transport=bbr1")


def udp_sources_have_rates_and_packets() -> None:
    cbr = parse("60*cbr:rate=3mbit:packet=1000b").flows.data()
    assert cbr["transport"] == {"udp": {"packet_bytes": 1000, "ecn": "off"}}
    assert cbr["source"] == {"cbr": {"rate_bps": 3_000_000}}
    assert parse("1*cbr:rate=3mbit:ecn=l4s").flows.data()["transport"]["udp"]["ecn"] == "l4s"
    onoff = parse("50*onoff:name=small:rate=1mbit:on=0..1s:off=exp(2s):transport=newreno").flows.data()
    assert onoff["name"] == "small"
    assert onoff["transport"]["tcp"]["congestion_control"] == "newreno"
    assert onoff["source"]["on_off"] == {
        "rate_bps": 1_000_000,
        "on": {"uniform": {"low": 0, "high": 1_000_000_000}},
        "off": {"exponential": {"mean": 2_000_000_000}},
    }
    pareto = parse("1*onoff:rate=1mbit:off=pareto(100ms,1.5)").flows.data()["source"]["on_off"]["off"]
    assert pareto == {"pareto": {"scale": 100_000_000, "shape": 1.5}}


def arrivals_have_gaps_and_sizes() -> None:
    poisson = parse("1*poisson:rate=8mbit:packet=1000b").flows.data()["source"]
    assert poisson == {"poisson": {"rate_bps": 8_000_000}}
    video = parse("1*vbr:size=lognormal(10kb,0.5)").flows.data()["source"]["arrivals"]
    assert video["gap"] == {"constant": {"value": 40_000_000}}
    assert video["size"] == {"lognormal": {"median": 10_240, "sigma": 0.5}}
    steps = parse("1*steps:rates=1..5mbit:every=exp(2s)").flows.data()["source"]["steps"]
    assert steps["rate"] == {"uniform": {"low": 1_000_000, "high": 5_000_000}}
    telnet = parse("1*telnet").flows.data()
    assert telnet["transport"]["tcp"]["congestion_control"] == "newreno"
    assert telnet["source"]["arrivals"]["gap"]["empirical"]["name"] == "telnet"


def the_paper_s_pareto_and_weibull_sources_are_on_off_with_its_periods() -> None:
    pareto = parse("1*pareto:rate=1500kbit").flows.data()["source"]["on_off"]
    assert pareto["on"] == {"constant": {"value": 1_000_000_000}}
    assert pareto["off"] == {"pareto": {"scale": 1_500_000_000, "shape": 2.5}}
    weibull = parse("1*weibull:rate=1500kbit:transport=newreno").flows.data()["source"]["on_off"]
    assert weibull["on"] == {"constant": {"value": 3_000_000_000}}
    assert weibull["off"] == {"weibull": {"scale": 1_000_000_000, "shape": 1.5}}


def applications_are_rounds_of_requests_and_responses() -> None:
    web = parse("2*web:objects=50..80:transport=newreno").flows.data()
    assert web["transport"]["tcp"]["congestion_control"] == "newreno"
    page = web["source"]["rounds"]
    assert (page["exchange"], page["connections"]) == ("page", 6)
    assert page["objects"] == {"uniform": {"low": 50, "high": 80}}
    assert page["request"] == {"constant": {"value": 300}}
    incast = parse("1*incast:servers=40:size=32kb").flows.data()["source"]["rounds"]
    assert (incast["connections"], "objects" in incast) == (40, False)
    ftp = parse("1*ftp:size=websearch").flows.data()["source"]["rounds"]
    assert ftp.keys() == {"exchange", "size", "pause"}
    workload = parse("8*workload:load=60%").flows.data()["source"]["workload"]
    assert (workload["size"]["empirical"]["name"], workload["load"]) == ("websearch", 0.6)


def calls_and_games_go_in_both_directions_and_videos_have_bitrates() -> None:
    voip = parse("4*voip").flows.data()
    assert (voip["source"], voip["transport"]["udp"]["packet_bytes"]) == ("voip", 200)
    assert parse("1*gaming").flows.data()["source"]["arrivals"]["both_ways"]
    assert "both_ways" not in parse("1*arrivals:gap=1s").flows.data()["source"]["arrivals"]
    video = parse("1*video:ladder=1mbit,2mbit:buffer=60s").flows.data()["source"]["video"]
    assert video == {"rates_bps": [1_000_000, 2_000_000], "segment_ns": 4_000_000_000, "buffer_ns": 60_000_000_000}


def a_replay_names_a_capture_beside_the_file_that_names_it(tmp_path: Path) -> None:
    capture = ROOT / "data" / "captures" / "aqmlab-lan.pcap"
    group = parse("1*replay:file=captures/aqmlab-lan.pcap:transport=newreno", ROOT / "data")
    assert group.flows.data()["source"] == {"replay": {"file": str(capture)}}
    assert parse(str(group)) == group
    (tmp_path / "no.pcap").write_text("no")
    for name, wanted in {"missing.pcap": "cannot be read", "no.pcap": "no.pcap: is not a capture"}.items():
        options = {"aqm": "fifo", "rate": "1mbit", "rtt": "40ms", "flows": f"1*replay:file={tmp_path / name}"}
        with pytest.raises(InputError, match=f"flows: '1\\*replay.*': file: .*{wanted}"):
            scenario.resolve(scenario.from_values(options))


def a_range_may_omit_its_first_unit() -> None:
    assert parse("1*cubic:start=100..500ms").flows.data()["start_ns"] == [100_000_000, 500_000_000]
    assert parse("1*cubic:start=1s..2500ms").flows.data()["start_ns"] == [1_000_000_000, 2_500_000_000]


def flows_may_start_one_after_another() -> None:
    group = parse("4*cubic:start=0..1ms:spacing=1s")
    assert group.flows.data()["start_ns"] == [0, 1_000_000]
    assert group.flows.data()["spacing_ns"] == 1_000_000_000
    assert group.latest_start_ns == 3_001_000_000
    assert "spacing_ns" not in parse("4*cubic").flows.data()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "10*reno",
            "unknown kind 'reno', did you mean 'newreno'?; the nearest of 36 are newreno, ",
        ),
        ("ten*cubic", "count 'ten' is not a whole number from 1 to 100000"),
        ("0*cubic", "count '0' is not a whole number"),
        ("-1*cubic", "count '-1' is not a whole number"),
        ("1*cubic:rrt=20ms", "unknown key 'rrt', did you mean 'rtt'?"),
        ("1*cubic:rtt", "'rtt' is not key=value"),
        ("1*cubic:rtt=", "'rtt=' is not key=value"),
        ("1*cubic:rtt=20", "rtt: '20' has no unit: give a time such as 20ms, 100us or 2s"),
        ("1*cubic:rtt=20mbit", "rtt: '20mbit' has an unknown unit 'mbit'"),
        ("1*cubic:rtt=0ms", "rtt: '0ms' is zero"),
        ("1*cubic:rtt=20ms:rtt=30ms", "'rtt' is given twice"),
        ("1*cubic:rate=1mbit", "'rate' means nothing for cubic"),
        ("1*cbr", "cbr needs rate=, a rate such as 3mbit"),
        ("1*cbr:rate=0mbit", "rate: '0mbit' is zero"),
        ("1*cbr:rate=-1mbit", "rate: '-1mbit' is negative"),
        ("1*cbr:rate=1mbit:mss=1000b", "'mss' means nothing for cbr over udp"),
        ("1*cbr:rate=1mbit:transport=newreno:packet=100b", "'packet' means nothing for cbr over newreno"),
        ("1*cbr:rate=1mbit:transport=tcp", "transport 'tcp' is not one of udp, newreno, cubic, dctcp, ledbat, prague"),
        ("1*cbr:rate=1mbit:packet=27b", "packet: '27b' is out of range: allowed is 28b to 65000b"),
        ("1*fixed", "fixed needs window=, 20p or 64kb"),
        ("1*poisson", "poisson needs rate=, a rate such as 3mbit"),
        ("1*vbr", "vbr needs size=, bytes such as 1mb, LOW..HIGH, exp(MEAN)"),
        ("1*steps:rates=3", "rates: '3' has no unit"),
        ("1*web:transport=udp", "transport 'udp' is not one of newreno, cubic"),
        ("1*web:objects=1.5", "objects: '1.5' is not a whole number"),
        ("1*incast:servers=0", "servers: '0' is out of range: allowed is 1 to 10000"),
        ("1*rpc:objects=3", "'objects' means nothing for rpc over cubic"),
        ("1*workload", "workload needs load=, a share such as 60%"),
        ("1*voip:transport=cubic", "transport 'cubic' is not one of udp"),
        ("1*video:ladder=3mbit,1mbit", "ladder: '3mbit,1mbit' does not ascend"),
        ("1*video:buffer=4s", "buffer=4s must hold two segments"),
        ("1*workload:load=0%", "load: '0%' is out of range"),
        ("1*telnet:rate=1mbit", "'rate' means nothing for telnet over newreno"),
        ("1*fixed:window=0p", "window: '0p' is zero"),
        ("1*fixed:window=100b", "window=100b is below a segment of 1448b"),
        ("1*bbr1:sack=off", "bbr1 takes sack=on only"),
        ("1*cbr:rate=1mbit:transport=bbr:ecn=classic", "bbr1 takes ecn=off only"),
        ("1*cubic:sack=off:recovery.rack=on", "recovery.rack needs sack=on"),
        ("1*cubic:ecn=l4s", "cubic takes ecn=off or classic only; l4s is for udp and prague"),
        ("1*cubic:sack=maybe", "sack: 'maybe' is neither 'on' nor 'off'"),
        ("1*cubic:iw=0", "iw: '0' is out of range: allowed is 1 to 10000"),
        ("1*cubic:dscp=64", "dscp: '64' is out of range: allowed is 0 to 63"),
        ("1*cubic:start=2s..1s", "start: '2s..1s' runs backwards"),
        ("1*cubic:delack=0ms", "delack: '0ms' is zero: write 'off'"),
        ("1*cubic:name=a.b", "name: 'a.b' is not a name"),
        ("1*onoff:rate=1mbit:on=exp(1s,2s)", "'exp(1s,2s)' is not exp(MEAN)"),
        ("1*onoff:rate=1mbit:on=pareto(1s,0)", "shape '0' is not a number above 0"),
        ("1*onoff:rate=1mbit:on=0..0s", "is always zero"),
    ],
)
def a_bad_flow_spec_is_refused_by_key_and_value(text: str, wanted: str) -> None:
    with pytest.raises(InputError) as error:
        parse(text)
    assert f"flows: '{text}': " in str(error.value)
    assert wanted in str(error.value)


def every_key_has_a_unit_and_help_and_belongs_to_a_kind() -> None:
    for kind in KINDS.values():
        for key in keys_of(kind).values():
            assert key.allowed
            assert key.help


def times_rates_and_bytes_need_their_unit_in_every_kind_of_flow() -> None:
    for kind in KINDS.values():
        for transport in kind.transports:
            for key in keys_of(kind, transport).values():
                if key.unit in ("span", "rate", "bytes", "size"):
                    over = f":transport={transport}" if len(kind.transports) > 1 else ""
                    with pytest.raises(InputError, match="'1000' has no unit"):
                        parse(f"{kind.name}{over}:{key.name}=1000")


def a_profile_chooses_defaults_and_single_keys_override_it() -> None:
    assert parse("1*cubic:profile=rfc") == parse("1*cubic")
    linux = parse("1*cubic:profile=linux:acks.quickack=4:recovery.rack=off").flows.data()["transport"]["tcp"]
    assert (linux["handshake"], linux["iw"], linux["growth"]) == (True, 10, "count")
    assert (
        linux["recovery"].items()
        >= {
            "rack": False,
            "reenter": True,
            "ssthresh": "cwnd",
            "ssthresh_on_lost_rtx": False,
            "cwnd_unit": "segments",
            "prr": True,
            "prr_on_ecn": True,
            "prr_on_timer": True,
            "safeack": True,
            "eifel": True,
            "frto": True,
            "minrto_bounds": "rttvar",
            "syn_rto_ns": 1_000_000_000,
            "syn_loss": False,
            "ecn_fallback": True,
            "ect_syn": False,
        }.items()
    )
    acks = {"delack_max_ns": 200_000_000, "quickack": 4, "quickack_mode": True, "psh": True, "rcvbuf_bytes": 131_072}
    assert linux["acks"].items() >= acks.items()
    growth = {"hystart": "classic_first", "abc_limit": 0, "acked_sacked": True}
    assert linux["slow_start"].items() >= growth.items()
    ns3 = parse("1*newreno:profile=ns3").flows.data()["transport"]["tcp"]
    wanted = {"mss_bytes": 536, "delack_ns": 200_000_000, "minrto_ns": 1_000_000_000, "abc": False}
    assert {key: ns3[key] for key in wanted} == wanted
    assert ns3["recovery"]["ssthresh"] == "pipe"
    web = parse("1*web:profile=linux").flows.data()["transport"]["tcp"]
    assert web["slow_start"]["hystart"] == "classic_first"


def a_profile_does_not_change_keys_that_a_control_fixes() -> None:
    tcp = parse("1*bbr:profile=linux").flows.data()["transport"]["tcp"]
    assert (tcp["recovery"]["prr"], tcp["recovery"]["rack"], tcp["handshake"]) == (False, True, True)
    assert tcp["slow_start"]["hystart"] == "off"
    assert parse("1*dctcp:profile=ns3").flows.data()["transport"]["tcp"]["ecn"] == "classic"
    with pytest.raises(InputError, match="profile 'linus' is not one of rfc, linux, ns3, did you mean 'linux'"):
        parse("1*cubic:profile=linus")
    with pytest.raises(InputError, match="'profile' means nothing for cbr over udp"):
        parse("1*cbr:rate=1mbit:profile=linux")


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "transport", [one for one in TRANSPORTS.values() if one.form == "tcp"], ids=lambda one: one.name
)
def every_transport_takes_every_profile_and_reads_back(profile: str, transport: Transport) -> None:
    group = parse(":".join([f"1*{transport.name}", f"profile={profile}", *(["window=20p"] if transport.must else [])]))
    assert parse(str(group)) == group
    assert PROFILES[profile].source


_spans = st.integers(1, 10**12).map(format_span)
_rates = st.integers(1, 10**12).map(format_rate)
_ranges = st.tuples(st.integers(0, 10**10), st.integers(0, 10**10)).map(
    lambda pair: f"{format_span(min(pair))}..{format_span(max(pair))}"
)
_tcp_keys = {
    "start": st.one_of(_spans, _ranges),
    "rtt": _spans,
    "mss": st.integers(1, 65000).map(lambda n: f"{n}b"),
    "iw": st.integers(1, 10000).map(str),
    "sack": st.sampled_from(["on", "off"]),
    "ecn": st.sampled_from(["off", "classic"]),
    "delack": st.one_of(st.just("off"), _spans),
    "minrto": _spans,
    "window": st.integers(1, 10**6).map(lambda n: f"{n}p"),
    "dscp": st.integers(0, 63).map(str),
    "size": st.integers(1, 10**9).map(lambda n: f"{n}b"),
    "name": st.from_regex(r"\A[A-Za-z][A-Za-z0-9_-]{0,8}\Z"),
}


@given(
    st.integers(1, 100_000),
    st.sampled_from(["newreno", "cubic"]),
    st.fixed_dictionaries({}, optional=_tcp_keys),
    st.randoms(use_true_random=False),
)
def a_written_flow_spec_reads_back_whatever_the_order(
    count: int, kind: str, keys: dict[str, str], random: object
) -> None:
    pairs = [f"{key}={value}" for key, value in keys.items()]
    random.shuffle(pairs)  # type: ignore[attr-defined]
    group = parse(":".join([f"{count}*{kind}", *pairs]))
    assert parse(str(group)) == group
    assert parse(group.short) == group


@given(_rates, st.one_of(_spans, _ranges.filter(lambda text: not text.endswith("..0s"))), st.integers(28, 65000))
def udp_specs_read_back_too(rate: str, on: str, packet: int) -> None:
    group = parse(f"3*onoff:rate={rate}:on={on}:packet={packet}b")
    assert parse(str(group)) == group


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def every_kind_of_flow_reads_back_with_its_defaults(kind: SourceKind) -> None:
    examples = {
        "rate": "3mbit",
        "rates": "1mbit..3mbit",
        "window": "20p",
        "size": "exp(10kb)",
        "gap": "1ms",
        "load": "60%",
        "file": f"{ROOT}/data/captures/aqmlab-lan.pcap",
    }
    group = parse(":".join([f"2*{kind.name}", *(f"{name}={examples[name]}" for name in kind.must)]))
    assert parse(str(group)) == group
    assert parse(group.short) == group


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("cubic", "1*cubic"),
        ("8*newreno:sack=on:minrto=200ms", "8*newreno"),
        ("2*bbr:profile=linux:recovery.rack=on", "2*bbr1:profile=linux"),
        ("2*cubic:profile=linux:recovery.rack=off", "2*cubic:profile=linux:recovery.rack=off"),
        ("3*cbr:rate=1000kbit:packet=1500b:transport=udp", "3*cbr:rate=1mbit"),
        ("1*cbr:rate=1mbit:transport=cubic:start=0s", "1*cbr:start=0s:transport=cubic:rate=1mbit"),
        ("1*dctcp:ecn=classic:name=dctcp", "1*dctcp"),
    ],
)
def what_differs_from_the_default_is_enough(text: str, short: str) -> None:
    group = parse(text)
    assert group.short == short
    assert parse(short) == group


@given(st.text(max_size=30))
def any_text_is_a_group_or_one_clear_refusal(text: str) -> None:
    refusal = "flows: '"
    try:
        parse(text)
    except InputError as error:
        refusal = str(error)
    assert refusal.startswith("flows: '")
