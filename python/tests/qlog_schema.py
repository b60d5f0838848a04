"""What qlog's drafts allow of the events that are exported, as JSON Schema: written from their CDDL.

`draft-ietf-quic-qlog-main-schema` sections "QlogFileSeq", "TraceSeq", "Event"; `draft-ietf-quic-qlog-quic-events`
sections "Recovery events", "packet_sent", "QUIC data type definitions". Where CDDL lets an extension add fields
(`* $$...`), none of ours does: they are refused here.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
REAL: Schema = {"type": "number"}
BOOL: Schema = {"type": "boolean"}


def uint(bits: int) -> Schema:
    return {"type": "integer", "minimum": 0, "maximum": 2**bits - 1}


def one_of(*values: str) -> Schema:
    return {"enum": list(values)}


def group(*, needs: tuple[str, ...] = (), least: int = 0, **fields: Schema) -> Schema:
    """A map of CDDL: these fields, of which some must be there."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(needs),
        "minProperties": least,
        "additionalProperties": False,
    }


RAW = group(length=uint(64), payload_length=uint(64))
PACKET_TYPES = ("initial", "handshake", "0RTT", "1RTT", "retry", "version_negotiation", "stateless_reset", "unknown")
HEADER = group(needs=("packet_type",), packet_type=one_of(*PACKET_TYPES), packet_number=uint(64))
STREAM_FRAME = group(
    needs=("frame_type", "stream_id"),
    frame_type=one_of("stream"),
    stream_id=uint(64),
    offset=uint(64),
    fin=BOOL,
    raw=RAW,
)
# docs/reference/qlog.md
OF_QUEUE: dict[str, Schema] = {
    "flow": uint(32),
    "direction": one_of("forward", "back", "control"),
    "packet_number": uint(64),
    "raw": RAW,
    "ecn": one_of("Not-ECT", "ECT(1)", "ECT(0)", "CE"),
    "backlog_packets": uint(64),
    "backlog_bytes": uint(64),
}
ALWAYS = ("direction", "raw", "ecn", "backlog_packets", "backlog_bytes")
SOJOURN: dict[str, Schema] = {"sojourn": {"type": "number", "minimum": 0}}
DROPS = one_of("unspecified", "overlimit", "congestion", "unfair", "reconfigured", "redundant", "other", "random_loss")
MARKS = one_of("unspecified", "congestion", "threshold")

EVENTS: dict[str, Schema] = {
    "quic:recovery_parameters_set": group(
        needs=("timer_granularity",),
        reordering_threshold=uint(16),
        time_threshold=REAL,
        timer_granularity=uint(16),
        initial_rtt=REAL,
        max_datagram_size=uint(32),
        initial_congestion_window=uint(64),
        minimum_congestion_window=uint(64),
        loss_reduction_factor=REAL,
        persistent_congestion_threshold=uint(16),
    ),
    "quic:recovery_metrics_updated": group(
        least=1,
        min_rtt=REAL,
        smoothed_rtt=REAL,
        latest_rtt=REAL,
        rtt_variance=REAL,
        pto_count=uint(16),
        congestion_window=uint(64),
        bytes_in_flight=uint(64),
        ssthresh=uint(64),
        packets_in_flight=uint(64),
        pacing_rate=uint(64),
    ),
    "quic:congestion_state_updated": group(needs=("new",), old=TEXT, new=TEXT, trigger=TEXT),
    "quic:packet_lost": group(
        header=HEADER,
        frames={"type": "array"},
        is_mtu_probe_packet=BOOL,
        trigger=one_of("reordering_threshold", "time_threshold", "pto_expired"),
    ),
    "quic:packet_sent": group(
        needs=("header",), header=HEADER, frames={"type": "array", "items": STREAM_FRAME}, raw=RAW, trigger=TEXT
    ),
    "aqmlab:ecn_counts_updated": group(needs=("ect0", "ect1", "ce"), ect0=uint(64), ect1=uint(64), ce=uint(64)),
    "aqmlab:packet_enqueued": group(needs=ALWAYS, **OF_QUEUE),
    "aqmlab:packet_dequeued": group(needs=(*ALWAYS, "sojourn"), **OF_QUEUE, **SOJOURN),
    "aqmlab:packet_marked": group(needs=(*ALWAYS, "sojourn", "reason"), **OF_QUEUE, **SOJOURN, reason=MARKS),
    "aqmlab:packet_dropped": group(
        needs=(*ALWAYS, "sojourn", "reason", "point"),
        **OF_QUEUE,
        **SOJOURN,
        reason=DROPS,
        point=one_of("enqueue", "dequeue", "other", "buffer", "program", "wire"),
    ),
}

EVENT: Schema = {
    "oneOf": [
        group(needs=("time", "name", "data"), time={"type": "number", "minimum": 0}, name={"const": name}, data=data)
        for name, data in EVENTS.items()
    ]
}

FILE: Schema = group(
    needs=("file_schema", "serialization_format", "trace"),
    file_schema={"const": "urn:ietf:params:qlog:file:sequential"},
    serialization_format={"const": "application/qlog+json-seq"},
    title=TEXT,
    description=TEXT,
    trace=group(
        needs=("event_schemas",),
        title=TEXT,
        description=TEXT,
        common_fields=group(
            group_id=TEXT,
            time_format=one_of("relative_to_epoch", "relative_to_previous_event"),
            # A monotonic clock has no other epoch.
            reference_time=group(
                needs=("clock_type", "epoch"), clock_type={"const": "monotonic"}, epoch={"const": "unknown"}
            ),
        ),
        vantage_point=group(
            needs=("type",),
            name=TEXT,
            type=one_of("client", "server", "network", "unknown"),
            flow=one_of("client", "server", "unknown"),
        ),
        event_schemas={
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "format": "uri", "pattern": r"^urn:[a-z]+:[\w:?=-]+$"},
        },
    ),
)

__all__ = ["EVENT", "EVENTS", "FILE"]
