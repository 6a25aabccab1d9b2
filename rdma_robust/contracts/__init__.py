"""Contracts of message-passing procedures: what each requires, ensures, waits for and keeps quiet, checked for n processes.

In: `.mp` texts whose functions have contracts. Out: for each function and number of processes VERIFIED, VIOLATED with a
run that is replayed, or UNKNOWN with the limit. Theory: docs/theory-contracts.md.
"""
