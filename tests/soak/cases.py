"""Random cases for all that a person can do: a few files, and a few steps that use them and each other's results.

A step is a command line, or what an agent does where it begins with ``environment``. One case in four is spoilt in a
word or a file: what is wrong with it must be refused.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from classes import CLASS, PARTS
from commands import mutated, spoilt
from scenarios import CAPTURE, LINK_TRACE

from aqmlab.plots import KINDS
from aqmlab.scenario import registry
from aqmlab.vocabulary.metrics import METRICS

Words = list[str]

SPOILT = 1 / 4
DISCIPLINES = [one.name for one in registry.disciplines()]
# What tunes in a moment, with what every parser of a space has to tell apart.
SPACES = (
    "pie target 5ms..40ms",
    "codel target 1ms..20ms interval 20ms|100ms",
    "red ecn on|off",
    "pie tupdate 5ms..50ms ecn on|off",
    "fq_codel quantum 300b..3000b flows 64..4096",
    "red min 2p..20p max 30p..60p",
    "drr child [codel target 1ms..20ms]",
    "pi target 5p|20p",
    "choke min 2p..20p",
)
TOPOLOGY = """\
measured = "$port"
[[link]]
from = "a"
to = "b"
rate = "$speed"
delay = "5ms"
queue = "test"
[[link]]
from = "b"
to = "c"
rate = "4mbit"
delay = "$delay"
both = true
queue = "test"
"""
SWEPT: dict[str, tuple[str, ...]] = {
    "rtt": ("1ms,40ms", "5ms..80ms*3log", "20ms"),
    "buffer": ("10p,1bdp", "5p..50p*2", "20ms"),
    "load": ("1,3", "1..3*2", "2"),
    "target": ("1ms..20ms*3", "5ms,15ms"),
    "loss": ("0%,1%", "0%..2%*2"),
    "kind": ("cubic,bbr3", "newreno"),
}


@dataclass
class Case:
    """Files, and steps that are taken in their folder until one is refused."""

    surface: str
    steps: list[Words]
    files: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> str:
        """Return it as one line."""
        return json.dumps({"surface": self.surface, "steps": self.steps, "files": self.files})


class Grammar:
    """Cases by chance; `scenarios` are options of comparisons to choose from."""

    def __init__(self, chance: random.Random, scenarios: list[dict[str, Any]]) -> None:
        self.chance, self.scenarios = chance, scenarios
        self.surfaces: list[tuple[int, Callable[[], Case]]] = [
            (6, self.comparison), (4, self.sweep), (4, self.experiment), (3, self.parts), (3, self.environment),
            (4, self.python), (2, self.tuning), (2, self.suite), (1, self.classification), (1, self.advice),
        ]  # fmt: skip

    def case(self) -> Case:
        """Return the next case."""
        weights, surfaces = zip(*self.surfaces, strict=True)
        made = self.chance.choices(surfaces, weights)[0]()
        if self.chance.random() < SPOILT:
            place = self.chance.randrange(len(made.steps) + len(made.files))
            if place < len(made.steps):
                if made.steps[place][0] != "environment":
                    made.steps[place] = mutated(made.steps[place], self.chance)
            else:
                name = list(made.files)[place - len(made.steps)]
                made.files[name] = spoilt(made.files[name], self.chance)
        return made

    def some(self, *choices: str) -> str:
        """Return one of them."""
        return self.chance.choice(choices)

    def maybe(self, *words: str, share: float = 0.3) -> Words:
        """Return the words, or nothing."""
        return list(words) if self.chance.random() < share else []

    def disciplines(self, most: int = 3) -> Words:
        """Return names of different disciplines."""
        return self.chance.sample(DISCIPLINES, self.chance.randint(1, most))

    def given(self) -> dict[str, Any]:
        """Return options of a comparison that ends within a moment."""
        if self.chance.random() < 0.4:
            return dict(self.chance.choice(self.scenarios))
        flows = [
            self.some(
                "1*cubic", "2*newreno:start=0s", "1*voip", "3*cubic:ecn=classic:rtt=5ms", "1*cbr:rate=300kbit", "1*web"
            )
        ]
        flows += self.maybe(self.some("1*bbr3:name=other", "1*poisson:rate=200kbit", "2*cubic:size=20kb", "1*video"))
        options = {
            "rate": self.some("500kbit", "1mbit", "5mbit"),
            "rtt": self.some("1ms", "20ms", "80ms"),
            "flows": flows,
            "duration": self.some("200ms", "700ms", "2s"),
            "warmup": self.some("0s", "100ms", "auto"),
            "buffer": self.some("5p", "30p", "1bdp", "40ms"),
            "seeds": self.some("1", "1", "2", "3"),
        }
        if self.chance.random() < 0.2:
            options |= {"topology": self.some("asymmetric:up=300kbit", "parking_lot:hops=2", "star:hosts=3", "bus")}
        if self.chance.random() < 0.1:
            del options["rate"]
            options["link_trace"] = self.some(LINK_TRACE, "steps:1mbit*300ms,3mbit*1s")
        if self.chance.random() < 0.15:
            options["capture"] = CAPTURE
        return options

    @staticmethod
    def words(options: dict[str, Any]) -> Words:
        """Return options as a command line has them."""
        words = []
        for name, value in options.items():
            for one in value if isinstance(value, list) else [value]:
                words += [f"--{name.replace('_', '-')}", one]
        return words

    def common(self, *, report: bool = True) -> Words:
        """Return options of every command that runs something."""
        words = ["--jobs", self.some("1", "2"), "--out", "out", "--allow-unequal-buffers"]
        return words + (self.maybe("--no-report", share=0.7) if report else []) + self.maybe("--quiet", share=0.5)

    def uses(self, folder: str = "out") -> list[Words]:
        """Return steps that use a result."""
        columns = self.maybe(
            "--column", self.some("qdelay_ms", "owd_ms", "goodput_mbit", "queue_packets", "nothing"), share=0.2
        )
        figures = [
            [
                "plot",
                kind,
                folder,
                "--out",
                self.some("figures", "figures", f"{kind}.{self.some('svg', 'png', 'pdf')}"),
                "--force",
                *columns,
                *self.maybe("--paper"),
            ]
            for kind in self.chance.sample(list(KINDS), 2)
        ]
        places = self.some("senders", "receivers")
        every = [
            ["report", folder],
            *figures,
            ["export", folder, "--csv", "--force"],
            ["export", folder, "--flent", *self.maybe("--seed", self.some("1", "2", "9")), "--out", "flent", "--force"],
            ["export", folder, "--pcapng", "--out", "packets", "--force", *self.maybe("--tap", places)],
        ]
        return self.chance.sample(every, self.chance.randint(0, 3))

    def comparison(self) -> Case:
        """Return a comparison, made, made again, and used."""
        given = self.given()
        given["aqm"] = [given["aqm"]] if "aqm" in given else self.disciplines()
        step = [
            "compare",
            *self.words(given),
            *self.common(),
            *self.maybe("--json", "out.json", "--force"),
            *self.maybe("--until-ci", "30%", share=0.05),
        ]
        grown = [*step, "--aqm", self.some("fifo", "codel"), *self.maybe("--seeds", "4")]
        return Case("compare", [step, *self.uses(), *self.chance.choice(([], [step], [grown])), *self.uses()])

    def swept(self) -> tuple[dict[str, Any], Words]:
        """Return options with names in them, and the sweep of those."""
        given = {
            "aqm": "codel target $target",
            "rate": "1mbit",
            "rtt": "20ms",
            "buffer": "20p",
            "seeds": self.some("1", "2"),
        }
        given |= {"flows": ["$load*$kind"], "duration": "300ms", "warmup": "0s", "loss": "0%"}
        chosen = self.chance.sample(list(SWEPT), 3)
        fixed = {"$load": "2", "$kind": "cubic", "$target": "10ms"}
        given = {name: value for name, value in given.items() if name not in chosen}
        for name, value in fixed.items():
            if name[1:] not in chosen:
                given = json.loads(json.dumps(given).replace(name, value))
        words = [word for name in chosen for word in ("--sweep", f"{name}={self.some(*SWEPT[name])}")]
        return given, words + self.maybe("--design", self.some("grid", "sobol*3", "latin*2"), share=0.4)

    def sweep(self) -> Case:
        """Return a sweep."""
        given, words = self.swept()
        return Case("sweep", [["sweep", *self.words(given), *words, "--aqm", "fifo", *self.common()], *self.uses()])

    def parts(self) -> Case:
        """Return a sweep in parts that are merged, and the whole."""
        given, words = self.swept()
        of = self.chance.randint(1, 4)
        base = ["sweep", *self.words(given), *words, "--jobs", "1", "--quiet", "--no-report"]
        steps = [[*base, "--shard", f"{part + 1}/{of}", "--out", f"part{part}"] for part in range(of)]
        steps += [
            ["merge", *(f"part{part}" for part in range(of)), "--out", "merged", *self.maybe("-q")],
            [*base, "--out", "out"],
        ]
        return Case("merge", [*steps, *self.uses("merged")])

    def experiment(self) -> Case:
        """Return an experiment file with values, a sweep and perhaps a topology of its own."""
        lines = [f"title = {json.dumps(self.some('One', 'two words', 'ü'))}", f"aqm = {json.dumps(self.disciplines())}"]
        lines += [
            "allow_unequal_buffers = true",
            'rtt = "20ms"',
            'duration = "$length"',
            'warmup = "0s"',
            f"seeds = {self.some('1', '2')}",
        ]
        files = {}
        values = {"length": self.some("200ms", "500ms"), "load": "2"}
        sweep: dict[str, Any] = {}
        if self.chance.random() < 0.4:
            files["net.toml"] = TOPOLOGY
            lines += [
                'rate = "2mbit"',
                'rate = "2mbit"',
                'topology = "net.toml"',
                'flows = ["$load*cubic:from=a:to=c", "1*cbr:rate=100kbit:from=b:to=c"]',
            ]
            values |= {"port": self.some("a->b", "b->c", "b->c,a->b"), "delay": "5ms"}
            sweep["speed"] = self.chance.choice(
                (["1mbit", "3mbit"], "1mbit..3mbit*2", {"slow": "1mbit", "fast": "5mbit"})
            )
        else:
            flows = self.some("$load*cubic", "$load*$kind", "$load*cubic:name=x")
            lines += ['rate = "1mbit"', f'flows = "{flows}"']
            if "$kind" in flows:
                values["kind"] = self.some("cubic", "newreno", "$other", "bbr3")
                values |= {"other": "newreno"} if values["kind"] == "$other" else {}
            sweep["buffer"] = self.chance.choice((["10p", "1bdp"], "10p,20p", {"small": "5p", "large": "50p"}))
        if self.chance.random() < 0.3:
            del values["load"]
            sweep["load"] = self.chance.choice((["1", "2"], "1..3*2", {"few": "1", "many": "4"}))
        if self.chance.random() < 0.2:
            sweep["both"] = {"a": {"length": "200ms", "trip": "10ms"}, "b": {"length": "300ms", "trip": "30ms"}}
            del values["length"]
            lines[lines.index('rtt = "20ms"')] = 'rtt = "$trip"'
        design = self.maybe(f'design = "{self.some("grid", "sobol*2", "latin*3")}"', share=0.2)
        tables = [
            ("values", values),
            ("sweep", sweep),
            *([("quick", {"duration": "100ms"})] if self.chance.random() < 0.2 else []),
        ]
        for name, table in tables:
            if name == "sweep" and self.chance.random() < 0.2:
                table = {}
            plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
            design += ["", f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in plain.items())]
            for key, value in table.items():
                if key not in plain:
                    design += [f"[{name}.{key}]", *(f"{one} = {_toml(what)}" for one, what in value.items())]
        files["x.toml"] = "\n".join([*lines, *design]) + "\n"
        return Case(
            "toml",
            [
                ["run", "x.toml", *self.common()[:4], *self.maybe("--seeds", "1"), *self.maybe("--no-report")],
                *self.uses(),
            ],
            files,
        )

    def python(self) -> Case:
        """Return a comparison with a discipline in Python, most of them with a mistake somewhere."""
        parts = {name: choices[0] for name, choices in PARTS.items()}
        for name in self.chance.sample(list(PARTS), self.chance.choice((1, 1, 2, 3))):
            parts[name] = self.some(*PARTS[name])
        files = {"mine.py": CLASS.format(**parts)}
        name = "python:mine.py:Mine" + self.some("", "", "", " limit 20p", " target 10ms", " nothing 3")
        given = {**self.given(), "aqm": [name, *self.maybe("fifo")]}
        step = self.chance.choices(
            (
                ["compare", *self.words(given), *self.common()],
                ["aqm", "show", name, "--no-card"],
                ["aqm", "check", name.split()[0]],
            ),
            (6, 1, 0.3),
        )[0]
        return Case("python", [step, *(self.uses() if step[0] == "compare" else [])], files)

    def environment(self) -> Case:
        """Return an environment, and what an agent does with it."""
        given = {name: value for name, value in self.given().items() if name not in ("aqm", "seeds")}
        kind = self.some("drops", "packets", "parameters")
        settings = {
            "kind": kind,
            "aqm": self.some(*SPACES),
            "interval": self.some("15ms", "100ms", "1us", "1s", "0s", "never") if kind != "packets" else None,
            "options": given,
            "seed": self.chance.randrange(2**31),
            "steps": self.chance.choice((1, 10, 200)),
            "wrong": self.maybe(self.some("nan", "shape", "text", "outside", "early", "late", "fraction"), share=0.2),
        }
        return Case("environment", [["environment", json.dumps(settings)]])

    def tuning(self) -> Case:
        """Return a search for parameters."""
        words = [
            "tune",
            "--aqm",
            self.some(*SPACES),
            "--duration",
            "1s",
            "--flows",
            self.some("2*cubic:start=0s", "1*newreno:start=0s"),
            "--rate",
            "1mbit",
            "--seeds",
            self.some("1", "2"),
        ]
        words += [
            "--warmup",
            "0s",
            "--trials",
            self.some("1", "3"),
            "--sensitivity",
            self.some("2", "2", "4"),
            "--training-seeds",
            self.some("1", "2"),
        ]
        for metric in self.chance.sample(METRICS, self.chance.choice((1, 1, 2))):
            words += ["--minimise", self.some("qdelay_mean_ms", "loss_ratio", metric.name)]
        words += self.maybe(
            "--keep", self.some("goodput_mbit >= 0.9*fifo", "qdelay_p99_ms <= 100", "loss_ratio <= 1*default")
        )
        words += self.maybe("--sweep", self.some("rtt=1ms,40ms", "rtt=5ms,10ms,20ms"), share=0.7) + self.maybe(
            "--design", "latin*2"
        )
        words += [
            "--seed",
            self.some("1", "7"),
            "--jobs",
            "2",
            "--out",
            "out",
            *self.maybe("--quiet"),
            *self.maybe("--json", "tuning.json", "--force"),
        ]
        return Case("tune", [words, *self.chance.choice(([], [words])), *self.uses("out/unseen")])

    def suite(self) -> Case:
        """Return a suite of one's own."""
        files, entries = {}, ['title = "Mine"', 'reference = "none"', f"disciplines = {json.dumps(self.disciplines())}"]
        for number in range(self.chance.randint(1, 3)):
            given = {**self.given(), "title": f"Scenario {number}", "aqm": ["fifo"], "allow_unequal_buffers": True}
            given["seeds"] = 1
            files[f"mine/s{number}.toml"] = "".join(f"{key} = {_toml(value)}\n" for key, value in given.items())
            entries += [
                "[[scenario]]",
                f'file = "s{number}"',
                f'section = "1.{number}"',
                f'title = "S{number}"',
                'asks = "How?"',
            ]
            columns = [
                "goodput_mbit",
                "qdelay_mean_ms",
                "loss_ratio",
                "goodput_mbit / qdelay_mean_ms",
                "class.cubic.goodput_mbit",
            ]
            entries += self.maybe(f"columns = {json.dumps(self.chance.sample(columns, 2))}", share=0.5)
            entries += self.maybe("ecn = true") + self.maybe("tail_drop = true")
            entries += self.maybe(f"figures = {json.dumps([self.some(*KINDS)])}") + self.maybe(
                "phases = { early = [0, 0.1], late = [0.1, 0.2] }"
            )
        files["mine/suite.toml"] = "\n".join(entries) + "\n"
        words = [
            "suite",
            "mine",
            *self.maybe("--aqm", ",".join(self.disciplines())),
            *self.maybe("--quick"),
            *self.maybe("--only", self.some("1.0", "1.1", "1", "s0", "9.9")),
        ]
        return Case(
            "suite",
            [[*words, "--jobs", "1", "--out", "out", "--allow-unequal-buffers", *self.maybe("--json", "suite.json")]],
            files,
        )

    def classification(self) -> Case:
        """Return captures that are shown to classifiers."""
        words = [
            "classify",
            CAPTURE,
            *self.maybe(CAPTURE),
            "--duration",
            self.some("1s", "10s", "1us"),
            "--flows",
            self.some("0", "3", "99999"),
        ]
        words += self.maybe(
            "--with", self.some("lru", "l_lru,m_lru", "m_lru:consistent sq 20", "lru cache 4", "fifo"), share=0.6
        )
        words += self.maybe("--heavy", self.some("1%", "100%", "0%")) + self.maybe(
            "--udp", self.some("1mbit", "1bit", "10gbit")
        )
        return Case("classify", [[*words, *self.maybe("--seed", self.some("1", "0", "99"))]])

    def advice(self) -> Case:
        """Return the question for a line."""
        words = [
            "advise",
            "--down",
            self.some("1mbit", "2mbit"),
            "--up",
            self.some("500kbit", "1mbit"),
            "--quick",
            "--seeds",
            "2",
        ]
        words += self.maybe("--linklayer", self.some("adsl", "vdsl", "docsis", "ethernet", "lte")) + self.maybe(
            "--rtt", "10ms"
        )
        words += self.maybe("--modem-buffer", self.some("20kb", "256kb")) + self.maybe(
            "--share", self.some("80%", "95%", "0%")
        )
        return Case("advise", [[*words, "--jobs", "2", "--out", "out", *self.maybe("--json", "advice.json")]])


def _toml(value: Any) -> str:
    """Return plain data as TOML has it."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(value)
