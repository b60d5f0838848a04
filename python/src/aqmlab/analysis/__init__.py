"""Questions about one discipline that need no experiment: cards, classifiers, thresholds."""
