"""Papers reproduced: their scenarios run, their claims judged by what was measured."""

from aqmlab.reproduce.paper import NAMES, Paper, built, find
from aqmlab.reproduce.reproduction import Reproduction, conduct
from aqmlab.reproduce.verdicts import Judgement, Verdict

__all__ = ["NAMES", "Judgement", "Paper", "Reproduction", "Verdict", "built", "conduct", "find"]
