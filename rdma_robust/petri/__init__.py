"""Coverability of Petri nets; imports no other room.

In: a net with initial markings and targets, from a `.spec` file or from an explicit VASS. Out: UNSAFE with a firing
sequence, SAFE with an inductive invariant, or the limit. Sources: backward search is complete because markings are
well-quasi- ordered (source: Abdulla, Cerans, Jonsson, Tsay 1996); the forward search is Karp and Miller's.
"""
