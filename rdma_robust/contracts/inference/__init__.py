"""What a function can promise of the order of events, and what it has to require of it.

In: a function with a contract, and numbers of processes. Out: path clauses that were checked, the strongest and the weakest
of a family of candidates.
"""
