"""Guided walk-throughs as data, and their writers for the terminal and for pages.

In: an instance (words, a net, automata). Out: a walk: texts, listings, runs. Source: Section 3 and Theorem 7.1 of the
paper.
"""
