"""Words that all rooms use: units, names, metrics, disciplines, errors, and the form of what is written."""
