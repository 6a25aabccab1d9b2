"""The decision: is every trace of the program sequentially consistent?

In: a program and options. Out: an outcome: ROBUST, NOT ROBUST with a violating trace that the axioms confirmed, or
UNKNOWN with the limit. `decide` reads as the method: filter, instrument, lower, cover, lift, confirm. Source: Theorem
5.1 of the paper (`paper`); docs/theory.md, "The pivot refinement" (`pivot`). Both instrumentations must agree on every
program.
"""
