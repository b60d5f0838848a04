"""The command line: ``aqmlab``."""

from aqmlab.cli.main import main

__all__ = ["main"]
