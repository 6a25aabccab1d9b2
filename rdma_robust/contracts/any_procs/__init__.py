"""Contracts for every number of processes: patterns of communication whose matching z3 proves for a symbolic number.

In: a `ContractProgram` and the name of a function. Out: `EveryProcsAnswer`: VERIFIED for every n, or UNKNOWN with a reason.
"""
