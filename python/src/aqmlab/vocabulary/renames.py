"""Old names and their new ones: an error about an old name gives the new one, and contract.md lists them all."""

from __future__ import annotations

# Options of commands, as typed.
COMMAND_OPTIONS = {
    "--at": "--tap",
    "--flow-monitor": "--observe flow_monitor",
    "--front": "--pareto",
    "--judge": "--validate",
    "--on": "--dask",
    "--readings": "--robustness",
    "--stack": "--profile",
    "--yes": "--no-size-check",
}
# Options of a scenario, as a key of a file or a sweep.
SCENARIO_KEYS = {"flow_monitor": 'observe = "flow_monitor"'}
# Arguments of functions in Python.
ARGUMENTS = {"front": "pareto", "yes": "no_size_check"}
# Keys of a command's JSON: the command, the old key and the new one.
JSON_KEYS = (
    ("`advise`", "ways", "setups"),
    ("`diagnose`", "ways", "directions"),
    ("`doctor`", "said", "finding"),
    ("`tune`", "kept", "bounds_met"),
)
