"""A diagnosis as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from aqmlab import __version__
from aqmlab.advice import Advice
from aqmlab.advice.advice_json import document as of_advice
from aqmlab.diagnosis import words
from aqmlab.diagnosis.diagnosis import Diagnosis
from aqmlab.diagnosis.direction import Direction
from aqmlab.diagnosis.finding import Finding

FORMAT_VERSION = 1


def document(diagnosis: Diagnosis, advice: Advice | None = None) -> dict[str, Any]:
    """Return it as plain data (JSON), with an advice for the line if there is one."""
    return {
        "format_version": FORMAT_VERSION,
        "command": "diagnose",
        "aqmlab": __version__,
        "capture": diagnosis.capture,
        "duration_s": diagnosis.duration_s,
        "packets": diagnosis.packets,
        "home": sorted(diagnosis.home.addresses),
        "home_is_guessed": diagnosis.home.is_guessed,
        "home_why": diagnosis.home.why,
        "words": words.headline(diagnosis),
        "directions": {direction.name: _direction(direction) for direction in diagnosis.directions},
        "advice": of_advice(advice) if advice else None,
        "warnings": list(diagnosis.warnings),
    }


def _direction(direction: Direction) -> dict[str, Any]:
    findings = {
        name: _finding(getattr(direction, name))
        for name in (
            "rate_bps",
            "base_rtt_ms",
            "bloat_ms",
            "bloat_p95_ms",
            "buffer_ms",
            "buffer_packets",
            "buffer_bytes",
        )
    }
    lost, queue = direction.losses, direction.losses.queue_ms
    return {
        **findings,
        "connections": direction.connections,
        "payload_bytes": direction.payload_bytes,
        "losses": {
            "pattern": direction.pattern,
            "confidence": direction.pattern_confidence,
            "why": direction.pattern_why,
            "packets": lost.packets,
            "ratio": lost.ratio,
            "episodes": lost.episodes,
            "elsewhere": lost.elsewhere,
            "queue_median_ms": sorted(queue.tolist())[len(queue) // 2] if len(queue) else None,
        },
        "ecn": asdict(direction.marks),
    }


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "value": found.value,
        "low": found.spread[0] if found.spread else None,
        "high": found.spread[1] if found.spread else None,
        "at_least": found.at_least,
        "confidence": found.confidence,
        "why": found.why,
    }


__all__ = ["FORMAT_VERSION", "document"]
