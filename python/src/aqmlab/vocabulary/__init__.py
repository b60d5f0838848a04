"""Words that all rooms use: units, names, metrics, errors, and the form of what is written."""
