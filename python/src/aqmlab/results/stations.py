"""The stations of Wi-Fi: their table, what an AQM changes for them in words, and what their model leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from aqmlab.results import differences
from aqmlab.results.differences import Comparison
from aqmlab.results.metric_tables import STATION_COLUMNS, Column, Lines, line
from aqmlab.results.summary import Row
from aqmlab.vocabulary.metrics import split
from aqmlab.vocabulary.scopes import Scope, of_station

if TYPE_CHECKING:
    from aqmlab.results.result import Result

SHARE: Final = "airtime_share"
# Where packets wait, from the discipline to the receiver: the metric, and the layer's name.
LAYERS: Final[Mapping[str, str]] = {
    "delay_discipline_ms": "AQM",
    "delay_driver_ms": "driver and hardware",
    "delay_air_ms": "air",
    "delay_reorder_ms": "reorder buffer",
}
BELOW: Final = "delay_driver_ms"
NOT_MODELLED: Final = (
    "hidden terminals", "fading", "roaming", "rate control", "power save", "OFDMA", "MU-MIMO", "multi-link",
)  # fmt: skip
# Smaller changes of a share of the air, in points, and of a wait below the AQM, in ms, are in the table only.
LEAST_POINTS = 5.0
LEAST_MS = 5.0
# Within this factor a wait stays what it was.
STAYS = 2.0


def names(rows: Sequence[Row]) -> list[str]:
    """Return the stations that some rows of a summary are about, in their order."""
    found = dict.fromkeys(Scope.of_prefix(split(row.metric)[0]) for row in rows)
    return [one.name for one in found if one and one.family == "station"]


def not_modelled(rows: Sequence[Row]) -> str:
    """Return what the model of Wi-Fi leaves out as a sentence; nothing where no row is about a station."""
    return f"The model of Wi-Fi leaves out {', '.join(NOT_MODELLED)}." if names(rows) else ""


def station_cells(aqms: Sequence[str], rows: Sequence[Row], columns: Sequence[Column] = STATION_COLUMNS) -> Lines:
    """Return the lines of one scenario, one per station and AQM; none without stations."""
    return {
        (name, aqm): line([row for row in rows if row.aqm == aqm], of_station(name).prefix, columns)
        for name in names(rows)
        for aqm in aqms
    }


def words(result: Result, point: int, reference: str, aqm: str) -> list[str]:
    """Return what an AQM changes for stations against its reference, as far as it is beyond chance.

    Of the station that takes most of the air, how much it takes; of the station for which packets wait longest below
    the AQM, how long they do. That wait is named where it stays, too: an AQM cannot shorten a queue that is not its
    own. The tests are a family of their own.
    """
    rows = [row for row in result.rows if row.point == point]
    stations = [of_station(name) for name in names(rows)]
    metrics = [station.metric(plain) for plain in (SHARE, BELOW) for station in stations]
    every = differences.family(result.frames, [point], [reference, aqm], metrics) if stations else []
    found = []
    most = max((one for one in every if one.metric.endswith(SHARE)), key=_larger, default=None)
    if most and _is_shown(most) and 100.0 * abs(most.difference.estimate.value) >= LEAST_POINTS:
        before, after = _texts(100.0 * most.reference_value, 100.0 * _value(most))
        found.append(f"{_station(most)} takes {after} % of the air, not {before} %")
    longest = max((one for one in every if one.metric.endswith(BELOW)), key=_larger, default=None)
    if longest and _larger(longest) >= LEAST_MS:
        before, after = _texts(longest.reference_value, _value(longest))
        factor = _value(longest) / longest.reference_value if longest.reference_value else float("inf")
        is_other = _is_shown(longest) and not 1.0 / STAYS <= factor <= STAYS
        if is_other:
            found.append(f"packets for {_station(longest)} wait {after} ms in the driver, not {before} ms")
        elif factor >= 1.0 / STAYS:
            found.append(f"packets for {_station(longest)} still wait {after} ms in the driver, below the AQM")
    return found


def _larger(one: Comparison) -> float:
    return max(one.reference_value, _value(one))


def _is_shown(one: Comparison) -> bool:
    """Whether a difference is beyond chance; of one run, whether there is any."""
    difference = one.difference
    return difference.estimate.value != 0.0 if difference.p_value is None else difference.is_distinguishable


def _value(one: Comparison) -> float:
    return one.reference_value + one.difference.estimate.value


def _station(one: Comparison) -> str:
    scope = Scope.of_prefix(split(one.metric)[0])
    return scope.name if scope else ""


def _texts(*values: float) -> list[str]:
    """Return values with a digit more where they are small."""
    return [f"{value:.{0 if value >= 9.95 else 1}f}" for value in values]


__all__ = ["BELOW", "LAYERS", "NOT_MODELLED", "SHARE", "names", "not_modelled", "station_cells", "words"]
