"""Files and the machine below: what goes wrong with them becomes one line."""
