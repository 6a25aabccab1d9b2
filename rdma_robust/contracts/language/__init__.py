"""Contracts as checked records: expressions over collective states, clauses, and the functions for n processes.

In: the text of an `.mp` program. Out: `ContractProgram` and, for a function and a number of processes, its `Instance`; or
ProgramError with all errors of the file.
"""
