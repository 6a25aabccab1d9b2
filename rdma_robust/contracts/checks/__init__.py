"""The choice of an engine for each function and number of processes.

In: a `ContractProgram` and what is asked. Out: a `FunctionAnswer` for each function, in the order of the file; every
violation in them was replayed.
"""
