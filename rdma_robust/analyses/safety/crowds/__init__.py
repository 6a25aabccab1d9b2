"""Reachability and claims for any number of copies of a thread.

In: a program with crowds and goals. Out: reachable with a run of P(n) and the smallest n, unreachable for every n, or the
limit. Under SC all P(n) together are one counting system, so that a target that asks for copies, and never for their
absence, is coverability; see docs/safety-method.md.
"""
