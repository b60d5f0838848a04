//! Counting structures that are algorithms in their own right, usable without a discipline.
