"""Counter programs as Promela models for SPIN.

In: a counter program. Out: a model in which SPIN finds an assertion violated iff a target is reachable (for bounded
counters).
"""
