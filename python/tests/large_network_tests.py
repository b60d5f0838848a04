"""The large-network evaluation: its graphs are the paper's, and every discipline runs on them."""

from __future__ import annotations

import polars as pl
import pytest

import aqmlab
from aqmlab import scenario
from aqmlab.experiment import run_experiment
from aqmlab.files import shipped
from aqmlab.scenario.registry import disciplines

FOLDER = shipped.experiments() / "large-network"
CLIENTS = {"many-to-one": "N0|N1|N2|N3|N1[0-3]", "many-to-many": "N[0-7]|N13|N14|N15|N16|N17|N18|N19|N20"}


@pytest.mark.parametrize(("graph", "nodes", "clients"), [("many-to-one", 14, 8), ("many-to-many", 25, 16)])
@pytest.mark.parametrize("preset", ["printed", "consistent"])
def graphs_have_the_nodes_of_the_papers_tables(graph: str, nodes: int, clients: int, preset: str) -> None:
    values = {"aqm": "fifo", "rate": "1500kbit", "rtt": "48ms", "topology": f"graphs/{graph}-{preset}.toml"}
    flows = f"1*cubic:from={CLIENTS[graph]}:to=N*"
    base = scenario.resolve(scenario.from_values({**values, "flows": flows}, folder=FOLDER)).base
    assert base.topology
    links = base.topology.links
    assert {link.source for link in links} == {f"N{number}" for number in range(nodes)}
    assert len(base.flows[0].sources) == clients
    channels = [link for link in links if link.rate_bps is None]
    assert {link.queue for link in channels} == {"under_test"}
    assert {link.delay_ns for link in channels} == {20_000_000}
    if preset == "printed":
        assert channels == list(links)


@pytest.mark.parametrize("graph", ["many-to-one", "many-to-many"])
def every_discipline_runs_on_both_graphs(graph: str) -> None:
    path = FOLDER / "beyond" / f"{graph}-all.toml"
    result = run_experiment(scenario.load(path, {"duration": "2s", "seeds": "1"}), "run")
    assert result.aqms == [discipline.name for discipline in disciplines()]
    assert not result.manifest["failures"]
    (tail_drop,) = result.runs.filter(pl.col("aqm") == "fifo").iter_rows(named=True)
    plain = {one.name for one in disciplines() if not one.traits["signals"]}
    for run in result.runs.iter_rows(named=True):
        # TCN's threshold is a time of a data centre: it leaves most of a slow link idle.
        assert run["goodput_mbit"] > 0.25 * tail_drop["goodput_mbit"], run["aqm"]
        assert run["qdelay_mean_ms"] < 1.05 * tail_drop["qdelay_mean_ms"], run["aqm"]
        assert run["aqm"] not in plain or run["drops_early"] + run["marks"] == 0.0, run["aqm"]


def packets_queued_at_the_end_count_as_undelivered_but_not_lost() -> None:
    options = {"rate": "1mbit", "rtt": "20ms", "duration": "4s", "warmup": "0s", "seeds": 1, "overhead": "0b"}
    result = aqmlab.compare(aqm="fifo limit 1000p", flows=["1*cbr:rate=2mbit:start=0s"], **options)
    # Half of what is sent is still in the queue.
    assert result.runs["path_loss_ratio"][0] == 0.0
    assert result.runs["undelivered_ratio"][0] == pytest.approx(0.5, abs=0.01)
