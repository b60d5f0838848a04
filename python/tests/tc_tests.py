"""tc's text wherever a discipline is named: translated, echoed in aqmlab's notation, or refused in one line."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

import aqmlab
from aqmlab import InputError, scenario
from aqmlab.advice import paste
from aqmlab.advice.home_line import LAYERS, Line, layer
from aqmlab.advice.setups import setups
from aqmlab.cli.main import app
from aqmlab.scenario import aqm_texts
from aqmlab.scenario.registry import Spec

PASTED = "tc qdisc add dev eth0 root fq_codel limit 100 flows 256 noecn"
PRINTED = "qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 9Mbit besteffort flows nat nowash no-ack-filter split-gso rtt 100ms raw overhead 0 \n Sent 10 bytes 2 pkt (dropped 0, overlimits 0 requeues 0) \n backlog 0b 0p requeues 0"  # noqa: E501


def _resolved(aqm: object, **options: object) -> scenario.Plan:
    return scenario.resolve(scenario.from_values({"rate": "10mbit", "rtt": "20ms", "aqm": aqm, **options}))


def test_a_pasted_line_is_labelled_and_stored_in_our_notation() -> None:
    plan = _resolved([PASTED, "pie"], buffer="100p")
    assert [one.label for one in plan.contestants] == ["fq_codel:linux limit 100p flows 256 noecn", "pie"]
    assert plan.echo["aqm"][0]["spec"] == "fq_codel:linux limit 100p flows 256 noecn"


def test_what_has_no_effect_is_named() -> None:
    plan = _resolved(PRINTED)
    assert plan.contestants[0].spec.canonical.startswith("cake:linux bandwidth 9mbit tins besteffort isolation flows")
    assert any("nat has no effect" in warning for warning in plan.warnings)


def test_lists_names_and_engines_work_with_tcs_text() -> None:
    assert scenario.split_specs(f"fifo,{PASTED}, pie") == ["fifo", "fq_codel:linux limit 100p flows 256 noecn", "pie"]
    assert scenario.split_specs(PRINTED)[1:] == []
    parsed = json.dumps([{"kind": "pie", "root": True, "options": {"limit": 10, "target": 15000, "ecn": True}}])
    assert scenario.split_specs(f"{parsed},fifo") == ["pie:linux limit 10p target 15ms ecn", "fifo"]
    assert aqm_texts.read(f"Home={PASTED} on linux", "").label == "Home on linux"
    assert scenario.split_specs(f"Home={PASTED}") == ["Home=fq_codel:linux limit 100p flows 256 noecn"]


def test_a_sweep_fills_tcs_text_in(tmp_path: Path) -> None:
    file = tmp_path / "swept.toml"
    text = 'aqm = ["tc qdisc add dev eth0 root codel target $t"]'
    file.write_text(f'rate = "10mbit"\nrtt = "20ms"\n{text}\nseeds = 1\n[sweep]\nt = ["1000", "2ms"]\n')
    plans = [scenario.resolve(point) for point in scenario.load(file).points]
    assert [plan.contestants[0].spec.params["target"] for plan in plans] == ["1ms", "2ms"]
    assert {plan.contestants[0].label for plan in plans} == {"codel:linux"}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("tc qdisc add dev eth0 root hhf", "fq_codel"),
        ("tc qdisc add dev eth0 root tbf rate 1mbit burst 32kbit latency 400ms", "--rate 1mbit"),
        ("tc qdisc add dev eth0 root fq_codel limit 10k", "without a unit"),
        ("qdisc mq 0: dev eth0 root", "mq 0: of eth0"),
    ],
)
def test_what_has_no_counterpart_is_refused_in_one_line(text: str, named: str) -> None:
    with pytest.raises(InputError) as refused:
        _resolved(text)
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


def test_our_own_notation_stays_strict() -> None:
    with pytest.raises(InputError, match="has no unit") as refused:
        _resolved("fq_codel limit 1000")
    meaning = "to tc it is 'fq_codel:linux limit 1000p': tc qdisc add dev eth0 root fq_codel limit 1000"
    assert str(refused.value).endswith(meaning)


def test_the_command_line_shows_the_translation() -> None:
    shown = CliRunner().invoke(app, ["aqm", "show", "tc qdisc add dev eth0 root pie alpha 2 nobytemode", "--no-card"])
    assert shown.exit_code == 0, shown.output
    assert "pie:linux" in shown.output
    assert "--aqm 'pie:linux" in shown.output


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_what_advise_prints_comes_back(name: str) -> None:
    line = Line(16_000_000, 1_000_000, layer(name), rtt="40ms")
    shaped = [setup for setup in setups(line) if setup.is_shaped]
    assert shaped
    for setup in shaped:
        printed = "\n".join(paste.tc(setup, line))
        (back,) = scenario.split_specs(f"{printed} use {paste.interfaces(line).linux}")
        expected = f"{setup.up} {line.layer.cake}" if setup.up.startswith("cake") else setup.up
        found, meant = Spec.parse(back), Spec.parse(_linux(expected))
        differing = {key for key in meant.given if found.params[key] != meant.params[key]} - {"bandwidth"}
        # No cells are what a layer has that is not of DSL, written or not.
        differing -= {"cells"} if meant.params.get("cells") == "noatm" and "cells" not in found.given else set()
        assert not differing, (printed, back, meant.canonical)
        assert found.name == meant.name


def _linux(text: str) -> str:
    kind, *words = text.split()
    units = {"overhead": "b", "mpu": "b"}
    settings = [f"{word}{units.get(before, '')}" for before, word in zip([kind, *words], words, strict=False)]
    return " ".join([f"{kind}:linux", *settings])


def test_a_pasted_line_runs_like_its_translation() -> None:
    options = {"rate": "5mbit", "rtt": "20ms", "buffer": "100p", "seeds": 1, "duration": "6s", "flows": ["1*cubic"]}
    pasted = aqmlab.compare(aqm=[PASTED], **options)
    written = aqmlab.compare(aqm=["fq_codel:linux limit 100p flows 256 noecn"], **options)
    assert pasted.aqms == written.aqms
    assert pasted.summary.equals(written.summary)


@pytest.mark.skipif(shutil.which("tc") is None or os.geteuid() != 0, reason="needs iproute2, and root for a namespace")
def test_what_this_kernel_prints_is_read() -> None:
    def inside(script: str) -> str:
        found = subprocess.run(["unshare", "-n", "sh", "-ec", script], capture_output=True, text=True, check=False)
        if found.returncode:
            pytest.skip(f"no namespace with such a qdisc here: {found.stderr.strip()}")
        return found.stdout

    made = "ip link add v0 type veth peer name v1; tc qdisc add dev v0 root"
    for words, expected in [("pfifo limit 77", "fifo:tail limit 77p"), ("bfifo limit 64k", "fifo:tail limit 64kb")]:
        for show in ("tc qdisc show dev v0", "tc -s -d qdisc show dev v0", "tc -j qdisc show dev v0"):
            text = inside(f"{made} {words}; {show}")
            assert scenario.split_specs(text) == [expected], text
