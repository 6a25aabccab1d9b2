"""The inner loops of the net engines, compiled and in Python.

In: markings, arcs and antichains as arrays of integers. Out: the same answers from both; a test compares them.
"""
