"""Certificates of safety: the checker's own reduction of a program under sc, tso, pso or rma, and its own logic.

In: a program, a model, and a set of states with conditions over unbounded variables. Out: that the set is inductive and
excludes every violation of a claim, or why not. Source: abstraction.md, sections 2 to 4; soundness in docs/certificates.md.
"""
