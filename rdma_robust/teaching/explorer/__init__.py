"""Stepping through the machines by hand: a core of pure functions, a web page and a terminal interface on top of it.

In: a program, and the choices made so far. Out: what is seen there, and which moves come next. The machines are those
of docs/model.md, "The machine".
"""
