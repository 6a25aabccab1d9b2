"""Evaluation of register code: what is known before the run is computed, what remains of each thread is an automaton.

In: functions and globals of all units (`units.py`). Out: an automaton of `.rdma` statements for each thread, and the words
of each process; or all that is not understood, each with its place and the calls that lead there.
"""
