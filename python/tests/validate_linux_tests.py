"""The comparison with Linux: its points run in both engines, and its verdicts are what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT, loaded

from aqmlab import engine, scenario
from aqmlab.vocabulary.errors import InputError

SCRIPT = loaded(ROOT / "validate/linux/compare.py", "validate_linux")
POINTS = SCRIPT.read_points([])


def every_point_runs_in_both_engines() -> None:
    for point in POINTS:
        for profile, name in (("linux", "native"), ("", "linux")):
            flows = ":".join([point.flows, *([f"profile={profile}"] if profile else []), SCRIPT.START])
            options = {"aqm": point.aqm, "flows": flows, "rate": point.rate, "rtt": point.rtt, **SCRIPT.COMMON}
            (found,) = scenario.resolve(scenario.from_values(options, place=point.id)).scenarios.values()
            assert not engine.find(name).refusal(found), point.id


def every_point_has_a_name_of_its_own_and_the_kernel_gave_results_at_known_ones_only() -> None:
    names = [point.id for point in POINTS]
    assert len(set(names)) == len(names)
    known = SCRIPT.read_kernel()
    assert set(known) <= set(names)
    assert all(len(values["loss"]) >= 2 for values in known.values())
    with pytest.raises(InputError, match=r"unsene: no point and no set of points\.csv"):
        SCRIPT.read_points(["unsene"])


def the_page_has_how_many_seeds_of_the_kernel_each_point_has() -> None:
    table = SCRIPT.seeds(POINTS, SCRIPT.read_kernel())
    assert f"{SCRIPT.SEEDS[0]}\n{table}\n{SCRIPT.SEEDS[1]}" in SCRIPT.README.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("metric", "theirs", "own", "fits"),
    [
        ("goodput", 10.0, 10.5, True),
        ("goodput", 10.0, 10.6, False),
        ("delay", 10.0, 8.4, False),
        ("loss", 0.010, 0.0124, True),
        ("loss", 0.010, 0.013, False),
        ("loss", 0.0, 0.0001, True),
        ("loss", 0.0, 0.001, False),
    ],
)
def a_value_fits_within_its_share_of_the_kernels(metric: str, theirs: float, own: float, fits: bool) -> None:
    def values(value: float) -> dict[str, list[float]]:
        return {key: [1.0] for key in SCRIPT.METRICS} | {metric: [value, value]}

    cell = SCRIPT.Cell(POINTS[0], values(theirs), {"rfc": values(own)})
    assert cell.outside("rfc") == ([] if fits else [metric])
    share = "from 0" if not theirs else f"{100 * (own / theirs - 1):+.0f}"
    assert (f"**{share}**" in SCRIPT.table([cell], ["rfc"])) != fits


def what_is_computed_replaces_what_stood_between_the_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "README.md"
    page.write_text("Before.\n\n<!-- computed -->\n\nold\n\n<!-- end -->\n\nAfter.\n")
    monkeypatch.setattr(SCRIPT, "README", page)
    for _ in range(2):
        SCRIPT.write(["new", "and more"])
        assert page.read_text() == "Before.\n\n<!-- computed -->\n\nnew\n\nand more\n\n<!-- end -->\n\nAfter.\n"
