"""The compiled search of a lowered counter program.

In: a counter program as tables of three-address code over packed words. Out: exactly the states, transitions, run and
limit that the searches in Python have; the tests compare them. Where the extension module is missing, Python does the
work.
"""
