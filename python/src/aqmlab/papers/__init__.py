"""Papers reproduced: their scenarios run, their claims judged by measurements."""

from aqmlab.papers.paper import Paper, built, find
from aqmlab.papers.reproduction import Reproduction, conduct
from aqmlab.papers.verdicts import Judgement, Verdict

__all__ = ["Judgement", "Paper", "Reproduction", "Verdict", "built", "conduct", "find"]
