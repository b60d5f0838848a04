"""Advice for a home's line: which queue discipline, how set up, what it brings and what it costs."""

from __future__ import annotations

from aqmlab.advice.home_line import LAYERS, Layer, Line, layer
from aqmlab.advice.run import Advice, advise
from aqmlab.advice.setups import Setup, setups

__all__ = ["LAYERS", "Advice", "Layer", "Line", "Setup", "advise", "layer", "setups"]
