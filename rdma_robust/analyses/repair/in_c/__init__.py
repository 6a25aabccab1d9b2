"""Repairs of C: statements and flags of its libraries, put in where the C has a statement.

In: the text of a C file. Out: a repair whose text was read, evaluated and decided again.
"""
