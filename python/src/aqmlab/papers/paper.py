"""A paper as an experiment folder: claims, readings, figures, and scenario files for each preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aqmlab.files import shipped
from aqmlab.files.documents import Table
from aqmlab.papers import claims, figures, kept, standings
from aqmlab.papers.claims import Claim
from aqmlab.papers.figures import Drawing
from aqmlab.papers.standings import Standing
from aqmlab.papers.verdicts import Verdict
from aqmlab.vocabulary.errors import InputError, unknown
from aqmlab.vocabulary.names import plain

# Scenarios that go beyond the paper: the same for every preset.
BEYOND = "beyond"
# The one of them that is run on live packets.
LIVE = "live"


@dataclass(frozen=True)
class Reading:
    """Something that a paper leaves open or contradicts, and how it is resolved."""

    about: str
    problem: str
    chosen: str
    setting: str


@dataclass(frozen=True)
class Paper:
    """A paper, ready to run.

    ``mechanisms`` are explanations by ablations, ``live`` what is judged once more on live packets; ``full`` are the
    verdicts of its full form that are kept with it, by preset and claim.
    """

    name: str
    folder: Path
    title: str
    reference: str
    presets: dict[str, str]
    claims: list[Claim]
    mechanisms: list[Claim]
    live: list[Claim]
    readings: list[Reading]
    drawings: list[Drawing]
    standings: list[Standing]
    full: Mapping[str, Mapping[str, Verdict]]

    @property
    def statements(self) -> list[Claim]:
        """All that is judged: the paper's claims, our mechanisms, and those on live packets."""
        return [*self.claims, *self.mechanisms, *self.live]

    @property
    def runs_live(self) -> bool:
        """Whether it has a scenario on live packets."""
        return LIVE in self.scenarios(BEYOND)

    def scenarios(self, preset: str) -> dict[str, Path]:
        """Return the scenario files of a preset (or of ``beyond``) by their names."""
        return {path.stem: path for path in sorted((self.folder / preset).glob("*.toml"))}


def built() -> list[str]:
    """Return the papers that can be reproduced: every folder of the experiments that holds claims."""
    return sorted(claims.parent.name for claims in shipped.experiments().glob("*/claims.toml"))


def find(name: str) -> Paper:
    """Return a paper by its name.

    Raises:
        InputError: if there is no such paper, or its files are wrong.

    """
    wanted = plain(name)
    if wanted not in built():
        raise unknown("paper", name, [*built(), "all", "list"])
    return load(shipped.experiments() / wanted)


def load(folder: Path) -> Paper:
    """Read the folder of a paper.

    Raises:
        InputError: naming file, key and value.

    """
    table = Table.read(folder / "claims.toml")
    presets = table.words("presets")
    statements = claims.read(table)
    layout = Table.read(folder / "figures.toml")
    paper = Paper(
        name=folder.name,
        folder=folder,
        title=table.text("title"),
        reference=table.text("reference"),
        presets=presets,
        claims=[one for one in statements if not one.explains],
        mechanisms=[one for one in statements if one.explains and not _is_live(one)],
        live=[one for one in statements if one.explains and _is_live(one)],
        readings=_readings(Table.read(folder / "readings.toml")),
        drawings=figures.read(layout),
        standings=standings.read(layout),
        full=kept.read(folder, [one.id for one in statements], presets),
    )
    table.done()
    layout.done()
    for preset in presets:
        known = {*paper.scenarios(preset), *paper.scenarios(BEYOND)}
        wanted = {measure.scenario for claim in paper.statements for measure in claim.measures.values()}
        wanted |= {panel.scenario for drawing in paper.drawings for panel in drawing.panels if panel.scenario}
        wanted |= {standing.scenario for standing in paper.standings}
        for scenario in sorted(wanted - known):
            raise InputError(f"{folder / preset}: there is no {scenario}.toml, which a claim or a figure names")
    return paper


def _is_live(claim: Claim) -> bool:
    return any(measure.scenario == LIVE for measure in claim.measures.values())


def _readings(table: Table) -> list[Reading]:
    found = []
    for one in table.tables("reading", "about"):
        found.append(Reading(one.text("about"), one.text("problem"), one.text("chosen"), one.text("setting", "")))
        one.done()
    table.done()
    return found
