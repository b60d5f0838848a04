from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command, script
from jsonschema import Draft202012Validator

from aqmlab import InputError, _native, scenario
from aqmlab._native import Inputs, Monitor
from aqmlab.scenario import schema
from aqmlab.scenario.flows import parse
from aqmlab.scenario.kinds import KINDS, SourceKind
from aqmlab.scenario.options import SETTINGS, Option
from aqmlab.scenario.topologies import KINDS as TOPOLOGIES
from aqmlab.scenario.topologies import TopologyKind

# A larger bound only guards against overflow.
WITHOUT_BOUND = 1e15
EXPERIMENT = Draft202012Validator(schema.experiment())
SCENARIO = Draft202012Validator(schema.scenario())
FILES = sorted(path for path in (ROOT / "experiments").rglob("*.toml") if "aqm" in tomllib.loads(path.read_text()))
PLAIN: dict[str, Any] = {"aqm": "fifo", "rate": "10mbit", "rtt": "40ms"}
EXAMPLES = {"rate": "3mbit", "rates": "1mbit", "window": "20p", "size": "10kb", "gap": "1ms", "load": "60%"}


def _pages() -> dict[str, str]:
    pages: dict[str, str] = script("reference_pages").pages()
    return pages


def the_picture_of_the_house_is_that_of_the_code() -> None:
    drawn = script("architecture_picture").picture()
    assert (ROOT / "docs/explanation/architecture.svg").read_text() == drawn, "run 'make docs'"


def the_keywords_of_python_are_the_declared_options() -> None:
    written = script("keywords").text()
    assert (ROOT / "python/src/aqmlab/scenario/keywords.py").read_text() == written, "run 'make docs'"


@pytest.mark.parametrize(("name", "text"), _pages().items(), ids=_pages())
def the_pages_and_schemas_are_those_of_the_declarations(name: str, text: str) -> None:
    assert (ROOT / "docs" / "reference" / name).read_text() == text, "run 'make docs'"


def the_schemas_are_schemas() -> None:
    Draft202012Validator.check_schema(schema.experiment())
    Draft202012Validator.check_schema(schema.scenario())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def every_experiment_is_valid(path: Path) -> None:
    EXPERIMENT.validate(tomllib.loads(path.read_text()))


@pytest.mark.parametrize(
    "change",
    [
        {"aqm": 5},
        {"aqm": []},
        {"rate": 10},
        {"rate": "fast"},
        {"rtt": "40"},
        {"seeds": 0},
        {"series": "all"},
        {"warmup": "never"},
        {"flows": "10*reno"},
        {"flows": ["1*cubic:rtt"]},
        {"rtr": "40ms"},
        {"sweep": {"buffer": 3}},
        {"sweep": {"rate": ["fast"]}},
        {"quick": {"rtr": "40ms"}},
    ],
    ids=str,
)
def a_wrong_experiment_is_not_valid(change: dict[str, Any]) -> None:
    EXPERIMENT.validate(PLAIN)
    assert not EXPERIMENT.is_valid({**PLAIN, **change})


def _resolved(flows: str, **options: Any) -> dict[str, Any]:
    plan = scenario.resolve(scenario.from_values({**PLAIN, **options, "flows": flows}))
    resolved: dict[str, Any] = plan.scenarios[plan.contestants[0].label].data()
    return resolved


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def every_resolved_scenario_is_valid(kind: SourceKind) -> None:
    examples = {**EXAMPLES, "file": str(ROOT / "data/captures/aqmlab-lan.pcap")}
    given = [f"{name}={examples[name]}" for name in kind.must]
    SCENARIO.validate(_resolved(":".join([kind.name, *given])))


@pytest.mark.parametrize("kind", TOPOLOGIES, ids=lambda kind: kind.name)
def every_resolved_topology_is_valid(kind: TopologyKind) -> None:
    # The rate of Wi-Fi is that of its stations.
    given = {"rate": None} if kind.name == "wifi" else {}
    resolved = _resolved("1*cubic", topology=kind.name, **given)
    SCENARIO.validate(resolved)
    for key, value in {"rate_bps": 0, "delay_ns": "5ms", "queue": "test", "rate": 5}.items():
        link = {**resolved["topology"]["links"][0], key: value}
        assert not SCENARIO.is_valid({**resolved, "topology": {"links": [link], "measured": 0}}), key


def a_wrong_scenario_is_not_valid() -> None:
    for change in ({"rtt_ns": -1}, {"rtt_ms": 1}, {"loss": 2}, {"capacity": {}}, {"flows": [{}]}, {"duration_ns": "s"}):
        assert not SCENARIO.is_valid({**_resolved("1*cubic"), **change}), change
    for key, value in {"iw": 0, "mss_bytes": 70_000, "ecn": "on", "abc": True, "sack": "on", "iww": 3}.items():
        wrong = _resolved("1*cubic")
        wrong["flows"][0]["transport"]["tcp"][key] = value
        assert not SCENARIO.is_valid(wrong), key


@pytest.mark.parametrize("option", SETTINGS, ids=lambda option: option.name)
def the_schema_and_the_simulator_have_the_bounds_of_a_setting(option: Option) -> None:
    resolved = _resolved("1*cubic")
    SCENARIO.validate({**resolved, option.field: option.value if option.default else option.read(option.example)})
    wrong: list[float] = [2] if option.form == "switch" else [int(option.low) - 1]
    if option.high < WITHOUT_BOUND:
        wrong.append(option.high if option.form == "share" else int(option.high) + 1)
    for value in wrong:
        given = {**resolved, option.field: value}
        assert not SCENARIO.is_valid(given), value
        with pytest.raises(InputError, match=f"{option.name} is {value}|invalid"):
            _native.run(json.dumps(given), Inputs({}, {}), 1, Monitor())


def a_key_of_newreno_is_refused_elsewhere() -> None:
    assert "abc" in parse("1*newreno").flows.data()["transport"]["tcp"]
    assert "abc" not in parse("1*cubic").flows.data()["transport"]["tcp"]


def the_command_prints_both(aqmlab: Command) -> None:
    assert json.loads(aqmlab("schema").out) == schema.experiment()
    assert json.loads(aqmlab("schema", "scenario").out) == schema.scenario()
    wrong = aqmlab("schema", "experimnt")
    assert wrong.status == 2
    assert wrong.line.startswith("unknown schema 'experimnt', did you mean 'experiment'?")
