"""The shape of a manifest: what all that reads one may rely on, whoever wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from aqmlab.results import groups
from aqmlab.results.frames import FRAMES
from aqmlab.vocabulary.units import parse_bytes, parse_rate, parse_span

# A type; a tuple of alternatives; a list whose values all have one shape; a dict with the shapes of its values, of
# which `name?` may be missing, and `*` is that of all others; or a function that says whether a value is right.
Shape = Any


def fits(value: object, shape: Shape) -> bool:
    """Whether a value that was read from JSON has a shape.

    >>> fits({"rtt": "40ms", "seeds": [1, 2]}, {"rtt": str, "loss?": str, "seeds": [int]})
    True
    >>> fits({"rtt": "40ms", "seeds": [1, True]}, {"rtt": str, "seeds": [int]})
    False

    """
    if isinstance(shape, tuple):
        return any(fits(value, one) for one in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(one, shape[0]) for one in value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and _fits_each(value, shape)
    if isinstance(shape, type):
        # True is no number.
        return type(value) is shape
    return value is None if shape is None else bool(shape(value))


def _fits_each(values: dict[str, Any], shape: dict[str, Shape]) -> bool:
    others = shape.get("*", _anything)
    shapes = ((value, shape.get(name, shape.get(f"{name}?", others))) for name, value in values.items())
    return values.keys() >= {name for name in shape if name[-1] not in "?*"} and all(fits(*one) for one in shapes)


def _anything(value: object) -> bool:
    del value
    return True


def _read_by(parse: Callable[[str], object]) -> Callable[[object], bool]:
    def is_read(value: object) -> bool:
        try:
            parse(str(value))
        except (ValueError, OverflowError):
            return False
        return isinstance(value, str)

    return is_read


def _is_number(value: object) -> bool:
    return isinstance(value, float) or _is_count(value)


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_hexadecimal(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]*", value) is not None


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""


_TEXTS = {"*": str}
_AQM = {"label": _is_name, "name": str, "preset": str, "spec": str, "params": _TEXTS}
_SCENARIO = {
    "rtt": str,
    "buffer": str,
    "flows": [str],
    groups.KEY: [{"name": str, "kind": str, "count": _is_count, "keys": _TEXTS}],
    "topology": str,
    "measure": [str],
    "ports?": {"*": {"link": str, "rate": _read_by(parse_rate)}},
    "capture": [str],
    "capture_figures?": [str],
    "overhead": _read_by(parse_bytes),
    "duration": str,
    "warmup": _read_by(lambda text: parse_span(text.rpartition(" ")[2])),
    "seeds": [_is_count],
    "aqm": [_AQM],
    "rules": _TEXTS,
    "defaults": [str],
    "live?": _TEXTS,
}
_LINKS = (
    {"rate": str, "link_trace": None, "link_trace_mean_rate": None},
    {"rate": None, "link_trace": str, "link_trace_mean_rate": str},
)
_OPTIONS = {
    "given": {"*": [str]},
    "named": _TEXTS,
    "varied?": [str],
    "folder": (str, None),
    "allow_unequal_buffers": bool,
}
_STOP = {
    # A newer version may know it.
    "metric": str,
    "share": _is_number,
    "most": _is_count,
    "pilot": _is_count,
    "needed": (_is_count, None),
    "seeds": _is_count,
}
MANIFEST: Shape = {
    "command": str,
    "title": str,
    "aqmlab": str,
    "engine": str,
    "code": str,
    "created": _read_by(lambda text: datetime.fromisoformat(text).astimezone(UTC)),
    "platform": str,
    "python": str,
    "points": [
        {
            "point": _TEXTS,
            "scenario": tuple({**_SCENARIO, **link} for link in _LINKS),
            "files": _TEXTS,
            "options?": _OPTIONS,
        }
    ],
    "runs_expected": _is_count,
    "failures": [str],
    "plan_warnings": [str],
    "pages": {"of": str, "files": [str], "warnings": [str]},
    "stop?": (_STOP, None),
    "shard?": str,
    "frames": _is_hexadecimal,
    "digests": (lambda value: value == {}, dict.fromkeys(FRAMES, str)),
    "records": _is_hexadecimal,
}
