"""TOML files of strangers: what they hold is read in proportion to their size, or refused."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from aqmlab import scenario
from aqmlab.files import toml
from aqmlab.scenario.options import DEEPEST, MOST_FILLED, Fill
from aqmlab.vocabulary.errors import InputError

GOOD = "rate = '10mbit'\nrtt = '40ms'\naqm = 'fifo'\n"


def _refused(tmp_path: Path, text: str) -> str:
    """Return why a file is refused, soon."""
    path = tmp_path / "x.toml"
    path.write_text(text)
    began = time.process_time()
    with pytest.raises(InputError) as error:
        scenario.resolve(scenario.load(path).points[0])
    assert time.process_time() - began < 2.0
    assert str(error.value).startswith(f"{path}: ")
    assert len(str(error.value)) < 1000
    return str(error.value)


def _levels(count: int, inmost: str) -> str:
    """Return values of which each names the next twenty times."""
    named = [f"v{level} = '{f'$v{level + 1}' * 20}'" for level in range(count)]
    return "\n".join([f"{GOOD}flows = '$v0'", "[values]", *named, f"v{count} = '{inmost}'"])


@pytest.mark.parametrize("inmost", ["x", ""])
def values_that_name_others_many_times_do_not_grow_without_bound(tmp_path: Path, inmost: str) -> None:
    error = _refused(tmp_path, _levels(5, inmost))
    assert f"flows: the value of $v0 is too long: all together may add {MOST_FILLED} characters" in error


def values_in_a_topology_do_not_grow_without_bound(tmp_path: Path) -> None:
    (tmp_path / "graph.toml").write_text("sources = ['$v0']\n")
    text = _levels(6, "x").replace("flows = '$v0'", "topology = 'graph.toml'")
    assert "graph.toml: the value of $v0 is too long" in _refused(tmp_path, text)


def values_are_within_one_another_to_a_depth(tmp_path: Path) -> None:
    for count, is_good in ((DEEPEST, True), (3000, False)):
        values = [f"v{place} = '$v{place + 1}'" for place in range(count)]
        text = "\n".join([f"{GOOD}flows = '$v0'", "[values]", *values, f"v{count} = '2*cubic'"])
        if is_good:
            (tmp_path / "x.toml").write_text(text)
            assert scenario.load(tmp_path / "x.toml").points[0].texts("flows") == ("2*cubic",)
        else:
            assert f"it names others {DEEPEST} deep at most" in _refused(tmp_path, text)


def what_names_may_add_is_counted_over_all_texts_of_an_option() -> None:
    fill = Fill({"long": "x" * 999})
    assert [len(fill("a$long")) for _ in range(10)] == [1000] * 10
    with pytest.raises(InputError, match=r"the value of \$long is too long"):
        fill("$long")
    # What is there without names is not limited by them.
    assert Fill({})("y" * 100_000) == "y" * 100_000


def many_points_of_a_large_file_are_refused_before_they_are_made(tmp_path: Path) -> None:
    values = "\n".join(f"v{place} = '{'x' * 50}'" for place in range(2000))
    swept = "\n".join(f"s{place} = '1..10*10'" for place in range(4))
    error = _refused(tmp_path, f"{GOOD}[values]\n{values}\n[sweep]\n{swept}")
    assert "sweep: 10000 points, each with 1" in error


@pytest.mark.parametrize("dot", [".", " . ", "\t."])
@pytest.mark.parametrize("part", ["a", "'a.b'", '"a.b\\""'])
@pytest.mark.parametrize("form", ["{} = 1", "[{}]", "[[{}]]", "x = {{ {} = 1 }}", "x = '''\n''' # '''\n{} = 1"])
def a_key_of_too_many_parts_is_refused_before_it_is_parsed(tmp_path: Path, form: str, part: str, dot: str) -> None:
    for count in (toml.MOST_PARTS + 1, 40_000):
        error = _refused(tmp_path, form.format(dot.join([part] * count)))
        assert f"line {1 + form.count(chr(10))}: the key '{part}{dot}{part}" in error
        assert f"has more than {toml.MOST_PARTS} parts" in error
    path = tmp_path / "good.toml"
    path.write_text(form.format(dot.join([part] * toml.MOST_PARTS)))
    assert toml.read(path)


DOTS = "a." * 100 + "a"


@pytest.mark.parametrize(
    "text",
    [
        f"x = '{DOTS}'",
        f'x = "\\"{DOTS}"',
        f'x = "#" # {DOTS}',
        f"x = '''{DOTS}\n''{DOTS}''''",
        f'x = """{DOTS}\n""{DOTS}\\"""{DOTS}"""""',
        f"'{DOTS}' = 1",
        f'"{DOTS}".b = 1',
        f"# '''\n'a' = \"'''\" # {DOTS}",
    ],
)
def dots_count_in_keys_only(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    assert toml.read(path)


@pytest.mark.parametrize("number", [f"0x{'f' * 5000}", f"0b{'1' * 64}", f"[{{ a = {2**63} }}]", f"-{2**63 + 1}"])
def a_whole_number_has_64_bits(tmp_path: Path, number: str) -> None:
    assert "holds a number of too many digits" in _refused(tmp_path, f"{GOOD}first_seed = {number}")


@pytest.mark.parametrize("text", ["\\n" * 500_000, "'" * 100_000, '"\\"' * 100_000, "a . " * 100_000, "1." * 100_000])
def keys_are_looked_through_in_one_pass(tmp_path: Path, text: str) -> None:
    for around in (text, f'"{text}', f"'{text}", f'x = """{text}'):
        _refused(tmp_path, around)
