"""The meaning of RDMA and sequential consistency, twice.

In: a program or a trace of one. Out: whether a trace is consistent (`axioms`, Definitions 2 to 4 of the paper), what
the operational machines do, and by brute force every behaviour of a small program. That the two give the same final
states is a test, not a theorem of ours. Source: docs/model.md, "The model".
"""
