"""Functions against the contracts of what they call: barrier runs, conditions M1 to M7, weak callee contracts.

In: a `ContractProgram`, a function of it and a number of processes. Out: a `ProcsAnswer` of the mode `modular` or, where
that is not enough, of real bodies. Theory: the theorem of docs/theory-contracts.md.
"""
