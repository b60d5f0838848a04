"""What is too large is refused before it takes memory, in one line, unless the size check is skipped."""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

from aqmlab import scenario
from aqmlab.cli import show
from aqmlab.vocabulary.errors import InputError

RATE = ("--rate", "10mbit", "--rtt", "20ms")
COMPARE = ("compare", *RATE, "--aqm", "fifo", "--seeds", "1", "--duration", "1s")
# Of the processor, which a busy machine does not lengthen; far below what such a network would take.
AT_ONCE_S = 3.0
LINK = '[[link]]\nfrom = "a"\nto = "b"\ndelay = "1ms"\n'
INLINE = '{from = "a", to = "b", delay = "1ms"},\n'


def _refused(aqmlab: Command, *arguments: object) -> str:
    held, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    ended = aqmlab(*arguments)
    assert ended.status == 2, ended.err
    assert time.process_time() - began < AT_ONCE_S
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held < 400_000  # kB
    return ended.line


@pytest.mark.parametrize(
    "topology",
    [
        "leaf_spine:leaves=1000:spines=1000:hosts=1000",
        "leaf_spine:leaves=10000:spines=10:hosts=1",
        "leaf_spine:leaves=20:spines=1:hosts=10000",
    ],
)
def a_network_of_too_many_links_is_refused(topology: str, aqmlab: Command) -> None:
    line = _refused(aqmlab, *COMPARE, "--topology", topology)
    assert "has more than 100000 links, and that many are built only with --no-size-check (no_size_check=True)" in line


@pytest.mark.parametrize(
    "text",
    [LINK * 100_001, f"link = [\n{INLINE * 100_001}]\n", f"# $x\n{LINK * 100_001}"],
    ids=["tables", "inline", "with a name"],
)
def a_file_of_too_many_links_is_refused_before_it_is_parsed(text: str, tmp_path: Path, aqmlab: Command) -> None:
    (tmp_path / "net.toml").write_text(text)
    assert "net.toml: it has more than 100000 links" in _refused(aqmlab, *COMPARE, "--topology", "net.toml")


def a_setup_that_lasts_is_reported_once(tmp_path: Path, aqmlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "SETUP_S", 0.05)
    links = "".join(f'[[link]]\nfrom = "h{host}"\nto = "c"\ndelay = "1ms"\n' for host in range(4000))
    (tmp_path / "star.toml").write_text(links.replace('"1ms"\n', '"1ms"\nqueue = "test"\n', 1))
    command = (*COMPARE, "--topology", "star.toml", "--flows", "1*cubic:from=h0:to=c", "--no-report")
    text = "aqmlab: setting up: reading the inputs and laying out the network"
    assert aqmlab(*command, "--out", "one").err.splitlines().count(text) == 1
    assert text not in aqmlab(*command, "--out", "two", "--quiet").err
    monkeypatch.setattr(show, "SETUP_S", 60.0)
    assert text not in aqmlab(*command, "--out", "three").err


def _links(topology: str, folder: Path = Path(), **rest: Any) -> int:
    values = {"aqm": "fifo", "rate": "10mbit", "rtt": "20ms", "topology": topology}
    flows = "1*cubic:from=n0:to=n1" if topology.endswith(".toml") else "1*cubic"
    found = scenario.resolve(scenario.from_values({**values, "flows": flows}, folder=folder, **rest)).base.topology
    return len(found.links) if found else 0


def any_number_is_built_on_request() -> None:
    text = "leaf_spine:leaves=300:spines=200:hosts=200"
    with pytest.raises(InputError, match="more than 100000 links"):
        _links(text)
    assert _links(text, any_size=True) == 2 * 300 * 400


def a_chain_costs_as_much_as_it_has_links(tmp_path: Path) -> None:
    def seconds(hops: int) -> float:
        links = "".join(f'[[link]]\nfrom = "n{hop}"\nto = "n{hop + 1}"\ndelay = "1us"\n' for hop in range(hops))
        (tmp_path / "chain.toml").write_text(links.replace('"1us"\n', '"1us"\nqueue = "test"\n', 1))
        began = time.process_time()
        _links("chain.toml", folder=tmp_path)
        return time.process_time() - began

    seconds(100)
    # As the square it would be a hundred times as long.
    assert seconds(10_000) < 30 * max(seconds(1000), 0.01)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((*COMPARE[:-4], "--duration", "1s", "--seeds", "1000000000"), "1000000000 runs are asked for"),
        ((*COMPARE, "--flows", "1*cbr:rate=1tbit"), "of memory would be needed for one run"),
        ((*COMPARE, "--aqm", "sp classes 1000000000"), "out of range"),
        ((*COMPARE, "--topology", "star:hosts=1000000000"), "hosts"),
        (
            (*COMPARE[:5], "--aqm", "fq_codel flows 65536", "--duration", "1s", "--topology", "star:hosts=1500"),
            "of memory would be needed for one run, and more than 2 GB",
        ),
        (
            ("tune", *RATE, "--aqm", "codel target 1ms..20ms", "--minimise", "qdelay_mean_ms", "--sensitivity", 2**28),
            "runs are asked for, and more than 20000",
        ),
        (
            ("tune", *RATE, "--aqm", "codel target 1ms..20ms", "--minimise", "qdelay_mean_ms", "--trials", 10**9),
            "runs are asked for, and more than 20000",
        ),
    ],
)
def what_would_take_memory_is_refused_first(arguments: tuple[object, ...], problem: str, aqmlab: Command) -> None:
    assert problem in _refused(aqmlab, *arguments)
