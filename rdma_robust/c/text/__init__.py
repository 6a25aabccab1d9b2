"""Evaluated C programs as programs of the language.

In: a `CProgram`, the automata of its threads and its memory. Out: a `Program` whose steps have the places of the C, with the
calls that lead there, as what they were made from.
"""
