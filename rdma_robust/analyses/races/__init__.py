"""Data races of programs under sequential consistency (docs/races.md).

In: a program and its hardware. Out: for every two accesses that race a run up to both, or that there are none, or the limit
that was reached.
"""
