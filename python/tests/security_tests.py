"""What `docs/explanation/security.md` promises."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from browser import needs_browser, shown
from conftest import ROOT

import aqmlab
from aqmlab import InputError, scenario
from aqmlab.files import toml
from aqmlab.scenario import cost, files, options, sweeps

SCRIPT = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title='taken'\">"


def unsafe_code_is_in_a_file_of_each_border_one_of_the_simulator_and_one_room_of_the_live_link() -> None:
    sources = [path for path in (ROOT / "crates").glob("*/src/**/*.rs") if re.search(r"\bunsafe\b", path.read_text())]
    found = [str(path.relative_to(ROOT)) for path in sources if re.search(r"\bunsafe [\w{]", path.read_text())]
    calls = [f"crates/aqm-link/src/os/{name}.rs" for name in ("clock", "device", "process", "ring", "tap")]
    borders = ["crates/aqm-capi/src/lib.rs", "crates/aqm-python/src/memory.rs"]
    assert sorted(found) == sorted([*calls, *borders, "crates/aqm-sim/src/prefetch.rs"])
    for crate in ("aqm-advice", "aqm-core", "aqm-io", "aqm-path", "aqm-scenario"):
        assert "#![forbid(unsafe_code)]" in (ROOT / "crates" / crate / "src/lib.rs").read_text()
    assert 'unsafe_code = "deny"' in (ROOT / "Cargo.toml").read_text()


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def every_python_package_is_locked_by_version_and_hashes(name: str) -> None:
    text = (ROOT / "python" / name).read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert lines
    for line in lines:
        assert re.fullmatch(r"[\w.-]+==[\w.]+( +--hash=sha256:[0-9a-f]{64})+", line.strip()), line
    installing = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.endswith(" -r $<")]
    assert installing
    assert all("--require-hashes" in line for line in installing)


@pytest.mark.parametrize("name", ["Cargo.lock", "fuzz/Cargo.lock"])
def every_crate_is_ours_or_from_the_registry_with_a_checksum(name: str) -> None:
    packages = tomllib.loads((ROOT / name).read_text())["package"]
    others = [one for one in packages if not one["name"].startswith("aqm-")]
    assert len(others) > 10
    assert {one["source"] for one in others} == {"registry+https://github.com/rust-lang/crates.io-index"}
    assert all(re.fullmatch("[0-9a-f]{64}", one["checksum"]) for one in others)


def the_limits_are_those_of_the_page() -> None:
    page = (ROOT / "docs/reference/limits.md").read_text()
    assert f"| runs | {cost.MOST_RUNS:_} |".replace("_", " ") in page
    assert f"| {cost.MOST_EVENTS:.0e}, about".replace("+", "") in page
    assert ("half of the machine's" in page) == (cost.MEMORY_SHARE == 0.5)
    assert "at most 10 000 points" in page
    with pytest.raises(InputError, match="has 10001 points; at most 10000 are allowed"):
        sweeps.points({"load": [str(load) for load in range(10_001)]}, "grid", {}, {}, "")
    limits = (
        f"at most {toml.MOST_PARTS} parts",
        f"adds at most {options.MOST_FILLED:_} characters to an option and {options.MOST_FILLED_FILE:_} to",
        f"at most {options.DEEPEST} deep",
        f"at most {files.MOST_WRITTEN:_} characters",
    )
    assert all(one.replace("_", " ") in " ".join(page.split()) for one in limits)


@needs_browser
def scripts_in_titles_labels_and_file_names_are_shown_and_not_run(tmp_path: Path) -> None:
    capture = tmp_path / f"{SCRIPT.replace('/', '')}.pcap"
    shutil.copy(ROOT / "data/captures/aqmlab-lan.pcap", capture)
    file = tmp_path / "x.toml"
    text = f"""title = {json.dumps(SCRIPT)}
rate = "10mbit"
rtt = "40ms"
aqm = ["fifo", "codel target $t"]
duration = "1s"
seeds = 2
capture = [{json.dumps(capture.name)}]
[sweep.t]
{json.dumps(SCRIPT)} = "5ms"
b = "10ms"
"""
    file.write_text(text)
    assert SCRIPT in scenario.load(file).title
    folder = aqmlab.run(file, out=tmp_path / "out").folder
    assert folder is not None
    page = shown(folder / "report.html", 1200)
    # A script of the user would have replaced the title.
    assert SCRIPT in page["title"]
    assert page["figures"]
    report = (folder / "report.html").read_text()
    assert SCRIPT not in report
    assert "<img src=x" not in report
    assert "&lt;script&gt;" in report
