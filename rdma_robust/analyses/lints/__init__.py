"""Warnings about likely mistakes in a well-formed program, without a search of its states.

In: a checked program. Out: warnings, each of which is true of every execution that it speaks of: flow graphs are followed on
all paths, values are supersets, and a claim about what may happen rests on Definition 2: an event of a NIC has no
latest time, so a card may be late for as long as its thread waits for nothing that depends on it.
"""
