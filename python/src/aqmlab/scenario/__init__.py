"""Scenarios: options in the user's notation, checked and resolved for the simulator."""

from aqmlab.scenario.files import Experiment, load, swept
from aqmlab.scenario.options import OPTIONS, Option, Options, from_values
from aqmlab.scenario.resolve import Contestant, Plan, resolve

__all__ = [
    "OPTIONS",
    "Contestant",
    "Experiment",
    "Option",
    "Options",
    "Plan",
    "from_values",
    "load",
    "resolve",
    "swept",
]
