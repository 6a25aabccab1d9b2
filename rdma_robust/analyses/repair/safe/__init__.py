"""Repair for safety: the fewest flushes or `mfence`s that make a program safe under a memory model.

In: a program, a model, and where waits may stand. Out: the edits, proven fewest, or which sets were not decided.
Source: docs/theory-safety.md, "Fewest flushes and fences"; implicit hitting sets (Moreno-Centeno and Karp 2013), as in
the rest of repair.
"""
