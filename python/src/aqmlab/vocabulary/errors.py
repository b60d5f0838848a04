"""The errors that aqmlab raises, by what the caller can do about them."""

from __future__ import annotations

from collections.abc import Iterable

from aqmlab import _native
from aqmlab._native import Cancelled, CheckError, InputError

__all__ = [
    "Cancelled",
    "CheckError",
    "InputError",
    "Interrupted",
    "MachineError",
    "about",
    "defect",
    "did_you_mean",
    "unknown",
]

# Of more names than these only the nearest are listed.
MOST_TOLD, NEAREST = 16, 3


class Interrupted(Exception):  # noqa: N818 (no error)
    """The user interrupted a command; the text says what was kept."""


class MachineError(RuntimeError):
    """The machine is at fault, not the input: a full disk, a folder that another process writes into."""


def defect(raised: BaseException) -> CheckError | None:
    """Return the error for a panic of compiled code, ours or polars'; nothing for other exceptions.

    Their classes are recognized by name: each library has its own, which no module exports.
    """
    if type(raised).__name__ != "PanicException":
        return None
    return CheckError(_native.defect(str(raised)))


def about(option: str, problem: object, label: str = "") -> InputError:
    """Return the error about an option, whose name the command line may spell differently: ``--flows``.

    What the problem knows, if it is such an error itself, the error knows, too: ``path``, ``value``, ``allowed``, ...

    >>> error = about("jobs", "'0' is out of range: allowed is 1 or more", "--jobs")
    >>> print(error, "|", error.option, "|", error.problem)
    --jobs: '0' is out of range: allowed is 1 or more | jobs | '0' is out of range: allowed is 1 or more

    """
    known = problem if isinstance(problem, InputError) else None
    text = known.problem or str(known) if known else str(problem)
    error = InputError(f"{label or option}: {text}")
    if known:
        vars(error).update(vars(known))
    error.option, error.problem = option, text
    return error


def did_you_mean(given: str, candidates: Iterable[str]) -> str:
    """Return ``, did you mean 'rtt'?`` for the nearest candidate, or nothing if none is near."""
    near = nearest(given, candidates)
    return "" if near is None else f", did you mean '{near}'?"


def nearest(given: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that is meant most likely, or None if none is near."""
    import difflib

    plain = {candidate.replace("_", "-").lower(): candidate for candidate in candidates}
    near = difflib.get_close_matches(given.replace("_", "-").lower(), plain, n=1, cutoff=0.6)
    return plain[near[0]] if near else None


def unknown(what: str, given: str, candidates: Iterable[str], *, of: str = "") -> InputError:
    """Return the error for a name that is not among the candidates: it lists a few of them, of many the nearest.

    ``of`` says what the many are; else they are counted.

    >>> print(unknown("paper", "dacm", ["s-pie", "all"]))
    unknown paper 'dacm'; known are s-pie, all

    """
    names = list(candidates)
    error = InputError(f"unknown {what} '{given}'{did_you_mean(given, names)}; {_known(given, names, of)}")
    error.value, error.allowed, error.nearest = given, tuple(names), nearest(given, names)
    return error


def _known(given: str, names: list[str], of: str) -> str:
    import difflib

    if len(names) <= MOST_TOLD:
        return f"known are {', '.join(names)}"
    near = difflib.get_close_matches(given.lower(), names, n=NEAREST, cutoff=0.0)
    return f"the nearest of {of or len(names)} are {', '.join(near)}"
