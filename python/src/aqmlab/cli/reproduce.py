"""``aqmlab reproduce``: runs papers and judges their claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab import __version__
from aqmlab.cli.compare import Force, Jobs, Json, Out, Quiet, check_count, check_target, write_json
from aqmlab.cli.terminal import Terminal, Text, give
from aqmlab.vocabulary.errors import CheckError, InputError, unknown
from aqmlab.vocabulary.json_text import json_text
from aqmlab.vocabulary.names import listed

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from aqmlab.papers import Reproduction
    from aqmlab.papers.paper import Paper
    from aqmlab.papers.summary import Line

# More names of measures and factors are on the page alone, or with -v.
MOST_NAMES = 12
STYLES = {
    "reproduced": "green",
    "reproduced in part": "yellow",
    "inconclusive": "cyan",
    "not reproduced": "red",
    "not testable": "dim",
}


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="s-pie, large-network, ..., or all; list names them.")],
    preset: Annotated[
        str | None, typer.Option("--preset", metavar="NAME", help="Only this preset: printed, consistent, ...")
    ] = None,
    claim: Annotated[
        list[str] | None,
        typer.Option("--claim", metavar="ID", help="Only this claim, without sampled configurations; may be repeated."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="The same runs with fewer seeds and points of sweeps: two minutes at most.")
    ] = False,
    beyond: Annotated[bool, typer.Option("--beyond", help="Also run what goes beyond the paper.")] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Run nothing but what goes beyond the paper on live packets, in real time.")
    ] = False,
    search: Annotated[
        bool, typer.Option("--search", help="Search the values that the paper leaves open for its numbers.")
    ] = False,
    robustness: Annotated[
        bool | None,
        typer.Option(
            "--robustness/--no-robustness",
            show_default=False,
            help="Judge claims also in sampled configurations of what the paper leaves open: default without --claim.",
        ),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Print each claim with the numbers of every preset."),
    ] = False,
    for_papers: Annotated[
        bool,
        typer.Option("--paper", help="Write each figure also as PDF for a column of a paper (3.5 in wide, 8 pt)."),
    ] = False,
    single_file: Annotated[
        bool, typer.Option("--single-file", help="Put the figures into each paper's page, to send it alone.")
    ] = False,
    seeds: Annotated[
        str | None,
        typer.Option(
            "--seeds",
            metavar="N",
            help="Seeds of the paper's scenarios (default: as their files say); sampled configurations keep their own.",
        ),
    ] = None,
    jobs: Jobs = None,
    out: Out = None,
    as_json: Json = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Run a paper's scenarios and judge its claims: the paper's numbers, measurements, and a verdict for each.

    For example:

    aqmlab reproduce list

    aqmlab reproduce s-pie --quick --paper --out mine

    aqmlab reproduce s-pie --claim spie-1 --quick
    """
    from aqmlab import papers, store
    from aqmlab.cli import show
    from aqmlab.live import checkup
    from aqmlab.papers import pages, searching, workspace
    from aqmlab.papers.paper import LIVE

    if paper == "list":
        Terminal().print(_listed([papers.find(name) for name in papers.built()], verbose=verbose))
        return
    number = check_count("--jobs", jobs)
    check_count("--seeds", seeds)
    check_target(as_json, force=force)
    chosen = [papers.find(name) for name in (papers.built() if paper == "all" else [paper])]
    if claim and paper == "all":
        raise InputError("--claim: name the paper: a claim belongs to one")
    chosen = [one.narrowed(claim) for one in chosen] if claim else chosen
    if live and (beyond or search):
        raise InputError(f"--live runs nothing else: leave out --{'beyond' if beyond else 'search'}")
    if live and paper == "all":
        chosen = [one for one in chosen if one.runs_live]
    if paper == "all" and preset is not None:
        # Not every paper has every preset.
        chosen = [one for one in chosen if preset in one.presets] or chosen
    for one in chosen:
        if preset is not None and preset not in one.presets:
            raise unknown(f"preset of {one.name}", preset, one.presets)
    searched = [one for one in chosen if search and (paper != "all" or searching.is_there(one))]
    for one in searched:
        searching.load(one)
    folder = store.dated("reproduce") if out is None else out
    own = [LIVE] if live or (beyond and not checkup.refusal()) else []
    presets = {one.name: [] if live else [preset] if preset else list(one.run_presets(quick=quick)) for one in chosen}
    workspace.check(folder, {name: [*several, *own] for name, several in presets.items()})
    found: list[Reproduction] = []
    with show.watching(show.Bars, folder, dated=out is None, quiet=quiet) as bar, workspace.held(folder):
        for one in chosen:
            wanted = list(one.run_presets(quick=quick)) if preset is None else [preset]
            found.append(
                papers.run_paper(
                    one,
                    wanted,
                    folder=folder,
                    seeds=seeds,
                    jobs=number,
                    quick=quick,
                    beyond=beyond,
                    live=live,
                    robustness=not live and (not claim if robustness is None else robustness),
                    search=one in searched,
                    watcher=bar,
                )
            )
            pages.write(found, folder, for_papers=for_papers, single_file=single_file)
    if as_json is not None:
        write_json(_document(found), as_json)
    if not quiet:
        console = Terminal(to_stderr=as_json == "-")
        for reproduction in found:
            console.print(_shown(reproduction, verbose=verbose))
        console.print(show.open_page(folder / pages.FRONT))
    elif as_json != "-":
        give(folder)
    failures = [failure for one in found for failure in one.failures]
    if failures:
        raise CheckError("; ".join(failures))


def _listed(papers: Sequence[Paper], *, verbose: bool) -> RenderableType:
    """Return the papers, each with its number of claims and its title; verbosely also authors and presets."""
    from rich.console import Group
    from rich.padding import Padding

    parts: list[RenderableType] = []
    for one in papers:
        parts.append(Text.assemble((one.name, "bold"), f" ({len(one.claims)} claims)"))
        below = [one.title, one.reference, f"Presets: {listed([*one.presets])}"] if verbose else [one.title]
        parts += [Padding(Text(line), (0, 0, 0, 4)) for line in below]
    hint = "aqmlab reproduce PAPER --quick runs one; its table names each claim. Authors and presets: -v."
    return Group(*parts, "", Text(hint, style="dim"))


def _document(found: list[Reproduction]) -> str:
    merged: dict[str, list[Any]] = {}
    for one in found:
        for key, entries in one.document().items():
            merged.setdefault(key, []).extend(entries)
    head = {"format_version": 1, "command": "reproduce", "aqmlab": __version__}
    return json_text({**head, **merged})


def _shown(reproduction: Reproduction, *, verbose: bool) -> RenderableType:
    from rich.console import Group

    from aqmlab.cli.search import shown as searched
    from aqmlab.papers import cards, glossary, summary
    from aqmlab.papers.claim_tables import counts
    from aqmlab.papers.verdicts import by_chance

    paper = reproduction.paper
    parts: list[RenderableType] = [Text(paper.title, style="bold"), Text(paper.reference, style="dim"), ""]
    parts += [Text(paper.summary.text), ""] if paper.summary.text else []
    lines = summary.of_reproduction(reproduction)
    parts += (
        [_summary(lines, summary.heads(paper, reproduction.presets)), "", Text(summary.KEY, style="dim"), ""]
        if lines
        else []
    )
    names = glossary.of_table(paper, lines)
    if len(names) <= MOST_NAMES or verbose:
        parts += [Text(f"{name}: {meaning}", style="dim") for name, meaning in names]
    else:
        parts.append(
            Text("The page explains the names of measures and factors, below its table; -v here.", style="dim")
        )
    parts.append("")
    parts += [
        part for text in (cards.alone(reproduction), cards.limits(reproduction)) if text for part in (Text(text), "")
    ]
    opening = cards.opening(reproduction.space)
    parts += [Text(opening), ""] if opening else []
    parts += _details(reproduction) if verbose or not lines else []
    for preset, judgements in reproduction.counted.items():
        total = Text.assemble((preset, "bold"), f" ({paper.presets[preset].says}): ")
        present = [(verdict, n) for verdict, n in counts(judgements).items() if n]
        for place, (kind, n) in enumerate(present):
            total.append(f"{n} {kind}", style=STYLES[kind])
            total.append(", " if place + 1 < len(present) else f" of {len(judgements)} claims")
        parts.append(total)
    # The same number of claims: the same for every preset.
    chances = dict.fromkeys(by_chance(judgements) for judgements in reproduction.counted.values())
    parts += [Text(chance, style="dim") for chance in chances] if verbose else []
    if reproduction.search:
        parts += ["", searched(reproduction.search)]
    everything = [*reproduction.results.values(), reproduction.beyond]
    warnings = [text for results in everything for one in results.values() for text in one.warnings]
    warnings += reproduction.skipped
    parts += [Text(f"warning: {text}", style="yellow") for text in dict.fromkeys(warnings)]
    return Group(*parts, "")


def _summary(lines: Sequence[Line], heads: Sequence[str]) -> RenderableType:
    """Return the statements of a paper, each with its number, ours and the verdict."""
    table = _table()
    table.expand = True
    for head, share in zip(heads, (6, 3, 7, 5, 4), strict=True):
        table.add_column(head, overflow="fold", ratio=share)
    for place, one in enumerate(lines):
        if place and lines[place - 1].is_headline and not one.is_headline:
            table.add_row()
            table.add_row(Text("Further statements", style="bold"))
        verdict = Text(one.judged, style=STYLES[one.verdict])
        paper, ours = ("\n".join(lines) for lines in (one.paper, one.ours))
        says = Text.assemble(one.says, (f" ({one.id})", "dim"))
        table.add_row(says, Text(paper), Text(ours), verdict, Text(one.sensitive, style="dim"))
    return table


def _details(reproduction: Reproduction) -> list[RenderableType]:
    """Return each claim with the numbers of every preset, and the assumptions."""
    from aqmlab.papers import cards
    from aqmlab.papers.claim_tables import claim_tables, live_tables, mechanism_tables

    parts: list[RenderableType] = []
    for claim in [*claim_tables(reproduction), *mechanism_tables(reproduction), *live_tables(reproduction)]:
        unit = f" ({claim.claim.unit})" if claim.claim.unit else ""
        where = (f"  {claim.claim.where}", "dim")
        parts.append(Text.assemble((claim.claim.id, "bold"), f"  {claim.claim.says}{unit}", where))
        table = _table()
        table.add_column("")
        for column in claim.columns:
            table.add_column(column, justify="right", no_wrap=True)
        for name, cells in claim.lines:
            table.add_row(
                name, *(Text.assemble(one.value, (f" ± {one.half}" if one.half else "", "dim")) for one in cells)
            )
        verdicts = [claim.judgements[name].verdict if name in claim.judgements else None for name in claim.columns]
        table.add_row("verdict", *(Text(str(one or ""), style=STYLES[one] if one else "") for one in verdicts))
        if claim.full:
            full = [claim.full.get(name) for name in claim.columns]
            table.add_row("full form", *(Text(str(one or ""), style="dim") for one in full))
        parts.append(table)
        plain = cards.plain(claim, reproduction)
        parts += [Text(f"{name}: {text}" if name and len(plain) > 1 else text) for name, text in plain.items()]
        judged = [(name, one) for name, one in claim.judgements.items() if str(one.verdict) != "reproduced"]
        parts += [Text(f"{name}: {one.why}", style="dim") for name, one in judged]
        reach = cards.strip(claim.claim.id, reproduction.space)
        parts += [Text(f"robustness: {reach.says}", style="dim")] if reach else []
        parts.append("")
    assumptions = _table()
    assumptions.add_column("Assumption", overflow="fold")
    assumptions.add_column("choice", overflow="fold")
    for one in reproduction.paper.assumptions:
        assumptions.add_row(one.about, Text(one.choice, style="dim"))
    return [*parts, assumptions, ""]


def _table() -> Table:
    from rich.table import Table

    return Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))


__all__ = ["reproduce"]
