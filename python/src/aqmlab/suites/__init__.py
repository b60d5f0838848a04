"""Suites: scenarios that belong together, for any discipline or congestion control, on one page; a folder of files."""

from __future__ import annotations

from aqmlab.suites.plan import Entry, Suite, built, find
from aqmlab.suites.run import Outcome, Part, run_suite
from aqmlab.suites.suite_json import document

__all__ = ["Entry", "Outcome", "Part", "Suite", "built", "document", "find", "run_suite"]
