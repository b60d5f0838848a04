"""Every section of an RFC that a source or a page cites is one that this RFC has."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from conftest import ROOT

LISTED = tomllib.loads((Path(__file__).parent / "rfc_sections.toml").read_text())
FOLDERS = (
    "crates",
    "python/src",
    "python/tests",
    "tests",
    "benches",
    "scripts",
    "experiments",
    "docs",
    "validate",
    "p4",
)
SUFFIXES = {".rs", ".py", ".md", ".toml", ".txt", ".sh", ".p4", ".cc", ".c"}

NUMBER = r"(?:[0-9]+(?:\.[0-9]+)*|[A-Z](?:\.[0-9]+)*)(?!\w)"
KIND = r"(?:[Ss]ections?|[Aa]ppendix|[Aa]ppendices)"
# "section 4.2", "sections 4.3, 4.4 and 5, appendix A".
PLACES = re.compile(rf"\b{KIND} {NUMBER}(?:(?:, and |, | and | to | or )(?:{KIND} )?{NUMBER})*")
NAMED_BEFORE = re.compile(r"RFC (\d+)[,:]? \(?$")
NAMED_AFTER = re.compile(r" of RFC (\d+)")
# What else has sections: where one of these stands between an RFC and a section, the section is not the RFC's.
DOCUMENT = re.compile(
    r"RFC (?P<rfc>\d+)|et al|\bdraft\b|[Pp]aper|IEEE|DOCSIS|MULPI|InfiniBand|G\.\d+|[A-Z][a-z]+,? \(?(?:19|20)\d\d"
)


def _expanded(listed: str) -> Iterator[str]:
    """Expand the numbers of the list: ``4.1-4.3 A-B`` are 4.1, 4.2, 4.3, A and B."""
    for word in listed.split():
        first, _, last = word.partition("-")
        above, dot, low = first.rpartition(".")
        high = (last or first).rpartition(".")[2]
        steps = range(int(low), int(high) + 1) if low.isdigit() else map(chr, range(ord(low), ord(high) + 1))
        yield from (f"{above}{dot}{step}" for step in steps)


SECTIONS = {rfc: set(_expanded(listed)) for rfc, listed in LISTED["sections"].items()}


def _files() -> Iterator[Path]:
    yield from (ROOT / "README.md", ROOT / "CONTRIBUTING.md")
    for path in chain.from_iterable((ROOT / folder).rglob("*") for folder in FOLDERS):
        if path.suffix in SUFFIXES and path.is_file() and path != Path(__file__):
            yield path


def _plain(text: str) -> str:
    """Return a text without line breaks and the marks of comments: a citation may go over a line's end."""
    return re.sub(r"\n\s*(?://[/!]?|#:?|\*)?[ \t]*", " ", text)


def _cited(text: str) -> Iterator[tuple[set[str], str]]:
    """Find every section, with the RFCs that it can be of: the one that is named with it, or any of the file's."""
    documents = [(match.start(), match["rfc"]) for match in DOCUMENT.finditer(text)]
    all_of_file = {rfc for _, rfc in documents if rfc} - LISTED["without"].keys()
    for match in PLACES.finditer(text):
        named = NAMED_AFTER.match(text, match.end()) or NAMED_BEFORE.search(
            text[max(0, match.start() - 20) : match.start()]
        )
        nearest = [rfc for start, rfc in documents if start < match.start()][-1:]
        rfcs = {named[1]} if named else all_of_file if nearest and nearest[0] else set()
        for number in re.findall(rf"(?<![\w.]){NUMBER}", re.sub(KIND, "", match[0])):
            if rfcs:
                yield rfcs, number


def _complaints(text: str) -> Iterator[str]:
    for rfcs, number in _cited(text):
        if not any(rfc in LISTED["without"] or number in SECTIONS.get(rfc, ()) for rfc in rfcs):
            yield f"section {number} of RFC {' or '.join(sorted(rfcs))}"


def a_section_that_an_rfc_does_not_have_is_detected() -> None:
    assert not list(_complaints("PIE (RFC 8033 sections 4.1, 4.2 and 5, appendix A): section 5.5, appendix B"))
    assert list(_complaints("as RFC 8033 section 4.7 has it")) == ["section 4.7 of RFC 8033"]
    assert list(_complaints("RFC 8033 sections 4 and\n".replace("\n", " ") + "4.9")) == ["section 4.9 of RFC 8033"]
    assert list(_complaints("section 7.9 of RFC 8289")) == ["section 7.9 of RFC 8289"]
    assert list(_complaints("CoDel is in RFC 8289. Section 5.9: it drops")) == ["section 5.9 of RFC 8289"]
    assert not list(_complaints("RFC 8289, and Zhu et al.: section 5.9"))
    assert list(_complaints("RFC 1 section 2")) == ["section 2 of RFC 1"]


def every_section_that_is_cited_exists() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {complaint}"
        for path in _files()
        for complaint in _complaints(_plain(path.read_text()))
    ]
    assert not wrong, "\n".join(wrong)


def every_rfc_in_the_list_is_cited() -> None:
    cited = [rfcs for path in _files() for rfcs, _ in _cited(_plain(path.read_text()))]
    assert len(cited) > 400
    listed = SECTIONS.keys() | LISTED["without"].keys()
    assert listed <= set().union(*cited)
