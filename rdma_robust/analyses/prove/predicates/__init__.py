"""Predicate abstraction (E2) with the extrapolations of the papers, and spacer (E3): what zones cannot say.

In: a transition system. Out: what every engine gives. Predicates are conditions over wide variables; a boolean program
has a transformer for each distinct tuple of updates and each predicate; a 3-valued checker searches it; what it finds
and no run confirms gives new predicates. Sources: docs/theory-safety.md, "Predicates"; Dan, Meshman, Vechev, Yahav (SAS
2013); Baumann, Dan, Meshman, Hoefler, Vechev (VMCAI 2018). Needs z3, the extra `smt`.
"""
