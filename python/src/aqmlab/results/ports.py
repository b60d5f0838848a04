"""The measured ports, where there are several: their buffers and metrics, for the terminal and the report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from aqmlab.results import full_ports
from aqmlab.results.metric_tables import ABSENT, PORT_COLUMNS, Cell, Column, Lines, line
from aqmlab.vocabulary.scopes import of_port
from aqmlab.vocabulary.units import parse_bytes, parse_rate

if TYPE_CHECKING:
    from aqmlab.results.result import Result

FULL_IP_PACKET_BYTES = 1500
MS_PER_SECOND = 1e3


def port_cells(result: Result, point: int, columns: Sequence[Column] = PORT_COLUMNS) -> Lines:
    """Return the lines of one scenario, one per measured port and AQM; none if only one port is measured."""
    known: dict[str, dict[str, str]] = result.scenarios[point].get("ports", {})
    if len(known) < 2:
        return {}
    rows = [row for row in result.rows if row.point == point]
    lines: dict[tuple[str, ...], dict[str, Cell]] = {}
    for port in full_ports.ports(result, point):
        about = known[port]
        for aqm in result.aqms:
            cells = line([row for row in rows if row.aqm == aqm], of_port(port).prefix, columns)
            lines[f"{port}, {about['rate']}", aqm] = {**cells, **_buffer(result, point, aqm, about)}
    return lines


def _buffer(result: Result, point: int, aqm: str, about: dict[str, str]) -> dict[str, Cell]:
    """The limit of the discipline at a port, and how long a full buffer takes to drain at the port's rate."""
    here = (pl.col("point") == point) & (pl.col("aqm") == aqm) & (pl.col("link") == about["link"])
    # Without a run there are no columns.
    disciplines = result.queues.filter(here)["discipline"].to_list() if "link" in result.queues.columns else []
    limit = _limit(disciplines[0]) if disciplines else ""
    if not limit:
        return {"buffer": ABSENT, "buffer_ms": ABSENT}
    full_packet = FULL_IP_PACKET_BYTES + parse_bytes(result.scenarios[point]["overhead"])
    size = int(limit[:-1]) * full_packet if limit.endswith("p") else parse_bytes(limit)
    ms = size * 8 / parse_rate(about["rate"]) * MS_PER_SECOND
    return {"buffer": Cell(limit, ""), "buffer_ms": Cell(f"{ms:.0f}", "")}


def _limit(discipline: str) -> str:
    """Return the limit of a discipline as written; limits of children, in brackets, do not count.

    >>> _limit("drr:linux child [fifo:tail limit 5p] limit 54p"), _limit("codel:rfc8289 target 5ms")
    ('54p', '')

    """
    own = re.sub(r"\[[^\[\]]*\]", "", discipline)
    while own != discipline:
        discipline, own = own, re.sub(r"\[[^\[\]]*\]", "", own)
    found = re.search(r"\blimit (\S+)", own)
    return found.group(1) if found else ""
