"""Suites: scenarios that belong together, for any discipline or congestion control, on one page; a folder of files."""

from __future__ import annotations

from aqmlab.suites.document import document
from aqmlab.suites.plan import Entry, Suite, built, find
from aqmlab.suites.run import Outcome, Part, conduct

__all__ = ["Entry", "Outcome", "Part", "Suite", "built", "conduct", "document", "find"]
