from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab import InputError
from aqmlab.scenario.flows import parse

TIMES, SIZES, RATES = "1*telnet:gap=", "1*vbr:size=", "1*steps:rates="
INCLUDED = {"websearch": SIZES, "datamining": SIZES, "hadoop": SIZES, "telnet": TIMES}


def _read(text: str, key: str, folder: Path | None = None) -> Any:
    """Return the distribution of a key."""
    _, source = parse(f"{key}{text}", folder).flows.source
    return source[{TIMES: "gap", SIZES: "size", RATES: "rate"}[key]]


def _written(text: str, key: str, folder: Path | None = None) -> str:
    """Return the distribution of a key as it is written."""
    return parse(f"{key}{text}", folder).texts[key.rpartition(":")[2].rstrip("=")]


@pytest.mark.parametrize(
    ("text", "quantity", "wanted"),
    [
        ("1s", TIMES, {"constant": {"value": 1_000_000_000}}),
        ("0..1s", TIMES, {"uniform": {"low": 0, "high": 1_000_000_000}}),
        ("exp(10kb)", SIZES, {"exponential": {"mean": 10_240}}),
        ("Pareto(1500ms, 2.5)", TIMES, {"pareto": {"scale": 1_500_000_000, "shape": 2.5}}),
        ("weibull(1s,1.5)", TIMES, {"weibull": {"scale": 1_000_000_000, "shape": 1.5}}),
        ("lognormal(2mbit,0.5)", RATES, {"lognormal": {"median": 2_000_000, "sigma": 0.5}}),
    ],
)
def a_distribution_is_read_in_the_unit_of_its_quantity(text: str, quantity: str, wanted: object) -> None:
    assert _read(text, quantity) == wanted


@pytest.mark.parametrize("name", INCLUDED)
def shipped_distributions_ascend_to_one(name: str) -> None:
    points = _read(name, INCLUDED[name])["empirical"]["points"]
    assert points == sorted(points)
    assert points[-1][1] == 1.0
    assert _written(name, INCLUDED[name]) == name


def a_file_may_hold_a_distribution(tmp_path: Path) -> None:
    (tmp_path / "sizes.cdf").write_text("# made up\n1kb 0.5\n2kb 75%  # of all\n\n3kb 1\n")
    drawn = _read("cdf(sizes.cdf)", SIZES, tmp_path)
    assert drawn["empirical"]["points"] == [[1024.0, 0.5], [2048.0, 0.75], [3072.0, 1.0]]
    assert _read(_written("cdf(sizes.cdf)", SIZES, tmp_path), SIZES) == drawn


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("1kb 0.5 7\n", "line 1: '1kb 0.5 7' is not a value and its share"),
        ("\n10 1\n", "line 2: '10' has no unit"),
        ("1kb 1.5\n", "line 1: '1.5'"),
        ("2kb 0.5\n1kb 1\n", "line 2: '1kb 1' does not ascend from the line before"),
        ("1kb 0.5\n", "the last line must be the largest value, above zero, and its share, 1"),
        ("", "the last line must be"),
    ],
)
def a_file_without_a_distribution_is_refused_by_line(tmp_path: Path, content: str, wanted: str) -> None:
    path = tmp_path / "sizes.cdf"
    path.write_text(content)
    with pytest.raises(ValueError, match=re.escape(wanted)) as error:
        _read(f"cdf({path})", SIZES)
    assert f"'{path}'" in str(error.value)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("expo(1s)", "did you mean 'exp'?"),
        ("telnett", "did you mean 'telnet'?"),
        ("websearch", "'websearch' is a distribution of another quantity"),
        ("weibull(1s)", "'weibull(1s)' is not weibull(SCALE,SHAPE)"),
        ("lognormal(1s,-1)", "sigma '-1' is not a number above 0"),
        ("pareto(0s,1)", "'0s' is zero"),
        ("2s..1s", "runs backwards"),
        ("cdf(missing.cdf)", "missing.cdf: cannot be read: No such file or directory"),
    ],
)
def an_invalid_distribution_is_refused_with_what_is_allowed(text: str, wanted: str) -> None:
    with pytest.raises(InputError) as error:
        parse(f"1*onoff:rate=1mbit:off={text}")
    assert wanted in str(error.value)


_numbers = st.decimals("0.01", "99", places=2).map(str)
_forms = st.sampled_from(["pareto", "weibull", "lognormal"])


@given(_forms, st.integers(1, 10**12), _numbers, st.sampled_from([TIMES, SIZES, RATES]))
def what_is_written_reads_back(form: str, value: int, number: str, key: str) -> None:
    text = f"{form}({value}{ {TIMES: 'ns', SIZES: 'b', RATES: 'bit'}[key] },{number})"
    assert _read(_written(text, key), key) == _read(text, key)
