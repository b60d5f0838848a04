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
    from aqmlab.papers.findings import Word
    from aqmlab.papers.paper import Paper

# More names of measures and factors are on the page alone, or with -v.
MOST_NAMES = 12


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
    """Return the papers, each with its number of claims, title and main claim; verbosely also authors and presets."""
    from rich.console import Group
    from rich.padding import Padding

    from aqmlab.papers import main_claim, summary

    parts: list[RenderableType] = []
    for one in papers:
        parts.append(Text.assemble((one.name, "bold"), f" ({len(one.claims)} claims)"))
        main = main_claim.of(summary.of_folder(one))
        lines = [Text(one.title, no_wrap=not verbose, overflow="ellipsis")]
        below = [main_claim.brief(main)] if main else []
        below += [one.reference, f"Presets: {listed([*one.presets])}"] if verbose else []
        lines += map(Text, below)
        parts += [Padding(line, (0, 0, 0, 4)) for line in lines]
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

    from aqmlab.cli.claim_lines import STYLES, claims
    from aqmlab.cli.search import shown as searched
    from aqmlab.papers import cards, glossary, main_claim, summary
    from aqmlab.papers.claim_tables import counts
    from aqmlab.papers.verdicts import by_chance

    paper = reproduction.paper
    parts: list[RenderableType] = [Text(paper.title, style="bold"), Text(paper.reference, style="dim"), ""]
    lines = summary.of_reproduction(reproduction)
    alone = cards.alone(reproduction)
    if lines:
        main = main_claim.of(lines)
        preset = f"Preset {lines[0].preset}: {paper.presets[lines[0].preset].says}."
        parts += [Text(preset, style="dim"), "", claims(lines, verbose=verbose or bool(alone))]
        parts += [Text(main_claim.sentence(main, paper, "")), ""] if main and not alone else []
        parts += [Text(f"In the full form: {paper.summary.text}"), ""] if paper.summary.text and not alone else []
        parts += [Text(summary.KEY, style="dim"), ""]
    names = glossary.of_table(paper, lines)
    if len(names) <= MOST_NAMES or verbose:
        parts += [Text(f"{name}: {meaning}", style="dim") for name, meaning in names]
    else:
        parts.append(
            Text("The page explains the names of measures and factors, below its table; -v here.", style="dim")
        )
    parts.append("")
    parts += [part for text in (alone, cards.limits(reproduction)) if text for part in (Text(text), "")]
    opening = cards.opening(reproduction.space, paper.ours)
    parts += [Text(opening), ""] if opening else []
    parts += _details(reproduction) if verbose or not lines else []
    # Of claims alone everything is said.
    counted = {} if alone and lines else reproduction.counted
    for preset, judgements in counted.items():
        total = Text.assemble((preset, "bold"), f" ({paper.presets[preset].says}), {len(judgements)} claims: ")
        present = [(word, n) for word, n in counts(judgements).items() if n]
        for place, (word, n) in enumerate(present):
            total.append(f"{word} {n}", style=STYLES[word])
            total.append("; " if place + 1 < len(present) else "")
        parts.append(total)
    # The same number of claims: the same for every preset.
    chances = dict.fromkeys(by_chance(judgements) for judgements in counted.values())
    parts += [Text(chance, style="dim") for chance in chances] if verbose else []
    if reproduction.search:
        parts += ["", searched(reproduction.search)]
    everything = [*reproduction.results.values(), reproduction.beyond]
    warnings = [text for results in everything for one in results.values() for text in one.warnings]
    warnings += reproduction.skipped
    parts += [Text(f"warning: {text}", style="yellow") for text in dict.fromkeys(warnings)]
    return Group(*parts, "")


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
        table.add_column("", no_wrap=True)
        for column in claim.columns:
            table.add_column(column, justify="right", overflow="fold")
        for name, cells in claim.lines:
            table.add_row(
                name, *(Text.assemble(one.value, (f" ± {one.half}" if one.half else "", "dim")) for one in cells)
            )
        parts.append(table)
        judged_in = [name for name in claim.columns if name in claim.words or name in claim.full]
        parts += [_verdict(name, claim.words.get(name), claim.full.get(name)) for name in judged_in]
        plain = cards.plain(claim, reproduction)
        parts += [Text(f"{name}: {text}" if name and len(plain) > 1 else text) for name, text in plain.items()]
        judged = [(name, one) for name, one in claim.judgements.items() if claim.words[name] != "reproduced"]
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


def _verdict(preset: str, here: Word | None, stored: Word | None) -> Text:
    """Return the verdict of a preset in a line of its own, which no width cuts, with the stored one."""
    from aqmlab.cli.claim_lines import STYLES

    line = Text(f"{preset}: ")
    if here is not None:
        line.append(str(here), STYLES[here])
    if stored is not None:
        line.append(f"{'; ' if here is not None else ''}stored: {stored}", "dim")
    return line


def _table() -> Table:
    from rich.table import Table

    return Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))


__all__ = ["reproduce"]
