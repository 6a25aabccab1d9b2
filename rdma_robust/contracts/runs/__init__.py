"""The engine `runs`: one run for each matching, with symbolic data and happens-before clocks.

In: a `ContractProgram`, a function of it and a number of processes. Out: a `ProcsAnswer`; for other rooms the runs
themselves, with their events, clocks and collates. Theory: Lemmas 1 and 2 of docs/theory-contracts.md.
"""
