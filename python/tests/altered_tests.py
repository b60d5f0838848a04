"""What is kept is what was measured: what was damaged or changed by hand is detected, and made again where possible."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Command
from folders import Killed, manifest

import aqmlab as package
from aqmlab import InputError, Result
from aqmlab.experiment import run_experiment
from aqmlab.facade import with_methods
from aqmlab.results.frames import FRAMES
from aqmlab.runs.watcher import Watcher
from aqmlab.scenario import Experiment, from_values
from aqmlab.search.ledger import FILE, Ledger
from aqmlab.store import Folder, folder, reading, record, seal
from aqmlab.vocabulary.errors import MachineError

FLIPS = 360
OPTIONS = ["--rate", "10mbit", "--rtt", "40ms", "--duration", "3s", "--aqm", "fifo,codel", "--quiet"]


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Made-up runs without figures, and a list of the seeds of those that were made."""
    from fake import fake_run

    made: list[int] = []

    def counted(text: str, inputs: object, seed: int, monitor: object) -> object:
        made.append(seed)
        return fake_run(text, inputs, seed, monitor)

    monkeypatch.setattr("aqmlab.engine.native.simulate", counted)
    monkeypatch.setattr("aqmlab.publishing.publish", lambda result, place: result)
    return made


def _conduct(out: Path, seeds: int = 2, **more: Any) -> Result:
    values = {"rate": "10mbit", "rtt": "40ms", "duration": "3s", "seeds": seeds, "aqm": ["fifo", "codel"]}
    asked = Experiment("", (from_values(values),))
    return with_methods(run_experiment(asked, "compare", 1, out, **more))


def _flip(path: Path, bit: int) -> bytes:
    """Change one bit of a file; return what was there before."""
    before = path.read_bytes()
    changed = bytearray(before)
    changed[bit // 8] ^= 1 << bit % 8
    path.write_bytes(changed)
    return before


def _spread(size: int, count: int, chance: random.Random) -> list[int]:
    """Return the numbers of bits in all parts of a file, so that none of them is left out."""
    return [int((place + chance.random()) * size * 8 / count) for place in range(count)]


def _multiply(path: Path, column: str, by: float) -> None:
    pl.read_parquet(path).with_columns(pl.col(column) * by).write_parquet(path)


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


# --- frames and the manifest -----------------------------------------------------------------------------------------


def a_changed_byte_in_a_part_is_not_merged(tmp_path: Path, aqmlab: Command) -> None:
    for number in (1, 2):
        _conduct(tmp_path / f"part{number}", shard=f"{number}/2")
    # In the middle of the numbers.
    _flip(tmp_path / "part2" / "runs.parquet", 8 * ((tmp_path / "part2" / "runs.parquet").stat().st_size // 2))
    ended = aqmlab("merge", "part1", "part2", "--out", "whole")
    assert ended.status == 2
    assert ended.line == (
        "part2/runs.parquet: is damaged, or was altered: it does not match its checksum in manifest.json"
    )
    assert not (tmp_path / "whole").exists()


@pytest.mark.parametrize(
    "command",
    ["merge part other --out whole", "report part", "plot cdf part", "export part --csv"]
    + [f"compare {' '.join(OPTIONS)} --seeds {seeds} --out part" for seeds in (2, 3)],
)
def a_doubled_goodput_is_refused_by_whatever_reads_it(command: str, tmp_path: Path, aqmlab: Command) -> None:
    _conduct(tmp_path / "part")
    _conduct(tmp_path / "other")
    _multiply(tmp_path / "part" / "runs.parquet", "goodput_mbit", 2.0)
    before = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    ended = aqmlab(*command.split())
    assert (ended.status, ended.line.startswith("part/runs.parquet: is damaged, or was altered")) == (2, True)
    assert {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()} == before


def flipped_bits_in_frames_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    whole = _conduct(out)
    chance = random.Random(1)
    refused = 0
    for name in FRAMES:
        path = out / f"{name}.parquet"
        for bit in _spread(path.stat().st_size, FLIPS // len(FRAMES), chance):
            before = _flip(path, bit)
            with pytest.raises(InputError, match=rf"{name}\.parquet: is damaged, or was altered"):
                package.load(out)
            refused += 1
            path.write_bytes(before)
    assert refused == FLIPS
    assert package.load(out).to_json() == whole.to_json()


def flipped_bits_in_a_manifest_are_refused_or_without_effect(tmp_path: Path) -> None:
    out = tmp_path / "out"
    whole = _conduct(out)
    path = out / "manifest.json"
    errors = []
    for bit in _spread(path.stat().st_size, FLIPS, random.Random(2)):
        before = _flip(path, bit)
        try:
            found = package.load(out).manifest
        except InputError as error:
            errors.append(str(error))
        else:
            # A blank between two entries has become another one.
            assert found == whole.manifest
        path.write_bytes(before)
    assert all("manifest.json: is damaged" in text or "has format version" in text for text in errors)
    assert len(errors) > FLIPS / 2


EDITS: dict[str, Callable[[Path], object]] = {
    "a metric": lambda out: _multiply(out / "runs.parquet", "goodput_mbit", 1.5),
    "a sample": lambda out: _multiply(out / "series.parquet", "value", 0.5),
    "the scenario": lambda out: _replace(out / "manifest.json", '"rtt": "40ms"', '"rtt": "80ms"'),
    "the seeds": lambda out: _replace(out / "manifest.json", '"runs_expected": 4', '"runs_expected": 2'),
    "another folder's frame": lambda out: shutil.copy(out.parent / "other" / "queues.parquet", out),
    "a parameter": lambda out: _replace(out / "manifest.json", '"target": "5ms"', '"target": "50ms"'),
    "the version": lambda out: _replace(out / "manifest.json", '"code": "', '"code": "x'),
    "the format": lambda out: _replace(out / "manifest.json", '"format_version": 5', '"format_version": 4'),
    "the checksum itself": lambda out: _replace(out / "manifest.json", f'"{seal.KEY}"', '"none"'),
    "a frame's checksum": lambda out: _replace(out / "manifest.json", '"flows": "', '"flows": "0'),
}


@pytest.mark.parametrize("edit", EDITS)
def an_edit_before_a_folder_grows_is_detected(edit: str, tmp_path: Path, aqmlab: Command, made_up: list[int]) -> None:
    _conduct(tmp_path / "other", seeds=3)
    _conduct(tmp_path / "out")
    EDITS[edit](tmp_path / "out")
    made_up.clear()
    ended = aqmlab("compare", *OPTIONS, "--seeds", 3, "--out", "out")
    assert ended.status == 2
    assert ended.line.startswith("out/")
    assert "is damaged, or was altered" in ended.line
    assert not made_up


def an_edit_of_a_shard_is_detected_when_it_is_continued(tmp_path: Path) -> None:
    out = tmp_path / "part"
    _conduct(out, shard="1/2")
    _replace(out / "manifest.json", '"shard": "1/2"', '"shard": "2/2"')
    for shard in ("1/2", "2/2"):
        with pytest.raises(InputError, match=r"part/manifest\.json: is damaged, or was altered"):
            _conduct(out, shard=shard)


def the_checksum_of_the_runs_is_that_of_their_numbers(tmp_path: Path) -> None:
    result = _conduct(tmp_path / "out")
    entries = manifest(tmp_path / "out")
    for name, digest in entries["digests"].items():
        assert hashlib.sha256((tmp_path / "out" / f"{name}.parquet").read_bytes()).hexdigest() == digest
    assert set(entries["digests"]) == set(FRAMES)
    # The same numbers have the same, and others another.
    assert manifest(result.save(tmp_path / "again"))["frames"] == entries["frames"]
    assert manifest(_conduct(tmp_path / "more", seeds=3).folder or Path())["frames"] != entries["frames"]


# --- records ---------------------------------------------------------------------------------------------------------


def _left(out: Path, monkeypatch: pytest.MonkeyPatch, **more: Any) -> Path:
    """Return the journal that a killed writer has left."""

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "commit", killed)
        with pytest.raises(Killed):
            _conduct(out, **more)
    (journal,) = (out / folder.RECORDS).glob("*.run")
    return journal


@pytest.mark.parametrize("shard", [None, "2/2"])
def an_altered_record_is_named_and_its_run_is_made_again(
    shard: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_up: list[int], aqmlab: Command
) -> None:
    out, more = tmp_path / "out", ["--shard", shard] if shard else []
    journal = _left(out, monkeypatch, shard=shard)
    count = len(made_up)
    assert len(package.load(out).runs) == count
    content = bytearray(journal.read_bytes())
    place = content.index(b'"goodput_mbit": ') + len(b'"goodput_mbit": ')
    content[place] = ord("1") if content[place] != ord("1") else ord("2")
    journal.write_bytes(content)
    notice = f"a record in records/{journal.name} did not match its checksum: its run is made again"
    found = package.load(out)
    assert notice in found.warnings
    assert len(found.runs) == count - 1
    made_up.clear()
    ended = aqmlab("compare", *OPTIONS, "--seeds", 2, "--out", "out", *more)
    assert (ended.status, ended.line) == (0, f"out: {notice}")
    assert len(made_up) == 1
    assert notice in package.load(out).warnings
    whole = _conduct(tmp_path / "whole", shard=shard)
    assert package.load(out).runs.drop("cpu_s").equals(whole.runs.drop("cpu_s"))


def a_run_that_was_kept_twice_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As an interrupt leaves it that comes after a run was kept, and before that was noted.
    journal = _left(tmp_path / "out", monkeypatch)
    once = package.load(tmp_path / "out").runs
    journal.write_bytes(journal.read_bytes() * 2)
    assert package.load(tmp_path / "out").runs.equals(once)
    assert _conduct(tmp_path / "out").runs["cpu_s"].equals(once["cpu_s"])


def a_journal_that_cannot_be_read_is_named_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = _left(tmp_path / "out", monkeypatch)
    read = reading._content

    def broken(path: Path) -> bytes:
        if path.suffix == ".run":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return read(path)

    with monkeypatch.context() as patch:
        patch.setattr(reading, "_content", broken)
        for does in (package.load, _conduct):
            with pytest.raises((InputError, MachineError), match="Input/output error"):
                does(tmp_path / "out")
    assert journal.exists()
    assert not package.load(tmp_path / "out").warnings[1:]


def flipped_bits_in_a_record_are_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = _left(tmp_path / "out", monkeypatch).read_bytes()
    # The first one, behind its length.
    content = content[8 : 8 + int.from_bytes(content[:8], "little")]
    # All of the first kilobyte, and some everywhere: one, and any two of them.
    bits = [*range(8 * 1024), *_spread(len(content), FLIPS, random.Random(3))]
    for number, bit in enumerate(bits):
        for others in ((), (bits[-number - 1],)):
            changed = bytearray(content)
            for one in {bit, *others}:
                changed[one // 8] ^= 1 << one % 8
            with pytest.raises(record.DamagedError):
                record.decode(bytes(changed))


# --- ledgers ---------------------------------------------------------------------------------------------------------


class _Watcher(Watcher):
    def __init__(self) -> None:
        self.notices: list[str] = []

    def on_notice(self, text: str) -> None:
        self.notices.append(text)


def _ledger(out: Path, keys: int = 5) -> dict[str, Any]:
    """Write a ledger of a few runs; return what is in it."""
    ledger = Ledger(out, Watcher())
    for number in range(keys):
        ledger._keep(f"key{number}", {"qdelay_mean_ms": 5.5 + number, "loss_ratio": None})
    return {f"key{number}": ledger.values(f"key{number}") for number in range(keys)}


def flipped_bits_in_a_ledger_change_no_value(tmp_path: Path) -> None:
    kept = _ledger(tmp_path)
    path = tmp_path / FILE
    content = path.read_bytes()
    lost = 0
    for bit in _spread(len(content), FLIPS, random.Random(4)):
        _flip(path, bit)
        watcher = _Watcher()
        ledger = Ledger(tmp_path, watcher)
        found = {key: ledger.values(key) for key in kept if ledger.has(key, ["qdelay_mean_ms"])}
        assert all(kept[key] == values for key, values in found.items())
        assert len(ledger._values) == len(found)
        # What is lost is named once, and the rest is kept.
        assert bool(watcher.notices) >= (len(found) < len(kept))
        assert len(found) >= len(kept) - 2
        lost += len(found) < len(kept)
        again = _Watcher()
        assert Ledger(tmp_path, again)._values == ledger._values
        assert again.notices == []
        path.write_bytes(content)
    assert lost > FLIPS * 0.9


def a_ledger_of_an_earlier_version_is_made_again(tmp_path: Path) -> None:
    lines = [json.dumps({"key": f"key{number}", "values": {"loss_ratio": 0.1}}) for number in range(3)]
    (tmp_path / FILE).write_text("\n" + "\n".join(lines))
    watcher = _Watcher()
    assert not Ledger(tmp_path, watcher).has("key1", ["loss_ratio"])
    what = "3 lines, from 2 on, do not match the checksum: what was measured there is made again"
    assert watcher.notices == [f"{tmp_path / FILE}: {what}"]


def bytes_that_are_no_text_in_a_ledger_are_no_traceback(tmp_path: Path) -> None:
    _ledger(tmp_path)
    with (tmp_path / FILE).open("ab") as file:
        file.write(b"\n\xff\xfe\n[1]\n" + b"[" * 100_000)
    watcher = _Watcher()
    assert Ledger(tmp_path, watcher).has("key0", ["loss_ratio"])
    assert "3 lines" in watcher.notices[0]


def a_metric_tripled_in_the_ledger_of_a_tuning_is_named_and_made_again(
    tmp_path: Path, made_up: list[int], aqmlab: Command
) -> None:
    pytest.importorskip("optuna", reason="optuna is not installed: the extra tune")
    command = ["tune", "--aqm", "codel target 1ms..50ms ecn", "--minimise", "qdelay_mean_ms", "--rate", "10mbit"]
    command += ["--duration", "3s", "--seeds", 2, "--sweep", "rtt=10ms,20ms,40ms", "--design", "grid", "--trials", 2]
    command += ["--sensitivity", 2, "--training-seeds", 1, "--jobs", 1, "--out", "out", "--json"]
    first = aqmlab(*command, "first.json", "--quiet")
    assert first.status == 0, first.err
    path = tmp_path / "out" / FILE
    lines = path.read_text().split("\n")
    entry = json.loads(lines[3])
    entry["values"]["qdelay_mean_ms"] *= 3
    lines[3] = json.dumps(entry)
    path.write_text("\n".join(lines))
    made_up.clear()
    again = aqmlab(*command, "again.json", "--quiet")
    assert again.status == 0
    assert again.line == f"out/{FILE}: line 4 does not match the checksum: what was measured there is made again"
    assert len(made_up) == 1
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "first.json").read_bytes()


# --- older folders ---------------------------------------------------------------------------------------------------


def a_folder_without_checksums_is_read_with_a_warning_and_has_them_when_it_is_written(
    tmp_path: Path, made_up: list[int]
) -> None:
    old, warning = tmp_path / "old", "the folder is by an earlier version, without checksums"
    # Format version 2, kept as it was: a writer was killed that had added a seed to two.
    shutil.copytree(Path(__file__).parent / "golden" / "format-2", old)
    found = package.load(old)
    assert found.runs.select("aqm", "seed", pl.col("goodput_mbit").round(6)).rows() == [
        ("fifo", 1, 4.541553), ("fifo", 2, 7.016396), ("fifo", 3, 4.836798),
        ("codel", 1, 6.634315), ("codel", 2, 8.692342), ("codel", 3, 6.946927),
    ]  # fmt: skip
    assert any(text.startswith(warning) for text in found.warnings)
    package.experiment.report(old)
    written = manifest(old)
    assert (written["format_version"], set(written["digests"])) == (5, set(FRAMES))
    assert not (old / "records").exists()
    # Whether they were right before is still not known.
    assert any(text.startswith(warning) for text in package.load(old).warnings)
    _multiply(old / "runs.parquet", "goodput_mbit", 2.0)
    with pytest.raises(InputError, match=r"old/runs\.parquet: is damaged, or was altered"):
        package.load(old)
    assert not made_up


def a_damaged_record_of_an_older_folder_is_named_too(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parent / "golden" / "format-2", tmp_path / "old")
    path = sorted((tmp_path / "old" / "records").iterdir())[0]
    _flip(path, 8 * 1000)
    found = package.load(tmp_path / "old")
    assert len(found.runs) == 5
    assert f"a record in records/{path.name} did not match its checksum: its run is made again" in found.warnings
