"""Syntax tree to meaning.

In: a syntax tree. Out: names resolved, macros and arrays expanded, every step with one shared access at most, faults
explicit, as control-flow graphs; or diagnostics with hints. Source: docs/language.md, "What a
thread does itself"; docs/model.md, "Events".
"""
