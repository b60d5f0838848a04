"""The user's own Python: disciplines as classes, and the files that hold them."""
