"""A plain interpreter that runs counterexamples again, event by event, and asks the violated clause once more.

In: a ContractProgram, a function of it and a Counterexample. Out: the collates of the run, or InternalError if it does not
show the violation. Nothing is shared with the engines but records: statements, expressions and clauses are evaluated here,
and classes are asked of the list of events, as docs/theory-contracts.md defines them.
"""
