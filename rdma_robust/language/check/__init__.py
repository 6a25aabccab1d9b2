"""Syntax tree to meaning.

In: a syntax tree. Out: names resolved, macros and arrays expanded, every step with one shared access at most, faults
explicit, as control-flow graphs; or diagnostics with hints. Source: language.md, "one event is one atomic step" of
normal-form.md.
"""
