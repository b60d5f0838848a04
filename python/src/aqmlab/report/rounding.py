"""Numbers of charts, as short as their pixels allow."""

from __future__ import annotations

from typing import Any

import numpy as np


def short(values: Any, digits: int = 4) -> list[float | None]:
    """Return numbers with as many digits as one sees; what is not finite is absent.

    >>> short([1.23456, float("nan")])
    [1.235, None]

    """
    return [
        float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in np.asarray(values, float).tolist()
    ]
