"""What a wire does to packets besides its delay, in the words of netem (tc-netem(8))."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aqmlab.scenario import options
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.units import format_bytes, format_span, parse_bytes, parse_fraction, parse_span, parse_whole

NAMES = ("loss", "reorder", "duplicate", "slot")
NOTHING = "0%"
MODELS = {
    "gemodel": "gemodel P [R [1-H [1-K]]], as gemodel 1% 10%",
    "state": "state P13 [P31 [P32 [P23 P14]]], as state 1% 20% 30% 50% 0%",
}
REORDER = "a share, and how far they are apart if that is more than 1, as 25% gap 5"
SLOT = "the shortest and the longest time to get one, and the most packets or bytes in it, as 1ms 4ms packets 32"


@dataclass(frozen=True)
class Impairments:
    """What the data path gets, and what results report of it."""

    loss: Mapping[str, Any]
    reorder: Mapping[str, Any] | None = None
    duplicate: float = 0.0
    slots: Mapping[str, Any] | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """Return the settings of the data path."""
        return {"loss": self.loss, "reorder": self.reorder, "duplicate": self.duplicate, "slots": self.slots}


def read(texts: Mapping[str, str]) -> Impairments:
    """Read the options of `NAMES` that are given.

    Raises:
        InputError: naming the option, what is wrong with it, and how it is written.

    >>> read({"loss": "gemodel 1% 10%"}).settings
    {'loss': 'gemodel 1% 10% 100% 0%', 'reorder': '0%', 'duplicate': '0%', 'slot': 'off'}
    >>> read({"slot": "1ms 4ms packets 32"}).slots
    {'min_ns': 1000000, 'max_ns': 4000000, 'packets': 32, 'bytes': None}

    """
    loss, loss_words = _loss(texts.get("loss", NOTHING))
    reorder, reorder_words = _reorder(texts["reorder"]) if "reorder" in texts else (None, NOTHING)
    duplicate = _share("duplicate", texts.get("duplicate", NOTHING))
    slots, slots_words = _slots(texts["slot"]) if "slot" in texts else (None, "off")
    settings = {"loss": loss_words, "reorder": reorder_words, "duplicate": _percent(duplicate), "slot": slots_words}
    return Impairments(loss, reorder, duplicate, slots, settings)


def _loss(text: str) -> tuple[dict[str, Any], str]:
    model, *words = text.split() or [""]
    if model not in MODELS:
        if model.isalpha():
            raise InputError(f"--loss: '{text}': there is no model '{model}'; known are {_listed(MODELS.values())}")
        share = _share("loss", text)
        return {"model": "random", "share": share}, _percent(share)
    shares = [_share("loss", word) for word in words]
    made = (_gemodel if model == "gemodel" else _state)(shares)
    if made is None:
        raise InputError(f"--loss: '{text}': allowed is {MODELS[model]}")
    sums = {"P13 + P14": made.get("p13", 0) + made.get("p14", 0), "P31 + P32": made.get("p31", 0) + made.get("p32", 0)}
    for name, total in sums.items():
        if total > 1:
            raise InputError(f"--loss: '{text}': {name} is more than 100%")
    return {"model": model, **made}, " ".join([model, *map(_percent, made.values())])


def _gemodel(shares: Sequence[float]) -> dict[str, float] | None:
    if not 1 <= len(shares) <= len("prhk"):
        return None
    # netem's own, where less is given.
    usual = (0.0, 1.0 - shares[0], 1.0, 0.0)
    return dict(zip(("p", "r", "bad", "good"), (*shares, *usual[len(shares) :]), strict=True))


def _state(shares: Sequence[float]) -> dict[str, float] | None:
    if len(shares) not in (1, 2, 3, 5):
        return None
    usual = (0.0, 1.0 - shares[0], 0.0, 1.0, 0.0)
    return dict(zip(("p13", "p31", "p32", "p23", "p14"), (*shares, *usual[len(shares) :]), strict=True))


def _reorder(text: str) -> tuple[dict[str, Any], str]:
    share, *rest = text.split() or [""]
    gap = 1
    if rest:
        if len(rest) != len(("gap", "N")) or rest[0] != "gap":
            raise InputError(f"--reorder: '{text}': allowed is {REORDER} (correlation is not there)")
        gap = _whole("reorder", rest[1])
    found = {"share": _share("reorder", share), "gap": gap}
    return found, _percent(found["share"]) + (f" gap {gap}" if gap > 1 else "")


def _slots(text: str) -> tuple[dict[str, Any], str]:
    words = text.split()
    most: dict[str, int | None] = {"packets": None, "bytes": None}
    while len(words) > len(("MIN", "MAX")) - 1 and words[-2] in most:
        name, value = words[-2:]
        most[name] = _whole("slot", value) if name == "packets" else _bytes(value)
        words = words[:-2]
    if not 1 <= len(words) <= len(("MIN", "MAX")):
        raise InputError(f"--slot: '{text}': allowed is {SLOT}")
    least, longest = _span(words[0]), _span(words[-1])
    if least > longest or longest == 0:
        raise InputError(f"--slot: '{text}': {'the second time is shorter' if longest else 'it is no time'}")
    settings = [format_span(least), format_span(longest)]
    if most["packets"] is not None:
        settings += ["packets", str(most["packets"])]
    if most["bytes"] is not None:
        settings += ["bytes", format_bytes(most["bytes"])]
    return {"min_ns": least, "max_ns": longest, **most}, " ".join(settings)


def _listed(forms: Any) -> str:
    return "; ".join(("a share, as 0.1%", *forms))


def _share(name: str, text: str) -> float:
    try:
        share = parse_fraction(text)
    except ValueError as error:
        raise InputError(f"--{name}: {error}") from None
    if not 0.0 <= share <= 1.0:
        raise InputError(f"--{name}: '{text}' is out of range: allowed is 0% to 100%")
    return share


def _whole(name: str, text: str) -> int:
    try:
        return parse_whole(text, 1, 2**32 - 1)
    except ValueError as error:
        raise InputError(f"--{name}: {error}") from None


def _bytes(text: str) -> int:
    try:
        return max(parse_bytes(text), 1)
    except ValueError as error:
        raise InputError(f"--slot: {error}") from None


def _span(text: str) -> int:
    try:
        return parse_span(text)
    except ValueError as error:
        raise InputError(f"--slot: {error}") from None


def _percent(share: float) -> str:
    return options.BY_NAME["loss"].write(share)


__all__ = ["NAMES", "Impairments", "read"]
