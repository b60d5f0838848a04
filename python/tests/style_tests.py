"""Colours as readers see them, also those who see two kinds of light only, and in grey."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import aqmlab
from aqmlab.plots.label_styles import ALL, COLOURS, ORDER, label_styles
from aqmlab.vocabulary.names import plain

# Linear sRGB as seen without cones for red, green or blue: Machado, Oliveira and Fernandes 2009, severity 1.
SIGHTS = {
    "all": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
# The pairs that are compared most.
PAIRS = [
    ("fifo", "codel"), ("fifo", "pie"), ("fifo", "fq_codel"), ("codel", "pie"), ("codel", "fq_codel"),
    ("pie", "red"), ("fq_codel", "cake"), ("pie", "s-pie"), ("pie", "dualpi2"), ("fq_codel", "fq_pie"),
]  # fmt: skip


def _linear(colour: str) -> Any:
    rgb = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _lab(linear: Any) -> Any:
    """CIE 1976 L*a*b*, white D65."""
    x, y, z = np.cbrt(np.clip(linear, 0, 1) @ XYZ.T / XYZ.sum(axis=1))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _difference(one: Any, other: Any) -> float:
    """CIEDE2000, as in Sharma, Wu and Dalal 2005."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    c7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    stretch = 1.5 - 0.5 * np.sqrt(c7 / (c7 + 25.0**7))
    c1, c2 = np.hypot(a1 * stretch, b1), np.hypot(a2 * stretch, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a * stretch)) % 360 for a, b in ((a1, b1), (a2, b2)))
    dh = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    middle = (h1 + dh / 2) % 360 if c1 * c2 else h1 + h2
    if c1 * c2 and abs(abs(h2 - h1) - 180) < 1e-9:
        middle = (h1 + h2) / 2
    chroma, light = (c1 + c2) / 2, (l1 + l2) / 2
    t = 1 - 0.17 * _cos(middle - 30) + 0.24 * _cos(2 * middle)
    t += 0.32 * _cos(3 * middle + 6) - 0.2 * _cos(4 * middle - 63)
    sl = 1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    turn = (
        2 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7)) * np.sin(np.radians(60 * np.exp(-(((middle - 275) / 25) ** 2))))
    )
    dl, dc, dhue = (l2 - l1) / sl, (c2 - c1) / sc, 2 * np.sqrt(c1 * c2) * np.sin(np.radians(dh) / 2) / sh
    return float(np.sqrt(dl**2 + dc**2 + dhue**2 - turn * dc * dhue))


def _cos(degrees: float) -> float:
    return float(np.cos(np.radians(degrees)))


def the_measure_of_differences_gives_the_published_values() -> None:
    # Sharma, Wu and Dalal 2005, table 1, pairs 1, 7, 17 and 25.
    for one, other, expected in [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ]:
        assert _difference(one, other) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("sight", SIGHTS)
def colours_differ_for_every_eye(sight: str) -> None:
    seen = [_lab(_linear(colour) @ SIGHTS[sight].T) for colour in COLOURS]
    assert min(_difference(*pair) for pair in combinations(seen, 2)) >= 13.0


def colours_stand_out_from_white_and_in_the_dark() -> None:
    dark = _linear("#0d1117") @ XYZ[1]
    for colour in COLOURS:
        assert 1.05 / (_linear(colour) @ XYZ[1] + 0.05) >= 3.0
        # What `invert(1) hue-rotate(180deg)` of the pages' dark theme makes of it (Filter Effects 1, section 8).
        rgb = 1 - np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
        rotated = np.clip(2 * np.array([0.213, 0.715, 0.072]) @ rgb - rgb, 0, 1)
        shown = "#" + "".join(f"{round(part * 255):02x}" for part in rotated)
        assert (_linear(shown) @ XYZ[1] + 0.05) / (dark + 0.05) >= 3.0, colour


@pytest.mark.parametrize("pair", PAIRS)
def disciplines_that_are_often_compared_differ_in_grey(pair: tuple[str, str]) -> None:
    one, other = label_styles(pair).values()
    lightness = [_lab(_linear(style.colour))[0] for style in (one, other)]
    assert one.dash != other.dash or abs(lightness[0] - lightness[1]) >= 12.0
    assert one.colour != other.colour


def lines_with_the_same_dash_differ_most_in_grey() -> None:
    first = ALL[: len(COLOURS)]
    for one, other in combinations(first, 2):
        if one.dash == other.dash:
            assert abs(_lab(_linear(one.colour))[0] - _lab(_linear(other.colour))[0]) >= 12.0


def lines_with_markers_differ_without_colour() -> None:
    known = label_styles(ORDER[:30]).values()
    assert len({(style.dash, style.marker) for style in known}) == 30
    assert len({style.marker for style in label_styles(ORDER[:10]).values()}) == 10
    settings = label_styles(["pie", "pie target 5ms", "pie target 20ms"]).values()
    assert len({style.marker for style in settings}) == len({style.dash for style in settings}) == 3


def every_discipline_has_a_look_of_its_own_and_keeps_it_in_all_figures() -> None:
    names = [one.name for one in aqmlab.disciplines()]
    every = label_styles(names)
    assert len(set(every.values())) == len(names)
    # What was added since has one by its checksum, unless another has that.
    for name in (one for one in names if plain(one) in ORDER):
        spec = f"{name}:preset limit 34p"
        assert label_styles([name])[name] == label_styles([spec])[spec] == every[name]
        assert label_styles(names[::-1])[name] == every[name]


def a_discipline_of_ones_own_has_a_look_too() -> None:
    assert label_styles(["mine"]) == label_styles(["mine"])
    crowd = [f"mine{number}" for number in range(len(ALL))]
    assert len(set(label_styles(crowd).values())) == len(ALL)
    assert len(label_styles([*crowd, "one more"])) == len(ALL) + 1


def what_has_no_place_has_a_colour_of_its_own_beside_others() -> None:
    for labels in (["pmqecn", "dcqcn", "p4qcn", "tcn"], ["fifo", "codel", "pie", *(f"mine{one}" for one in range(7))]):
        assert len({style.colour for style in label_styles(labels).values()}) == len(labels)


def variants_of_a_discipline_share_its_colour_and_never_take_that_of_another() -> None:
    labels = ["pie target 5ms", "pie target 10ms", "pie target 20ms", "pie target 40ms", "codel", "fifo"]
    found = label_styles(labels)
    assert len(set(found.values())) == len(labels)
    assert len({found[label].colour for label in labels[:3]}) == 1
    assert found["codel"] == label_styles(["codel"])["codel"]
