"""Disciplines that are written in Python: the same results, the same conformance, and clean errors."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from conftest import ROOT, Command
from folders import forge, forge_frame

import aqmlab
from aqmlab import InputError, _native, scenario
from aqmlab.own import python_aqm
from aqmlab.results.frames import FRAMES
from aqmlab.scenario.registry import Spec

CODEL = f"python:{ROOT}/docs/examples/codel.py:CoDel"
SCENARIO = {"rate": "10mbit", "rtt": "40ms", "duration": "6s", "seeds": 2}
HEAD = "import aqmlab\nclass Mine(aqmlab.AQM):\n"


def _file(folder: Path, body: str, head: str = HEAD) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / "mine.py"
    path.write_text(head + "".join(f"    {line}\n" for line in body.splitlines()))
    return f"python:{path}:Mine"


@pytest.mark.parametrize("params", ["", " target 2ms interval 50ms", " limit 20p"])
@pytest.mark.parametrize("flows", ["4*cubic", "6*newreno"])
def codel_in_python_gives_the_bytes_of_codel_in_rust(params: str, flows: str) -> None:
    runs = [aqmlab.compare(aqm=name + params, flows=flows, **SCENARIO) for name in ("codel", CODEL)]
    names = [name for name in runs[0].runs.columns if name not in ("aqm", "key", "cpu_s")]
    assert runs[0].runs.select(names).equals(runs[1].runs.select(names))
    assert runs[0].histograms.drop("aqm").equals(runs[1].histograms.drop("aqm"))
    assert runs[0].runs["drops_early"].min() > 0 or "limit" in params


def codel_in_python_passes_every_conformance_test_of_the_core(aqmlab: Command) -> None:
    ended = aqmlab("aqm", "check", CODEL)
    *tests, last = ended.out.splitlines()
    assert ended.status == 0, ended.out
    assert all(line.startswith("ok  ") for line in tests), ended.out
    assert len(tests) > 25
    assert last == f"{len(tests)} of {len(tests)} passed"


def a_builtin_passes_the_same_tests(aqmlab: Command) -> None:
    assert aqmlab("aqm", "check", "codel").status == 0


@pytest.mark.parametrize(
    ("body", "test", "why"),
    [
        (
            "def dequeue(self, now):\n    return self.queue.pop() if self.queue else None",
            "leave in order",
            "not first in",
        ),
        ("def enqueue(self, packet, now):\n    pass", "single packet", "returned None while 1 packets wait"),
        ("ecn = True", "can mark", "0 marks under overload, traits.ecn is true"),
        (
            "def enqueue(self, packet, now):\n    self.mark(packet)\n    self.queue.append(packet)",
            "can mark",
            "mark: the class does not declare ecn = True: allowed is drop",
        ),
        ("probes = {'sum': 'packets'}", "probes report", "has no attribute 'sum'"),
        ("def remove(self, packet):\n    pass", "lowering the limit", "which it sent or dropped before"),
    ],
)
def a_wrong_class_is_caught_by_them(body: str, test: str, why: str, tmp_path: Path) -> None:
    found = _native.conformance(Spec.parse(_file(tmp_path, body)).canonical, _native.Monitor())
    failed = {name.replace("_", " "): text for name, text in found if text}
    assert any(test in name and why in text for name, text in failed.items()), failed


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("def enqueue(self, packet, now):\n    1 / 0", "ZeroDivisionError: division by zero (@, line 4, in enqueue)"),
        (
            "def dequeue(self, now):\n    return self.take()\ndef take(self):\n    return self.nothing",
            "line 4, in dequeue; @",
        ),
        ("def dequeue(self, now):\n    return 5", "dequeue returned 5, which is neither a packet nor None"),
        ("def dequeue(self, now):\n    return None", "dequeue returned None while"),
        (
            "def dequeue(self, now):\n    return self.queue[0] if self.queue else None",
            "sends packet 1, which it sent or",
        ),
        ("def enqueue(self, packet, now):\n    self.drop(packet)\n    self.drop(packet)", "drops packet 1, which it"),
        ("probes = {'sum': 'packets'}\nsum = 'many'", "probe 'sum': 'many' is not a number"),
        ("probes = {'sum': 'packets'}\nsum = None", "probe 'sum': None is not a number"),
        ("probes = {'sum': 'packets'}", "has no attribute 'sum'"),
        (
            "def enqueue(self, packet, now):\n    self.drop(packet, 'mood')",
            "drop: there is no reason 'mood': allowed are overlimit, congestion, unfair",
        ),
        (
            "def enqueue(self, packet, now):\n    self.mark(packet, 'mood')",
            "mark: there is no reason 'mood': allowed are congestion, threshold",
        ),
        ("def dequeue(self, now):\n    return bytes(10**6)", "dequeue returned b'\\x00"),
        (
            "async def enqueue(self, packet, now):\n    self.queue.append(packet)",
            "enqueue returned a coroutine, whose body nobody runs: allowed is a method without yield, async and await",
        ),
        (
            "def enqueue(self, packet, now):\n    self.queue.append(packet)\n    yield",
            "enqueue returned a generator, whose body nobody runs",
        ),
        ("def __init__(self):\n    raise ValueError('no')", "@, line 4, in __init__)"),
        ("params = {'target': 'soon'}", "params: target: 'soon' is no value"),
        ("params = {'target': '5ms 10ms..20ms'}", "out of range"),
        ("params = {'drop': '5ms'}", "'drop' is an attribute of every discipline"),
        ("params = {'queue': '5ms'}", "'queue' is an attribute of every discipline"),
        ("params = {'target': 5}", "must be a table of text"),
        ("oops(", "SyntaxError: '(' was never closed (@, line 3)"),
        ("def __init__(self, target): pass", "__init__ takes 'target': it gets nothing"),
        ("def enqueue(self, packet, now):\n    self.enqueue(packet, now)", "@, line 4, in enqueue; ...; @, line 4"),
        ("oops", "NameError: name 'oops' is not defined (@, line 2, line 3)"),
    ],
)
def a_mistake_is_one_line_with_its_place(body: str, says: str, tmp_path: Path, aqmlab: Command) -> None:
    name = _file(tmp_path, body)
    arguments = ["--rate", "10mbit", "--rtt", "10ms", "--duration", "2s", "--seeds", 2, "--aqm", name, "--jobs", 2]
    ended = aqmlab("compare", *arguments)
    assert ended.status == 2
    assert says.replace("@", str(tmp_path / "mine.py")) in ended.line
    assert len(ended.line) < 1000
    assert not [path for path in tmp_path.iterdir() if path.name not in ("mine.py", "results")]


def a_file_may_have_dataclasses(tmp_path: Path) -> None:
    head = "from __future__ import annotations\nfrom dataclasses import dataclass\nimport aqmlab\n"
    state = "@dataclass\nclass State:\n    count: int = 0\n"
    Spec.parse(_file(tmp_path, "state = State()", f"{head}{state}class Mine(aqmlab.AQM):\n"))


def a_class_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no subclass of"):
        Spec.parse(_file(tmp_path, "pass", "class Mine:\n"))
    name = _file(tmp_path, "pass")
    for text, says in [
        (f"{name}d", "unknown class 'Mined', did you mean 'Mine'?"),
        ("python:nowhere.py:Mine", "nowhere.py: No such file or directory"),
        ("python:Mine", "nothing is registered by this name"),
        ("python:my work/mine.py:Mine", "a space ends a name in tc's notation: go to the file's folder"),
        (f"{name} target 5ms", "parameter 'target' is unknown; known are limit"),
    ]:
        with pytest.raises(InputError, match="python:") as refused:
            Spec.parse(text)
        assert says in str(refused.value)


class Newest(aqmlab.AQM):
    """Last in, first out, and one in `every` is dropped by chance."""

    params = {"every": "50 2..1000"}  # noqa: RUF012
    probes = {"dropped": "packets"}  # noqa: RUF012
    reorders_flows = reorders_within_flow = drops_queued = True
    dropped = 0

    def enqueue(self, packet: _native.Packet, now: int) -> None:  # noqa: ARG002
        if self.random.random() * self.every < 1:
            self.drop(packet)
            self.dropped += 1
        else:
            self.queue.append(packet)

    def dequeue(self, now: int) -> _native.Packet | None:  # noqa: ARG002
        return self.queue.pop() if self.queue else None


class Hourglass(aqmlab.AQM):
    """Lets a packet go every `apart`."""

    params = {"apart": "2ms"}  # noqa: RUF012
    free = 0

    def dequeue(self, now: int) -> _native.Packet | None:
        if now < self.free or not self.queue:
            return None
        self.free = now + self.apart
        return self.queue.popleft()

    def next_wakeup(self) -> int | None:
        return self.free if self.queue else None


def a_field_that_a_packet_has_not_is_answered_with_those_that_it_has() -> None:
    class Waits(aqmlab.AQM):
        def enqueue(self, packet: _native.Packet, now: int) -> None:
            self.queue.append(packet)
            assert not hasattr(packet, "sojourn")
            assert now >= packet.arival  # type: ignore[attr-defined]

    says = r"unknown field of a packet 'arival', did you mean 'arrival'\?"
    with pytest.raises(aqmlab.InputError, match=says) as found:
        aqmlab.compare(aqm=Waits, **SCENARIO)
    fields = {name for name in dir(_native.Packet) if not name.startswith("_")}
    assert str(found.value).partition("known are ")[2].partition(" (")[0] == ", ".join(sorted(fields))


def a_registered_class_is_deterministic_with_any_jobs_and_may_be_given_itself() -> None:
    assert aqmlab.register_aqm(Newest) == "python:Newest"
    runs = [aqmlab.compare(aqm=[f"python:Newest every {n}", "fifo"], jobs=n, **SCENARIO) for n in (20, 20, 30)]
    names = [name for name in runs[0].runs.columns if name not in ("aqm", "cpu_s", "key")]
    first, again, other = (one.runs.select(names) for one in runs)
    assert first.equals(again)
    assert not first.equals(other)
    assert runs[0].series.filter(name="probe.dropped")["value"].max() > 0
    assert aqmlab.compare(aqm=[Newest], **SCENARIO).aqms == ["python:Newest"]


def a_discipline_may_wait_and_ask_to_be_woken() -> None:
    aqmlab.register_aqm(Hourglass)
    found = aqmlab.compare(aqm="python:Hourglass", flows="1*cbr:rate=8mbit:packet=1000b:start=0s", **SCENARIO)
    # A packet of 1000 bytes every 2 ms, headers of 28 bytes left out: 972 * 8 / 2 ms.
    assert found.runs["goodput_mbit"].to_list() == pytest.approx([3.888] * 2, rel=0.02)


def the_source_is_part_of_the_key(tmp_path: Path) -> None:
    name = _file(tmp_path, "pass")
    out = tmp_path / "out"
    first = aqmlab.compare(aqm=name, out=out, **SCENARIO)
    assert aqmlab.compare(aqm=name, out=out, **SCENARIO).manifest["created"] == first.manifest["created"]
    keys = first.runs["key"].to_list() if "key" in first.runs.columns else []
    before = Spec.parse(name).source
    _file(
        tmp_path,
        "def enqueue(self, packet, now):\n"
        "    self.drop(packet) if self.random.random() < 0.3 else self.queue.append(packet)",
    )
    assert Spec.parse(name).source != before
    changed = aqmlab.compare(aqm=name, **SCENARIO)
    assert changed.runs["loss_ratio"].min() > 0.1 > first.runs["loss_ratio"].max()
    assert first.scenarios[0]["aqm"][0]["source"] == before
    assert not set(keys) & set(changed.runs["key"].to_list() if keys else [])


def what_a_file_imports_from_its_folder_is_part_of_it(tmp_path: Path) -> None:
    names, digests = [], []
    for folder, most in (("one", 7), ("other", 8)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "helper.py").write_text(f"MOST = '{most}'\n")
        names.append(_file(tmp_path / folder, "params = {'most': helper.MOST}", f"import helper\n{HEAD}"))
    # Modules of one name in two folders are two, whichever comes first.
    assert [Spec.parse(name).params["most"] for name in names] == ["7", "8"]
    digests = [Spec.parse(name).source for name in names]
    assert "helper" not in sys.modules
    (tmp_path / "one" / "helper.py").write_text("MOST = '9'\n")
    assert [Spec.parse(name).params["most"] for name in names] == ["9", "8"]
    assert [Spec.parse(name).source == digest for name, digest in zip(names, digests, strict=True)] == [False, True]


def a_relative_path_begins_where_the_experiment_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _file(tmp_path, "pass")
    monkeypatch.chdir(tmp_path)
    digest = python_aqm.load("python:mine.py:Mine")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert python_aqm.load("python:mine.py:Mine", tmp_path) == digest
    with pytest.raises(InputError, match="No such file"):
        python_aqm.load("python:mine.py:Mine")


def _short(most: int) -> type[aqmlab.AQM]:
    class Short(aqmlab.AQM):
        def enqueue(self, packet: _native.Packet, now: int) -> None:  # noqa: ARG002
            if len(self.queue) < most:
                self.queue.append(packet)
            else:
                self.drop(packet)

    return Short


def _below(base: type[aqmlab.AQM]) -> type[aqmlab.AQM]:
    class Below(base):  # type: ignore[misc, valid-type]
        pass

    return Below


@pytest.mark.parametrize("made", [_short, lambda most: _below(_short(most))])
def what_the_methods_of_a_registered_class_name_is_part_of_the_key(
    made: Callable[[int], type[aqmlab.AQM]], tmp_path: Path
) -> None:
    # The same lines, with another number around them, in the same folder.
    first, other, again = (aqmlab.compare(aqm=made(most), out=tmp_path, **SCENARIO).runs for most in (3, 15, 3))
    assert first["key"].to_list() == again["key"].to_list()
    assert first["qdelay_mean_ms"].max() < other["qdelay_mean_ms"].min()


def an_interrupt_ends_a_slow_discipline_soon(tmp_path: Path) -> None:
    name = _file(tmp_path, "def enqueue(self, packet, now):\n    sum(range(2000))\n    self.queue.append(packet)")
    command = [sys.executable, "-m", "aqmlab", "compare", "--rate", "100mbit", "--rtt", "10ms", "--flows", "8*cubic"]
    running = subprocess.Popen(
        [*command, "--aqm", name, "--duration", "600s", "--jobs", "2", "--out", tmp_path / "out"],
        stderr=subprocess.PIPE,
    )
    try:
        # The manifest is there when the runs begin.
        for _ in range(600):
            if (tmp_path / "out" / "manifest.json").exists():
                break
            time.sleep(0.1)
        time.sleep(0.5)
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
    finally:
        # It would simulate for hours.
        running.kill()
    _, err = running.communicate()
    assert b"Traceback" not in err


def no_file_and_no_folder_names_code_to_run(tmp_path: Path, aqmlab: Command) -> None:
    evil = _file(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    table = 'rate = "10mbit"\nrtt = "10ms"\nduration = "2s"\nseeds = 1\n'
    for number, aqm in enumerate([f'aqm = ["{evil}"]', f'aqm = ["$x"]\n[values]\nx = "{evil}"']):
        (tmp_path / f"{number}.toml").write_text(f"{table}{aqm}\n")
        ended = aqmlab("run", f"{number}.toml")
        assert (ended.status, "is code, and a file names none" in ended.line) == (2, True)
    # Beside what a file names, the user may name code for its scenario.
    loaded = scenario.load(tmp_path / "0.toml", {"aqm": [good := _file(tmp_path / "good", "pass")]})
    assert scenario.resolve(loaded.points[0]).contestants[0].label == good
    with pytest.raises(InputError, match="is code, and a file names none"):
        scenario.resolve(scenario.load(tmp_path / "1.toml", {"aqm": ["$x"]}).points[0])
    options = ["--rate", "10mbit", "--rtt", "10ms", "--duration", "2s", "--out", "out", "--quiet"]
    assert aqmlab("compare", *options, "--aqm", "fifo", "--seeds", 1).status == 0
    forge(tmp_path / "out", lambda entries: entries["points"][0]["scenario"]["aqm"][0].update(label=evil))
    for name in FRAMES:
        forge_frame(tmp_path / "out", name, lambda frame: frame.with_columns(aqm=pl.lit(evil)))
    for seeds in (1, 2):
        ended = aqmlab("compare", *options, "--aqm", "fifo", "--seeds", seeds)
        assert (ended.status, "which is code: name it with --aqm too" in ended.line) == (2, True), ended.err
    assert not (tmp_path / "ran").exists()


def the_page_shows_the_example_that_acts_on_dequeue() -> None:
    example = (ROOT / "docs/examples/sojourn.py").read_text(encoding="utf-8")
    page = (ROOT / "docs/how-to/own-discipline.md").read_text(encoding="utf-8")
    assert example[example.index("class Sojourn") :].rstrip() in page
