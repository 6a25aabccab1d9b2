"""Certificates of safety: the checker's own reduction of a program under sc, tso, pso or rma, and its own logic.

In: a program, a model, and a set of states with conditions over unbounded variables. Out: that the set is inductive and
excludes every violation of a claim, or why not. Source: docs/theory-safety.md ("Machines" to "Zones"); soundness in
docs/certificate-evidence.md, "What certificates show".
"""
