"""Reductions of the pivot search that change no verdict.

In: event graphs and pivot classes. Out: fewer classes, fewer states. Each module's docstring has its argument; every
reduction can be switched off, and random and named programs are decided with and without (docs/reductions.md).
"""
