"""Reductions to RDMA programs: what the hardness proofs construct, as programs that run.

In: an instance of Post's problem, a VASS, finite automata. Out: a `.rdma` program that has the asked behaviour iff
the instance has a solution. Source: Section 3 of the paper (reachability is undecidable) and Theorem 7.1 (robustness
is hard).
"""
