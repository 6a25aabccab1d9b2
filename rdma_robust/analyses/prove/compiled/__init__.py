"""E0 with numbers: all states of a program under a model, by the compiled search of counter programs.

In: a program, a model, claims, and room for so many stores in a buffer. Out: that no claim is violated, or a path of the
machine's moves to where one is, as every engine says it. Programs with remote operations are left to the other engines.
"""
