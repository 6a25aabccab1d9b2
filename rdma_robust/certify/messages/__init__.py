"""The checker of certificates about message programs.

In: a program, a buffer semantics, a claim and its evidence. Out: accepted, or why not. It runs programs by the interpreter
that confirms counterexamples, and imports nothing that found the verdict.
"""
