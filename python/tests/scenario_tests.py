from __future__ import annotations

import json
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command

from aqmlab import InputError, load, scenario
from aqmlab.scenario import OPTIONS, Plan
from aqmlab.vocabulary.units import Size, as_text

LTE = str(ROOT / "data/link-traces/aqmlab-lte.down")


def _plan(**options: Any) -> Plan:
    unequal = options.pop("allow_unequal_buffers", False)
    values = {"rate": "10mbit", "rtt": "40ms", "aqm": "fifo", **options}
    return scenario.resolve(scenario.from_values(values, allow_unequal_buffers=unequal))


def _refusal(**options: Any) -> str:
    with pytest.raises(InputError) as error:
        _plan(**options)
    return str(error.value)


def missing_options_take_the_defaults_of_the_contract() -> None:
    plan = _plan()
    echo = plan.echo
    assert (echo["duration"], echo["overhead"], echo["device_ring"]) == ("30s", "14b", "1p")
    assert plan.seeds == tuple(range(1, 11))
    assert [flow.split(":")[0] for flow in echo["flows"]] == ["1*cubic"]
    assert echo["defaults"] == [option.name for option in OPTIONS if option.default]
    assert json.loads(plan.scenarios[plan.contestants[0].label].json) == {
        "aqm": "fifo:tail limit 34p",
        "capacity": {"rate_bps": 10_000_000},
        "rtt_ns": 40_000_000,
        "overhead_bytes": 14,
        "device_ring_packets": 1,
        "access_rate_bps": None,
        "duration_ns": 30_000_000_000,
        "warmup_ns": 5_000_000_000,
        "sample_ns": 100_000_000,
        "flow_series": True,
        "loss": 0.0,
        "jitter_ns": 0,
        "flows": json.loads(plan.scenarios[plan.contestants[0].label].json)["flows"],
        "captures": [],
    }


@pytest.mark.parametrize(
    ("buffer", "options", "limit"),
    [
        ("1000p", {}, "1000p"),
        ("64kb", {}, "64kb"),
        # 10 Mbit/s * 40 ms = 400 000 bit = 50 000 bytes = 33.03 packets of 1514.
        ("1bdp", {}, "34p"),
        ("2bdp", {}, "67p"),
        ("1bdp", {"rtt": "4ms"}, "20p"),
        ("1bdp", {"flows": "1*cubic:rtt=80ms"}, "67p"),
        ("1bdp", {"overhead": "0b", "rate": "12mbit", "rtt": "100ms"}, "100p"),
        ("200ms", {}, "166p"),
        ("1ms", {}, "1p"),
    ],
)
def the_buffer_becomes_the_limit(buffer: str, options: dict[str, str], limit: str) -> None:
    assert _plan(buffer=buffer, **options).contestants[0].buffer == limit


def under_a_trace_the_buffer_counts_bytes_by_its_mean_rate(tmp_path: Path) -> None:
    trace = tmp_path / "two.down"
    trace.write_text("6\n12\n")  # 2 * 1500 bytes every 12 ms: 2 Mbit/s
    plan = _plan(rate=None, link_trace=str(trace), rtt="400ms")
    assert plan.contestants[0].buffer == str(Size(100_000, in_packets=False))
    assert plan.echo["link_trace_mean_rate"] == "2mbit"
    short = _plan(rate=None, link_trace=str(trace), rtt="4ms")
    assert short.contestants[0].buffer == str(Size(20 * 1514, in_packets=False))
    assert "at least 20p" in short.echo["rules"]["buffer"]


@pytest.mark.parametrize(
    ("options", "warmup", "rule"),
    [
        ({}, "5s", "5s and 20 round trips"),
        ({"rtt": "400ms"}, "8s", "5s and 20 round trips"),
        ({"duration": "12s"}, "4s", "a third of the duration"),
        ({"flows": "1*cubic:start=9s"}, "9s", "until the last flow has started"),
        ({"flows": "1*cubic:start=20s"}, "5s", "5s and 20 round trips"),
        ({"flows": "1*cbr:rate=1mbit"}, "0s", "nothing reacts"),
        ({"warmup": "3s"}, "3s", "as given"),
    ],
)
def the_warm_up_follows_its_rule_and_says_so(options: dict[str, str], warmup: str, rule: str) -> None:
    echo = _plan(**options).echo
    assert echo["warmup"] == warmup
    assert rule in echo["rules"]["warmup"]


def samples_are_a_three_hundredth_of_the_run_but_not_below_10_ms() -> None:
    assert _plan(duration="60s").echo["sample"] == "200ms"
    assert _plan(duration="1s").echo["sample"] == "10ms"
    assert _plan(duration="20s").echo["sample"] == "66ms"


@pytest.mark.parametrize(
    ("aqm", "flow", "warned"),
    [
        ("pie ecn", "1*cubic", "'pie ecn' may mark, but no flow supports ECN"),
        ("pie ecn", "1*cubic:ecn=classic", None),
        ("pie ecn,fifo", "1*cubic:ecn=classic", None),
        (
            "pie ecn,codel",
            "1*cubic:ecn=classic",
            "ECN is unequal: pie ecn may mark, codel would with ecn, as in 'codel ecn'",
        ),
        ("pie", "1*cubic:ecn=classic", "flows 'cubic' support ECN, but no AQM here marks"),
        ("fifo", "1*dctcp", "flows 'dctcp' support ECN"),
        ("fifo", "1*cubic", None),
        ("fq_codel", "1*cubic", None),
        ("dctcp_step", "1*dctcp", None),
        ("drr child [pie ecn]", "1*cubic:ecn=classic", None),
    ],
)
def useless_ecn_is_warned_about(aqm: str, flow: str, warned: str | None) -> None:
    warnings = _plan(aqm=aqm, flows=flow).warnings
    assert len(warnings) == (warned is not None)
    assert all(warning.startswith(warned or "") for warning in warnings)


def a_bare_list_of_names_may_have_commas() -> None:
    assert [one.label for one in _plan(aqm="fifo,codel,pie").contestants] == ["fifo", "codel", "pie"]


def commas_in_brackets_and_between_numbers_do_not_divide_a_list() -> None:
    drr = "drr child [pie target 15ms ecn] child [sp child [codel] child [red]] quantum 3000b,1500b"
    labels = [one.label for one in _plan(aqm=f"fifo,{drr},wrr weight 3,1").contestants]
    assert labels == ["fifo", drr, "wrr weight 3,1"]
    with pytest.raises(InputError, match=r"drr child 2: sp child 1: codel: parameter 'tarjet' .* 'target'"):
        _plan(aqm="fifo,drr child [fifo] child [sp child [codel tarjet 5ms]]")
    with pytest.raises(InputError, match=r"'codel/ecn' is not in brackets: write child \[codel ecn\]"):
        _plan(aqm="drr child codel/ecn")
    with pytest.raises(InputError, match=r"has a '\[' without its '\]'"):
        _plan(aqm="drr child [codel")


def bytes_and_times_need_their_unit_also_where_each_class_has_its_own() -> None:
    contract = "drr child [pie target 15ms ecn] child [codel] quantum 3000b"
    assert [one.label for one in _plan(aqm=[contract]).contestants] == [contract]
    assert "quantum': '3000' has no unit: write 3000b" in _refusal(aqm="drr quantum 3000")
    assert "quantum': '1500' has no unit: write 1500b" in _refusal(aqm="mq_ecn quantum 3000b,1500")
    assert "maxpkt': '600' has no unit: write 600b" in _refusal(aqm="qfq maxpkt 600")
    assert "slack': '10' has no unit: give a time such as 20ms" in _refusal(aqm="pifo:lstf slack 10")
    assert "overhead': '-4' has no unit: write -4b" in _refusal(aqm="cake overhead -4")
    assert "weight': '1b' is not a whole number" in _refusal(aqm="wrr weight 1b")


def times_may_be_timedeltas() -> None:
    assert _plan(rtt=timedelta(milliseconds=40)).echo["rtt"] == "40ms"
    assert as_text(timedelta(microseconds=1500)) == "1500us"
    assert "is negative" in _refusal(rtt=timedelta(seconds=-1))


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"aqm": "codle"}, "aqm: unknown discipline 'codle', did you mean 'codel'?"),
        ({"aqm": "codel:linx"}, "aqm: codel has no preset 'linx', did you mean 'linux'?"),
        ({"aqm": "codel tagret 5ms"}, "aqm: codel: parameter 'tagret' is unknown, did you mean 'target'?"),
        ({"aqm": "codel target 5"}, "aqm: codel: parameter 'target': '5' has no unit"),
        ({"aqm": "fifo limit 0p"}, "aqm: fifo: parameter 'limit': '0p' is out of range"),
        ({"aqm": []}, "aqm: is missing: name at least one discipline"),
        ({"aqm": ["fifo", "fifo"]}, "aqm: 'fifo' is given twice"),
        ({"aqm": ["fifo", "codel limit 5p"]}, "give all the same limit, or allow_unequal_buffers=True"),
        ({"aqm": "fifo limit 5p", "buffer": "6p"}, "aqm: 'fifo limit 5p' has limit 5p, but the buffer is 6p"),
        ({"aqm": "red min 50p max 40p"}, "aqm: red: parameter"),
        ({"rate": None}, "rate: is missing: give the bottleneck's rate"),
        ({"rate": "10"}, "rate: '10' has no unit: give a rate such as 10mbit"),
        ({"rate": "10ms"}, "rate: '10ms' has an unknown unit 'ms'"),
        ({"rate": "0mbit"}, "rate: '0mbit' is out of range: allowed is a rate above zero"),
        ({"rate": "-1mbit"}, "rate: '-1mbit' is negative"),
        ({"rate": 10}, "rate: '10' has no unit"),
        ({"rtt": None}, "rtt: is missing"),
        ({"rtt": "0ms"}, "rtt: '0ms' is out of range: allowed is a time above zero"),
        ({"buffer": "0p"}, "buffer: '0p' is out of range: allowed is a buffer above zero"),
        ({"buffer": "big"}, "buffer: 'big' is not a buffer such as 1000p, 64kb, 200ms or 1bdp"),
        ({"buffer": "0ms"}, "buffer: '0ms' is out of range"),
        ({"duration": "0s"}, "duration: '0s' is out of range"),
        ({"warmup": "30s"}, "warmup: '30s' is out of range: allowed is a time below the duration (30s), auto or mser5"),
        ({"seeds": "0"}, "seeds: '0' is out of range: allowed is 1 to 10000"),
        ({"seeds": "ten"}, "seeds: 'ten' is not a whole number"),
        ({"first_seed": "0"}, "first_seed: '0' is out of range: allowed is 1 to 10000"),
        ({"first_seed": "9992"}, "first_seed: '9992' makes 10001 the last seed: allowed is up to 10000"),
        ({"device_ring": "0p"}, "device_ring: '0p' is out of range: allowed is 1p to 10000p"),
        ({"device_ring": "1kb"}, "device_ring: '1kb' is not a number of packets"),
        ({"loss": "100%"}, "loss: '100%' is out of range"),
        ({"loss": "x"}, "loss: 'x' has no model 'x'"),
        ({"overhead": "1mb"}, "overhead: '1mb' is out of range: allowed is 0b to 1000b"),
        ({"access_rate": "0mbit"}, "access_rate: '0mbit' is out of range"),
        ({"flows": "1*cubic:rrt=1ms"}, "flows: '1*cubic:rrt=1ms': unknown key 'rrt', did you mean 'rtt'?"),
        ({"rtt": ["1ms", "2ms"]}, "rtt: takes one value, not a list"),
        ({"rtts": "1ms"}, "unknown key 'rtts', did you mean 'rtt'?"),
        ({"link_trace": LTE}, "rate: contradicts the link trace: give one of them"),
    ],
)
def a_bad_option_is_refused_by_name_and_value(options: dict[str, Any], wanted: str) -> None:
    assert wanted in _refusal(**options)


def unequal_buffers_are_allowed_on_request_and_warned_about() -> None:
    plan = _plan(aqm=["fifo", "codel limit 5p"], allow_unequal_buffers=True)
    assert [one.buffer for one in plan.contestants] == ["34p", "5p"]
    assert plan.warnings == ("the buffers are unequal: fifo 34p, codel limit 5p",)


def a_late_flow_is_warned_about() -> None:
    assert "flows 'cubic' may start as late as 40s" in _plan(flows="1*cubic:start=40s").warnings[0]


def a_threshold_that_a_queue_cannot_reach_is_warned_about() -> None:
    flows = "1*dctcp:start=0s"
    (warning,) = _plan(aqm="ecn_ramp kmin 400kb kmax 1600kb", flows=flows, buffer="100p").warnings
    assert "does nothing below kmin 400kb, and its queue is full at 100p: give a larger buffer" in warning
    for fine in ("ecn_ramp kmin 100kb kmax 200kb", "tcn threshold 10s", "red ecn"):
        assert _plan(aqm=fine, flows=flows, buffer="100p").warnings == ()


def the_key_of_a_run_changes_with_what_decides_it(tmp_path: Path) -> None:
    plan, trace = _plan(), tmp_path / "a.down"
    one = plan.contestants[0]
    keys = {plan.key(one, 1, "v1"), plan.key(one, 2, "v1"), plan.key(one, 1, "v2")}
    keys.add(_plan(rtt="41ms").key(one, 1, "v1"))
    assert len(keys) == 4
    assert plan.key(one, 1, "v1") == _plan().key(one, 1, "v1")
    contents = []
    for text in ("6\n12\n", "5\n12\n"):
        trace.write_text(text)
        traced = _plan(rate=None, link_trace=str(trace))
        contents.append(traced.key(traced.contestants[0], 1, "v1"))
    assert contents[0] != contents[1]


# --- files -----------------------------------------------------------------------------------------------------------


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "exp.toml"
    path.write_text(text)
    return path


GOOD = 'aqm = ["fifo", "codel"]\nrate = "10mbit"\nrtt = "40ms"\n'


def a_file_holds_the_options_of_compare(tmp_path: Path) -> None:
    path = _file(tmp_path, f'title = "Two"\n{GOOD}flows = ["2*cubic", "1*cbr:rate=1mbit"]\nseeds = 3\n')
    experiment = scenario.load(path)
    assert experiment.title == "Two"
    (options,) = experiment.points
    plan = scenario.resolve(options)
    assert [one.label for one in plan.contestants] == ["fifo", "codel"]
    assert plan.seeds == (1, 2, 3)
    assert scenario.resolve(scenario.load(path, {"seeds": "2"}).points[0]).seeds == (1, 2)


def a_sweep_is_the_cross_product_of_its_lists(tmp_path: Path) -> None:
    text = (
        'aqm = "fifo"\nrtt = "40ms"\n[sweep]\n'
        'rate = ["5mbit", "10mbit"]\nflows = ["1*cubic", ["1*cubic", "2*newreno"]]\n'
    )
    experiment = scenario.load(_file(tmp_path, text))
    assert [dict(point.point) for point in experiment.points] == [
        {"rate": "5mbit", "flows": "1*cubic"},
        {"rate": "5mbit", "flows": "1*cubic + 2*newreno"},
        {"rate": "10mbit", "flows": "1*cubic"},
        {"rate": "10mbit", "flows": "1*cubic + 2*newreno"},
    ]
    assert len(scenario.resolve(experiment.points[1]).base.flows) == 2


VALUES = """
aqm = ["codel", "pie target $target"]
rtt = "40ms"
rate = "10mbit"
flows = ["$count*cubic"]
seeds = 10
[values]
count = "2"
[sweep]
target = ["5ms", "15ms"]
[quick]
seeds = 3
sweep.target = ["5ms"]
"""


def values_are_named_once_swept_and_filled_in(tmp_path: Path) -> None:
    path = _file(tmp_path, VALUES)
    plans = [scenario.resolve(point) for point in scenario.load(path, values={"count": "7"}).points]
    assert [plan.base.flows[0].count for plan in plans] == [7, 7]
    assert [plan.contestants[1].spec.params["target"] for plan in plans] == ["5ms", "15ms"]
    # The name stays the same over the sweep: it identifies a line.
    assert {plan.contestants[1].label for plan in plans} == {"pie"}


def a_name_may_stand_for_no_group_of_flows(tmp_path: Path) -> None:
    file = tmp_path / "groups.toml"
    rest = 'aqm = "fifo"\nrate = "10mbit"\nrtt = "20ms"\nflows = ["$a", "$b"]\n[values]\n'
    file.write_text(rest + 'a = "2*newreno:name=first"\nb = ""\n')
    [point] = scenario.load(file).points
    assert [group.name for group in scenario.resolve(point).base.flows] == ["first"]
    # Nothing but empty names, and an empty text that no name stands for, are none.
    for empty in (rest + 'a = ""\nb = ""\n', 'aqm = "fifo"\nrate = "10mbit"\nrtt = "20ms"\nflows = [""]\n'):
        file.write_text(empty)
        with pytest.raises(InputError, match="flows: '': unknown kind"):
            scenario.resolve(scenario.load(file).points[0])


def quick_replaces_what_it_names(tmp_path: Path) -> None:
    path = _file(tmp_path, VALUES)
    plans = [scenario.resolve(point) for point in scenario.load(path, quick=True).points]
    assert [(len(plan.seeds), plan.contestants[1].spec.params["target"]) for plan in plans] == [(3, "5ms")]


def quick_names_the_points_of_a_sweep_that_it_runs(tmp_path: Path) -> None:
    named = VALUES.replace('target = ["5ms", "15ms"]', 'target = { short = "5ms", long = "15ms" }')
    for chosen, points in (("short", [("short", "5ms")]), ("20ms", [("20ms", "20ms")])):
        path = _file(tmp_path, named.replace('sweep.target = ["5ms"]', f'sweep.target = ["{chosen}"]'))
        experiment = scenario.load(path, quick=True)
        plans = [scenario.resolve(point) for point in experiment.points]
        found = [
            (point.point["target"], plan.contestants[1].spec.params["target"])
            for point, plan in zip(experiment.points, plans, strict=True)
        ]
        assert found == points


def paths_in_a_file_are_relative_to_it(tmp_path: Path) -> None:
    (tmp_path / "a.down").write_text("6\n12\n")
    path = _file(tmp_path, 'aqm = "fifo"\nrtt = "40ms"\nlink_trace = "a.down"\n')
    assert scenario.resolve(scenario.load(path).points[0]).echo["link_trace"] == str(tmp_path / "a.down")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("aqm = [", "is not TOML: "),
        (f"{GOOD}rtts = '1ms'", "unknown key 'rtts', did you mean 'rtt'?"),
        (f"{GOOD}buffer = 100", "buffer: '100' is not text with a unit, such as \"1bdp\""),
        (f"{GOOD}duration = 1.5", "duration: '1.5' is not text with a unit"),
        (f"{GOOD}warmup = 5", "warmup: '5' is not text with a unit, such as \"auto\""),
        (f"{GOOD}seeds = 1.5", "seeds: '1.5' is not a whole number, such as 10"),
        (f"{GOOD}first_seed = true", "first_seed: 'True' is not a whole number, such as 1"),
        (f"{GOOD}measure = 5", "measure: '5' is not text"),
        (f"{GOOD}flows = 5", "flows: '5' is not text, such as \"1*cubic\""),
        (f"{GOOD}loss = true", "loss: 'True' is not text with a unit"),
        (f"{GOOD}duration = '0s'", "duration: '0s' is out of range"),
        (f"{GOOD}title = 3", "title: '3' is not text"),
        (f"{GOOD}allow_unequal_buffers = 'yes'", "allow_unequal_buffers: 'yes' is neither true nor false"),
        (f"{GOOD}sweep = 3", "sweep: must be a table of lists"),
        (f"{GOOD}[sweep]\nbufer = ['1p']", "sweep: unknown key 'bufer', did you mean 'buffer'?"),
        (f"{GOOD}[sweep]\nrate = ['1mbit']", "sweep: 'rate' is given outside the sweep too"),
        (f"{GOOD}[sweep]\nbuffer = []", "sweep: buffer: must be a list of values"),
        (f"{GOOD}[sweep]\nbuffer = ['1p', '1p']", "sweep: buffer: holds a value twice"),
        (f"{GOOD}[sweep]\nseeds = [1]", "sweep: 'seeds' cannot be swept"),
        (f"{GOOD}flows = '$n*cubic'", "flows: '$n*cubic': there is no $n"),
        (f"{GOOD}flows = '$n*cubic'\n[values]\nm = '1'\nn = '1'", "'m' is neither an option nor used anywhere as $m"),
        (f"{GOOD}flows = '$n*cubic'\n[values]\nn = 1", "values: n: '1' is not text"),
        (f"{GOOD}flows = '$many*cubic'\n[values]\nmany = '1'\n[sweep]\nmany = ['2']", "sweep: 'many' is given outside"),
        (f"{GOOD}[sweep.a]\nb = {{ c = '1' }}", "'c' is neither an option nor used anywhere as $c"),
        (
            f"{GOOD}flows = '$c*cubic'\n[sweep.a]\nb = {{ c = '1' }}\nd = {{ e = '1' }}",
            "a: 'd' has other values (e) than 'b' (c)",
        ),
        (f"{GOOD}flows = '$c*cubic'\n[values]\nc = '1'\n[sweep.a]\nb = {{ c = '1' }}", "sweep: 'c' is given outside"),
        (f"{GOOD}flows = '$c*cubic'\n[sweep]\nc = ['1']\na.b = {{ c = '1' }}", "sweep: 'c' is swept twice"),
        (f"{GOOD}[sweep.a]\nb = {{ buffer = '1p' }}", "sweep: a: 'buffer' is an option"),
        (f"{GOOD}[sweep.a]\nb = {{ aqm = 'red' }}", "sweep: 'aqm' cannot be swept"),
        (f"{GOOD}topology = 'none.toml'\n[values]\nm = '1'", "topology: "),
        (f"{GOOD}[quick]\nseed = 3", "quick: unknown key 'seed', did you mean 'seeds'?"),
        (f"{GOOD}quick = 3", "quick: must be a table of options"),
    ],
)
def a_bad_file_is_refused_by_file_key_and_value(tmp_path: Path, text: str, wanted: str) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(InputError) as error:
        scenario.resolve(scenario.load(path).points[0])
    assert str(error.value).startswith(f"{path}: ")
    assert wanted in str(error.value)


def a_sweep_may_name_its_values_and_a_value_may_name_others(tmp_path: Path) -> None:
    text = f"{GOOD}flows = '2*$kind'\n[values]\nmss = '1000b'\n[sweep.kind]\nfast = 'cubic:mss=$mss'\nslow = 'newreno'"
    loaded = scenario.load(_file(tmp_path, text))
    assert [dict(point.point) for point in loaded.points] == [{"kind": "fast"}, {"kind": "slow"}]
    assert [point.texts("flows") for point in loaded.points] == [("2*cubic:mss=1000b",), ("2*newreno",)]
    with pytest.raises(InputError, match=r"there is no|unknown value"):
        scenario.resolve(scenario.load(_file(tmp_path, f"{GOOD}flows = '$a'\n[values]\na = '$a$a'")).points[0])


GRAPH = """
sources = ["a"]
sinks = ["c"]
[switch]
program = "dscp threshold $threshold"
[[link]]
from = "a"
to = "b"
delay = "$delay"
[[link]]
from = "b"
to = "c"
delay = "1ms"
queue = "test"
"""


def values_that_belong_together_are_swept_together(tmp_path: Path) -> None:
    text = f"{GOOD}flows = '2*$kind:mss=$mss'\n[sweep.sender]\nfast = {{ kind = 'cubic', mss = '1000b' }}\n"
    loaded = scenario.load(
        _file(tmp_path, f"{text}slow = {{ mss = '500b', kind = 'newreno' }}\n[sweep]\nloss = ['0%', '1%']")
    )
    assert [dict(point.point) for point in loaded.points] == [
        {"sender": name, "loss": loss} for name in ("fast", "slow") for loss in ("0%", "1%")
    ]
    flows = [point.texts("flows") for point in loaded.points]
    assert flows == [("2*cubic:mss=1000b",)] * 2 + [("2*newreno:mss=500b",)] * 2
    labelled = scenario.load(_file(tmp_path, text.replace('"codel"', '"$kind"').replace("2*$kind", "2*cubic"))).points[
        0
    ]
    assert labelled.labels("aqm") == ("fifo", "$kind")


def what_only_a_replaced_value_used_need_not_be_used(tmp_path: Path) -> None:
    text = GOOD.replace('"10mbit"', '"$line"') + "[values]\nline = '$uplink'\nuplink = '9mbit'"
    path = _file(tmp_path, text)
    assert scenario.load(path).points[0].named["uplink"] == "9mbit"
    assert scenario.resolve(scenario.load(path, values={"line": "2gbit"}).points[0]).echo["rate"] == "2gbit"
    with pytest.raises(InputError, match="'uplink' is neither an option nor used anywhere"):
        scenario.load(_file(tmp_path, text.replace("line = '$uplink'", "line = '2gbit'")))


def a_topology_in_a_file_has_the_values_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "graph.toml").write_text(GRAPH)
    values = "[values]\nthreshold = '$kilobytes'\nkilobytes = '9kb'\n[sweep]\ndelay = ['2ms', '3ms']"
    text = f"{GOOD}topology = 'graph.toml'\n{values}"
    plans = [scenario.resolve(point) for point in scenario.load(_file(tmp_path, text)).points]
    topologies = [plan.base.topology for plan in plans]
    assert [one.links[0].delay_ns for one in topologies if one] == [2_000_000, 3_000_000]
    assert all(one and one.switches["b"]["program"] == "dscp:plain threshold 9kb" for one in topologies)
    # A folder of results with other values holds another experiment.
    assert [plan.echo["topology_values"] for plan in plans] == [
        {"delay": delay, "threshold": "9kb"} for delay in ("2ms", "3ms")
    ]
    path = _file(tmp_path, text.replace("[values]", "[values]\nm = '1'"))
    with pytest.raises(InputError, match="'m' is neither an option nor used anywhere"):
        scenario.load(path)
    path = _file(tmp_path, f"{GOOD}topology = 'graph.toml'\n[values]\ndelay = '1ms'")
    with pytest.raises(InputError) as error:
        scenario.resolve(scenario.load(path).points[0])
    missing = "'dscp threshold $threshold': unknown value 'threshold'; known are delay"
    assert str(error.value) == f"{path}: topology: {tmp_path / 'graph.toml'}: {missing}"


def recordings_that_do_not_come_with_the_project_are_looked_for_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AQMLAB_SHARED", str(tmp_path))
    path = _file(tmp_path, "aqm = 'fifo'\nrtt = '40ms'\nlink_trace = 'shared:link-traces/a.down'\nflows = '1*cubic'")
    trace = tmp_path / "data/link-traces/a.down"
    assert scenario.load(path).points[0].text("link_trace") == str(trace)
    assert scenario.load(path).absent == [str(trace)]
    trace.parent.mkdir(parents=True)
    trace.write_text("1\n2\n")
    assert scenario.load(path).absent == []


def _experiments() -> list[Path]:
    """Return the files that name AQMs: the others under experiments are graphs."""
    paths = sorted(ROOT.glob("experiments/**/*.toml"))
    return [path for path in paths if "aqm" in tomllib.loads(path.read_text())]


@pytest.mark.parametrize("path", _experiments(), ids=lambda path: f"{path.parent.stem}-{path.stem}")
def every_experiment_of_the_project_resolves(path: Path) -> None:
    loaded = scenario.load(path)
    if loaded.absent:
        pytest.skip(f"there is no {', no '.join(loaded.absent)}")
    for options in loaded.points:
        scenario.resolve(options)


def groups_of_one_kind_are_distinguished() -> None:
    plan = _plan(flows=["3*cubic", "1*cubic:rtt=160ms", "2*cubic"])
    assert [group.name for group in plan.base.flows] == ["cubic", "cubic-2", "cubic-3"]
    with pytest.raises(InputError, match="another group has the name 'x'"):
        _plan(flows=["3*cubic:name=x", "1*newreno:name=x"])


def a_rate_in_bytes_per_second_is_pointed_out_once() -> None:
    given = {"aqm": "fifo", "rate": "10mbps", "rtt": "40ms", "flows": ["2*cbr:rate=1mbps", "1*cbr:name=b:rate=1mbps"]}
    found = [text for text in scenario.resolve(scenario.from_values(given)).warnings if "bytes per second" in text]
    assert [text.split(":")[0] for text in found] == ["10mbps is 80mbit", "1mbps is 8mbit"]
    quiet = {**given, "rate": "80mbit", "flows": "1*cbr:rate=8mbit"}
    assert scenario.resolve(scenario.from_values(quiet)).warnings == ()


@pytest.mark.parametrize(
    "text", ["fifo,red,red probability 0.05", 'fifo,red,"red probability 0.05"', "fifo, red, 'red probability 0.05'"]
)
def disciplines_of_a_list_may_have_parameters_and_quotes(text: str) -> None:
    plan = scenario.resolve(scenario.from_values({"aqm": text, "rate": "10mbit", "rtt": "40ms"}))
    assert [one.label for one in plan.contestants] == ["fifo", "red", "red probability 0.05"]
    assert plan.contestants[2].spec.params["probability"] in ("0.05", "5%")


def a_name_stands_for_a_discipline(aqmlab: Command, tmp_path: Path) -> None:
    base = ("--rate", "10mbit", "--rtt", "40ms", "--duration", "1s", "--warmup", "100ms", "--seeds", "2")
    ended = aqmlab("compare", *base, "--aqm", "fifo", "--aqm", "Mine=codel target 10ms", "--out", tmp_path / "one")
    assert ended.status == 0
    assert "undecided against fifo" in ended.out
    assert "Mine" in ended.out
    assert "codel target" not in ended.out
    found = load(tmp_path / "one")
    assert found.aqms == ["fifo", "Mine"]
    assert found.scenarios[0]["aqm"][1]["params"]["target"] == "10ms"
    swept = ("--sweep", "th=5ms,10ms", "--aqm", "Mine=codel target $th", "--out", tmp_path / "swept")
    ended = aqmlab("sweep", *base, *swept)
    assert ended.status == 0
    assert "$th" not in ended.out.partition("Scenario")[0]
    assert load(tmp_path / "swept").aqms == ["Mine"]


def two_of_one_name_are_refused(aqmlab: Command) -> None:
    ended = aqmlab("compare", "--rate", "10mbit", "--rtt", "40ms", "--aqm", "A=codel", "--aqm", "A=pie")
    assert (ended.status, ended.line) == (2, "--aqm: 'A' is given twice")


def a_name_hides_no_code_of_a_file(aqmlab: Command, tmp_path: Path) -> None:
    (tmp_path / "file.toml").write_text('rate = "10mbit"\nrtt = "40ms"\naqm = ["Mine=python:evil.py:Evil"]\n')
    ended = aqmlab("run", tmp_path / "file.toml")
    assert ended.status == 2
    assert "is code, and a file names none" in ended.line


def two_rates_are_answered_with_what_to_write() -> None:
    wanted = "rate: '50/10mbit' is a rate for each direction: give rate 50mbit with topology asymmetric:up=10mbit"
    assert wanted in _refusal(rate="50/10mbit")
