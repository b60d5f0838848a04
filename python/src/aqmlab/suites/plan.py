"""A suite as data: ``suite.toml`` in a folder of experiments, which lists scenarios and what to show of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aqmlab.files import shipped
from aqmlab.files.documents import Table
from aqmlab.plots import KINDS
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.errors import InputError, unknown

PLAN = "suite.toml"
# RFC 7928 sections 2.5 to 2.7 and 4.2: the usual figures of a scenario.
COLUMNS = ("goodput_mbit", "utilization", "loss_ratio", "qdelay_mean_ms", "qdelay_p99_ms", "jain_index")
FIGURES = ("tradeoff", "cdf")
# What of them is shown at a glance.
MATTERS = ("qdelay_mean_ms", "goodput_mbit")
REQUIREMENTS = ("must", "recommended", "may")
# Between two metrics of a column: their ratio, run by run.
OVER = " / "


@dataclass(frozen=True)
class Entry:
    """A scenario of a suite: its file, where it is asked for, and what is shown of it.

    ``columns`` are metrics, or two with `` / `` between, and ``matters`` those that are shown at a glance; ``phases``
    are names and times in seconds, of all traffic or of the group ``phases_of``; ``ecn`` switches ECN on, and
    ``tail_drop`` adds the discipline that is compared with.
    """

    file: Path
    section: str
    title: str
    asks: str
    requirement: str
    columns: tuple[str, ...]
    matters: tuple[str, ...]
    figures: tuple[str, ...]
    phases: dict[str, tuple[float, float]]
    phases_of: str
    ecn: bool
    tail_drop: bool

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.file.stem

    @property
    def flows(self) -> tuple[str, ...]:
        """Its flows as the file has them."""
        return tuple(Table.read(self.file).texts("flows"))

    @property
    def command(self) -> str:
        """The command that runs it alone."""
        is_shipped = self.file.is_relative_to(shipped.experiments())
        return f"aqmlab run {f'{self.file.parent.name}/{self.name}' if is_shipped else self.file}"


@dataclass(frozen=True)
class Suite:
    """A suite, ready to run; ``aqms`` are compared unless others are asked for, or ``controls`` if it has any."""

    name: str
    title: str
    reference: str
    aqms: tuple[str, ...]
    controls: tuple[str, ...]
    entries: tuple[Entry, ...]

    @property
    def subject(self) -> str:
        """What it compares."""
        return "Control" if self.controls else "AQM"


def built() -> list[str]:
    """Return the suites that come with aqmlab.

    >>> "rfc7928" in built()
    True

    """
    return sorted(plan.parent.name for plan in shipped.experiments().glob(f"*/{PLAN}"))


def find(name: str) -> Suite:
    """Return a suite by its name or by its folder.

    Raises:
        InputError: if there is no such suite, or its plan is wrong.

    """
    folder = shipped.experiments() / name if name in built() else Path(name)
    if not (folder / PLAN).is_file():
        raise unknown("suite", name, built())
    table = Table.read(folder / PLAN)
    suite = Suite(
        name=folder.resolve().name,
        title=table.text("title"),
        reference=table.text("reference"),
        aqms=table.texts("disciplines"),
        controls=table.texts("controls"),
        entries=tuple(_entry(folder, one) for one in table.tables("scenario", "file")),
    )
    table.done()
    if bool(suite.aqms) == bool(suite.controls) or not suite.entries:
        raise table.error("either disciplines or controls, and [[scenario]], must name at least one each")
    for entry in suite.entries:
        if suite.controls and (entry.ecn or entry.tail_drop):
            raise table.error(f"{entry.name}: ecn and tail_drop are of suites of disciplines")
    return suite


def _entry(folder: Path, table: Table) -> Entry:
    file = folder / f"{table.text('file')}.toml"
    if not file.is_file():
        raise table.error(f"file: there is no '{file}'")
    columns = table.texts("columns") or COLUMNS
    entry = Entry(
        file=file,
        section=table.text("section"),
        title=table.text("title"),
        asks=table.text("asks"),
        requirement=table.choice("requirement", REQUIREMENTS, "must"),
        columns=columns,
        matters=table.texts("matters") or tuple(one for one in MATTERS if one in columns),
        figures=table.texts("figures") or FIGURES,
        phases=_phases(table),
        phases_of=table.text("phases_of", ""),
        ecn=table.flag("ecn"),
        tail_drop=table.flag("tail_drop"),
    )
    table.done()
    for column in entry.columns:
        for name in column.split(OVER):
            if not metrics.is_metric(name):
                raise table.error(f"columns: unknown metric '{name}'")
    for column in entry.matters:
        if column not in columns:
            raise table.error(f"matters: {unknown('column', column, columns)}")
    for figure in entry.figures:
        if figure not in KINDS:
            raise table.error(f"figures: {unknown('figure', figure, KINDS)}")
    return entry


def _phases(table: Table) -> dict[str, tuple[float, float]]:
    given = table.ranges("phases")
    for name, (since, until) in given.items():
        if not 0 <= since < until:
            raise InputError(f"{table.place}phases: {name}: must end after it begins")
    return given
