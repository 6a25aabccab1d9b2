"""Which engine decides which function for how many processes.

In: a `ContractProgram` and what is asked. Out: a `FunctionAnswer` for each function, in the order of the file; every
violation in them was replayed.
"""
