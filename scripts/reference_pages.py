#!/usr/bin/env python3
"""Write the pages of reference that need no run, and the schemas.

    scripts/reference_pages.py docs/reference

The contents come from the declarations in the code (`aqmlab flows show`). The same sources give the same bytes.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import contract_page
import own_discipline_page
import splice_tables
import typer

import aqmlab
from aqmlab import _native, scenario
from aqmlab.cli.main import app
from aqmlab.scenario import registry, schema
from aqmlab.scenario.flows import RFC, defaults_of, keys_of, of_profile, of_the_field
from aqmlab.scenario.kinds import (
    COMMON,
    GROUPS,
    KINDS,
    PAPERS,
    PROFILES,
    TRANSPORTS,
    Key,
    SourceKind,
    Transport,
)
from aqmlab.scenario.links import KINDS as KINDS_OF_LINK
from aqmlab.scenario.options import OPTIONS
from aqmlab.scenario.topologies import KINDS as KINDS_OF_TOPOLOGY
from aqmlab.vocabulary.metrics import METRICS, OBSERVERS, Metric

EXAMPLE = Path(__file__).resolve().parents[1] / "experiments/buffer-sweep.toml"
HEAD = ("Key", "Default", "Takes", "What it does", "Where it comes from")


def main() -> None:
    """Write every page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    for name, text in pages().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def pages() -> dict[str, str]:
    """Return every page by its path below docs."""
    return {
        "commands.md": commands(),
        "contract.md": contract(),
        "experiment-files.md": experiment_files(),
        "own-disciplines.md": own_disciplines(),
        "python.md": python(),
        "transports.md": transports(),
        "papers.md": papers(),
        "sources.md": sources(),
        "links.md": links(),
        "topologies.md": topologies(),
        "programs.md": programs(),
        "tc.md": tc(),
        "metrics.md": metrics(),
        "defaults.md": defaults(),
        "schema/experiment.schema.json": json.dumps(schema.experiment(), indent=2) + "\n",
        "schema/scenario.schema.json": json.dumps(schema.scenario(), indent=2) + "\n",
    }


def commands() -> str:
    """Return the page about the commands and their options."""
    lines = ["# Commands", "", "Written by `make docs`. `aqmlab COMMAND --help` prints the same.", ""]
    lines += ["A command ends with status 0 when all is done, 1 after a failed check or a machine that gave up (full"]
    lines += [
        "disk, no memory), 2 after input that cannot be used, 70 after a bug of ours, 130 after Ctrl-C. An error is"
    ]
    lines += ["one line on standard error.", ""]
    explained: list[tuple[str, ...]] = []
    for words, command in _leaves(["aqmlab"], typer.main.get_command(app)):
        lines += [f"## {' '.join(words)}", "", *_paragraphs(command.help), ""]
        rows = [
            (_spelled(param), _shown_default(param), _one_line(getattr(param, "help", None)))
            for param in command.params
            if param.name not in ("help", "install_completion", "show_completion")
        ]
        # Each option is explained once, where its command comes first.
        own = [row for row in rows if row not in explained]
        shared = [row[0] for row in rows if row in explained]
        lines += [*_table(("Option", "Default", "What it does"), own), ""] if own else []
        lines += ["As above: " + ", ".join(shared) + ".", ""] if shared else []
        explained += own
    return "\n".join(lines).rstrip() + "\n"


def contract() -> str:
    """Return the page of what other programs may rely on, with every rename."""
    lines = [
        "# Contract",
        "",
        "Written by `make docs`. Other programs may rely on what is listed here. A change needs a line",
    ]
    lines += [
        'under "Breaking" in the [changelog](../../CHANGELOG.md), and an old name is answered with the new one.',
        "",
    ]
    for title, paragraphs, tables in contract_page.sections():
        lines += [f"## {title}", "", *([*paragraphs, ""] if paragraphs else [])]
        for heads, rows in tables:
            lines += [*_table(heads, rows), ""]
    return "\n".join(lines).rstrip() + "\n"


def _leaves(words: list[str], command: Any) -> Iterator[tuple[list[str], Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield words, command
        return
    for name, below in inner.items():
        yield from _leaves([*words, name], below)


def _spelled(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{(param.metavar or param.name).upper()}`"
    value = f" {param.metavar}" if param.metavar else ""
    names = "/".join([*param.opts, *param.secondary_opts])
    return f"`{names}{value}`"


def _shown_default(param: Any) -> str:
    if param.required:
        return "must be given"
    plain = isinstance(param.default, str | int | float) and not isinstance(param.default, bool)
    return f"`{param.default}`" if plain and str(param.default) else ""


def _one_line(text: str | None) -> str:
    # An asterisk is itself: '10*newreno' has no emphasis.
    return " ".join((text or "").split()).replace("*", "\\*")


def experiment_files() -> str:
    """Return the page about the keys of experiment files."""
    lines = [
        "# Experiment files",
        "",
        "Written by `make docs`. `aqmlab run FILE` runs one. The keys are the options of",
    ]
    lines += ["`aqmlab compare`, with the same notation; `[sweep]`, `[values]` and `[quick]` are tables. The"]
    lines += [
        "[JSON Schema](schema/experiment.schema.json) says the same to editors (`aqmlab schema` prints it); a resolved"
    ]
    lines += ["scenario, with every default filled in, has a [schema](schema/scenario.schema.json) too.", ""]
    lines += ["```toml", *EXAMPLE.read_text().rstrip().splitlines(), "```", ""]
    described = schema.experiment()["properties"].items()
    rows = (
        (f"`{key}`", _one_line(str(one.get("default", ""))), _one_line(one["description"])) for key, one in described
    )
    lines += _table(("Key", "Default", "What it is"), rows)
    return "\n".join(lines) + "\n"


def own_disciplines() -> str:
    """Return the page about disciplines in Python."""
    lines = ["# Disciplines in Python", ""]
    lines += ["Written by `make docs`. [How to write one](../how-to/own-discipline.md).", ""]
    for title, heads, rows in own_discipline_page.sections():
        lines += [f"## {title}", "", *_table(heads, rows), ""]
    return "\n".join(lines).rstrip() + "\n"


def python() -> str:
    """Return the page about what the package offers to Python."""
    lines = ["# Python", "", "Written by `make docs` from the docstrings; `help(aqmlab.compare)` prints the same.", ""]
    for name in aqmlab.__all__:
        value = getattr(aqmlab, name)
        if not callable(value):
            continue
        lines += [f"## {name}", ""]
        if inspect.isfunction(value):
            lines += ["```text", *_signature(name, value), "```", ""]
        lines += [*_paragraphs(value.__doc__), ""]
        if name == "Result":
            lines += [*_members(value), ""]
    return "\n".join(lines).rstrip() + "\n"


def _signature(name: str, function: Any) -> list[str]:
    given = [re.sub(r": '([^']*)'", r": \1", str(one)) for one in inspect.signature(function).parameters.values()]
    given = [re.sub(r"(?<=\w)=", " = ", one) for one in given]
    return [f"{name}(", *(f"    {one}," for one in given), ")"]


def _members(of: type) -> list[str]:
    public = [(name, one) for name, one in inspect.getmembers(of) if not name.startswith("_") and one.__doc__]
    rows = ((f"`{name}()`" if callable(one) else f"`{name}`", one.__doc__.split("\n\n")[0]) for name, one in public)
    return _table(("Of a result", "What it is"), ((name, _one_line(text)) for name, text in rows))


def _paragraphs(docstring: str | None) -> list[str]:
    """Return a docstring as Markdown: arguments and errors as lists, examples as code."""
    lines: list[str] = []
    example = False
    for line in inspect.cleandoc(docstring or "").splitlines():
        item = re.match(r"    +(?:(\w+): )?(.*)", line)
        if line.startswith(">>>") and not example:
            lines.append("```pycon")
            example = True
        elif example and not line:
            lines.append("```")
            example = False
        elif line.startswith("aqmlab "):
            line = f"`{line}`"
        if example or not (item or line in ("Args:", "Raises:", "Returns:")):
            lines.append(line)
        elif item is None:
            lines += [line, ""]
        elif item[1]:
            lines.append(f"- `{item[1]}`: {item[2]}")
        else:
            lines.append(f"  {item[2]}")
    return [*lines, "```"] if example else lines


def transports() -> str:
    """Return the page about transports, their keys and the profiles that set them."""
    lines = ["# Transports", "", "Written by `make docs`.", ""]
    known = [one for one in TRANSPORTS.values() if not one.extension]
    lines += _table(
        ("Name", "What it is", "Defined by"), ((f"`{one.name}`", one.summary, one.reference) for one in known)
    )
    everywhere = _shared([one for one in known if one.form == "tcp"])
    of_papers = [key for key in everywhere if key.group and not key.group.of_profiles]
    plain = [key for key in everywhere if not key.group]
    rated = _of_rated()
    lines += ["", "## Keys of every TCP connection", "", *_keys(plain)]
    lines += ["", "## Single rules of TCP", "", "Advanced: `recovery=linux` sets one group as a profile does,"]
    lines += ["`recovery.frto=off` one rule. `aqmlab flows show cubic --all` prints them.", ""]
    for group in (one for one in GROUPS.values() if one.of_profiles):
        lines += [f"### {group.name}", "", f"{group.summary[0].upper()}{group.summary[1:]}.", ""]
        lines += [*_keys(key for key in everywhere if key.group == group), ""]
    if of_papers:
        lines += ["What ns-3's OnOffApplication does is on the page of [papers' programs](papers.md#senders).", ""]
    lines += ["## Keys of every rate-based sender", "", *_keys(rated)]
    for one in known:
        lines += _own(one, {"tcp": everywhere, "rate": rated}.get(one.form, []))
    lines += [
        "",
        "## Profiles",
        "",
        "`profile=NAME` chooses defaults of TCP's keys; other keys override it. A key that a",
    ]
    lines += ["congestion control takes with one value only keeps that.", ""]
    rows = []
    for name in PROFILES:
        common, source = PROFILES[name].values, PROFILES[name].source
        own = {
            one.name: of_profile(one, name)[0].items() - common.items() for one in TRANSPORTS.values() if one.profiles
        }
        beside = "".join(f"; {control}: {_pairs(dict(sorted(values)))}" for control, values in own.items() if values)
        rows.append((f"`{name}`", (_pairs(common) or "nothing") + beside, source))
    lines += _table(("Profile", "What it sets", "Where that is from"), rows)
    lines.append("")
    for one in TRANSPORTS.values():
        lines += [f"- {one.name}, `{profile.name}`: {profile.source}" for profile in one.profiles]
    return "\n".join(lines) + "\n"


def papers() -> str:
    """Return the page about what only the programs of papers' authors do."""
    lines = [
        "# Of papers' programs",
        "",
        "Written by `make docs`. What only the programs of papers' authors do, for the",
    ]
    lines += ["[reproduced papers](../index.md#papers): the crate `aqm-papers`. The command line, files"]
    lines += ["and Python know it; the test bench, the C interface, the playground and the disciplines of live links"]
    lines += ["do not.", ""]
    lines += [
        "## Disciplines",
        "",
        "`aqmlab aqm list --papers` lists them, `aqmlab aqm show NAME` explains one of them.",
    ]
    for one in registry.of_papers():
        lines += ["", f"### {one.name}", "", f"{one.summary} ({one.reference}).", ""]
        params = ((f"`{p.name}`", p.default, p.allowed, p.help, p.reference) for p in one.params)
        lines += _table(("Parameter", *HEAD[1:]), splice_tables.merged(params))
        lines += ["", f"Presets: {', '.join(f'`{preset.name}`' for preset in one.presets)}."]
    senders = [one for one in TRANSPORTS.values() if one.extension == PAPERS]
    lines += [
        "",
        "## Senders",
        "",
        "`aqmlab flows list --papers` lists them. Each has the keys below, and those of every",
    ]
    lines += ["[rate-based sender](transports.md#keys-of-every-rate-based-sender).", ""]
    rows = ((f"`{one.name}`", one.summary, _pairs(one.sets), one.reference) for one in senders)
    lines += _table(("Name", "What it is", "What it sets", "Defined by"), rows)
    common = _of_rated()
    lines += ["", *_keys(key for key in _shared(senders) if key not in common)]
    tcp = _shared([one for one in TRANSPORTS.values() if one.form == "tcp"])
    lines += ["", "Keys of TCP that only dAQM's program, in ns-3, sets:", ""]
    lines += _keys(key for key in tcp if key.group and not key.group.of_profiles)
    lines += ["", "## Programs of switches", "", "They are written as those of [the simulator](programs.md).", ""]
    lines += _programs([one for one in json.loads(_native.programs()) if one["extension"]], "###")
    lines += [
        "",
        "## Observers",
        "",
        '`observe = "NAME"` in a file and `--observe NAME` measure what follows, beside the',
    ]
    lines += ["[metrics](metrics.md) that every run has; `aqmlab metrics list --papers` lists them."]
    for one in OBSERVERS.values():
        lines += ["", f"### {one.name}", "", f"{one.summary[0].upper()}{one.summary[1:]} ({one.reference}).", ""]
        lines += _metrics(metric for metric in METRICS if metric.observer == one.name)
    lines += ["", "`flowmon_loss_ratio` is no share of packets: it counts each drop twice."]
    return "\n".join(lines) + "\n"


def _of_rated() -> list[Key]:
    """Return the keys of every rate-based sender."""
    return _shared([one for one in TRANSPORTS.values() if one.form == "rate"])


def sources() -> str:
    """Return the page about the sources of flows."""
    kinds = [kind for kind in KINDS.values() if kind.form != "bulk"]
    lines = ["# Sources", "", "Written by `make docs`. `aqmlab flows show KIND` prints the same.", ""]
    lines += _table(("Kind", "What it sends", "Over"), ((f"`{one.name}`", one.help, one.transport) for one in kinds))
    lines += ["", "A flow of a transport's name always has something to send: [transports](transports.md).", ""]
    lines += ["", "## Keys of every flow", "", *_keys(COMMON)]
    for kind in kinds:
        lines += ["", f"## {kind.name}", "", f"{kind.summary}.", ""]
        lines += [f"Defined by: {kind.reference}.", ""] if kind.reference else []
        lines += _keys(kind.keys, kind)
    return "\n".join(lines) + "\n"


def _own(one: Transport, everywhere: list[Key]) -> list[str]:
    keys = [key for key in one.keys if key not in everywhere]
    lines = ["", f"## {one.name}", "", f"{one.summary}."]
    lines += ["", *_keys(keys)] if keys else []
    if one.sets:
        lines += ["", f"It sets {_pairs(one.sets)} by default."]
    for key, values in one.only.items():
        lines += ["", f"It takes {key}={' or '.join(values)} only."]
    return lines


def _shared(transports: list[Transport]) -> list[Key]:
    return [key for key in transports[0].keys if all(key in one.keys for one in transports)]


def topologies() -> str:
    """Return the page about topologies, and the keys of their switches."""
    lines = ["# Topologies", "", "Written by `make docs`. `--topology NAME[:key=value]...` chooses one; the name of a"]
    lines += ["TOML file with a list of links is one too (`experiments/switches/graphs` has examples).", ""]
    lines += ["Flows in the other direction name their ends: on a home line, with an upload beside a download,"]
    lines += ["`--topology asymmetric:up=10mbit --flows 1*cubic --flows 1*cubic:name=upload:from=home:to=server`.", ""]
    dumbbell = ("`dumbbell`", "senders and receivers on either side of one bottleneck with the AQM; the default", "")
    rows = ((f"`{one.name}`", one.help, "yes" if one.has_switches else "") for one in KINDS_OF_TOPOLOGY)
    lines += _table(("Name", "What it is", "Takes keys of switches"), (dumbbell, *rows))
    for one in KINDS_OF_TOPOLOGY:
        keys = ((f"`{key.name}`", key.default, key.takes, key.help) for key in one.keys)
        lines += ["", f"## {one.name}", "", *_placed(one.name), "", *_table(HEAD[:4], keys)]
    return "\n".join(lines) + "\n"


def _placed(topology: str) -> list[str]:
    """Return the nodes of a topology as it is by default, where its flows go, and which port is measured."""
    options = {"aqm": "fifo", "rtt": "40ms", "topology": topology, "flows": "1*cubic"}
    is_wireless = topology == "wifi"
    options |= {"link": "wifi stations [near=ht-mcs15, far=ht-mcs0]"} if is_wireless else {"rate": "10mbit"}
    (resolved,) = scenario.resolve(scenario.from_values(options)).scenarios.values()
    plain = json.loads(resolved.json)
    links, flow = plain["topology"]["links"], plain["flows"][0]
    nodes = list(dict.fromkeys(node for link in links for node in (link["from"], link["to"])))
    measured = links[plain["topology"]["measured"]]
    ports = plain.get("measure") or [f"{measured['from']}->{measured['to']}"]
    verb = "are" if len(ports) > 1 else "is"
    return [
        f"Nodes: {_ranges(nodes)}.",
        f"Unless they have `from=` and `to=`, flows go from {_ranges(flow['from'])} to {_ranges(flow['to'])}.",
        f"Unless `--measure` names other ports, {' and '.join(f'`{port}`' for port in ports)} {verb} measured.",
    ]


def _ranges(names: list[str]) -> str:
    """Return names, of numbered ones the first and the last."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        found.setdefault(name.rstrip("0123456789"), []).append(f"`{name}`")
    return ", ".join(" ... ".join(dict.fromkeys((some[0], some[-1]))) for some in found.values())


def links() -> str:
    """Return the page about kinds of links."""
    lines = [
        "# Links",
        "",
        'Written by `make docs`. `--link "KIND key value ..."` says what the bottleneck is; `--rate R` is short',
    ]
    lines += [
        "for `rate R`, `--link-trace FILE` for `trace FILE`. Files have `link = ...`, Python `link=...`; a link of a"
    ]
    lines += ["topology's file has `kind = ...`, and links on one `medium` share it.", ""]
    rows = ((f"`{one['name']}`", one["summary"], one["reference"]) for one in KINDS_OF_LINK.values())
    lines += _table(("Kind", "What it is", "Defined by"), rows)
    for one in KINDS_OF_LINK.values():
        keys = ((f"`{p['name']}`", p["default"], p["range"], p["help"], p["reference"]) for p in one["params"])
        lines += ["", f"## {one['name']}", "", *_table(HEAD, keys)]
        if one["is_shared"]:
            own = ", ".join(f"`{name}`" for name in one["of_link"]) or "nothing"
            lines += ["", f"Both directions of a dumbbell are on one medium. Links of a medium may differ in {own}."]
    return "\n".join(lines) + "\n"


def programs() -> str:
    """Return the page about the programs of switches."""
    lines = [
        "# Programs of switches",
        "",
        'Written by `make docs`. `program = "NAME[:PRESET] [PARAMETER VALUE]..."` in',
    ]
    lines += [
        "`[switch]` of a topology's file runs one on its switches, `:program=NAME` on those of a generator. It sees"
    ]
    lines += ["packets before and behind the queue of each port; see `crates/aqm-sim/src/switch/pipeline.rs`.", ""]
    known = [one for one in json.loads(_native.programs()) if not one["extension"]]
    lines += _programs(known)
    return "\n".join(lines) + "\n"


def _programs(known: list[dict[str, Any]], level: str = "##") -> list[str]:
    lines = _table(
        ("Name", "What it is", "Defined by"), ((f"`{p['name']}`", p["summary"], p["reference"]) for p in known)
    )
    for one in known:
        lines += ["", f"{level} {one['name']}", ""]
        params = ((f"`{p['name']}`", p["default"], p["allowed"], p["help"], p["reference"]) for p in one["params"])
        lines += _table(("Parameter", *HEAD[1:]), params)
        lines += [""]
        for preset in one["presets"]:
            values = ", ".join(f"{key} {value}" for key, value in preset["values"].items()) or "the defaults"
            lines.append(f"- `{one['name']}:{preset['name']}`: {values} ({preset['source']})")
        if one["telemetry"]:
            lines.append(f"- Telemetry, behind the packets of the queue: {one['telemetry']}.")
        if one["feedback"]:
            lines.append(f"- Feedback to sources: {one['feedback']}.")
    return lines


def tc() -> str:
    """Return the page about tc's text."""
    known = json.loads(_native.tc_table())
    lines = [
        "# tc's qdiscs",
        "",
        "Written by `make docs`. What each word of [pasted text](../how-to/tc.md) becomes. A bare number is",
    ]
    lines += [
        "what the table says; units are tc's: `k`, `m`, `g` are powers of 1024 bytes, `kbit` is 1000 bit/s as a rate.",
        "",
    ]
    for one in (one for one in known if one["discipline"]):
        lines += [f"## {one['name']}", "", f"`{one['discipline']}`, with the preset `linux` where it has one.", ""]
        rows = ((f"`{word}`", does) for word, does in one["words"])
        lines += [*_table(("Word", "Here"), rows), ""] if one["words"] else []
    lines += ["## Without a counterpart", ""]
    rows = ((f"`{one['name']}`", one["words"][0][1]) for one in known if not one["discipline"])
    lines += _table(("Qdisc", "What comes closest"), rows)
    return "\n".join(lines) + "\n"


def metrics() -> str:
    """Return the page about metrics."""
    lines = ["# Metrics", "", "Written by `make docs`. Metrics are measured after the warm-up, at the bottleneck in"]
    lines += [
        "its forward direction unless they say otherwise. A run has those that apply to it. `class.NAME.` in front"
    ]
    lines += ["of a name means a group of flows, `port.NAME.` a measured port.", ""]
    lines += [
        "A share is of one population, and every run checks that it is between 0 and 1. Drops and marks are of the"
    ]
    lines += [
        "packets that arrived after the warm-up: one that had arrived before counts in neither (RFC 7680 too takes"
    ]
    lines += ["the packets of an interval), and one that still waits at the end is not lost."]
    lines += ["", "What [observers](papers.md#observers) measure more is listed with them.", ""]
    lines += _metrics(one for one in METRICS if not one.observer)
    return "\n".join(lines) + "\n"


def _metrics(listed: Iterable[Metric]) -> list[str]:
    rows = ((f"`{one.name}`", one.label, one.unit, one.better, one.about) for one in listed)
    return _table(("Name", "Label", "Unit", "Better", "What it is"), rows)


def defaults() -> str:
    """Return the page with the defaults of a comparison, and of TCP under each profile."""
    lines = ["# Defaults", "", "Written by `make docs`: what applies where nothing is given.", ""]
    lines += ["## A comparison", ""]
    options = (
        (f"`{one.flag}`", _one_line(one.default), _one_line(one.help), _one_line(one.reference))
        for one in OPTIONS
        if one.default
    )
    lines += _table(("Option", "Default", "What it is", "Where it comes from"), options)
    lines += [
        "",
        "## TCP",
        "",
        "By profile (`profile=NAME`), for NewReno and for CUBIC; what differs from `rfc` is bold.",
        "[Transports](transports.md) explains each key; the page of [each discipline](disciplines/README.md) has its",
        "defaults and presets.",
        "",
    ]
    columns = [(control, profile) for control in ("newreno", "cubic") for profile in PROFILES]
    found = {column: defaults_of(KINDS[column[0]], column[0], column[1]) for column in columns}
    keys = [key for key in keys_of(KINDS["cubic"]).values() if key not in COMMON and key.name != "profile"]
    rows = []
    for key in keys:
        cells = []
        for control, profile in columns:
            value, usual = (found[control, of].get(key.name) or "-" for of in (profile, RFC))
            cells.append(value if value == usual else f"**{value}**")
        if {*cells} != {"-"}:
            rows.append((f"`{key.name}`", *cells))
    lines += _table(("Key", *(f"{control}, {profile}" for control, profile in columns)), rows)
    return "\n".join(lines) + "\n"


def _keys(keys: Iterable[Key], kind: SourceKind | None = None) -> list[str]:
    usual = kind.defaults if kind else {}
    must = kind.must if kind else ()
    rows = [
        (
            f"`{key.name}`",
            "must be given" if key.name in must else usual.get(key.name) or key.default or "",
            key.allowed,
            key.help,
            key.reference,
        )
        for key in map(of_the_field, keys)
    ]
    return _table(HEAD, rows) if rows else []


def _pairs(values: dict[str, str]) -> str:
    return ":".join(f"{key}={value}" for key, value in values.items())


def _table(head: Iterable[str], rows: Iterable[tuple[str, ...]]) -> list[str]:
    head = tuple(head)
    lines = [head, tuple("---" for _ in head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


if __name__ == "__main__":
    main()
