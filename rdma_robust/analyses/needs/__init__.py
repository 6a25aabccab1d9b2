"""The guarantees that a program relies on: the smallest sets of guarantees of a network under which it is robust.

In: a program and how one is decided under an order. Out: the sets, and a counterexample for each guarantee that is taken
away. Source: docs/hardware.md, "Guarantees".
"""
