"""Scenarios: options in the user's notation, checked and resolved for the simulator."""

from aqmlab.scenario.aqm_texts import split_specs, split_texts
from aqmlab.scenario.files import Experiment, load, swept
from aqmlab.scenario.options import OPTIONS, Option, Options, from_values
from aqmlab.scenario.resolve import Plan, count_runs, resolve

__all__ = [
    "OPTIONS",
    "Contestant",
    "Experiment",
    "Option",
    "Options",
    "Plan",
    "count_runs",
    "from_values",
    "load",
    "resolve",
    "split_specs",
    "split_texts",
    "swept",
]
