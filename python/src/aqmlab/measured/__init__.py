"""Measurements of others as results, so that figures show them beside simulated ones.

Read are data files of flent (`.flent.gz`, `.flent`), the JSON of iperf3 (`--json`) and that of `tc -s -j qdisc`.
"""

from __future__ import annotations

from aqmlab.measured.reading import read

__all__ = ["read"]
