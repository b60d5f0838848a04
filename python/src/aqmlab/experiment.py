"""From options to a result: resolve, run what is missing, keep finished runs."""

from __future__ import annotations

import json
import platform
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _native, publishing, scenario, store
from aqmlab import engine as engines
from aqmlab.engine import Task
from aqmlab.files import machine
from aqmlab.results import Result, swept
from aqmlab.results.frames import RUN, from_runs
from aqmlab.runs import runner
from aqmlab.runs.runner import FinishedRun
from aqmlab.runs.watcher import Watcher, default
from aqmlab.runs.workers import Elsewhere, Threads, Workers
from aqmlab.scenario import Experiment, Plan, cost
from aqmlab.store import growth
from aqmlab.vocabulary.errors import CheckError, InputError, about
from aqmlab.vocabulary.names import engine_of, listed, on
from aqmlab.vocabulary.units import check_whole, parse_whole

if TYPE_CHECKING:
    from aqmlab.results.precision import Precision
    from aqmlab.store.shards import Shard


def load(folder: Path, watcher: Watcher | None = None) -> Result:
    """Read a result folder, and tell ``watcher`` what there is to say about it.

    Raises:
        InputError: if it is not one, is damaged, was altered, or was written by a newer version.

    """
    from aqmlab import since

    stored = _read(folder, watcher)
    return Result(stored.manifest, stored.frames, folder, since=since.recorded(folder, stored.manifest))


def merge(parts: Sequence[Path], out: Path, watcher: Watcher | None = None, *, with_report: bool = True) -> Result:
    """Merge parts of an experiment into a new folder, with figures and report; partial if runs are missing.

    Raises:
        InputError: if a folder is no part of the same experiment, is named twice, or differs in a run it shares.

    """
    for place, folder in enumerate(parts):
        if folder.resolve() in [other.resolve() for other in parts[:place]]:
            raise InputError(f"{folder}: is named twice")
    store.check_new(out)
    from aqmlab.store import shards

    both = shards.merged({folder: _read(folder, watcher) for folder in parts})
    for text in (*both.notices, both.missing) if both.missing else both.notices:
        (watcher or Watcher()).on_notice(text)
    if both.frames.runs.is_empty():
        raise InputError(f"{parts[0]}: has no run, and nor has any other part")
    manifest = {**both.manifest, "created": _now()}
    return load(publishing.save(Result(manifest, both.frames), out, with_report=with_report))


def report(folder: Path, watcher: Watcher | None = None) -> Result:
    """Draw the figures and write the report of a result folder again, from all finished runs.

    Raises:
        InputError: if it is not a result folder, or has no run yet.

    """
    from aqmlab import since

    _read(folder, watcher)
    with store.opened(folder) as place:
        assert place.stored is not None
        stored = place.stored
        if stored.frames.runs.is_empty():
            raise InputError(f"{folder}: has none of its {stored.manifest['runs_expected']} runs yet")
        manifest = place.commit(stored.manifest, stored.frames) if stored.records else stored.manifest
        whole = Result(manifest, stored.frames, folder, since=since.recorded(folder, manifest))
        return publishing.publish(whole, place)


def run_experiment(
    experiment: Experiment,
    command: str,
    jobs: int | None = None,
    folder: Path | None = None,
    watcher: Watcher | None = None,
    *,
    with_report: bool = True,
    engine: str = engines.DEFAULT,
    no_size_check: bool = False,
    executor: Executor | None = None,
    shard: str | None = None,
    until: Precision | None = None,
    stop: Mapping[str, Any] | None = None,
    baseline: Path | None = None,
) -> Result:
    """Run an experiment. Finished runs in the folder are reused; figures and report take seconds.

    Other seeds, AQMs and points in the folder belong to the result too. The result is partial if the user interrupted
    or a run failed its checks; its manifest says which. With ``until`` the seeds are a pilot, to which others
    are added. With ``baseline``, the folder of an earlier result, it knows what changed since.

    Raises:
        InputError: if the scenario is wrong, not supported by the engine, not that of the folder, or too large (unless
            ``no_size_check``).
        CheckError: if every run failed its checks.
        MachineError: if another process writes into the folder, or the disk is full.
        KeyboardInterrupt: if the user interrupted before a run was finished, or after all were.

    """
    watcher = watcher or default()
    if until is not None:
        if shard is not None:
            raise about("shard", "contradicts until_ci, which needs every run of the pilot: give one of them")
        settings: dict[str, Any] = {"engine": engine, "no_size_check": no_size_check, "executor": executor}
        return _two_stages(until, experiment, command, jobs, folder, watcher, with_report, settings, baseline)
    if jobs is not None and executor is not None:
        raise about("jobs", "contradicts an executor, which has workers of its own: give one of them")
    # Elsewhere, runs take no memory here.
    jobs = (machine.cores() if executor is None else 1) if jobs is None else check_whole("jobs", jobs, 1)
    workers = Threads(jobs) if executor is None else Elsewhere(executor)
    part = None if shard is None else _shard(shard)
    if part and baseline is not None:
        raise about("shard", "contradicts baseline, which needs all runs: compare what merging makes")
    if part and folder is None:
        raise about("shard", "needs a folder (out), which is merged with the others")
    earlier = None if baseline is None else _baseline(baseline, experiment, folder)
    watcher.on_setup()
    experiment, chosen = _contested(experiment, engine)
    if no_size_check:
        experiment = replace(experiment, points=tuple(replace(one, any_size=True) for one in experiment.points))
    else:
        cost.check_runs(sum(scenario.count_runs(options) for options in experiment.points))
    plans = _resolved(experiment, chosen)
    if not no_size_check:
        cost.check([entry for plan in plans for entry in plan.costs], jobs)
    if folder is None:
        result = _conduct(experiment, plans, command, workers, chosen, watcher, stop=stop)
        return _compared(result, earlier)
    with store.opened(folder) as place:
        if place.stored is not None:
            _tell(folder, place.stored, watcher)
            wider = growth.grown(experiment, plans, place.stored.manifest, chosen.version, folder)
            if wider is not experiment:
                asked = len(plans[0].seeds)
                experiment, plans = wider, _resolved(wider, chosen)
                if len(plans[0].seeds) > asked:
                    watcher.on_notice(f"{folder}: has {len(plans[0].seeds)} seeds, which are all used, not {asked}")
        result = _conduct(experiment, plans, command, workers, chosen, watcher, place, part, stop)
        result = _compared(result, earlier)
        if with_report and not part and (earlier is not None or not publishing.is_published(result)):
            watcher.on_result(result)
            result = publishing.publish(result, place)
        return result


def _shard(text: str) -> Shard:
    from aqmlab.store.shards import Shard

    return Shard.parse(text)


def _baseline(folder: Path, experiment: Experiment, out: Path | None) -> Result:
    from aqmlab import since

    return since.load(folder, experiment, out)


def _compared(result: Result, earlier: Result | None) -> Result:
    if earlier is None:
        return result
    from aqmlab import since

    return since.compared(result, earlier)


def _two_stages(
    until: Precision,
    experiment: Experiment,
    command: str,
    jobs: int | None,
    folder: Path | None,
    watcher: Watcher,
    with_report: bool,
    settings: Mapping[str, Any],
    baseline: Path | None,
) -> Result:
    """Make the pilot, and then as many seeds as it asks for."""
    seeds = parse_whole(experiment.points[0].text("seeds"))
    until.check(seeds)
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary, "result") if folder is None else folder
        pilot = run_experiment(experiment, command, jobs, place, watcher, with_report=False, **settings)
        if pilot.is_partial:
            return pilot
        stop = until.stop(pilot, seeds)
        given = {"seeds": (str(stop["seeds"]),)}
        points = tuple(replace(one, given={**one.given, **given}) for one in experiment.points)
        wider = replace(experiment, points=points)
        is_reported = with_report and folder is not None
        last: Any = {**settings, "with_report": is_reported, "stop": stop, "baseline": baseline}
        whole = run_experiment(wider, command, jobs, place, watcher, **last)
        return whole if folder is not None else replace(whole, folder=None)


def _conduct(
    experiment: Experiment,
    plans: Sequence[Plan],
    command: str,
    workers: Workers,
    engine: engines.Engine,
    watcher: Watcher,
    place: store.Folder | None = None,
    shard: Shard | None = None,
    stop: Mapping[str, Any] | None = None,
) -> Result:
    tasks = _tasks(plans, engine)
    if shard:
        tasks = shard.tasks(tasks)
    labels = [contestant.label for contestant in plans[0].contestants]
    manifest = {**_manifest(experiment, command, plans, engine, len(tasks)), "stop": stop}
    if shard:
        manifest["shard"] = str(shard)
    stored = place.stored if place else None
    if shard and place and stored and not set(stored.frames.runs["key"]) <= {task.key for task in tasks}:
        raise InputError(f"{place.path}: holds other runs than shard {shard} of this experiment: name another folder")
    earlier = store.reused(stored, tasks, labels) if stored else None
    finished = set(earlier.runs.select(*RUN).rows()) if earlier else set()
    missing = [task for task in tasks if (task.point, task.aqm, task.seed) not in finished]
    # Runs with the same key are made once: equivalent AQMs, or points that do not affect an AQM.
    alike: dict[str, list[Task]] = {}
    for task in missing:
        alike.setdefault(task.key, []).append(task)
    watcher.on_plan(len(alike), len(tasks) - len(missing))
    for text in _costs([same[0] for same in alike.values()], engine):
        watcher.on_notice(text)
    if place and stored:
        manifest = {**manifest, "created": stored.manifest["created"], "pages": stored.manifest["pages"]}
        manifest["plan_warnings"] = [*manifest["plan_warnings"], *stored.notices]
        is_same = earlier is stored.frames and manifest.get("shard") == stored.manifest.get("shard")
        is_same = is_same and stop in (None, stored.manifest.get("stop"))
        if is_same and not missing and not stored.records and stored.manifest["failures"] == []:
            return Result(stored.manifest, stored.frames, place.path)
    if place:
        place.begin(manifest, earlier)

    def each(done: FinishedRun) -> list[FinishedRun]:
        return [FinishedRun(task, done.report) for task in alike[done.run.key]]

    def keep(done: FinishedRun) -> None:
        if place:
            for one in each(done):
                place.keep(one)

    try:
        outcome = runner.execute([same[0] for same in alike.values()], workers, watcher.on_progress, keep, engine)
    except InputError as error:
        if place:
            place.abandon()
        raise experiment.points[0].located(error) from None
    if missing and not outcome.done and earlier is None:
        if place:
            place.abandon()
        if outcome.interrupted:
            raise KeyboardInterrupt
        raise CheckError("; ".join(outcome.failures))
    # A run that answers several tasks is not where each of them would have put it.
    places = {label: place for place, label in enumerate(labels)}
    done = sorted(
        (one for same in outcome.done for one in each(same)),
        key=lambda one: (one.run.point, places[one.run.aqm], one.run.seed),
    )
    frames = from_runs(done)
    # The frames have all of the reports, which are as large.
    done.clear()
    outcome.done.clear()
    if earlier:
        frames = earlier.joined(frames).sorted(labels)
    frames = swept.tagged(frames, [options.point for options in experiment.points])
    manifest = store.concluded(manifest, frames, outcome.failures)
    if place:
        manifest = place.commit(manifest, frames)
    return Result(manifest, frames, place.path if place else None)


def _read(folder: Path, watcher: Watcher | None) -> store.StoredResult:
    stored = store.read(folder)
    _tell(folder, stored, watcher or Watcher())
    return stored


def _tell(folder: Path, stored: store.StoredResult, watcher: Watcher) -> None:
    for text in stored.notices:
        watcher.on_notice(f"{folder}: {text}")


def _contested(experiment: Experiment, engine: str) -> tuple[Experiment, engines.Engine]:
    """Return the experiment with each AQM in each of several engines, and the engines that make its runs."""
    asked = engines.names(engine)
    first = experiment.points[0]
    specs = [part for text in first.texts("aqm") for part in scenario.split_texts(text)]
    named = [name for spec in specs if (name := engine_of(spec)[1])]
    chosen = engines.find(",".join(dict.fromkeys([*asked, *named])))
    if len(asked) == 1:
        return experiment, chosen
    points = []
    for one in experiment.points:
        # As they were written: names of a sweep are filled in later.
        texts = [part for text in one.labels("aqm") for part in scenario.split_texts(text)]
        both = dict.fromkeys(on(spec, name) for spec in texts for name in asked)
        points.append(replace(one, given={**one.given, "aqm": tuple(both)}))
    return replace(experiment, points=tuple(points)), chosen


def _resolved(experiment: Experiment, engine: engines.Engine) -> list[Plan]:
    plans = [_plan(options) for options in experiment.points]
    for plan in plans:
        if refused := refusal(plan, engine):
            raise InputError(refused)
    return plans


def refusal(plan: Plan, engine: engines.Engine) -> str:
    """Return in words why an engine does not run a plan; empty if it does."""
    kinds = [group.kind for group in plan.groups]
    files = {name: bool(plan.echo[name]) for name in ("capture", "link_trace")}
    for contestant in plan.contestants:
        one = engine.of(contestant.engine)
        why = one.capabilities.refusal(plan.topology, kinds, [contestant.spec.name], files)
        why = why or one.refusal(plan.scenarios[contestant.label])
        if why:
            return f"engine {one.name}: {why}"
    return ""


def refused(experiment: Experiment, engine: str) -> str:
    """Return in words why an engine, or one of several, does not run an experiment; empty if it does.

    Raises:
        InputError: if the experiment itself is wrong, or there is no such engine.

    """
    experiment, chosen = _contested(experiment, engine)
    return next((why for options in experiment.points if (why := refusal(_plan(options), chosen))), "")


def _costs(tasks: Sequence[Task], engine: engines.Engine) -> list[str]:
    """What runs cost, by engine, where that is worth a notice."""
    seconds: dict[str, list[float]] = {}
    for task in tasks:
        one = engine.of(task.engine)
        seconds.setdefault(one.name, []).append(one.cost_s(task.scenario))
    return [
        f"engine {name}: {len(each)} runs will take about {sum(each):.0f} s of processor time"
        for name, each in seconds.items()
        if sum(each)
    ]


def _plan(options: scenario.Options) -> Plan:
    """Resolve one scenario; an error says for which swept values."""
    try:
        return scenario.resolve(options)
    except InputError as error:
        if not options.point:
            raise
        setting = ", ".join(f"{name}={value}" for name, value in options.point.items())
        raise InputError(f"{error} (at {setting})") from None


def _tasks(plans: Sequence[Plan], engine: engines.Engine) -> list[Task]:
    return [
        Task(
            point=point,
            aqm=contestant.label,
            seed=seed,
            key=plan.key(contestant, seed, engine.of(contestant.engine).version),
            scenario=plan.scenarios[contestant.label],
            inputs=plan.inputs,
            files=plan.files,
            engine=contestant.engine,
        )
        for point, plan in enumerate(plans)
        for contestant in plan.contestants
        for seed in plan.seeds
    ]


def code_version() -> str:
    """Return the version of everything that decides results beside the input."""
    return engines.find(engines.DEFAULT).version


def _manifest(
    experiment: Experiment, command: str, plans: Sequence[Plan], engine: engines.Engine, expected: int
) -> dict[str, Any]:
    manifest = {
        "format_version": store.FORMAT_VERSION,
        "command": command,
        "title": experiment.title or _title([contestant.label for contestant in plans[0].contestants]),
        "aqmlab": _native.version(),
        "engine": engine.name,
        "code": engine.version,
        "build": json.loads(_native.build_info()),
        "created": _now(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "points": [growth.entry(options, plan) for options, plan in zip(experiment.points, plans, strict=True)],
        "runs_expected": expected,
        "plan_warnings": list(dict.fromkeys(warning for plan in plans for warning in plan.warnings)),
        "pages": {"of": "", "files": [], "warnings": []},
        "frames": "",
    }
    return store.concluded(manifest, from_runs([]), [])


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _title(aqms: Sequence[str]) -> str:
    return aqms[0] if len(aqms) == 1 else f"{listed(aqms)} compared"


def checked(result: Result) -> Result:
    """Return a result none of whose runs broke a check.

    Raises:
        CheckError: naming the runs that did.

    """
    failures = result.manifest["failures"]
    if failures:
        raise CheckError("; ".join(failures))
    return result


__all__ = ["checked", "load", "merge", "report", "run_experiment"]
