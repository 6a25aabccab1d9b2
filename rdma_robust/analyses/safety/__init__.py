"""Reachability and claims: `reach` and `verify`.

In: a program and goals. Out: reachable with a run, unreachable with the argument, or the limit. For targets about
threads and registers a robust program reaches under RDMA what it reaches under SC (docs/safety-method.md has the proof and
the exception).
"""
