"""The functions of OpenSHMEM and MPI as data: what headers of ours declare, and what evaluation knows of each.

In: nothing. Out: a table of functions by name, and the text of a header.
"""
