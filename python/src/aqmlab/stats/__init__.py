"""Numbers: intervals and tests over seeds, and designs that fill a space."""
