from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import ROOT, Command
from folders import forge, forge_frame

import aqmlab
from aqmlab import InputError, Result, diagnosis, exports
from aqmlab.exports import names
from aqmlab.results.frames import FRAMES
from aqmlab.scenario import inputs

OPTIONS: dict[str, Any] = {
    "rate": "10mbit",
    "rtt": "40ms",
    "flows": ["2*cubic:ecn=classic", "1*cbr:rate=1mbit"],
    "aqm": ["codel ecn", "fifo"],
    "duration": "4s",
    "warmup": "1s",
    "seeds": 2,
}


SHORT: dict[str, Any] = {"rtt": "20ms", "duration": "1s", "warmup": "0s", "seeds": 2}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return aqmlab.compare(**OPTIONS, out=tmp_path_factory.mktemp("exports") / "r")


# --- CSV -------------------------------------------------------------------------------------------------------------


def csv_is_at_most_three_times_as_large_as_parquet(made: Result) -> None:
    assert made.folder is not None
    parquet = sum(path.stat().st_size for path in made.folder.glob("*.parquet"))
    assert sum(map(len, exports.csv(made).values())) <= 3 * parquet


def csv_has_every_number(made: Result) -> None:
    contents = exports.csv(made)
    assert contents == exports.csv(made)
    runs = pl.read_csv(io.BytesIO(contents["runs.csv"]))
    assert runs["goodput_mbit"].to_list() == made.runs["goodput_mbit"].to_list()
    wide = pl.read_csv(io.BytesIO(gzip.decompress(contents["series.csv.gz"])), infer_schema_length=None)
    assert len(wide) == made.series.select("aqm", "seed", "time_s").n_unique()
    one = made.series.filter(aqm="fifo", seed=2, name="queue_packets")
    assert wide.filter(aqm="fifo", seed=2)["queue_packets"].to_list() == one["value"].to_list()


# --- flent -----------------------------------------------------------------------------------------------------------


def flent_opens_its_files_and_computes_what_the_runs_measured(made: Result, tmp_path: Path) -> None:
    from flent.resultset import ResultSet

    contents = exports.flent(made, aqm="fifo", seed=1)
    assert list(contents) == ["fifo-1.flent.gz"]
    path = tmp_path / "fifo-1.flent.gz"
    path.write_bytes(contents["fifo-1.flent.gz"])
    opened = ResultSet.load_file(str(path))
    assert opened.meta("NAME") == "tcp_nup"
    assert opened.meta("TITLE") == "fifo, seed 1"
    series = made.series.filter(aqm="fifo", seed=1)
    assert len(opened.x_values) == series["time_s"].n_unique()
    late = [x > 1.0 for x in opened.x_values]
    total = np.array(opened["TCP upload sum"])[late].mean()
    delivered = series.filter(pl.col("name") == "goodput_mbit", pl.col("time_s") > 1.0)["value"].mean()
    assert total == pytest.approx(delivered, rel=0.001)
    # Over time it is what receivers handed on, with what had waited beyond gaps since slow start.
    assert total > made.runs.filter(aqm="fifo", seed=1)["goodput_mbit"].item()
    ping = np.array(opened["Ping (ms) ICMP"])[late]
    delays = series.filter(name="qdelay_ms").filter(pl.col("time_s") > 1.0)["value"].fill_null(0.0)
    assert ping == pytest.approx(delays.to_numpy() + 40.0)


def flent_itself_prints_a_summary_of_a_file(made: Result, tmp_path: Path) -> None:
    flent = ROOT / ".venv/bin/flent"
    if not flent.exists():
        pytest.skip("flent is not installed: the extra dev")
    path = tmp_path / "fifo-1.flent.gz"
    path.write_bytes(exports.flent(made, aqm="fifo", seed=1)["fifo-1.flent.gz"])
    run = subprocess.run([flent, "-f", "summary", "-i", path], capture_output=True, text=True, check=True, timeout=60)
    assert "Ping (ms) ICMP" in run.stdout
    assert "TCP upload sum" in run.stdout


def flent_refuses_a_run_without_a_time_series() -> None:
    short = aqmlab.compare(rate="10gbit", rtt="1ms", aqm="fifo", duration="20us", warmup="0s", seeds=1)
    with pytest.raises(InputError, match="a run of fifo has no time series: it is shorter than the period of one"):
        exports.flent(short)


def flent_has_a_file_for_each_run(made: Result) -> None:
    assert list(exports.flent(made)) == [f"{aqm}-{seed}.flent.gz" for aqm in ("codel-ecn", "fifo") for seed in (1, 2)]
    with pytest.raises(InputError, match="unknown aqm 'fif', did you mean 'fifo'"):
        exports.flent(made, aqm="fif")
    with pytest.raises(InputError, match="seed 9: the result has no such run; it has 1, 2"):
        exports.flent(made, seed=9)
    with pytest.raises(InputError, match="point 3: the result has no such run; it has 0"):
        exports.flent(made, point=3)


# --- packets ---------------------------------------------------------------------------------------------------------


def _tshark(path: Path, fields: list[str], keep: str) -> list[list[str]]:
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not installed: .ci/run installs it")
    named = [part for field in fields for part in ("-e", field)]
    command = [tshark, "-n", "-r", str(path), "-Y", keep, "-T", "fields", *named]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return [line.split("\t") for line in run.stdout.splitlines()]


def tshark_finds_the_round_trip_times_that_the_sender_measured(tmp_path: Path) -> None:
    # Nothing is lost, so that every acknowledgment is of data that was sent once.
    options = {**OPTIONS, "flows": "1*cubic", "aqm": "fifo", "buffer": "2000p", "seeds": 1}
    result = aqmlab.compare(**options)
    path = tmp_path / "packets.pcapng"
    path.write_bytes(exports.pcapng(result)["fifo-1.pcapng"])
    rows = _tshark(path, ["frame.time_epoch", "tcp.analysis.ack_rtt"], "tcp.analysis.ack_rtt")
    # Of the first pair the second: 40 ms, two of 1514 bytes at 10 Mbit/s and one at 100 on both access links; and an
    # acknowledgment of 66 bytes.
    assert min(float(rtt) * 1e3 for _, rtt in rows) == pytest.approx(42.728, abs=1e-3)
    late = [float(rtt) * 1e3 for time, rtt in rows if float(time) > 1.0]
    # The sender's samples are of the first segment that an acknowledgment answers (RFC 7323), tshark's of the last.
    assert np.mean(late) == pytest.approx(result.flows["rtt_mean_ms"].item(), rel=0.02)
    assert _tshark(path, ["frame.number"], "tcp.analysis.flags && !tcp.analysis.window_full") == []


def tshark_finds_no_oddity_and_the_payload_that_was_delivered(made: Result, tmp_path: Path) -> None:
    path = tmp_path / "packets.pcapng"
    path.write_bytes(exports.pcapng(made, aqm="codel ecn", seed=1, tap="receivers")["codel-ecn-1.pcapng"])
    assert (
        _tshark(path, ["frame.number"], "_ws.malformed || ip.checksum.status == 0 || tcp.options.sack.count > 3") == []
    )
    rows = _tshark(path, ["frame.time_epoch", "ip.dsfield.ecn", "tcp.len", "tcp.seq_raw", "tcp.stream"], "tcp.len > 0")
    flows = made.flows.filter(aqm="codel ecn", seed=1, kind="cubic")
    for stream in {row[4] for row in rows}:
        # Every byte has arrived, as far as the last that did: sequence numbers from 1 in steps of a segment.
        arrived = {int(row[3]) for row in rows if row[4] == stream}
        assert len(arrived) == pytest.approx((max(arrived) - 1) / 1448 + 1, abs=60)
        assert {(number - 1) % 1448 for number in arrived} == {0}
    late = [row for row in rows if float(row[0]) > 1.0]
    delivered = flows["packets_delivered"].sum()
    assert len(late) == pytest.approx(delivered, abs=3)
    assert {int(row[2]) for row in rows} == {1448}
    marks = sum(int(row[1]) == 3 for row in late)
    assert marks > 0
    assert marks == pytest.approx(flows["marks"].sum(), abs=2)


def datagrams_are_udp(made: Result, tmp_path: Path) -> None:
    path = tmp_path / "packets.pcapng"
    path.write_bytes(exports.pcapng(made, aqm="fifo", seed=2, tap="receivers")["fifo-2.pcapng"])
    rows = _tshark(path, ["frame.time_epoch", "udp.length"], "udp")
    mbit = sum(int(length) - 8 for time, length in rows if float(time) > 1.0) * 8 / 3.0 / 1e6
    assert mbit == pytest.approx(made.flows.filter(aqm="fifo", seed=2, kind="udp")["goodput_mbit"].item(), rel=0.01)


def _addresses(packets: bytes, path: Path) -> list[tuple[str, str, int]]:
    """Source, destination and protocol of every flow."""
    path.write_bytes(packets)
    flows = inputs.path_trace(str(path)).parsed.capture().flows()
    return list(zip(flows["source"], flows["destination"], flows["protocol"], strict=True))


@pytest.mark.parametrize("tap", ["home", "senders", "receivers", "queue"])
def a_node_has_one_address_in_all_flows(tmp_path: Path, tap: str) -> None:
    flows = ["2*cubic:from=isp:to=modem:start=0s", "1*cubic:from=modem:to=isp:start=0s", "1*voip:from=isp:to=modem"]
    options = {"topology": "asymmetric:up=2mbit", "rate": "16mbit", "rtt": "20ms", "duration": "3s", "warmup": "0s"}
    result = aqmlab.compare(**options, flows=flows, aqm="fifo", seeds=1)
    path = tmp_path / f"{tap}.pcapng"
    pairs = _addresses(exports.pcapng(result, tap=tap)["fifo-1.pcapng"], path)
    assert {frozenset(pair[:2]) for pair in pairs} == {frozenset({"10.0.0.1", "198.18.0.1"})}
    assert {pair[0] for pair in pairs} == {"10.0.0.1", "198.18.0.1"}
    if tap == "home":
        found = diagnosis.diagnose(str(path))
        assert (found.down.connections, found.up.connections) == (2, 1)


def packets_are_those_of_a_run_of_a_sweep_over_a_parameter() -> None:
    options = {**OPTIONS, "aqm": ["codel target $target", "fifo"], "duration": "300ms", "warmup": "0s", "seeds": 1}
    swept = aqmlab.sweep(sweep={"target": ["5ms", "10ms"]}, **options)
    packets = exports.pcapng(swept)
    assert sorted(packets) == [f"{point}-{aqm}-1.pcapng" for point in (0, 1) for aqm in ("codel", "fifo")]


def packets_are_refused_where_the_run_cannot_be_made_again(made: Result) -> None:
    other = made.with_manifest({**made.manifest, "code": "0.0.1+deadbeef"})
    with pytest.raises(InputError, match=r"takes the engine that made it \(native, 0.0.1\+deadbeef\)"):
        exports.pcapng(other, aqm="fifo", seed=1)
    with pytest.raises(InputError, match="unknown place 'sender', did you mean 'senders'"):
        exports.pcapng(made, tap="sender")


# --- LaTeX -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def separated() -> Result:
    aqms = ["fifo", "codel", "my_own=codel target 20ms"]
    options = {"rate": "10mbit", "rtt": "40ms", "flows": "4*cubic", "duration": "4s", "warmup": "1s", "seeds": 8}
    return aqmlab.compare(aqm=aqms, **options)


def _cells(table: str) -> dict[str, list[str]]:
    """Return the cells of each line of a table by its first, which is a label."""
    body = table.partition("\\midrule")[2].partition("\\bottomrule")[0]
    lines = [line.removesuffix(" \\\\").split(" & ") for line in body.strip().splitlines()]
    return {label: cells for label, *cells in lines}


def a_table_for_a_paper_has_the_means_and_intervals_of_the_summary(separated: Result) -> None:
    table = exports.latex(separated, ["qdelay_mean_ms", "goodput_mbit"])["table.tex"].decode()
    cells = _cells(table)
    assert list(cells) == ["fifo", "codel", r"my\_own"]
    rows = {(row.aqm, row.metric): row.estimate for row in separated.rows}
    for aqm, texts in zip(separated.aqms, cells.values(), strict=True):
        for name, text in zip(("qdelay_mean_ms", "goodput_mbit"), texts, strict=True):
            value, half = text.removeprefix(r"\bfseries ").split(" +- ")
            estimate = rows[aqm, name]
            assert estimate.half_width is not None
            assert float(value) == pytest.approx(estimate.value, abs=0.051)
            assert float(half) == pytest.approx(estimate.half_width, abs=0.051)


def the_caption_says_what_stands_beside_the_means_and_what_is_bold(separated: Result) -> None:
    caption = next(
        line for line in exports.latex(separated)["table.tex"].decode().splitlines() if line.startswith(r"\caption")
    )
    assert "with half their 95" in caption
    assert "percentiles of all runs together" in caption
    assert "Bold: better than every other by paired tests" in caption
    plain = exports.latex(separated, ["goodput_mbit"])["table.tex"].decode()
    assert "percentiles" not in plain


def bold_is_only_what_is_ahead_of_every_other(separated: Result) -> None:
    names = ["qdelay_mean_ms", "goodput_mbit", "qdelay_p99_ms", "marks"]
    cells = _cells(exports.latex(separated, names)["table.tex"].decode())
    bold = {
        (label, name)
        for label, texts in cells.items()
        for name, text in zip(names, texts, strict=True)
        if text.startswith(r"\bfseries")
    }
    ahead = {
        (one.aqms[0].replace("my_own", r"my\_own"), one.metric)
        for one in separated.rankings
        if one.metric in names[:2] and len(one.behind(one.aqms[0])) == 2
    }
    assert bold == ahead
    assert ("codel", "qdelay_mean_ms") in bold
    # One seed says nothing about chance, and three without a clear difference have no best.
    alone = aqmlab.compare(**{**OPTIONS, "seeds": 1})
    assert "bfseries " not in exports.latex(alone)["table.tex"].decode().partition("toprule")[2]


def tex_sets_the_table_of_a_result_and_of_a_sweep_whatever_labels_are(separated: Result, tmp_path: Path) -> None:
    odd = "\\&%$#_{}~^[x]*<>|\"'` -- \x1b[0m"
    manifest = json.loads(json.dumps(separated.manifest))
    manifest["points"][0]["scenario"]["aqm"][0]["label"] = odd
    frames = {
        name: getattr(separated.frames, name).with_columns(pl.col("aqm").cast(pl.String).replace({"fifo": odd}))
        for name in FRAMES
    }
    strange = Result(manifest, replace(separated.frames, **frames))
    swept = aqmlab.sweep(sweep={"rate": ["5mbit", "10mbit"]}, aqm=["fifo", "codel"], **SHORT)
    for number, one in enumerate((separated, strange, swept)):
        table = exports.latex(one)["table.tex"].decode()
        assert all(ord(letter) >= 32 or letter == "\n" for letter in table)
        body = table[table.index("\\begin{table}") :]
        # Whatever is in a label, braces are in pairs, and every line has as many cells as there are columns.
        plain = re.sub(r"\\\\.|\\[\\{}%$#&_]", "", body)
        assert plain.count("{") == plain.count("}")
        columns = len(re.findall(r"S\[|l(?=[lS])", body.partition("\\begin{tabular}")[2].partition("\n")[0]))
        assert {len(re.findall(r"(?<!\\)&", line)) for line in body.splitlines() if " +- " in line} == {columns - 1}
        if shutil.which("pdflatex") is None:
            continue
        packages = "".join(line.removeprefix("% ") + "\n" for line in table.splitlines() if line.startswith("% "))
        document = f"\\documentclass{{article}}\n{packages}\\begin{{document}}\n{table}\\end{{document}}\n"
        (tmp_path / f"{number}.tex").write_text(document)
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{number}.tex"]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        assert run.returncode == 0, run.stdout[-2000:]


def a_table_names_the_metric_that_it_lacks(separated: Result, tmp_path: Path) -> None:
    from aqmlab.cli.folders import export

    with pytest.raises(InputError, match="unknown metric 'goodput', did you mean 'goodput_mbit'"):
        exports.latex(separated, ["goodput"])
    with pytest.raises(InputError, match="--column goes with --latex"):
        export(tmp_path, csv=True, column=["goodput_mbit"])


# --- tables of other libraries ---------------------------------------------------------------------------------------


def pandas_gets_every_number_and_the_units(made: Result) -> None:
    table = made.to_pandas("flows")
    assert table["goodput_mbit"].tolist() == made.flows["goodput_mbit"].to_list()
    assert table.attrs["units"]["goodput_mbit"] == "Mbit/s"
    with pytest.raises(InputError, match="unknown frame 'flow', did you mean 'flows'"):
        made.to_pandas("flow")


def arrow_fields_know_their_units(made: Result) -> None:
    table = made.to_arrow()
    assert table.schema.field("qdelay_mean_ms").metadata == {b"unit": b"ms"}
    assert table.schema.field("seed").metadata is None
    assert table.column("goodput_mbit").to_pylist() == made.runs["goodput_mbit"].to_list()


def parquet_files_know_the_units_of_their_columns(made: Result) -> None:
    assert made.folder is not None
    units = json.loads(pl.read_parquet_metadata(made.folder / "runs.parquet")["units"])
    assert units["qdelay_p99_ms"] == "ms"
    assert "utilization" not in units


def the_command_writes_each_format(made: Result, tmp_path: Path) -> None:
    aqmlab_command = ROOT / ".venv/bin/aqmlab"
    for option, count in (("--csv", 5), ("--flent", 4), ("--pcapng", 4)):
        command = [aqmlab_command, "export", made.folder, option, "--out", tmp_path / option]
        run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        assert len(run.stdout.splitlines()) == count
    run = subprocess.run([aqmlab_command, "export", made.folder], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (
        2,
        "aqmlab: export: name one format: --csv, --flent, --latex, --pcapng or --qlog\n",
    )


def what_a_format_does_not_use_is_refused(made: Result, tmp_path: Path) -> None:
    from aqmlab.cli.folders import export

    assert made.folder is not None
    with pytest.raises(InputError, match="--aqm, --seed and --point choose among single runs"):
        export(made.folder, csv=True, aqm="fifo", out=tmp_path)
    with pytest.raises(InputError, match="--tap goes with --pcapng"):
        export(made.folder, flent=True, tap="receivers", out=tmp_path)


def packets_of_a_result_run_no_code_that_was_not_named(tmp_path: Path) -> None:
    code, ran = tmp_path / "mine.py", tmp_path / "ran"
    text = "import aqmlab\nclass Mine(aqmlab.AQM):\n    pass\n"
    code.write_text(text)
    name = f"python:{code}:Mine"
    made = aqmlab.compare(aqm=["fifo", name], rate="5mbit", rtt="20ms", duration="1s", seeds=1)
    code.write_text(f"open({str(ran)!r}, 'w').close()\n{text}")
    for aqm in ("fifo", None):
        with pytest.raises(InputError, match="which is code: name it as the aqm"):
            exports.pcapng(made, aqm=aqm)
    assert not ran.exists()
    assert len(exports.pcapng(made, aqm=name)) == 1


# --- folders of strangers --------------------------------------------------------------------------------------------


def _series(name: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Add a time series of another name, with the values of the queue delay."""
    return lambda frame: pl.concat(
        [frame, frame.filter(pl.col("name") == "qdelay_ms").with_columns(pl.lit(name).alias("name"))]
    )


@pytest.mark.parametrize(
    ("frame", "change", "wanted"),
    [
        ("series", lambda frame: frame.with_columns(time_s=pl.lit(float("nan"))), "series: is damaged: a time is not"),
        (
            "series",
            lambda frame: frame.with_columns(time_s=pl.lit(0.0)),
            "series: is damaged: a time is not above zero",
        ),
        ("series", lambda frame: frame.with_columns(time_s=pl.lit(None, pl.Float64)), "series: is damaged: a time"),
        ("series", lambda frame: pl.concat([frame, frame]), "series: is damaged: it has no single value of each name"),
        ("series", _series("aqm"), "series: is damaged: it has no single value of each name at each time"),
        ("runs", lambda frame: frame.with_columns(rtt_base_ms=pl.lit("40")), "column 'rtt_base_ms' holds what is no"),
        ("runs", lambda frame: frame.with_columns(goodput_mbit=pl.lit(1e308)), "column 'goodput_mbit' holds what"),
        ("runs", lambda frame: frame.with_columns(goodput_mbit=pl.lit([9.5])), "column 'goodput_mbit' is of List"),
        ("flows", lambda frame: frame.with_columns(fct_s=pl.lit("long")), "column 'fct_s' holds what is no number"),
    ],
)
def numbers_that_are_none_are_refused_whoever_sealed_the_folder(
    made: Result,
    tmp_path: Path,
    aqmlab: Command,
    frame: str,
    change: Callable[[pl.DataFrame], pl.DataFrame],
    wanted: str,
) -> None:
    assert made.folder is not None
    shutil.copytree(made.folder, tmp_path / "r")
    forge_frame(tmp_path / "r", frame, change)
    for option in ("--flent", "--csv"):
        ended = aqmlab("export", "r", option, "--out", "out")
        assert (ended.status, wanted in ended.line) == (2, True), ended.err
    assert not Path("out").exists()


def series_of_other_names_and_gaps_are_exported(made: Result, tmp_path: Path, aqmlab: Command) -> None:
    assert made.folder is not None
    shutil.copytree(made.folder, tmp_path / "r")
    for name in ("flow.x.delivered_bytes", f"flow.{'9' * 5000}.delivered_bytes", "flow.٣.delivered_bytes"):
        forge_frame(tmp_path / "r", "series", _series(name))
    late = (pl.col("name") == "qdelay_ms") & (pl.col("time_s") > 2)
    forge_frame(tmp_path / "r", "series", lambda frame: frame.filter(~late).sample(fraction=1, shuffle=True, seed=1))
    assert aqmlab("export", "r", "--flent").status == 0
    for name, content in exports.flent(made).items():
        before = json.loads(gzip.decompress(content))
        after = json.loads(gzip.decompress((tmp_path / "r/flent" / name).read_bytes()))
        assert after["x_values"] == before["x_values"]
        assert after["results"]["TCP upload sum"] == before["results"]["TCP upload sum"]


def every_run_has_a_file_of_its_own_whatever_the_aqms_are_called(made: Result, tmp_path: Path, aqmlab: Command) -> None:
    assert made.folder is not None
    for number, labels in enumerate((("a b", "a-b"), ("x" * 300, "x" * 301), ("../x", "-"))):
        folder = tmp_path / f"{number}"
        shutil.copytree(made.folder, folder)
        called = dict(zip(made.aqms, labels, strict=True))
        for frame in FRAMES:
            forge_frame(folder, frame, lambda rows, called=called: rows.with_columns(pl.col("aqm").replace(called)))
        forge(folder, lambda entries, called=called: _rename(entries, called))
        ended = aqmlab("export", folder, "--flent", "--out", f"out-{number}")
        assert (ended.status, ended.err) == (0, "")
        assert len(list((tmp_path / f"out-{number}").iterdir())) == 4


def _rename(entries: dict[str, Any], called: dict[str, str]) -> None:
    for aqm in entries["points"][0]["scenario"]["aqm"]:
        aqm["label"] = called[aqm["label"]]


def an_aqm_without_a_name_is_refused(made: Result, tmp_path: Path, aqmlab: Command) -> None:
    assert made.folder is not None
    shutil.copytree(made.folder, tmp_path / "r")
    called = dict.fromkeys(made.aqms, " ")
    forge(tmp_path / "r", lambda entries: _rename(entries, called))
    ended = aqmlab("plot", "bars", "r", "--out", "out")
    assert (ended.status, "manifest.json" in ended.line) == (2, True), ended.err


def three_labels_that_are_short_alike_stay_apart() -> None:
    labels = ["a b", "a-b", "a-b-1"]
    runs = pl.DataFrame({"point": 0, "aqm": labels, "seed": 1}, strict=False)
    result: Any = SimpleNamespace(aqms=labels, runs=runs, points=[{}])
    assert len({one.file for one in names.runs(result)}) == 3
