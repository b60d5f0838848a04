"""The options of a comparison as keywords of Python functions, so that a type checker finds a misspelt one.

A test holds that they are the options of `OPTIONS`, but for ``aqm``, which is always given.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import TypeAlias, TypedDict

Many: TypeAlias = str | Sequence[str]
Time: TypeAlias = str | timedelta
File: TypeAlias = str | os.PathLike[str]


class Keywords(TypedDict, total=False):
    """Quantities are text with their unit in tc's notation; ``aqmlab compare --help`` says what each option is."""

    rate: str | None
    rtt: Time | None
    buffer: Time | None
    flows: File | Sequence[File] | None
    topology: File | None
    measure: Many | None
    link_trace: File | None
    capture: File | Sequence[File] | None
    overhead: str | None
    device_ring: str | None
    access_rate: str | None
    loss: str | None
    jitter: Time | None
    duration: Time | None
    warmup: Time | None
    series: str | None
    flow_monitor: str | None
    seeds: int | str | None
    first_seed: int | str | None
