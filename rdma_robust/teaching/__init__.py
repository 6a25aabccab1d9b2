"""People stepping through: guided walk-throughs, and an explorer of the machines.

In: a program, or an instance of a problem that a proof reduces to programs. Out: terminal output and pages.
Undecidability of reachability is Section 3 of the paper, hardness of robustness Theorem 7.1.
"""
