"""The page of what other programs may rely on: commands, notation, defaults, JSON, metrics, renames.

Names and defaults come from the declarations, and every example of the notation is read by what reads it for a command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from aqmlab.cli.commands import LINES
from aqmlab.papers.findings import Word
from aqmlab.papers.verdicts import Verdict
from aqmlab.scenario import aqm_texts, flows, links, registry
from aqmlab.scenario.kinds import KINDS, RENAMED, TRANSPORTS
from aqmlab.scenario.options import BY_NAME, OPTIONS
from aqmlab.scenario.sweeps import Range, points
from aqmlab.scenario.topologies import KINDS as TOPOLOGIES
from aqmlab.vocabulary.metrics import METRICS
from aqmlab.vocabulary.renames import ARGUMENTS, COMMAND_OPTIONS, JSON_KEYS, SCENARIO_KEYS

# A section: its title, its paragraphs, and its tables as heads and rows.
Section = tuple[str, list[str], Sequence[tuple[tuple[str, ...], Sequence[tuple[str, ...]]]]]


@dataclass(frozen=True)
class Notation:
    """How something is written: what, its form, examples, and what reads them."""

    what: str
    form: str
    examples: tuple[str, ...]
    read: Callable[[str], object]


def _design(text: str) -> object:
    return points({}, text, {}, {}, "")


NOTATION = (
    Notation(
        "discipline",
        "NAME[:PRESET] [KEY VALUE]..., with tc's keys",
        ("codel", "pie target 15ms ecn", "pie:linux limit 100p"),
        registry.Spec.parse,
    ),
    Notation(
        "children of a scheduler",
        "child [DISCIPLINE]...",
        ("drr child [pie target 15ms ecn] child [codel] quantum 3000b",),
        registry.Spec.parse,
    ),
    Notation("several disciplines", "a list with commas", ("fifo,codel,pie",), aqm_texts.split_specs),
    Notation("discipline with a label", "LABEL=DISCIPLINE", ("Mine=codel target 10ms",), aqm_texts.split_specs),
    Notation(
        "flows",
        "COUNT*KIND[:KEY=VALUE]...",
        ("10*newreno", "5*cubic:rtt=20ms:start=2s", "60*cbr:rate=3mbit:packet=1000b", "4*voip:name=calls"),
        flows.parse,
    ),
    Notation("real stack", "a kind of flow", ("3*quinn:cc=newreno:size=4mb", "2*smoltcp"), flows.parse),
    Notation(
        "profile of TCP",
        "profile=rfc, linux or ns3; single keys override it",
        ("8*cubic:profile=linux:minrto=1s",),
        flows.parse,
    ),
    Notation(
        "start of flows", "a time, or a range (uniform)", ("1*cubic:start=2s", "9*cubic:start=0..500ms"), flows.parse
    ),
    Notation(
        "buffer", "packets, bytes, a time or round trips", ("1000p", "64kb", "200ms", "1bdp"), BY_NAME["buffer"].read
    ),
    Notation("rate", "bits per second", ("10mbit", "1gbit"), BY_NAME["rate"].read),
    Notation("time", "a number with its unit", ("40ms", "2s"), BY_NAME["rtt"].read),
    Notation("size", "bytes", ("14b",), BY_NAME["overhead"].read),
    Notation(
        "kind of link", "KIND key value ...", ("rate 50mbit", "backoff rate 10mbit until arrival"), BY_NAME["link"].read
    ),
    Notation("named link", "NAME=KEY VALUE...", ("vdsl=rate 50mbit rtt 20ms",), links.parse),
    Notation("range of a sweep", "FROM..TO*N, or N and log", ("1ms..20ms*8", "1ms..100ms*8log"), Range.parse),
    Notation("design of a sweep", "grid, latin*N or sobol*N", ("grid", "latin*30", "sobol*64"), _design),
)

RULES = [
    "- Underscores and hyphens of names are interchangeable on input.",
    "- Quantities need their unit; `kb` is 1024 bytes, as in tc.",
    "- A name without a preset means the RFC's preset where one exists, else Linux's, else the paper's.",
    "- A name that `--sweep NAME=...` varies is an option, or else a variable that other options name as `$NAME`.",
    "  Swept values are columns of `runs` and of the summary.",
    "- `name=` names a group of flows: its metrics carry `class.NAME.`; the kind unless given.",
    "- A full segment is `mss` + 20 (TCP) + 12 (timestamps) + 20 (IPv4; 40 IPv6) + `--overhead` bytes on the link.",
    "- `--link-trace FILE` has mahimahi's format, in place of a rate: an opportunity carries 1500 bytes of IP packets.",
    "  Unused bytes stay while the queue is backlogged, and are lost when it is empty. The trace loops.",
    "- `--capture FILE` (pcap, pcapng) replays times and sizes of a capture; flows by 5-tuple.",
    "- All disciplines of a comparison have the same buffer unless `--allow-unequal-buffers` is given.",
    "- The same command into the same `--out DIR` adds what is missing: seeds, disciplines, points.",
    "  A folder whose writer was killed can be loaded, and says how many of its runs it has.",
]

DOCUMENT = {
    "format_version": "1; raised when a key changes its meaning",
    "command": "the command",
    "aqmlab": "the version that wrote it",
    "title": "of the experiment",
    "scenario": "every setting, resolved, with its unit",
    "partial": "whether runs are missing",
    "warnings": "sentences",
    "runs": "one per AQM and seed",
    "summary": "one per AQM and metric",
    "family": "the tests of the result: how many, correction, intervals, confidence",
    "differences": "one per AQM and tested metric, against the first AQM: numbers and words",
    "rankings": "one per tested metric: the order of the AQMs",
}
RUN = {
    "aqm": "as it was named",
    "seed": "of the run",
    "metrics": "by name; undefined ones are left out",
    "flows": "one per flow: `id`, `group`, `kind` and its metrics",
    "engine": "`native` or `linux`",
    "cpu_s": "processor time",
    "events": "of the simulation",
    "bottleneck_packets": "packets that arrived at the bottleneck",
}
SUMMARY = {
    "aqm": "as it was named",
    "metric": "its name",
    "mean": "over the seeds; percentiles are of all runs together",
    "ci95_low": "of the 95 % interval; null where there is none",
    "ci95_high": "of the 95 % interval; null where there is none",
    "n": "runs that have a value",
    "runs": "runs",
    "method": "of the interval",
}
# Of `reproduce` alone.
CLAIMS = "`claims` (of `reproduce`): `id`, `preset`, `verdict`, `finding`, `paper`, `measured`, `why`, `robustness`."
# Of Wi-Fi alone.
NOT_MODELLED = "`not_modelled` (of results with stations): what the model of Wi-Fi leaves out."


def sections() -> Iterator[Section]:
    """Yield each section of the page."""
    yield "Set-up", SET_UP, []
    rows = [(f"`aqmlab {name}`", line) for name, line in LINES.items()]
    yield (
        "Commands",
        [
            "Each with its options is in [Commands](commands.md).",
            "",
            "Exit status: 0 done, 1 a failed check or a machine that gave up, 2 bad input, 70 a bug, 130 Ctrl-C.",
        ],
        [(("Command", "What it does"), rows)],
    )
    yield "Notation", RULES, [(("What", "Form", "Examples"), list(_notation()))]
    yield "Names", list(_names()), []
    defaults = [(f"`{one.flag}`", f"`{one.default}`", plain(one.help)) for one in OPTIONS if one.default]
    yield (
        "Defaults",
        ["[Defaults](defaults.md) has those of TCP and of each kind of flow."],
        [(("Option", "Default", "What it is"), defaults)],
    )
    says = [
        "`--json FILE` writes one object; `--json -` writes it, and nothing else, to standard output.",
        "",
        CLAIMS,
        "",
        NOT_MODELLED,
        "",
    ]
    in_part = [f"*{one.value}*" for one in Word if one.value not in [*Verdict]]
    says += [
        "Verdicts: " + ", ".join(f"*{one.value}*" for one in Verdict) + ".",
        "`finding` has the same words, but for *reproduced in part* one of these: " + ", ".join(in_part) + ".",
    ]
    parts = (("Key", DOCUMENT), ("Key of a run", RUN), ("Key of the summary", SUMMARY))
    yield "JSON", says, [((head, "Meaning"), [(f"`{k}`", v) for k, v in keys.items()]) for head, keys in parts]
    known = [(f"`{one.name}`", one.unit or "1") for one in METRICS if not one.observer]
    says = ["Of the bottleneck, forward, after the warm-up."]
    says += ["`class.NAME.` before a name is a group's, `port.NAME.` a port's, `station.NAME.` a station's."]
    yield "Metrics", [*says, "[Metrics](metrics.md) defines them."], [(("Name", "Unit"), known)]
    renamed = [(f"`{old}`", f"`{new}`", "option of a command") for old, new in COMMAND_OPTIONS.items()]
    renamed += [(f"`{old}`", f"`{new}`", "key of a scenario") for old, new in SCENARIO_KEYS.items()]
    renamed += [(f"`{old}=`", f"`{new}=`", "argument in Python") for old, new in ARGUMENTS.items()]
    renamed += [(f"`{old}`", f"`{new}`", f"key of the JSON of {command}") for command, old, new in JSON_KEYS]
    for one in RENAMED:
        values = [f"`{old}` is `{new}`" for old, new in one.values]
        if one.new != one.old:
            renamed.append((f"`{one.old}=`", f"`{one.new}=`", ", ".join(["key of flows", *values])))
    same = ", ".join(f"`{one.old}`" for one in RENAMED if one.new == one.old)
    says = [f"An old name is answered with the new one. Keys of TCP flows that keep their names: {same}."]
    yield "Renames", says, [(("Before", "Now", "What it is"), renamed)]


SET_UP = [
    "- `make demo` builds everything into `.venv` and runs the main job; `make test` runs all tests.",
    "- Needed beforehand: Python 3.11 with venv, a Rust toolchain, a C compiler.",
    "- After either the command is `.venv/bin/aqmlab`.",
    "- System packages that only some tests need are installed by `.ci/run`. `make test` without them skips these.",
]


def plain(text: str) -> str:
    """Return a text in which an asterisk is itself."""
    return text.replace("*", "\\*")


def _notation() -> Iterator[tuple[str, ...]]:
    for one in NOTATION:
        for example in one.examples:
            one.read(example)
        yield one.what, plain(one.form), ", ".join(f"`{example}`" for example in one.examples)


def _names() -> Iterator[str]:
    disciplines = [one.name for one in registry.disciplines()]
    transports = [one.name for one in TRANSPORTS.values() if not one.extension]
    kinds = [one.name for one in KINDS.values() if not one.extension and one.name not in TRANSPORTS]
    for what, names in (
        ("Disciplines", disciplines),
        ("Transports", transports),
        ("Other kinds of flow", kinds),
        ("Topologies", ["dumbbell", *(one.name for one in TOPOLOGIES)]),
    ):
        yield f"- {what}: {', '.join(f'`{name}`' for name in names)}."
