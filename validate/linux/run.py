#!/usr/bin/env python3
"""Run an experiment file in a real Linux kernel, in virtual time, and print aqmlab's JSON.

    validate/linux/run.py EXPERIMENT.toml [--setting default|plain|...] [--seeds N] [--jobs N] [--json FILE]

The file has the form of `aqmlab run`; features that the kernel's dumbbell lacks are refused. Finished runs are kept in
results/validate-linux/runs and reused.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kernel import HERE, KERNEL, SETTINGS, Run

from aqmlab import scenario
from aqmlab.stats.statistics import mean
from aqmlab.vocabulary.errors import InputError

STORE = HERE.parents[1] / "results/validate-linux/runs"
Answer = dict[str, Any]


def runs_of(path: Path, setting: str, seeds: int | None = None) -> list[tuple[dict[str, str], Run]]:
    """Return every run of an experiment file with the point of its sweep, seed by seed."""
    experiment = scenario.load(path, {} if seeds is None else {"seeds": str(seeds)})
    plans = [(options.point, scenario.resolve(options)) for options in experiment.points]
    return [
        (dict(point), Run(plan, contestant, seed, setting))
        for seed in plans[0][1].seeds
        for point, plan in plans
        for contestant in plan.contestants
    ]


def answers(runs: Iterable[Run], jobs: int, quiet: bool = False) -> list[Answer]:
    """Return the results in order; missing ones are run, several at a time."""
    wanted = list(runs)
    if not (KERNEL / "linux").exists():
        sys.exit("run.py: the kernel is missing: make validate-linux builds it (or validate/linux/kernel.sh)")
    missing = [run for run in wanted if not run.is_kept(STORE)]
    began, done = time.monotonic(), 0

    def ask(run: Run) -> None:
        nonlocal done
        run.answer(STORE)
        done += 1
        minutes = (time.monotonic() - began) / 60
        if not quiet:
            left = minutes / done * (len(missing) - done)
            print(
                f"\rkernel: {done} of {len(missing)} runs, {minutes:.1f} minutes, {left:.0f} to go ",
                end="",
                file=sys.stderr,
            )

    if missing and not quiet:
        print(f"kernel: {len(wanted) - len(missing)} runs are kept, {len(missing)} to do", file=sys.stderr)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        list(pool.map(ask, missing))
    if missing and not quiet:
        print(file=sys.stderr)
    return [run.answer(STORE) for run in wanted]


def document(path: Path, setting: str, asked: list[tuple[dict[str, str], Run]], found: list[Answer]) -> Answer:
    """Return the output of `aqmlab run --json`, with the kernel's numbers."""
    tagged = [({"point": point} if point else {}) | answer for (point, _), answer in zip(asked, found, strict=True)]
    points = {json.dumps(point): run.plan.echo for point, run in asked}
    swept = len(points) > 1
    sweep = [{"point": json.loads(point), "scenario": echo} for point, echo in points.items()]
    groups: dict[tuple[str, str], list[Answer]] = {}
    for answer in tagged:
        groups.setdefault((json.dumps(answer.get("point", {})), answer["aqm"]), []).append(answer)
    summary = []
    for (point, aqm), members in groups.items():
        for metric in members[0]["metrics"]:
            estimate = mean([member["metrics"][metric] for member in members])
            ends = {"mean": estimate.value, "ci95_low": estimate.low, "ci95_high": estimate.high, "n": estimate.n}
            place = {"point": json.loads(point)} if swept else {}
            summary.append({**place, "aqm": aqm, "metric": metric, **ends})
    return {
        "format_version": 1,
        "command": "linux",
        "kernel": found[0]["kernel"],
        "setting": {"name": setting, "meaning": SETTINGS[setting].meaning},
        "title": path.stem,
        "scenario": {"sweep": sweep} if swept else sweep[0]["scenario"],
        "warnings": [],
        "runs": tagged,
        "summary": summary,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiment", type=Path)
    parser.add_argument("--setting", choices=SETTINGS, default="default")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", default="-", help="where the JSON goes; - is the standard output")
    arguments = parser.parse_args()
    try:
        asked = runs_of(arguments.experiment, arguments.setting, arguments.seeds)
        found = answers([run for _, run in asked], arguments.jobs)
    except InputError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    text = json.dumps(document(arguments.experiment, arguments.setting, asked, found), indent=1) + "\n"
    if arguments.json == "-":
        sys.stdout.write(text)
    else:
        Path(arguments.json).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
