"""The goal of a tuning: metrics to minimise, and bounds to keep."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab.scenario.registry import Spec
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.errors import about, unknown

# Stands for the AQM with its defaults.
DEFAULT = "default"
_BOUND = re.compile(
    r"(?P<metric>[\w.-]+)\s*(?P<relation><=|>=)\s*(?P<number>\d+(?:\.\d+)?)\s*(?:\*\s*(?P<reference>\S.*))?", re.ASCII
)


@dataclass(frozen=True)
class Bound:
    """A bound on the mean of a metric in each scenario: a number, or a factor on another AQM's mean in it."""

    text: str
    metric: str
    is_most: bool
    number: float
    reference: str

    @classmethod
    def parse(cls, text: str) -> Bound:
        """Read a bound.

        Raises:
            InputError: if it is none, or names an unknown metric or AQM.

        >>> Bound.parse("goodput_mbit >= 0.95*fifo").reference
        'fifo'

        """
        match = _BOUND.fullmatch(text.strip())
        if match is None:
            raise about("keep", f"'{text}' is not a bound, as 'qdelay_p95_ms <= 20' or 'goodput_mbit >= 0.95*fifo'")
        reference = (match["reference"] or "").strip()
        try:
            _check(match["metric"])
            if reference not in ("", DEFAULT):
                Spec.parse(reference)
        except ValueError as error:
            raise about("keep", f"'{text}': {error}") from None
        return cls(text.strip(), match["metric"], match["relation"] == "<=", float(match["number"]), reference)

    def missed(self, value: float, reference: float | None) -> float:
        """Return by which share of the bound a value misses it; zero if it keeps it."""
        bound = self.number if reference is None else self.number * reference
        difference = value - bound if self.is_most else bound - value
        return max(0.0, difference / bound if bound else difference)


@dataclass(frozen=True)
class Goal:
    """Metrics whose mean over scenarios and seeds is to be small, and bounds that hold in every scenario."""

    minimise: tuple[str, ...]
    bounds: tuple[Bound, ...]

    @classmethod
    def parse(cls, minimise: Sequence[str], keep: Sequence[str]) -> Goal:
        """Read a goal.

        Raises:
            InputError: naming what is wrong with it.

        """
        if not minimise:
            raise about("minimise", "is missing: name a metric, as qdelay_p99_ms")
        for name in minimise:
            try:
                _check(name)
            except ValueError as error:
                raise about("minimise", f"{error}") from None
            if metrics.find(name).better == "higher":
                raise about("minimise", f"more {name} is better: keep it, as '{name} >= 0.95*fifo'")
            if minimise.count(name) > 1:
                raise about("minimise", f"'{name}' is given twice")
        return cls(tuple(minimise), tuple(Bound.parse(text) for text in keep))

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics that are measured."""
        return tuple(dict.fromkeys([*self.minimise, *(one.metric for one in self.bounds)]))

    @property
    def references(self) -> tuple[str, ...]:
        """The other AQMs that bounds name."""
        named = [one.reference for one in self.bounds if one.reference not in ("", DEFAULT)]
        return tuple(dict.fromkeys(named))


def _check(metric: str) -> None:
    if not metrics.is_metric(metric):
        raise unknown("metric", metric, [one.name for one in metrics.METRICS])
