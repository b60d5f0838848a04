"""A test bench for transports: a path with a real AQM, in virtual time, and assertions about what came of it.

    >>> from aqmlab import testbed
    >>> run = testbed.run(rate="10mbit", rtt="40ms", aqm="pie", flows="2*cubic", duration="15s", warmup="5s")
    >>> run.goodput("cubic").at_least(8.0)
    >>> run.qdelay_mean().at_most(30.0)
    >>> run.fairness().at_least(0.7)

An assertion that fails says what was found, and writes a figure and a capture into a folder that it names. With pytest
that is ``tmp_path``:

    def test_my_transport_under_pie(tmp_path):
        run = testbed.run(rate="10mbit", rtt="40ms", aqm="pie", transports=[Mine], flows="2*mine", folder=tmp_path)
        run.goodput("mine").at_least(8.0)

A condition that depends on chance is asked of several seeds (`over`), and a table of transports and disciplines with
what passes in each cell is a `matrix`. The crate ``aqm-testbed`` is the same for Rust.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

from aqmlab.scenario.keywords import Keywords
from aqmlab.scenario.python_transport import Transport
from aqmlab.testbed.check import Check
from aqmlab.testbed.matrix import Cells, Condition, run_cells
from aqmlab.testbed.outcome import MeasuredValue, Outcome
from aqmlab.testbed.path import checked_seeds, discipline, path
from aqmlab.testbed.seeds import Seeds
from aqmlab.testbed.seeds import over as runs_over
from aqmlab.vocabulary.errors import about

if TYPE_CHECKING:
    from aqmlab.own.python_aqm import AQM

__all__ = ["Cells", "Check", "Condition", "MeasuredValue", "Outcome", "Seeds", "matrix", "over", "run"]


def run(
    *,
    aqm: str | type[AQM] = "fifo",
    seed: int = 1,
    transports: Sequence[type[Transport]] = (),
    folder: str | os.PathLike[str] | None = None,
    **options: Unpack[Keywords],
) -> Outcome:
    """Run a path once. The same seed gives the same packets.

    Args:
        aqm: the discipline of the bottleneck's queue, as ``"pie limit 200p"``, or a class of `AQM`; one alone.
        seed: decides all chance.
        transports: classes of one's own; ``flows`` know each by its name in small letters.
        folder: where figure and capture of a failed assertion go: pytest's ``tmp_path``; a new one unless given.
        options: those of `aqmlab.compare`, as ``rate="10mbit"``, with its defaults; without ``seeds`` and
            ``first_seed``, since there is one run.

    Raises:
        InputError: naming the option, its value and what is allowed.
        CheckError: if the run broke one of its own checks.

    >>> outcome = run(rate="4mbit", rtt="20ms", aqm="codel", flows="1*cubic:size=100kb", duration="3s")
    >>> outcome.completed_by("cubic", 2.0)
    >>> outcome.result.aqms
    ['codel']

    """
    (checked,) = checked_seeds("seed", [seed])
    return path(aqm, transports, folder, options).run(checked)


def over(
    seeds: Iterable[int],
    /,
    *,
    aqm: str | type[AQM] = "fifo",
    transports: Sequence[type[Transport]] = (),
    folder: str | os.PathLike[str] | None = None,
    **options: Unpack[Keywords],
) -> Seeds:
    """Run a path once for each seed, for conditions that must hold in all of them, or in so many.

    Args:
        seeds: as ``range(1, 11)``.
        aqm: that of `run`, as are the other arguments.
        transports: classes of one's own.
        folder: where figure and capture of the worst seed go, in a folder ``seed-N``.
        options: those of `run`.

    Raises:
        InputError: naming the option, its value and what is allowed.
        CheckError: if a run broke one of its own checks.

    >>> runs = over(range(1, 4), rate="10mbit", rtt="40ms", aqm="pie", flows="2*cubic", duration="6s")
    >>> runs.all(lambda run: run.goodput("cubic").is_at_least(7.0))
    >>> runs.at_least(2, lambda run: run.fairness().is_at_least(0.7))

    """
    return runs_over(path(aqm, transports, folder, options), checked_seeds("seeds", seeds))


def matrix(
    rows: Sequence[str],
    columns: Sequence[str | type[AQM]],
    tests: Mapping[str, Condition],
    *,
    over: Iterable[int] = (1,),
    in_at_least: int | None = None,
    transports: Sequence[type[Transport]] = (),
    folder: str | os.PathLike[str] | None = None,
    **options: Unpack[Keywords],
) -> Cells:
    """Run every row of flows behind every discipline, with the same conditions for each cell.

    Args:
        rows: flows, as ``"2*cubic"``. Those in ``options`` are beside the flows of every row.
        columns: disciplines, as `run` takes them.
        tests: conditions by a short name for the table. Each is a function of a run and of the name of the row's
            group, and returns a `Check`.
        over: the seeds of each cell.
        in_at_least: in how many seeds a condition must hold; in all unless given.
        transports: classes of one's own.
        folder: where figure and capture of a failure go, in a folder of its cell and seed.
        options: those of `run`.

    Raises:
        InputError: if a cell cannot be run, or if rows, columns, seeds or conditions are missing or named twice.
        CheckError: if a run broke one of its own checks.

    >>> tests = {"D": lambda run, group: run.qdelay_mean().is_at_most(20.0)}
    >>> cells = matrix(["2*cubic", "2*newreno"], ["fifo", "codel"], tests, rate="10mbit", rtt="40ms", duration="6s")
    >>> print(cells, end="")
                fifo   codel
    2*cubic     ✗ D    ✓ D
    2*newreno   ✗ D    ✓ D
    D: mean queue delay at most 20 ms
    >>> cells.fail_only(("2*cubic", "fifo", "D"), ("2*newreno", "fifo", "D"))

    """
    if "aqm" in options:
        raise about("aqm", "the columns of a matrix are its disciplines")
    for name, texts in (("rows", rows), ("columns", columns)):
        if isinstance(texts, (str, type)) or not all(isinstance(text, (str, type)) for text in texts):
            raise about(name, f"{texts!r} is no list of texts")
    base = path("fifo", transports, folder, options)
    disciplines = [discipline(column) for column in columns]
    return run_cells(base, list(rows), disciplines, tests, checked_seeds("over", over), in_at_least)
