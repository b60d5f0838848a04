"""Papers reproduced: their scenarios run, their claims judged by measurements."""

from aqmlab.papers.paper import Paper, built, find
from aqmlab.papers.reproduction import Reproduction, run_paper
from aqmlab.papers.verdicts import Judgement, Verdict

__all__ = ["Judgement", "Paper", "Reproduction", "Verdict", "built", "find", "run_paper"]
