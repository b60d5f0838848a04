"""Senders and queues of runs as qlog: JSON text sequences that its viewers and parsers read.

The files are those of draft-ietf-quic-qlog-main-schema-13, the events of senders those of
draft-ietf-quic-qlog-quic-events-13; events of queues are ours, and docs/reference/qlog.md declares them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aqmlab.exports import names, rerun
from aqmlab.results.frames import RUN

if TYPE_CHECKING:
    from aqmlab.results import Result

FILE_SCHEMA = "urn:ietf:params:qlog:file:sequential"
SERIALIZATION = "application/qlog+json-seq"
QUIC_EVENTS = "urn:ietf:params:qlog:events:quic-13"
# An identifier that needs no domain; its query names the namespace.
OWN_EVENTS = "urn:uuid:df59a834-6919-48c1-907f-74aafe2fb316?=aqmlab"
# Where events are seen: of a queue those of the forward path.
SENDER, QUEUE = {"type": "client"}, {"type": "network", "flow": "client"}
# RFC 7464.
SEPARATOR = b"\x1e"


def qlog(
    result: Result, aqm: str | None = None, seed: int | None = None, point: int | None = None
) -> Iterator[dict[str, bytes]]:
    """Yield a `.sqlog` for each sender and each queue, run by run, of this AQM, seed and number of the scenario.

    A run is made when it is asked for: the logs of all may not fit into memory.

    Args:
        result: of the simulator, by this version of aqmlab.
        aqm: a label of the result; all of them unless given.
        seed: all of them unless given.
        point: number of the scenario in a sweep; all of them unless given.

    Raises:
        InputError: naming what the result does not have, or why the run cannot be made again.
        CheckError: if the run made again is another.

    """
    for one, run in rerun.runs(result, "events", {"log": True}, aqm, seed, point):
        flows = result.flows.filter(**dict(zip(RUN, one[:3], strict=True)))
        kinds = dict(flows.select("id", "kind").iter_rows())
        contents: dict[str, bytes] = {}
        made = f"simulated by aqmlab {result.manifest['aqmlab']}: {one.aqm}, seed {one.seed}"
        for place, events in run.logs:
            where, name = place.split(" ", 1)
            file = f"{one.file}.{where}-{names.short(name)}"
            while f"{file}.sqlog" in contents:
                file += "-again"
            title = f"flow {name}, {kinds[int(name)]}" if where == "sender" else f"queue of {name}"
            contents[f"{file}.sqlog"] = _record(_header(where, title, place, made)) + events
        yield contents


def _header(where: str, title: str, group: str, made: str) -> dict[str, Any]:
    """Say what a file holds. Schema and format come first: tools look for them in the first 256 bytes."""
    is_sender = where == "sender"
    return {
        "file_schema": FILE_SCHEMA,
        "serialization_format": SERIALIZATION,
        "title": title,
        "description": made,
        "trace": {
            "title": title,
            "common_fields": {
                "group_id": group,
                "time_format": "relative_to_epoch",
                # The time of the run: no calendar has it.
                "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
            },
            "vantage_point": {"name": title, **(SENDER if is_sender else QUEUE)},
            "event_schemas": [QUIC_EVENTS, OWN_EVENTS] if is_sender else [OWN_EVENTS],
        },
    }


def _record(value: dict[str, Any]) -> bytes:
    return SEPARATOR + json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


__all__ = ["FILE_SCHEMA", "OWN_EVENTS", "QUIC_EVENTS", "SEPARATOR", "SERIALIZATION", "qlog"]
