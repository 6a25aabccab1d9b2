"""Repair: a cheapest set of polls, remote fences and flushes that makes a program robust.

`rdma_robust.analyses.repair.run.repair` is the way in; `model` has what goes in and comes out.
"""
