"""Stepping through the machines by hand: a core of pure functions, a web page and a terminal interface on top of it."""
