"""A paper as an experiment folder: `paper.toml`, and its scenario files.

`paper.toml` holds the claims, what the paper leaves open (assumptions, and factors with their levels), presets as
levels of factors, and figures. A scenario file stands once, in `scenarios/`; what a preset or a sampled configuration
chooses replaces the values of its ``$names``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aqmlab import scenario
from aqmlab.files import shipped, toml
from aqmlab.files.documents import Table
from aqmlab.papers import claims, figure_specs, generated, scenario_tables
from aqmlab.papers.claims import Claim
from aqmlab.papers.figure_specs import Drawing
from aqmlab.papers.generated import Generated
from aqmlab.papers.scenario_tables import ScenarioTable
from aqmlab.scenario import Experiment
from aqmlab.search import Factor, Sampling, plan
from aqmlab.vocabulary.errors import InputError, unknown
from aqmlab.vocabulary.names import listed, plain

FILE = "paper.toml"
# The folder of the scenario files that presets share.
SCENARIOS = "scenarios"
# Scenarios that go beyond the paper: the same for every preset.
BEYOND = "beyond"
# The one of them that is run on live packets.
LIVE = "live"


@dataclass(frozen=True)
class Assumption:
    """A gap or a contradiction of a paper, and what is chosen for it."""

    about: str
    gap: str
    choice: str
    setting: str


@dataclass(frozen=True)
class Preset:
    """A named configuration: what it is, and the levels of the factors that differ from the scenario files.

    One whose runs do not fit into a quick form ``is_quick`` not: its verdicts there are the stored ones.
    """

    says: str
    levels: Mapping[str, str]
    is_quick: bool = True


@dataclass(frozen=True)
class Summary:
    """A paper in three sentences: what it proposes, what was found of it, and what that depends on.

    ``main`` is the paper's main claim. ``headline`` names the claims of its title and abstract, whatever came out of
    them, and those of which the sentences speak: tables begin with them. ``reproduced`` and ``failed`` name the claims
    that the second sentence speaks of.
    """

    proposes: str = ""
    found: str = ""
    depends: str = ""
    main: str = ""
    headline: tuple[str, ...] = ()
    reproduced: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The sentences."""
        return " ".join(one for one in (self.proposes, self.found, self.depends) if one)


@dataclass(frozen=True)
class Paper:
    """A paper, ready to run.

    ``mechanisms`` are explanations by ablations, ``live`` what is judged once more on live packets; ``main`` is
    the preset of its summary, ``generated`` its full form. ``needed`` names the scenarios that are run,
    if not all are.
    """

    name: str
    folder: Path
    title: str
    reference: str
    presets: dict[str, Preset]
    claims: list[Claim]
    mechanisms: list[Claim]
    live: list[Claim]
    assumptions: list[Assumption]
    factors: tuple[Factor, ...]
    sampling: Sampling | None
    drawings: list[Drawing]
    scenario_tables: list[ScenarioTable]
    main: str
    summary: Summary
    generated: Generated
    needed: frozenset[str] | None = None

    @property
    def statements(self) -> list[Claim]:
        """All that is judged: the paper's claims, our mechanisms, and those on live packets."""
        return [*self.claims, *self.mechanisms, *self.live]

    @property
    def ours(self) -> frozenset[str]:
        """What is judged and is no claim of the paper: our mechanisms, and claims on live packets."""
        return frozenset(one.id for one in (*self.mechanisms, *self.live))

    @property
    def counted(self) -> str:
        """How many claims the paper has, and how many statements of ours are judged beside them."""
        ours = {"explanation": len(self.mechanisms), "live check": len(self.live)}
        beside = [f"{n} {what}{'s' * (n > 1)}" for what, n in ours.items() if n]
        claims = f"{len(self.claims)} claim{'s' * (len(self.claims) > 1)}"
        return f"its {claims} (beside them {listed(beside)} of ours)" if beside else f"its {claims}"

    @property
    def runs_live(self) -> bool:
        """Whether it has a scenario on live packets."""
        return LIVE in self.scenarios(BEYOND)

    def scenarios(self, preset: str) -> dict[str, Path]:
        """Return the scenario files of a preset (or of ``beyond``) by their names."""
        folder = self.folder / (BEYOND if preset == BEYOND else SCENARIOS)
        return {path.stem: path for path in sorted(folder.glob("*.toml")) if self._needs(path.stem)}

    def run_presets(self, *, quick: bool) -> dict[str, Preset]:
        """Return the presets that are run unless one is named."""
        return {name: one for name, one in self.presets.items() if one.is_quick or not quick}

    @property
    def sampled(self) -> dict[str, Path]:
        """The scenario files that sampled configurations run, by their names."""
        files = {path.stem: path for path in sorted((self.folder / SCENARIOS).glob("*.toml"))}
        names = self.sampling.scenarios if self.sampling else ()
        return {name: files[name] for name in names or files}

    def narrowed(self, wanted: Sequence[str]) -> Paper:
        """Return the paper with these claims alone, and the scenarios that they need.

        Raises:
            InputError: naming a claim that it does not have.

        """
        for name in wanted:
            if name not in (known := [one.id for one in self.statements]):
                raise unknown(f"claim of {self.name}", name, known, of=self.counted)

        def chosen(several: Sequence[Claim]) -> list[Claim]:
            return [one for one in several if one.id in wanted]

        found = replace(self, claims=chosen(self.claims), mechanisms=chosen(self.mechanisms), live=chosen(self.live))
        names = (measure.scenario for one in found.statements for measure in one.measures.values())
        return replace(found, needed=frozenset(names))

    def _needs(self, name: str) -> bool:
        return self.needed is None or name in self.needed

    def experiments(
        self, preset: str, overrides: Mapping[str, str | Sequence[str]] | None = None, *, quick: bool = False
    ) -> dict[str, Experiment]:
        """Return the experiments of a preset (or of ``beyond``) by their names, with the levels of its factors.

        Raises:
            InputError: naming file, key and value.

        """
        chosen = self.presets[preset].levels if preset in self.presets else {}
        values = {
            name: value
            for factor in self.factors
            if factor.name in chosen
            for name, value in factor.levels[chosen[factor.name]].items()
        }
        return {
            name: scenario.load(path, overrides, values=_own(path, values), quick=quick)
            for name, path in self.scenarios(preset).items()
        }


def built() -> list[str]:
    """Return the papers that can be reproduced: every folder of the experiments that holds a `paper.toml`."""
    return sorted(claims.parent.name for claims in shipped.experiments().glob(f"*/{FILE}"))


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
    table = Table.read(folder / FILE)
    factors = plan.factors(table)
    presets = {name: _preset(one, factors) for name, one in table.named("presets").items()}
    space = table.table("space")
    statements = claims.read(table)
    paper = Paper(
        name=folder.name,
        folder=folder,
        title=table.text("title"),
        reference=table.text("reference"),
        presets=presets,
        claims=[one for one in statements if not one.explains],
        mechanisms=[one for one in statements if one.explains and not _is_live(one)],
        live=[one for one in statements if one.explains and _is_live(one)],
        assumptions=_assumptions(table),
        factors=factors,
        sampling=plan.sampling(space) if space else None,
        drawings=figure_specs.read(table),
        scenario_tables=scenario_tables.read(table),
        main=table.choice("main", presets, "consistent" if "consistent" in presets else next(iter(presets), "")),
        summary=_summary(table.table("summary")),
        generated=generated.read(folder, [one.id for one in statements], presets),
    )
    table.done()
    ids = [one.id for one in paper.claims]
    for claim in paper.summary.headline:
        if claim not in ids:
            raise InputError(f"{folder / FILE}: summary: headline: {unknown('claim', claim, ids)}")
    if paper.summary.main and paper.summary.main not in paper.summary.headline:
        among = list(paper.summary.headline)
        raise InputError(f"{folder / FILE}: summary: main: {unknown('headline claim', paper.summary.main, among)}")
    if paper.sampling is not None:
        aqms = list(dict.fromkeys(side.aqm for claim in paper.statements for side in claim.operands))
        if paper.sampling.own not in aqms:
            raise InputError(f"{folder / FILE}: space: own: {unknown('AQM', paper.sampling.own, aqms)}")
    for preset in presets:
        known = {*paper.scenarios(preset), *paper.scenarios(BEYOND)}
        wanted = {measure.scenario for claim in paper.statements for measure in claim.measures.values()}
        wanted |= {panel.scenario for drawing in paper.drawings for panel in drawing.panels if panel.scenario}
        wanted |= {one.scenario for one in paper.scenario_tables}
        for missing in sorted(wanted - known):
            raise InputError(f"{folder / preset}: there is no {missing}.toml, which a claim or a figure names")
    return paper


def _is_live(claim: Claim) -> bool:
    return any(measure.scenario == LIVE for measure in claim.measures.values())


def _preset(table: Table, factors: Sequence[Factor]) -> Preset:
    is_quick = table.choice("quick", ("yes", "no"), "yes") == "yes"
    found = Preset(table.text("says"), plan.levels(table, factors), is_quick)
    table.done()
    return found


def _summary(table: Table | None) -> Summary:
    if table is None:
        return Summary()
    found = Summary(
        table.text("proposes"),
        table.text("found"),
        table.text("depends"),
        table.text("main"),
        table.texts("headline"),
        table.texts("reproduced"),
        table.texts("failed"),
    )
    table.done()
    return found


def _assumptions(table: Table) -> list[Assumption]:
    found = []
    for one in table.tables("assumption", "about"):
        found.append(Assumption(one.text("about"), one.text("gap"), one.text("choice"), one.text("setting", "")))
        one.done()
    return found


def _own(path: Path, values: Mapping[str, str]) -> dict[str, str]:
    """Return those values that a scenario file names."""
    named = toml.read(path).get("values", {})
    return {name: value for name, value in values.items() if name in named}
