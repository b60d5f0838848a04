"""Results in the formats of other programs: CSV, flent's, packet captures, qlog, LaTeX, and other libraries' tables.

Each function returns the content of files by their names, `qlog` run by run; the caller writes them.
"""

from aqmlab.exports.csv import csv
from aqmlab.exports.dataframes import to_arrow, to_pandas
from aqmlab.exports.flent import flent
from aqmlab.exports.latex import latex
from aqmlab.exports.packets import pcapng
from aqmlab.exports.qlog import qlog

__all__ = ["csv", "flent", "latex", "pcapng", "qlog", "to_arrow", "to_pandas"]
