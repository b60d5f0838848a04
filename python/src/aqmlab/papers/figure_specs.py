"""A paper's figures in its own layout, as data: `paper.toml`.

A figure has panels side by side, each over one scenario:

- ``time``: a series over time, one line per AQM (``running``: its mean since the start; ``cumulative``: its sum);
with ``seed`` of that run only, since a mean over seeds hides variation; with ``period`` its means over such periods.
- ``periods``: a series in periods of ``period``, bars per AQM; with ``classes``, stacked by group.
- ``seeds``: a metric of every run, one line per AQM: the paper's repeated experiments.
- ``bars``: a metric, divided by ``over`` if given (as in sweeps), one bar per AQM with its interval; with ``how``, a
series summed up as claims do, from ``since`` to ``until``, of means over periods of ``period`` if given.
- ``sweep``: a metric against the swept values, one line per AQM.
- ``cost``: ``ns_per_packet`` or ``state_bytes`` of the scenario's AQMs against the numbers of flows in ``at``.
- ``drop_probability``: the ``drop_share`` of the scenario's AQMs against the standing queues in ``at``, in packets.
- ``sketch``: the ``error`` of sketches, or of S-PIE's ``threshold``, against the widths in ``at``; needs no scenario.
- ``attacks``: the share of the ``attacker``'s packets, or of those of ``others``, that classifiers of heavy flows
  report under the attacks in ``at``; needs no scenario.
- ``conservation``: CBR's ``loss`` for a gain of the responsive flows, against their share before in ``at``; needs no
  scenario.
- ``airtime``: the ``base_rate``, ``airtime_share`` or ``rate`` of the stations in ``at`` by the analytical model of
  "Ending the Anomaly"; needs no scenario.
- ``steps``: rate and target of a rate-based congestion control that receives one notification of congestion, at the
  times in ``at``; needs no scenario.

An entry of ``at`` may be a range, as in sweeps: ``0s..30s*61``.

``lines`` names a swept key whose values take the place of AQMs, in a scenario that has one AQM.
``across`` names the axis of ``sweep`` and the kinds after it. The paper's own numbers come from the claim named under
``numbers``, and are drawn as dashed lines, or hollow where they are of a time or a point of the sweep.
"""

from __future__ import annotations

from dataclasses import dataclass

from aqmlab.files.documents import Table
from aqmlab.papers.studies import STUDIES, Study
from aqmlab.results.measures import HOW
from aqmlab.scenario.sweeps import Range
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.units import parse_span

# Panels of simulation results. Studies are measured when they are drawn.
SIMULATED = ("time", "periods", "seeds", "bars", "sweep", "groups")


@dataclass(frozen=True)
class Panel:
    """One panel of a figure."""

    title: str
    scenario: str
    kind: str
    of: str
    over: str
    label: str
    scale: float
    running: bool
    cumulative: bool
    period_s: float
    classes: tuple[str, ...]
    aqms: tuple[str, ...]
    lines: str
    numbers: str
    logarithmic: bool
    normalised: bool
    bottom: float
    top: float
    at: tuple[str, ...]
    across: str
    since_s: float | None
    until_s: float | None
    how: str
    seed: int | None

    @property
    def study(self) -> Study | None:
        """Its study, unless it shows simulation results."""
        return STUDIES.get(self.kind)


@dataclass(frozen=True)
class Drawing:
    """A figure of a paper, or one that goes beyond it."""

    name: str
    title: str
    says: str
    panels: tuple[Panel, ...]

    @property
    def is_measured(self) -> bool:
        """Whether it is measured when it is drawn, without a simulation."""
        return any(panel.study for panel in self.panels)

    @property
    def is_beyond(self) -> bool:
        """Whether a panel is a study that goes beyond the paper."""
        return any(panel.study and panel.study.is_beyond for panel in self.panels)


def read(table: Table) -> list[Drawing]:
    """Read the figures of a file.

    Raises:
        InputError: naming the figure, the key and the value.

    """
    found = []
    for one in table.tables("figure", "name"):
        panels = tuple(_panel(panel) for panel in one.tables("panel", "title"))
        found.append(Drawing(one.text("name"), one.text("title"), one.text("says", ""), panels))
        one.done()
        if not panels:
            raise one.error("panel: is missing")
    return found


def _panel(table: Table) -> Panel:
    since, until = table.text("since", ""), table.text("until", "")
    kind = table.choice("kind", (*SIMULATED, *STUDIES), "time")
    try:
        period_s = parse_span(table.text("period", "5s" if kind == "periods" else "0s")) / 1e9
        since_s, until_s = (parse_span(text) / 1e9 if text else None for text in (since, until))
    except ValueError as error:
        raise table.error(error) from None
    study = STUDIES.get(kind)
    seed = table.number("seed", 0.0)
    panel = Panel(
        title=table.text("title"),
        scenario="" if study and not study.has_scenario else table.text("scenario"),
        kind=kind,
        of=table.text("of"),
        over=table.text("over", ""),
        label=table.text("label"),
        scale=table.number("scale", 1.0),
        running=table.flag("running"),
        cumulative=table.flag("cumulative"),
        period_s=period_s,
        classes=table.texts("classes"),
        aqms=table.texts("aqms"),
        lines=table.text("lines", ""),
        numbers=table.text("numbers", ""),
        logarithmic=table.flag("logarithmic"),
        normalised=table.flag("normalised"),
        bottom=table.number("bottom", 0.0),
        top=table.number("top", 0.0),
        at=_at(table),
        across=table.text("across", ""),
        since_s=since_s,
        until_s=until_s,
        how=table.choice("how", ("", *HOW), ""),
        seed=int(seed) if seed else None,
    )
    table.done()
    if study and not panel.at:
        raise table.error("at: is missing: say at which numbers of flows or widths")
    return panel


def _at(table: Table) -> tuple[str, ...]:
    try:
        return tuple(one for text in table.texts("at") for one in _places(text))
    except ValueError as error:
        raise table.error(f"at: {error}") from None


def _places(text: str) -> list[str]:
    """Return the places on an axis that an entry stands for.

    >>> _places("0s..2s*5")
    ['0s', '500ms', '1s', '1.5s', '2s']

    """
    found = Range.parse(text)
    if found is None:
        return [text]
    if found.count is None:
        raise InputError(f"'{text}' lacks the number of its values: give it as 0s..30s*61")
    return found.values()
