"""Brute force over the axioms, for loop-free programs.

In: a program. Out: whether some trace is violating, and the final states of consistent traces. Independent of every
search over states: it enumerates rf, mo and nfo. Source: docs/model.md, "Consistency"; a program is robust iff it has
no violating trace.
"""
